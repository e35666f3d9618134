//! A tile of rows times a panel, in code for every processor: the definition that the other kernels follow.

use super::rows::STEP;
use super::{Form, IntPanel, IntTile, for_shape};
use crate::model::matrix::PANEL;

/// Multiplies a tile into segments, one for each row.
pub fn multiply(rows: &IntTile, panel: &IntPanel, out: &mut [[f32; PANEL]]) {
    for_shape!(tile, rows, panel, out, [1, 2]);
}

#[inline(always)]
fn tile<const M: usize, const STEPS: usize, const STRIPS: usize, const MINIMUMS: bool>(
    rows: &IntTile,
    panel: &IntPanel,
    out: &mut [[f32; PANEL]],
) {
    let of_groups = rows.groups(STEPS);
    let groups = panel.scales.len();
    let words = &rows.words.as_chunks::<M>().0.as_chunks::<STEPS>().0[..groups];
    let codes = &panel.codes.as_chunks::<STRIPS>().0[..groups];
    let mut totals = [[0f32; PANEL]; M];
    for g in 0..groups {
        let mut dots = [[0i32; PANEL]; M];
        for r in 0..M {
            if !MINIMUMS {
                dots[r] = [of_groups.starts[g * M + r]; PANEL];
            }
            for s in 0..STEPS {
                let (strip, shift) = if STRIPS < STEPS { (s / 2, s % 2 * 4) } else { (s, 0) };
                let mask = if STRIPS < STEPS { 15 } else { 255 };
                let word = words[g][s][r];
                let codes = &codes[g][strip].0;
                let mut j = 0;
                while j < PANEL {
                    let mut i = 0;
                    while i < STEP {
                        let product = i32::from(codes[j][i] >> shift & mask) * i32::from(word[i]);
                        dots[r][j] = dots[r][j].wrapping_add(product);
                        i += 1;
                    }
                    j += 1;
                }
            }
            let scale = of_groups.scales[g * M + r];
            for j in 0..PANEL {
                totals[r][j] = (dots[r][j] as f32).mul_add(panel.scales[g].0[j] * scale, totals[r][j]);
            }
            if MINIMUMS {
                let sum = of_groups.sums[g * M + r];
                for j in 0..PANEL {
                    totals[r][j] = panel.minimums[g].0[j].mul_add(sum, totals[r][j]);
                }
            }
        }
    }
    out.copy_from_slice(&totals);
}
