//! Rows in tiles: the values of a few rows at one k lie together, so that a kernel reads them from one place.
//!
//! In: rows `[m, k]`. Out: tiles `[k][rows of the tile]`, one after the other.

use std::ops::Range;

use rayon::prelude::*;

/// Values of a batch below which filling tiles is not worth more than one thread.
const ALONE: usize = 1 << 14;

/// The rows of each tile: as few tiles as `most` rows in each allow, none more than one row longer than another.
pub fn split(m: usize, most: usize) -> impl Iterator<Item = Range<usize>> + Clone {
    let tiles = m.div_ceil(most).max(1);
    (0..tiles).map(move |tile| tile * m / tiles..(tile + 1) * m / tiles)
}

/// Puts rows `[m, k]` in tiles of at most `most` rows.
pub fn fill(rows: &[f32], k: usize, most: usize, out: &mut Vec<f32>) {
    let m = rows.len() / k;
    out.resize(m * k, 0.0);
    let mut rest = out.as_mut_slice();
    let mut tiles = Vec::with_capacity(m.div_ceil(most));
    for range in split(m, most) {
        let (tile, after) = rest.split_at_mut(range.len() * k);
        tiles.push((&rows[range.start * k..range.end * k], tile));
        rest = after;
    }
    tiles.into_par_iter().with_min_len(ALONE.div_ceil(k * most)).for_each(|(rows, tile)| interleave(rows, k, tile));
}

/// `[rows][k]` to `[k][rows]`, a few k at a time for all rows, which keeps what is written in the nearest cache.
fn interleave(rows: &[f32], k: usize, tile: &mut [f32]) {
    const STRETCH: usize = 64;
    let height = rows.len() / k;
    for (at, tile) in tile.chunks_mut(STRETCH * height).enumerate() {
        for (r, row) in rows.chunks_exact(k).enumerate() {
            for (slot, &x) in tile.iter_mut().skip(r).step_by(height).zip(&row[at * STRETCH..]) {
                *slot = x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_hold_every_row_once_and_are_balanced() {
        for m in 1..40 {
            let ranges: Vec<_> = split(m, 12).collect();
            assert_eq!(ranges.len(), m.div_ceil(12));
            assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert!(ranges.iter().all(|range| range.len() <= 12 && range.len() >= m / ranges.len()));
            assert_eq!((ranges[0].start, ranges[ranges.len() - 1].end), (0, m));
        }
    }

    #[test]
    fn values_at_one_k_lie_together() {
        let (m, k) = (5, 130);
        let rows: Vec<f32> = (0..m * k).map(|i| i as f32).collect();
        let mut out = Vec::new();
        fill(&rows, k, 3, &mut out);
        // Tiles of 2 and 3 rows.
        for i in 0..k {
            assert_eq!(out[2 * i..2 * i + 2], [rows[i], rows[k + i]]);
            let from = 2 * k + 3 * i;
            assert_eq!(out[from..from + 3], [rows[2 * k + i], rows[3 * k + i], rows[4 * k + i]]);
        }
    }
}
