//! `student_t_sf(t, df)`, `student_t_quantile(p, df)`: the upper tail of Student's t and its inverse.
//!
//! In: a value or a probability, and degrees of freedom. Out: P(T > t), or the value.
//! Written out because statrs 0.19 (`StudentsT::sf`, `beta_reg`) misses the ninth digit on the golden file: relative
//! errors of 8e-9 at t = 1e-8, where it forms 1 - x, and of 9e-9 at a million degrees of freedom, where it takes
//! differences of large log-gammas.

use datafusion::logical_expr::ScalarUDF;

use super::doc::ArgumentKind::Number;
use super::doc::{FunctionDoc, argument};
use super::normal::{erfc, normal_upper_quantile};
use super::scalar;

/// From this many degrees of freedom on the normal tail is closer (to a relative t^4 / (4 df)) than doubles get otherwise.
const NORMAL: f64 = 1e15;

/// P(T > t) for Student's t with `df` degrees of freedom; NaN unless `df` > 0.
///
/// With x = df / (df + t^2): P = I_x(df/2, 1/2) / 2 for t >= 0 (Abramowitz and Stegun 26.7.1), the incomplete beta
/// function by its continued fraction (26.5.8), x and 1 - x each computed without cancellation.
/// Relative error under 1e-9 down to 1e-300 for `df` up to 1e7; the limit `df` = infinity is the normal tail.
pub fn student_t_sf(t: f64, df: f64) -> f64 {
    if t.is_nan() || df.is_nan() || df <= 0.0 {
        return f64::NAN;
    }
    if t < 0.0 {
        return 1.0 - student_t_sf(-t, df);
    }
    if t.is_infinite() {
        return 0.0;
    }
    if df >= NORMAL {
        return 0.5 * erfc(t / std::f64::consts::SQRT_2);
    }
    let a = 0.5 * df;
    let square = (t / df.sqrt()).powi(2);
    // t so large that its square is not a number in range: the leading term of the tail alone, exact there.
    let (x, rest, log_x) = if square.is_finite() {
        (1.0 / (1.0 + square), square / (1.0 + square), -square.ln_1p())
    } else {
        (0.0, 1.0, -2.0 * (t.ln() - 0.5 * df.ln()))
    };
    let front = half_step_gamma_ratio(a) / std::f64::consts::PI.sqrt() * (a * log_x).exp() * rest.sqrt();
    if x < (a + 1.0) / (a + 2.5) {
        0.5 * front * beta_fraction(a, 0.5, x) / a
    } else {
        0.5 - front * beta_fraction(0.5, a, rest)
    }
}

/// gamma(a + 1/2) / gamma(a): stepped up to a >= 40 by its recurrence, there by its asymptotic series in 1/a.
pub(super) fn half_step_gamma_ratio(a: f64) -> f64 {
    let (mut a, mut product) = (a, 1.0);
    while a < 40.0 {
        product *= a / (a + 0.5);
        a += 1.0;
    }
    const SERIES: [f64; 8] = [
        1.0,
        -1.0 / 8.0,
        1.0 / 128.0,
        5.0 / 1024.0,
        -21.0 / 32768.0,
        -399.0 / 262_144.0,
        869.0 / 4_194_304.0,
        39325.0 / 33_554_432.0,
    ];
    let series = SERIES.iter().rev().fold(0.0, |sum, c| sum / a + c);
    product * a.sqrt() * series
}

/// The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8) by Lentz's method.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    // Needs about sqrt(max(a, b)) steps; the bound is never met for the df that are promised.
    for step in 1..100_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away_from_zero(1.0 + even * d);
        c = away_from_zero(1.0 + even / c);
        fraction *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away_from_zero(1.0 + odd * d);
        c = away_from_zero(1.0 + odd / c);
        fraction *= d * c;
        if (d * c - 1.0).abs() < 3e-16 {
            break;
        }
    }
    fraction
}

