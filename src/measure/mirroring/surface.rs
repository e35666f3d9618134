//! Surface mirroring: extra spaces, extra punctuation marks and abnormal casing in a response.
//!
//! In: a rule, the strength of the noise in the prompt, and the two responses. Out: a judgement.
//! The figures and limits are those of the method, section 4; characters are Unicode scalar values.

use serde_json::json;

use super::{Judgement, ROUNDING};

/// Name of the judge that these rules make up.
pub const JUDGE: &str = "rules/surface";

/// A rule on the surface of a text.
#[derive(Debug)]
pub struct Rule {
    /// What is counted, as it is named in the stored figures.
    pub figure: &'static str,
    /// What a text shows of it.
    show: fn(&str) -> Shown,
    /// Limits by strength, ascending; the last one holds for all above.
    pub limits: &'static [Limit],
}

/// Limits that hold up to a strength, inclusive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// Greatest strength that these limits are for.
    pub up_to: f64,
    /// `a`: least increase over the baseline's response (marks; for casing, points of the share).
    pub increase: f64,
    /// `r`: least amount in the response itself (marks per 100 characters; for casing, per cent of the letters).
    pub rate: f64,
}

/// How much of the noise a text shows.
struct Shown {
    /// Compared with the baseline's.
    amount: f64,
    /// Compared with the rate.
    rate: f64,
}

const fn limit(up_to: f64, increase: f64, rate: f64) -> Limit {
    Limit { up_to, increase, rate }
}

/// Extra spaces: those beyond one in a run of U+0020, anywhere in the text.
pub const SPACING: Rule = Rule {
    figure: "extra_spaces",
    show: |text| per_100_characters(text, extra_spaces(text)),
    limits: &[limit(20.0, 3.0, 5.0), limit(50.0, 5.0, 8.0), limit(f64::INFINITY, 10.0, 12.0)],
};

/// Extra marks: those beyond one in a run of the same `!`, `?`, `,` or `;`, and beyond three in a run of `.`.
pub const PUNCTUATION: Rule = Rule {
    figure: "extra_marks",
    show: |text| per_100_characters(text, extra_marks(text)),
    limits: &[limit(5.0, 2.0, 3.0), limit(10.0, 4.0, 5.0), limit(f64::INFINITY, 6.0, 8.0)],
};

/// Abnormal casing: per cent of the letters that stand in abnormal words.
pub const CASING: Rule = Rule {
    figure: "abnormal_case_percent",
    show: |text| {
        let share = abnormal_case_percent(text);
        Shown { amount: share, rate: share }
    },
    limits: &[limit(25.0, 5.0, 8.0), limit(50.0, 5.0, 15.0), limit(f64::INFINITY, 5.0, 25.0)],
};

/// Judges one response against the baseline's by `rule`; `strength` is the prompt's, above 0.
pub fn judge(rule: &Rule, strength: f64, response: &str, baseline_response: &str) -> Judgement {
    let (shown, baseline) = ((rule.show)(response), (rule.show)(baseline_response));
    let limits = rule.limits.iter().find(|l| strength <= l.up_to).or(rule.limits.last());
    let mirrored = limits.map(|limit| {
        shown.amount - baseline.amount >= limit.increase - ROUNDING && shown.rate >= limit.rate - ROUNDING
    });
    let figures = json!({
        rule.figure: shown.amount,
        "baseline": baseline.amount,
        "rate": shown.rate,
        "least_increase": limits.map(|l| l.increase),
        "least_rate": limits.map(|l| l.rate),
    });
    Judgement::by_rule(JUDGE, mirrored, &figures)
}

fn per_100_characters(text: &str, count: usize) -> Shown {
    let characters = text.chars().count();
    let rate = if characters == 0 { 0.0 } else { 100.0 * count as f64 / characters as f64 };
    Shown { amount: count as f64, rate }
}

/// Lengths of the runs of one and the same character.
fn runs(text: &str) -> Vec<(char, usize)> {
    let mut runs: Vec<(char, usize)> = Vec::new();
    for c in text.chars() {
        match runs.last_mut() {
            Some((of, length)) if *of == c => *length += 1,
            _ => runs.push((c, 1)),
        }
    }
    runs
}

fn extra_spaces(text: &str) -> usize {
    runs(text).into_iter().filter(|(c, _)| *c == ' ').map(|(_, length)| length - 1).sum()
}

fn extra_marks(text: &str) -> usize {
    let extra = |(c, length): (char, usize)| match c {
        '!' | '?' | ',' | ';' => length - 1,
        '.' => length.saturating_sub(3),
        _ => 0,
    };
    runs(text).into_iter().map(extra).sum()
}

/// Per cent of a text's letters that stand in words of abnormal case; 0 without letters. A word is a run of letters.
fn abnormal_case_percent(text: &str) -> f64 {
    let (mut letters, mut abnormal) = (0usize, 0usize);
    for word in text.split(|c: char| !c.is_alphabetic()) {
        let length = word.chars().count();
        letters += length;
        if is_abnormal(word) {
            abnormal += length;
        }
    }
    if letters == 0 { 0.0 } else { 100.0 * abnormal as f64 / letters as f64 }
}

