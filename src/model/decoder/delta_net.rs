//! The gated delta net mixer: a recurrent state in the place of a cache of keys and values.
//!
//! In: normed rows. Out: the product of the output projection, and states in the cache.
//! A short causal convolution over queries, keys and values, then for each head a matrix S that maps keys to values, is let
//! fade, corrected towards each new pair, and asked with the query (Yang et al., 2024, <https://arxiv.org/abs/2412.06464>):
//! S <- a S; S <- S + k (b (v - S'k))'; out = S'q. Positions are taken one by one, so no batch can change a result.

use rayon::prelude::*;

use super::super::matrix::{Compute, PANEL, Product};
use super::super::simd::{sigmoid, silu, wide};
use super::cache::{Cache, Memory, States};
use super::form::Form;
use super::rows::rms_norm;
use super::{Batch, Mixer, ROWS_PER_TASK, Scratch};

/// A gated delta net of one layer.
#[derive(Debug)]
pub struct DeltaNet<F: Form = Compute> {
    /// Heads of queries and keys.
    pub key_heads: usize,
    /// Length of a query or key.
    pub key: usize,
    /// Length of a value.
    pub value: usize,
    /// Which key head each value head goes with.
    pub key_head_of: Vec<usize>,
    /// Projections of queries, keys and values together; of output gates; of corrections (b); of fading (a), stacked.
    pub input: F::Matrix,
    /// Kernel of the convolution, `[taps, 2 * key_heads * key + value_heads * value]`, the present input last.
    pub taps: Vec<F::Vector>,
    /// Rate of fading of each value head, below 0.
    pub rates: F::Vector,
    /// Added to the projection of fading.
    pub step_bias: F::Vector,
    /// Norm of each head's output.
    pub norm: F::Vector,
    /// Added to the mean square in that norm.
    pub epsilon: f32,
    /// Projection of the heads' outputs.
    pub output: F::Matrix,
}

/// Added to the squares' sum when queries and keys are scaled to length 1.
pub const UNIT_EPSILON: f32 = 1e-6;

impl<F: Form> DeltaNet<F> {
    /// Heads of values, and of states.
    pub fn value_heads(&self) -> usize {
        self.key_head_of.len()
    }

    /// Floats of queries, keys and values together.
    pub fn mixed_width(&self) -> usize {
        2 * self.key_heads * self.key + self.value_heads() * self.value
    }

    /// What it keeps of positions.
    pub fn memory(&self) -> Memory {
        let inputs = (self.taps.len() - 1) * self.mixed_width();
        Memory::State { heads: self.value_heads(), head: self.key * self.value, inputs }
    }
}

impl DeltaNet {
    /// Queries, keys and values of every row after the convolution; moves the past inputs on.
    fn convolve(&self, batch: &Batch<'_>, product: &Product, states: &mut States, out: &mut Vec<f32>) {
        let width = self.mixed_width();
        let past = self.taps.len() - 1;
        out.resize(batch.rows.len() * width, 0.0);
        let (mut window, zeros) = (vec![0f32; past * width], vec![0f32; past * width]);
        for ((r, out), step) in out.chunks_exact_mut(width).enumerate().zip(batch.steps) {
            let from = step.from.and_then(|slot| states.inputs.chunks_exact(past * width).nth(slot as usize));
            window.copy_from_slice(from.unwrap_or(&zeros));
            let Some(to) = states.inputs.chunks_exact_mut(past * width).nth(step.to as usize) else { continue };
            to.copy_from_slice(&window);
            to.rotate_left(width);
            if let Some(now) = to.chunks_exact_mut(width).last() {
                product.copy(r, 0, now);
                weigh(&self.taps, &window, now, out);
            }
        }
    }

