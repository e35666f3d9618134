//! A description and weights become a decoder.
//!
//! In: a [`Description`], and tensors by name. Out: a [`Decoder`] with its weights in one [`Form`].
//! Every tensor of the decoder must be used: one that is left over means that the model is not what the family computes.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use super::super::decoder::attention::{self, Source};
use super::super::decoder::form::Form;
use super::super::decoder::per_layer::{PerLayer, PerLayerGate};
use super::super::decoder::{Block, Decoder, delta_net};
use super::super::matrix::{Compute, Part as Rows, RowOrder};
use super::super::weights::{Table, Weights};
use super::description::{self, Attention, DeltaNet, Description};
use super::names::{Names, Part, block, whole};
use crate::{Error, Result};

/// The decoder; see [`super::Outline::build`].
pub fn decoder<F: Form>(d: &Description, weights: &Arc<Weights>, form: &F) -> Result<Decoder<F>> {
    let reader = Reader::new(d, weights, form);
    let rows = vocabulary(d, weights)?;
    let embedding = reader.names.whole(whole::EMBEDDING);
    let table = reader.table(&embedding, rows, d.width)?;
    let output = match reader.is_tied() {
        true => embedding,
        false => reader.names.whole(whole::OUTPUT),
    };
    let per_layer = d.per_layer.map(|width| reader.per_layer(width, rows)).transpose()?;
    // Of several faults the first layer's is told, whichever thread was first.
    let blocks: Vec<Result<_>> = (0..d.layers.len()).into_par_iter().map(|layer| reader.block(layer)).collect();
    let blocks = blocks.into_iter().collect::<Result<Vec<_>>>()?;
    let built = Decoder {
        width: d.width,
        vocabulary: rows,
        epsilon: d.epsilon,
        embedding: table,
        embedding_scale: d.embedding_scale,
        per_layer,
        rotaries: d.rotaries.clone(),
        blocks,
        activation: d.activation,
        final_norm: reader.norm(&reader.names.whole(whole::FINAL_NORM), d.width)?,
        output: reader.matrix(&output, &[rows, d.width], RowOrder::All)?,
        logit_cap: d.logit_cap,
    };
    reader.refuse_left_over()?;
    Ok(built)
}

/// Rows of the embedding.
pub fn vocabulary(d: &Description, weights: &Weights) -> Result<usize> {
    let name = Names::of(weights).whole(whole::EMBEDDING);
    match weights.shape_of(&name) {
        Some(&[rows, width]) if width == d.width => Ok(rows),
        Some(other) => Err(Error::input(format!("the model's tensor {name} has the wrong shape"))
            .file(weights.path_of(&name))
            .found(format!("{other:?}"))
            .expected(format!("[tokens, {}]", d.width))
            .into()),
        None => Err(Error::input(format!("the model has no tensor {name}"))
            .file(weights.path_of(&name))
            .expected(format!("shape [tokens, {}]", d.width))
            .into()),
    }
}

/// Bytes of the packed matrices, nearly: those of all tensors of the decoder in the compute type. Tables are not among them.
pub fn bytes(d: &Description, weights: &Weights, compute: Compute) -> Result<u64> {
    let names = Names::of(weights);
    let (embedding, output) = (names.whole(whole::EMBEDDING), names.whole(whole::OUTPUT));
    let table = names.whole(whole::PER_LAYER_TABLE);
    let tied = d.tied.unwrap_or(!weights.contains(&output));
    let is_packed = |name: &&str| {
        let aside = *name == table || (*name == embedding && !tied) || (*name == output && tied);
        (names.is_decoders(name) || *name == output) && !aside
    };
    let bytes = |name: &str| {
        let shape = weights.shape_of(name).unwrap_or_default();
        let encoding = weights.stored(name, shape)?.encoding;
        Ok(shape.iter().product::<usize>() as f64 * compute.bytes_per_weight(encoding))
    };
    let all = weights.names().filter(is_packed).map(bytes).sum::<Result<f64>>()?;
    Ok(all as u64)
}

/// Reads parts of one model, and remembers which tensors it has used.
struct Reader<'a, F> {
    d: &'a Description,
    weights: &'a Arc<Weights>,
    names: Names,
    form: &'a F,
    used: Mutex<BTreeSet<String>>,
}

