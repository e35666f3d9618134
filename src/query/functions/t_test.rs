//! The one-sample t-test and the t interval of a mean, as aggregates.
//!
//! In: the scores of a group and the mean to test against, or a confidence. Out: t, p-values, or two bounds.
//! [`t_test`] and [`t_interval`] are the same for Rust.

use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::AggregateUDF;

use super::aggregate::{Cell, CellKind, Shape, aggregate};
use super::doc::ArgumentKind::Number;
use super::doc::{Argument, FunctionDoc, argument, per_group};
use super::group::Group;
use super::moments::{Moments, are_same};
use super::student_t::{student_t_sf, student_t_upper_quantile};

const SCORES: Argument = argument("x", Number, "the scores; rows where it is NULL are left out");
const POPMEAN: Argument = per_group("popmean", Number, "the mean to test against");
const CONFIDENCE: Argument = per_group("confidence", Number, "share of such intervals that hold the mean, 0.95 say");

pub(super) const T_TEST_STATISTIC: FunctionDoc = FunctionDoc {
    name: "t_test_statistic",
    is_aggregate: true,
    arguments: &[SCORES, POPMEAN],
    returns: "double",
    what: "One-sample t: (mean - popmean) / (sd / sqrt(n)). NULL for fewer than two scores or scores without variance.",
    example: "select round(t_test_statistic(x, 1), 6) from (values (1.0), (2.0), (3.0)) as t (x)",
    result: "1.732051",
    source: "Student 1908",
};

pub(super) const T_TEST_P: FunctionDoc = FunctionDoc {
    name: "t_test_p",
    what: "One-sided p-value of the one-sample t-test, alternative: the mean is greater than popmean. Without variance \
           0 or 1, NULL where the mean is popmean; NULL for fewer than two scores.",
    example: "select round(t_test_p(x, 1), 6) from (values (1.0), (2.0), (3.0)) as t (x)",
    result: "0.112702",
    ..T_TEST_STATISTIC
};

pub(super) const T_TEST_P_TWO_SIDED: FunctionDoc = FunctionDoc {
    name: "t_test_p_two_sided",
    what: "Two-sided p-value of the one-sample t-test. Without variance 0, NULL where the mean is popmean; NULL for \
           fewer than two scores.",
    example: "select round(t_test_p_two_sided(x, 1), 6) from (values (1.0), (2.0), (3.0)) as t (x)",
    result: "0.225403",
    ..T_TEST_STATISTIC
};

pub(super) const T_INTERVAL: FunctionDoc = FunctionDoc {
    name: "t_interval",
    arguments: &[SCORES, CONFIDENCE],
    returns: "struct of low and high, double",
    what: "Two-sided interval of the mean: mean -+ t sd / sqrt(n) with the quantile t of n - 1 degrees of freedom. \
           Fields are NULL for fewer than two scores; without variance both are the mean.",
    example: "select round(i['low'], 6), round(i['high'], 6)
from (select t_interval(x, 0.95) as i from (values (1.0), (2.0), (3.0)) as t (x))",
    result: "-0.484138 | 4.484138",
    ..T_TEST_STATISTIC
};

/// The aggregates of this file.
pub(super) fn functions() -> Vec<AggregateUDF> {
    let low_high = Shape::Fields(&[("low", CellKind::Number), ("high", CellKind::Number)]);
    vec![
        aggregate(&T_TEST_STATISTIC, Shape::Number, |group| Ok(vec![test_of(group).statistic.into()])),
        aggregate(&T_TEST_P, Shape::Number, |group| Ok(vec![test_of(group).p_greater.into()])),
        aggregate(&T_TEST_P_TWO_SIDED, Shape::Number, |group| Ok(vec![test_of(group).p_two_sided.into()])),
        aggregate(&T_INTERVAL, low_high, |group| {
            let confidence = checked_share("t_interval", "confidence", group.number(0))?;
            Ok(match t_interval(group.column(0), confidence) {
                Some((low, high)) => vec![Cell::Number(low), Cell::Number(high)],
                None => vec![Cell::Null; 2],
            })
        }),
    ]
}

fn test_of(group: &Group) -> TTest {
    t_test(group.column(0), group.number(0))
}

