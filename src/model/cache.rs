//! The cache: what the decoder keeps of every token position.
//!
//! In: keys, values and final hidden states, by node of the prefix tree. Out: slices of them.
//! One arena a layer, indexed by node, written in place; key and value heads are stored once, however many query heads
//! share them.

use super::tree::NodeId;

/// Keys and values of all layers, and the final hidden state, by node.
#[derive(Debug)]
pub struct Cache {
    kv_width: usize,
    state_width: usize,
    slots: usize,
    keys: Vec<Vec<f32>>,
    values: Vec<Vec<f32>>,
    states: Vec<f32>,
}

impl Cache {
    /// An empty cache for `layers` layers, keys of `kv_width` floats and hidden states of `state_width` floats.
    pub fn new(layers: usize, kv_width: usize, state_width: usize) -> Cache {
        Cache {
            kv_width,
            state_width,
            slots: 0,
            keys: vec![Vec::new(); layers],
            values: vec![Vec::new(); layers],
            states: Vec::new(),
        }
    }

    /// Bytes that one position takes.
    pub fn bytes_per_position(layers: usize, kv_width: usize, state_width: usize) -> usize {
        (2 * layers * kv_width + state_width) * size_of::<f32>()
    }

    /// Makes room for `slots` positions.
    pub fn reserve(&mut self, slots: usize) {
        if slots <= self.slots {
            return;
        }
        // By at least an eighth, so that growing stays rare and little is wasted.
        let slots = slots.max(self.slots + self.slots / 8).max(256);
        for arena in self.keys.iter_mut().chain(&mut self.values) {
            arena.reserve_exact(slots * self.kv_width - arena.len());
            arena.resize(slots * self.kv_width, 0.0);
        }
        self.states.reserve_exact(slots * self.state_width - self.states.len());
        self.states.resize(slots * self.state_width, 0.0);
        self.slots = slots;
    }

    /// A layer's keys and values, each `[slots, kv_width]`.
    pub fn layer(&self, layer: usize) -> (&[f32], &[f32]) {
        let empty: &[f32] = &[];
        (self.keys.get(layer).map_or(empty, |k| k), self.values.get(layer).map_or(empty, |v| v))
    }

    /// One position's key and value at a layer, to be written.
    pub fn position_mut(&mut self, layer: usize, node: NodeId) -> Option<(&mut [f32], &mut [f32])> {
        let from = node as usize * self.kv_width;
        let range = from..from + self.kv_width;
        Some((self.keys.get_mut(layer)?.get_mut(range.clone())?, self.values.get_mut(layer)?.get_mut(range)?))
    }

    /// One position's final hidden state (after the final norm).
    pub fn state(&self, node: NodeId) -> &[f32] {
        let from = node as usize * self.state_width;
        self.states.get(from..from + self.state_width).unwrap_or(&[])
    }

    /// The same, to be written.
    pub fn state_mut(&mut self, node: NodeId) -> &mut [f32] {
        let from = node as usize * self.state_width;
        self.states.get_mut(from..from + self.state_width).unwrap_or(&mut [])
    }
}
