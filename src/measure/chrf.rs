//! chrF: F-score of character n-grams, on 0..1.
//!
//! In: a reference and a candidate. Out: sacrebleu's `CHRF()` (characters up to 6, no words, beta 2, white space removed,
//! effective order) divided by 100. Formula: Popović (2015), as sacrebleu 2.6.0.

use std::collections::HashMap;

use super::words::is_python_space;

/// How [`chrf`] was computed, for the table `similarities`: sacrebleu's signature, and the scale.
pub const SIGNATURE: &str = "chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|as:sacrebleu-2.6.0|scale:0..1";

/// Longest n-gram of characters that is counted.
const ORDER: u32 = 6;

/// Square of beta: recall weighs twice as much as precision.
const BETA_SQUARED: f64 = 4.0;

/// Bits that hold any Unicode scalar value; six of them fit into 128.
const CHAR_BITS: u32 = 21;

/// chrF of one pair on 0..1; a character is a Unicode scalar value. 0 where either text has none but white space.
pub fn chrf(reference: &str, candidate: &str) -> f64 {
    let (reference, candidate) = (characters(reference), characters(candidate));
    let (mut precision, mut recall, mut orders) = (0.0, 0.0, 0.0);
    for n in 1..=ORDER {
        let (of_reference, of_candidate) = (ngrams(&reference, n), ngrams(&candidate, n));
        let (in_reference, in_candidate) = (total(&of_reference), total(&of_candidate));
        if in_reference == 0 || in_candidate == 0 {
            continue;
        }
        let matches: u64 =
            of_candidate.iter().map(|(ngram, &c)| c.min(of_reference.get(ngram).copied().unwrap_or(0))).sum();
        precision += matches as f64 / in_candidate as f64;
        recall += matches as f64 / in_reference as f64;
        orders += 1.0;
    }
    if precision + recall == 0.0 {
        return 0.0;
    }
    let (precision, recall) = (precision / orders, recall / orders);
    (((1.0 + BETA_SQUARED) * precision * recall) / (BETA_SQUARED * precision + recall)).min(1.0)
}

fn characters(text: &str) -> Vec<u32> {
    text.chars().filter(|&c| !is_python_space(c)).map(u32::from).collect()
}

/// How often each n-gram occurs; an n-gram is its characters side by side in one integer.
fn ngrams(characters: &[u32], n: u32) -> HashMap<u128, u64> {
    let mut counts = HashMap::new();
    for ngram in characters.windows(n as usize) {
        let key = ngram.iter().fold(0u128, |key, &c| (key << CHAR_BITS) | u128::from(c));
        *counts.entry(key).or_insert(0) += 1;
    }
    counts
}

fn total(counts: &HashMap<u128, u64>) -> u64 {
    counts.values().sum()
}

#[cfg(test)]
mod tests {
    use super::chrf;

    #[test]
    fn white_space_does_not_count() {
        assert_eq!(chrf("中文 没有 空格", "中文没有空格"), 1.0);
        assert_eq!(chrf("a\u{a0}b\u{1f}c", "abc"), 1.0);
    }

    #[test]
    fn empty_texts_score_zero() {
        for (reference, candidate) in [("", ""), ("abc", ""), ("", "abc"), (" ", "\n"), ("abc", "xyz")] {
            assert_eq!(chrf(reference, candidate), 0.0);
        }
    }

    #[test]
    fn recall_weighs_more() {
        // Unigrams: 2 of 3 right, all 2 of the reference found; bigrams: 1 of 2, 1 of 1; the reference has no trigrams.
        let (p, r) = ((2.0 / 3.0 + 0.5) / 2.0, 1.0);
        assert!((chrf("ab", "abc") - 5.0 * p * r / (4.0 * p + r)).abs() < 1e-15);
        assert!(chrf("ab", "abc") > chrf("abc", "ab"));
    }
}
