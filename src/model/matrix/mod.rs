//! Weight matrices, packed for multiplication with a batch of rows.
//!
//! In: stored tensors `[n, k]`; then row-major activations `[m, k]`. Out: products in segments of [`PANEL`] columns.
//!
//! Weights are packed once, at load time, in panels of [`PANEL`] outputs, in the type in which they are multiplied
//! ([`Compute`]). Each output is computed by one chain of operations over k, in order, on its own. So a row's result is
//! the same bits alone, in any batch and on any number of threads: a property that general-purpose matrix products, which
//! block over the batch, do not have.
//!
//! | file | holds |
//! |---|---|
//! | `compute` | in what type |
//! | `part` | which rows of stored tensors become outputs |
//! | `float` | panels of floats (f32, bf16, f16), multiplied in f32 |
//! | `int8` | panels of 8-bit integers, multiplied with rows rounded to 8 bits |

mod compute;
mod float;
mod int8;
mod part;

#[cfg(test)]
use std::mem::size_of_val;

use half::{bf16, f16};
use rayon::prelude::*;

pub use compute::Compute;
use float::Strip;
use int8::{IntPanel, IntRows};
pub use part::{Part, RowOrder};

/// Columns of a panel: two AVX-512 registers of f32.
pub const PANEL: usize = 32;

/// A matrix that maps rows of length `k` to rows of outputs.
#[derive(Debug, Default)]
pub struct Matrix {
    k: usize,
    compute: Compute,
    panels: Vec<Panel>,
}

/// The weights of [`PANEL`] outputs; those that no weight row is behind are zeros.
#[derive(Debug)]
enum Panel {
    F32(Vec<Strip<f32>>),
    Bf16(Vec<Strip<bf16>>),
    F16(Vec<Strip<f16>>),
    Int8(IntPanel),
}

/// The product of a [`Matrix`] with `m` rows: `[panel][m][PANEL]`. Kept and used again, as its buffers are.
#[derive(Debug, Default)]
pub struct Product {
    m: usize,
    segments: Vec<[f32; PANEL]>,
    /// The last rows that were multiplied in integers.
    integers: IntRows,
}

impl Matrix {
    /// Packs the rows that `parts` name, of length `k` each. The outputs of the parts follow one another, each part from a
    /// panel of its own.
    ///
    /// # Errors
    /// A sentence where a tensor's rows are not of length `k`, its bytes can't be decoded, or a row is not there.
    pub fn pack(k: usize, parts: &[Part<'_>], compute: Compute) -> Result<Matrix, String> {
        let mut panels = Vec::new();
        for part in parts {
            part.check(k)?;
            let of_part: Result<Vec<Panel>, String> = (0..part.len().div_ceil(PANEL))
                .into_par_iter()
                .map(|panel| Panel::pack(k, part, panel * PANEL, compute))
                .collect();
            panels.extend(of_part?);
        }
        Ok(Matrix { k, compute, panels })
    }

    /// Packs weights `[n, k]` that are at hand as f32, in f32. Parts follow one another as in [`Matrix::pack`].
    pub fn of_f32(k: usize, parts: &[&[f32]]) -> Matrix {
        let rows: Vec<&[f32]> = parts.iter().flat_map(|part| part.chunks((k * PANEL).max(1))).collect();
        let panels = rows.into_par_iter().map(|rows| Panel::F32(float::pack_f32(k, rows))).collect();
        Matrix { k, compute: Compute::F32, panels }
    }

    /// Outputs, with those that fill up the parts' last panels.
    #[cfg(test)]
    pub fn outputs(&self) -> usize {
        self.panels.len() * PANEL
    }

    /// Bytes that the weights take.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.panels.iter().map(Panel::bytes).sum()
    }

    /// Copies weight row `row` (`k` values) into `out`: with an embedding matrix, a token's embedding.
    #[cfg(test)]
    pub fn copy_row(&self, row: usize, out: &mut [f32]) {
        match self.panels.get(row / PANEL) {
            Some(Panel::F32(strips)) => float::copy_column(strips, row % PANEL, out),
            Some(Panel::Bf16(strips)) => float::copy_column(strips, row % PANEL, out),
            Some(Panel::F16(strips)) => float::copy_column(strips, row % PANEL, out),
            Some(Panel::Int8(panel)) => panel.copy_column(row % PANEL, out),
            None => {}
        }
    }

    /// Multiplies rows `[m, k]`, reusing `out`.
    pub fn apply(&self, rows: &[f32], out: &mut Product) {
        let m = rows.len() / self.k.max(1);
        out.m = m;
        out.segments.resize(m * self.panels.len(), [0.0; PANEL]);
        if m == 0 {
            return;
        }
        if self.compute == Compute::Int8 {
            out.integers.fill(rows, self.k, self.panels.iter().any(Panel::has_short_groups));
        }
        let integers = &out.integers;
        // A few tasks for each thread, so that one that is late does not keep the others waiting.
        let share = self.panels.len().div_ceil(rayon::current_num_threads() * 4).max(1);
        self.panels.par_chunks(share).zip(out.segments.par_chunks_mut(m * share)).for_each(|(panels, segments)| {
            for (panel, segments) in panels.iter().zip(segments.chunks_exact_mut(m)) {
                match panel {
                    Panel::F32(strips) => float::multiply_f32(rows, strips, segments),
                    Panel::Bf16(strips) => float::multiply_bf16(rows, strips, segments),
                    Panel::F16(strips) => float::multiply_f16(rows, strips, segments),
                    Panel::Int8(panel) => panel.multiply(integers, segments),
                }
            }
        });
    }
}

impl Panel {
    /// Packs the part's rows from `from` on.
    fn pack(k: usize, part: &Part<'_>, from: usize, compute: Compute) -> Result<Panel, String> {
        Ok(match compute {
            Compute::F32 => Panel::F32(float::pack(k, part, from)?),
            Compute::Bf16 => Panel::Bf16(float::pack(k, part, from)?),
            Compute::F16 => Panel::F16(float::pack(k, part, from)?),
            Compute::Int8 => Panel::Int8(IntPanel::pack(k, part, from)?),
        })
    }

    fn has_short_groups(&self) -> bool {
        matches!(self, Panel::Int8(panel) if panel.has_short_groups())
    }

    #[cfg(test)]
    fn bytes(&self) -> usize {
        match self {
            Panel::F32(strips) => size_of_val(strips.as_slice()),
            Panel::Bf16(strips) => size_of_val(strips.as_slice()),
            Panel::F16(strips) => size_of_val(strips.as_slice()),
            Panel::Int8(panel) => panel.bytes(),
        }
    }
}

impl Product {
    /// The segments of row `row`, each of [`PANEL`] outputs, in order.
    #[inline(always)]
    pub fn segments(&self, row: usize) -> impl Iterator<Item = &[f32; PANEL]> {
        self.segments.iter().skip(row).step_by(self.m.max(1))
    }

    /// One output of a row; NaN where there is none.
    pub fn at(&self, row: usize, output: usize) -> f32 {
        let segment = self.segments.get(output / PANEL * self.m + row);
        segment.and_then(|segment| segment.get(output % PANEL)).copied().unwrap_or(f32::NAN)
    }

    /// Copies `out.len()` outputs of row `row`, from output `from` on (a multiple of [`PANEL`]).
    #[inline(always)]
    pub fn copy(&self, row: usize, from: usize, out: &mut [f32]) {
        for (slot, segment) in out.chunks_mut(PANEL).zip(self.segments(row).skip(from / PANEL)) {
            slot.copy_from_slice(&segment[..slot.len()]);
        }
    }
}

#[cfg(test)]
mod tests;
