//! Wide loops: runs plain array code with the widest vector instructions that the processor has.
//!
//! In: a function over slices. Out: the same function, compiled per instruction set. Also the elementwise functions it needs.
//! The loops are written over fixed blocks of 16 lanes; the compiler chooses the registers but may not reorder.

/// Lanes of the fixed blocks: one AVX-512 register, two AVX2, four NEON.
pub const LANES: usize = 16;

/// A block of lanes.
pub type Lanes = [f32; LANES];

/// Defines a function that runs with the widest instruction set found at run time.
///
/// The body is compiled once for AVX-512, once for AVX2 with FMA and once for the target's own baseline; what it calls
/// must be `#[inline(always)]` to be compiled with it.
macro_rules! wide {
    ($(#[$doc:meta])* $vis:vis fn $name:ident($($arg:ident: $kind:ty),* $(,)?) $(-> $out:ty)? $body:block) => {
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)]
        $vis fn $name($($arg: $kind),*) $(-> $out)? {
            #[allow(clippy::too_many_arguments)]
            #[inline(always)]
            fn plain($($arg: $kind),*) $(-> $out)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[allow(clippy::too_many_arguments)]
                #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
                fn avx512($($arg: $kind),*) $(-> $out)? {
                    plain($($arg),*)
                }
                #[allow(clippy::too_many_arguments)]
                #[target_feature(enable = "avx2,fma")]
                fn avx2($($arg: $kind),*) $(-> $out)? {
                    plain($($arg),*)
                }
                match $crate::model::simd::width() {
                    // SAFETY: `width` has found every feature that the function is compiled for.
                    $crate::model::simd::Width::Avx512 => return unsafe { avx512($($arg),*) },
                    // SAFETY: as above.
                    $crate::model::simd::Width::Avx2 => return unsafe { avx2($($arg),*) },
                    $crate::model::simd::Width::Baseline => {}
                }
            }
            plain($($arg),*)
        }
    };
}
pub(crate) use wide;

/// Instruction sets that [`wide`] functions are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// AVX-512 F, VL, DQ, BW.
    Avx512,
    /// AVX2 and FMA.
    Avx2,
    /// What every processor of the target has.
    Baseline,
}

/// The widest instruction set of this processor; found once by the standard library.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn width() -> Width {
    use std::is_x86_feature_detected as has;
    let avx2 = has!("avx2") && has!("fma");
    let avx512 = has!("avx512f") && has!("avx512vl") && has!("avx512dq") && has!("avx512bw");
    match (avx2, avx512) {
        (true, true) => Width::Avx512,
        (true, false) => Width::Avx2,
        (false, _) => Width::Baseline,
    }
}

/// Sum of the lanes, by halves.
#[inline(always)]
pub fn sum(x: Lanes) -> f32 {
    let mut x = x;
    let mut half = LANES / 2;
    while half > 0 {
        let mut i = 0;
        while i < half {
            x[i] += x[i + half];
            i += 1;
        }
        half /= 2;
    }
    x[0]
}

/// (p, 2^n) with e^x = 2^n (1 + p) and |x - n ln 2| <= ln(2) / 2.
#[inline(always)]
fn exp_parts(x: f32) -> (f32, f32) {
    // Below -87 the result would be subnormal: it is held at e^-87, 1.6e-38.
    let x = if x < -87.0 { -87.0 } else { x };
    let x = if x > 88.0 { 88.0 } else { x };
    // Adding 1.5 * 2^23 rounds to the nearest integer, which then stands in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let rounded = x.mul_add(std::f32::consts::LOG2_E, ROUND);
    let n = rounded - ROUND;
    let power = f32::from_bits(rounded.to_bits().wrapping_add(127) << 23);
    // ln 2 in two parts, the first exact in 15 bits.
    let r = n.mul_add(-0.693_359_4, x);
    let r = n.mul_add(2.121_944_4e-4, r);
    // Taylor series of (exp(r) - 1) / r; the next term is below 1e-8.
    let p = r.mul_add(1.0 / 5040.0, 1.0 / 720.0);
    let p = r.mul_add(p, 1.0 / 120.0);
    let p = r.mul_add(p, 1.0 / 24.0);
    let p = r.mul_add(p, 1.0 / 6.0);
    let p = r.mul_add(p, 0.5);
    let p = r.mul_add(p, 1.0);
    (r * p, power)
}

