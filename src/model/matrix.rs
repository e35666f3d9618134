//! Weight matrices, packed for multiplication with a batch of rows.
//!
//! In: row-major f32 weights `[n, k]`; then row-major activations `[m, k]`. Out: products in panels of [`PANEL`] columns.
//!
//! Weights are packed once, at load time, as panels `[n / PANEL][k][PANEL]`. Every product is one fused multiply-add chain
//! over k, in order, for each output on its own. So a row's result is the same bits alone, in any batch and on any number
//! of threads: a property that general-purpose matrix products, which block over the batch, do not have.

use rayon::prelude::*;

use super::simd::wide;
#[cfg(target_arch = "x86_64")]
use super::simd::{Width, width};

/// Columns of a panel: two AVX-512 registers.
pub const PANEL: usize = 32;

/// Values of a row that are multiplied between two checks of bounds.
const STEP: usize = 8;

/// A matrix that maps rows of length `k` to rows of length `n`.
#[derive(Debug, Default)]
pub struct Matrix {
    k: usize,
    n: usize,
    panels: Vec<f32>,
}

/// The product of a [`Matrix`] with `m` rows: panels `[panel][m][PANEL]`.
#[derive(Debug, Default)]
pub struct Product {
    m: usize,
    panels: Vec<f32>,
}

impl Matrix {
    /// Packs weights `[n, k]`, row-major; a last panel that is not full is padded with zeros.
    /// Several matrices of the same `k` are stacked: their outputs follow one another, each from a panel of its own.
    pub fn pack(k: usize, parts: &[&[f32]]) -> Matrix {
        let panel_len = (k * PANEL).max(1);
        let sources: Vec<&[f32]> = parts.iter().flat_map(|part| part.chunks(panel_len)).collect();
        let mut panels = vec![0f32; sources.len() * k * PANEL];
        panels.par_chunks_mut(panel_len).zip(sources.par_iter()).for_each(|(panel, source)| {
            for (column, weights) in source.chunks_exact(k.max(1)).enumerate() {
                for (slot, &w) in panel.iter_mut().skip(column).step_by(PANEL).zip(weights) {
                    *slot = w;
                }
            }
        });
        Matrix { k, n: sources.len() * PANEL, panels }
    }

    /// Copies weight row `row` (`k` values) into `out`: with an embedding matrix, a token's embedding.
    pub fn copy_row(&self, row: usize, out: &mut [f32]) {
        let start = row / PANEL * self.k * PANEL + row % PANEL;
        if let Some(weights) = self.panels.get(start..) {
            for (slot, &w) in out.iter_mut().zip(weights.iter().step_by(PANEL)) {
                *slot = w;
            }
        }
    }

    /// Multiplies rows `[m, k]`, reusing `out`.
    pub fn apply(&self, rows: &[f32], out: &mut Product) {
        let m = rows.len() / self.k.max(1);
        out.m = m;
        out.panels.resize(m * self.n, 0.0);
        if m == 0 {
            return;
        }
        let panel_len = self.k * PANEL;
        let threads = rayon::current_num_threads();
        let share = (self.n / PANEL).div_ceil(threads * 4).max(1);
        self.panels.par_chunks(panel_len * share).zip(out.panels.par_chunks_mut(m * PANEL * share)).for_each(
            |(panels, outs)| {
                multiply(rows, self.k, panels, outs);
            },
        );
    }
}

impl Product {
    /// The segments of row `row`, each of [`PANEL`] outputs, in order.
    #[inline(always)]
    pub fn segments(&self, row: usize) -> impl Iterator<Item = &[f32; PANEL]> {
        let (segments, _) = self.panels.as_chunks::<PANEL>();
        segments.iter().skip(row).step_by(self.m.max(1))
    }

    /// Copies `out.len()` outputs of row `row`, from output `from` on (a multiple of [`PANEL`]).
    #[inline(always)]
    pub fn copy(&self, row: usize, from: usize, out: &mut [f32]) {
        for (slot, segment) in out.chunks_mut(PANEL).zip(self.segments(row).skip(from / PANEL)) {
            slot.copy_from_slice(&segment[..slot.len()]);
        }
    }
}

wide! {
    /// Rows `[m, k]` times panels `[p][k][PANEL]` into `[p][m][PANEL]`.
    fn multiply(rows: &[f32], k: usize, panels: &[f32], outs: &mut [f32]) {
        let m = rows.len() / k;
        for (panel, out) in panels.chunks_exact(k * PANEL).zip(outs.chunks_exact_mut(m * PANEL)) {
            multiply_panel(rows, k, panel, out);
        }
    }
}

/// Rows of the register tile: 6 x 2 accumulators of AVX-512, or 2 x 4 of AVX2, with room for the weights and the row.
#[inline(always)]
fn multiply_panel(rows: &[f32], k: usize, panel: &[f32], out: &mut [f32]) {
    match wide_registers() {
        true => multiply_tiles::<6>(rows, k, panel, out),
        false => multiply_tiles::<2>(rows, k, panel, out),
    }
}

