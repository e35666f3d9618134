//! Attention of one position over its path.
//!
//! In: the position's rotated query, and the cache's keys and values. Out: the heads' outputs.
//! Each position goes along its own path, in order, so no batch can change its result.

use pulp::{Arch, Simd, WithSimd};

use super::super::simd::{LANES, Lanes, exp, sum, wide};
use super::super::tree::NodeId;
use super::rows;

/// How attention is divided into heads. `head` is a multiple of [`LANES`]; `heads` of `kv_heads`.
#[derive(Debug, Clone, Copy)]
pub struct Heads {
    /// Query heads.
    pub heads: usize,
    /// Key and value heads, each shared by `heads / kv_heads` query heads.
    pub kv_heads: usize,
    /// Length of one head's vector.
    pub head: usize,
}

/// How scores become weights.
#[derive(Debug, Clone, Copy)]
pub struct Scoring {
    /// By which products of query and key are multiplied.
    pub scale: f32,
    /// Largest score, by [`rows::cap`]; None for no limit.
    pub cap: Option<f32>,
}

/// What a position looks back on: keys and values of one layer, `[slots, kv_heads, head]`, along its path (itself last).
#[derive(Debug, Clone, Copy)]
pub struct Past<'a> {
    /// Nodes of the path.
    pub path: &'a [NodeId],
    /// Keys of all slots.
    pub keys: &'a [f32],
    /// Values of all slots.
    pub values: &'a [f32],
}

/// softmax(scale q k) v for all heads; `query` and `out` are `[heads, head]`, `scores` is scratch.
pub fn attend(query: &[f32], past: Past<'_>, heads: Heads, by: Scoring, scores: &mut Vec<f32>, out: &mut [f32]) {
    let (group, head) = (heads.heads / heads.kv_heads, heads.head);
    let kv_width = heads.kv_heads * head;
    let arch = Arch::new();
    for kv_head in 0..heads.kv_heads {
        let from = kv_head * head;
        let range = from * group..(from + head) * group;
        let (query, out) = (&query[range.clone()], &mut out[range]);
        // Query heads that share a key head go together, so that keys and values are read once.
        for (query, out) in query.chunks(3 * head).zip(out.chunks_mut(3 * head)) {
            let look = Look { query, past, kv_width, from, head, by, scores, out };
            match query.len() / head {
                3 => arch.dispatch(Of::<3>(look)),
                2 => arch.dispatch(Of::<2>(look)),
                _ => arch.dispatch(Of::<1>(look)),
            }
        }
    }
}

/// One look back, of query heads on the key head whose vectors begin at `from` of each slot's.
struct Look<'a> {
    query: &'a [f32],
    past: Past<'a>,
    kv_width: usize,
    from: usize,
    head: usize,
    by: Scoring,
    scores: &'a mut Vec<f32>,
    out: &'a mut [f32],
}

/// The same for G query heads.
struct Of<'a, const G: usize>(Look<'a>);

impl<const G: usize> WithSimd for Of<'_, G> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Look { query, past: Past { path, keys, values }, kv_width, from, head, by, scores, out } = self.0;
        let lanes = S::F32_LANES;
        let (slot, first, per_head) = (kv_width / lanes, from / lanes, head / lanes);
        let (keys, _) = S::as_simd_f32s(keys);
        let (values, _) = S::as_simd_f32s(values);
        let (query, _) = S::as_simd_f32s(query);
        let (out, _) = S::as_mut_simd_f32s(out);
        scores.resize(path.len() * G, 0.0);
        let mut i = 0;
        while i < path.len() {
            let key = &keys[path[i] as usize * slot + first..][..per_head];
            let dots = dots::<S, G>(simd, query, key);
            let mut g = 0;
            while g < G {
                scores[g * path.len() + i] = dots[g] * by.scale;
                g += 1;
            }
            i += 1;
        }
        if let Some(cap) = by.cap {
            rows::cap(scores, cap);
        }
        let mut scales = [0f32; G];
        for (scores, scale) in scores.chunks_exact_mut(path.len()).zip(&mut scales) {
            *scale = 1.0 / soften(scores);
        }
        let weights = scores.as_slice();
        let mut at = 0;
        while at < per_head {
            let place = Place { slot, first, per_head, at };
            match per_head - at {
                4.. => weigh::<S, G, 4>(simd, weights, path, values, place, scales, out),
                _ => weigh::<S, G, 1>(simd, weights, path, values, place, scales, out),
            }
            at += if per_head - at >= 4 { 4 } else { 1 };
        }
    }
}

