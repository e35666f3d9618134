//! The engine: what computes rows for a job and remembers what it computed.
//!
//! In: rows of (token, path in the prefix tree). Out: next-token distributions and hidden states, by node.
//! Generation knows nothing else of the decoder, so that it runs on this processor and on a device alike.

use super::decoder::cache::Cache;
use super::decoder::{Captured, Decoder, Row, Workspace};
use super::scores::Distribution;
use super::tensors::OnDevice;
use super::tree::NodeId;
use crate::Result;

/// A decoder with the memory of one job.
pub trait Engine {
    /// Sizes that a job is planned by.
    fn sizes(&self) -> Sizes;

    /// Computes rows, of nodes below `slots`, and remembers them. Returns what rows with `capture` asked for, in row order.
    ///
    /// # Errors
    /// [`crate::Error::Model`] where a device fails, as when its memory is full.
    fn forward(&mut self, rows: &[Row<'_>], slots: usize) -> Result<Vec<Captured>>;

    /// The next-token distributions after these nodes, in order.
    ///
    /// # Errors
    /// As [`Engine::forward`].
    fn distributions(&mut self, nodes: &[NodeId]) -> Result<Vec<Distribution>>;

    /// A node is gone.
    fn forget(&mut self, node: NodeId);
}

/// Sizes of a decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Length of a hidden state.
    pub width: usize,
    /// Number of blocks.
    pub layers: usize,
    /// Bytes that one position takes.
    pub position_bytes: usize,
    /// Bytes that one recurrent state takes; 0 where there are none.
    pub state_bytes: usize,
}

impl Sizes {
    /// Whether positions leave recurrent states, so that only planned forks of a path can be followed.
    pub fn is_recurrent(&self) -> bool {
        self.state_bytes > 0
    }
}

/// A decoder's weights, where they are held.
#[derive(Debug)]
pub enum Loaded {
    /// Packed for this processor.
    Cpu(Decoder),
    /// As tensors on a device.
    Device(OnDevice),
}

impl Loaded {
    /// An engine that remembers nothing yet.
    ///
    /// # Errors
    /// [`crate::Error::Model`] where a device has no room.
    pub fn begin(&self) -> Result<Box<dyn Engine + '_>> {
        Ok(match self {
            Loaded::Cpu(decoder) => Box::new(OnCpu::new(decoder)),
            Loaded::Device(decoder) => Box::new(decoder.begin()?),
        })
    }
}

/// The engine on this processor.
#[derive(Debug)]
pub struct OnCpu<'a> {
    decoder: &'a Decoder,
    cache: Cache,
    work: Workspace,
}

impl<'a> OnCpu<'a> {
    /// One that remembers nothing yet.
    pub fn new(decoder: &'a Decoder) -> OnCpu<'a> {
        OnCpu { decoder, cache: decoder.cache(), work: Workspace::default() }
    }
}

impl Engine for OnCpu<'_> {
    fn sizes(&self) -> Sizes {
        let (position_bytes, state_bytes) = self.decoder.cache_bytes();
        Sizes { width: self.decoder.width, layers: self.decoder.blocks.len(), position_bytes, state_bytes }
    }

    fn forward(&mut self, rows: &[Row<'_>], slots: usize) -> Result<Vec<Captured>> {
        self.cache.reserve(slots);
        Ok(self.decoder.forward(rows, &mut self.cache, &mut self.work))
    }

    fn distributions(&mut self, nodes: &[NodeId]) -> Result<Vec<Distribution>> {
        Ok(self.decoder.distributions(nodes, &self.cache, &mut self.work))
    }

    fn forget(&mut self, node: NodeId) {
        self.cache.forget(node);
    }
}
