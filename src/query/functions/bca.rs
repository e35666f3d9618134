//! `bca_interval`: the bias-corrected and accelerated bootstrap interval of a mean.
//!
//! In: scores, each with its stratum. Out: two bounds, or the reason why there are none.
//! Resampled is within strata, whose sizes stay as they are; one stratum gives the plain interval.

use datafusion::common::Result;
use datafusion::logical_expr::AggregateUDF;

use super::aggregate::{Cell, CellKind, Shape, aggregate};
use super::doc::ArgumentKind::{Number, Text, Whole};
use super::doc::{FunctionDoc, argument, per_group};
use super::group::Group;
use super::moments::{Moments, SAME, exact_sum};
use super::normal::{normal_cdf, normal_quantile};
use super::resample::{checked_draws, quantile, resampled_means};
use super::t_test::checked_share;

/// Below this number of scores a bootstrap sees too few different resamples.
pub const LEAST: usize = 5;

/// Why there is no interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoInterval {
    /// Under [`LEAST`] scores.
    FewerThanFive,
    /// Within each stratum all scores are the same.
    Constant,
    /// All resampled means lie on one side of the mean: too few draws to tell by how much.
    OneSided,
}

impl NoInterval {
    /// The reason in words.
    pub fn words(self) -> &'static str {
        match self {
            NoInterval::FewerThanFive => "fewer than 5",
            NoInterval::Constant => "constant",
            NoInterval::OneSided => "resampled means on one side only",
        }
    }
}

/// The interval of the mean of `scores` (finite; stratum after stratum, sorted in each).
///
/// Efron 1987; strata as in Davison and Hinkley 1997, section 5.3.2: the acceleration is the skewness of the empirical
/// influence values, a = 1/6 sum(l^3 / N_s^3) / (sum(l^2 / N_s^2))^1.5 with l = (N_s / N) (x - mean of the stratum), in
/// which the N_s and N cancel. The bias counts ties by half, as scipy does.
///
/// # Errors
/// The reason why there is none.
pub fn bca_interval(
    scores: &[f64],
    strata: &[usize],
    confidence: f64,
    draws: usize,
    seed: i64,
) -> std::result::Result<(f64, f64), NoInterval> {
    if scores.len() < LEAST {
        return Err(NoInterval::FewerThanFive);
    }
    let mut centered = Vec::with_capacity(scores.len());
    let mut rest = scores;
    for &size in strata {
        let (stratum, others) = rest.split_at(size.min(rest.len()));
        rest = others;
        let Some(Moments { mean, variance, .. }) = Moments::of(stratum) else { continue };
        // Not x - mean where all are the same: that may be a last digit.
        centered.extend(stratum.iter().map(|x| if variance > 0.0 { x - mean } else { 0.0 }));
    }
    let squares = exact_sum(centered.iter().map(|c| c * c));
    if squares == 0.0 {
        return Err(NoInterval::Constant);
    }
    let acceleration = exact_sum(centered.iter().map(|c| c * c * c)) / (6.0 * squares.powf(1.5));
    let mean = exact_sum(scores.iter().copied()) / scores.len() as f64;
    let mut means = resampled_means(scores, strata, draws, seed);
    let slack = SAME * scores.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    let below = means.iter().filter(|&&m| m < mean - slack).count();
    let up_to = means.iter().filter(|&&m| m <= mean + slack).count();
    let bias = normal_quantile((below + up_to) as f64 / (2.0 * draws as f64));
    if !bias.is_finite() {
        return Err(NoInterval::OneSided);
    }
    let mut bound = |share: f64| {
        let z = bias + normal_quantile(share);
        quantile(&mut means, normal_cdf(bias + z / (1.0 - acceleration * z)))
    };
    let tail = 0.5 * (1.0 - confidence);
    let (low, high) = (bound(tail), bound(1.0 - tail));
    low.zip(high).ok_or(NoInterval::OneSided)
}

pub(super) const BCA_INTERVAL: FunctionDoc = FunctionDoc {
    name: "bca_interval",
    is_aggregate: true,
    arguments: &[
        argument("x", Number, "the scores; rows where it is NULL are left out"),
        argument("stratum", Text, "resampled is among the rows with the same one; '' for a plain interval"),
        per_group("confidence", Number, "share of such intervals that hold the mean, 0.95 say"),
        per_group("draws", Whole, "number of resamples"),
        per_group("seed", Whole, "seed of the resamples; the same for the same numbers of scores"),
    ],
    returns: "struct of low and high (double) and reason (text)",
    what: "Bias-corrected and accelerated bootstrap interval of the mean over all rows. low and high are NULL, with \
           the reason, for fewer than 5 scores or scores that do not vary within a stratum.",
    example: "select i['low'] < 3 and i['high'] > 3, i['reason']
from (
    select bca_interval(x, '', 0.95, 999, 1) as i
    from (values (1.0), (2.0), (3.0), (4.0), (5.0)) as t (x)
)",
    result: "true | NULL",
    source: "Efron 1987; strata: Davison and Hinkley 1997, section 5.3.2",
};

/// The aggregate.
pub(super) fn function() -> AggregateUDF {
    let shape = Shape::Fields(&[("low", CellKind::Number), ("high", CellKind::Number), ("reason", CellKind::Text)]);
    aggregate(&BCA_INTERVAL, shape, cells)
}

fn cells(group: &Group) -> Result<Vec<Cell>> {
    let confidence = checked_share("bca_interval", "confidence", group.number(0))?;
    let draws = checked_draws("bca_interval", group.whole(1))?;
    Ok(match bca_interval(group.column(0), group.strata(), confidence, draws, group.whole(2)) {
        Ok((low, high)) => vec![Cell::Number(low), Cell::Number(high), Cell::Null],
        Err(reason) => vec![Cell::Null, Cell::Null, Cell::Text(reason.words())],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_interval_says_why() {
        let of = |scores: &[f64], strata: &[usize]| bca_interval(scores, strata, 0.95, 99, 0).unwrap_err().words();
        assert_eq!(of(&[1.0, 2.0, 3.0, 4.0], &[4]), "fewer than 5");
        assert_eq!(of(&[0.1; 7], &[7]), "constant");
        // Differences between strata alone are no spread.
        assert_eq!(of(&[0.1, 0.1, 0.1, 0.7, 0.7, 0.7], &[3, 3]), "constant");
        // A single resample lies on one side.
        assert_eq!(bca_interval(&[1.0, 2.0, 4.0, 8.0, 16.5], &[5], 0.95, 1, 2), Err(NoInterval::OneSided));
    }

    #[test]
    fn strata_take_out_what_lies_between_them() {
        let scores: Vec<f64> =
            (0..8).map(|i| 0.01 * f64::from(i)).chain((0..8).map(|i| 5.0 + 0.01 * f64::from(i))).collect();
        let width =
            |strata: &[usize]| bca_interval(&scores, strata, 0.95, 1999, 3).map(|(low, high)| high - low).unwrap();
        // Standard error within strata: sd 0.0245 / 4 = 0.006, times 2 * 1.96; between them it would be 0.62.
        assert!((width(&[8, 8]) - 0.0225).abs() < 0.004, "{}", width(&[8, 8]));
        assert!(width(&[16]) > 1.5);
    }
}
