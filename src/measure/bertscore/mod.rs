//! BERTScore: how well the tokens of two texts match in an encoder's hidden states.
//!
//! In: pairs of a reference (the baseline's response) and a candidate (the variant's). Out: precision, recall and F1.
//! Formula: Zhang et al. (2020), as bert-score 0.3.12 computes it without baseline rescaling, and with IDF weights if asked.
//!
//! | file | holds |
//! |---|---|
//! | `config`, `weights`, `tokens` | what is read from an encoder's folder |
//! | `network`, `linear`, `attention`, `relative`, `packed`, `rows` | from token ids to hidden states |
//! | `encoder` | an encoder up to one layer, and texts in batches |
//! | `layers` | the layers that bert-score chose |
//! | `idf`, `matching` | weights of tokens, and how two texts match |

mod attention;
mod config;
mod encoder;
mod idf;
pub(super) mod layers;
mod linear;
mod matching;
mod network;
mod packed;
mod relative;
mod rows;
#[cfg(test)]
mod tests;
mod tokens;
mod weights;

use std::collections::HashMap;
use std::path::Path;

use rayon::prelude::*;

pub use encoder::Encoder;

use crate::{Result, hash};
use idf::Idf;
use matching::Text;
use tokens::Tokens;

/// Most floats of hidden states that are held at once: 200 MB.
const WINDOW_FLOATS: usize = 50_000_000;

/// BERTScore of one pair, on 0..1: means of cosines, negative ones counted as 0; exactly 1 where both texts
/// have the same tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// Mean over the candidate's tokens of the best cosine with a token of the reference.
    pub precision: f64,
    /// Mean over the reference's tokens of the best cosine with a token of the candidate.
    pub recall: f64,
    /// Harmonic mean of both; 0 where it is not defined.
    pub f1: f64,
    /// Whether a text has no token, which makes all three 0 by rule (even where both are empty).
    pub empty: bool,
    /// Whether a text was cut at the encoder's limit.
    pub truncated: bool,
}

/// Scores pairs of texts with one encoder at one layer.
pub struct BertScorer {
    encoder: Encoder,
    idf: Option<Idf>,
    signature: String,
}

impl std::fmt::Debug for BertScorer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BertScorer").field("signature", &self.signature).finish_non_exhaustive()
    }
}

impl BertScorer {
    /// Loads an encoder from a folder with `config.json`, `tokenizer.json` and safetensors, in one file or in shards.
    ///
    /// `layer` is the block whose output is compared, from 1 to the number of blocks; None takes
    /// [`default_layer`](super::validity::default_layer).
    /// Blocks above it are not loaded. Errors: a file is missing or broken, the encoder is of a family that is not known,
    /// or there is no such layer.
    pub fn load(dir: &Path, layer: Option<usize>) -> Result<BertScorer> {
        let encoder = Encoder::load(dir, layer)?;
        let signature = signature(&encoder, "no");
        Ok(BertScorer { encoder, idf: None, signature })
    }

    /// Weighs tokens by how few texts of `corpus` have them, instead of all the same.
    ///
    /// The corpus is part of the scale: the signature names its hash, whatever the order of its texts. Errors: a text
    /// can't be cut into tokens.
    pub fn with_idf(self, corpus: &[&str]) -> Result<BertScorer> {
        // Of several faults the first text's is told, whichever thread was first.
        let tokens: Vec<Result<_>> = corpus.par_iter().map(|text| self.encoder.tokens(text)).collect();
        let tokens = tokens.into_iter().collect::<Result<Vec<_>>>()?;
        let idf = Idf::of(tokens.iter().map(|text| text.ids.as_slice()));
        let mut sorted: Vec<&[u8]> = corpus.iter().map(|text| text.as_bytes()).collect();
        sorted.sort_unstable();
        let hash: String = hash::of_parts(sorted).chars().take(12).collect();
        let signature = signature(&self.encoder, &format!("yes|idf_corpus:{hash}"));
        Ok(BertScorer { idf: Some(idf), signature, ..self })
    }

    /// Encoder, layer, first twelve digits of the weights' SHA-256, and the rules: what a score must be stored with.
    pub fn signature(&self) -> &str {
        &self.signature
    }

