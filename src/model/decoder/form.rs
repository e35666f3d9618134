//! Form: how a decoder's weights are held, and so who computes with them.
//!
//! In: rows of stored tensors. Out: matrices and vectors of one form.
//! A family is put together once (`families::build`), in whatever form: packed for this processor, or tensors on a device.

use super::super::matrix::{Compute, Matrix, Part};
use super::Mixer;
use super::attention::Attention;
use super::delta_net::DeltaNet;

/// A form of weights.
pub trait Form: std::fmt::Debug + Send + Sync + Sized {
    /// A matrix.
    type Matrix: std::fmt::Debug + Send + Sync;
    /// Weights of a norm, a bias, and other short lists.
    type Vector: std::fmt::Debug + Send + Sync;
    /// A mixer, made of these.
    type Mixer: std::fmt::Debug + Send + Sync + From<Attention<Self>> + From<DeltaNet<Self>>;

    /// The rows that `parts` name, of length `k` each, as one matrix.
    ///
    /// # Errors
    /// A sentence where they can't be read, or there is no room for them.
    fn matrix(&self, k: usize, parts: &[Part<'_>]) -> Result<Self::Matrix, String>;

    /// A vector of these values.
    ///
    /// # Errors
    /// A sentence where there is no room for it.
    fn vector(&self, values: Vec<f32>) -> Result<Self::Vector, String>;
}

/// Packed for this processor.
impl Form for Compute {
    type Matrix = Matrix;
    type Vector = Vec<f32>;
    type Mixer = Box<dyn Mixer>;

    fn matrix(&self, k: usize, parts: &[Part<'_>]) -> Result<Matrix, String> {
        Matrix::pack(k, parts, *self)
    }

    fn vector(&self, values: Vec<f32>) -> Result<Vec<f32>, String> {
        Ok(values)
    }
}

impl From<Attention> for Box<dyn Mixer> {
    fn from(attention: Attention) -> Box<dyn Mixer> {
        Box::new(attention)
    }
}

impl From<DeltaNet> for Box<dyn Mixer> {
    fn from(net: DeltaNet) -> Box<dyn Mixer> {
        Box::new(net)
    }
}