    /// One row's step of one head.
    fn advance(&self, head: usize, row: &[f32], gates: (f32, f32), state: &mut [f32], out: &mut [f32]) {
        let (fade, correction) = gates;
        let at = self.key_head_of.get(head).map_or(0, |key_head| key_head * self.key);
        let keys = self.key_heads * self.key;
        let part = |from: usize, length: usize| row.get(from..from + length).unwrap_or_default();
        let (query, key) = (part(at, self.key), part(keys + at, self.key));
        let value = part(2 * keys + head * self.value, self.value);
        let unit = |x: &[f32]| 1.0 / (x.iter().map(|x| x * x).sum::<f32>() + UNIT_EPSILON).sqrt();
        let query_scale = unit(query) / (self.key as f32).sqrt();
        correct(state, key, value, Scales { fade, correction, key: unit(key), query: query_scale }, query, out);
    }
}

impl Mixer for DeltaNet {
    fn memory(&self) -> Memory {
        DeltaNet::memory(self)
    }

    fn mix(
        &self,
        layer: usize,
        batch: &Batch<'_>,
        normed: &[f32],
        cache: &mut Cache,
        scratch: &mut Scratch,
        product: &mut Product,
    ) {
        let (rows, heads, value) = (batch.rows.len(), self.value_heads(), self.value);
        let width = heads * value;
        self.input.apply(normed, product);
        let Some(states) = cache.states_mut(layer) else { return };
        self.convolve(batch, product, states, &mut scratch.convolved);
        let gate_from = self.mixed_width().next_multiple_of(PANEL);
        let correction_from = gate_from + width.next_multiple_of(PANEL);
        let fading_from = correction_from + heads.next_multiple_of(PANEL);
        let (from, convolved) = (&*product, &scratch.convolved);
        // One head after the other, each through all rows in order: `[heads, rows, value]`.
        scratch.by_head.resize(heads * rows * value, 0.0);
        let head_state = self.key * value;
        scratch
            .by_head
            .par_chunks_exact_mut((rows * value).max(1))
            .zip(states.heads.par_iter_mut())
            .enumerate()
            .for_each_init(
                || vec![0f32; head_state],
                |state, (head, (out, arena))| {
                    let (rate, bias) = (at(&self.rates, head), at(&self.step_bias, head));
                    let inputs = convolved.chunks_exact(self.mixed_width()).zip(batch.steps);
                    for ((r, out), (row, step)) in out.chunks_exact_mut(value).enumerate().zip(inputs) {
                        let one = |from_output: usize| from.at(r, from_output + head);
                        let gates = ((rate * softplus(one(fading_from) + bias)).exp(), sigmoid(one(correction_from)));
                        match step.from.and_then(|slot| arena.chunks_exact(head_state).nth(slot as usize)) {
                            Some(before) => state.copy_from_slice(before),
                            None => state.fill(0.0),
                        }
                        self.advance(head, row, gates, state, out);
                        if let Some(after) = arena.chunks_exact_mut(head_state).nth(step.to as usize) {
                            after.copy_from_slice(state);
                        }
                    }
                },
            );
        scratch.mixed.resize(rows * width, 0.0);
        let by_head = &scratch.by_head;
        scratch.mixed.par_chunks_exact_mut(width).enumerate().with_min_len(ROWS_PER_TASK).for_each_init(
            || vec![0f32; width],
            |gates, (r, out)| {
                from.copy(r, gate_from, gates);
                for ((head, out), gates) in out.chunks_exact_mut(value).enumerate().zip(gates.chunks_exact(value)) {
                    let raw = by_head.chunks_exact(value).nth(head * rows + r).unwrap_or_default();
                    rms_norm(raw, &self.norm, self.epsilon, out);
                    out.iter_mut().zip(gates).for_each(|(x, &gate)| *x *= silu(gate));
                }
            },
        );
        self.output.apply(&scratch.mixed, product);
    }
}

fn at(values: &[f32], index: usize) -> f32 {
    values.get(index).copied().unwrap_or(f32::NAN)
}

