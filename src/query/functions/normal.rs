//! `normal_quantile(p)`: the inverse of the standard normal distribution.
//!
//! In: a probability. Out: the z with P(Z <= z) = p.
//! statrs gives a first value, and one Newton step brings it to the last digits. The tail itself is written out here:
//! statrs 0.19 has 11 digits of it, with steps between its pieces that numerical integration would see.

use std::f64::consts::{PI, SQRT_2};

use datafusion::logical_expr::ScalarUDF;
use statrs::function::erf::erfc_inv;

use super::doc::ArgumentKind::Number;
use super::doc::{FunctionDoc, argument};
use super::scalar;

/// The complementary error function, 2 / sqrt(pi) times the integral of exp(-s^2) from x on; relative error under 1e-13.
pub(super) fn erfc(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x < 0.0 {
        return 2.0 - erfc(-x);
    }
    let density = (-x * x).exp() / PI.sqrt();
    if x < 1.5 {
        // erf by its series of positive terms (Abramowitz and Stegun 7.1.6).
        let (mut term, mut sum, mut n) = (2.0 * x, 0.0, 1.0);
        while term > 1e-17 * sum {
            sum += term;
            term *= 2.0 * x * x / (2.0 * n + 1.0);
            n += 1.0;
        }
        return 1.0 - density * sum;
    }
    if density == 0.0 {
        return 0.0;
    }
    // The continued fraction 7.1.14, from the inside out: at x = 1.5 some 120 steps are enough, fewer beyond.
    let steps = 12 + (250.0 / (x * x)) as u32;
    let fraction = (1..=steps).rev().fold(x, |inner, k| x + 0.5 * f64::from(k) / inner);
    density / fraction
}

/// P(Z <= z).
pub(super) fn normal_cdf(z: f64) -> f64 {
    0.5 * erfc(-z / SQRT_2)
}

/// The z with P(Z > z) = `tail`; infinite for 0 and 1, NaN outside.
pub(super) fn normal_upper_quantile(tail: f64) -> f64 {
    if !(0.0..=1.0).contains(&tail) {
        return f64::NAN;
    }
    if tail > 0.5 {
        return -normal_upper_quantile(1.0 - tail);
    }
    let z = SQRT_2 * erfc_inv(2.0 * tail);
    let density = (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
    let step = (normal_cdf(-z) - tail) / density;
    if step.is_finite() { z + step } else { z }
}

/// The z with P(Z <= z) = `p`.
pub(super) fn normal_quantile(p: f64) -> f64 {
    // 0 - z: the median is 0, not -0.
    if p <= 0.5 { 0.0 - normal_upper_quantile(p) } else { normal_upper_quantile(1.0 - p) }
}

pub(super) const NORMAL_QUANTILE: FunctionDoc = FunctionDoc {
    name: "normal_quantile",
    is_aggregate: false,
    arguments: &[argument("p", Number, "a probability between 0 and 1, both excluded")],
    returns: "double",
    what: "The z with P(Z <= z) = p for a standard normal Z. NULL unless 0 < p < 1.",
    example: "select round(normal_quantile(0.975), 6)",
    result: "1.959964",
    source: "the inverse of the error function",
};

/// The SQL function.
pub(super) fn function() -> ScalarUDF {
    scalar::number(&NORMAL_QUANTILE, |args| match *args {
        [p] => Some(normal_quantile(p)).filter(|z| z.is_finite()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_has_its_digits() {
        // mpmath at 30 digits.
        let known = [
            (0.3, 0.671_373_240_540_872_6),
            (0.7, 0.322_198_806_162_581_5),
            (1.499, 0.034_013_962_348_143_31),
            (1.501, 0.033_776_101_492_192_1),
            (2.1, 0.002_979_466_656_332_985_5),
            (6.0, 2.151_973_671_249_891_3e-17),
            (20.0, 5.395_865_611_607_901e-176),
            (-0.7, 1.677_801_193_837_418_5),
        ];
        for (x, expected) in known {
            assert!((erfc(x) / expected - 1.0).abs() < 1e-13, "{x}: {}", erfc(x));
        }
        assert_eq!((erfc(0.0), erfc(30.0), erfc(-30.0)), (1.0, 0.0, 2.0));
        assert_eq!((erfc(f64::INFINITY), erfc(f64::NEG_INFINITY)), (0.0, 2.0));
    }
}
