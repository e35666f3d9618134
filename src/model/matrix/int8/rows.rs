//! Rows rounded to 8 bits.
//!
//! In: f32 rows. Out: tiles of rows; in each, [`STEP`] neighbouring values of a row are one word, and the words of all rows
//! at one k lie together. A block of [`BLOCK`] values has one scale, its largest magnitude / 127.

use rayon::prelude::*;

use super::Isa;
use super::codes::{BLOCK, CENTRE};
use crate::model::matrix::tiles;
use crate::model::simd::wide;

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
        let ranges: Vec<_> = tiles::split(rows.len() / k, isa.tile_rows()).collect();
        self.tiles.resize_with(ranges.len(), IntTile::default);
        let few = ALONE.div_ceil(k * isa.tile_rows());
        self.tiles.par_iter_mut().zip(ranges).with_min_len(few).for_each(|(tile, range)| {
            tile.resize(range.len(), k.div_ceil(BLOCK), halves);
            round(&rows[range.start * k..range.end * k], k, tile);
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

wide! {
    /// Rounds rows into a tile that has room for them; the last block is filled up with zeros.
    fn round(rows: &[f32], k: usize, tile: &mut IntTile) {
        let height = tile.height;
        for (r, row) in rows.chunks_exact(k).enumerate() {
            let (blocks, rest) = row.as_chunks::<BLOCK>();
            for (b, block) in blocks.iter().enumerate() {
                round_block(block, tile, b, r, height);
            }
            if !rest.is_empty() {
                let mut block = [0f32; BLOCK];
                block[..rest.len()].copy_from_slice(rest);
                round_block(&block, tile, blocks.len(), r, height);
            }
        }
    }
}

#[inline(always)]
fn round_block(block: &[f32; BLOCK], tile: &mut IntTile, b: usize, r: usize, height: usize) {
    // Magnitudes compared as integers: what is no number is larger than any, makes the scale none, and so is not lost.
    let mut tops = [0u32; BLOCK];
    let mut i = 0;
    while i < BLOCK {
        tops[i] = block[i].to_bits() & 0x7fff_ffff;
        i += 1;
    }
    let mut half = BLOCK / 2;
    while half > 0 {
        let mut i = 0;
        while i < half {
            tops[i] = if tops[i] > tops[i + half] { tops[i] } else { tops[i + half] };
            i += 1;
        }
        half /= 2;
    }
    let top = f32::from_bits(tops[0]);
    let inverse = if top > 0.0 { 127.0 / top } else { 0.0 };
    // Adding 1.5 * 2^23 rounds to the nearest integer, which then stands in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let mut values = [0i8; BLOCK];
    let mut i = 0;
    while i < BLOCK {
        values[i] = (block[i] * inverse + ROUND).to_bits() as i8;
        i += 1;
    }
    let (words, _) = values.as_chunks::<STEP>();
    for (slot, &word) in tile.words.iter_mut().skip(b * WORDS * height + r).step_by(height).zip(words) {
        *slot = word;
    }
    let mut sums = [0i32; 2];
    let mut i = 0;
    while i < BLOCK / 2 {
        sums[0] = sums[0].wrapping_add(i32::from(values[i]));
        sums[1] = sums[1].wrapping_add(i32::from(values[i + BLOCK / 2]));
        i += 1;
    }
    let scale = top / 127.0;
    tile.whole.set(b * height + r, scale, sums[0] + sums[1]);
    tile.halves.set(2 * b * height + r, scale, sums[0]);
    tile.halves.set((2 * b + 1) * height + r, scale, sums[1]);
}
