//! Panels of floats, multiplied in f32.
//!
//! In: weights in f32, bf16 or f16, and rows. Out: products, each one chain of fused multiply-adds over k, in order.
//! 16-bit weights are widened, so that they give the same bits as f32 weights of the same values.
//!
//! | file | holds |
//! |---|---|
//! | `avx512`, `plain` | rows times a panel |

#[cfg(target_arch = "x86_64")]
mod avx512;
mod plain;

use half::{bf16, f16};

use super::{PANEL, Part};
#[cfg(target_arch = "x86_64")]
use crate::model::simd::{Width, width};

/// Columns of half a panel.
const HALF: usize = PANEL / 2;

/// A value for each of a panel's columns; aligned so that no register of them crosses a cache line.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub struct Strip<E>(pub [E; PANEL]);

/// Values in bf16 for a panel's columns: of columns j and j + 16 in the low and high half of word j, from where two
/// instructions widen a register of each.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub struct Pairs([u32; HALF]);

/// The weights of a panel's columns at one k.
pub trait Weights: Copy + Send + Sync {
    /// Zeros.
    const ZERO: Self;
    /// Holds the nearest value to a column's weight.
    fn put(&mut self, column: usize, weight: f32);
    /// Widens all values.
    fn widen(&self, out: &mut [f32; PANEL]);
    /// Rows `[m, k]` times a panel into segments, one for each row.
    fn multiply(rows: &[f32], panel: &[Self], out: &mut [[f32; PANEL]]);
}

impl Weights for Strip<f32> {
    const ZERO: Self = Strip([0.0; PANEL]);

    fn put(&mut self, column: usize, weight: f32) {
        self.0[column] = weight;
    }

    #[inline(always)]
    fn widen(&self, out: &mut [f32; PANEL]) {
        *out = self.0;
    }

    fn multiply(rows: &[f32], panel: &[Self], out: &mut [[f32; PANEL]]) {
        match has_avx512() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `width` has found every feature that the function is compiled for.
            true => unsafe { avx512::multiply_f32(rows, panel, out) },
            _ => plain::multiply_f32(rows, panel, out),
        }
    }
}

impl Weights for Pairs {
    const ZERO: Self = Pairs([0; HALF]);

    fn put(&mut self, column: usize, weight: f32) {
        let (word, bits) = (&mut self.0[column % HALF], u32::from(bf16::from_f32(weight).to_bits()));
        *word = match column < HALF {
            true => *word & 0xffff_0000 | bits,
            false => *word & 0xffff | bits << 16,
        };
    }

    #[inline(always)]
    fn widen(&self, out: &mut [f32; PANEL]) {
        let mut j = 0;
        while j < HALF {
            out[j] = f32::from_bits(self.0[j] << 16);
            out[HALF + j] = f32::from_bits(self.0[j] & 0xffff_0000);
            j += 1;
        }
    }

    fn multiply(rows: &[f32], panel: &[Self], out: &mut [[f32; PANEL]]) {
        match has_avx512() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            true => unsafe { avx512::multiply_bf16(rows, panel, out) },
            _ => plain::multiply_bf16(rows, panel, out),
        }
    }
}

impl Weights for Strip<f16> {
    const ZERO: Self = Strip([f16::ZERO; PANEL]);

    fn put(&mut self, column: usize, weight: f32) {
        self.0[column] = f16::from_f32(weight);
    }

    /// In plain integer steps, which the compiler turns into wide ones.
    #[inline(always)]
    fn widen(&self, out: &mut [f32; PANEL]) {
        // Exponents 1 of f16 and 113 of f32 are the same; 31 and 255 mean infinity or no number.
        const FIRST: u32 = 113 << 23;
        const BETWEEN: u32 = 112 << 23;
        let mut j = 0;
        while j < PANEL {
            let bits = u32::from(self.0[j].to_bits());
            let shifted = (bits & 0x7fff) << 13;
            let normal = shifted.wrapping_add(BETWEEN);
            // Below the normal values the fraction counts from 0: taken as counting from 2^-14, which then comes off.
            let small = (f32::from_bits(shifted.wrapping_add(FIRST)) - f32::from_bits(FIRST)).to_bits();
            let magnitude = if shifted < 1 << 23 { small } else { normal };
            let magnitude = if shifted >= 31 << 23 { normal.wrapping_add(BETWEEN) } else { magnitude };
            out[j] = f32::from_bits(magnitude | (bits & 0x8000) << 16);
            j += 1;
        }
    }

    fn multiply(rows: &[f32], panel: &[Self], out: &mut [[f32; PANEL]]) {
        match has_avx512() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            true => unsafe { avx512::multiply_f16(rows, panel, out) },
            _ => plain::multiply_f16(rows, panel, out),
        }
    }
}

fn has_avx512() -> bool {
    #[cfg(target_arch = "x86_64")]
    return width() == Width::Avx512;
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Packs the part's rows from `from` on, up to a panel of them; columns without one are zeros.
pub fn pack<W: Weights>(k: usize, part: &Part<'_>, from: usize) -> Result<Vec<W>, String> {
    let mut panel = vec![W::ZERO; k];
    let mut weights = vec![0f32; k];
    for column in 0..PANEL {
        let Some(row) = part.row(from + column) else { break };
        part.stored.decode_row(row, &mut weights)?;
        put(&mut panel, column, &weights);
    }
    Ok(panel)
}

/// Packs rows `[n, k]`, at most a panel of them.
pub fn pack_f32(k: usize, rows: &[f32]) -> Vec<Strip<f32>> {
    let mut panel = vec![Strip::ZERO; k];
    for (column, weights) in rows.chunks_exact(k.max(1)).enumerate() {
        put(&mut panel, column, weights);
    }
    panel
}

fn put<W: Weights>(panel: &mut [W], column: usize, weights: &[f32]) {
    for (strip, &w) in panel.iter_mut().zip(weights) {
        strip.put(column, w);
    }
}

/// Copies the weights of one column.
#[cfg(test)]
pub fn copy_column<W: Weights>(panel: &[W], column: usize, out: &mut [f32]) {
    let mut values = [0f32; PANEL];
    for (slot, strip) in out.iter_mut().zip(panel) {
        strip.widen(&mut values);
        *slot = values[column];
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::noise;
    use super::*;

    #[test]
    fn kernels_give_the_same_bits() {
        let (k, m) = (301, 11);
        let (rows, weights) = (noise(m * k, 6), noise(PANEL * k, 7));
        let panel = pack_f32(k, &weights);
        let (mut best, mut plain) = (vec![[0f32; PANEL]; m], vec![[0f32; PANEL]; m]);
        Strip::<f32>::multiply(&rows, &panel, &mut best);
        plain::multiply_f32(&rows, &panel, &mut plain);
        assert_eq!(best, plain);
        let mut pairs = vec![Pairs::ZERO; k];
        let mut halves = vec![Strip::<f16>::ZERO; k];
        for (column, weights) in weights.chunks_exact(k).enumerate() {
            put(&mut pairs, column, weights);
            put(&mut halves, column, weights);
        }
        Pairs::multiply(&rows, &pairs, &mut best);
        plain::multiply_bf16(&rows, &pairs, &mut plain);
        assert_eq!(best, plain);
        Strip::<f16>::multiply(&rows, &halves, &mut best);
        plain::multiply_f16(&rows, &halves, &mut plain);
        assert_eq!(best, plain);
    }
}