/// P(0 < T < t) for t >= 0: where the tail is near 1/2, this has the digits.
fn center(t: f64, df: f64) -> f64 {
    let a = 0.5 * df;
    let square = (t / df.sqrt()).powi(2);
    let (x, rest) = (1.0 / (1.0 + square), square / (1.0 + square));
    if x < (a + 1.0) / (a + 2.5) {
        return 0.5 - student_t_sf(t, df);
    }
    half_step_gamma_ratio(a) / std::f64::consts::PI.sqrt()
        * (-a * square.ln_1p()).exp()
        * rest.sqrt()
        * beta_fraction(0.5, a, rest)
}

/// The t with P(T > t) = `tail`; None unless 0 < `tail` < 1 and `df` > 0, or where t is out of a double's range.
///
/// Found between bounds of ln t, where both the tail of a power law and its start near 0 are nearly straight.
pub fn student_t_upper_quantile(tail: f64, df: f64) -> Option<f64> {
    if !(tail > 0.0 && tail < 1.0 && df > 0.0) {
        return None;
    }
    if tail > 0.5 {
        // 1 - tail loses nothing here: tail is at least a half.
        return student_t_upper_quantile(1.0 - tail, df).map(|t| -t);
    }
    if tail == 0.5 {
        return Some(0.0);
    }
    if df >= NORMAL {
        return Some(normal_upper_quantile(tail));
    }
    // Positive while t is too small.
    let short_of = |log_t: f64| {
        let t = log_t.exp();
        if tail > 0.25 { (0.5 - tail).ln() - center(t, df).ln() } else { student_t_sf(t, df).ln() - tail.ln() }
    };
    let (mut low, mut high) = (-750.0f64, 709.0f64);
    let mut step = 1.0;
    if short_of(0.0) > 0.0 {
        low = 0.0;
        while low + step < 709.0 && short_of(low + step) > 0.0 {
            low += step;
            step *= 2.0;
        }
        high = (low + step).min(709.0);
        if short_of(high) > 0.0 {
            return None;
        }
    } else {
        high = 0.0f64.min(high);
        while high - step > low && short_of(high - step) <= 0.0 {
            high -= step;
            step *= 2.0;
        }
        low = low.max(high - step);
    }
    let log_t = root(low, high, short_of);
    Some(log_t.exp())
}

/// The place where `f`, positive at `low` and not at `high`, changes its sign: false position with the Illinois rule,
/// halving where that is slow.
pub(super) fn root(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut at_low, mut at_high) = (f(low), f(high));
    for step in 0..400 {
        let straight = low + (high - low) * at_low / (at_low - at_high);
        let inside = straight > low && straight < high;
        let middle = if inside && step % 4 != 3 { straight } else { 0.5 * (low + high) };
        if middle <= low || middle >= high {
            break;
        }
        let value = f(middle);
        if value == 0.0 {
            return middle;
        }
        if value > 0.0 {
            (low, at_low) = (middle, value);
            at_high *= 0.5;
        } else {
            (high, at_high) = (middle, value);
            at_low *= 0.5;
        }
    }
    0.5 * (low + high)
}

pub(super) const STUDENT_T_SF: FunctionDoc = FunctionDoc {
    name: "student_t_sf",
    is_aggregate: false,
    arguments: &[argument("t", Number, "a value"), argument("df", Number, "degrees of freedom, above 0")],
    returns: "double",
    what: "Upper tail of Student's t: P(T > t). NULL unless df > 0.",
    example: "select round(student_t_sf(2.0, 2), 6)",
    result: "0.091752",
    source: "Abramowitz and Stegun 26.7.1, 26.5.8",
};

pub(super) const STUDENT_T_QUANTILE: FunctionDoc = FunctionDoc {
    name: "student_t_quantile",
    arguments: &[
        argument("p", Number, "a probability between 0 and 1, both excluded"),
        argument("df", Number, "degrees of freedom, above 0"),
    ],
    what: "The t with P(T <= t) = p. NULL unless 0 < p < 1 and df > 0.",
    example: "select round(student_t_quantile(0.975, 15), 6)",
    result: "2.13145",
    source: "the inverse of student_t_sf, by bracketing",
    ..STUDENT_T_SF
};