    /// The block whose output is compared.
    pub fn layer(&self) -> usize {
        self.encoder.layer
    }

    /// Scores of (reference, candidate) pairs, in their order.
    ///
    /// Each text is embedded once, however often it occurs; a score does not depend on what else is scored beside it.
    /// Very long lists are worked off in windows of pairs that hold about 200 MB of hidden states. Texts over the
    /// encoder's limit are cut, which [`Score::truncated`] says.
    /// Errors: the encoder fails, which a complete one does on no text.
    pub fn score(&self, pairs: &[(&str, &str)]) -> Result<Vec<Score>> {
        let mut scores = Vec::with_capacity(pairs.len());
        let mut rest = pairs;
        while !rest.is_empty() {
            let (done, window) = self.score_window(rest)?;
            rest = rest.get(done..).unwrap_or_default();
            scores.extend(window);
        }
        Ok(scores)
    }

    /// Scores pairs from the front until the window is full, at least one. Gives their number and scores.
    fn score_window(&self, pairs: &[(&str, &str)]) -> Result<(usize, Vec<Score>)> {
        let mut texts: HashMap<&str, usize> = HashMap::new();
        let mut tokens: Vec<Tokens> = Vec::new();
        let mut places = Vec::new();
        let mut held = 0;
        for &(reference, candidate) in pairs {
            if held >= WINDOW_FLOATS {
                break;
            }
            let mut place = |text| -> Result<usize> {
                if let Some(&place) = texts.get(text) {
                    return Ok(place);
                }
                let new = self.encoder.tokens(text)?;
                held += new.ids.len() * self.encoder.width();
                tokens.push(new);
                texts.insert(text, tokens.len() - 1);
                Ok(tokens.len() - 1)
            };
            places.push((place(reference)?, place(candidate)?));
        }
        let states = self.encoder.embed(&tokens)?;
        let weights: Vec<Vec<f64>> = tokens.iter().map(|text| self.weights(text)).collect();
        let of = |place: usize| {
            let text = Text { states: states.get(place)?, weights: weights.get(place)? };
            Some((tokens.get(place)?, text))
        };
        let pair = |&(r, c): &(usize, usize)| Some(self.pair(of(r)?, of(c)?));
        Ok((places.len(), places.par_iter().filter_map(pair).collect()))
    }

    /// How much each token of a text counts: 0 for begin and end tokens.
    fn weights(&self, text: &Tokens) -> Vec<f64> {
        let weight = |&id: &u32| match &self.idf {
            _ if self.encoder.is_edge(id) => 0.0,
            Some(idf) => idf.weight(id),
            None => 1.0,
        };
        text.ids.iter().map(weight).collect()
    }

    fn pair(&self, reference: (&Tokens, Text<'_>), candidate: (&Tokens, Text<'_>)) -> Score {
        let ((reference, of_reference), (candidate, of_candidate)) = (reference, candidate);
        let truncated = reference.truncated || candidate.truncated;
        let is_empty = |text: &Tokens| text.ids.iter().all(|&id| self.encoder.is_edge(id));
        if is_empty(reference) || is_empty(candidate) {
            return Score { precision: 0.0, recall: 0.0, f1: 0.0, empty: true, truncated };
        }
        if reference.ids == candidate.ids {
            // Exactly 1, so that a response that did not change has a delta of exactly 0, rounding aside.
            return Score { precision: 1.0, recall: 1.0, f1: 1.0, empty: false, truncated };
        }
        let (precision, recall) = matching::greedy(of_reference, of_candidate, self.encoder.width());
        let sum = precision + recall;
        let f1 = if sum == 0.0 { 0.0 } else { 2.0 * precision * recall / sum };
        Score { precision, recall, f1, empty: false, truncated }
    }
}

fn signature(encoder: &Encoder, idf: &str) -> String {
    let Encoder { name, layer, weights, max_tokens, .. } = encoder;
    format!(
        "BERTScore|encoder:{name}|layer:{layer}|weights:{weights}|max_tokens:{max_tokens}|idf:{idf}|rescale:no|floor:0|dtype:f32|as:bert-score-0.3.12"
    )
}