impl<'a, F: Form> Reader<'a, F> {
    fn new(d: &'a Description, weights: &'a Arc<Weights>, form: &'a F) -> Reader<'a, F> {
        Reader { d, weights, names: Names::of(weights), form, used: Mutex::new(BTreeSet::new()) }
    }

    fn is_tied(&self) -> bool {
        let output = self.names.whole(whole::OUTPUT);
        self.d.tied.unwrap_or(!self.weights.contains(&output))
    }

    fn use_up(&self, name: &str) {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_string());
    }

    fn values(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        self.use_up(name);
        self.weights.vector(name, shape)
    }

    fn vector(&self, name: &str, values: Vec<f32>) -> Result<F::Vector> {
        self.form.vector(values).map_err(|what| self.failed(name, what))
    }

    fn as_stored(&self, name: &str, length: usize) -> Result<F::Vector> {
        self.vector(name, self.values(name, &[length])?)
    }

    fn failed(&self, name: &str, what: String) -> Error {
        let model = self.weights.path_of(name).display().to_string();
        Error::Model { model, what: format!("tensor {name}: {what}") }
    }

    /// Weights of a norm, shifted as the family has them.
    fn norm(&self, name: &str, width: usize) -> Result<F::Vector> {
        let mut weight = self.values(name, &[width])?;
        weight.iter_mut().for_each(|w| *w += self.d.norm_shift);
        self.vector(name, weight)
    }

    fn table(&self, name: &str, rows: usize, columns: usize) -> Result<Table> {
        self.use_up(name);
        Table::new(self.weights, name, rows, columns)
    }

    fn matrix(&self, name: &str, shape: &[usize; 2], order: RowOrder) -> Result<F::Matrix> {
        self.stack(&[(name.to_string(), *shape, order)])
    }

    /// Several matrices over the same columns, one after the other.
    fn stack(&self, parts: &[(String, [usize; 2], RowOrder)]) -> Result<F::Matrix> {
        let mut rows = Vec::with_capacity(parts.len());
        for (name, shape, order) in parts {
            self.use_up(name);
            rows.push(Rows { stored: self.weights.stored(name, shape)?, rows: order.clone() });
        }
        let first = parts.first().map_or("", |(name, ..)| name);
        let columns = parts.first().map_or(0, |(_, shape, _)| shape[1]);
        self.form.matrix(columns, &rows).map_err(|what| self.failed(first, what))
    }

    fn per_layer(&self, width: usize, rows: usize) -> Result<PerLayer<F>> {
        let all = self.d.layers.len() * width;
        Ok(PerLayer {
            width,
            table: self.table(&self.names.whole(whole::PER_LAYER_TABLE), rows, all)?,
            table_scale: (width as f32).sqrt(),
            projection: self.matrix(
                &self.names.whole(whole::PER_LAYER_PROJECTION),
                &[all, self.d.width],
                RowOrder::All,
            )?,
            projection_scale: 1.0 / (self.d.width as f32).sqrt(),
            norm: self.as_stored(&self.names.whole(whole::PER_LAYER_NORM), width)?,
            epsilon: self.d.epsilon,
        })
    }

    fn block(&self, layer: usize) -> Result<Block<F>> {
        let d = self.d;
        let described = d.layers.get(layer).ok_or_else(|| Error::Model {
            model: self.weights.path_of("").display().to_string(),
            what: format!("there is no layer {layer}"),
        })?;
        let name = |part: Part| self.names.block(layer, part);
        let (width, inner) = (d.width, described.inner);
        let mixer: F::Mixer = match &described.mixer {
            description::Mixer::Attention(attention) => self.attention(layer, attention)?.into(),
            description::Mixer::DeltaNet(net) => self.delta_net(layer, net)?.into(),
        };
        let gate_up = match d.fused {
            true => {
                let (name, shape) = (name(block::GATE_UP), [2 * inner, width]);
                self.stack(&[
                    (name.clone(), shape, RowOrder::Range(0..inner)),
                    (name, shape, RowOrder::Range(inner..2 * inner)),
                ])?
            }
            false => self.stack(&[
                (name(block::GATE), [inner, width], RowOrder::All),
                (name(block::UP), [inner, width], RowOrder::All),
            ])?,
        };
        let post_norm = |part: Part| d.post_norms.then(|| self.norm(&name(part), width)).transpose();
        let per_layer = match d.per_layer {
            Some(narrow) => Some(PerLayerGate {
                gate: self.matrix(&name(block::PER_LAYER_GATE), &[narrow, width], RowOrder::All)?,
                projection: self.matrix(&name(block::PER_LAYER_PROJECTION), &[width, narrow], RowOrder::All)?,
                norm: self.norm(&name(block::PER_LAYER_NORM), width)?,
            }),
            None => None,
        };
        let scale = match d.layer_scales {
            true => self.values(&name(block::SCALE), &[1])?.first().copied().unwrap_or(1.0),
            false => 1.0,
        };
        Ok(Block {
            mixer_norm: self.norm(&name(block::MIXER_NORM), width)?,
            mixer,
            mixer_post_norm: post_norm(block::MIXER_POST_NORM)?,
            inner_norm: self.norm(&name(Names::inner_norm(d.inner_norm)), width)?,
            inner,
            gate_up,
            down: self.matrix(&name(block::DOWN), &[width, inner], RowOrder::All)?,
            inner_post_norm: post_norm(block::INNER_POST_NORM)?,
            per_layer,
            scale,
        })
    }

