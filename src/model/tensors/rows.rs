//! Work on rows alone, in f32: norm, rotation, activation.
//!
//! In and out: tensors `[rows, ...]`.

use candle_core::{Result, Tensor};
use candle_nn::ops;

use super::super::decoder::rows::Activation;

/// x / rms(x) * weight over the last dimension.
pub fn rms_norm(x: &Tensor, weight: &Tensor, epsilon: f32) -> Result<Tensor> {
    ops::rms_norm(&x.contiguous()?, weight, epsilon)
}

/// Norms each head's vector of `[rows, heads, head]`, where there is a norm.
pub fn norm_heads(x: Tensor, weight: Option<&Tensor>, epsilon: f32) -> Result<Tensor> {
    match weight {
        Some(weight) => rms_norm(&x, weight, epsilon),
        None => Ok(x),
    }
}

/// cos and sin of the rows' angles, `[rows, 1, pairs]` each.
#[derive(Debug)]
pub struct Angles {
    /// cos.
    pub cos: Tensor,
    /// sin.
    pub sin: Tensor,
}

impl Angles {
    /// Turns each head's vector of `[rows, heads, head]`: element i with element i + pairs; those beyond stay.
    pub fn rotate(&self, x: &Tensor) -> Result<Tensor> {
        let (pairs, head) = (self.cos.dim(2)?, x.dim(2)?);
        let (a, b) = (x.narrow(2, 0, pairs)?, x.narrow(2, pairs, pairs)?);
        let times = |x: &Tensor, factor: &Tensor| x.broadcast_mul(factor);
        let first = (times(&a, &self.cos)? - times(&b, &self.sin)?)?;
        let second = (times(&b, &self.cos)? + times(&a, &self.sin)?)?;
        match head - 2 * pairs {
            0 => Tensor::cat(&[first, second], 2),
            rest => Tensor::cat(&[first, second, x.narrow(2, 2 * pairs, rest)?], 2),
        }
    }
}

/// An activation of every element.
pub fn activate(activation: Activation, x: &Tensor) -> Result<Tensor> {
    match activation {
        Activation::Silu => x.silu(),
        // In its tanh form.
        Activation::Gelu => x.gelu(),
    }
}

/// cap * tanh(x / cap).
pub fn cap(x: &Tensor, cap: f32) -> Result<Tensor> {
    (x / f64::from(cap))?.tanh()? * f64::from(cap)
}
