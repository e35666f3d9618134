//! `hedges_correction` and `bounded_mean_upper`: what turns an effect or a mean of few scores into a fair statement.
//!
//! In: degrees of freedom; or a mean of scores in 0..1 and their number. Out: a factor; an upper confidence bound.

use datafusion::logical_expr::ScalarUDF;

use super::doc::ArgumentKind::{Number, Whole};
use super::doc::{FunctionDoc, argument};
use super::scalar;
use super::student_t::{half_step_gamma_ratio, root};

/// The factor that frees Cohen's d of its bias, exact: gamma(df/2) / (sqrt(df/2) gamma((df - 1)/2)); None unless
/// df > 1 (Hedges 1981).
pub fn hedges_correction(df: f64) -> Option<f64> {
    (df > 1.0 && df.is_finite()).then(|| half_step_gamma_ratio(0.5 * (df - 1.0)) / (0.5 * df).sqrt())
}

/// Upper confidence bound at level 1 - `alpha` for the mean of `n` independent scores in 0..1, of which `mean` was seen:
/// the largest u with n KL(mean, u) <= ln(1 / alpha), KL between two coins (Chernoff 1952, Hoeffding 1963).
///
/// It holds for every distribution of scores in 0..1 and every n. None where an argument makes no sense.
pub fn bounded_mean_upper(mean: f64, n: f64, alpha: f64) -> Option<f64> {
    // A mean of scores that are exactly 1 may be 1 and a last digit.
    let mean = if (1.0..1.0 + 1e-12).contains(&mean) { 1.0 } else { mean };
    if !((0.0..=1.0).contains(&mean) && n >= 1.0 && alpha > 0.0 && alpha < 1.0) {
        return None;
    }
    let most = -alpha.ln() / n;
    if mean == 0.0 {
        return Some(-(-most).exp_m1());
    }
    if mean == 1.0 {
        return Some(1.0);
    }
    // With u = mean + d both logarithms are of 1 and something small, which has more digits than a ratio.
    let within = |u: f64| {
        let d = u - mean;
        most + mean * (d / mean).ln_1p() + (1.0 - mean) * (-d / (1.0 - mean)).ln_1p()
    };
    // At 1 the second logarithm is minus infinity: the step before it is the last to try.
    let before_one = 1.0 - f64::EPSILON / 2.0;
    if within(before_one) > 0.0 {
        return Some(1.0);
    }
    Some(root(mean, before_one, within))
}

pub(super) const HEDGES_CORRECTION: FunctionDoc = FunctionDoc {
    name: "hedges_correction",
    is_aggregate: false,
    arguments: &[argument("df", Number, "degrees of freedom of the standard deviation, n - 1")],
    returns: "double",
    what: "Factor that frees Cohen's d of its bias: gamma(df/2) / (sqrt(df/2) gamma((df - 1)/2)). NULL unless df > 1.",
    example: "select round(hedges_correction(15), 6)",
    result: "0.949008",
    source: "Hedges 1981",
};

pub(super) const BOUNDED_MEAN_UPPER: FunctionDoc = FunctionDoc {
    name: "bounded_mean_upper",
    is_aggregate: false,
    arguments: &[
        argument("mean", Number, "mean of independent scores in 0..1"),
        argument("n", Whole, "number of the scores"),
        argument("alpha", Number, "chance that the bound is too low, 0.05 say"),
    ],
    returns: "double",
    what: "Upper confidence bound of a mean that holds for every distribution on 0..1 and every n: the largest u with \
           n KL(mean, u) <= ln(1/alpha). Scores in 0..c: c * bounded_mean_upper(mean / c, n, alpha). NULL for a mean \
           outside 0..1 or no scores.",
    example: "select round(bounded_mean_upper(0, 16, 0.05), 6)",
    result: "0.17075",
    source: "Chernoff 1952; Hoeffding 1963, theorem 1",
};

/// The SQL functions of this file.
pub(super) fn functions() -> Vec<ScalarUDF> {
    vec![
        scalar::number(&HEDGES_CORRECTION, |args| match *args {
            [df] => hedges_correction(df),
            _ => None,
        }),
        scalar::number(&BOUNDED_MEAN_UPPER, |args| match *args {
            [mean, n, alpha] => bounded_mean_upper(mean, n, alpha),
            _ => None,
        }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_solves_its_equation() {
        let kl = |p: f64, q: f64| p * (p / q).ln() + (1.0 - p) * ((1.0 - p) / (1.0 - q)).ln();
        for (mean, n, alpha) in [(0.03, 16.0, 0.05), (0.5, 1.0, 0.05), (0.2, 96.0, 0.01), (0.97, 30.0, 0.1)] {
            let u = bounded_mean_upper(mean, n, alpha).unwrap();
            assert!(u > mean && (n * kl(mean, u) + f64::ln(alpha)).abs() < 1e-10, "{mean} {n} {alpha}: {u}");
        }
        // A mean of 0: (1 - u)^n = alpha. Of 1: nothing lies above.
        let u = bounded_mean_upper(0.0, 16.0, 0.05).unwrap();
        assert!((u - (1.0 - 0.05f64.powf(1.0 / 16.0))).abs() < 1e-15);
        assert_eq!(bounded_mean_upper(1.0, 16.0, 0.05), Some(1.0));
        // Many scores: Pinsker's and the normal bound meet, u - mean = sqrt(2 v ln(1/alpha) / n) with v = 1/4.
        let (u, n) = (bounded_mean_upper(0.5, 1e8, 0.05).unwrap(), 1e8);
        assert!(((u - 0.5) / (0.5 * -0.05f64.ln() / n).sqrt() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn what_makes_no_sense_has_no_bound() {
        assert_eq!(bounded_mean_upper(1.2, 16.0, 0.05), None);
        assert_eq!(bounded_mean_upper(-0.1, 16.0, 0.05), None);
        assert_eq!(bounded_mean_upper(0.1, 0.0, 0.05), None);
        assert_eq!(bounded_mean_upper(0.1, 16.0, 1.0), None);
        assert_eq!(hedges_correction(1.0), None);
    }

    #[test]
    fn the_correction_at_two_and_three_degrees_of_freedom() {
        // gamma(1) / gamma(1/2) = 1 / sqrt(pi); gamma(3/2) / (sqrt(3/2) gamma(1)) = sqrt(pi / 6).
        let pi = std::f64::consts::PI;
        assert!((hedges_correction(2.0).unwrap() - 1.0 / pi.sqrt()).abs() < 1e-15);
        assert!((hedges_correction(3.0).unwrap() - (pi / 6.0).sqrt()).abs() < 1e-15);
    }
}
