//! The rows of one pass, and what all layers need to know of them, on the device.
//!
//! In: rows and the decoder. Out: slots, angles, looks and waves, each made once a pass and used by every layer like it.

use candle_core::Result;
use candle_core::Tensor;

use super::super::decoder::cache::{Slots, Step};
use super::super::decoder::{Decoder, Row};
use super::looks::{self, Kind, Look};
use super::place::{Mixer, Place};
use super::rows::Angles;
use super::waves::{self, Waves};

/// The rows of one pass.
#[derive(Debug)]
pub struct Batch<'a> {
    /// The rows.
    pub rows: &'a [Row<'a>],
    slots: Tensor,
    angles: Vec<Angles>,
    looks: Vec<(Kind, Vec<Look>)>,
    /// By number of taps.
    waves: Vec<(usize, Waves)>,
}

impl<'a> Batch<'a> {
    /// Of these rows, whose recurrent states get slots among `states`.
    pub fn new(rows: &'a [Row<'a>], decoder: &Decoder<Place>, states: &mut Slots, place: &Place) -> Result<Batch<'a>> {
        let mut looks: Vec<(Kind, Vec<Look>)> = Vec::new();
        let mut waves: Vec<(usize, Waves)> = Vec::new();
        let mut steps: Option<Vec<Step>> = None;
        for block in &decoder.blocks {
            match &block.mixer {
                Mixer::Attention(attention) => {
                    let kind = Kind::of(attention);
                    if !looks.iter().any(|(known, _)| *known == kind) {
                        looks.push((kind, looks::of(rows, kind, place)?));
                    }
                }
                Mixer::DeltaNet(net) => {
                    let steps = steps.get_or_insert_with(|| rows.iter().filter_map(|row| step(row, states)).collect());
                    let taps = net.taps.len();
                    if !waves.iter().any(|(known, _)| *known == taps) {
                        waves.push((taps, waves::of(rows, steps, taps.saturating_sub(1), place)?));
                    }
                }
            }
        }
        let slots = rows.iter().filter_map(|row| row.path.last().copied()).collect();
        let angles = decoder.rotaries.iter().map(|rotary| {
            let pairs = rotary.frequencies.len();
            let (mut cos, mut sin) = (Vec::with_capacity(rows.len() * pairs), Vec::with_capacity(rows.len() * pairs));
            let mut both = vec![0f32; rotary.len()];
            for row in rows {
                rotary.angles(row.path.len().saturating_sub(1), &mut both);
                let (of_cos, of_sin) = both.split_at(pairs);
                cos.extend_from_slice(of_cos);
                sin.extend_from_slice(of_sin);
            }
            let shape = [rows.len(), 1, pairs];
            Ok(Angles { cos: place.floats(cos, &shape)?, sin: place.floats(sin, &shape)? })
        });
        let angles = angles.collect::<Result<_>>()?;
        Ok(Batch { rows, slots: place.indexes(slots)?, angles, looks, waves })
    }

    /// The slot of each row.
    pub fn slots(&self) -> &Tensor {
        &self.slots
    }

    /// The angles of a rotation.
    pub fn angles(&self, rotary: usize) -> Option<&Angles> {
        self.angles.get(rotary)
    }

    /// The chunks of rows, with what attention of this kind looks back on.
    pub fn looks(&self, kind: Kind) -> &[Look] {
        self.looks.iter().find(|(known, _)| *known == kind).map_or(&[], |(_, looks)| looks)
    }

    /// The waves of rows, for delta nets whose convolution has so many taps.
    pub fn waves(&self, taps: usize) -> Option<&Waves> {
        self.waves.iter().find(|(known, _)| *known == taps).map(|(_, waves)| waves)
    }
}

fn step(row: &Row<'_>, states: &mut Slots) -> Option<Step> {
    let (&node, before) = row.path.split_last()?;
    Some(states.step(before.last().copied(), node, row.keep_before))
}
