//! The parts of a block that work on one row alone: norm, rotation, gate, sums.
//!
//! In: a row, or a row of a product. Out: another row.

use super::matrix::{PANEL, Product};
use super::simd::{LANES, Lanes, silu, sum, wide};

wide! {
    /// x / rms(x) * weight, rms over the row with `epsilon` added to the mean square.
    pub fn rms_norm(x: &[f32], weight: &[f32], epsilon: f32, out: &mut [f32]) {
        let (blocks, rest) = x.as_chunks::<LANES>();
        let mut squares: Lanes = [0.0; LANES];
        let mut i = 0;
        while i < blocks.len() {
            let mut j = 0;
            while j < LANES {
                squares[j] = blocks[i][j].mul_add(blocks[i][j], squares[j]);
                j += 1;
            }
            i += 1;
        }
        let total = sum(squares) + rest.iter().map(|v| v * v).sum::<f32>();
        let scale = 1.0 / (total / x.len() as f32 + epsilon).sqrt();
        for ((out, &v), &w) in out.iter_mut().zip(x).zip(weight) {
            *out = v * scale * w;
        }
    }
}

wide! {
    /// Adds segments of a product, one after the other, to `x`.
    pub fn add(x: &mut [f32], product: &Product, row: usize) {
        for (x, y) in x.chunks_mut(PANEL).zip(product.segments(row)) {
            match <&mut [f32; PANEL]>::try_from(&mut *x) {
                Ok(x) => {
                    let mut j = 0;
                    while j < PANEL {
                        x[j] += y[j];
                        j += 1;
                    }
                }
                Err(_) => x.iter_mut().zip(y).for_each(|(x, y)| *x += y),
            }
        }
    }
}

wide! {
    /// silu(gate) * up of a row, where the product holds the gates and, from output `up_from` on, the ups.
    pub fn gate(product: &Product, row: usize, up_from: usize, out: &mut [f32]) {
        let (gates, ups) = (product.segments(row), product.segments(row).skip(up_from / PANEL));
        for ((out, g), u) in out.chunks_mut(PANEL).zip(gates).zip(ups) {
            let mut gated = [0f32; PANEL];
            let mut j = 0;
            while j < PANEL {
                gated[j] = silu(g[j]) * u[j];
                j += 1;
            }
            out.copy_from_slice(&gated[..out.len()]);
        }
    }
}

/// cos and sin of a position's rotation angles: `head / 2` of each, one after the other.
pub fn rotation(position: usize, frequencies: &[f32], out: &mut [f32]) {
    let (cos, sin) = out.split_at_mut(frequencies.len().min(out.len()));
    for ((cos, sin), &frequency) in cos.iter_mut().zip(sin).zip(frequencies) {
        (*sin, *cos) = (position as f32 * frequency).sin_cos();
    }
}

wide! {
    /// Rotates each head of `x`: element i of the first half with element i of the second, by angle i.
    pub fn rotate(x: &mut [f32], rotation: &[f32]) {
        let head = rotation.len();
        let (cos, sin) = rotation.split_at(head / 2);
        for x in x.chunks_exact_mut(head) {
            let (a, b) = x.split_at_mut(head / 2);
            for (((a, b), &c), &s) in a.iter_mut().zip(b).zip(cos).zip(sin) {
                (*a, *b) = (*a * c - *b * s, *b * c + *a * s);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::matrix::Matrix;
    use super::*;

    #[test]
    fn norm_rotation_and_gate_at_hand_computed_points() {
        // Mean square of (3, 4) repeated is 12.5.
        let mut out = [0f32; 34];
        let x: Vec<f32> = (0..34).map(|i| if i % 2 == 0 { 3.0 } else { 4.0 }).collect();
        rms_norm(&x, &[2.0; 34], 0.0, &mut out);
        assert!((out[33] - 2.0 * 4.0 / 12.5f32.sqrt()).abs() < 1e-6);
        // A quarter turn takes (1, 0) to (0, 1) and (0, 1) to (-1, 0).
        let mut angles = [0f32; 4];
        rotation(1, &[std::f32::consts::FRAC_PI_2, 0.0], &mut angles);
        let mut x = [1f32, 5.0, 0.0, 6.0];
        rotate(&mut x, &angles);
        assert!((x[0]).abs() < 1e-6 && (x[2] - 1.0).abs() < 1e-6 && x[1] == 5.0 && x[3] == 6.0);
        // Gate 1 and up 10, each from a panel of its own.
        let mut product = Product::default();
        Matrix::of_f32(1, &[&[1.0], &[10.0]]).apply(&[1.0], &mut product);
        let mut out = [0f32; 1];
        gate(&product, 0, PANEL, &mut out);
        assert!((out[0] - 7.310_586).abs() < 1e-5);
        let mut x = [1f32, 2.0];
        add(&mut x, &product, 0);
        assert_eq!(x, [2.0, 2.0]);
    }
}
