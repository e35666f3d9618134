//! Attention of one position over its path, and the parts of a block that work on one row.
//!
//! In: a row's query, key and value vectors, and the cache. Out: the row after attention, norm, rotation or gate.
//! Each row is computed on its own, over its path in order, so no batch can change it.

use super::simd::{LANES, Lanes, exp, silu, sum, wide};
use super::tree::NodeId;

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

wide! {
    /// x / rms(x) * weight, rms over the row with `epsilon` added to the mean square.
    pub fn rms_norm(x: &[f32], weight: &[f32], epsilon: f32, out: &mut [f32]) {
        let (blocks, rest) = x.as_chunks::<LANES>();
        let mut squares: Lanes = [0.0; LANES];
        let mut i = 0;
        while i < blocks.len() {
            let mut j = 0;
            while j < LANES {
                squares[j] = blocks[i][j].mul_add(blocks[i][j], squares[j]);
                j += 1;
            }
            i += 1;
        }
        let total = sum(squares) + rest.iter().map(|v| v * v).sum::<f32>();
        let scale = 1.0 / (total / x.len() as f32 + epsilon).sqrt();
        for ((out, &v), &w) in out.iter_mut().zip(x).zip(weight) {
            *out = v * scale * w;
        }
    }
}

wide! {
    /// Adds `y` to `x`.
    pub fn add(x: &mut [f32], y: &[f32]) {
        for (x, &y) in x.iter_mut().zip(y) {
            *x += y;
        }
    }
}

wide! {
    /// silu(gate) * up.
    pub fn gate(gate: &[f32], up: &[f32], out: &mut [f32]) {
        for ((out, &g), &u) in out.iter_mut().zip(gate).zip(up) {
            *out = silu(g) * u;
        }
    }
}

/// cos and sin of a position's rotation angles: `head / 2` of each, one after the other.
pub fn rotation(position: usize, frequencies: &[f32], out: &mut [f32]) {
    let (cos, sin) = out.split_at_mut(frequencies.len().min(out.len()));
    for ((cos, sin), &frequency) in cos.iter_mut().zip(sin).zip(frequencies) {
        (*sin, *cos) = (position as f32 * frequency).sin_cos();
    }
}

wide! {
    /// Rotates each head of `x`: element i of the first half with element i of the second, by angle i.
    pub fn rotate(x: &mut [f32], rotation: &[f32]) {
        let head = rotation.len();
        let (cos, sin) = rotation.split_at(head / 2);
        for x in x.chunks_exact_mut(head) {
            let (a, b) = x.split_at_mut(head / 2);
            for (((a, b), &c), &s) in a.iter_mut().zip(b).zip(cos).zip(sin) {
                (*a, *b) = (*a * c - *b * s, *b * c + *a * s);
            }
        }
    }
}

wide! {
    /// softmax(q k / sqrt(head)) v of one position over its `path` (itself last), for all heads.
    ///
    /// `query` and `out` are `[heads, head]`, `keys` and `values` `[slots, kv_heads, head]`; `scores` is scratch.
    pub fn attend(
        query: &[f32], path: &[NodeId], keys: &[f32], values: &[f32], heads: Heads, scores: &mut Vec<f32>, out: &mut [f32],
    ) {
        let Heads { heads, kv_heads, head } = heads;
        let (group, kv_width) = (heads / kv_heads, kv_heads * head);
        let scale = 1.0 / (head as f32).sqrt();
        scores.resize(path.len(), 0.0);
        for (h, (query, out)) in query.chunks_exact(head).zip(out.chunks_exact_mut(head)).enumerate() {
            let from = h / group * head;
            let mut top = f32::NEG_INFINITY;
            for (score, &node) in scores.iter_mut().zip(path) {
                let start = node as usize * kv_width + from;
                *score = dot(query, &keys[start..start + head]) * scale;
                top = top.max(*score);
            }
            let total = soften(scores, top);
            weigh(scores, path, values, kv_width, from, 1.0 / total, out);
        }
    }
}

// Index loops below, as in `matrix`: sums that an iterator borrows would not stay in registers.

