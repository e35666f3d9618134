//! Attention: each token of a text looks at all tokens of that text.
//!
//! In: queries, keys and values of the texts of a batch, one text's rows after the other's. Out: the heads' outputs.
//! No text sees another's tokens and none is padded, so nothing has to be masked.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::packed::{Packed, Rows};
use super::relative::{self, Distances, Head, Places};
use super::rows::soften;

/// How attention is divided into heads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heads {
    pub(super) count: usize,
    pub(super) length: usize,
    /// What scores are multiplied by.
    pub(super) scale: f32,
}

/// What one head of one text is computed in.
#[derive(Debug, Default)]
struct Scratch {
    packed: Packed,
    scores: Vec<f32>,
    products: Vec<f32>,
    relative: relative::Scratch,
}

impl Heads {
    fn width(&self) -> usize {
        self.count * self.length
    }

    /// Outputs of all heads, `[tokens, width]`, from rows of query, key and value (`3 * width`) of texts of these lengths.
    /// `places` are those of each length, where distances are looked at.
    pub(super) fn attend(
        &self,
        qkv: &[f32],
        lengths: &[usize],
        distances: &Distances,
        places: &BTreeMap<usize, Places>,
        out: &mut Vec<f32>,
    ) {
        let width = self.width();
        out.resize(lengths.iter().sum::<usize>() * width, 0.0);
        // Each head of each text writes a piece of its own, which is then laid in rows.
        let mut pieces = vec![0f32; out.len()];
        let mut work = Vec::with_capacity(lengths.len() * self.count);
        let (mut from, mut rest) = (0, pieces.as_mut_slice());
        for &tokens in lengths {
            let text = qkv.get(from * 3 * width..(from + tokens) * 3 * width).unwrap_or_default();
            for head in 0..self.count {
                let (piece, after) = rest.split_at_mut(tokens * self.length);
                work.push((text, head, tokens, piece));
                rest = after;
            }
            from += tokens;
        }
        work.into_par_iter().for_each_init(Scratch::default, |scratch, (text, head, tokens, piece)| {
            self.head(text, head, tokens, distances, places.get(&tokens), scratch, piece);
        });
        let (mut pieces, mut rows) = (pieces.as_slice(), out.as_mut_slice());
        for &tokens in lengths {
            let (text, after) = rows.split_at_mut(tokens * width);
            let (heads, others) = pieces.split_at(tokens * width);
            for (head, piece) in heads.chunks((tokens * self.length).max(1)).enumerate() {
                let rows = text.chunks_mut(width).filter_map(|row| row.get_mut(head * self.length..));
                for (row, values) in rows.zip(piece.chunks(self.length)) {
                    row[..values.len()].copy_from_slice(values);
                }
            }
            (pieces, rows) = (others, after);
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn head(
        &self,
        text: &[f32],
        head: usize,
        tokens: usize,
        distances: &Distances,
        places: Option<&Places>,
        scratch: &mut Scratch,
        out: &mut [f32],
    ) {
        let (width, length) = (self.width(), self.length);
        let rows = |part: usize| Rows {
            values: text.get(part * width + head * length..).unwrap_or_default(),
            stride: 3 * width,
            count: tokens,
        };
        let (queries, keys, values) = (rows(0), rows(1), rows(2));
        scratch.packed.columns(keys, length);
        let stride = scratch.packed.padded();
        scratch.packed.multiply(queries, &mut scratch.scores);
        if let Some(places) = places {
            let head = Head { queries, keys, from: head * length, width, length };
            distances.add(head, places, &mut scratch.relative, &mut scratch.scores, stride);
        }
        for scores in scratch.scores.chunks_mut(stride.max(1)) {
            let scores = &mut scores[..tokens];
            scores.iter_mut().for_each(|score| *score *= self.scale);
            soften(scores);
        }
        scratch.packed.rows(values, length);
        let weights = Rows { values: &scratch.scores, stride, count: tokens };
        scratch.packed.multiply(weights, &mut scratch.products);
        for (out, products) in out.chunks_mut(length).zip(scratch.products.chunks(scratch.packed.padded().max(1))) {
            out.copy_from_slice(&products[..length]);
        }
    }
}
