//! A tile of rows times a panel, in code for every processor: the definition that the other kernels follow.

use super::{Form, IntPanel, IntTile, for_shape};
use crate::model::matrix::PANEL;

/// Multiplies a tile into segments, one for each row.
pub fn multiply(rows: &IntTile, panel: &IntPanel, out: &mut [[f32; PANEL]]) {
    for_shape!(tile, rows, panel, out, [1, 2]);
}

fn tile<const M: usize, const STEPS: usize, const STRIPS: usize, const LENGTH: usize>(
    rows: &IntTile,
    panel: &IntPanel,
    out: &mut [[f32; PANEL]],
) {
    let of_groups = rows.groups(STEPS);
    let panel = panel.words.as_chunks::<LENGTH>().0;
    let words = &rows.words.as_chunks::<M>().0.as_chunks::<STEPS>().0[..panel.len()];
    let centred = LENGTH == STRIPS + 1;
    let mut totals = [[0f32; PANEL]; M];
    for (g, group) in panel.iter().enumerate() {
        for (r, totals) in totals.iter_mut().enumerate() {
            let mut dots = [if centred { of_groups.starts[g * M + r] } else { 0 }; PANEL];
            for (s, step) in words[g].iter().enumerate() {
                let (strip, shift, mask) = if STRIPS < STEPS { (s / 2, s % 2 * 4, 15) } else { (s, 0, 255) };
                for (dot, codes) in dots.iter_mut().zip(&group[strip].0) {
                    for (code, x) in codes.iter().zip(step[r]) {
                        // Far from wrapping: at most 32 * 255 * 127. A check would keep the loop from wide registers.
                        *dot = dot.wrapping_add(i32::from(code >> shift & mask).wrapping_mul(i32::from(x)));
                    }
                }
            }
            let floats = |at: usize| group[at].0.map(f32::from_le_bytes);
            let scale = of_groups.scales[g * M + r];
            for ((total, dot), of_panel) in totals.iter_mut().zip(dots).zip(floats(STRIPS)) {
                *total = (dot as f32).mul_add(of_panel * scale, *total);
            }
            if !centred {
                let sum = of_groups.sums[g * M + r];
                for (total, minimum) in totals.iter_mut().zip(floats(LENGTH - 1)) {
                    *total = minimum.mul_add(sum, *total);
                }
            }
        }
    }
    out.copy_from_slice(&totals);
}
