//! Rows times a panel in plain array code, compiled for AVX2 and for every processor.

use half::f16;

use super::{Pairs, Strip, Weights};
use crate::model::matrix::PANEL;
use crate::model::simd::wide;

/// Weights of a column that are widened at once: 16 KiB in f32 for a panel, half of a usual nearest cache. They are
/// multiplied with all rows before the next ones are; sums wait in the product meanwhile, which changes no bits.
const STRETCH: usize = 128;

/// Values of a row that are multiplied between two checks of bounds.
const STEP: usize = 8;

/// Rows of a tile: their 2 x 4 registers of AVX2 for sums leave room for the weights and the rows.
const TILE: usize = 2;

wide! {
    /// Rows `[m, k]` times a panel of f32 into segments, one for each row.
    pub fn multiply_f32(rows: &[f32], panel: &[Strip<f32>], out: &mut [[f32; PANEL]]) {
        multiply(rows, panel.len(), 0, panel, out);
    }
}

wide! {
    /// The same with a panel of bf16.
    pub fn multiply_bf16(rows: &[f32], panel: &[Pairs], out: &mut [[f32; PANEL]]) {
        multiply_widened(rows, panel, out);
    }
}

wide! {
    /// The same with a panel of f16.
    pub fn multiply_f16(rows: &[f32], panel: &[Strip<f16>], out: &mut [[f32; PANEL]]) {
        multiply_widened(rows, panel, out);
    }
}

#[inline(always)]
fn multiply_widened<W: Weights>(rows: &[f32], panel: &[W], out: &mut [[f32; PANEL]]) {
    let mut widened = [Strip([0f32; PANEL]); STRETCH];
    for (at, strips) in panel.chunks(STRETCH).enumerate() {
        let widened = &mut widened[..strips.len()];
        let mut i = 0;
        while i < strips.len() {
            strips[i].widen(&mut widened[i].0);
            i += 1;
        }
        multiply(rows, panel.len(), at * STRETCH, widened, out);
    }
}

/// All rows times the weights from k = `from` on; sums of weights before are in `out` and go on.
#[inline(always)]
fn multiply(rows: &[f32], k: usize, from: usize, strips: &[Strip<f32>], out: &mut [[f32; PANEL]]) {
    let mut row_tiles = rows.chunks_exact(TILE * k);
    let mut out_tiles = out.chunks_exact_mut(TILE);
    for (rows, out) in row_tiles.by_ref().zip(out_tiles.by_ref()) {
        tile::<TILE>(rows, k, from, strips, out);
    }
    tile::<1>(row_tiles.remainder(), k, from, strips, out_tiles.into_remainder());
}

/// M rows times the weights from k = `from` on.
///
/// Index loops throughout: an iterator would borrow the sums, and with debug assertions on (as in this crate's one
/// profile) its checks keep what is borrowed in memory, which makes this loop three times slower.
#[inline(always)]
fn tile<const M: usize>(rows: &[f32], k: usize, from: usize, strips: &[Strip<f32>], out: &mut [[f32; PANEL]]) {
    let Ok(out) = <&mut [[f32; PANEL]; M]>::try_from(out) else { return };
    let (steps, rest) = strips.as_chunks::<STEP>();
    let mut blocks: [&[[f32; STEP]]; M] = [&[]; M];
    let mut ends: [&[f32]; M] = [&[]; M];
    let mut r = 0;
    while r < M {
        let (block, end) = rows[r * k + from..][..strips.len()].as_chunks::<STEP>();
        (blocks[r], ends[r]) = (&block[..steps.len()], &end[..rest.len()]);
        r += 1;
    }
    let mut sums = if from > 0 { *out } else { [[0f32; PANEL]; M] };
    let mut i = 0;
    while i < steps.len() {
        let mut s = 0;
        while s < STEP {
            let mut r = 0;
            while r < M {
                let x = blocks[r][i][s];
                let mut j = 0;
                while j < PANEL {
                    sums[r][j] = x.mul_add(steps[i][s].0[j], sums[r][j]);
                    j += 1;
                }
                r += 1;
            }
            s += 1;
        }
        i += 1;
    }
    let mut s = 0;
    while s < rest.len() {
        let mut r = 0;
        while r < M {
            let x = ends[r][s];
            let mut j = 0;
            while j < PANEL {
                sums[r][j] = x.mul_add(rest[s].0[j], sums[r][j]);
                j += 1;
            }
            r += 1;
        }
        s += 1;
    }
    *out = sums;
}
