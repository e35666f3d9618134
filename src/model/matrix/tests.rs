//! Products against their definitions, and the bits of a row in any batch.

use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Tensor};

use super::*;
use crate::model::weights::stored::{Encoding, Stored};

pub(super) fn noise(n: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    (0..n)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1u32 << 23) as f32 - 1.0
        })
        .collect()
}

fn bytes_of(weights: &[f32]) -> Vec<u8> {
    weights.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// `n` rows of weights as candle rounds them to an encoding.
pub(super) fn quantized(encoding: Encoding, n: usize, k: usize, seed: u32) -> Vec<u8> {
    let tensor = Tensor::from_vec(noise(n * k, seed), (n, k), &Device::Cpu).unwrap();
    QTensor::quantize(&tensor, encoding).unwrap().data().unwrap().into_owned()
}

const FLOATS: [Compute; 3] = [Compute::F32, Compute::Bf16, Compute::F16];

const BLOCKS: [Encoding; 10] = [
    GgmlDType::Q4_0,
    GgmlDType::Q4_1,
    GgmlDType::Q5_0,
    GgmlDType::Q5_1,
    GgmlDType::Q8_0,
    GgmlDType::Q2K,
    GgmlDType::Q3K,
    GgmlDType::Q4K,
    GgmlDType::Q5K,
    GgmlDType::Q6K,
];

/// Row `row` of a product, `n` outputs.
fn outputs(product: &Product, row: usize, n: usize) -> Vec<f32> {
    let mut out = vec![0f32; n];
    product.copy(row, 0, &mut out);
    out
}

/// Every row alone, and in batches of every size up to `rows`, is the same bits.
fn check_batches(matrix: &Matrix, rows: &[f32], k: usize, n: usize) {
    let (mut alone, mut batch) = (Product::default(), Product::default());
    let singles: Vec<Vec<f32>> = rows
        .chunks_exact(k)
        .map(|row| {
            matrix.apply(row, &mut alone);
            outputs(&alone, 0, n)
        })
        .collect();
    for m in 1..=singles.len() {
        matrix.apply(&rows[..m * k], &mut batch);
        for (r, single) in singles[..m].iter().enumerate() {
            assert_eq!(&outputs(&batch, r, n), single, "row {r} of {m}");
        }
    }
}

#[test]
fn floats_equal_the_definition_and_do_not_depend_on_the_batch() {
    // Longer than one stretch, and neither k nor n a multiple of anything.
    let (k, n) = (301, 70);
    let (weights, rows) = (noise(n * k, 1), noise(27 * k, 2));
    let bytes = bytes_of(&weights);
    let stored = Stored { shape: &[n, k], encoding: GgmlDType::F32, bytes: &bytes };
    for compute in FLOATS {
        let matrix = Matrix::pack(k, &[Part::all(stored)], compute).unwrap();
        let mut product = Product::default();
        matrix.apply(&rows, &mut product);
        let mut held = vec![0f32; k];
        for r in 0..27 {
            let got = outputs(&product, r, n);
            for (j, &g) in got.iter().enumerate() {
                matrix.copy_row(j, &mut held);
                let want = rows[r * k..(r + 1) * k].iter().zip(&held).fold(0f32, |sum, (x, w)| x.mul_add(*w, sum));
                assert_eq!(g, want, "{compute:?}");
            }
        }
        check_batches(&matrix, &rows, k, n);
    }
}

#[test]
fn sixteen_bits_are_held_as_stored_and_widen_exactly() {
    // Every f16 that is a number, small ones and infinities included.
    let all: Vec<u8> = (0..=u16::MAX).filter(|&bits| bits & 0x7fff <= 0x7c00).flat_map(u16::to_le_bytes).collect();
    let k = all.len() / 2;
    let stored = Stored { shape: &[1, k], encoding: GgmlDType::F16, bytes: &all };
    let matrix = Matrix::pack(k, &[Part::all(stored)], Compute::F16).unwrap();
    let mut out = vec![0f32; k];
    matrix.copy_row(0, &mut out);
    assert_eq!(out, stored.to_f32().unwrap());
    assert_eq!(matrix.bytes(), 32 * 2 * k);
    let stored = Stored { shape: &[1, 3], encoding: GgmlDType::BF16, bytes: &[0x80, 0x3f, 0x01, 0x00, 0x80, 0xff] };
    let matrix = Matrix::pack(3, &[Part::all(stored)], Compute::Bf16).unwrap();
    let mut out = [0f32; 3];
    matrix.copy_row(0, &mut out);
    assert_eq!(out, [1.0, f32::from_bits(1 << 16), f32::NEG_INFINITY]);
}

#[test]
fn blocks_are_held_exactly() {
    let (n, k) = (40, 512);
    for encoding in BLOCKS {
        let bytes = quantized(encoding, n, k, 3);
        let stored = Stored { shape: &[n, k], encoding, bytes: &bytes };
        let matrix = Matrix::pack(k, &[Part::all(stored)], Compute::Int8).unwrap();
        let (mut got, mut want) = (vec![0f32; k], vec![0f32; k]);
        for row in 0..n {
            matrix.copy_row(row, &mut got);
            stored.decode_row(row, &mut want).unwrap();
            assert_eq!(got, want, "{encoding:?} row {row}");
        }
    }
}

#[test]
fn integers_equal_the_definition_and_do_not_depend_on_the_batch() {
    let (n, k) = (40, 512);
    let rows = noise(15 * k, 9);
    let floats: Vec<u8> = quantized(GgmlDType::F16, n, k - 13, 4);
    let mut cases: Vec<(Encoding, usize, Vec<u8>)> =
        BLOCKS.iter().map(|&encoding| (encoding, k, quantized(encoding, n, k, 4))).collect();
    cases.push((GgmlDType::F16, k - 13, floats));
    for (encoding, k, bytes) in cases {
        let stored = Stored { shape: &[n, k], encoding, bytes: &bytes };
        let matrix = Matrix::pack(k, &[Part::all(stored)], Compute::Int8).unwrap();
        let rows = &rows[..15 * k];
        let mut product = Product::default();
        matrix.apply(rows, &mut product);
        let mut weights = vec![0f32; k];
        for (r, row) in rows.chunks_exact(k).enumerate() {
            let rounded: Vec<f64> = row
                .chunks(32)
                .flat_map(|block| {
                    let scale = block.iter().fold(0f32, |top, x| top.max(x.abs())) / 127.0;
                    block.iter().map(move |x| f64::from(scale) * f64::from(x / scale).round())
                })
                .collect();
            let got = outputs(&product, r, n);
            for (j, &g) in got.iter().enumerate() {
                matrix.copy_row(j, &mut weights);
                let exact: f64 = row.iter().zip(&weights).map(|(&x, &w)| f64::from(x) * f64::from(w)).sum();
                let want: f64 = rounded.iter().zip(&weights).map(|(x, &w)| x * f64::from(w)).sum();
                assert!((f64::from(g) - want).abs() < 3e-5, "{encoding:?}: {g}, not {want}");
                assert!((f64::from(g) - exact).abs() < 0.2, "{encoding:?}: {g}, not about {exact}");
            }
        }
        check_batches(&matrix, rows, k, n);
    }
}

#[test]
fn floats_are_rounded_to_half_a_step() {
    let (n, k) = (3, 45);
    let mut weights = noise(n * k, 5);
    weights[50] = 1e-9;
    let bytes = bytes_of(&weights);
    let stored = Stored { shape: &[n, k], encoding: GgmlDType::F32, bytes: &bytes };
    let matrix = Matrix::pack(k, &[Part::all(stored)], Compute::Int8).unwrap();
    let mut got = vec![0f32; k];
    for (row, weights) in weights.chunks_exact(k).enumerate() {
        matrix.copy_row(row, &mut got);
        for (got, want) in got.chunks(32).zip(weights.chunks(32)) {
            let step = want.iter().fold(0f32, |top, x| top.max(x.abs())) / 127.0;
            assert!(got.iter().zip(want).all(|(g, w)| (g - w).abs() <= 0.5001 * step));
        }
    }
}

#[test]
fn what_is_no_number_is_not_lost_in_rounding() {
    let (n, k) = (32, 64);
    let bytes = quantized(GgmlDType::Q8_0, n, k, 6);
    let stored = Stored { shape: &[n, k], encoding: GgmlDType::Q8_0, bytes: &bytes };
    let matrix = Matrix::pack(k, &[Part::all(stored)], Compute::Int8).unwrap();
    for wrong in [f32::NAN, f32::INFINITY] {
        let mut rows = noise(2 * k, 7);
        rows[k + 40] = wrong;
        let mut product = Product::default();
        matrix.apply(&rows, &mut product);
        assert!(outputs(&product, 0, n).iter().all(|x| x.is_finite()));
        assert!(outputs(&product, 1, n).iter().all(|x| x.is_nan()));
    }
    let mut product = Product::default();
    matrix.apply(&vec![0.0; k], &mut product);
    assert_eq!(outputs(&product, 0, n), vec![0.0; n]);
}

#[test]
fn parts_start_at_their_own_panel_and_rows_can_be_chosen() {
    let (a, b) = (noise(40 * 8, 3), noise(3 * 8, 4));
    let (bytes_a, bytes_b) = (bytes_of(&a), bytes_of(&b));
    let stored_a = Stored { shape: &[40, 8], encoding: GgmlDType::F32, bytes: &bytes_a };
    let stored_b = Stored { shape: &[3, 8], encoding: GgmlDType::F32, bytes: &bytes_b };
    let range = Part { stored: stored_a, rows: RowOrder::Range(5..39) };
    let listed = Part { stored: stored_b, rows: RowOrder::Listed(vec![2, 0]) };
    let matrix = Matrix::pack(8, &[range, listed], Compute::F32).unwrap();
    assert_eq!((matrix.outputs(), matrix.bytes()), (96, 96 * 8 * 4));
    let mut row = [0f32; 8];
    for (at, want) in [(0, &a[40..48]), (33, &a[38 * 8..39 * 8]), (64, &b[16..]), (65, &b[..8]), (66, &[0.0; 8])] {
        matrix.copy_row(at, &mut row);
        assert_eq!(row, want, "output {at}");
    }
    let same = Matrix::of_f32(8, &[&a, &b]);
    let (mut out, mut alone) = (Product::default(), Product::default());
    same.apply(&noise(8, 5), &mut out);
    Matrix::of_f32(8, &[&b]).apply(&noise(8, 5), &mut alone);
    let mut got = [0f32; 3];
    out.copy(0, 64, &mut got);
    assert_eq!(got, *outputs(&alone, 0, 3));
}

#[test]
fn parts_that_do_not_fit_are_errors() {
    let bytes = bytes_of(&noise(16, 1));
    let stored = Stored { shape: &[2, 8], encoding: GgmlDType::F32, bytes: &bytes };
    let pack = |k, rows| Matrix::pack(k, &[Part { stored, rows }], Compute::F32).map(|matrix| matrix.outputs());
    assert_eq!(pack(8, RowOrder::All), Ok(32));
    assert_eq!(pack(8, RowOrder::Range(2..2)), Ok(0));
    assert!(pack(4, RowOrder::All).unwrap_err().contains("rows of 4 values"));
    assert!(pack(8, RowOrder::Range(1..3)).unwrap_err().contains("row 2"));
    assert!(pack(8, RowOrder::Listed(vec![0, 7])).unwrap_err().contains("row 7"));
    let short = Stored { bytes: &bytes[..63], ..stored };
    assert!(Matrix::pack(8, &[Part::all(short)], Compute::Int8).is_err());
    let mut product = Product::default();
    Matrix::default().apply(&[], &mut product);
    assert_eq!(product.segments(0).count(), 0);
}

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
