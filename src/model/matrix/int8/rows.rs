//! Rows rounded to 8 bits.
//!
//! In: f32 rows. Out: tiles of rows; in each, [`STEP`] neighbouring values of a row are one word, and the words of all rows
//! at one k lie together. A block of [`BLOCK`] values has one scale, its largest magnitude / 127.

use std::ops::Range;

use rayon::prelude::*;

use super::Isa;
#[cfg(target_arch = "x86_64")]
use super::avx512;
use super::codes::{BLOCK, CENTRE};

/// Neighbouring k whose products are added up by one instruction.
pub const STEP: usize = 4;

/// Words of a block.
const WORDS: usize = BLOCK / STEP;

/// Values below which rounding a batch is not worth more than one thread.
const ALONE: usize = 1 << 14;

/// A batch of rows, rounded. Kept and used again, as its buffers are.
#[derive(Debug, Default)]
pub struct IntRows {
    isa: Isa,
    tiles: Vec<IntTile>,
}

/// A few rows.
#[derive(Debug, Default)]
pub struct IntTile {
    height: usize,
    /// `[k / STEP][height]`.
    pub words: Vec<[i8; STEP]>,
    /// What belongs to blocks.
    whole: Groups,
    /// The same for the halves of blocks, where it was asked for.
    halves: Groups,
    /// The row that is being rounded.
    row: Vec<[i8; BLOCK]>,
}

/// What belongs to a group of neighbouring k, each `[groups][height]`.
#[derive(Debug, Default)]
pub struct Groups {
    /// The row's scale.
    pub scales: Vec<f32>,
    /// Minus the centre of centred codes, times the sum of values.
    pub starts: Vec<i32>,
    /// The row's scale times the sum of values.
    pub sums: Vec<f32>,
}

impl IntRows {
    /// Rounds rows `[m, k]`; `halves` asks for sums of half blocks.
    pub fn fill(&mut self, rows: &[f32], k: usize, halves: bool) {
        self.fill_for(Isa::best(), rows, k, halves);
    }

    pub(super) fn fill_for(&mut self, isa: Isa, rows: &[f32], k: usize, halves: bool) {
        self.isa = isa;
        let ranges: Vec<_> = split(rows.len() / k, isa.tile_rows()).collect();
        self.tiles.resize_with(ranges.len(), IntTile::default);
        let few = ALONE.div_ceil(k * isa.tile_rows());
        self.tiles.par_iter_mut().zip(ranges).with_min_len(few).for_each(|(tile, range)| {
            tile.resize(range.len(), k.div_ceil(BLOCK), halves);
            let rows = &rows[range.start * k..range.end * k];
            match isa {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: `Isa::best` has found every feature that the function is compiled for.
                Isa::Avx512 => unsafe { avx512::fill(rows, k, tile) },
                _ => fill(rows, k, tile, round),
            }
        });
    }

    pub(super) fn isa(&self) -> Isa {
        self.isa
    }

    pub(super) fn tiles(&self) -> &[IntTile] {
        &self.tiles
    }
}

impl IntTile {
    pub fn height(&self) -> usize {
        self.height
    }

    /// What belongs to groups of so many steps.
    #[inline(always)]
    pub fn groups(&self, steps: usize) -> &Groups {
        if steps < WORDS { &self.halves } else { &self.whole }
    }

    fn resize(&mut self, height: usize, blocks: usize, halves: bool) {
        self.height = height;
        self.row.resize(blocks, [0; BLOCK]);
        self.words.resize(blocks * WORDS * height, [0; STEP]);
        self.whole.resize(blocks * height);
        self.halves.resize(if halves { 2 * blocks * height } else { 0 });
    }
}

impl Groups {
    fn resize(&mut self, length: usize) {
        self.scales.resize(length, 0.0);
        self.starts.resize(length, 0);
        self.sums.resize(length, 0.0);
    }

