//! Network: from token ids to the hidden states of one layer.
//!
//! In: weights, and the ids of a batch of texts. Out: hidden states, one text's rows after the other's.
//! One encoder for all families: embeddings, then blocks of attention and feed-forward parts, normed after each. They
//! differ in names of tensors, in how positions are told, and in DeBERTa's distances and convolution.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::attention::Heads;
use super::config::{Absolute, Convolution, Family, Relative, Shape};
use super::linear::{Linear, Part};
use super::relative::{Distances, Places};
use super::rows::{Activation, Norm};
use super::weights::Weights;
use crate::Result;
use crate::model::matrix::Product;

/// The tensor that every encoder has.
pub(super) const WORDS: &str = "embeddings.word_embeddings.weight";

/// The blocks of an encoder up to a layer, and its embeddings.
pub(super) struct Network {
    weights: Weights,
    shape: Shape,
    heads: Heads,
    positions: Vec<f32>,
    /// Vector of the first segment, where there are several.
    segment: Vec<f32>,
    norm: Norm,
    blocks: Vec<Block>,
    convolution: Option<(Linear, Norm, Convolution)>,
}

/// One block.
struct Block {
    qkv: Linear,
    distances: Distances,
    out: Linear,
    attention_norm: Norm,
    up: Linear,
    down: Linear,
    norm: Norm,
}

/// What blocks are computed in.
#[derive(Default)]
struct Scratch {
    product: Product,
    qkv: Vec<f32>,
    heads: Vec<f32>,
    attended: Vec<f32>,
    inner: Vec<f32>,
}

/// Names of a block's tensors.
struct Names {
    blocks: &'static str,
    qkv: [&'static str; 3],
    out: &'static str,
    attention_norm: &'static str,
    up: &'static str,
    down: &'static str,
    norm: &'static str,
}

impl Names {
    fn of(family: Family) -> Names {
        let bert = Names {
            blocks: "encoder.layer",
            qkv: ["attention.self.query", "attention.self.key", "attention.self.value"],
            out: "attention.output.dense",
            attention_norm: "attention.output.LayerNorm",
            up: "intermediate.dense",
            down: "output.dense",
            norm: "output.LayerNorm",
        };
        match family {
            Family::Bert | Family::Deberta => bert,
            Family::DebertaV2 => Names {
                qkv: ["attention.self.query_proj", "attention.self.key_proj", "attention.self.value_proj"],
                ..bert
            },
            Family::DistilBert => Names {
                blocks: "transformer.layer",
                qkv: ["attention.q_lin", "attention.k_lin", "attention.v_lin"],
                out: "attention.out_lin",
                attention_norm: "sa_layer_norm",
                up: "ffn.lin1",
                down: "ffn.lin2",
                norm: "output_layer_norm",
            },
        }
    }
}

impl Network {
    /// Loads the embeddings and the blocks up to `layer`. Errors: a tensor is missing or of another shape.
    pub(super) fn load(weights: Weights, shape: Shape, layer: usize) -> Result<Network> {
        let (width, length) = (shape.width, shape.width / shape.heads);
        weights.check(WORDS, &[shape.vocabulary, width])?;
        let table = |name: &str, rows: usize| match rows {
            0 => Ok(Vec::new()),
            _ => weights.vector(&format!("embeddings.{name}.weight"), &[rows, width]),
        };
        let positions = table("position_embeddings", shape.absolute.map_or(0, |absolute| absolute.rows))?;
        let mut segment = table("token_type_embeddings", shape.segments)?;
        segment.truncate(width);
        let distances = match &shape.relative {
            Some(relative) => of_distances(&weights, &shape, relative)?,
            None => Vec::new(),
        };
        let blocks = (0..layer).map(|number| block(&weights, &shape, number, &distances)).collect::<Result<_>>()?;
        let convolution = match shape.convolution {
            Some(convolution) => {
                let (name, inputs) = ("encoder.conv.conv", width * convolution.kernel);
                let weight = weights.vector(&format!("{name}.weight"), &[width, width, convolution.kernel])?;
                let part = Part { weight, bias: weights.vector(&format!("{name}.bias"), &[width])? };
                Some((Linear::new(inputs, &[part]), norm(&weights, "encoder.conv.LayerNorm", &shape)?, convolution))
            }
            None => None,
        };
        let norm = norm(&weights, "embeddings.LayerNorm", &shape)?;
        let scale = 1.0 / ((length * shape.score_terms) as f32).sqrt();
        let heads = Heads { count: shape.heads, length, scale };
        Ok(Network { weights, shape, heads, positions, segment, norm, blocks, convolution })
    }