/// The SQL functions of this file.
pub(super) fn functions() -> Vec<ScalarUDF> {
    vec![
        scalar::number(&STUDENT_T_SF, |args| match *args {
            [t, df] => Some(student_t_sf(t, df)),
            _ => None,
        }),
        scalar::number(&STUDENT_T_QUANTILE, |args| match *args {
            [p, df] if p <= 0.5 => student_t_upper_quantile(p, df).map(|t| 0.0 - t),
            [p, df] => student_t_upper_quantile(1.0 - p, df),
            _ => None,
        }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) -> bool {
        (found - expected).abs() <= 1e-11 * expected
    }

    #[test]
    fn one_and_two_degrees_of_freedom_have_closed_forms() {
        for t in [1e-9f64, 1e-4, 0.3, 1.0, 1.7, 2.5, 12.0, 1e3] {
            // atan(1/t)/pi and 1/(s (s + t)) with s = sqrt(t^2 + 2): the tails without cancellation.
            assert!(close(student_t_sf(t, 1.0), (1.0 / t).atan() / std::f64::consts::PI), "t {t}");
            let s = (t * t + 2.0).sqrt();
            assert!(close(student_t_sf(t, 2.0), 1.0 / (s * (s + t))), "t {t}");
        }
    }

    #[test]
    fn the_two_tails_add_up() {
        for (t, df) in [(0.4, 3.0), (2.2, 15.0), (7.0, 95.0)] {
            assert!((student_t_sf(t, df) + student_t_sf(-t, df) - 1.0).abs() < 1e-15);
        }
        assert_eq!(student_t_sf(0.0, 7.0), 0.5);
    }

    #[test]
    fn limits_and_what_is_no_distribution() {
        assert_eq!(student_t_sf(f64::INFINITY, 5.0), 0.0);
        assert_eq!(student_t_sf(f64::NEG_INFINITY, 5.0), 1.0);
        assert!(close(student_t_sf(1e200, 1.0), 1e-200 / std::f64::consts::PI));
        assert!(
            student_t_sf(1.0, 0.0).is_nan() && student_t_sf(1.0, -2.0).is_nan() && student_t_sf(f64::NAN, 3.0).is_nan()
        );
    }

    #[test]
    fn quantiles_undo_tails() {
        for df in [0.3, 1.0, 2.0, 7.5, 95.0, 1e4, 1e7] {
            for tail in [1e-12, 1e-5, 0.025, 0.2, 0.26, 0.4, 0.4999, 0.5 - 1e-12] {
                let Some(t) = student_t_upper_quantile(tail, df) else { panic!("{tail} {df}") };
                let (found, expected) =
                    if tail > 0.25 { (center(t, df), 0.5 - tail) } else { (student_t_sf(t, df), tail) };
                assert!((found - expected).abs() <= 1e-11 * expected, "{tail} {df}: {t}");
            }
        }
        // df 1: tan(pi (1/2 - tail)); df 2: (1 - 2 q) / sqrt(2 q (1 - q)).
        let t = student_t_upper_quantile(0.1, 1.0).unwrap();
        assert!((t - (0.4 * std::f64::consts::PI).tan()).abs() < 1e-13);
        let t = student_t_upper_quantile(0.3, 2.0).unwrap();
        assert!((t - 0.4 / 0.42f64.sqrt()).abs() < 1e-14);
        assert_eq!(student_t_upper_quantile(0.75, 5.0), student_t_upper_quantile(0.25, 5.0).map(|t| -t));
        assert_eq!(student_t_upper_quantile(0.0, 5.0), None);
        assert_eq!(student_t_upper_quantile(0.1, 0.0), None);
    }
}
