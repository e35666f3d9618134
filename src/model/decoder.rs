//! The decoder: a stack of blocks applied to rows, each row a token at its place in the prefix tree.
//!
//! In: rows, and the cache that holds what came before them. Out: keys, values and final hidden states in the cache.
//! Rows of any mixture of sequences go through together: prompts, next tokens, forced responses. There is no padding, no
//! mask and no shared position, as each row carries its own path. Family descriptions ([`super::llama`]) fill in the parts.

use rayon::prelude::*;

use super::attention::{Heads, Past, attend};
use super::cache::Cache;
use super::matrix::{Matrix, PANEL, Product};
use super::rows::{add, gate, rms_norm, rotate, rotation};
use super::scores::Distribution;
use super::tree::NodeId;

/// Sizes of a decoder.
#[derive(Debug, Clone)]
pub struct Shape {
    /// Length of a hidden state.
    pub width: usize,
    /// Length of the feed-forward part's inner vector.
    pub inner: usize,
    /// Heads of attention.
    pub heads: Heads,
    /// Tokens.
    pub vocabulary: usize,
    /// Added to the mean square in norms.
    pub epsilon: f32,
}

impl Shape {
    /// Floats of one position's keys (or values) at one layer.
    pub fn kv_width(&self) -> usize {
        self.heads.kv_heads * self.heads.head
    }
}

/// One block: attention, then the feed-forward part, each after a norm and added to its input.
#[derive(Debug)]
pub struct Block {
    /// Norm before attention.
    pub attention_norm: Vec<f32>,
    /// Query, key and value projections, stacked.
    pub query_key_value: Matrix,
    /// Projection of the heads' outputs.
    pub attention_out: Matrix,
    /// Norm before the feed-forward part.
    pub inner_norm: Vec<f32>,
    /// Gate and up projections, stacked.
    pub gate_up: Matrix,
    /// Down projection.
    pub down: Matrix,
}

/// A decoder's weights.
#[derive(Debug)]
pub struct Decoder {
    /// Sizes.
    pub shape: Shape,
    /// Token embeddings, as a matrix from hidden states to logits.
    pub embedding: Matrix,
    /// Output matrix, where it is not the embedding.
    pub output: Option<Matrix>,
    /// The blocks.
    pub blocks: Vec<Block>,
    /// Norm after the last block.
    pub final_norm: Vec<f32>,
    /// Rotation frequencies, `head / 2` of them.
    pub frequencies: Vec<f32>,
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
}

/// Hidden states of one row: `[layers + 1, width]`, the embedding first, the last after the final norm.
pub type Captured = Vec<f32>;

/// Buffers that are used again from batch to batch.
#[derive(Debug, Default)]
pub struct Workspace {
    hidden: Vec<f32>,
    normed: Vec<f32>,
    heads: Vec<f32>,
    inner: Vec<f32>,
    rotations: Vec<f32>,
    product: Product,
}

/// Rows that one task of an elementwise loop takes at least; below it tasks cost more than they gain.
const ROWS_PER_TASK: usize = 4;

impl Decoder {
    /// An empty cache for this decoder.
    pub fn cache(&self) -> Cache {
        Cache::new(self.blocks.len(), self.shape.kv_width(), self.shape.width)
    }

    /// Bytes of cache that one position takes.
    pub fn bytes_per_position(&self) -> usize {
        Cache::bytes_per_position(self.blocks.len(), self.shape.kv_width(), self.shape.width)
    }