    /// Length of a hidden state.
    pub(super) fn width(&self) -> usize {
        self.shape.width
    }

    /// Hidden states of a batch of texts, `[all tokens, width]`. Errors: a token has no embedding.
    pub(super) fn states(&self, texts: &[&[u32]]) -> candle_core::Result<Vec<f32>> {
        let lengths: Vec<usize> = texts.iter().map(|ids| ids.len()).collect();
        let places: BTreeMap<usize, Places> = match &self.shape.relative {
            Some(relative) => lengths.iter().map(|&tokens| (tokens, Places::new(relative, tokens))).collect(),
            None => BTreeMap::new(),
        };
        let mut states = self.embeddings(texts)?;
        let beside = self.convolution.as_ref().map(|(linear, ..)| self.convolved(linear, &lengths, &states));
        let mut scratch = Scratch::default();
        for (number, block) in self.blocks.iter().enumerate() {
            block.apply(&self.heads, self.shape.activation, &lengths, &places, &mut states, &mut scratch);
            if let (0, Some(beside), Some((_, norm, _))) = (number, &beside, &self.convolution) {
                states.par_chunks_mut(self.shape.width).zip(beside.par_chunks(self.shape.width)).for_each(
                    |(row, beside)| {
                        add(row, beside);
                        norm.apply(row);
                    },
                );
            }
        }
        Ok(states)
    }

    fn embeddings(&self, texts: &[&[u32]]) -> candle_core::Result<Vec<f32>> {
        let width = self.shape.width;
        let tokens: Vec<(usize, u32)> = texts.iter().flat_map(|ids| places(ids, self.shape.absolute)).collect();
        let mut states = vec![0f32; tokens.len() * width];
        states.par_chunks_mut(width).zip(tokens).try_for_each(|(row, (place, id))| {
            self.weights.row(WORDS, id as usize, row).map_err(candle_core::Error::msg)?;
            if let Some(position) = self.positions.get(place * width..(place + 1) * width) {
                add(row, position);
            }
            add(row, &self.segment);
            self.norm.apply(row);
            candle_core::Result::Ok(())
        })?;
        Ok(states)
    }