/// A confidence or a level as it is given in SQL.
///
/// # Errors
/// Not between 0 and 1.
pub(super) fn checked_share(function: &str, name: &str, share: f64) -> Result<f64> {
    if share > 0.0 && share < 1.0 {
        return Ok(share);
    }
    exec_err!("{function} expects a {name} between 0 and 1, found {share}")
}

/// The outcome of a one-sample t-test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TTest {
    /// t; None for fewer than two scores or scores without variance.
    pub statistic: Option<f64>,
    /// P(T > t); without variance 0 or 1, None where the mean is the tested one; None for fewer than two scores.
    pub p_greater: Option<f64>,
    /// P(|T| > |t|); without variance 0, None as above.
    pub p_two_sided: Option<f64>,
}

/// One-sample t-test of the mean of `sorted` (finite, ascending) against `popmean`; method, section 6.
pub fn t_test(sorted: &[f64], popmean: f64) -> TTest {
    const UNKNOWN: TTest = TTest { statistic: None, p_greater: None, p_two_sided: None };
    let Some(Moments { n, mean, variance }) = Moments::of(sorted).filter(|m| m.n > 1.0 && popmean.is_finite()) else {
        return UNKNOWN;
    };
    if variance == 0.0 {
        let differs = !are_same(mean, popmean);
        return TTest {
            p_greater: differs.then_some(if mean > popmean { 0.0 } else { 1.0 }),
            p_two_sided: differs.then_some(0.0),
            ..UNKNOWN
        };
    }
    let t = (mean - popmean) / (variance / n).sqrt();
    TTest {
        statistic: Some(t),
        p_greater: Some(student_t_sf(t, n - 1.0)),
        p_two_sided: Some(2.0 * student_t_sf(t.abs(), n - 1.0)),
    }
}

/// The t interval of the mean of `sorted` (finite, ascending); None for fewer than two scores.
pub fn t_interval(sorted: &[f64], confidence: f64) -> Option<(f64, f64)> {
    let Moments { n, mean, variance } = Moments::of(sorted).filter(|m| m.n > 1.0)?;
    let half = student_t_upper_quantile(0.5 * (1.0 - confidence), n - 1.0)? * (variance / n).sqrt();
    Some((mean - half, mean + half))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_variance_only_the_side_is_known() {
        let p = |popmean| (t_test(&[0.25, 0.25], popmean).p_greater, t_test(&[0.25, 0.25], popmean).p_two_sided);
        assert_eq!(p(0.1), (Some(0.0), Some(0.0)));
        assert_eq!(p(0.5), (Some(1.0), Some(0.0)));
        assert_eq!(p(0.25), (None, None));
        assert_eq!(t_test(&[0.25, 0.25], 0.1).statistic, None);
        assert_eq!(t_interval(&[0.1, 0.1, 0.1], 0.95), Some((0.1, 0.1)));
        // The last digit is how a score was summed.
        let nearly = [0.05, 0.05 + 7e-18, 0.05 + 1.4e-17];
        assert_eq!(t_test(&nearly, 0.05).p_greater, None);
        assert_eq!((t_test(&nearly, 0.01).statistic, t_test(&nearly, 0.01).p_greater), (None, Some(0.0)));
    }

    #[test]
    fn one_score_tells_nothing() {
        assert_eq!(t_test(&[0.3], 0.1).p_greater, None);
        assert_eq!(t_test(&[], 0.1).p_two_sided, None);
        assert_eq!(t_interval(&[0.3], 0.95), None);
    }

    #[test]
    fn a_hand_computed_test() {
        // mean 2, sd 1, n 3: t = (2 - 1) / (1 / sqrt 3) = sqrt 3; df 2: p = 1 / (s (s + t)), s = sqrt 5.
        let test = t_test(&[1.0, 2.0, 3.0], 1.0);
        let (t, s) = (3f64.sqrt(), 5f64.sqrt());
        assert!((test.statistic.unwrap() - t).abs() < 1e-15);
        assert!((test.p_greater.unwrap() - 1.0 / (s * (s + t))).abs() < 1e-15);
        assert!((test.p_two_sided.unwrap() - 2.0 / (s * (s + t))).abs() < 1e-15);
        // The other side: the same two-sided p, the one-sided one from the other end.
        let below = t_test(&[1.0, 2.0, 3.0], 3.0);
        assert_eq!(below.p_two_sided, test.p_two_sided);
        assert!((below.p_greater.unwrap() + test.p_greater.unwrap() - 1.0).abs() < 1e-15);
    }
}
