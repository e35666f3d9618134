//! A tile of rows times a panel with AVX2: products of bytes are added up in pairs of 16 bits, then in 32.

use std::arch::x86_64::*;
use std::mem::transmute;

use super::{Form, IntPanel, IntTile, Words, for_shape};
use crate::model::matrix::PANEL;

/// Registers of a panel's columns.
const WIDE: usize = 4;

/// Multiplies a tile into segments, one for each row.
#[target_feature(enable = "avx2,fma")]
pub fn multiply(rows: &IntTile, panel: &IntPanel, out: &mut [[f32; PANEL]]) {
    for_shape!(tile, rows, panel, out, [1, 2]);
}

#[target_feature(enable = "avx2,fma")]
fn tile<const M: usize, const STEPS: usize, const STRIPS: usize, const LENGTH: usize>(
    rows: &IntTile,
    panel: &IntPanel,
    out: &mut [[f32; PANEL]],
) {
    let of_groups = rows.groups(STEPS);
    let panel = panel.words.as_chunks::<LENGTH>().0;
    let groups = panel.len();
    let words = &rows.words.as_chunks::<M>().0.as_chunks::<STEPS>().0[..groups];
    let row_scales = &of_groups.scales.as_chunks::<M>().0[..groups];
    let row_sums = &of_groups.sums.as_chunks::<M>().0[..groups];
    let Ok(out) = <&mut [[f32; PANEL]; M]>::try_from(out) else { return };
    let centred = LENGTH == STRIPS + 1;
    let low = _mm256_set1_epi8(15);
    let mut totals = [[_mm256_setzero_ps(); WIDE]; M];
    let mut g = 0;
    while g < groups {
        let mut dots = [[_mm256_setzero_si256(); WIDE]; M];
        let mut s = 0;
        while s < STRIPS {
            let codes = bytes(panel[g][s]);
            let mut w = 0;
            while w < WIDE {
                if STRIPS < STEPS {
                    let high = _mm256_srli_epi16::<4>(codes[w]);
                    add::<M>(&mut dots, w, centred, &words[g][2 * s], _mm256_and_si256(codes[w], low));
                    add::<M>(&mut dots, w, centred, &words[g][2 * s + 1], _mm256_and_si256(high, low));
                } else {
                    add::<M>(&mut dots, w, centred, &words[g][s], codes[w]);
                }
                w += 1;
            }
            s += 1;
        }
        let of_panel = floats(panel[g][STRIPS]);
        let mut r = 0;
        while r < M {
            let scale = _mm256_set1_ps(row_scales[g][r]);
            let mut w = 0;
            while w < WIDE {
                let scale = _mm256_mul_ps(of_panel[w], scale);
                totals[r][w] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(dots[r][w]), scale, totals[r][w]);
                w += 1;
            }
            r += 1;
        }
        if LENGTH > STRIPS + 1 {
            let of_panel = floats(panel[g][LENGTH - 1]);
            let mut r = 0;
            while r < M {
                let sum = _mm256_set1_ps(row_sums[g][r]);
                let mut w = 0;
                while w < WIDE {
                    totals[r][w] = _mm256_fmadd_ps(of_panel[w], sum, totals[r][w]);
                    w += 1;
                }
                r += 1;
            }
        }
        g += 1;
    }
    let mut r = 0;
    while r < M {
        // SAFETY: both are 128 bytes, all of which are floats.
        out[r] = unsafe { transmute::<[__m256; WIDE], [f32; PANEL]>(totals[r]) };
        r += 1;
    }
}

/// Adds products of four bytes for M rows and the columns of register `w`.
///
/// Pairs of products must not leave 16 bits: codes with minimums are below 64, and those that are centred are made
/// signed again, which leaves at most 128 * 127 * 2.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn add<const M: usize>(dots: &mut [[__m256i; WIDE]; M], w: usize, centred: bool, words: &[[i8; 4]; M], codes: __m256i) {
    let ones = _mm256_set1_epi16(1);
    let signed = _mm256_xor_si256(codes, _mm256_set1_epi8(-128));
    let mut r = 0;
    while r < M {
        let word = _mm256_set1_epi32(i32::from_le_bytes(words[r].map(|x| x as u8)));
        let pairs = match centred {
            false => _mm256_maddubs_epi16(codes, word),
            true => _mm256_maddubs_epi16(_mm256_abs_epi8(signed), _mm256_sign_epi8(word, signed)),
        };
        dots[r][w] = _mm256_add_epi32(dots[r][w], _mm256_madd_epi16(pairs, ones));
        r += 1;
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn bytes(words: Words) -> [__m256i; WIDE] {
    // SAFETY: both are 128 bytes, all of which are integers.
    unsafe { transmute::<Words, [__m256i; WIDE]>(words) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn floats(words: Words) -> [__m256; WIDE] {
    // SAFETY: both are 128 bytes, all of which are floats.
    unsafe { transmute::<Words, [__m256; WIDE]>(words) }
}