    fn attention(&self, layer: usize, a: &Attention) -> Result<attention::Attention<F>> {
        let name = |part: Part| self.names.block(layer, part);
        let (width, head) = (self.d.width, a.heads.head);
        let (query, kv) = (a.heads.heads * head, a.heads.kv_heads * head);
        let turned = a.rotary.and_then(|rotary| self.d.rotaries.get(rotary)).map_or(0, |rotary| rotary.len());
        let order = |rows: usize| if self.d.paired { unpaired(rows, head, turned.max(2)) } else { RowOrder::All };
        let mut parts = Vec::new();
        if self.d.fused {
            let (name, shape) = (name(block::QUERY_KEY_VALUE), [query + 2 * kv, width]);
            for rows in [0..query, query..query + kv, query + kv..query + 2 * kv] {
                parts.push((name.clone(), shape, RowOrder::Range(rows)));
            }
        } else {
            let both = [if a.gated { 2 * query } else { query }, width];
            // A head's gate is stored after its query.
            let of_heads = |second: usize| {
                let rows = (0..a.heads.heads).flat_map(|h| (0..head).map(move |i| (2 * h + second) * head + i));
                RowOrder::Listed(rows.collect())
            };
            let query_rows = if a.gated { of_heads(0) } else { order(query) };
            parts.push((name(block::QUERY), both, query_rows));
            if !matches!(a.source, Source::Layer(_)) {
                parts.push((name(block::KEY), [kv, width], order(kv)));
            }
            if a.source == Source::Own {
                parts.push((name(block::VALUE), [kv, width], RowOrder::All));
            }
            if a.gated {
                parts.push((name(block::QUERY), both, of_heads(1)));
            }
        }
        let bias = match a.bias {
            false => None,
            true => {
                let rows = [(block::QUERY_BIAS, query), (block::KEY_BIAS, kv), (block::VALUE_BIAS, kv)];
                let parts = rows.map(|(part, rows)| self.values(&name(part), &[rows]));
                let values = parts.into_iter().collect::<Result<Vec<_>>>()?.concat();
                Some(self.vector(&name(block::QUERY_BIAS), values)?)
            }
        };
        let has_keys = !matches!(a.source, Source::Layer(_));
        Ok(attention::Attention {
            heads: a.heads,
            input: self.stack(&parts)?,
            bias,
            query_norm: a.norms.then(|| self.norm(&name(block::QUERY_NORM), head)).transpose()?,
            key_norm: (a.norms && has_keys).then(|| self.norm(&name(block::KEY_NORM), head)).transpose()?,
            value_norm: (a.value_norm && has_keys).then(|| self.vector("", vec![1.0; head])).transpose()?,
            epsilon: self.d.epsilon,
            rotary: a.rotary,
            window: a.window,
            scoring: a.scoring,
            gated: a.gated,
            source: a.source,
            output: self.matrix(&name(block::ATTENTION_OUT), &[width, query], RowOrder::All)?,
        })
    }

