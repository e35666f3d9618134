//! The cache: what the decoder keeps of token positions.
//!
//! In: keys, values, recurrent states and final hidden states, by node of the prefix tree. Out: slices of them.
//! Keys and values: one arena a layer, indexed by node, written in place; key and value heads are stored once, however many
//! query heads share them. Recurrent states are larger, and a position's state is of use only to the positions right after
//! it: a state moves on to the next position, unless it must stay for another ([`Row::keep_before`](super::Row)).

use std::collections::HashMap;

use super::super::tree::NodeId;

/// What one layer keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// A key and a value of so many floats each, a position.
    KeysValues(usize),
    /// A recurrent state: so many heads of so many floats, and so many floats of past inputs.
    State {
        /// Heads.
        heads: usize,
        /// Floats of one head's state.
        head: usize,
        /// Floats of past inputs.
        inputs: usize,
    },
    /// Nothing of its own.
    Nothing,
}

impl Memory {
    fn floats_of_position(self) -> usize {
        if let Memory::KeysValues(width) = self { 2 * width } else { 0 }
    }

    fn floats_of_state(self) -> usize {
        if let Memory::State { heads, head, inputs } = self { heads * head + inputs } else { 0 }
    }
}

/// From which state to which a row goes; from nothing (zeros) at a path's beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Slot of the state before.
    pub from: Option<u32>,
    /// Slot of the state after; the same where the state moves on.
    pub to: u32,
}

/// The recurrent states of one layer.
#[derive(Debug, Default)]
pub struct States {
    /// One arena a head: `[slots, head]`.
    pub heads: Vec<Vec<f32>>,
    /// Past inputs, `[slots, inputs]`.
    pub inputs: Vec<f32>,
}

#[derive(Debug, Default)]
struct Layer {
    keys: Vec<f32>,
    values: Vec<f32>,
    states: States,
}

/// What is kept of all layers, and the final hidden state, by node.
#[derive(Debug)]
pub struct Cache {
    memory: Vec<Memory>,
    state_width: usize,
    slots: usize,
    layers: Vec<Layer>,
    finals: Vec<f32>,
    recurrent: bool,
    state_slots: Slots,
}

/// Which slot holds the recurrent state of which node.
#[derive(Debug, Default)]
pub struct Slots {
    of: HashMap<NodeId, u32>,
    free: Vec<u32>,
    count: u32,
}

impl Slots {
    /// Where the state of a node comes from and goes to; the state before it moves, or stays too where `keep_before` says so.
    pub fn step(&mut self, before: Option<NodeId>, node: NodeId, keep_before: bool) -> Step {
        let from = before.and_then(|before| self.of.get(&before).copied());
        let to = match (before, from) {
            (Some(before), Some(slot)) if !keep_before => {
                self.of.remove(&before);
                slot
            }
            _ => self.free.pop().unwrap_or_else(|| {
                self.count += 1;
                self.count - 1
            }),
        };
        self.of.insert(node, to);
        Step { from, to }
    }

    /// A node is gone, and its state with it.
    pub fn forget(&mut self, node: NodeId) {
        self.free.extend(self.of.remove(&node));
    }

    /// Slots that there must be.
    pub fn count(&self) -> usize {
        self.count as usize
    }
}

impl Cache {
    /// An empty cache for layers that keep `memory`, and hidden states of `state_width` floats.
    pub fn new(memory: Vec<Memory>, state_width: usize) -> Cache {
        let layer = |memory: &Memory| match memory {
            Memory::State { heads, .. } => {
                Layer { states: States { heads: vec![Vec::new(); *heads], inputs: Vec::new() }, ..Layer::default() }
            }
            _ => Layer::default(),
        };
        Cache {
            layers: memory.iter().map(layer).collect(),
            recurrent: memory.iter().any(|memory| memory.floats_of_state() > 0),
            memory,
            state_width,
            slots: 0,
            finals: Vec::new(),
            state_slots: Slots::default(),
        }
    }

    /// Bytes that one position takes, and those that one recurrent state takes.
    pub fn bytes(memory: &[Memory], state_width: usize) -> (usize, usize) {
        let position: usize = memory.iter().map(|m| m.floats_of_position()).sum();
        let state: usize = memory.iter().map(|m| m.floats_of_state()).sum();
        ((position + state_width) * size_of::<f32>(), state * size_of::<f32>())
    }

