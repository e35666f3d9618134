//! Attention of rows along their paths, in tensors.
//!
//! In: normed rows. Out: what the output projection makes of them, and keys and values in the arenas.
//! Query heads that share a key head are rows of one product with it, so that no key or value is repeated.

use candle_core::{DType, Error, Result, Tensor};
use candle_nn::ops;

use super::super::decoder::attention::{Attention, Source};
use super::arenas::{Arenas, Kept, write};
use super::batch::Batch;
use super::looks::{Kind, Look};
use super::place::Place;
use super::rows::{cap, norm_heads};

impl Attention<Place> {
    /// What is to be added to the rows' hidden states, in f32.
    pub fn mix_tensors(&self, layer: usize, batch: &Batch<'_>, normed: &Tensor, arenas: &Arenas) -> Result<Tensor> {
        let product = self.input.apply(normed)?;
        let (query_width, key_width) = (self.query_width(), self.key_width());
        let part = |from: usize, width: usize| product.narrow(1, from, width);
        let values_from = match self.source {
            Source::Own => query_width + key_width,
            _ => query_width,
        };
        if !matches!(self.source, Source::Layer(_)) {
            let (key, value) = (part(query_width, key_width)?, part(values_from, key_width)?);
            self.store(layer, batch, (&key, &value), arenas)?;
        }
        let query = self.heads_of(&part(0, query_width)?, 0, self.query_norm.as_ref())?;
        let query = (self.turned(query, batch)? * f64::from(self.scoring.scale))?;
        let source = if let Source::Layer(other) = self.source { other } else { layer };
        let Some(Kept::KeysValues { keys, values }) = arenas.layers.get(source) else {
            return Err(Error::Msg(format!("layer {source} keeps no keys")));
        };
        let looks = batch.looks(Kind::of(self));
        let looked = looks.iter().map(|look| self.look(look, &query, keys, values)).collect::<Result<Vec<_>>>()?;
        let mut mixed = Tensor::cat(&looked, 0)?;
        if self.gated {
            let gates_from = match self.source {
                Source::Layer(_) => query_width,
                _ => values_from + key_width,
            };
            mixed = (mixed * ops::sigmoid(&part(gates_from, query_width)?)?)?;
        }
        self.output.apply(&mixed)
    }

    /// Writes the rows' keys, normed and turned, and values to their slots.
    fn store(&self, layer: usize, batch: &Batch<'_>, rows: (&Tensor, &Tensor), arenas: &Arenas) -> Result<()> {
        let Some(Kept::KeysValues { keys, values }) = arenas.layers.get(layer) else { return Ok(()) };
        let (width, key_width) = (self.query_width(), self.key_width());
        let key = self.turned(self.heads_of(rows.0, width, self.key_norm.as_ref())?, batch)?;
        let value = self.heads_of(rows.1, width + key_width, self.value_norm.as_ref())?;
        write(keys, batch.slots(), &key.flatten_from(1)?)?;
        write(values, batch.slots(), &value.flatten_from(1)?)
    }

    /// Projected rows as heads, after the bias from `bias_from` on and a norm, as far as there are such.
    fn heads_of(&self, rows: &Tensor, bias_from: usize, norm: Option<&Tensor>) -> Result<Tensor> {
        let (n, width) = rows.dims2()?;
        let rows = match &self.bias {
            Some(bias) => rows.broadcast_add(&bias.narrow(0, bias_from, width)?)?,
            None => rows.clone(),
        };
        norm_heads(rows.reshape((n, width / self.heads.head, self.heads.head))?, norm, self.epsilon)
    }

    fn turned(&self, heads: Tensor, batch: &Batch<'_>) -> Result<Tensor> {
        match self.rotary.and_then(|rotary| batch.angles(rotary)) {
            Some(angles) => angles.rotate(&heads),
            None => Ok(heads),
        }
    }

    /// The heads' outputs `[rows, heads * head]` of a chunk, in f32.
    fn look(&self, look: &Look, query: &Tensor, keys: &Tensor, values: &Tensor) -> Result<Tensor> {
        let (n, kv_heads, head) = (look.rows.len(), self.heads.kv_heads, self.heads.head);
        let group = self.heads.heads / kv_heads;
        let seen = |arena: &Tensor| {
            arena.reshape(((), head))?.index_select(&look.places, 0)?.reshape((n * kv_heads, look.length, head))
        };
        let query = query.narrow(0, look.rows.start, n)?.reshape((n * kv_heads, group, head))?;
        let keys = seen(keys)?;
        let scores = query.to_dtype(keys.dtype())?.contiguous()?.matmul(&keys.transpose(1, 2)?)?;
        let mut scores = scores.to_dtype(DType::F32)?;
        if let Some(most) = self.scoring.cap {
            scores = cap(&scores, most)?;
        }
        if let Some(mask) = &look.mask {
            scores = scores.reshape((n, kv_heads, group, look.length))?.broadcast_add(mask)?;
        }
        let weights = ops::softmax_last_dim(&scores.reshape((n * kv_heads, group, look.length))?)?;
        let values = seen(values)?;
        let out = weights.to_dtype(values.dtype())?.matmul(&values)?;
        out.reshape((n, self.query_width()))?.to_dtype(DType::F32)
    }
}
