//! Per-layer embeddings: a small vector of its own that each layer adds for each token.
//!
//! In: tokens and their embeddings. Out: one vector a row and layer, and what a layer's gate makes of it.
//! As Gemma 3n and Gemma 4 have them: the token's entry in a table of its own, and a projection of its embedding.

use rayon::prelude::*;

use super::super::matrix::{Compute, Product};
use super::super::weights::Table;
use super::form::Form;
use super::rows::{Activation, rms_norm};
use super::{ROWS_PER_TASK, Row};

/// Where the vectors come from.
#[derive(Debug)]
pub struct PerLayer<F: Form = Compute> {
    /// Floats of one layer's vector.
    pub width: usize,
    /// Vectors by token, of all layers one after the other.
    pub table: Table,
    /// By which the table's values are multiplied.
    pub table_scale: f32,
    /// Projection of the embedding to vectors of all layers.
    pub projection: F::Matrix,
    /// By which the projection is multiplied.
    pub projection_scale: f32,
    /// Norm of each projected vector.
    pub norm: F::Vector,
    /// Added to the mean square in that norm.
    pub epsilon: f32,
}

/// What one layer does with its vector.
#[derive(Debug)]
pub struct PerLayerGate<F: Form = Compute> {
    /// From the hidden state to a gate.
    pub gate: F::Matrix,
    /// From the gated vector to the hidden state.
    pub projection: F::Matrix,
    /// Norm of what is added.
    pub norm: F::Vector,
}

impl PerLayer {
    /// The rows' vectors `[rows, layers, width]` from their embeddings.
    pub fn vectors(&self, rows: &[Row<'_>], embeddings: &[f32], product: &mut Product, out: &mut Vec<f32>) {
        self.projection.apply(embeddings, product);
        let all = self.table.columns();
        out.resize(rows.len() * all, 0.0);
        let product = &*product;
        out.par_chunks_exact_mut(all).zip(rows.par_iter()).enumerate().with_min_len(ROWS_PER_TASK).for_each_init(
            || (vec![0f32; all], vec![0f32; all]),
            |(entry, projected), (r, (out, row))| {
                self.table.row(row.token as usize, entry);
                product.copy(r, 0, projected);
                projected.iter_mut().for_each(|x| *x *= self.projection_scale);
                for (out, projected) in out.chunks_exact_mut(self.width).zip(projected.chunks_exact(self.width)) {
                    rms_norm(projected, &self.norm, self.epsilon, out);
                }
                for (out, &entry) in out.iter_mut().zip(entry.iter()) {
                    *out = (*out + entry * self.table_scale) * std::f32::consts::FRAC_1_SQRT_2;
                }
            },
        );
    }

    /// The product that `layer` adds, before its norm.
    pub fn mix(
        &self,
        (layer, gate): (usize, &PerLayerGate),
        hidden: &[f32],
        vectors: &[f32],
        activation: Activation,
        (product, gated): (&mut Product, &mut Vec<f32>),
    ) {
        gate.gate.apply(hidden, product);
        let all = self.table.columns();
        gated.resize(vectors.len() / all.max(1) * self.width, 0.0);
        for ((r, out), vectors) in gated.chunks_exact_mut(self.width).enumerate().zip(vectors.chunks_exact(all)) {
            let vector = vectors.get(layer * self.width..(layer + 1) * self.width).unwrap_or_default();
            activation.scale(product, r, vector, out);
        }
        gate.projection.apply(gated, product);
    }
}
