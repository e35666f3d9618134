//! Mirroring: whether a response takes on the style of its prompt's wording.
//!
//! In: subtype and strength of the wording, its response, and the baseline's response. Out: a [`Judgement`] by rule.
//! The rules are those of the method: [`surface`] noise, [`courtesy`] cue words, response [`length`]; form is not judged.

pub mod courtesy;
pub mod length;
pub mod surface;

/// What a rule decided, and on which figures: one row of the table `judgements`.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// Whether the response takes on the style; None where the rule can't tell (no words in the baseline's response).
    pub mirrored: Option<bool>,
    /// The figures decided on, as a JSON object; stored as `raw_reply`.
    pub raw: String,
    /// Name of the judge: `rules/surface`, `rules/cue-words` or `rules/word-count`.
    pub judge: &'static str,
    /// Kind of judge: always `rule` here.
    pub method: &'static str,
}

impl Judgement {
    fn by_rule(judge: &'static str, mirrored: Option<bool>, figures: &serde_json::Value) -> Judgement {
        Judgement { mirrored, raw: figures.to_string(), judge, method: "rule" }
    }
}

/// A shortfall that is rounding and nothing else: a figure that is exactly at its limit counts as reaching it.
const ROUNDING: f64 = 1e-9;

/// Judges one response against the baseline's.
///
/// None where there is nothing to judge: form, own paraphrases and other subtypes; a strength that is missing or not
/// finite; and the baseline's own strength (0; 1 for length), whose value is 0 by definition.
pub fn judge(subtype: &str, strength: Option<f64>, response: &str, baseline_response: &str) -> Option<Judgement> {
    let strength = strength.filter(|s| s.is_finite())?;
    match subtype {
        "politeness" if strength != 0.0 => Some(courtesy::judge(strength, response, baseline_response)),
        "length" if strength > 0.0 && strength != 1.0 => Some(length::judge(strength, response, baseline_response)),
        "spacing" if strength > 0.0 => Some(surface::judge(&surface::SPACING, strength, response, baseline_response)),
        "punctuation" if strength > 0.0 => {
            Some(surface::judge(&surface::PUNCTUATION, strength, response, baseline_response))
        }
        "casing" if strength > 0.0 => Some(surface::judge(&surface::CASING, strength, response, baseline_response)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_method_judges_is_judged() {
        assert_eq!(judge("form", None, "a", "b"), None);
        assert_eq!(judge("baseline", None, "a", "a"), None);
        assert_eq!(judge("slang", Some(3.0), "a", "b"), None);
        assert_eq!(judge("spacing", None, "a", "b"), None);
        for (subtype, baseline) in [("politeness", 0.0), ("spacing", 0.0), ("casing", 0.0), ("length", 1.0)] {
            assert_eq!(judge(subtype, Some(baseline), "a", "a"), None);
            assert_eq!(judge(subtype, Some(f64::NAN), "a", "a"), None);
        }
        assert!(judge("casing", Some(10.0), "", "").is_some_and(|j| j.mirrored == Some(false) && j.method == "rule"));
    }
}
