//! `noncentral_t_sf`: the upper tail of the noncentral t distribution.
//!
//! In: a value, degrees of freedom and noncentrality. Out: P(T > t) for T = (Z + delta) / sqrt(V / df).
//! Computed as an integral of positive terms, so that small tails keep their digits; statrs has no such distribution.

use std::f64::consts::{PI, SQRT_2};

use datafusion::logical_expr::ScalarUDF;

use super::doc::ArgumentKind::Number;
use super::doc::{FunctionDoc, argument};
use super::normal::{erfc, normal_cdf};
use super::scalar;

/// From this many degrees of freedom on the tail is the normal one: relative difference t^2 / df at most about.
const NORMAL: f64 = 1e13;

/// P(T > t) for the noncentral t with `df` degrees of freedom and noncentrality `delta`; NaN unless `df` > 0 and
/// `delta` is finite.
///
/// With S = sqrt(V / df): the mean of P(Z > t S - delta) over S (Johnson, Kotz and Balakrishnan 1995, chapter 31). In
/// u = ln S the integrand falls off on both sides and the trapezoid rule converges faster than any power of its step.
/// Relative error under 1e-9 where the tail is above 1e-12, for `df` up to 1e4 and |`delta`| up to 40.
pub fn noncentral_t_sf(t: f64, df: f64, delta: f64) -> f64 {
    if t.is_nan() || df.is_nan() || df <= 0.0 || !delta.is_finite() {
        return f64::NAN;
    }
    if t.is_infinite() {
        return if t > 0.0 { 0.0 } else { 1.0 };
    }
    if t == 0.0 || df >= NORMAL {
        return normal_cdf(delta - t);
    }
    // df (u - (e^2u - 1) / 2) is the log density of S against its value at 1, without cancellation.
    let log_integrand = |u: f64| df * (u - 0.5 * (2.0 * u).exp_m1()) + log_normal_cdf(delta - t * u.exp());
    let top = mode(t, df, delta);
    let at_top = log_integrand(top);
    let scale = top.exp();
    let mut step = 1.0 / (2.0 * df * scale.max(1.0).powi(2) + (t * scale).powi(2) + 1.0).sqrt();
    // Terms of one side, from `first` on in steps of `stride`, until they no longer count.
    let side = |first: f64, stride: f64| {
        let mut sum = 0.0;
        for place in 0..1_000_000 {
            let term = (log_integrand(top + first + f64::from(place) * stride) - at_top).exp();
            sum += term;
            if term < 1e-19 {
                break;
            }
        }
        sum
    };
    let mut sum = 1.0 + side(step, step) + side(-step, -step);
    for _ in 0..12 {
        let between = side(0.5 * step, step) + side(-0.5 * step, -step);
        let finer = 0.5 * (sum + between);
        // Half the step squares the error.
        let settled = (finer - sum).abs() <= 1e-10 * finer;
        // From here on `sum` counts terms of half the step.
        (sum, step) = (sum + between, 0.5 * step);
        if settled {
            break;
        }
    }
    (at_top + (sum * step).ln() + log_density_at_one(df)).exp().min(1.0)
}

/// ln of the density of ln S at S = 1: ln 2 + a ln a - a - ln gamma(a) with a = df / 2.
///
/// By Stirling's series at `a`, stepped up to 15 or more by the recurrence of gamma (statrs has 11 digits of it here).
/// Where `a` is large the large terms cancel in writing, not in computing.
fn log_density_at_one(df: f64) -> f64 {
    let a = 0.5 * df;
    let (mut high, mut product) = (a, 1.0);
    while high < 15.0 {
        product *= high;
        high += 1.0;
    }
    let b = 1.0 / (high * high);
    let rest = (1.0 / 12.0 - b * (1.0 / 360.0 - b * (1.0 / 1260.0 - b * (1.0 / 1680.0 - b / 1188.0)))) / high;
    let at_high = 0.5 * (2.0 * high / PI).ln() - rest;
    if high == a {
        return at_high;
    }
    at_high + a * a.ln() - a - (high * high.ln() - high) + product.ln()
}

/// Where the integrand is greatest: its logarithm is concave in S, so its slope changes sign once.
fn mode(t: f64, df: f64, delta: f64) -> f64 {
    let rises = |u: f64| {
        let s = u.exp();
        let z = delta - t * s;
        let log_density = -0.5 * z * z - 0.5 * (2.0 * PI).ln();
        df * (1.0 - s * s) - t * s * (log_density - log_normal_cdf(z)).exp() > 0.0
    };
    let mut step = 0.125;
    let (mut low, mut high) = (0.0, 0.0);
    if rises(0.0) {
        while rises(high + step) && step < 700.0 {
            high += step;
            step *= 2.0;
        }
        (low, high) = (high, high + step);
    } else {
        while !rises(low - step) && step < 700.0 {
            low -= step;
            step *= 2.0;
        }
        (low, high) = (low - step, low);
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if rises(middle) { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// ln P(Z <= z), also where the probability is no longer a double.
fn log_normal_cdf(z: f64) -> f64 {
    if z > -30.0 {
        return (0.5 * erfc(-z / SQRT_2)).ln();
    }
    let b = 1.0 / (z * z);
    let series = -b * (1.0 - b * (3.0 - b * (15.0 - b * 105.0)));
    -0.5 * z * z - (-z).ln() - 0.5 * (2.0 * PI).ln() + series.ln_1p()
}

pub(super) const NONCENTRAL_T_SF: FunctionDoc = FunctionDoc {
    name: "noncentral_t_sf",
    is_aggregate: false,
    arguments: &[
        argument("t", Number, "a value"),
        argument("df", Number, "degrees of freedom, above 0"),
        argument("delta", Number, "noncentrality: effect times the square root of n"),
    ],
    returns: "double",
    what: "Upper tail of the noncentral t: P((Z + delta) / sqrt(V / df) > t). NULL unless df > 0.",
    example: "select round(noncentral_t_sf(1.75305, 15, 2), 6)",
    result: "0.604033",
    source: "Johnson, Kotz and Balakrishnan 1995, chapter 31",
};

/// The SQL function.
pub(super) fn function() -> ScalarUDF {
    scalar::number(&NONCENTRAL_T_SF, |args| match *args {
        [t, df, delta] => Some(noncentral_t_sf(t, df, delta)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::student_t::student_t_sf;
    use super::*;

    #[test]
    fn without_noncentrality_it_is_students_t() {
        for df in [0.5, 1.0, 2.0, 15.0, 95.0, 1e4] {
            for t in [-7.0, -1.0, -1e-3, 0.4, 2.0, 6.0] {
                let (found, expected) = (noncentral_t_sf(t, df, 0.0), student_t_sf(t, df));
                assert!((found / expected - 1.0).abs() < 1e-11, "{t} {df}: {found} {expected}");
            }
        }
    }

    #[test]
    fn both_signs_changed_give_the_other_tail() {
        for (t, df, delta) in [(1.3, 7.0, 2.0), (40.0, 3.0, 30.0), (-0.5, 95.0, 0.3)] {
            let both = noncentral_t_sf(t, df, delta) + noncentral_t_sf(-t, df, -delta);
            assert!((both - 1.0).abs() < 1e-12, "{t} {df} {delta}: {both}");
        }
        // At 0 only the sign of Z + delta counts.
        assert_eq!(noncentral_t_sf(0.0, 4.0, 1.5), normal_cdf(1.5));
        assert!(noncentral_t_sf(1.0, 0.0, 1.0).is_nan() && noncentral_t_sf(1.0, 3.0, f64::INFINITY).is_nan());
    }
}
