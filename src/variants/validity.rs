//! Validity: does a wording still mean what its baseline means?
//!
//! In: variants, and a scorer of text pairs (BERTScore F1). Out: the score in every row, and the rule's verdict in those it
//! applies to: rewrites and users' own paraphrases. Noise and framing keep the meaning by construction.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Subtype, Variant};
use crate::{Error, Result};

/// What is left out of the analysis for a low score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValidityRule {
    /// Length, form and own paraphrases under the threshold. It belongs to the scorer: 0.85 for roberta-large.
    RewritesAndOwn {
        /// Smallest accepted BERTScore F1.
        threshold: f64,
    },
    /// Nothing, as the published pipeline did (preset `paper`).
    None,
}

impl ValidityRule {
    fn applies_to(self, variant: &Variant) -> Option<f64> {
        let rewritten = variant.rewriter.as_deref() == Some("own")
            || Subtype::ALL.into_iter().any(|s| s.is_rewrite() && s.as_str() == variant.subtype);
        match self {
            ValidityRule::RewritesAndOwn { threshold } if rewritten && !variant.is_baseline => Some(threshold),
            _ => None,
        }
    }
}

/// Scores every variant that has a text against its baseline's text, records score and `scorer_signature`, and applies `rule`.
///
/// `score` gets each distinct (reference, candidate) pair once, in order of first use: the reference is the baseline's text,
/// the candidate the variant's. It gives one BERTScore F1 a pair. Variants may be of many prompts and data sets. Rows that were
/// not valid before stay so; a score that is no number is not recorded and fails the rule.
///
/// # Errors
/// A threshold outside 0..=1, a baseline that is missing, an error of `score`, or another number of scores than of pairs.
pub fn apply_validity<F>(variants: &mut [Variant], rule: ValidityRule, scorer_signature: &str, score: F) -> Result<()>
where
    F: FnOnce(&[(&str, &str)]) -> Result<Vec<f64>>,
{
    if let ValidityRule::RewritesAndOwn { threshold } = rule
        && !(0.0..=1.0).contains(&threshold)
    {
        let wrong = Error::input("the validity threshold is no BERTScore F1").key("threshold");
        return Err(wrong.found(threshold.to_string()).expected("a number from 0 to 1").into());
    }
    let scores = {
        let baselines: BTreeMap<(&str, &str, &str), &str> = variants
            .iter()
            .filter(|v| v.is_baseline)
            .filter_map(|v| {
                Some(((v.dataset.as_str(), v.prompt_id.as_str(), v.variant_id.as_str()), v.text.as_deref()?))
            })
            .collect();
        let mut distinct: Vec<(&str, &str)> = Vec::new();
        let mut index: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        let mut wanted: Vec<Option<usize>> = Vec::with_capacity(variants.len());
        for v in variants.iter() {
            let Some(candidate) = v.text.as_deref() else {
                wanted.push(None);
                continue;
            };
            let key = (v.dataset.as_str(), v.prompt_id.as_str(), v.baseline_id.as_str());
            let Some(&reference) = baselines.get(&key) else {
                return Err(Error::Table {
                    table: "variants".to_string(),
                    what: format!("{}/{}/{}: its baseline {} has no text", key.0, key.1, v.variant_id, v.baseline_id),
                });
            };
            let at = *index.entry((reference, candidate)).or_insert_with(|| {
                distinct.push((reference, candidate));
                distinct.len() - 1
            });
            wanted.push(Some(at));
        }
        let scores = score(&distinct)?;
        if scores.len() != distinct.len() {
            return Err(Error::Table {
                table: "variants".to_string(),
                what: format!("{} pairs were to be scored, {} scores came back", distinct.len(), scores.len()),
            });
        }
        wanted.into_iter().map(|at| at.and_then(|at| scores.get(at).copied())).collect::<Vec<_>>()
    };
    for (variant, score) in variants.iter_mut().zip(scores) {
        let Some(f1) = score else { continue };
        variant.prompt_bertscore = f1.is_finite().then_some(f1);
        variant.scorer = Some(scorer_signature.to_string());
        if let Some(threshold) = rule.applies_to(variant)
            && (f1.is_nan() || f1 < threshold)
            && variant.is_valid
        {
            variant.is_valid = false;
            variant.invalid_reason = Some(format!("BERTScore F1 {f1:.4} against the baseline is under {threshold}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Grid, baseline, make, own};
    use super::*;
    use crate::datasets::Prompt;
    use crate::variants::{Paraphrase, Place};

    fn variants() -> Vec<Variant> {
        let prompt = Prompt {
            dataset: "d".to_string(),
            prompt_id: "1".to_string(),
            text: "Name three rivers of France.".to_string(),
            answers: vec![],
            category: None,
            source_row: 0,
            source_hash: String::new(),
        };
        let mut all = make(&prompt, &Grid::paper(), 1);
        let paraphrase = Paraphrase {
            dataset: None,
            prompt_id: "1".to_string(),
            text: "Three French rivers, please.".to_string(),
            family: "own".to_string(),
            subtype: "mine".to_string(),
            place: Place::Global,
            level: None,
            line: 2,
        };
        all.extend(own(&prompt, &[paraphrase], 1).unwrap());
        assert_eq!(all[0], baseline(&prompt, 1));
        all
    }

    #[test]
    fn every_text_is_scored_and_only_rewrites_are_cut() {
        let mut rows = variants();
        apply_validity(&mut rows, ValidityRule::RewritesAndOwn { threshold: 0.85 }, "sig", |pairs| {
            let distinct: std::collections::BTreeSet<_> = pairs.iter().collect();
            assert_eq!(distinct.len(), pairs.len());
            Ok(pairs.iter().map(|(r, c)| if r == c { 1.0 } else { 0.5 }).collect())
        })
        .unwrap();
        for v in &rows {
            assert_eq!(v.prompt_bertscore.is_some(), v.text.is_some(), "{}", v.variant_id);
            if v.text.is_none() {
                assert!(!v.is_valid && v.scorer.is_none());
                continue;
            }
            let cut = !v.is_baseline
                && (v.subtype == "length" || v.subtype == "form" || v.rewriter.as_deref() == Some("own"));
            assert_eq!(v.is_valid, !cut, "{}", v.variant_id);
            assert_eq!(v.scorer.as_deref(), Some("sig"));
        }
        assert!(rows.iter().any(|v| v.invalid_reason.as_deref().is_some_and(|r| r.contains("0.5000"))));
    }

    #[test]
    fn form_is_scored_against_its_own_baseline() {
        let mut rows = variants();
        let mut seen = Vec::new();
        apply_validity(&mut rows, ValidityRule::None, "sig", |pairs| {
            seen = pairs.iter().map(|(r, c)| (r.to_string(), c.to_string())).collect();
            Ok(vec![0.1; pairs.len()])
        })
        .unwrap();
        let pair = ("Could you name three rivers of France?".to_string(), "Name three rivers of France.".to_string());
        assert!(seen.contains(&pair), "{seen:?}");
        assert!(rows.iter().filter(|v| v.text.is_some()).all(|v| v.is_valid), "the rule None cuts nothing");
    }

    #[test]
    fn bad_thresholds_and_bad_scorers_are_errors() {
        let mut rows = variants();
        let rule = ValidityRule::RewritesAndOwn { threshold: 85.0 };
        assert!(apply_validity(&mut rows, rule, "s", |p| Ok(vec![1.0; p.len()])).is_err());
        assert!(apply_validity(&mut rows, ValidityRule::None, "s", |_| Ok(vec![1.0])).is_err());
        let mut orphan = vec![rows.pop().unwrap()];
        assert!(apply_validity(&mut orphan, ValidityRule::None, "s", |p| Ok(vec![1.0; p.len()])).is_err());
    }

    #[test]
    fn a_score_that_is_no_number_fails_the_rule() {
        let mut rows = variants();
        let rule = ValidityRule::RewritesAndOwn { threshold: 0.0 };
        apply_validity(&mut rows, rule, "s", |p| Ok(vec![f64::NAN; p.len()])).unwrap();
        let row = rows.iter().find(|v| v.rewriter.as_deref() == Some("own")).unwrap();
        assert!(!row.is_valid && row.prompt_bertscore.is_none());
    }
}
