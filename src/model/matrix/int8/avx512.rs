//! A tile of rows times a panel with AVX-512: an instruction adds up four products of bytes for each of 16 outputs.

use std::arch::x86_64::*;
use std::mem::transmute;

use super::codes::BLOCK;
use super::rows::{self, Rounded};
use super::{Codes, Form, IntPanel, IntTile, Strip, for_shape};
use crate::model::matrix::PANEL;

/// Multiplies a tile into segments, one for each row.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")]
pub fn multiply(rows: &IntTile, panel: &IntPanel, out: &mut [[f32; PANEL]]) {
    for_shape!(tile, rows, panel, out, [1, 2, 3, 4, 5, 6]);
}

/// Index loops, as in `float`, keep the sums in registers.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")]
fn tile<const M: usize, const STEPS: usize, const STRIPS: usize, const MINIMUMS: bool>(
    rows: &IntTile,
    panel: &IntPanel,
    out: &mut [[f32; PANEL]],
) {
    let of_groups = rows.groups(STEPS);
    let groups = panel.scales.len();
    let words = &rows.words.as_chunks::<M>().0.as_chunks::<STEPS>().0[..groups];
    let codes = &panel.codes.as_chunks::<STRIPS>().0[..groups];
    let scales = &panel.scales[..groups];
    let minimums = &panel.minimums[..if MINIMUMS { groups } else { 0 }];
    let row_scales = &of_groups.scales.as_chunks::<M>().0[..groups];
    let row_starts = &of_groups.starts.as_chunks::<M>().0[..groups];
    let row_sums = &of_groups.sums.as_chunks::<M>().0[..groups];
    let Ok(out) = <&mut [[f32; PANEL]; M]>::try_from(out) else { return };
    let low = _mm512_set1_epi8(15);
    let mut totals = [[_mm512_setzero_ps(); 2]; M];
    let mut g = 0;
    while g < groups {
        let mut dots = [[_mm512_setzero_si512(); 2]; M];
        if !MINIMUMS {
            let mut r = 0;
            while r < M {
                dots[r] = [_mm512_set1_epi32(row_starts[g][r]); 2];
                r += 1;
            }
        }
        let mut s = 0;
        while s < STRIPS {
            let [a, b] = bytes(codes[g][s]);
            if STRIPS < STEPS {
                add::<M>(&mut dots, &words[g][2 * s], _mm512_and_si512(a, low), _mm512_and_si512(b, low));
                let (a, b) = (_mm512_srli_epi16::<4>(a), _mm512_srli_epi16::<4>(b));
                add::<M>(&mut dots, &words[g][2 * s + 1], _mm512_and_si512(a, low), _mm512_and_si512(b, low));
            } else {
                add::<M>(&mut dots, &words[g][s], a, b);
            }
            s += 1;
        }
        let [a, b] = floats(scales[g]);
        let mut r = 0;
        while r < M {
            let scale = _mm512_set1_ps(row_scales[g][r]);
            totals[r][0] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dots[r][0]), _mm512_mul_ps(a, scale), totals[r][0]);
            totals[r][1] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dots[r][1]), _mm512_mul_ps(b, scale), totals[r][1]);
            r += 1;
        }
        if MINIMUMS {
            let [a, b] = floats(minimums[g]);
            let mut r = 0;
            while r < M {
                let sum = _mm512_set1_ps(row_sums[g][r]);
                totals[r][0] = _mm512_fmadd_ps(a, sum, totals[r][0]);
                totals[r][1] = _mm512_fmadd_ps(b, sum, totals[r][1]);
                r += 1;
            }
        }
        g += 1;
    }
    let mut r = 0;
    while r < M {
        // SAFETY: both are 128 bytes, all of which are floats.
        out[r] = unsafe { transmute::<[__m512; 2], [f32; PANEL]>(totals[r]) };
        r += 1;
    }
}

/// Rounds rows into a tile that has room for them.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")]
pub fn fill(rows: &[f32], k: usize, tile: &mut IntTile) {
    rows::fill(rows, k, tile, |block, out| round(block, out));
}

/// As [`rows::round`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")]
fn round(block: &[f32; BLOCK], out: &mut [i8; BLOCK]) -> Rounded {
    let [a, b] = floats(Strip(*block));
    let magnitude = |x| _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7fff_ffff));
    let (scale, inverse) = rows::scale(_mm512_reduce_max_epu32(_mm512_max_epu32(magnitude(a), magnitude(b))));
    let Some(inverse) = inverse else {
        *out = [0; BLOCK];
        return Rounded { scale, sums: [0; 2] };
    };
    let inverse = _mm512_set1_ps(inverse);
    let a = _mm512_cvtps_epi32(_mm512_mul_ps(a, inverse));
    let b = _mm512_cvtps_epi32(_mm512_mul_ps(b, inverse));
    // SAFETY: both are 32 bytes, all of which are integers.
    *out = unsafe { transmute::<[__m128i; 2], [i8; BLOCK]>([_mm512_cvtepi32_epi8(a), _mm512_cvtepi32_epi8(b)]) };
    Rounded { scale, sums: [_mm512_reduce_add_epi32(a), _mm512_reduce_add_epi32(b)] }
}

/// Adds products of four bytes for M rows and the panel's columns.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")]
fn add<const M: usize>(dots: &mut [[__m512i; 2]; M], words: &[[i8; 4]; M], a: __m512i, b: __m512i) {
    let mut r = 0;
    while r < M {
        let word = _mm512_set1_epi32(i32::from_le_bytes(words[r].map(|x| x as u8)));
        dots[r][0] = _mm512_dpbusd_epi32(dots[r][0], a, word);
        dots[r][1] = _mm512_dpbusd_epi32(dots[r][1], b, word);
        r += 1;
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn bytes(codes: Codes) -> [__m512i; 2] {
    // SAFETY: both are 128 bytes, all of which are integers.
    unsafe { transmute::<Codes, [__m512i; 2]>(codes) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn floats(strip: Strip<f32>) -> [__m512; 2] {
    // SAFETY: both are 128 bytes, all of which are floats.
    unsafe { transmute::<Strip<f32>, [__m512; 2]>(strip) }
}
