//! Packed: small products between rows that the encoder has just computed.
//!
//! In: rows of a text (queries, keys, values, hidden states). Out: their products, in rows padded to whole lanes.
//! Each sum goes over its terms in order, so that a text's result is the same whatever is computed beside it. One thread:
//! the callers share the work out by texts and heads.

use crate::model::simd::wide;

/// Columns of a block: two AVX-512 registers or four AVX2.
const BLOCK: usize = 32;

/// Values of one row in a block.
type Lanes = [f32; BLOCK];

/// Rows of floats that lie `stride` apart.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows<'a> {
    /// From the first row's first value on.
    pub(super) values: &'a [f32],
    pub(super) stride: usize,
    pub(super) count: usize,
}

impl<'a> Rows<'a> {
    fn row(&self, i: usize, width: usize) -> &'a [f32] {
        self.values.get(i * self.stride..).and_then(|row| row.get(..width)).unwrap_or_default()
    }
}

/// A matrix to multiply rows of length `k` with, in blocks of [`BLOCK`] columns: `[block][k]`; the last filled up with 0.
#[derive(Debug, Default)]
pub(super) struct Packed {
    k: usize,
    lanes: Vec<Lanes>,
}

impl Packed {
    /// Each of `rows`, of length `k`, becomes a column.
    pub(super) fn columns(&mut self, rows: Rows<'_>, k: usize) {
        self.clear(k, rows.count);
        for i in 0..rows.count {
            let block = self.lanes.iter_mut().skip(i / BLOCK * k);
            for (lanes, &x) in block.zip(rows.row(i, k)) {
                lanes[i % BLOCK] = x;
            }
        }
    }

    /// `rows`, of length `width`, stay rows.
    pub(super) fn rows(&mut self, rows: Rows<'_>, width: usize) {
        self.clear(rows.count, width);
        for i in 0..rows.count {
            let blocks = self.lanes.iter_mut().skip(i).step_by(rows.count);
            for (lanes, values) in blocks.zip(rows.row(i, width).chunks(BLOCK)) {
                lanes[..values.len()].copy_from_slice(values);
            }
        }
    }

    fn clear(&mut self, k: usize, columns: usize) {
        self.k = k;
        self.lanes.clear();
        self.lanes.resize(k * columns.div_ceil(BLOCK), [0.0; BLOCK]);
    }

    /// Length of a row of products.
    pub(super) fn padded(&self) -> usize {
        self.lanes.len() / self.k.max(1) * BLOCK
    }

    /// Products of `rows`, each of length `k`, with every column: `[rows.count, padded]`.
    pub(super) fn multiply(&self, rows: Rows<'_>, out: &mut Vec<f32>) {
        let padded = self.padded();
        out.clear();
        out.resize(rows.count * padded, 0.0);
        let reaches = rows.count == 0 || rows.values.len() >= (rows.count - 1) * rows.stride + self.k;
        if self.k > 0 && reaches {
            multiply(rows.values, rows.stride, rows.count, self.k, &self.lanes, out);
        }
    }
}

/// Rows that are multiplied at once: their sums fill twelve of AVX2's sixteen registers.
const TILE: usize = 3;

/// Values of a row that are multiplied between two checks of bounds.
const STEP: usize = 8;

wide! {
    fn multiply(rows: &[f32], stride: usize, count: usize, k: usize, lanes: &[Lanes], out: &mut [f32]) {
        let (out, _) = out.as_chunks_mut::<BLOCK>();
        let blocks = lanes.len() / k;
        let mut at = 0;
        while at < count {
            let rows = &rows[at * stride..];
            let out = &mut out[at * blocks..];
            match count - at {
                1 => tile::<1>(rows, stride, k, lanes, out),
                2 => tile::<2>(rows, stride, k, lanes, out),
                _ => tile::<TILE>(rows, stride, k, lanes, out),
            }
            at += TILE;
        }
    }
}

/// M rows times all blocks. Index loops, so that the sums stay in registers (see `model::matrix`).
#[inline(always)]
fn tile<const M: usize>(rows: &[f32], stride: usize, k: usize, lanes: &[Lanes], out: &mut [Lanes]) {
    let blocks = lanes.len() / k;
    let mut block = 0;
    while block < blocks {
        let (steps, rest) = lanes[block * k..][..k].as_chunks::<STEP>();
        let mut from: [&[[f32; STEP]]; M] = [&[]; M];
        let mut ends: [&[f32]; M] = [&[]; M];
        let mut r = 0;
        while r < M {
            let (whole, end) = rows[r * stride..][..k].as_chunks::<STEP>();
            (from[r], ends[r]) = (&whole[..steps.len()], &end[..rest.len()]);
            r += 1;
        }
        let mut sums = [[0f32; BLOCK]; M];
        let mut i = 0;
        while i < steps.len() {
            let mut s = 0;
            while s < STEP {
                let mut r = 0;
                while r < M {
                    let x = from[r][i][s];
                    let mut j = 0;
                    while j < BLOCK {
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
                while j < BLOCK {
                    sums[r][j] = x.mul_add(rest[s][j], sums[r][j]);
                    j += 1;
                }
                r += 1;
            }
            s += 1;
        }
        let mut r = 0;
        while r < M {
            out[r * blocks + block] = sums[r];
            r += 1;
        }
        block += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_equal_their_definition_for_strided_rows() {
        let wave = |n: usize, f: f32| -> Vec<f32> { (0..n).map(|i| (i as f32 * f).sin()).collect() };
        let (a, b) = (wave(15 * 40, 0.7), wave(35 * 40, 0.31));
        let rows = |values, count| Rows { values, stride: 40, count };
        let (mut packed, mut out) = (Packed::default(), Vec::new());
        // 15 rows times 35 others, each 21 long.
        packed.columns(rows(&b, 35), 21);
        packed.multiply(rows(&a, 15), &mut out);
        assert_eq!((packed.padded(), out.len()), (64, 15 * 64));
        for i in 0..15 {
            for j in 0..64 {
                let want: f32 = if j < 35 { (0..21).map(|x| a[i * 40 + x] * b[j * 40 + x]).sum() } else { 0.0 };
                assert!((out[i * 64 + j] - want).abs() < 1e-5);
            }
        }
        // 15 rows of 35 times 35 rows of 21.
        packed.rows(rows(&b, 35), 21);
        packed.multiply(rows(&a, 15), &mut out);
        for i in 0..15 {
            for j in 0..21 {
                let want: f32 = (0..35).map(|x| a[i * 40 + x] * b[x * 40 + j]).sum();
                assert!((out[i * 32 + j] - want).abs() < 1e-5);
            }
        }
        let mut alone = Vec::new();
        packed.multiply(Rows { values: &a[4 * 40..], stride: 40, count: 1 }, &mut alone);
        assert_eq!(alone, &out[4 * 32..5 * 32]);
    }
}