/// ln(1 + e^x).
fn softplus(x: f32) -> f32 {
    // Above 20 the 1 is lost in f32.
    if x > 20.0 { x } else { x.exp().ln_1p() }
}

wide! {
    /// silu of the taps' sum over past inputs `[taps - 1, width]` and the present one.
    fn weigh(taps: &[Vec<f32>], past: &[f32], now: &[f32], out: &mut [f32]) {
        out.fill(0.0);
        for (tap, input) in taps.iter().zip(past.chunks_exact(now.len()).chain([now])) {
            for ((out, &tap), &x) in out.iter_mut().zip(tap).zip(input) {
                *out = x.mul_add(tap, *out);
            }
        }
        for out in out.iter_mut() {
            *out = silu(*out);
        }
    }
}

/// Factors of one step: how much of the state stays, how strong the correction is, and the lengths' inverses.
#[derive(Clone, Copy)]
struct Scales {
    fade: f32,
    correction: f32,
    key: f32,
    query: f32,
}

wide! {
    /// The delta rule on a state `[key, value]`; `out` is what the query reads.
    fn correct(state: &mut [f32], key: &[f32], value: &[f32], by: Scales, query: &[f32], out: &mut [f32]) {
        let n = value.len();
        // What the faded state holds for the key.
        out.fill(0.0);
        for (state, &k) in state.chunks_exact_mut(n).zip(key) {
            let k = k * by.key;
            for (s, held) in state.iter_mut().zip(out.iter_mut()) {
                *s *= by.fade;
                *held = k.mul_add(*s, *held);
            }
        }
        let mut delta = [0f32; MOST_VALUES];
        for ((delta, &v), &held) in delta.iter_mut().zip(value).zip(out.iter()) {
            *delta = (v - held) * by.correction;
        }
        out.fill(0.0);
        for ((state, &k), &q) in state.chunks_exact_mut(n).zip(key).zip(query) {
            let (k, q) = (k * by.key, q * by.query);
            for ((s, &delta), out) in state.iter_mut().zip(&delta).zip(out.iter_mut()) {
                *s = k.mul_add(delta, *s);
                *out = q.mul_add(*s, *out);
            }
        }
    }
}

/// Longest value vector of a head; families that need more are refused when they are read.
pub const MOST_VALUES: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_pair_is_read_back_and_fades() {
        // Key (1, 0), value (3, 5), full correction: the query (1, 0) reads the value; half of it after fading by 1/2.
        let mut state = vec![0f32; 4];
        let mut out = [0f32; 2];
        let by = Scales { fade: 0.5, correction: 1.0, key: 1.0, query: 1.0 };
        correct(&mut state, &[1.0, 0.0], &[3.0, 5.0], by, &[1.0, 0.0], &mut out);
        assert_eq!(out, [3.0, 5.0]);
        correct(&mut state, &[0.0, 1.0], &[7.0, 7.0], by, &[1.0, 0.0], &mut out);
        assert_eq!(out, [1.5, 2.5]);
        // The same key with another value, corrected by half: the middle of what is held and what is new.
        let by = Scales { fade: 1.0, correction: 0.5, ..by };
        correct(&mut state, &[1.0, 0.0], &[2.5, 0.5], by, &[1.0, 0.0], &mut out);
        assert_eq!(out, [2.0, 1.5]);
        assert!((softplus(0.0) - std::f32::consts::LN_2).abs() < 1e-7 && softplus(30.0) == 30.0);
    }

    #[test]
    fn the_convolution_sees_the_past_first() {
        let taps = vec![vec![1.0, 0.0], vec![10.0, 1.0]];
        let mut out = [0f32; 2];
        weigh(&taps, &[2.0, 9.0], &[3.0, 4.0], &mut out);
        assert!((out[0] - 32.0).abs() < 1e-5 && (out[1] - silu(4.0)).abs() < 1e-6);
    }
}
