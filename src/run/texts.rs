//! Texts: what is measured of responses as texts, whenever it is measured.
//!
//! In: responses, each with the baseline's response. Out: rows of `similarities` and `judgements`.
//! A run, a later measurement and an import share this, so that the same texts give the same rows.

use rayon::prelude::*;

use crate::Result;
use crate::measure::bertscore::{BertScorer, Score};
use crate::measure::{bleu, chrf, mirroring};
use crate::store::rows::{Cell, Rows};

/// A response with the baseline's response (repeat 0) that it is measured against.
pub(crate) struct Pair<'a> {
    pub(crate) prompt_id: &'a str,
    pub(crate) variant_id: &'a str,
    pub(crate) repeat: i32,
    pub(crate) subtype: &'a str,
    pub(crate) strength: Option<f64>,
    pub(crate) is_baseline: bool,
    pub(crate) response: &'a str,
    /// None where the baseline has no response.
    pub(crate) baseline: Option<&'a str>,
}

impl Pair<'_> {
    fn key(&self) -> [Cell; 3] {
        [self.prompt_id.into(), self.variant_id.into(), self.repeat.into()]
    }
}

/// The pairs that can be compared, reference first.
pub(crate) fn compared<'a>(pairs: &[Pair<'a>]) -> Vec<(&'a str, &'a str)> {
    pairs.iter().filter_map(|p| Some((p.baseline?, p.response))).collect()
}

/// BERTScores of the pairs that can be compared; NULL in the rows where there is no scorer.
pub(crate) fn bertscores(pairs: &[Pair], scorer: Option<&BertScorer>) -> Result<Option<Vec<Score>>> {
    scorer.map(|scorer| scorer.score(&compared(pairs))).transpose()
}

/// Rows of `similarities`: one for each pair that can be compared. `scores` are those of [`bertscores`], with the signature
/// of their scorer.
pub(crate) fn similarities(pairs: &[Pair], scores: Option<&[Score]>, signature: Option<&str>) -> Result<Rows> {
    let mut rows = Rows::of("similarities")?;
    let overlap = |(r, c): &(&str, &str)| {
        let (bleu, effective) = bleu::bleu_both(r, c);
        [bleu, effective, chrf::chrf(r, c)]
    };
    let overlaps: Vec<[f64; 3]> = compared(pairs).par_iter().map(overlap).collect();
    for (i, (pair, overlap)) in pairs.iter().filter(|p| p.baseline.is_some()).zip(overlaps).enumerate() {
        let [p, v, r] = pair.key();
        let [bleu, effective, chrf] = overlap.map(Cell::from);
        let score = scores.and_then(|s| s.get(i));
        rows.push([
            p,
            v,
            r,
            bleu,
            effective,
            chrf,
            bleu::SIGNATURE.into(),
            bleu::SIGNATURE_EFFECTIVE_ORDER.into(),
            chrf::SIGNATURE.into(),
            score.map(|s| s.precision).into(),
            score.map(|s| s.recall).into(),
            score.map(|s| s.f1).into(),
            signature.map(str::to_string).into(),
            score.map(|s| s.truncated).into(),
        ])?;
    }
    Ok(rows)
}

/// Rows of `judgements` by the built-in rules.
pub(crate) fn judgements(pairs: &[Pair]) -> Result<Rows> {
    let mut rows = Rows::of("judgements")?;
    for pair in pairs.iter().filter(|p| !p.is_baseline) {
        let judged =
            pair.baseline.and_then(|baseline| mirroring::judge(pair.subtype, pair.strength, pair.response, baseline));
        let Some(judged) = judged else { continue };
        let [p, v, r] = pair.key();
        rows.push([
            p,
            v,
            r,
            judged.judge.into(),
            0.into(),
            Cell::Null,
            Cell::Null,
            judged.raw.into(),
            judged.mirrored.into(),
            judged.method.into(),
            Cell::Null,
            Cell::Null,
        ])?;
    }
    Ok(rows)
}
