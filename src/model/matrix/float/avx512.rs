//! Rows times a panel with AVX-512: tiles of up to 8 rows, whose 16 registers of sums leave room for weights and rows.

use std::arch::x86_64::*;
use std::mem::transmute;

use half::f16;

use super::{HALF, Pairs, Strip};
use crate::model::matrix::{PANEL, split};

/// Rows of the largest tile.
const TILE: usize = 8;

/// Values of a row that are multiplied between two checks of bounds.
const STEP: usize = 8;

/// Rows `[m, k]` times a panel of f32 into segments, one for each row.
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
pub fn multiply_f32(rows: &[f32], panel: &[Strip<f32>], out: &mut [[f32; PANEL]]) {
    // SAFETY: both are 128 bytes, all of which are floats.
    multiply(rows, panel, out, |strip| unsafe { transmute::<Strip<f32>, [__m512; 2]>(strip) });
}

/// The same with a panel of bf16.
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
pub fn multiply_bf16(rows: &[f32], panel: &[Pairs], out: &mut [[f32; PANEL]]) {
    let high = _mm512_set1_epi32(-0x1_0000);
    multiply(rows, panel, out, |pairs| {
        // SAFETY: both are 64 bytes, all of which are integers.
        let pairs = unsafe { transmute::<[u32; HALF], __m512i>(pairs.0) };
        [_mm512_slli_epi32::<16>(pairs), _mm512_and_si512(pairs, high)].map(|x| _mm512_castsi512_ps(x))
    });
}

/// The same with a panel of f16.
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
pub fn multiply_f16(rows: &[f32], panel: &[Strip<f16>], out: &mut [[f32; PANEL]]) {
    multiply(rows, panel, out, |strip| {
        // SAFETY: both are 64 bytes; an f16 is two bytes, and all of them are integers.
        let halves = unsafe { transmute::<Strip<f16>, [__m256i; 2]>(strip) };
        [_mm512_cvtph_ps(halves[0]), _mm512_cvtph_ps(halves[1])]
    });
}

/// `widen` makes registers of the weights at one k.
#[inline]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
fn multiply<W: Copy>(rows: &[f32], panel: &[W], out: &mut [[f32; PANEL]], widen: impl Fn(W) -> [__m512; 2] + Copy) {
    let k = panel.len();
    for range in split(out.len(), TILE) {
        let (rows, out) = (&rows[range.start * k..range.end * k], &mut out[range]);
        match out.len() {
            1 => tile::<1, W>(rows, panel, out, widen),
            2 => tile::<2, W>(rows, panel, out, widen),
            3 => tile::<3, W>(rows, panel, out, widen),
            4 => tile::<4, W>(rows, panel, out, widen),
            5 => tile::<5, W>(rows, panel, out, widen),
            6 => tile::<6, W>(rows, panel, out, widen),
            7 => tile::<7, W>(rows, panel, out, widen),
            8 => tile::<8, W>(rows, panel, out, widen),
            _ => {}
        }
    }
}

/// M rows times a panel.
///
/// Index loops throughout: an iterator would borrow the sums, and with debug assertions on (as in this crate's one
/// profile) its checks keep what is borrowed in memory, which makes this loop three times slower.
#[inline]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
fn tile<const M: usize, W: Copy>(
    rows: &[f32],
    panel: &[W],
    out: &mut [[f32; PANEL]],
    widen: impl Fn(W) -> [__m512; 2] + Copy,
) {
    let Ok(out) = <&mut [[f32; PANEL]; M]>::try_from(out) else { return };
    let k = panel.len();
    let (steps, rest) = panel.as_chunks::<STEP>();
    let mut blocks: [&[[f32; STEP]]; M] = [&[]; M];
    let mut ends: [&[f32]; M] = [&[]; M];
    let mut r = 0;
    while r < M {
        let (block, end) = rows[r * k..][..k].as_chunks::<STEP>();
        (blocks[r], ends[r]) = (&block[..steps.len()], &end[..rest.len()]);
        r += 1;
    }
    let mut sums = [[_mm512_setzero_ps(); 2]; M];
    let mut i = 0;
    while i < steps.len() {
        let mut s = 0;
        while s < STEP {
            let [a, b] = widen(steps[i][s]);
            let mut r = 0;
            while r < M {
                let x = _mm512_set1_ps(blocks[r][i][s]);
                sums[r] = [_mm512_fmadd_ps(x, a, sums[r][0]), _mm512_fmadd_ps(x, b, sums[r][1])];
                r += 1;
            }
            s += 1;
        }
        i += 1;
    }
    let mut s = 0;
    while s < rest.len() {
        let [a, b] = widen(rest[s]);
        let mut r = 0;
        while r < M {
            let x = _mm512_set1_ps(ends[r][s]);
            sums[r] = [_mm512_fmadd_ps(x, a, sums[r][0]), _mm512_fmadd_ps(x, b, sums[r][1])];
            r += 1;
        }
        s += 1;
    }
    // SAFETY: both are 128 bytes, all of which are floats.
    *out = sums.map(|sums| unsafe { transmute::<[__m512; 2], [f32; PANEL]>(sums) });
}