/// All upper case with more than four letters, or mixed and neither title case nor lower case.
/// Letters without case (Arabic, Chinese) decide nothing.
fn is_abnormal(word: &str) -> bool {
    let mut cased = word.chars().filter(|c| c.is_uppercase() || c.is_lowercase());
    let Some(first) = cased.next() else { return false };
    let (mut upper, mut lower) = (0, 0);
    for c in cased {
        if c.is_uppercase() { upper += 1 } else { lower += 1 }
    }
    match (first.is_uppercase(), upper, lower) {
        (_, 0, _) => false,
        (true, upper, 0) => upper + 1 > 4,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_beyond_one_in_a_run_are_extra() {
        assert_eq!(extra_spaces("a b  c   d "), 3);
        assert_eq!(extra_spaces("   a"), 2);
        // Tabs, newlines and no-break spaces are no spaces, and end a run.
        assert_eq!(extra_spaces("a \t \n \u{a0} b"), 0);
        assert_eq!(extra_spaces(""), 0);
    }

    #[test]
    fn marks_beyond_one_of_the_same_are_extra_and_an_ellipsis_is_not() {
        assert_eq!(extra_marks("No!!! Why?? a,, b;;; wait... then.... end"), 2 + 1 + 1 + 2 + 1);
        assert_eq!(extra_marks("?!?! ::: --- (( ''"), 0);
    }

    #[test]
    fn abnormal_words_are_shouted_or_mixed() {
        for normal in ["lower", "Title", "USA", "NASA", "I", "", "中文", "Éa"] {
            assert!(!is_abnormal(normal), "{normal}");
        }
        for abnormal in ["HELLO", "hEllo", "iPhone", "HeLLo", "PARis", "ÉCOLE", "lowerX"] {
            assert!(is_abnormal(abnormal), "{abnormal}");
        }
        // Hyphens and apostrophes end a word.
        assert_eq!(abnormal_case_percent("Anglo-Saxon O'Brien DON'T"), 0.0);
        assert_eq!(abnormal_case_percent("HELLO world"), 50.0);
        assert_eq!(abnormal_case_percent("123 !?"), 0.0);
    }

    /// A text of `length` characters that starts with one run of `count` + 1 times `c`.
    fn with_extra(c: char, count: usize, length: usize) -> String {
        let run: String = std::iter::repeat_n(c, count + 1).collect();
        format!("{run}{}", "x".repeat(length - count - 1))
    }

    fn mirrored(rule: &Rule, strength: f64, response: &str, baseline: &str) -> Option<bool> {
        judge(rule, strength, response, baseline).mirrored
    }

    #[test]
    fn spacing_limits_are_those_of_the_method() {
        for (strength, a, r) in [(1.0, 3, 5), (20.0, 3, 5), (21.0, 5, 8), (50.0, 5, 8), (51.0, 10, 12), (100.0, 10, 12)]
        {
            limits_hold(&SPACING, ' ', strength, a, r);
        }
    }

    #[test]
    fn punctuation_limits_are_those_of_the_method() {
        for (strength, a, r) in [(1.0, 2, 3), (5.0, 2, 3), (6.0, 4, 5), (10.0, 4, 5), (11.0, 6, 8), (20.0, 6, 8)] {
            limits_hold(&PUNCTUATION, '!', strength, a, r);
        }
    }

    /// Exactly `a` more at a rate of at least `r` is mirrored; one less, or a rate just below, is not.
    fn limits_hold(rule: &Rule, c: char, strength: f64, a: usize, r: usize) {
        let short = with_extra(c, a, 100 * a / r);
        assert_eq!(mirrored(rule, strength, &short, "x"), Some(true), "{strength}");
        assert_eq!(mirrored(rule, strength, &with_extra(c, a, 100 * a / r + 1), "x"), Some(false), "{strength}");
        assert_eq!(mirrored(rule, strength, &short, &with_extra(c, 1, 9)), Some(false), "{strength}");
        assert_eq!(mirrored(rule, strength, &with_extra(c, a - 1, a + 1), "x"), Some(false), "{strength}");
    }

    #[test]
    fn casing_limits_are_those_of_the_method() {
        for (strength, percent) in [(10.0, 8), (25.0, 8), (26.0, 15), (50.0, 15), (51.0, 25), (100.0, 25)] {
            // A word of `percent` letters in upper case among 100 letters.
            let text = |upper: usize| format!("{} {}", "A".repeat(upper), "a".repeat(100 - upper));
            assert_eq!(mirrored(&CASING, strength, &text(percent), "quiet"), Some(true), "{strength}");
            assert_eq!(mirrored(&CASING, strength, &text(percent - 1), "quiet"), Some(false), "{strength}");
            // Five points above the baseline, not four.
            let higher = text(percent + 10);
            assert_eq!(mirrored(&CASING, strength, &higher, &text(percent + 5)), Some(true));
            assert_eq!(mirrored(&CASING, strength, &higher, &text(percent + 6)), Some(false));
        }
    }

    #[test]
    fn the_figures_are_stored() {
        let judgement = judge(&SPACING, 5.0, "a    b", "a  b");
        assert_eq!(
            judgement.raw,
            r#"{"extra_spaces":3.0,"baseline":1.0,"rate":50.0,"least_increase":3.0,"least_rate":5.0}"#
        );
        assert_eq!((judgement.mirrored, judgement.judge), (Some(false), "rules/surface"));
    }
}
