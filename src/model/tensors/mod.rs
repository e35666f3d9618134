//! The decoder in tensors, for devices: the same families, rows and prefix tree as on the CPU.
//!
//! In: rows, and the arenas that hold what came before them. Out: keys, values, states and final hidden states in the
//! arenas; distributions.
//! Weights, keys and values are in the place's type and are multiplied in it; hidden states, norms, scores and recurrent
//! states are in f32. Library products block over the batch as they see fit, so results are equal within rounding from
//! batch to batch, and not the same bits as [`super::decoder`]'s are. Embeddings are looked up in the file, as there.
//!
//! | file | holds |
//! |---|---|
//! | `place` | a device and a type; weights as tensors |
//! | `arenas` | what is kept of positions |
//! | `batch`, `looks`, `waves` | the rows of a pass: slots to gather, order of recurrent states |
//! | `attention`, `delta_net` | the mixers |
//! | `rows` | norm, rotation, activation |

mod arenas;
mod attention;
mod batch;
mod delta_net;
mod looks;
mod place;
mod rows;
mod waves;

use candle_core::{Result, Tensor};
use rayon::prelude::*;

use super::candle::said;
use super::decoder::cache::Cache;
use super::decoder::per_layer::PerLayer;
use super::decoder::{Block, Captured, Decoder, Row};
use super::engine::{Engine, Sizes};
use super::scores::Distribution;
use super::tree::NodeId;
use crate::Error;
use arenas::{Arenas, write};
use batch::Batch;
use place::Mixer;
pub use place::Place;
use rows::{activate, rms_norm};

/// Most logits that are copied from the device at once.
const LOGITS: usize = 1 << 24;

/// A decoder whose weights are tensors on a device.
#[derive(Debug)]
pub struct OnDevice {
    /// Name of the model, for messages.
    name: String,
    decoder: Decoder<Place>,
    place: Place,
}

impl OnDevice {
    /// Of a decoder that was built in the form of `place`; `name` is the model's name in the plan.
    pub fn new(name: &str, decoder: Decoder<Place>, place: Place) -> OnDevice {
        OnDevice { name: name.to_string(), decoder, place }
    }

