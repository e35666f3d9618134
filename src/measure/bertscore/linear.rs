//! Linear: a weight matrix with a bias.
//!
//! In: rows of hidden states. Out: rows of products, with what is done to each row at once.
//! The matrix is the decoder's ([`Matrix`]): a row's result is the same bits in every batch.

use rayon::prelude::*;

use super::weights::Weights;
use crate::Result;
use crate::model::matrix::{Matrix, PANEL, Product};

/// Maps rows to the outputs of one or more parts, which follow one another.
#[derive(Debug, Default)]
pub(super) struct Linear {
    inputs: usize,
    matrix: Matrix,
    parts: Vec<usize>,
    bias: Vec<f32>,
}

/// One part: weights `[outputs, inputs]`, row-major, and their bias.
pub(super) struct Part {
    pub(super) weight: Vec<f32>,
    pub(super) bias: Vec<f32>,
}

impl Part {
    /// `name.weight` and, with `bias`, `name.bias`.
    pub(super) fn load(weights: &Weights, name: &str, outputs: usize, inputs: usize, bias: bool) -> Result<Part> {
        let weight = weights.vector(&format!("{name}.weight"), &[outputs, inputs])?;
        let bias = match bias {
            true => weights.vector(&format!("{name}.bias"), &[outputs])?,
            false => vec![0.0; outputs],
        };
        Ok(Part { weight, bias })
    }
}

impl Linear {
    pub(super) fn new(inputs: usize, parts: &[Part]) -> Linear {
        let weights: Vec<&[f32]> = parts.iter().map(|part| part.weight.as_slice()).collect();
        Linear {
            inputs,
            matrix: Matrix::of_f32(inputs, &weights),
            parts: parts.iter().map(|part| part.bias.len()).collect(),
            bias: parts.iter().flat_map(|part| part.bias.iter().copied()).collect(),
        }
    }

    pub(super) fn load(weights: &Weights, name: &str, outputs: usize, inputs: usize) -> Result<Linear> {
        Ok(Linear::new(inputs, &[Part::load(weights, name, outputs, inputs, true)?]))
    }

    /// Number of outputs.
    pub(super) fn outputs(&self) -> usize {
        self.bias.len()
    }

    /// Multiplies rows into `out` and lets `finish` at each row of it, with the row's number. `product` is scratch.
    pub(super) fn apply(
        &self,
        rows: &[f32],
        product: &mut Product,
        out: &mut Vec<f32>,
        finish: impl Fn(usize, &mut [f32]) + Sync,
    ) {
        self.matrix.apply(rows, product);
        let product = &*product;
        out.resize(rows.len() / self.inputs.max(1) * self.outputs(), 0.0);
        out.par_chunks_mut(self.outputs().max(1)).enumerate().for_each(|(row, out)| {
            let (mut rest, mut from) = (&mut *out, 0);
            for &outputs in &self.parts {
                let (part, after) = rest.split_at_mut(outputs);
                product.copy(row, from, part);
                from += outputs.next_multiple_of(PANEL);
                rest = after;
            }
            for (x, bias) in out.iter_mut().zip(&self.bias) {
                *x += bias;
            }
            finish(row, out);
        });
    }
}
