//! `t_test_power` and `t_test_sample_size`: what a one-sided one-sample t-test can show.
//!
//! In: an effect (mean difference in standard deviations), a level, a number of scores or a wanted power. Out: the other.

use datafusion::logical_expr::ScalarUDF;

use super::doc::ArgumentKind::{Number, Whole};
use super::doc::{FunctionDoc, argument};
use super::noncentral_t::noncentral_t_sf;
use super::normal::normal_upper_quantile;
use super::scalar;
use super::student_t::student_t_upper_quantile;

/// Largest number of scores that [`t_test_sample_size`] gives.
const MOST: f64 = 1e9;

/// Chance that a t-test of `n` scores, alternative "greater", has p < `alpha` where the true effect is `effect`
/// (Cohen 1988, chapter 2); None for fewer than two scores.
pub fn t_test_power(n: f64, effect: f64, alpha: f64) -> Option<f64> {
    if n < 2.0 {
        return None;
    }
    let critical = student_t_upper_quantile(alpha, n - 1.0)?;
    Some(noncentral_t_sf(critical, n - 1.0, effect * n.sqrt())).filter(|power| !power.is_nan())
}

/// Least number of scores with a power of at least `power`; None for an effect of 0 or less, or above 1e9 scores.
pub fn t_test_sample_size(effect: f64, power: f64, alpha: f64) -> Option<f64> {
    if !(effect > 0.0 && power > 0.0 && power < 1.0 && alpha > 0.0 && alpha < 1.0) {
        return None;
    }
    let enough = |n: f64| t_test_power(n, effect, alpha).is_some_and(|found| found >= power);
    if enough(2.0) {
        return Some(2.0);
    }
    // The normal approximation is near; from there on outwards until both sides are known.
    let near = ((normal_upper_quantile(alpha) + normal_upper_quantile(1.0 - power)) / effect).powi(2);
    let (mut too_few, mut step) = (2.0, 2.0f64.max((0.02 * near).floor()));
    let mut many = near.ceil().clamp(3.0, MOST);
    while !enough(many) {
        if many >= MOST {
            return None;
        }
        (too_few, many, step) = (many, (many + step).min(MOST), 2.0 * step);
    }
    while many - too_few > 1.0 {
        let middle = (0.5 * (too_few + many)).floor();
        if enough(middle) { many = middle } else { too_few = middle }
    }
    Some(many)
}

pub(super) const T_TEST_POWER: FunctionDoc = FunctionDoc {
    name: "t_test_power",
    is_aggregate: false,
    arguments: &[
        argument("n", Whole, "number of scores"),
        argument("effect", Number, "true mean less tested mean, in standard deviations"),
        argument("alpha", Number, "the test rejects below this p"),
    ],
    returns: "double",
    what: "Power of the one-sided one-sample t-test. NULL for n < 2.",
    example: "select round(t_test_power(16, 0.5, 0.05), 6)",
    result: "0.604033",
    source: "Cohen 1988, chapter 2",
};

pub(super) const T_TEST_SAMPLE_SIZE: FunctionDoc = FunctionDoc {
    name: "t_test_sample_size",
    arguments: &[
        argument("effect", Number, "true mean less tested mean, in standard deviations; above 0"),
        argument("power", Number, "wanted chance to reject"),
        argument("alpha", Number, "the test rejects below this p"),
    ],
    returns: "bigint",
    what: "Least n with which t_test_power is at least the wanted power. NULL for an effect of 0 or less, or where \
           over 1e9 scores are needed.",
    example: "select t_test_sample_size(0.5, 0.8, 0.05)",
    result: "27",
    ..T_TEST_POWER
};

/// The SQL functions of this file.
pub(super) fn functions() -> Vec<ScalarUDF> {
    vec![
        scalar::number(&T_TEST_POWER, |args| match *args {
            [n, effect, alpha] => t_test_power(n, effect, alpha),
            _ => None,
        }),
        scalar::whole(&T_TEST_SAMPLE_SIZE, |args| match *args {
            [effect, power, alpha] => t_test_sample_size(effect, power, alpha),
            _ => None,
        }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_found_is_the_least() {
        for (effect, power, alpha) in [(0.2, 0.8, 0.05), (0.5, 0.9, 0.01), (3.0, 0.8, 0.05), (0.01, 0.8, 0.05)] {
            let n = t_test_sample_size(effect, power, alpha).unwrap();
            assert!(t_test_power(n, effect, alpha).unwrap() >= power);
            assert!(n == 2.0 || t_test_power(n - 1.0, effect, alpha).unwrap() < power, "{effect} {power} {alpha}: {n}");
        }
        assert_eq!(t_test_sample_size(0.0, 0.8, 0.05), None);
        assert_eq!(t_test_sample_size(1e-6, 0.8, 0.05), None);
    }

    #[test]
    fn without_an_effect_power_is_the_level() {
        assert!((t_test_power(16.0, 0.0, 0.05).unwrap() - 0.05).abs() < 1e-12);
        assert_eq!(t_test_power(1.0, 0.5, 0.05), None);
    }
}
