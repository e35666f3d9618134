//! BERTScore: how well the tokens of two texts match in an encoder's hidden states.
//!
//! In: pairs of a reference (the baseline's response) and a candidate (the variant's). Out: precision, recall and F1.
//! Formula: Zhang et al. (2020), as bert-score 0.3.12 computes it without IDF weights and without baseline rescaling.

mod encoder;
mod matching;

use std::collections::HashMap;
use std::path::Path;

use candle_core::Tensor;

pub use encoder::Encoder;

use crate::Result;
use encoder::Tokens;

/// Most tokens whose hidden states are held at once; 384 floats each make 200 MB.
const WINDOW_TOKENS: usize = 130_000;

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
    signature: String,
}

impl std::fmt::Debug for BertScorer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BertScorer").field("signature", &self.signature).finish_non_exhaustive()
    }
}

impl BertScorer {
    /// Loads a BERT encoder from a folder with `config.json`, `model.safetensors` and `tokenizer.json`.
    ///
    /// `layer` is the block whose output is compared, from 1 to the number of blocks; None takes
    /// [`default_layer`](super::validity::default_layer).
    /// Blocks above it are not loaded. Errors: a file is missing or broken, or there is no such layer.
    pub fn load(dir: &Path, layer: Option<usize>) -> Result<BertScorer> {
        let encoder = Encoder::load(dir, layer)?;
        let signature = format!(
            "BERTScore|encoder:{}|layer:{}|weights:{}|max_tokens:{}|idf:no|rescale:no|floor:0|dtype:f32|as:bert-score-0.3.12",
            encoder.name, encoder.layer, encoder.weights, encoder.max_tokens
        );
        Ok(BertScorer { encoder, signature })
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
    /// Each text is embedded once, however often it occurs, in batches of similar length; a score does not depend on
    /// what else is scored beside it beyond rounding (1e-6). Very long lists are worked off in windows of pairs that
    /// hold about 200 MB of hidden states. Texts over the encoder's limit are cut, which [`Score::truncated`] says.
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
            if held >= WINDOW_TOKENS {
                break;
            }
            let mut place = |text| -> Result<usize> {
                if let Some(&place) = texts.get(text) {
                    return Ok(place);
                }
                let new = self.encoder.tokens(text)?;
                held += new.ids.len();
                tokens.push(new);
                texts.insert(text, tokens.len() - 1);
                Ok(tokens.len() - 1)
            };
            places.push((place(reference)?, place(candidate)?));
        }
        let states = self.encoder.embed(&tokens)?;
        let of = |place: usize| tokens.get(place).zip(states.get(place));
        let pair =
            |&(r, c): &(usize, usize)| of(r).zip(of(c)).map(|(reference, candidate)| score(reference, candidate));
        let scores = places.iter().filter_map(pair).collect::<candle_core::Result<Vec<_>>>();
        Ok((places.len(), scores.map_err(|e| self.encoder.failed(e))?))
    }
}

fn score(reference: (&Tokens, &Tensor), candidate: (&Tokens, &Tensor)) -> candle_core::Result<Score> {
    let ((reference, of_reference), (candidate, of_candidate)) = (reference, candidate);
    let truncated = reference.truncated || candidate.truncated;
    if reference.is_empty() || candidate.is_empty() {
        return Ok(Score { precision: 0.0, recall: 0.0, f1: 0.0, empty: true, truncated });
    }
    if reference.ids == candidate.ids {
        // Exactly 1, so that a response that did not change has a delta of exactly 0 in whatever batch it was scored.
        return Ok(Score { precision: 1.0, recall: 1.0, f1: 1.0, empty: false, truncated });
    }
    let (precision, recall) = matching::greedy(of_reference, &reference.counts, of_candidate, &candidate.counts)?;
    let sum = precision + recall;
    let f1 = if sum == 0.0 { 0.0 } else { 2.0 * precision * recall / sum };
    Ok(Score { precision, recall, f1, empty: false, truncated })
}