#[inline(always)]
fn multiply_tiles<const TILE: usize>(rows: &[f32], k: usize, panel: &[f32], out: &mut [f32]) {
    let mut row_tiles = rows.chunks_exact(TILE * k);
    let mut out_tiles = out.chunks_exact_mut(TILE * PANEL);
    for (rows, out) in row_tiles.by_ref().zip(out_tiles.by_ref()) {
        tile::<TILE>(rows, k, panel, out);
    }
    let (rows, out) = (row_tiles.remainder(), out_tiles.into_remainder());
    match rows.len() / k {
        1 => tile::<1>(rows, k, panel, out),
        2 => tile::<2>(rows, k, panel, out),
        3 => tile::<3>(rows, k, panel, out),
        4 => tile::<4>(rows, k, panel, out),
        5 => tile::<5>(rows, k, panel, out),
        _ => {}
    }
}

/// M rows times one panel.
///
/// Index loops throughout: an iterator would borrow the sums, and with debug assertions on (as in this crate's one
/// profile) its checks keep what is borrowed in memory, which makes this loop three times slower.
#[inline(always)]
fn tile<const M: usize>(rows: &[f32], k: usize, panel: &[f32], out: &mut [f32]) {
    let (steps, rest) = panel.as_chunks::<PANEL>().0.as_chunks::<STEP>();
    let mut blocks: [&[[f32; STEP]]; M] = [&[]; M];
    let mut ends: [&[f32]; M] = [&[]; M];
    let mut r = 0;
    while r < M {
        let (block, end) = rows[r * k..][..k].as_chunks::<STEP>();
        (blocks[r], ends[r]) = (&block[..steps.len()], &end[..rest.len()]);
        r += 1;
    }
    let mut sums = [[0f32; PANEL]; M];
    let mut i = 0;
    while i < steps.len() {
        let mut s = 0;
        while s < STEP {
            let mut r = 0;
            while r < M {
                let x = blocks[r][i][s];
                let mut j = 0;
                while j < PANEL {
                    sums[r][j] = x.mul_add(steps[i][s][j], sums[r][j]);
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
                sums[r][j] = x.mul_add(rest[s][j], sums[r][j]);
                j += 1;
            }
            r += 1;
        }
        s += 1;
    }
    let (out, _) = out.as_chunks_mut::<PANEL>();
    let mut r = 0;
    while r < M {
        let mut j = 0;
        while j < PANEL {
            out[r][j] = sums[r][j];
            j += 1;
        }
        r += 1;
    }
}

/// Whether the 32 wide registers of AVX-512 are there.
#[inline(always)]
fn wide_registers() -> bool {
    #[cfg(target_arch = "x86_64")]
    return width() == Width::Avx512;
    #[cfg(not(target_arch = "x86_64"))]
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(n: usize, seed: u32) -> Vec<f32> {
        let mut state = seed;
        (0..n)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 8) as f32 / (1u32 << 23) as f32 - 1.0
            })
            .collect()
    }

    #[test]
    fn equals_the_definition_and_does_not_depend_on_the_batch() {
        let (k, n) = (37, 70);
        let weights = noise(n * k, 1);
        let matrix = Matrix::pack(k, &[&weights]);
        let rows = noise(15 * k, 2);
        let mut all = Product::default();
        matrix.apply(&rows, &mut all);
        for m in 0..15 {
            let mut got = vec![0f32; n];
            all.copy(m, 0, &mut got);
            for (j, &g) in got.iter().enumerate() {
                let want: f64 = (0..k).map(|i| f64::from(rows[m * k + i]) * f64::from(weights[j * k + i])).sum();
                assert!((f64::from(g) - want).abs() < 1e-5);
            }
            let mut alone = Product::default();
            matrix.apply(&rows[m * k..(m + 1) * k], &mut alone);
            let mut single = vec![0f32; n];
            alone.copy(0, 0, &mut single);
            assert_eq!(got, single, "row {m}");
        }
    }

    #[test]
    fn the_tile_for_fewer_registers_gives_the_same_bits() {
        let (k, m) = (29, 11);
        let (rows, panel) = (noise(m * k, 6), noise(k * PANEL, 7));
        let (mut six, mut two) = (vec![0f32; m * PANEL], vec![0f32; m * PANEL]);
        multiply_tiles::<6>(&rows, k, &panel, &mut six);
        multiply_tiles::<2>(&rows, k, &panel, &mut two);
        assert_eq!(six, two);
    }

    #[test]
    fn stacked_parts_start_at_their_own_panel() {
        let (a, b) = (noise(40 * 8, 3), noise(8, 4));
        let matrix = Matrix::pack(8, &[&a, &b]);
        let row = noise(8, 5);
        let (mut out, mut alone) = (Product::default(), Product::default());
        matrix.apply(&row, &mut out);
        Matrix::pack(8, &[&b]).apply(&row, &mut alone);
        let (mut got, mut want) = ([0f32; 1], [0f32; 1]);
        out.copy(0, 64, &mut got);
        alone.copy(0, 0, &mut want);
        assert_eq!(got, want);
        let mut embedding = vec![0f32; 8];
        matrix.copy_row(39, &mut embedding);
        assert_eq!(embedding, &a[39 * 8..]);
    }
}
