//! Length mirroring: whether the response grew or shrank as the prompt did.
//!
//! In: the multiple of the prompt's words, and the two responses. Out: a judgement; method, section 4.

use serde_json::json;

use super::{Judgement, ROUNDING};
use crate::measure::words::word_count;

/// Name of the judge that this rule makes up.
pub const JUDGE: &str = "rules/word-count";

/// How far the ratio of the responses may lie from the multiple, as a part of the multiple.
pub const TOLERANCE: f64 = 0.25;

/// Judges one response: mirrored where |words / words of the baseline's - multiple| is at most a quarter of `multiple`.
/// None where the baseline's response has no words. Words are pieces between white space.
pub fn judge(multiple: f64, response: &str, baseline_response: &str) -> Judgement {
    let (words, baseline) = (word_count(response), word_count(baseline_response));
    let ratio = (baseline > 0).then(|| words as f64 / baseline as f64);
    let mirrored = ratio.map(|ratio| (ratio - multiple).abs() <= TOLERANCE * multiple + ROUNDING);
    let figures = json!({"words": words, "baseline": baseline, "ratio": ratio, "multiple": multiple});
    Judgement::by_rule(JUDGE, mirrored, &figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(n: usize) -> String {
        vec!["word"; n].join(" ")
    }

    #[test]
    fn a_quarter_around_the_multiple_counts_as_mirrored() {
        for (multiple, least, most) in
            [(0.25, 19, 31), (0.5, 38, 62), (1.5, 113, 187), (2.0, 150, 250), (3.0, 225, 375)]
        {
            for (n, expected) in [(least - 1, false), (least, true), (most, true), (most + 1, false)] {
                let judgement = judge(multiple, &words(n), &words(100));
                assert_eq!(judgement.mirrored, Some(expected), "{n} words at {multiple}");
            }
        }
    }

    #[test]
    fn without_words_in_the_baseline_there_is_no_answer() {
        let judgement = judge(2.0, "some words", " \n");
        assert_eq!(judgement.mirrored, None);
        assert_eq!(judgement.raw, r#"{"words":2,"baseline":0,"ratio":null,"multiple":2.0}"#);
        assert_eq!(judge(0.25, "", "a b").mirrored, Some(false));
    }
}
