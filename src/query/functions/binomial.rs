//! `binomial_test_p`: the exact test of a median (the sign test).
//!
//! In: how many of a number of trials came out above. Out: the chance of as many or more when either is as likely.

use datafusion::logical_expr::ScalarUDF;

use super::doc::ArgumentKind::Whole;
use super::doc::{FunctionDoc, argument};
use super::scalar;
use super::student_t::half_step_gamma_ratio;

/// Of more trials the walk would take minutes, and lose digits.
const MOST_TRIALS: f64 = 1e12;

/// P(X >= `successes`) for X ~ Binomial(`trials`, 1/2), whole numbers; None without trials.
///
/// The middle term is a ratio of gammas, the others follow from it one by one; terms too small for a double end the
/// walk, so it takes some 40 sqrt(trials) steps at most. Relative error under 1e-9 up to 1e12 trials; None above.
pub fn binomial_test_p(successes: f64, trials: f64) -> Option<f64> {
    if !(1.0..=MOST_TRIALS).contains(&trials) {
        return None;
    }
    if successes <= 0.0 {
        return Some(1.0);
    }
    if successes > trials {
        return Some(0.0);
    }
    // The tail that starts at or under the middle is the rest of the other one.
    if 2.0 * successes <= trials {
        return Some(1.0 - upper_tail(trials - successes + 1.0, trials));
    }
    Some(upper_tail(successes, trials))
}

/// The same for `from` above half of `trials`.
fn upper_tail(from: f64, trials: f64) -> f64 {
    // C(2m, m) / 4^m; for an odd number the two middle terms of 2m - 1 are each as large.
    let m = (trials / 2.0).ceil();
    let mut term = half_step_gamma_ratio(m) / (m * std::f64::consts::PI.sqrt());
    let mut k = m;
    while k < from {
        // Below the normal numbers rounding would hold a term up for ever.
        if term < f64::MIN_POSITIVE {
            return 0.0;
        }
        term *= (trials - k) / (k + 1.0);
        k += 1.0;
    }
    let mut tail = 0.0;
    while k <= trials && term > 1e-17 * tail {
        tail += term;
        term *= (trials - k) / (k + 1.0);
        k += 1.0;
    }
    tail
}

pub(super) const BINOMIAL_TEST_P: FunctionDoc = FunctionDoc {
    name: "binomial_test_p",
    is_aggregate: false,
    arguments: &[
        argument("successes", Whole, "number of scores above the tested median"),
        argument("trials", Whole, "number of scores that differ from it"),
    ],
    returns: "double",
    what: "One-sided p-value of the sign test: P(X >= successes) for X ~ Binomial(trials, 1/2). 1 for no successes, \
           NULL for no trials and for over 1e12.",
    example: "select round(binomial_test_p(3, 4), 6)",
    result: "0.3125",
    source: "Arbuthnott 1710; Conover 1999, section 3.4",
};

/// The SQL function.
pub(super) fn function() -> ScalarUDF {
    scalar::number(&BINOMIAL_TEST_P, |args| match *args {
        [successes, trials] => binomial_test_p(successes, trials),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::binomial_test_p;

    #[test]
    fn few_trials_by_hand() {
        // Of 5: 1, 5, 10, 10, 5, 1 in 32.
        let expected = [32.0, 31.0, 26.0, 16.0, 6.0, 1.0];
        for (successes, expected) in expected.iter().enumerate() {
            let p = binomial_test_p(successes as f64, 5.0).unwrap();
            assert!((p - expected / 32.0).abs() < 1e-15, "{successes}: {p}");
        }
        assert_eq!(binomial_test_p(-1.0, 3.0), Some(1.0));
        assert_eq!(binomial_test_p(4.0, 3.0), Some(0.0));
        assert_eq!(binomial_test_p(0.0, 0.0), None);
        assert_eq!(binomial_test_p(3e18, 4e18), None);
    }

    #[test]
    fn many_trials_end() {
        assert_eq!(binomial_test_p(6e11, 1e12), Some(0.0));
        // The middle: half of what is left beside the middle term, sqrt(2 / (pi n)).
        let p = binomial_test_p(5e11, 1e12).unwrap();
        assert!((p - 0.5 - 0.5 * (2.0 / (std::f64::consts::PI * 1e12)).sqrt()).abs() < 1e-9, "{p}");
    }
}