    /// Makes room for `slots` positions.
    pub fn reserve(&mut self, slots: usize) {
        if slots <= self.slots {
            return;
        }
        // By at least an eighth, so that growing stays rare and little is wasted.
        let slots = slots.max(self.slots + self.slots / 8).max(256);
        for (layer, memory) in self.layers.iter_mut().zip(&self.memory) {
            if let Memory::KeysValues(width) = memory {
                grow(&mut layer.keys, slots * width);
                grow(&mut layer.values, slots * width);
            }
        }
        grow(&mut self.finals, slots * self.state_width);
        self.slots = slots;
    }

    /// A layer's keys and values, each `[slots, width]`.
    pub fn layer(&self, layer: usize) -> (&[f32], &[f32]) {
        self.layers.get(layer).map_or((&[], &[]), |layer| (&layer.keys, &layer.values))
    }

    /// One position's key and value at a layer, to be written.
    pub fn position_mut(&mut self, layer: usize, node: NodeId) -> Option<(&mut [f32], &mut [f32])> {
        let Some(Memory::KeysValues(width)) = self.memory.get(layer) else { return None };
        let from = node as usize * width;
        let range = from..from + width;
        let layer = self.layers.get_mut(layer)?;
        Some((layer.keys.get_mut(range.clone())?, layer.values.get_mut(range)?))
    }

    /// One position's final hidden state (after the final norm).
    pub fn state(&self, node: NodeId) -> &[f32] {
        let from = node as usize * self.state_width;
        self.finals.get(from..from + self.state_width).unwrap_or(&[])
    }

    /// The same, to be written.
    pub fn state_mut(&mut self, node: NodeId) -> &mut [f32] {
        let from = node as usize * self.state_width;
        self.finals.get_mut(from..from + self.state_width).unwrap_or(&mut [])
    }

    /// A layer's recurrent states, to be written.
    pub fn states_mut(&mut self, layer: usize) -> Option<&mut States> {
        self.layers.get_mut(layer).map(|layer| &mut layer.states)
    }

    /// Where the recurrent state of a node comes from and goes to ([`Slots::step`]); None where no layer has one.
    pub fn step(&mut self, before: Option<NodeId>, node: NodeId, keep_before: bool) -> Option<Step> {
        if !self.recurrent {
            return None;
        }
        let slots = self.state_slots.count();
        let step = self.state_slots.step(before, node, keep_before);
        if self.state_slots.count() > slots {
            self.add_state();
        }
        Some(step)
    }

    /// A node is gone, and its recurrent state with it.
    pub fn forget(&mut self, node: NodeId) {
        self.state_slots.forget(node);
    }

    fn add_state(&mut self) {
        let slots = self.state_slots.count();
        for (layer, memory) in self.layers.iter_mut().zip(&self.memory) {
            if let Memory::State { head, inputs, .. } = memory {
                layer.states.heads.iter_mut().for_each(|arena| grow(arena, slots * head));
                grow(&mut layer.states.inputs, slots * inputs);
            }
        }
    }
}

fn grow(arena: &mut Vec<f32>, floats: usize) {
    arena.reserve_exact(floats.saturating_sub(arena.len()));
    arena.resize(floats, 0.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_moves_on_unless_it_must_stay() {
        let mut cache = Cache::new(vec![Memory::State { heads: 2, head: 4, inputs: 3 }, Memory::KeysValues(8)], 5);
        assert_eq!(cache.step(None, 0, false), Some(Step { from: None, to: 0 }));
        assert_eq!(cache.step(Some(0), 1, false), Some(Step { from: Some(0), to: 0 }));
        // Node 1 is followed by 2 and by 3.
        assert_eq!(cache.step(Some(1), 2, true), Some(Step { from: Some(0), to: 1 }));
        assert_eq!(cache.step(Some(1), 3, true), Some(Step { from: Some(0), to: 2 }));
        cache.forget(2);
        assert_eq!(cache.step(Some(3), 4, true), Some(Step { from: Some(2), to: 1 }));
        assert_eq!(cache.states_mut(0).unwrap().heads[1].len(), 12);
        assert_eq!(Cache::bytes(&[Memory::State { heads: 2, head: 4, inputs: 3 }, Memory::KeysValues(8)], 5), (84, 44));
        assert_eq!(Cache::new(vec![Memory::KeysValues(8)], 5).step(None, 0, false), None);
    }
}