    #[inline(always)]
    fn set(&mut self, at: usize, scale: f32, sum: i32) {
        if let (Some(scales), Some(starts), Some(sums)) =
            (self.scales.get_mut(at), self.starts.get_mut(at), self.sums.get_mut(at))
        {
            (*scales, *starts, *sums) = (scale, -i32::from(CENTRE) * sum, scale * sum as f32);
        }
    }
}

/// Rounds rows into a tile that has room for them, block by block with `round`; the last block is filled up with zeros.
#[inline(always)]
pub fn fill(rows: &[f32], k: usize, tile: &mut IntTile, round: impl Fn(&[f32; BLOCK], &mut [i8; BLOCK]) -> Rounded) {
    let height = tile.height;
    for (r, row) in rows.chunks_exact(k).enumerate() {
        let (whole, rest) = row.as_chunks::<BLOCK>();
        let mut last = [0f32; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        let mut b = 0;
        while b < tile.row.len() {
            let block = if b < whole.len() { &whole[b] } else { &last };
            let Rounded { scale, sums } = round(block, &mut tile.row[b]);
            tile.whole.set(b * height + r, scale, sums[0] + sums[1]);
            tile.halves.set(2 * b * height + r, scale, sums[0]);
            tile.halves.set((2 * b + 1) * height + r, scale, sums[1]);
            b += 1;
        }
        let words = tile.row.as_flattened().as_chunks::<STEP>().0;
        let slots = &mut tile.words[..words.len() * height];
        let mut w = 0;
        while w < words.len() {
            slots[w * height + r] = words[w];
            w += 1;
        }
    }
}

/// What there is to know of a rounded block beside its values.
#[derive(Debug, Clone, Copy)]
pub struct Rounded {
    /// The largest magnitude / 127.
    pub scale: f32,
    /// Sums of the halves' values.
    pub sums: [i32; 2],
}

/// The scale of a block by the bits of its largest magnitude, and what to multiply values with; None where values are all
/// rounded to 0: where they are too small for a scale, or one of them is no number or infinite. Then so is the scale, and
/// with it the product.
#[inline(always)]
pub fn scale(top: u32) -> (f32, Option<f32>) {
    let top = f32::from_bits(top);
    let scale = top / 127.0;
    (scale, scale.is_normal().then(|| 127.0 / top))
}

/// Rounds a block in code for every processor.
pub fn round(block: &[f32; BLOCK], out: &mut [i8; BLOCK]) -> Rounded {
    // Magnitudes compared as integers, among which what is no number is larger than any.
    let top = block.iter().fold(0, |top, x| u32::max(top, x.to_bits() & 0x7fff_ffff));
    let (scale, inverse) = scale(top);
    let Some(inverse) = inverse else {
        *out = [0; BLOCK];
        return Rounded { scale, sums: [0; 2] };
    };
    let mut sums = [0i32; 2];
    for ((out, block), sum) in out.chunks_exact_mut(BLOCK / 2).zip(block.chunks_exact(BLOCK / 2)).zip(&mut sums) {
        for (out, x) in out.iter_mut().zip(block) {
            // Adding 1.5 * 2^23 rounds to the nearest integer, which then stands in the low bits.
            *out = (x * inverse + 12_582_912.0).to_bits() as i8;
            *sum += i32::from(*out);
        }
    }
    Rounded { scale, sums }
}

/// The rows of each tile: as few tiles as `most` rows in each allow, none more than one row longer than another.
fn split(m: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    let tiles = m.div_ceil(most).max(1);
    (0..tiles).map(move |tile| tile * m / tiles..(tile + 1) * m / tiles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_hold_every_row_once_and_are_balanced() {
        for m in 1..40 {
            let ranges: Vec<_> = split(m, 6).collect();
            assert_eq!(ranges.len(), m.div_ceil(6));
            assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert!(ranges.iter().all(|range| range.len() <= 6 && range.len() >= m / ranges.len()));
            assert_eq!((ranges[0].start, ranges[ranges.len() - 1].end), (0, m));
        }
    }
}
