//! Looks: on which slots each row looks back.
//!
//! In: rows' paths. Out: chunks of rows with the slots to gather for them.
//! Rows of a chunk are filled up to its longest path, with a mask over what was filled; a chunk is as long as what is
//! gathered for it stays below a fixed size.

use std::ops::Range;

use candle_core::{Result, Tensor};

use super::super::decoder::Row;
use super::super::decoder::attention::Attention;
use super::super::tree::NodeId;
use super::place::Place;

/// Most values that are gathered for one chunk, of keys and of values each; tests have chunks of a few rows.
const GATHERED: usize = if cfg!(test) { 1 << 12 } else { 1 << 26 };

/// What two attention layers must have in common to look alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Positions seen; None for all.
    pub window: Option<usize>,
    /// Key and value heads.
    pub kv_heads: usize,
    /// Length of a head's vector.
    pub head: usize,
}

impl Kind {
    /// How a layer looks.
    pub fn of(attention: &Attention<Place>) -> Kind {
        Kind { window: attention.window, kv_heads: attention.heads.kv_heads, head: attention.heads.head }
    }
}

/// What the rows of a chunk look back on.
#[derive(Debug)]
pub struct Look {
    /// The rows.
    pub rows: Range<usize>,
    /// Slots of each row's longest path.
    pub length: usize,
    /// Heads' vectors in an arena taken as `[slots * kv_heads, head]`: `[rows * kv_heads * length]`.
    pub places: Tensor,
    /// 0, or -infinity where a row was filled up: `[rows, 1, 1, length]`; None where all are of one length.
    pub mask: Option<Tensor>,
}

/// The chunks of these rows.
pub fn of(rows: &[Row<'_>], kind: Kind, place: &Place) -> Result<Vec<Look>> {
    let seen = |row: &Row<'_>| kind.window.map_or(0, |window| row.path.len().saturating_sub(window));
    let paths: Vec<&[NodeId]> = rows.iter().map(|row| row.path.get(seen(row)..).unwrap_or_default()).collect();
    let lengths: Vec<usize> = paths.iter().map(|path| path.len()).collect();
    let most = GATHERED / (kind.kv_heads * kind.head).max(1);
    let look = |(chunk, length): (Range<usize>, usize)| {
        let paths = paths.get(chunk.clone()).unwrap_or_default();
        Ok(Look {
            places: place.indexes(places(paths, length, kind.kv_heads))?,
            mask: mask(paths, length, place)?,
            rows: chunk,
            length,
        })
    };
    chunks(&lengths, most).into_iter().map(look).collect()
}

/// Neighbours whose number times the greatest of their lengths is at most `most`, one of them at least, and that length.
fn chunks(lengths: &[usize], most: usize) -> Vec<(Range<usize>, usize)> {
    let mut chunks: Vec<(Range<usize>, usize)> = Vec::new();
    for (i, &length) in lengths.iter().enumerate() {
        match chunks.last_mut() {
            Some((rows, longest)) if (rows.len() + 1) * length.max(*longest) <= most => {
                (rows.end, *longest) = (i + 1, length.max(*longest));
            }
            _ => chunks.push((i..i + 1, length)),
        }
    }
    chunks
}

fn places(paths: &[&[NodeId]], length: usize, kv_heads: usize) -> Vec<u32> {
    let heads = kv_heads as u32;
    let mut places = Vec::with_capacity(paths.len() * kv_heads * length);
    for path in paths {
        // Filled up with the row's own slot: what is no number there is no number in the row's result anyway.
        let fill = path.last().copied().unwrap_or(0);
        for head in 0..heads {
            places.extend(path.iter().map(|node| node * heads + head));
            places.resize(places.len() + length - path.len(), fill * heads + head);
        }
    }
    places
}

fn mask(paths: &[&[NodeId]], length: usize, place: &Place) -> Result<Option<Tensor>> {
    if paths.iter().all(|path| path.len() == length) {
        return Ok(None);
    }
    let of_path = |path: &&[NodeId]| {
        let seen = path.len();
        (0..length).map(move |i| if i < seen { 0.0 } else { f32::NEG_INFINITY })
    };
    place.floats(paths.iter().flat_map(of_path).collect(), &[paths.len(), 1, 1, length]).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_stay_below_the_size_and_have_one_row_at_least() {
        assert_eq!(chunks(&[2, 3, 1, 9, 2], 6), [(0..2, 3), (2..3, 1), (3..4, 9), (4..5, 2)]);
        assert!(chunks(&[], 6).is_empty());
    }

    #[test]
    fn paths_are_filled_up_and_masked() {
        let (a, b): (&[NodeId], &[NodeId]) = (&[4, 1], &[3]);
        assert_eq!(places(&[a, b], 2, 2), [8, 2, 9, 3, 6, 6, 7, 7]);
        let place = Place { device: candle_core::Device::Cpu, dtype: candle_core::DType::F32 };
        let mask = mask(&[a, b], 2, &place).unwrap().unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        assert_eq!(mask, [0.0, 0.0, 0.0, f32::NEG_INFINITY]);
    }
}
