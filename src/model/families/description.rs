//! What a family says of its decoder: sizes, the mixers of its layers, and where it departs from Llama.
//!
//! In: facts. Out: a [`Description`], complete but for the weights.

use super::super::decoder::attend::{Heads, Scoring};
use super::super::decoder::attention::Source;
use super::super::decoder::rotary::Rotary;
use super::super::decoder::rows::Activation;

/// A decoder without its weights.
#[derive(Debug)]
pub struct Description {
    /// Length of a hidden state.
    pub width: usize,
    /// Most positions of a sequence.
    pub context: usize,
    /// Added to the mean square in norms.
    pub epsilon: f32,
    /// The layers, first to last.
    pub layers: Vec<Layer>,
    /// Blocks that the file has after the last: they predict further tokens, and are not read.
    pub spare: usize,
    /// Rotations that layers choose from.
    pub rotaries: Vec<Rotary>,
    /// What the gates of feed-forward parts go through.
    pub activation: Activation,
    /// By which embeddings are multiplied.
    pub embedding_scale: f32,
    /// Largest logit.
    pub logit_cap: Option<f32>,
    /// Whether logits come from the embedding's matrix; None to see whether the file has another.
    pub tied: Option<bool>,
    /// Added to the weights of norms as they are stored.
    pub norm_shift: f32,
    /// Norms of what mixers and feed-forward parts add.
    pub post_norms: bool,
    /// Whether gate and up, and query, key and value, are stored as one matrix each.
    pub fused: bool,
    /// Whether query and key rows are stored so that rotation pairs neighbours.
    pub paired: bool,
    /// Vectors of so many floats that each layer adds for each token.
    pub per_layer: Option<usize>,
    /// Whether layers have a number by which their output is multiplied.
    pub layer_scales: bool,
    /// Name of the norm before the feed-forward part, where it is not the usual one.
    pub inner_norm: InnerNorm,
}

/// How files name the norm before the feed-forward part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InnerNorm {
    /// `post_attention_layernorm`, `ffn_norm`.
    AfterAttention,
    /// `pre_feedforward_layernorm`, `ffn_norm`.
    BeforeFeedForward,
    /// `post_attention_layernorm`, `post_attention_norm`.
    AfterAttentionInBoth,
}

/// One layer.
#[derive(Debug)]
pub struct Layer {
    /// What it does with the past.
    pub mixer: Mixer,
    /// Length of the feed-forward part's inner vector.
    pub inner: usize,
}

/// The mixer of a layer.
#[derive(Debug)]
pub enum Mixer {
    /// Attention.
    Attention(Attention),
    /// Gated delta net.
    DeltaNet(DeltaNet),
}

/// Attention without its weights.
#[derive(Debug, Clone)]
pub struct Attention {
    /// Heads and their length.
    pub heads: Heads,
    /// Which rotation; None for none.
    pub rotary: Option<usize>,
    /// Positions seen; None for all.
    pub window: Option<usize>,
    /// Scale and cap of scores.
    pub scoring: Scoring,
    /// Biases of query, key and value.
    pub bias: bool,
    /// Norms of queries and keys.
    pub norms: bool,
    /// A norm without weights for values.
    pub value_norm: bool,
    /// Gates on the heads' outputs, stored beside each head's query.
    pub gated: bool,
    /// Where keys and values come from.
    pub source: Source,
}

/// A gated delta net without its weights.
#[derive(Debug, Clone)]
pub struct DeltaNet {
    /// Heads of queries and keys, and their length.
    pub key_heads: (usize, usize),
    /// Heads of values, and their length.
    pub value_heads: (usize, usize),
    /// Inputs that the convolution sees, the present one included.
    pub taps: usize,
    /// Whether value heads are stored in turns over the key heads, and not grouped by them.
    pub in_turns: bool,
    /// Whether the rates are stored as they are, and not the logarithm of their negative.
    pub plain_rates: bool,
}
