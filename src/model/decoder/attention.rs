//! The attention mixer: each position looks back along its path.
//!
//! In: normed rows. Out: the product of the output projection, and keys and values in the cache.
//! Grouped-query attention (Ainslie et al., 2023, <https://arxiv.org/abs/2305.13245>) with what families add to it: biases,
//! norms of queries, keys and values, a window, a soft cap, gates on the heads' outputs, and keys and values of another layer.

use rayon::prelude::*;

use super::super::matrix::{Compute, PANEL, Product};
use super::attend::{Heads, Past, Scoring, attend};
use super::cache::{Cache, Memory};
use super::form::Form;
use super::rotary::rotate;
use super::rows::{add_to, open, rms_norm};
use super::{Batch, Mixer, ROWS_PER_TASK, Scratch};

/// Attention of one layer.
#[derive(Debug)]
pub struct Attention<F: Form = Compute> {
    /// How it is divided into heads.
    pub heads: Heads,
    /// Query, key, value and gate projections as far as there are such, stacked in this order.
    pub input: F::Matrix,
    /// Biases of query, key and value, one after the other.
    pub bias: Option<F::Vector>,
    /// Norm of each head's query.
    pub query_norm: Option<F::Vector>,
    /// Norm of each head's key.
    pub key_norm: Option<F::Vector>,
    /// Norm of each head's value: ones, where there is one.
    pub value_norm: Option<F::Vector>,
    /// Added to the mean square in these norms.
    pub epsilon: f32,
    /// Which of the decoder's rotations turns queries and keys; None where positions do not count.
    pub rotary: Option<usize>,
    /// How many positions are seen, itself included; None for all.
    pub window: Option<usize>,
    /// Scale and cap of the scores.
    pub scoring: Scoring,
    /// Whether the heads' outputs are gated.
    pub gated: bool,
    /// Where keys and values come from.
    pub source: Source,
    /// Projection of the heads' outputs.
    pub output: F::Matrix,
}

/// Where an attention layer has its keys and values from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Projections of its own.
    Own,
    /// One projection that gives both.
    KeysAreValues,
    /// Those of an earlier layer.
    Layer(usize),
}

impl<F: Form> Attention<F> {
    /// Floats of a position's queries.
    pub fn query_width(&self) -> usize {
        self.heads.heads * self.heads.head
    }

    /// Floats of a position's keys, and of its values.
    pub fn key_width(&self) -> usize {
        self.heads.kv_heads * self.heads.head
    }

    /// What it keeps of positions.
    pub fn memory(&self) -> Memory {
        match self.source {
            Source::Layer(_) => Memory::Nothing,
            _ => Memory::KeysValues(self.key_width()),
        }
    }
}

impl Attention {
    /// Writes the rows' keys, normed and turned, and values into the cache.
    fn store(&self, batch: &Batch<'_>, layer: usize, product: &Product, cache: &mut Cache) {
        let (query, kv) = (self.query_width(), self.key_width());
        let key_from = query.next_multiple_of(PANEL);
        let value_from = match self.source {
            Source::Own => key_from + kv.next_multiple_of(PANEL),
            Source::KeysAreValues => key_from,
            Source::Layer(_) => return,
        };
        let mut raw = vec![0f32; kv];
        for (r, row) in batch.rows.iter().enumerate() {
            let Some((key, value)) = row.path.last().and_then(|&node| cache.position_mut(layer, node)) else {
                continue;
            };
            product.copy(r, key_from, key);
            product.copy(r, value_from, value);
            if let Some(bias) = &self.bias {
                add_to(key, bias.get(query..query + kv).unwrap_or_default());
                add_to(value, bias.get(query + kv..).unwrap_or_default());
            }
            norm_heads(key, self.key_norm.as_deref(), self.epsilon, &mut raw);
            norm_heads(value, self.value_norm.as_deref(), self.epsilon, &mut raw);
            if let Some(rotary) = self.rotary {
                rotate(key, self.heads.head, batch.angles(rotary, r));
            }
        }
    }
}

impl Mixer for Attention {
    fn memory(&self) -> Memory {
        Attention::memory(self)
    }

    fn mix(
        &self,
        layer: usize,
        batch: &Batch<'_>,
        normed: &[f32],
        cache: &mut Cache,
        scratch: &mut Scratch,
        product: &mut Product,
    ) {
        self.input.apply(normed, product);
        self.store(batch, layer, product, cache);
        let source = if let Source::Layer(other) = self.source { other } else { layer };
        let (keys, values) = cache.layer(source);
        let (width, head) = (self.query_width(), self.heads.head);
        let gate_from = self.gated.then(|| {
            let before = match self.source {
                Source::Own => 2,
                Source::KeysAreValues => 1,
                Source::Layer(_) => 0,
            };
            width.next_multiple_of(PANEL) + before * self.key_width().next_multiple_of(PANEL)
        });
        scratch.mixed.resize(batch.rows.len() * width, 0.0);
        let from = &*product;
        scratch
            .mixed
            .par_chunks_exact_mut(width)
            .zip(batch.rows.par_iter())
            .enumerate()
            .with_min_len(ROWS_PER_TASK)
            .for_each_init(
                || (Vec::new(), vec![0f32; width], vec![0f32; width]),
                |(scores, query, raw), (r, (out, row))| {
                    from.copy(r, 0, query);
                    if let Some(bias) = &self.bias {
                        add_to(query, bias.get(..width).unwrap_or_default());
                    }
                    norm_heads(query, self.query_norm.as_deref(), self.epsilon, raw);
                    if let Some(rotary) = self.rotary {
                        rotate(query, head, batch.angles(rotary, r));
                    }
                    let seen = self.window.map_or(0, |window| row.path.len().saturating_sub(window));
                    let path = row.path.get(seen..).unwrap_or_default();
                    attend(query, Past { path, keys, values }, self.heads, self.scoring, scores, out);
                    if let Some(gate_from) = gate_from {
                        from.copy(r, gate_from, raw);
                        open(out, raw);
                    }
                },
            );
        self.output.apply(&scratch.mixed, product);
    }
}

/// Norms each head's vector, where there is a norm; `raw` is scratch of at least the same length.
fn norm_heads(x: &mut [f32], weight: Option<&[f32]>, epsilon: f32, raw: &mut [f32]) {
    let Some(weight) = weight else { return };
    for (x, raw) in x.chunks_exact_mut(weight.len()).zip(raw.chunks_exact_mut(weight.len())) {
        raw.copy_from_slice(x);
        rms_norm(raw, weight, epsilon, x);
    }
}
