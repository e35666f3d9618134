//! The parts of a block that work on one row alone: norm, gate, sums.
//!
//! In: a row, or a row of a product. Out: another row.

use super::super::matrix::{PANEL, Product};
use super::super::simd::{LANES, Lanes, gelu, sigmoid, silu, sum, tanh, wide};

/// What the gates of a feed-forward part go through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// x / (1 + e^-x).
    Silu,
    /// GELU in its tanh form.
    Gelu,
}

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

impl Activation {
    /// activation(gate) * up of a row, where the product holds the gates and, from output `up_from` on, the ups.
    pub fn gate(self, product: &Product, row: usize, up_from: usize, out: &mut [f32]) {
        match self {
            Activation::Silu => silu_gate(product, row, up_from, out),
            Activation::Gelu => gelu_gate(product, row, up_from, out),
        }
    }

    /// activation(gate) * factor of a row whose product holds the gates alone.
    pub fn scale(self, product: &Product, row: usize, factors: &[f32], out: &mut [f32]) {
        product.copy(row, 0, out);
        match self {
            Activation::Silu => silu_times(out, factors),
            Activation::Gelu => gelu_times(out, factors),
        }
    }
}

/// Defines the two functions of one activation.
macro_rules! gates {
    ($gate:ident, $times:ident, $activation:ident) => {
        wide! {
            fn $gate(product: &Product, row: usize, up_from: usize, out: &mut [f32]) {
                let (gates, ups) = (product.segments(row), product.segments(row).skip(up_from / PANEL));
                for ((out, g), u) in out.chunks_mut(PANEL).zip(gates).zip(ups) {
                    let mut gated = [0f32; PANEL];
                    let mut j = 0;
                    while j < PANEL {
                        gated[j] = $activation(g[j]) * u[j];
                        j += 1;
                    }
                    out.copy_from_slice(&gated[..out.len()]);
                }
            }
        }
        wide! {
            fn $times(x: &mut [f32], factors: &[f32]) {
                for (x, &factor) in x.iter_mut().zip(factors) {
                    *x = $activation(*x) * factor;
                }
            }
        }
    };
}
gates!(silu_gate, silu_times, silu);
gates!(gelu_gate, gelu_times, gelu);

wide! {
    /// x * sigmoid(gate).
    pub fn open(x: &mut [f32], gates: &[f32]) {
        for (x, &gate) in x.iter_mut().zip(gates) {
            *x *= sigmoid(gate);
        }
    }
}

wide! {
    /// cap * tanh(x / cap): holds every value within the cap.
    pub fn cap(x: &mut [f32], cap: f32) {
        for x in x.iter_mut() {
            *x = cap * tanh(*x / cap);
        }
    }
}

/// Adds one vector to another.
pub fn add_to(x: &mut [f32], y: &[f32]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x += y);
}

#[cfg(test)]
mod tests {
    use super::super::super::matrix::Matrix;
    use super::*;

    #[test]
    fn norm_gate_and_cap_at_hand_computed_points() {
        // Mean square of (3, 4) repeated is 12.5.
        let mut out = [0f32; 34];
        let x: Vec<f32> = (0..34).map(|i| if i % 2 == 0 { 3.0 } else { 4.0 }).collect();
        rms_norm(&x, &[2.0; 34], 0.0, &mut out);
        assert!((out[33] - 2.0 * 4.0 / 12.5f32.sqrt()).abs() < 1e-6);
        // Gate 1 and up 10, each from a panel of its own.
        let mut product = Product::default();
        Matrix::of_f32(1, &[&[1.0], &[10.0]]).apply(&[1.0], &mut product);
        let mut out = [0f32; 1];
        Activation::Silu.gate(&product, 0, PANEL, &mut out);
        assert!((out[0] - 7.310_586).abs() < 1e-5);
        let mut x = [1f32, 2.0];
        add(&mut x, &product, 0);
        assert_eq!(x, [2.0, 2.0]);
        // gelu(1) = 0.841192; tanh(1) = 0.761594; sigmoid(0) = 1/2.
        Activation::Gelu.scale(&product, 0, &[3.0], &mut out);
        assert!((out[0] - 3.0 * 0.841_192).abs() < 1e-5);
        let mut x = [2f32, -2.0];
        cap(&mut x, 2.0);
        assert!((x[0] - 2.0 * 0.761_594_2).abs() < 1e-6 && (x[1] + x[0]).abs() < 1e-6);
        open(&mut x, &[0.0, f32::INFINITY]);
        assert!((x[0] - 0.761_594_2).abs() < 1e-6 && (x[1] + 2.0 * 0.761_594_2).abs() < 1e-6);
    }
}