    /// An engine that remembers nothing yet.
    ///
    /// # Errors
    /// [`Error::Model`] where the device has no room.
    pub fn begin(&self) -> crate::Result<Running<'_>> {
        let memory: Vec<_> = self.decoder.blocks.iter().map(|block| block.mixer.memory()).collect();
        let (position, state) = Cache::bytes(&memory, self.decoder.width);
        let sizes = Sizes {
            width: self.decoder.width,
            layers: self.decoder.blocks.len(),
            position_bytes: position / size_of::<f32>() * self.place.dtype.size_in_bytes(),
            state_bytes: state,
        };
        let arenas = Arenas::new(&memory, self.decoder.width, &self.place);
        Ok(Running { of: self, sizes, arenas: arenas.map_err(|error| self.failed(error))? })
    }

    fn failed(&self, error: candle_core::Error) -> Error {
        Error::Model { model: self.name.clone(), what: said(error) }
    }

    /// Embeddings of the rows, from the file.
    fn embed(&self, rows: &[Row<'_>]) -> Result<Tensor> {
        let (table, scale) = (&self.decoder.embedding, self.decoder.embedding_scale);
        let values = lookup(rows, table.columns(), |token, out| table.row(token, out), scale);
        self.place.floats(values, &[rows.len(), table.columns()])
    }

    /// The rows' per-layer vectors `[rows, layers * width]`.
    fn per_layer(&self, all: &PerLayer<Place>, rows: &[Row<'_>], embeddings: &Tensor) -> Result<Tensor> {
        let columns = all.table.columns();
        let entries = lookup(rows, columns, |token, out| all.table.row(token, out), all.table_scale);
        let entries = self.place.floats(entries, &[rows.len(), columns])?;
        let projected = (all.projection.apply(embeddings)? * f64::from(all.projection_scale))?;
        let vectors = rms_norm(&projected.reshape(((), all.width))?, &all.norm, all.epsilon)?;
        (vectors.reshape((rows.len(), columns))? + entries)? * std::f64::consts::FRAC_1_SQRT_2
    }

    fn feed_forward(&self, block: &Block<Place>, normed: &Tensor) -> Result<Tensor> {
        let product = block.gate_up.apply_raw(normed)?;
        let (gate, up) = (product.narrow(1, 0, block.inner)?, product.narrow(1, block.inner, block.inner)?);
        block.down.apply(&(activate(self.decoder.activation, &gate)? * up)?)
    }

    /// A hidden state after something is added to it, through a norm of its own where it has one.
    fn add(&self, hidden: &Tensor, sum: Tensor, norm: Option<&Tensor>) -> Result<Tensor> {
        match norm {
            Some(norm) => hidden + rms_norm(&sum, norm, self.decoder.epsilon)?,
            None => hidden + sum,
        }
    }
}

/// Rows of a table of so many columns, by token, multiplied by `scale`.
fn lookup(rows: &[Row<'_>], columns: usize, row: impl Fn(usize, &mut [f32]) + Sync, scale: f32) -> Vec<f32> {
    let mut values = vec![0f32; rows.len() * columns];
    values.par_chunks_exact_mut(columns.max(1)).zip(rows.par_iter()).for_each(|(out, of)| {
        row(of.token as usize, out);
        out.iter_mut().for_each(|x| *x *= scale);
    });
    values
}

/// An engine on a device.
#[derive(Debug)]
pub struct Running<'a> {
    of: &'a OnDevice,
    sizes: Sizes,
    arenas: Arenas,
}

impl Running<'_> {
    fn compute(&mut self, rows: &[Row<'_>], slots: usize) -> Result<Vec<Captured>> {
        let OnDevice { decoder, place, .. } = self.of;
        self.arenas.reserve(slots)?;
        let batch = Batch::new(rows, decoder, &mut self.arenas.states, place)?;
        self.arenas.reserve_states()?;
        let wanted: Vec<u32> = (0u32..).zip(rows).filter(|(_, row)| row.capture).map(|(i, _)| i).collect();
        let count = wanted.len();
        let wanted = if count > 0 { Some(place.indexes(wanted)?) } else { None };
        let mut captured = Vec::new();
        let mut capture = |states: &Tensor| match &wanted {
            Some(wanted) => states.index_select(wanted, 0).map(|states| captured.push(states)),
            None => Ok(()),
        };
        let mut hidden = self.of.embed(rows)?;
        let vectors = decoder.per_layer.as_ref().map(|all| self.of.per_layer(all, rows, &hidden)).transpose()?;
        for (layer, block) in decoder.blocks.iter().enumerate() {
            capture(&hidden)?;
            let normed = rms_norm(&hidden, &block.mixer_norm, decoder.epsilon)?;
            let mixed = match &block.mixer {
                Mixer::Attention(attention) => attention.mix_tensors(layer, &batch, &normed, &self.arenas)?,
                Mixer::DeltaNet(net) => net.mix_tensors(layer, &batch, &normed, &self.arenas)?,
            };
            hidden = self.of.add(&hidden, mixed, block.mixer_post_norm.as_ref())?;
            let normed = rms_norm(&hidden, &block.inner_norm, decoder.epsilon)?;
            hidden = self.of.add(&hidden, self.of.feed_forward(block, &normed)?, block.inner_post_norm.as_ref())?;
            if let (Some(all), Some(vectors), Some(gate)) = (&decoder.per_layer, &vectors, &block.per_layer) {
                let gated = activate(decoder.activation, &gate.gate.apply(&hidden)?)?;
                let gated = (gated * vectors.narrow(1, layer * all.width, all.width)?)?;
                hidden = self.of.add(&hidden, gate.projection.apply(&gated)?, Some(&gate.norm))?;
            }
            if block.scale != 1.0 {
                hidden = (hidden * f64::from(block.scale))?;
            }
        }
        let last = rms_norm(&hidden, &decoder.final_norm, decoder.epsilon)?;
        capture(&last)?;
        write(&self.arenas.finals, batch.slots(), &last)?;
        if count == 0 {
            return Ok(Vec::new());
        }
        let states = Tensor::stack(&captured, 1)?.flatten_all()?.to_vec1::<f32>()?;
        Ok(states.chunks_exact((states.len() / count).max(1)).map(<[f32]>::to_vec).collect())
    }

    fn score(&self, nodes: &[NodeId]) -> Result<Vec<Distribution>> {
        let OnDevice { decoder, place, .. } = self.of;
        let mut distributions = Vec::with_capacity(nodes.len());
        for nodes in nodes.chunks((LOGITS / decoder.vocabulary.max(1)).max(1)) {
            let states = self.arenas.finals.index_select(&place.indexes(nodes.to_vec())?, 0)?;
            let logits = decoder.output.apply(&states)?.flatten_all()?.to_vec1::<f32>()?;
            let rows = logits.par_chunks_exact(decoder.vocabulary);
            distributions.par_extend(rows.map(|logits| Distribution::of_logits(logits, decoder.logit_cap)));
        }
        Ok(distributions)
    }
}

impl Engine for Running<'_> {
    fn sizes(&self) -> Sizes {
        self.sizes
    }

    fn forward(&mut self, rows: &[Row<'_>], slots: usize) -> crate::Result<Vec<Captured>> {
        self.compute(rows, slots).map_err(|error| self.of.failed(error))
    }

    fn distributions(&mut self, nodes: &[NodeId]) -> crate::Result<Vec<Distribution>> {
        self.score(nodes).map_err(|error| self.of.failed(error))
    }

    fn forget(&mut self, node: NodeId) {
        self.arenas.states.forget(node);
    }
}