    /// Each token's convolution with its neighbours, activated; beyond a text's ends there is nothing.
    fn convolved(&self, linear: &Linear, lengths: &[usize], states: &[f32]) -> Vec<f32> {
        let (width, Some((.., Convolution { kernel, activation }))) = (self.shape.width, &self.convolution) else {
            return Vec::new();
        };
        let (kernel, mut rest) = (*kernel, states);
        // Rows of the values at all neighbours, value by value, as the weights [outputs, inputs, kernel] lie.
        let mut rows = vec![0f32; states.len() * kernel];
        let mut windows = rows.chunks_mut(width * kernel);
        for &tokens in lengths {
            let (text, after) = rest.split_at(tokens * width);
            for (i, window) in windows.by_ref().take(tokens).enumerate() {
                for k in 0..kernel {
                    let neighbour = (i + k).checked_sub(kernel / 2).filter(|&at| at < tokens);
                    let Some(values) = neighbour.and_then(|at| text.get(at * width..(at + 1) * width)) else {
                        continue;
                    };
                    for (slot, &value) in window.iter_mut().skip(k).step_by(kernel).zip(values) {
                        *slot = value;
                    }
                }
            }
            rest = after;
        }
        let mut out = Vec::new();
        linear.apply(&rows, &mut Product::default(), &mut out, |_, row| activation.apply(row));
        out
    }
}

/// The tokens of a text with their positions.
fn places(ids: &[u32], absolute: Option<Absolute>) -> Vec<(usize, u32)> {
    let padding = absolute.and_then(|absolute| absolute.padding);
    let mut counted = 0;
    let place = |(at, &id): (usize, &u32)| match padding {
        Some(padding) if id == padding => (padding as usize, id),
        Some(padding) => {
            counted += 1;
            (padding as usize + counted, id)
        }
        None => (at, id),
    };
    ids.iter().enumerate().map(place).collect()
}

impl Block {
    fn apply(
        &self,
        heads: &Heads,
        activation: Activation,
        lengths: &[usize],
        places: &BTreeMap<usize, Places>,
        states: &mut Vec<f32>,
        scratch: &mut Scratch,
    ) {
        let Scratch { product, qkv, heads: outputs, attended, inner } = scratch;
        let width = self.out.outputs();
        let row = |all: &[f32], row: usize, out: &mut [f32]| {
            add(out, all.get(row * width..(row + 1) * width).unwrap_or_default());
        };
        self.qkv.apply(states, product, qkv, |_, _| ());
        heads.attend(qkv, lengths, &self.distances, places, outputs);
        self.out.apply(outputs, product, attended, |number, out| {
            row(states, number, out);
            self.attention_norm.apply(out);
        });
        self.up.apply(attended, product, inner, |_, out| activation.apply(out));
        self.down.apply(inner, product, states, |number, out| {
            row(attended, number, out);
            self.norm.apply(out);
        });
    }
}

fn add(row: &mut [f32], other: &[f32]) {
    for (x, y) in row.iter_mut().zip(other) {
        *x += y;
    }
}

fn norm(weights: &Weights, name: &str, shape: &Shape) -> Result<Norm> {
    // Files of the first years have the names of TensorFlow.
    let old = weights.contains(&format!("{name}.gamma"));
    let [weight, bias] = if old { ["gamma", "beta"] } else { ["weight", "bias"] };
    let vector = |of: &str| weights.vector(&format!("{name}.{of}"), &[shape.width]);
    Ok(Norm { weight: vector(weight)?, bias: vector(bias)?, epsilon: shape.epsilon })
}

/// The vectors of distances, before a block's projections.
fn of_distances(weights: &Weights, shape: &Shape, relative: &Relative) -> Result<Vec<f32>> {
    let mut vectors = weights.vector("encoder.rel_embeddings.weight", &[2 * relative.span(), shape.width])?;
    if relative.normed {
        let norm = norm(weights, "encoder.LayerNorm", shape)?;
        vectors.chunks_mut(shape.width).for_each(|row| norm.apply(row));
    }
    Ok(vectors)
}

fn block(weights: &Weights, shape: &Shape, number: usize, distances: &[f32]) -> Result<Block> {
    let (names, width) = (Names::of(shape.family), shape.width);
    let full = |name: &str| format!("{}.{number}.{name}", names.blocks);
    let square = |name: &str, bias: bool| Part::load(weights, &full(name), width, width, bias);
    let qkv: [Part; 3] = match shape.family {
        Family::Deberta => in_one(weights, shape, &full("attention.self"))?,
        _ => {
            let [query, key, value] = names.qkv;
            [square(query, true)?, square(key, true)?, square(value, true)?]
        }
    };
    let project = |part: &Part| {
        let (mut out, linear) = (Vec::new(), Linear::new(width, std::slice::from_ref(part)));
        linear.apply(distances, &mut Product::default(), &mut out, |_, _| ());
        out
    };
    let projected = |wanted: bool, shared: &Part, name: &str, bias: bool| -> Result<Option<Vec<f32>>> {
        match &shape.relative {
            Some(relative) if wanted && relative.shared => Ok(Some(project(shared))),
            Some(_) if wanted => Ok(Some(project(&square(name, bias)?))),
            _ => Ok(None),
        }
    };
    let [query, key, _] = &qkv;
    let (keys, queries) = match shape.family {
        Family::Deberta => (("attention.self.pos_proj", false), "attention.self.pos_q_proj"),
        _ => (("attention.self.pos_key_proj", true), "attention.self.pos_query_proj"),
    };
    let (by_query, by_key) = shape.relative.map_or((false, false), |relative| (relative.by_query, relative.by_key));
    Ok(Block {
        distances: Distances {
            keys: projected(by_query, key, keys.0, keys.1)?,
            queries: projected(by_key, query, queries, true)?,
        },
        qkv: Linear::new(width, &qkv),
        out: Linear::load(weights, &full(names.out), width, width)?,
        attention_norm: norm(weights, &full(names.attention_norm), shape)?,
        up: Linear::load(weights, &full(names.up), shape.inner, width)?,
        down: Linear::load(weights, &full(names.down), width, shape.inner)?,
        norm: norm(weights, &full(names.norm), shape)?,
    })
}

/// Query, key and value of the first DeBERTa: one tensor, each head's three one after the other; no bias for the keys.
fn in_one(weights: &Weights, shape: &Shape, name: &str) -> Result<[Part; 3]> {
    let (width, head) = (shape.width, shape.width / shape.heads);
    let all = weights.vector(&format!("{name}.in_proj.weight"), &[3 * width, width])?;
    let part = |number: usize, bias: Vec<f32>| Part {
        weight: all.chunks(head * width).skip(number).step_by(3).flatten().copied().collect(),
        bias,
    };
    let bias = |of: &str| weights.vector(&format!("{name}.{of}"), &[width]);
    Ok([part(0, bias("q_bias")?), part(1, vec![0.0; width]), part(2, bias("v_bias")?)])
}