/// e^x to about 1e-7 relative, held between e^-87 and e^88.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    let (p, power) = exp_parts(x);
    p.mul_add(power, power)
}

/// e^x - 1 to about 1e-7 relative, near 0 too.
#[inline(always)]
pub fn exp_minus_one(x: f32) -> f32 {
    let (p, power) = exp_parts(x);
    p.mul_add(power, power - 1.0)
}

/// x / (1 + e^-x), the gate of the feed-forward part.
#[inline(always)]
pub fn silu(x: f32) -> f32 {
    x / (1.0 + exp(-x))
}

/// 1 / (1 + e^-x).
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// tanh, precise near 0 too.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    // Beyond 10 it is 1 in f32; NaN stays NaN.
    let x = if x > 10.0 { 10.0 } else { x };
    let x = if x < -10.0 { -10.0 } else { x };
    let e = exp_minus_one(2.0 * x);
    e / (e + 2.0)
}

/// GELU in its tanh form: x (1 + tanh u) / 2 = x / (1 + e^-2u), u = sqrt(2 / pi) (x + 0.044715 x^3).
#[inline(always)]
pub fn gelu(x: f32) -> f32 {
    const SQRT_2_OVER_PI: f32 = 0.797_884_6;
    let u = SQRT_2_OVER_PI * (0.044_715 * x * x).mul_add(x, x);
    x / (1.0 + exp(-2.0 * u))
}

#[cfg(test)]
mod tests {
    use super::*;

    wide! {
        fn exp_all(xs: &mut [f32]) {
            xs.iter_mut().for_each(|x| *x = exp(*x));
        }
    }

    #[test]
    fn exp_is_close_and_the_same_at_every_width() {
        let xs: Vec<f32> = (-8600..8700).map(|i| i as f32 / 100.0 + 0.0037).collect();
        let plain: Vec<f32> = xs.iter().map(|&x| exp(x)).collect();
        let mut wide = xs.clone();
        exp_all(&mut wide);
        for ((&x, &a), &b) in xs.iter().zip(&plain).zip(&wide) {
            assert_eq!(a.to_bits(), b.to_bits(), "{x}");
            let want = f64::from(x).exp();
            assert!((f64::from(a) / want - 1.0).abs() < 3e-7, "exp({x}) = {a}, not {want}");
        }
    }

    #[test]
    fn exp_minus_one_keeps_small_arguments() {
        for x in [0f32, -1e-12, -3e-6, -2e-3, -0.3, -1.0, -20.0, -80.0] {
            let want = f64::from(x).exp_m1();
            assert!((f64::from(exp_minus_one(x)) - want).abs() <= 3e-7 * want.abs(), "{x}");
        }
    }

    #[test]
    fn silu_at_hand_computed_points() {
        assert_eq!(silu(0.0), 0.0);
        assert!((silu(1.0) - 0.731_058_6).abs() < 1e-6);
        assert!(silu(-100.0).abs() < 1e-30);
    }

    #[test]
    fn the_other_functions_equal_their_definitions_in_f64() {
        for i in -3000..3000 {
            let x = i as f32 / 100.0 + 0.0013;
            let d = f64::from(x);
            assert!((f64::from(tanh(x)) / d.tanh() - 1.0).abs() < 5e-7, "tanh({x})");
            assert!((f64::from(sigmoid(x)) * (1.0 + (-d).exp()) - 1.0).abs() < 5e-7, "sigmoid({x})");
            let u = (2.0 / std::f64::consts::PI).sqrt() * (d + 0.044715 * d * d * d);
            let gelu_of_d = 0.5 * d * (1.0 + u.tanh());
            assert!((f64::from(gelu(x)) - gelu_of_d).abs() < 1e-6 * (1.0 + d.abs()), "gelu({x})");
        }
        assert!(tanh(f32::NAN).is_nan() && tanh(0.0) == 0.0);
    }
}
