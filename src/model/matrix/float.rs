//! Panels of floats, multiplied in f32.
//!
//! In: weights in f32, bf16 or f16, and rows in tiles. Out: products, each one chain of fused multiply-adds over k, in
//! order. 16-bit weights are widened first, so that they give the same bits as f32 weights of the same values.

use half::{bf16, f16};

use super::{PANEL, Part, tiles};
use crate::model::simd::wide;
#[cfg(target_arch = "x86_64")]
use crate::model::simd::{Width, width};

/// The weights of a panel's columns at one k; aligned so that no register of them crosses a cache line.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub struct Strip<E>(pub [E; PANEL]);

/// Weights of a panel that are multiplied with all rows before the next ones are: 16 KiB in f32, half of a usual nearest
/// cache. Sums wait in the product meanwhile, which changes no bits.
const STRETCH: usize = 128;

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
#[cfg(test)]
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

/// Rows of the largest tile: 12 x 2 accumulators of AVX-512, or 3 x 4 of AVX2, with room for the weights and the rows.
pub fn tile_rows() -> usize {
    match wide_registers() {
        true => 12,
        false => 3,
    }
}

wide! {
    /// Rows in tiles times a panel of f32 into segments, one for each row.
    pub fn multiply_f32(rows: &[f32], strips: &[Strip<f32>], out: &mut [[f32; PANEL]]) {
        for (at, strips) in strips.chunks(STRETCH).enumerate() {
            multiply_stretch(rows, at * STRETCH, strips, out);
        }
    }
}

wide! {
    /// Rows in tiles times a panel of bf16 into segments, one for each row.
    pub fn multiply_bf16(rows: &[f32], strips: &[Strip<bf16>], out: &mut [[f32; PANEL]]) {
        multiply_widened(rows, strips, out);
    }
}

wide! {
    /// Rows in tiles times a panel of f16 into segments, one for each row.
    pub fn multiply_f16(rows: &[f32], strips: &[Strip<f16>], out: &mut [[f32; PANEL]]) {
        multiply_widened(rows, strips, out);
    }
}

#[inline(always)]
fn multiply_widened<E: Element>(rows: &[f32], strips: &[Strip<E>], out: &mut [[f32; PANEL]]) {
    let mut widened = [Strip([0f32; PANEL]); STRETCH];
    for (at, strips) in strips.chunks(STRETCH).enumerate() {
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
        multiply_stretch(rows, at * STRETCH, widened, out);
    }
}

/// All rows times the weights from k = `from` on; sums of weights before are in `out` and go on.
#[inline(always)]
fn multiply_stretch(rows: &[f32], from: usize, strips: &[Strip<f32>], out: &mut [[f32; PANEL]]) {
    let (m, resume) = (out.len(), from > 0);
    let k = rows.len() / m;
    for tile in tiles::split(m, tile_rows()) {
        let height = tile.len();
        let rows = &rows[tile.start * k + from * height..][..strips.len() * height];
        let out = &mut out[tile];
        match height {
            1 => multiply_tile::<1>(rows, strips, out, resume),
            2 => multiply_tile::<2>(rows, strips, out, resume),
            3 => multiply_tile::<3>(rows, strips, out, resume),
            4 => multiply_tile::<4>(rows, strips, out, resume),
            5 => multiply_tile::<5>(rows, strips, out, resume),
            6 => multiply_tile::<6>(rows, strips, out, resume),
            7 => multiply_tile::<7>(rows, strips, out, resume),
            8 => multiply_tile::<8>(rows, strips, out, resume),
            9 => multiply_tile::<9>(rows, strips, out, resume),
            10 => multiply_tile::<10>(rows, strips, out, resume),
            11 => multiply_tile::<11>(rows, strips, out, resume),
            12 => multiply_tile::<12>(rows, strips, out, resume),
            _ => {}
        }
    }
}

/// M rows, `[k][M]`, times the weights at each k.
///
/// Index loops throughout: an iterator would borrow the sums, and with debug assertions on (as in this crate's one
/// profile) its checks keep what is borrowed in memory, which makes this loop three times slower.
#[inline(always)]
fn multiply_tile<const M: usize>(rows: &[f32], strips: &[Strip<f32>], out: &mut [[f32; PANEL]], resume: bool) {
    let (rows, _) = rows.as_chunks::<M>();
    let rows = &rows[..strips.len()];
    let Ok(out) = <&mut [[f32; PANEL]; M]>::try_from(out) else { return };
    let mut sums = if resume { *out } else { [[0f32; PANEL]; M] };
    let mut i = 0;
    while i < strips.len() {
        let mut r = 0;
        while r < M {
            let mut j = 0;
            while j < PANEL {
                sums[r][j] = rows[i][r].mul_add(strips[i].0[j], sums[r][j]);
                j += 1;
            }
            r += 1;
        }
        i += 1;
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
