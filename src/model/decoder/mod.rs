//! The decoder: a stack of blocks applied to rows, each row a token at its place in the prefix tree.
//!
//! In: rows, and the cache that holds what came before them. Out: keys, values, states and final hidden states in the cache.
//! Rows of any mixture of sequences go through together: prompts, next tokens, forced responses. There is no padding, no
//! mask and no shared position, as each row carries its own path. The parts are filled in by [`super::families`].
//!
//! | file | holds |
//! |---|---|
//! | `attention`, `attend`, `rotary` | the attention mixer, its look back along a path, positions |
//! | `delta_net` | the gated delta net mixer |
//! | `per_layer` | embeddings that each layer adds |
//! | `rows` | what works on one row alone |
//! | `cache` | what is kept of positions |
//! | `form` | in what form weights are held: for this code, or as tensors on a device |

pub mod attend;
pub mod attention;
pub mod cache;
pub mod delta_net;
pub mod form;
pub mod per_layer;
pub mod rotary;
pub mod rows;

use rayon::prelude::*;

use super::matrix::{Compute, PANEL, Product};
use super::scores::Distribution;
use super::tree::NodeId;
use super::weights::Table;
use cache::{Cache, Memory, Step};
use form::Form;
use per_layer::{PerLayer, PerLayerGate};
use rotary::Rotary;
use rows::{Activation, add, add_to, rms_norm};

/// What a block does with a position's past.
pub trait Mixer: std::fmt::Debug + Send + Sync {
    /// What it keeps of positions.
    fn memory(&self) -> Memory;

    /// Mixes normed rows `[rows, width]` with their past; leaves what is to be added to their hidden states in `product`.
    ///
    /// `layer` is its own number, and that of its part of the cache.
    fn mix(
        &self,
        layer: usize,
        batch: &Batch<'_>,
        normed: &[f32],
        cache: &mut Cache,
        scratch: &mut Scratch,
        product: &mut Product,
    );
}

/// One block: a mixer, then the feed-forward part, each after a norm and added to its input.
#[derive(Debug)]
pub struct Block<F: Form = Compute> {
    /// Norm before the mixer.
    pub mixer_norm: F::Vector,
    /// The mixer.
    pub mixer: F::Mixer,
    /// Norm of what the mixer adds.
    pub mixer_post_norm: Option<F::Vector>,
    /// Norm before the feed-forward part.
    pub inner_norm: F::Vector,
    /// Length of the feed-forward part's inner vector.
    pub inner: usize,
    /// Gate and up projections, stacked.
    pub gate_up: F::Matrix,
    /// Down projection.
    pub down: F::Matrix,
    /// Norm of what the feed-forward part adds.
    pub inner_post_norm: Option<F::Vector>,
    /// What it does with its embedding of the token.
    pub per_layer: Option<PerLayerGate<F>>,
    /// By which the hidden state is multiplied at the end.
    pub scale: f32,
}

/// A decoder's weights.
#[derive(Debug)]
pub struct Decoder<F: Form = Compute> {
    /// Length of a hidden state.
    pub width: usize,
    /// Tokens that can come next.
    pub vocabulary: usize,
    /// Added to the mean square in norms.
    pub epsilon: f32,
    /// Token embeddings.
    pub embedding: Table,
    /// By which they are multiplied.
    pub embedding_scale: f32,
    /// Embeddings that each layer adds.
    pub per_layer: Option<PerLayer<F>>,
    /// Rotations that attention layers choose from.
    pub rotaries: Vec<Rotary>,
    /// The blocks.
    pub blocks: Vec<Block<F>>,
    /// What the gates of feed-forward parts go through.
    pub activation: Activation,
    /// Norm after the last block.
    pub final_norm: F::Vector,
    /// From hidden states to logits.
    pub output: F::Matrix,
    /// Largest logit, by [`rows::cap`]; None for no limit.
    pub logit_cap: Option<f32>,
}

/// One token position to compute.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// The token.
    pub token: u32,
    /// The nodes from the root to this position, itself last. Those before must be computed or earlier in the same batch.
    pub path: &'a [NodeId],
    /// Whether the hidden states of all layers are wanted.
    pub capture: bool,
    /// Whether another position may come to follow the one before this, so that its recurrent state must stay.
    pub keep_before: bool,
}