    /// Computes rows; their keys, values and final hidden states go into the cache, which must have their slots.
    /// Returns what rows with `capture` asked for, in row order.
    pub fn forward(&self, rows: &[Row<'_>], cache: &mut Cache, work: &mut Workspace) -> Vec<Captured> {
        let Shape { width, inner, heads, .. } = self.shape;
        let query_width = heads.heads * heads.head;
        work.hidden.resize(rows.len() * width, 0.0);
        work.normed.resize(rows.len() * width, 0.0);
        work.heads.resize(rows.len() * query_width, 0.0);
        work.inner.resize(rows.len() * inner, 0.0);
        work.rotations.resize(rows.len() * heads.head, 0.0);
        for ((row, x), angles) in
            rows.iter().zip(work.hidden.chunks_exact_mut(width)).zip(work.rotations.chunks_exact_mut(heads.head))
        {
            self.embedding.copy_row(row.token as usize, x);
            rotation(row.path.len().saturating_sub(1), &self.frequencies, angles);
        }
        let mut captured: Vec<Captured> = vec![Vec::new(); rows.iter().filter(|row| row.capture).count()];
        for (layer, block) in self.blocks.iter().enumerate() {
            capture(rows, &work.hidden, width, &mut captured);
            self.norm_rows(&work.hidden, &block.attention_norm, &mut work.normed);
            block.query_key_value.apply(&work.normed, &mut work.product);
            self.store(rows, layer, &work.product, &work.rotations, cache);
            let (keys, values) = cache.layer(layer);
            let product = &work.product;
            work.heads
                .par_chunks_exact_mut(query_width)
                .zip(work.rotations.par_chunks_exact(heads.head))
                .zip(rows.par_iter())
                .enumerate()
                .with_min_len(ROWS_PER_TASK)
                .for_each_init(
                    || (Vec::new(), vec![0f32; query_width]),
                    |(scores, query), (r, ((out, angles), row))| {
                        product.copy(r, 0, query);
                        rotate(query, angles);
                        attend(query, Past { path: row.path, keys, values }, heads, scores, out);
                    },
                );
            block.attention_out.apply(&work.heads, &mut work.product);
            self.add_rows(&work.product, &mut work.hidden, &block.inner_norm, &mut work.normed);
            block.gate_up.apply(&work.normed, &mut work.product);
            let (product, up_from) = (&work.product, inner.next_multiple_of(PANEL));
            work.inner
                .par_chunks_exact_mut(inner)
                .enumerate()
                .with_min_len(ROWS_PER_TASK)
                .for_each(|(r, out)| gate(product, r, up_from, out));
            block.down.apply(&work.inner, &mut work.product);
            self.add_rows(&work.product, &mut work.hidden, &self.final_norm, &mut work.normed);
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

    /// The next-token distributions after these nodes, in order.
    pub fn distributions(&self, nodes: &[NodeId], cache: &Cache, work: &mut Workspace) -> Vec<Distribution> {
        work.normed.clear();
        for &node in nodes {
            work.normed.extend_from_slice(cache.state(node));
        }
        self.output.as_ref().unwrap_or(&self.embedding).apply(&work.normed, &mut work.product);
        let product = &work.product;
        (0..nodes.len()).into_par_iter().map(|r| Distribution::of(product, r, self.shape.vocabulary)).collect()
    }

    fn norm_rows(&self, hidden: &[f32], weight: &[f32], normed: &mut [f32]) {
        let width = self.shape.width;
        normed
            .par_chunks_exact_mut(width)
            .zip(hidden.par_chunks_exact(width))
            .with_min_len(ROWS_PER_TASK)
            .for_each(|(out, x)| rms_norm(x, weight, self.shape.epsilon, out));
    }

    /// Adds the product to the hidden rows and norms the sums.
    fn add_rows(&self, product: &Product, hidden: &mut [f32], weight: &[f32], normed: &mut [f32]) {
        let width = self.shape.width;
        normed
            .par_chunks_exact_mut(width)
            .zip(hidden.par_chunks_exact_mut(width))
            .enumerate()
            .with_min_len(ROWS_PER_TASK)
            .for_each(|(r, (out, x))| {
                add(x, product, r);
                rms_norm(x, weight, self.shape.epsilon, out);
            });
    }

    /// Writes the rows' keys, rotated, and values into the cache.
    fn store(&self, rows: &[Row<'_>], layer: usize, product: &Product, rotations: &[f32], cache: &mut Cache) {
        let heads = self.shape.heads;
        let key_from = (heads.heads * heads.head).next_multiple_of(PANEL);
        let value_from = key_from + self.shape.kv_width().next_multiple_of(PANEL);
        for (r, (row, angles)) in rows.iter().zip(rotations.chunks_exact(heads.head)).enumerate() {
            if let Some(&node) = row.path.last()
                && let Some((key, value)) = cache.position_mut(layer, node)
            {
                product.copy(r, key_from, key);
                product.copy(r, value_from, value);
                rotate(key, angles);
            }
        }
    }
}

fn capture(rows: &[Row<'_>], states: &[f32], width: usize, captured: &mut [Captured]) {
    let wanted = rows.iter().zip(states.chunks_exact(width)).filter(|(row, _)| row.capture);
    for ((_, state), captured) in wanted.zip(captured) {
        captured.extend_from_slice(state);
    }
}
