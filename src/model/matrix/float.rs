//! Panels of floats, multiplied in f32.
//!
//! In: weights in f32, bf16 or f16, and rows in tiles. Out: products, each one chain of fused multiply-adds over k, in
//! order. 16-bit weights are widened first, so that they give the same bits as f32 weights of the same values.

use half::{bf16, f16};

use super::{PANEL, Part};
use crate::model::simd::wide;
#[cfg(target_arch = "x86_64")]
use crate::model::simd::{Width, width};

/// The weights of a panel's columns at one k; aligned so that no register of them crosses a cache line.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub struct Strip<E>(pub [E; PANEL]);

/// Weights of a column that are widened at once: 16 KiB in f32 for a panel, half of a usual nearest cache. They are
/// multiplied with all rows before the next ones are; sums wait in the product meanwhile, which changes no bits.
const STRETCH: usize = 128;

/// Values of a row that are multiplied between two checks of bounds.
const STEP: usize = 8;

/// A type that weights are held in.
pub trait Element: Copy + Default + Send + Sync {
    /// The nearest value.
    fn round(x: f32) -> Self;
    /// The value.
    fn widen(self) -> f32;
}

impl Element for f32 {
    fn round(x: f32) -> f32 {
        x
    }

    #[inline(always)]
    fn widen(self) -> f32 {
        self
    }
}

impl Element for bf16 {
    fn round(x: f32) -> bf16 {
        bf16::from_f32(x)
    }

    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }
}

impl Element for f16 {
    fn round(x: f32) -> f16 {
        f16::from_f32(x)
    }

    /// In plain integer steps, which the compiler turns into wide ones.
    #[inline(always)]
    fn widen(self) -> f32 {
        // Exponents 1 of f16 and 113 of f32 are the same; 31 and 255 mean infinity or no number.
        const FIRST: u32 = 113 << 23;
        let bits = u32::from(self.to_bits());
        let shifted = (bits & 0x7fff) << 13;
        let normal = shifted + (112 << 23);
        // Below the normal values the fraction counts from 0: taken as counting from 2^-14, which then comes off.
        let small = (f32::from_bits(shifted + FIRST) - f32::from_bits(FIRST)).to_bits();
        let magnitude = if shifted < 1 << 23 { small } else { normal };
        let magnitude = if shifted >= 31 << 23 { normal + (112 << 23) } else { magnitude };
        f32::from_bits(magnitude | (bits & 0x8000) << 16)
    }
}

/// Packs the part's rows from `from` on, up to a panel of them; columns without one are zeros.
pub fn pack<E: Element>(k: usize, part: &Part<'_>, from: usize) -> Result<Vec<Strip<E>>, String> {
    let mut strips = vec![Strip([E::default(); PANEL]); k];
    let mut weights = vec![0f32; k];
    for column in 0..PANEL {
        let Some(row) = part.row(from + column) else { break };
        part.stored.decode_row(row, &mut weights)?;
        put(&mut strips, column, &weights);
    }
    Ok(strips)
}

/// Packs rows `[n, k]`, at most a panel of them.
pub fn pack_f32(k: usize, rows: &[f32]) -> Vec<Strip<f32>> {
    let mut strips = vec![Strip([0.0; PANEL]); k];
    for (column, weights) in rows.chunks_exact(k.max(1)).enumerate() {
        put(&mut strips, column, weights);
    }
    strips
}

fn put<E: Element>(strips: &mut [Strip<E>], column: usize, weights: &[f32]) {
    for (strip, &w) in strips.iter_mut().zip(weights) {
        strip.0[column] = E::round(w);
    }
}

/// Copies the weights of one column.
#[cfg(test)]
pub fn copy_column<E: Element>(strips: &[Strip<E>], column: usize, out: &mut [f32]) {
    for (slot, strip) in out.iter_mut().zip(strips) {
        *slot = strip.0[column].widen();
    }
}

wide! {
    /// Rows `[m, k]` times a panel of f32 into segments, one for each row.
    pub fn multiply_f32(rows: &[f32], strips: &[Strip<f32>], out: &mut [[f32; PANEL]]) {
        multiply_stretch(rows, strips.len(), 0, strips, out);
    }
}

wide! {
    /// The same with a panel of bf16.
    pub fn multiply_bf16(rows: &[f32], strips: &[Strip<bf16>], out: &mut [[f32; PANEL]]) {
        multiply_widened(rows, strips, out);
    }
}

wide! {
    /// The same with a panel of f16.
    pub fn multiply_f16(rows: &[f32], strips: &[Strip<f16>], out: &mut [[f32; PANEL]]) {
        multiply_widened(rows, strips, out);
    }
}

#[inline(always)]
fn multiply_widened<E: Element>(rows: &[f32], strips: &[Strip<E>], out: &mut [[f32; PANEL]]) {
    let mut widened = [Strip([0f32; PANEL]); STRETCH];
    let k = strips.len();
    let mut from = 0;
    while from < k {
        let strips = &strips[from..][..STRETCH.min(k - from)];
        let widened = &mut widened[..strips.len()];
        let mut i = 0;
        while i < strips.len() {
            let mut j = 0;
            while j < PANEL {
                widened[i].0[j] = strips[i].0[j].widen();
                j += 1;
            }
            i += 1;
        }
        multiply_stretch(rows, k, from, widened, out);
        from += STRETCH;
    }
}

/// All rows times the weights from k = `from` on; sums of weights before are in `out` and go on.
/// The register tile has 6 x 2 accumulators of AVX-512, or 2 x 4 of AVX2, with room for the weights and the row.
#[inline(always)]
fn multiply_stretch(rows: &[f32], k: usize, from: usize, strips: &[Strip<f32>], out: &mut [[f32; PANEL]]) {
    match wide_registers() {
        true => multiply_tiles::<6>(rows, k, from, strips, out),
        false => multiply_tiles::<2>(rows, k, from, strips, out),
    }
}

#[inline(always)]
fn multiply_tiles<const TILE: usize>(
    rows: &[f32],
    k: usize,
    from: usize,
    strips: &[Strip<f32>],
    out: &mut [[f32; PANEL]],
) {
    let mut row_tiles = rows.chunks_exact(TILE * k);
    let mut out_tiles = out.chunks_exact_mut(TILE);
    for (rows, out) in row_tiles.by_ref().zip(out_tiles.by_ref()) {
        multiply_tile::<TILE>(rows, k, from, strips, out);
    }
    let (rows, out) = (row_tiles.remainder(), out_tiles.into_remainder());
    match out.len() {
        1 => multiply_tile::<1>(rows, k, from, strips, out),
        2 => multiply_tile::<2>(rows, k, from, strips, out),
        3 => multiply_tile::<3>(rows, k, from, strips, out),
        4 => multiply_tile::<4>(rows, k, from, strips, out),
        5 => multiply_tile::<5>(rows, k, from, strips, out),
        _ => {}
    }
}

/// M rows times the weights from k = `from` on.
///
/// Index loops throughout: an iterator would borrow the sums, and with debug assertions on (as in this crate's one
/// profile) its checks keep what is borrowed in memory, which makes this loop three times slower.
#[inline(always)]
fn multiply_tile<const M: usize>(rows: &[f32], k: usize, from: usize, strips: &[Strip<f32>], out: &mut [[f32; PANEL]]) {
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

/// Whether the 32 wide registers of AVX-512 are there.
#[inline(always)]
fn wide_registers() -> bool {
    #[cfg(target_arch = "x86_64")]
    return width() == Width::Avx512;
    #[cfg(not(target_arch = "x86_64"))]
    false
}