#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a, _) = a.as_chunks::<LANES>();
    let (b, _) = b.as_chunks::<LANES>();
    let b = &b[..a.len()];
    let mut sums: Lanes = [0.0; LANES];
    let mut i = 0;
    while i < a.len() {
        let mut j = 0;
        while j < LANES {
            sums[j] = a[i][j].mul_add(b[i][j], sums[j]);
            j += 1;
        }
        i += 1;
    }
    sum(sums)
}

/// Replaces scores by exp(score - top); returns their sum.
#[inline(always)]
fn soften(scores: &mut [f32], top: f32) -> f32 {
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

/// Adds up the values along the path by their weights, 4 blocks of lanes of the head at a time.
#[inline(always)]
fn weigh(weights: &[f32], path: &[NodeId], values: &[f32], kv_width: usize, from: usize, scale: f32, out: &mut [f32]) {
    let mut at = from;
    let mut wide = out.chunks_exact_mut(4 * LANES);
    for out in wide.by_ref() {
        weigh_blocks::<4>(weights, path, values, kv_width, at, scale, out);
        at += 4 * LANES;
    }
    for out in wide.into_remainder().chunks_exact_mut(LANES) {
        weigh_blocks::<1>(weights, path, values, kv_width, at, scale, out);
        at += LANES;
    }
}

#[inline(always)]
fn weigh_blocks<const N: usize>(
    weights: &[f32],
    path: &[NodeId],
    values: &[f32],
    kv_width: usize,
    at: usize,
    scale: f32,
    out: &mut [f32],
) {
    let weights = &weights[..path.len()];
    let mut sums: [Lanes; N] = [[0.0; LANES]; N];
    let mut i = 0;
    while i < path.len() {
        let (blocks, _) = values[path[i] as usize * kv_width + at..][..N * LANES].as_chunks::<LANES>();
        let blocks = &blocks[..N];
        let mut n = 0;
        while n < N {
            let mut j = 0;
            while j < LANES {
                sums[n][j] = weights[i].mul_add(blocks[n][j], sums[n][j]);
                j += 1;
            }
            n += 1;
        }
        i += 1;
    }
    let (out, _) = out.as_chunks_mut::<LANES>();
    let mut n = 0;
    while n < N {
        let mut j = 0;
        while j < LANES {
            out[n][j] = sums[n][j] * scale;
            j += 1;
        }
        n += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attention_equals_its_definition_along_a_scattered_path() {
        let shape = Heads { heads: 4, kv_heads: 2, head: 80 };
        let wave = |n: usize, f: f32| -> Vec<f32> { (0..n).map(|i| (i as f32 * f).sin()).collect() };
        let (query, keys, values) = (wave(4 * 80, 0.7), wave(9 * 160, 0.31), wave(9 * 160, 0.13));
        let path: [NodeId; 5] = [7, 0, 3, 8, 2];
        let mut out = vec![0f32; 4 * 80];
        attend(&query, &path, &keys, &values, shape, &mut Vec::new(), &mut out);
        for h in 0..4 {
            let from = h / 2 * 80;
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

    #[test]
    fn norm_rotation_and_gate_at_hand_computed_points() {
        // Mean square of (3, 4) repeated is 12.5.
        let mut out = [0f32; 34];
        let x: Vec<f32> = (0..34).map(|i| if i % 2 == 0 { 3.0 } else { 4.0 }).collect();
        rms_norm(&x, &[2.0; 34], 0.0, &mut out);
        assert!((out[33] - 2.0 * 4.0 / 12.5f32.sqrt()).abs() < 1e-6);
        // A quarter turn takes (1, 0) to (0, 1) and (0, 1) to (-1, 0).
        let mut angles = [0f32; 4];
        rotation(1, &[std::f32::consts::FRAC_PI_2, 0.0], &mut angles);
        let mut x = [1f32, 5.0, 0.0, 6.0];
        rotate(&mut x, &angles);
        assert!((x[0]).abs() < 1e-6 && (x[2] - 1.0).abs() < 1e-6 && x[1] == 5.0 && x[3] == 6.0);
        let mut out = [0f32; 1];
        gate(&[1.0], &[10.0], &mut out);
        assert!((out[0] - 7.310_586).abs() < 1e-5);
    }
}
