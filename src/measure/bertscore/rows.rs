//! Rows: what a block does to each hidden state on its own.
//!
//! In: rows of `width` floats. Out: the same rows, normed, activated or scaled.

use crate::model::simd::{LANES, Lanes, exp, sum, wide};

/// Layer normalization: to mean 0 and variance 1, then scaled and shifted.
#[derive(Debug, Default)]
pub(super) struct Norm {
    pub(super) weight: Vec<f32>,
    pub(super) bias: Vec<f32>,
    pub(super) epsilon: f32,
}

impl Norm {
    pub(super) fn apply(&self, row: &mut [f32]) {
        norm(row, &self.weight, &self.bias, self.epsilon);
    }
}

/// Sum of `f` over a row: lane by lane, then the lanes by halves.
#[inline(always)]
fn total(row: &[f32], f: impl Fn(f32) -> f32) -> f32 {
    let (blocks, rest) = row.as_chunks::<LANES>();
    let mut sums: Lanes = [0.0; LANES];
    let mut i = 0;
    while i < blocks.len() {
        let mut j = 0;
        while j < LANES {
            sums[j] += f(blocks[i][j]);
            j += 1;
        }
        i += 1;
    }
    let mut all = sum(sums);
    for &x in rest {
        all += f(x);
    }
    all
}

wide! {
    fn norm(row: &mut [f32], weight: &[f32], bias: &[f32], epsilon: f32) {
        let n = row.len() as f32;
        let mean = total(row, |x| x) / n;
        let variance = total(row, |x| (x - mean) * (x - mean)) / n;
        let scale = 1.0 / (variance + epsilon).sqrt();
        for ((x, w), b) in row.iter_mut().zip(weight).zip(bias) {
            *x = ((*x - mean) * scale).mul_add(*w, *b);
        }
    }
}

wide! {
    /// Scales a row to length 1; false where that can't be, since it is not finite or has no length.
    pub(super) fn to_unit(row: &mut [f32]) -> bool {
        let length = total(row, |x| x * x).sqrt();
        for x in row.iter_mut() {
            *x /= length;
        }
        length.is_finite() && length > 0.0
    }
}

/// A function between the two matrices of a feed-forward part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activation {
    /// x times the probability that a normal number is below x.
    Gelu,
    /// The same by a formula with tanh.
    GeluTanh,
    Relu,
    Tanh,
}

impl Activation {
    /// As transformers calls it.
    pub(super) fn named(name: &str) -> Option<Activation> {
        match name {
            "gelu" | "gelu_python" => Some(Activation::Gelu),
            "gelu_new" | "gelu_fast" | "gelu_pytorch_tanh" => Some(Activation::GeluTanh),
            "relu" => Some(Activation::Relu),
            "tanh" => Some(Activation::Tanh),
            _ => None,
        }
    }

    pub(super) fn apply(self, row: &mut [f32]) {
        match self {
            Activation::Gelu => gelu(row),
            Activation::GeluTanh => gelu_tanh(row),
            Activation::Relu => row.iter_mut().for_each(|x| *x = x.max(0.0)),
            Activation::Tanh => row.iter_mut().for_each(|x| *x = x.tanh()),
        }
    }
}

/// Probability that a normal number is above |x|, to 1e-7: Abramowitz and Stegun, 7.1.26.
#[inline(always)]
fn tail(x: f32) -> f32 {
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / z.mul_add(0.327_591_1, 1.0);
    let p = t.mul_add(1.061_405_4, -1.453_152);
    let p = t.mul_add(p, 1.421_413_7);
    let p = t.mul_add(p, -0.284_496_74);
    let p = t.mul_add(p, 0.254_829_6);
    0.5 * p * t * exp(-z * z)
}

wide! {
    fn gelu(row: &mut [f32]) {
        for x in row.iter_mut() {
            let tail = tail(*x);
            *x *= if *x < 0.0 { tail } else { 1.0 - tail };
        }
    }
}

wide! {
    fn gelu_tanh(row: &mut [f32]) {
        for x in row.iter_mut() {
            let y = *x * (*x * *x).mul_add(0.044_715, 1.0) * 0.797_884_6;
            // (1 + tanh y) / 2
            *x /= 1.0 + exp(-2.0 * y);
        }
    }
}

wide! {
    /// Softmax of a row of scores.
    pub(super) fn soften(scores: &mut [f32]) {
        let mut top = f32::NEG_INFINITY;
        for &score in scores.iter() {
            top = top.max(score);
        }
        for score in scores.iter_mut() {
            *score = exp(*score - top);
        }
        let scale = 1.0 / total(scores, |x| x);
        for score in scores.iter_mut() {
            *score *= scale;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activations_equal_their_definitions() {
        let xs: Vec<f32> = (-120..=120).map(|i| i as f32 / 30.0).collect();
        let apply = |by: Activation| {
            let mut row = xs.clone();
            by.apply(&mut row);
            row
        };
        for (i, &x) in xs.iter().enumerate() {
            let x = f64::from(x);
            // The normal integral by its power series.
            let (mut term, mut series, mut k) = (x, x, 0.0);
            while term.abs() > 1e-18 {
                k += 1.0;
                term *= -x * x / (2.0 * k);
                series += term / (2.0 * k + 1.0);
            }
            let normal = 0.5 + series / (2.0 * std::f64::consts::PI).sqrt();
            let tanh = x * 0.5 * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3))).tanh());
            for (by, want) in
                [(Activation::Gelu, x * normal), (Activation::GeluTanh, tanh), (Activation::Tanh, x.tanh())]
            {
                let got = f64::from(apply(by)[i]);
                assert!((got - want).abs() < 1e-6, "{by:?}({x}) = {got}, not {want}");
            }
        }
        assert_eq!(apply(Activation::Relu)[0], 0.0);
    }

    #[test]
    fn norm_softmax_and_length_at_hand_computed_rows() {
        let norm = Norm { weight: vec![1.0, 2.0, 1.0, 1.0], bias: vec![0.0, 0.0, 0.5, 0.0], epsilon: 0.0 };
        let mut row = [1.0, 3.0, 1.0, 3.0];
        norm.apply(&mut row);
        assert_eq!(row, [-1.0, 2.0, -0.5, 1.0]);
        let mut scores = [0.0, f32::ln(3.0)];
        soften(&mut scores);
        assert!((scores[0] - 0.25).abs() < 1e-6 && (scores[1] - 0.75).abs() < 1e-6);
        let mut row = [3.0, 4.0];
        assert!(to_unit(&mut row));
        assert_eq!(row, [0.6, 0.8]);
        assert!(!to_unit(&mut [0.0, 0.0]) && !to_unit(&mut [f32::NAN, 1.0]) && !to_unit(&mut [f32::MAX, 1.0]));
    }
}