// Index loops, as in `matrix`: sums that an iterator borrows would not stay in registers.

/// Dot products of G query vectors with one key.
#[inline(always)]
fn dots<S: Simd, const G: usize>(simd: S, query: &[S::f32s], key: &[S::f32s]) -> [f32; G] {
    let mut sums = [simd.splat_f32s(0.0); G];
    let mut i = 0;
    while i < key.len() {
        let mut g = 0;
        while g < G {
            sums[g] = simd.mul_add_f32s(query[g * key.len() + i], key[i], sums[g]);
            g += 1;
        }
        i += 1;
    }
    let mut out = [0f32; G];
    let mut g = 0;
    while g < G {
        out[g] = simd.reduce_sum_f32s(sums[g]);
        g += 1;
    }
    out
}

wide! {
    /// Replaces scores by exp(score - highest score); returns their sum.
    fn soften(scores: &mut [f32]) -> f32 {
        let mut top = f32::NEG_INFINITY;
        for &score in scores.iter() {
            top = top.max(score);
        }
        let (blocks, rest) = scores.as_chunks_mut::<LANES>();
        let mut sums: Lanes = [0.0; LANES];
        let mut i = 0;
        while i < blocks.len() {
            let mut j = 0;
            while j < LANES {
                let e = exp(blocks[i][j] - top);
                blocks[i][j] = e;
                sums[j] += e;
                j += 1;
            }
            i += 1;
        }
        let mut total = sum(sums);
        for x in rest {
            *x = exp(*x - top);
            total += *x;
        }
        total
    }
}

/// Where a head's values lie, in vectors: `at` of each head on, of slots of `slot` whose head begins at `first`.
#[derive(Clone, Copy)]
struct Place {
    slot: usize,
    first: usize,
    per_head: usize,
    at: usize,
}

/// Adds up N vectors of the values along the path by their weights, for G heads.
#[inline(always)]
fn weigh<S: Simd, const G: usize, const N: usize>(
    simd: S,
    weights: &[f32],
    path: &[NodeId],
    values: &[S::f32s],
    place: Place,
    scales: [f32; G],
    out: &mut [S::f32s],
) {
    let mut sums = [[simd.splat_f32s(0.0); N]; G];
    let mut i = 0;
    while i < path.len() {
        let value = &values[path[i] as usize * place.slot + place.first + place.at..][..N];
        let mut g = 0;
        while g < G {
            let weight = simd.splat_f32s(weights[g * path.len() + i]);
            let mut n = 0;
            while n < N {
                sums[g][n] = simd.mul_add_f32s(weight, value[n], sums[g][n]);
                n += 1;
            }
            g += 1;
        }
        i += 1;
    }
    let mut g = 0;
    while g < G {
        let out = &mut out[g * place.per_head + place.at..][..N];
        let mut n = 0;
        while n < N {
            out[n] = simd.mul_f32s(sums[g][n], simd.splat_f32s(scales[g]));
            n += 1;
        }
        g += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attention_equals_its_definition_along_a_scattered_path() {
        let shape = Heads { heads: 10, kv_heads: 2, head: 80 };
        let wave = |n: usize, f: f32| -> Vec<f32> { (0..n).map(|i| (i as f32 * f).sin()).collect() };
        let (query, keys, values) = (wave(10 * 80, 0.7), wave(9 * 160, 0.31), wave(9 * 160, 0.13));
        let path: [NodeId; 5] = [7, 0, 3, 8, 2];
        let mut out = vec![0f32; 10 * 80];
        let past = Past { path: &path, keys: &keys, values: &values };
        let by = Scoring { scale: 1.0 / 80f32.sqrt(), cap: None };
        attend(&query, past, shape, by, &mut Vec::new(), &mut out);
        for h in 0..10 {
            let from = h / 5 * 80;
            let scores: Vec<f64> = path
                .iter()
                .map(|&n| {
                    (0..80).map(|d| f64::from(query[h * 80 + d] * keys[n as usize * 160 + from + d])).sum::<f64>()
                })
                .map(|s| (s / 80f64.sqrt()).exp())
                .collect();
            let total: f64 = scores.iter().sum();
            for d in 0..80 {
                let want: f64 = path
                    .iter()
                    .zip(&scores)
                    .map(|(&n, s)| s / total * f64::from(values[n as usize * 160 + from + d]))
                    .sum();
                assert!((f64::from(out[h * 80 + d]) - want).abs() < 1e-5);
            }
        }
    }
}
