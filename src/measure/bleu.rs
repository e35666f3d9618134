//! BLEU: corpus BLEU of one pair of texts, on 0..1.
//!
//! In: a reference (the baseline's response) and a candidate (the variant's). Out: sacrebleu's score divided by 100.
//! Formula: Papineni et al. (2002); 13a tokens, exp smoothing (NIST, method 3 of Chen and Cherry 2014), as sacrebleu 2.6.0.

use std::collections::HashMap;

use super::tokenizer_13a::tokens;

/// How [`bleu`] was computed, for the table `similarities`: sacrebleu's signature, and the scale.
pub const SIGNATURE: &str = "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|as:sacrebleu-2.6.0|scale:0..1";

/// How [`bleu_effective_order`] was computed.
pub const SIGNATURE_EFFECTIVE_ORDER: &str =
    "BLEU|nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp|as:sacrebleu-2.6.0|scale:0..1";

/// Longest n-gram that is counted.
const ORDER: usize = 4;

/// What sacrebleu takes for log(0).
const LOG_OF_ZERO: f64 = -9_999_999_999.0;

/// Corpus BLEU of one pair on 0..1: 0 for texts under four tokens, even identical ones (see [`bleu_effective_order`]).
///
/// sacrebleu gives 100.00000000000004 for identical texts; here the score stops at exactly 1.
pub fn bleu(reference: &str, candidate: &str) -> f64 {
    Counts::of(reference, candidate).score(false)
}

/// The same with effective order: n-grams longer than the candidate are left out, so short identical texts score 1.
pub fn bleu_effective_order(reference: &str, candidate: &str) -> f64 {
    Counts::of(reference, candidate).score(true)
}

/// [`bleu`] and [`bleu_effective_order`] of one pair, counted once.
pub fn bleu_both(reference: &str, candidate: &str) -> (f64, f64) {
    let counts = Counts::of(reference, candidate);
    (counts.score(false), counts.score(true))
}

/// What the score is made of: n-grams of the candidate by order, and how many of them the reference has.
struct Counts {
    candidate_len: usize,
    reference_len: usize,
    total: [u64; ORDER],
    correct: [u64; ORDER],
}

impl Counts {
    fn of(reference: &str, candidate: &str) -> Counts {
        let (reference, candidate) = (tokens(reference), tokens(candidate));
        let mut ids = HashMap::new();
        let (reference, candidate) = (numbers(&reference, &mut ids), numbers(&candidate, &mut ids));
        let mut counts = Counts {
            candidate_len: candidate.len(),
            reference_len: reference.len(),
            total: [0; ORDER],
            correct: [0; ORDER],
        };
        for (n, (total, correct)) in (1..=ORDER).zip(counts.total.iter_mut().zip(&mut counts.correct)) {
            let have = ngrams(&reference, n);
            for (ngram, count) in ngrams(&candidate, n) {
                *total += count;
                *correct += count.min(have.get(ngram).copied().unwrap_or(0));
            }
        }
        counts
    }

    fn score(&self, effective_order: bool) -> f64 {
        if self.correct.iter().all(|&c| c == 0) {
            return 0.0;
        }
        let brevity = if self.candidate_len < self.reference_len {
            (1.0 - self.reference_len as f64 / self.candidate_len as f64).exp()
        } else {
            1.0
        };
        let mut precisions = [0.0f64; ORDER];
        let mut order = ORDER;
        let mut smooth = 1.0;
        for (n, (precision, (&total, &correct))) in
            (1..=ORDER).zip(precisions.iter_mut().zip(self.total.iter().zip(&self.correct)))
        {
            if total == 0 {
                break;
            }
            if effective_order {
                order = n;
            }
            *precision = if correct == 0 {
                smooth *= 2.0;
                100.0 / (smooth * total as f64)
            } else {
                100.0 * correct as f64 / total as f64
            };
        }
        let logs: f64 = precisions.iter().take(order).map(|&p| if p == 0.0 { LOG_OF_ZERO } else { p.ln() }).sum();
        (brevity * (logs / order as f64).exp() / 100.0).min(1.0)
    }
}

/// Tokens as numbers, equal where the tokens are equal, so that comparing n-grams compares integers.
fn numbers<'a>(tokens: &'a [String], ids: &mut HashMap<&'a str, u32>) -> Vec<u32> {
    tokens
        .iter()
        .map(|token| {
            let next = ids.len() as u32;
            *ids.entry(token.as_str()).or_insert(next)
        })
        .collect()
}

/// How often each n-gram occurs.
fn ngrams(tokens: &[u32], n: usize) -> HashMap<&[u32], u64> {
    let mut counts = HashMap::new();
    for ngram in tokens.windows(n) {
        *counts.entry(ngram).or_insert(0) += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_identical_texts_need_effective_order() {
        assert_eq!(bleu("Paris", "Paris"), 0.0);
        assert_eq!(bleu_effective_order("Paris", "Paris"), 1.0);
        assert_eq!(bleu("a b c d", "a b c d"), 1.0);
    }

    #[test]
    fn empty_texts_score_zero() {
        for (reference, candidate) in [("", ""), ("a b c d", ""), ("", "a b c d"), ("\n", " ")] {
            assert_eq!(bleu_both(reference, candidate), (0.0, 0.0));
        }
    }

    #[test]
    fn missing_orders_are_smoothed_and_short_candidates_pay() {
        // Unigrams 2 of 4; no longer n-gram fits: 1/(2*3), 1/(4*2), 1/(8*1); no brevity penalty.
        let by_hand = (0.5f64 * (1.0 / 6.0) * (1.0 / 8.0) * (1.0 / 8.0)).powf(0.25);
        assert!((bleu("a x b y", "a p b q") - by_hand).abs() < 1e-12);
        // All n-grams of the four-token candidate are right, the reference has five: exp(1 - 5/4).
        assert!((bleu("a b c d e", "a b c d") - (-0.25f64).exp()).abs() < 1e-12);
    }

    #[test]
    fn repeated_words_count_only_as_often_as_the_reference_has_them() {
        // Clipped unigrams 2 of 4, bigrams 1 of 3, then smoothed 1/(2*2), 1/(4*1).
        let by_hand = (0.5f64 * (1.0 / 3.0) * 0.25 * 0.25).powf(0.25);
        assert!((bleu("the the", "the the the the") - by_hand).abs() < 1e-12);
    }
}
