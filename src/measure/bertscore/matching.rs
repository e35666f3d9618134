//! Greedy matching: each token with the most similar token of the other text.
//!
//! In: the unit-length hidden states of two texts, and their tokens' weights. Out: precision and recall.
//! Special tokens can be matched with, but do not count themselves (their weight is 0 in bert-score). A best cosine
//! below 0 counts as 0: bert-score fills up its batches with cosines of 0, so there a negative one wins only in the
//! longest text of a batch; here the rule is the same for every text, whatever it is scored beside.

use super::packed::{Packed, Rows};

/// A text's hidden states, `[tokens, width]` with rows of length 1, and how much each token counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) states: &'a [f32],
    pub(super) weights: &'a [f64],
}

impl<'a> Text<'a> {
    fn rows(self, width: usize) -> Rows<'a> {
        Rows { values: self.states, stride: width, count: self.weights.len() }
    }
}

/// Precision and recall of a candidate against a reference: weighted means, 0 where there is no weight.
pub(super) fn greedy(reference: Text<'_>, candidate: Text<'_>, width: usize) -> (f64, f64) {
    let (mut packed, mut cosines) = (Packed::default(), Vec::new());
    packed.columns(reference.rows(width), width);
    packed.multiply(candidate.rows(width), &mut cosines);
    let mut best_of_reference = vec![0f32; reference.weights.len()];
    let mut best_of_candidate = Vec::with_capacity(candidate.weights.len());
    for row in cosines.chunks(packed.padded().max(1)) {
        let mut best_of_row = 0f32;
        for (best, &cosine) in best_of_reference.iter_mut().zip(row) {
            *best = best.max(cosine);
            best_of_row = best_of_row.max(cosine);
        }
        best_of_candidate.push(best_of_row);
    }
    (mean(&best_of_candidate, candidate.weights), mean(&best_of_reference, reference.weights))
}

fn mean(best: &[f32], weights: &[f64]) -> f64 {
    let (mut sum, mut all) = (0.0, 0.0);
    for (&cosine, &weight) in best.iter().zip(weights) {
        // Rounding can carry the cosine of a vector with itself just above 1.
        sum += weight * f64::from(cosine.min(1.0));
        all += weight;
    }
    if all > 0.0 { sum / all } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_tokens_are_matched_with_but_do_not_count() {
        let [reference, candidate] = [&[1f32, 0.0, 0.0, 1.0] as &[f32], &[0.6f32, 0.8, 0.0, 1.0, -1.0, 0.0]];
        let text = |states, weights| Text { states, weights };
        // Candidate: 0.8 (with the second), 1, 0 (-1 and 0); reference: 0.6, 1.
        let (p, r) = greedy(text(reference, &[1.0, 1.0]), text(candidate, &[1.0, 1.0, 1.0]), 2);
        assert!((p - 0.6).abs() < 1e-6 && (r - 0.8).abs() < 1e-6, "{p} {r}");
        // The second row of each is special: it no longer counts, but 0.8 still comes from it.
        let (p, r) = greedy(text(reference, &[1.0, 0.0]), text(candidate, &[1.0, 0.0, 1.0]), 2);
        assert!((p - 0.4).abs() < 1e-6 && (r - 0.6).abs() < 1e-6, "{p} {r}");
        // With weights: (3 * 0.8 + 1 * 1) / 4, and (0.6 + 3 * 1) / 4.
        let (p, r) = greedy(text(reference, &[0.5, 1.5]), text(candidate, &[1.5, 0.5, 0.0]), 2);
        assert!((p - 0.85).abs() < 1e-6 && (r - 0.9).abs() < 1e-6, "{p} {r}");
        // A best cosine below 0 counts as 0.
        assert_eq!(greedy(text(&[-1.0, 0.0], &[1.0]), text(&[1.0, 0.0], &[1.0]), 2), (0.0, 0.0));
        assert_eq!(greedy(text(reference, &[0.0; 2]), text(candidate, &[0.0; 3]), 2), (0.0, 0.0));
    }
}
