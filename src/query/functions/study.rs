//! `resampled_study`: what a study with another number of prompts would have found.
//!
//! In: scores and a number. Out: where the means of so many of them lie, and how often their t-test rejects.

use datafusion::common::{Result, exec_datafusion_err};
use datafusion::logical_expr::AggregateUDF;

use super::aggregate::{Cell, CellKind, Shape, aggregate};
use super::doc::ArgumentKind::{Number, Whole};
use super::doc::{FunctionDoc, argument, per_group};
use super::group::Group;
use super::resample::{Stream, checked_draws, quantile};
use super::student_t::student_t_upper_quantile;
use super::t_test::checked_share;

/// Largest size of a study.
const LARGEST: i64 = 1_000_000;

/// What studies of one size come to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ResampledStudy {
    /// 2.5 % quantile of the means.
    pub mean_low: f64,
    /// 97.5 % quantile of the means.
    pub mean_high: f64,
    /// Share of the studies whose one-sided t-test has p < alpha; None for studies of one score.
    pub reject: Option<f64>,
}

/// `draws` studies of `size` scores, drawn from `scores` with replacement; None where there are no scores.
pub fn resampled_study(
    scores: &[f64],
    size: usize,
    popmean: f64,
    alpha: f64,
    draws: usize,
    seed: i64,
) -> Option<ResampledStudy> {
    if scores.is_empty() || size == 0 {
        return None;
    }
    let n = size as f64;
    // p < alpha is t > this: one quantile in place of a tail a study.
    let critical = student_t_upper_quantile(alpha, n - 1.0);
    let mut stream = Stream::new(seed, &["study", &scores.len().to_string(), &size.to_string()]);
    let mut study = vec![0.0f64; size];
    let mut means = Vec::with_capacity(draws);
    let mut rejected = 0;
    for _ in 0..draws {
        let (mut least, mut most, mut sum) = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
        for score in &mut study {
            *score = scores.get(stream.below(scores.len())).copied().unwrap_or(f64::NAN);
            (least, most, sum) = (least.min(*score), most.max(*score), sum + *score);
        }
        let mean = if least == most { least } else { sum / n };
        means.push(mean);
        let squares: f64 = study.iter().map(|score| (score - mean).powi(2)).sum();
        let error = (squares / (n - 1.0) / n).sqrt();
        // Without variance the test rejects when the mean is greater at all, as t_test_p does.
        rejected += usize::from(critical.is_some_and(|t| mean - popmean > t * error));
    }
    Some(ResampledStudy {
        mean_low: quantile(&mut means, 0.025)?,
        mean_high: quantile(&mut means, 0.975)?,
        reject: critical.map(|_| rejected as f64 / draws as f64),
    })
}

pub(super) const RESAMPLED_STUDY: FunctionDoc = FunctionDoc {
    name: "resampled_study",
    is_aggregate: true,
    arguments: &[
        argument("x", Number, "the scores; rows where it is NULL are left out"),
        per_group("n", Whole, "number of scores of a study"),
        per_group("popmean", Number, "the mean that a study tests against"),
        per_group("alpha", Number, "a study rejects below this p"),
        per_group("draws", Whole, "number of studies"),
        per_group("seed", Whole, "seed of the draws; the same for the same numbers of scores"),
    ],
    returns: "struct of mean_low, mean_high, reject (double)",
    what: "Studies of n scores drawn with replacement: the 2.5 % and 97.5 % quantiles of their means, and the share \
           whose one-sided t-test has p < alpha (NULL for n = 1). NULL without scores.",
    example: "select s['mean_low'], s['mean_high'], s['reject']
from (select resampled_study(x, 4, 0, 0.05, 99, 1) as s from (values (2.0), (2.0)) as t (x))",
    result: "2.0 | 2.0 | 1.0",
    source: "Efron 1979; share of rejections: Davison and Hinkley 1997, section 4.6",
};

/// The aggregate.
pub(super) fn function() -> AggregateUDF {
    const FIELDS: [(&str, CellKind); 3] =
        [("mean_low", CellKind::Number), ("mean_high", CellKind::Number), ("reject", CellKind::Number)];
    aggregate(&RESAMPLED_STUDY, Shape::Fields(&FIELDS), cells)
}

fn cells(group: &Group) -> Result<Vec<Cell>> {
    let n = group.whole(0);
    let size = usize::try_from(n)
        .ok()
        .filter(|_| (1..=LARGEST).contains(&n))
        .ok_or_else(|| exec_datafusion_err!("resampled_study expects an n of 1 to {LARGEST}, found {n}"))?;
    let alpha = checked_share("resampled_study", "alpha", group.number(2))?;
    let draws = checked_draws("resampled_study", group.whole(3))?;
    Ok(match resampled_study(group.column(0), size, group.number(1), alpha, draws, group.whole(4)) {
        Some(study) => vec![Cell::Number(study.mean_low), Cell::Number(study.mean_high), study.reject.into()],
        None => vec![Cell::Null; 3],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_study_of_one_is_a_score() {
        let scores: Vec<f64> = (0..1001).map(|i| f64::from(i) / 1000.0).collect();
        let study = resampled_study(&scores, 1, 0.0, 0.05, 20_000, 1).unwrap();
        // The quantiles of the scores, give or take 4 standard errors of 0.0011.
        assert!((study.mean_low - 0.025).abs() < 0.005 && (study.mean_high - 0.975).abs() < 0.005);
        assert_eq!(study.reject, None);
    }

    #[test]
    fn larger_studies_are_narrower_and_reject_more() {
        let scores: Vec<f64> = (0..50).map(|i| f64::from(i * 17 % 50) / 50.0).collect();
        let of = |n| resampled_study(&scores, n, 0.4, 0.05, 4000, 1).unwrap();
        let (small, large) = (of(16), of(64));
        let width = |study: ResampledStudy| study.mean_high - study.mean_low;
        // Half as wide at four times the size.
        assert!((width(small) / width(large) - 2.0).abs() < 0.15, "{small:?} {large:?}");
        assert!(small.reject < large.reject);
        // Every score above the tested mean, without variance: always rejected; at the mean: never.
        assert_eq!(resampled_study(&[0.2], 5, 0.1, 0.05, 10, 1).unwrap().reject, Some(1.0));
        assert_eq!(resampled_study(&[0.2], 5, 0.2, 0.05, 10, 1).unwrap().reject, Some(0.0));
    }
}
