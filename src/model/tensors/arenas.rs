//! Arenas: what is kept of positions on a device.
//!
//! In: keys, values, recurrent states and final hidden states, with the slots that they go to. Out: tensors `[slots, width]`.
//! They are written in place; a step copies nothing but what it adds. Slots are those of the CPU's cache.

use candle_core::{DType, Result, Tensor};

use super::super::decoder::cache::{Memory, Slots};
use super::place::Place;

/// What one layer keeps.
#[derive(Debug)]
pub enum Kept {
    /// Keys and values by node, in the place's type.
    KeysValues { keys: Tensor, values: Tensor },
    /// Heads' states and past inputs by slot, in f32. The first slot is never written: zeros, where a path begins.
    State { heads: Tensor, inputs: Tensor },
    /// Nothing of its own.
    Nothing,
}

/// What is kept of all layers, and the final hidden state, by node.
#[derive(Debug)]
pub struct Arenas {
    /// By layer.
    pub layers: Vec<Kept>,
    /// Final hidden states, in the place's type.
    pub finals: Tensor,
    /// Which slot holds which node's recurrent state; each lies one further in the arenas.
    pub states: Slots,
    slots: usize,
    state_slots: usize,
}

impl Arenas {
    /// Empty arenas for layers that keep `memory`, and hidden states of `width` floats.
    pub fn new(memory: &[Memory], width: usize, place: &Place) -> Result<Arenas> {
        let zeros = |width: usize, dtype: DType| Tensor::zeros((1, width), dtype, &place.device);
        let layer = |memory: &Memory| {
            Ok(match *memory {
                Memory::KeysValues(width) => {
                    Kept::KeysValues { keys: zeros(width, place.dtype)?, values: zeros(width, place.dtype)? }
                }
                Memory::State { heads, head, inputs } => {
                    Kept::State { heads: zeros(heads * head, DType::F32)?, inputs: zeros(inputs, DType::F32)? }
                }
                Memory::Nothing => Kept::Nothing,
            })
        };
        let layers = memory.iter().map(layer).collect::<Result<_>>()?;
        Ok(Arenas { layers, finals: zeros(width, place.dtype)?, states: Slots::default(), slots: 1, state_slots: 1 })
    }

    /// Makes room for `slots` positions.
    pub fn reserve(&mut self, slots: usize) -> Result<()> {
        if slots <= self.slots {
            return Ok(());
        }
        // By at least an eighth, so that growing stays rare and little is wasted.
        let slots = slots.max(self.slots + self.slots / 8).max(256);
        for layer in &mut self.layers {
            if let Kept::KeysValues { keys, values } = layer {
                grow(keys, slots)?;
                grow(values, slots)?;
            }
        }
        grow(&mut self.finals, slots)?;
        self.slots = slots;
        Ok(())
    }

    /// Makes room for the states that [`Arenas::states`] counts.
    pub fn reserve_states(&mut self) -> Result<()> {
        let slots = self.states.count() + 1;
        if slots <= self.state_slots {
            return Ok(());
        }
        let slots = slots.max(self.state_slots + self.state_slots / 8);
        for layer in &mut self.layers {
            if let Kept::State { heads, inputs } = layer {
                grow(heads, slots)?;
                grow(inputs, slots)?;
            }
        }
        self.state_slots = slots;
        Ok(())
    }
}

fn grow(arena: &mut Tensor, slots: usize) -> Result<()> {
    let grown = Tensor::zeros((slots, arena.dim(1)?), arena.dtype(), arena.device())?;
    grown.slice_set(arena, 0, 0)?;
    *arena = grown;
    Ok(())
}

/// Writes rows `[n, width]` to slots `[n]`, each slot once.
pub fn write(arena: &Tensor, slots: &Tensor, rows: &Tensor) -> Result<()> {
    let rows = rows.to_dtype(arena.dtype())?.contiguous()?;
    let slots = slots.unsqueeze(1)?.broadcast_as(rows.shape())?.contiguous()?;
    arena.scatter_set(&slots, &rows, 0)
}