/// The rows of one pass, and what all layers need to know of them.
#[derive(Debug)]
pub struct Batch<'a> {
    /// The rows.
    pub rows: &'a [Row<'a>],
    /// Angles of each rotation: `[rows, its length]`.
    angles: &'a [Vec<f32>],
    /// The rows' steps of recurrent states; empty where no layer has one.
    pub steps: &'a [Step],
}

impl Batch<'_> {
    /// The angles of a row.
    fn angles(&self, rotary: usize, row: usize) -> &[f32] {
        let all = self.angles.get(rotary).map_or(&[][..], |angles| angles);
        let length = all.len() / self.rows.len().max(1);
        all.get(row * length..(row + 1) * length).unwrap_or_default()
    }
}

/// Hidden states of one row: `[layers + 1, width]`, the embedding first, the last after the final norm.
pub type Captured = Vec<f32>;

/// Buffers that are used again from batch to batch.
#[derive(Debug, Default)]
pub struct Workspace {
    hidden: Vec<f32>,
    normed: Vec<f32>,
    inner: Vec<f32>,
    angles: Vec<Vec<f32>>,
    per_layer: Vec<f32>,
    scratch: Scratch,
    product: Product,
}

/// Buffers of mixers.
#[derive(Debug, Default)]
pub struct Scratch {
    /// What goes into the output projection.
    mixed: Vec<f32>,
    /// Inputs after the convolution.
    convolved: Vec<f32>,
    /// Outputs of each head.
    by_head: Vec<f32>,
}

/// Rows that one task of an elementwise loop takes at least; below it tasks cost more than they gain.
const ROWS_PER_TASK: usize = 4;

impl Decoder {
    /// An empty cache for this decoder.
    pub fn cache(&self) -> Cache {
        Cache::new(self.memory(), self.width)
    }

    /// Bytes of cache that one position takes, and those of one recurrent state.
    pub fn cache_bytes(&self) -> (usize, usize) {
        Cache::bytes(&self.memory(), self.width)
    }

    fn memory(&self) -> Vec<Memory> {
        self.blocks.iter().map(|block| block.mixer.memory()).collect()
    }

    /// Computes rows; their keys, values, states and final hidden states go into the cache, which must have their slots.
    /// Returns what rows with `capture` asked for, in row order.
    pub fn forward(&self, rows: &[Row<'_>], cache: &mut Cache, work: &mut Workspace) -> Vec<Captured> {
        let width = self.width;
        work.hidden.resize(rows.len() * width, 0.0);
        work.normed.resize(rows.len() * width, 0.0);
        self.embed(rows, work);
        let step = |row: &Row<'_>| {
            let (&node, before) = row.path.split_last()?;
            cache.step(before.last().copied(), node, row.keep_before)
        };
        let steps: Vec<Step> = rows.iter().filter_map(step).collect();
        let batch = Batch { rows, angles: &work.angles, steps: &steps };
        let mut captured: Vec<Captured> = vec![Vec::new(); rows.iter().filter(|row| row.capture).count()];
        if let Some(first) = self.blocks.first() {
            self.norm_rows(&work.hidden, &first.mixer_norm, &mut work.normed);
        }
        for (layer, block) in self.blocks.iter().enumerate() {
            capture(rows, &work.hidden, width, &mut captured);
            block.mixer.mix(layer, &batch, &work.normed, cache, &mut work.scratch, &mut work.product);
            let mixed = Sum { product: &work.product, norm: block.mixer_post_norm.as_deref(), scale: 1.0 };
            self.add_rows(mixed, &mut work.hidden, &block.inner_norm, &mut work.normed);
            self.feed_forward(block, work.normed.as_slice(), &mut work.inner, &mut work.product);
            let next = self.blocks.get(layer + 1).map_or(&self.final_norm, |next| &next.mixer_norm);
            let scale = if block.per_layer.is_some() { 1.0 } else { block.scale };
            let inner = Sum { product: &work.product, norm: block.inner_post_norm.as_deref(), scale };
            self.add_rows(inner, &mut work.hidden, next, &mut work.normed);
            if let (Some(all), Some(gate)) = (&self.per_layer, &block.per_layer) {
                let buffers = (&mut work.product, &mut work.inner);
                all.mix((layer, gate), &work.hidden, &work.per_layer, self.activation, buffers);
                let added = Sum { product: &work.product, norm: Some(&gate.norm), scale: block.scale };
                self.add_rows(added, &mut work.hidden, next, &mut work.normed);
            }
        }
        // After the last block `normed` holds its output after the final norm.
        capture(rows, &work.normed, width, &mut captured);
        for (row, state) in rows.iter().zip(work.normed.chunks_exact(width)) {
            if let Some(&node) = row.path.last() {
                cache.state_mut(node).copy_from_slice(state);
            }
        }
        captured
    }

