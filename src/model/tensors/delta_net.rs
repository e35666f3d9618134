//! The gated delta net on rows, in tensors.
//!
//! In: normed rows. Out: what the output projection makes of them, and states in the arenas.
//! All is computed for all rows at once but the states, which go wave by wave. The formulas are those of the CPU's code.

use candle_core::{Error, Result, Tensor};
use candle_nn::ops;

use super::super::decoder::delta_net::{DeltaNet, UNIT_EPSILON};
use super::arenas::{Arenas, Kept, write};
use super::batch::Batch;
use super::place::Place;
use super::rows::rms_norm;
use super::waves::{Inputs, Waves};

/// What the states are moved on with, `[rows, heads, ...]`.
struct Moves {
    query: Tensor,
    key: Tensor,
    value: Tensor,
    fade: Tensor,
    correction: Tensor,
}

impl DeltaNet<Place> {
    /// What is to be added to the rows' hidden states, in f32.
    pub fn mix_tensors(&self, layer: usize, batch: &Batch<'_>, normed: &Tensor, arenas: &Arenas) -> Result<Tensor> {
        let (Some(Kept::State { heads: states, inputs }), Some(waves)) =
            (arenas.layers.get(layer), batch.waves(self.taps.len()))
        else {
            return Err(Error::Msg(format!("layer {layer} keeps no states")));
        };
        let product = self.input.apply(normed)?;
        let (rows, heads, value) = (product.dim(0)?, self.value_heads(), self.value);
        let (mixed, width) = (self.mixed_width(), heads * value);
        let convolved = self.convolve(&product.narrow(1, 0, mixed)?.contiguous()?, inputs, &waves.inputs)?;
        let correction = ops::sigmoid(&product.narrow(1, mixed + width, heads)?)?;
        let step = product.narrow(1, mixed + width + heads, heads)?.broadcast_add(&self.step_bias)?;
        let fade = softplus(&step)?.broadcast_mul(&self.rates)?.exp()?;
        let moves = self.moves(&convolved, fade, correction)?;
        let out = self.advance(moves, states, waves)?;
        let gates = product.narrow(1, mixed, width)?.reshape((rows, heads, value))?.silu()?;
        let mixed = (rms_norm(&out, &self.norm, self.epsilon)? * gates)?;
        self.output.apply(&mixed.reshape((rows, width))?)
    }

    /// Queries, keys and values of every row after the convolution; moves the past inputs on.
    fn convolve(&self, now: &Tensor, arena: &Tensor, inputs: &Inputs) -> Result<Tensor> {
        let width = self.mixed_width();
        let past = arena.index_select(&inputs.slots, 0)?.reshape(((), width))?;
        let pool = Tensor::cat(&[now, &past], 0)?;
        let Some((present, taps)) = self.taps.split_last() else { return now.silu() };
        let mut sum = now.broadcast_mul(present)?;
        for (tap, places) in taps.iter().zip(&inputs.before) {
            sum = (sum + pool.index_select(places, 0)?.broadcast_mul(tap)?)?;
        }
        let after = pool.index_select(&inputs.after, 0)?.reshape((inputs.to.dim(0)?, taps.len() * width))?;
        write(arena, &inputs.to, &after)?;
        sum.silu()
    }

    fn moves(&self, convolved: &Tensor, fade: Tensor, correction: Tensor) -> Result<Moves> {
        let (rows, heads) = (convolved.dim(0)?, self.value_heads());
        let keys = self.key_heads * self.key;
        let of_heads = self.key_head_of.iter().map(|&head| head as u32).collect::<Vec<u32>>();
        let of_heads = Tensor::from_vec(of_heads, heads, convolved.device())?;
        // Of length 1, for each value head.
        let unit = |from: usize| {
            let x = convolved.narrow(1, from, keys)?.reshape((rows, self.key_heads, self.key))?;
            let length = (x.sqr()?.sum_keepdim(2)? + f64::from(UNIT_EPSILON))?.sqrt()?;
            x.broadcast_div(&length)?.index_select(&of_heads, 1)
        };
        Ok(Moves {
            query: (unit(0)? / (self.key as f64).sqrt())?,
            key: unit(keys)?,
            value: convolved.narrow(1, 2 * keys, heads * self.value)?.reshape((rows, heads, self.value))?,
            fade,
            correction,
        })
    }

    /// What the queries read, `[rows, heads, value]`; moves the states on.
    fn advance(&self, moves: Moves, states: &Tensor, waves: &Waves) -> Result<Tensor> {
        let (heads, key, value) = (self.value_heads(), self.key, self.value);
        let ordered = |x: &Tensor| x.contiguous()?.index_select(&waves.order, 0);
        let [query, keys, values] = [ordered(&moves.query)?, ordered(&moves.key)?, ordered(&moves.value)?];
        let [fade, correction] = [ordered(&moves.fade)?, ordered(&moves.correction)?];
        let mut read = Vec::with_capacity(waves.lengths.len());
        let mut first = 0;
        for &n in &waves.lengths {
            let of_wave = |x: &Tensor| x.narrow(0, first, n);
            let all = n * heads;
            let key_row = of_wave(&keys)?.reshape((all, 1, key))?;
            let state = states.index_select(&of_wave(&waves.from)?, 0)?.reshape((all, key, value))?;
            let state = state.broadcast_mul(&of_wave(&fade)?.reshape((all, 1, 1))?)?;
            let held = key_row.matmul(&state)?;
            let delta = (of_wave(&values)?.reshape((all, 1, value))? - held)?;
            let delta = delta.broadcast_mul(&of_wave(&correction)?.reshape((all, 1, 1))?)?;
            let state = (state + key_row.reshape((all, key, 1))?.broadcast_mul(&delta)?)?;
            read.push(of_wave(&query)?.reshape((all, 1, key))?.matmul(&state)?.reshape((n, heads, value))?);
            write(states, &of_wave(&waves.to)?, &state.reshape((n, heads * key * value))?)?;
            first += n;
        }
        Tensor::cat(&read, 0)?.index_select(&waves.back, 0)
    }
}

/// ln(1 + e^x), without e^x of a large x.
fn softplus(x: &Tensor) -> Result<Tensor> {
    let rest = (x.abs()?.neg()?.exp()? + 1.0)?.log()?;
    x.relu()? + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn softplus_of_small_and_large() {
        let x = Tensor::new(&[0f32, 30.0, 200.0, -200.0], &candle_core::Device::Cpu).unwrap();
        let got = softplus(&x).unwrap().to_vec1::<f32>().unwrap();
        assert!((got[0] - std::f32::consts::LN_2).abs() < 1e-6);
        assert_eq!(got[1..], [30.0, 200.0, 0.0]);
    }
}