    fn delta_net(&self, layer: usize, net: &DeltaNet) -> Result<delta_net::DeltaNet<F>> {
        let name = |part: Part| self.names.block(layer, part);
        let ((key_heads, key), (heads, value)) = (net.key_heads, net.value_heads);
        let (width, mixed) = (self.d.width, 2 * key_heads * key + heads * value);
        let taps = match self.names {
            Names::Gguf => self.values(&name(block::NET_TAPS), &[mixed, net.taps])?,
            Names::Reference(_) => self.values(&name(block::NET_TAPS), &[mixed, 1, net.taps])?,
        };
        let tap = |t: usize| {
            let values = taps.iter().skip(t).step_by(net.taps).copied().collect();
            self.vector(&name(block::NET_TAPS), values)
        };
        let mut rates = self.values(&name(block::NET_RATES), &[heads])?;
        if !net.plain_rates {
            rates.iter_mut().for_each(|rate| *rate = -rate.exp());
        }
        let per_key_head = heads / key_heads;
        let key_head = |head: usize| if net.in_turns { head % key_heads } else { head / per_key_head };
        Ok(delta_net::DeltaNet {
            key_heads,
            key,
            value,
            key_head_of: (0..heads).map(key_head).collect(),
            input: self.stack(&[
                (name(block::NET_INPUT), [mixed, width], RowOrder::All),
                (name(block::NET_GATE), [heads * value, width], RowOrder::All),
                (name(block::NET_CORRECTION), [heads, width], RowOrder::All),
                (name(block::NET_FADING), [heads, width], RowOrder::All),
            ])?,
            taps: (0..net.taps).map(tap).collect::<Result<_>>()?,
            rates: self.vector(&name(block::NET_RATES), rates)?,
            step_bias: self.as_stored(&name(block::NET_STEP_BIAS), heads)?,
            norm: self.as_stored(&name(block::NET_NORM), value)?,
            epsilon: self.d.epsilon,
            output: self.matrix(&name(block::NET_OUT), &[width, heads * value], RowOrder::All)?,
        })
    }

    fn refuse_left_over(&self) -> Result<()> {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let output = self.names.whole(whole::OUTPUT);
        let is_spare = |name: &str| {
            let blocks = self.d.layers.len()..self.d.layers.len() + self.d.spare;
            blocks.into_iter().any(|block| name.starts_with(&self.names.block(block, ("", ""))))
        };
        let is_known = |name: &str| {
            used.contains(name)
                || !self.names.is_decoders(name)
                || name == output
                || is_spare(name)
                || self.is_of_shared_keys(name)
        };
        match self.weights.names().find(|name| !is_known(name)) {
            None => Ok(()),
            Some(name) => Err(Error::input(format!("the model has a tensor that its family does not use: {name}"))
                .file(self.weights.path_of(name))
                .expected("a model of the family's plain form, without experts, adapters or biases of its own")
                .into()),
        }
    }

    /// Whether a tensor makes keys or values of a layer that has them from another: checkpoints hold them all the same.
    fn is_of_shared_keys(&self, name: &str) -> bool {
        self.d.layers.iter().enumerate().any(|(layer, described)| {
            let description::Mixer::Attention(Attention { source: Source::Layer(_), .. }) = &described.mixer else {
                return false;
            };
            let parts = [block::KEY, block::VALUE, block::KEY_NORM, ("self_attn.v_norm.weight", "attn_v_norm.weight")];
            parts.into_iter().any(|part| self.names.block(layer, part) == name)
        })
    }
}

/// Rows of each head from interleaved pairs (0, 1), (2, 3), ... to halves: all first elements, then all second ones.
///
/// Attention scores are the same, as queries and keys are reordered alike; of each head the first `turned` rows are paired.
fn unpaired(rows: usize, head: usize, turned: usize) -> RowOrder {
    let half = turned / 2;
    let source = |i: usize| match i {
        i if i < half => 2 * i,
        i if i < turned => 2 * (i - half) + 1,
        i => i,
    };
    let order = (0..rows / head.max(1)).flat_map(|h| (0..head).map(move |i| h * head + source(i)));
    RowOrder::Listed(order.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpaired_takes_even_rows_then_odd_rows_of_each_head() {
        let order = |rows, head, turned| match unpaired(rows, head, turned) {
            RowOrder::Listed(order) => order,
            _ => Vec::new(),
        };
        assert_eq!(order(8, 4, 4), [0, 2, 1, 3, 4, 6, 5, 7]);
        assert_eq!(order(6, 6, 4), [0, 2, 1, 3, 4, 5]);
    }
}