    /// Embeddings, per-layer vectors and angles of the rows.
    fn embed(&self, rows: &[Row<'_>], work: &mut Workspace) {
        for (row, x) in rows.iter().zip(work.hidden.chunks_exact_mut(self.width)) {
            self.embedding.row(row.token as usize, x);
            if self.embedding_scale != 1.0 {
                x.iter_mut().for_each(|x| *x *= self.embedding_scale);
            }
        }
        if let Some(per_layer) = &self.per_layer {
            per_layer.vectors(rows, &work.hidden, &mut work.product, &mut work.per_layer);
        }
        work.angles.resize(self.rotaries.len(), Vec::new());
        for (rotary, angles) in self.rotaries.iter().zip(&mut work.angles) {
            angles.resize(rows.len() * rotary.len(), 0.0);
            for (row, angles) in rows.iter().zip(angles.chunks_exact_mut(rotary.len())) {
                rotary.angles(row.path.len().saturating_sub(1), angles);
            }
        }
    }

    fn feed_forward(&self, block: &Block, normed: &[f32], inner: &mut Vec<f32>, product: &mut Product) {
        block.gate_up.apply(normed, product);
        inner.resize(normed.len() / self.width * block.inner, 0.0);
        let (from, up_from) = (&*product, block.inner.next_multiple_of(PANEL));
        inner
            .par_chunks_exact_mut(block.inner)
            .enumerate()
            .with_min_len(ROWS_PER_TASK)
            .for_each(|(r, out)| self.activation.gate(from, r, up_from, out));
        block.down.apply(inner, product);
    }

    /// The next-token distributions after these nodes, in order.
    pub fn distributions(&self, nodes: &[NodeId], cache: &Cache, work: &mut Workspace) -> Vec<Distribution> {
        work.normed.clear();
        for &node in nodes {
            work.normed.extend_from_slice(cache.state(node));
        }
        self.output.apply(&work.normed, &mut work.product);
        let product = &work.product;
        let of = |r| Distribution::of(product, r, self.vocabulary, self.logit_cap);
        (0..nodes.len()).into_par_iter().map(of).collect()
    }

    fn norm_rows(&self, hidden: &[f32], weight: &[f32], normed: &mut [f32]) {
        normed
            .par_chunks_exact_mut(self.width)
            .zip(hidden.par_chunks_exact(self.width))
            .with_min_len(ROWS_PER_TASK)
            .for_each(|(out, x)| rms_norm(x, weight, self.epsilon, out));
    }

    /// Adds a sum to the hidden rows and norms them for what comes next.
    fn add_rows(&self, sum: Sum<'_>, hidden: &mut [f32], next: &[f32], normed: &mut [f32]) {
        let width = self.width;
        normed
            .par_chunks_exact_mut(width)
            .zip(hidden.par_chunks_exact_mut(width))
            .enumerate()
            .with_min_len(ROWS_PER_TASK)
            .for_each_init(
                || vec![0f32; if sum.norm.is_some() { width } else { 0 }],
                |raw, (r, (out, x))| {
                    match sum.norm {
                        None => add(x, sum.product, r),
                        Some(weight) => {
                            sum.product.copy(r, 0, raw);
                            rms_norm(raw, weight, self.epsilon, out);
                            add_to(x, out);
                        }
                    }
                    if sum.scale != 1.0 {
                        x.iter_mut().for_each(|x| *x *= sum.scale);
                    }
                    rms_norm(x, next, self.epsilon, out);
                },
            );
    }
}

/// What is added to hidden rows: a product, through a norm of its own where it has one; then the sum is scaled.
struct Sum<'a> {
    product: &'a Product,
    norm: Option<&'a [f32]>,
    scale: f32,
}

fn capture(rows: &[Row<'_>], states: &[f32], width: usize, captured: &mut [Captured]) {
    let wanted = rows.iter().zip(states.chunks_exact(width)).filter(|(row, _)| row.capture);
    for ((_, state), captured) in wanted.zip(captured) {
        captured.extend_from_slice(state);
    }
}
