//! Scores of next-token distributions: log-probability, entropy, Jensen-Shannon divergence.
//!
//! In: raw logits of one position, in segments. Out: figures in nats.
//! From raw logits by log-softmax, so no sampling setting changes them (formulas: method, sections 3 and 4).
//! Sums run in f32 over short fixed blocks and in f64 over the blocks.

use super::decoder::rows::cap;
use super::matrix::{PANEL, Product};
use super::simd::{LANES, Lanes, exp, exp_minus_one, sum, wide};

/// Segments whose sums are added up in f32 before they go into f64.
const BLOCK: usize = 16;

/// One next-token distribution.
#[derive(Debug, Clone)]
pub struct Distribution {
    /// Raw logits, one a token.
    pub logits: Vec<f32>,
    /// ln of the sum of exp of the logits; NaN where they are not numbers ([`Distribution::is_sound`]).
    pub log_total: f64,
    /// Entropy in nats; NaN as above.
    pub entropy: f64,
    /// The token with the highest logit; of equals the lowest id.
    pub best: u32,
}

impl Distribution {
    /// The distribution of row `row` of the output matrix's product, over `vocabulary` tokens, whose logits a cap may hold.
    pub fn of(product: &Product, row: usize, vocabulary: usize, most: Option<f32>) -> Distribution {
        Distribution::filled(vocabulary, most, |logits| product.copy(row, 0, logits))
    }

    /// The distribution of these logits, one a token, which a cap may hold.
    pub fn of_logits(logits: &[f32], most: Option<f32>) -> Distribution {
        Distribution::filled(logits.len(), most, |out| out.copy_from_slice(logits))
    }

    fn filled(vocabulary: usize, most: Option<f32>, fill: impl FnOnce(&mut [f32])) -> Distribution {
        // Whole segments; the padding of the last gets no probability.
        let mut logits = vec![f32::NEG_INFINITY; vocabulary.div_ceil(PANEL) * PANEL];
        if let Some(logits) = logits.get_mut(..vocabulary) {
            fill(logits);
            if let Some(most) = most {
                cap(logits, most);
            }
        }
        Distribution::from_logits(logits)
    }

    /// The distribution of these logits; -infinity is probability 0. The length is a multiple of [`LANES`].
    fn from_logits(logits: Vec<f32>) -> Distribution {
        let (mut best, mut top) = (0u32, f32::NEG_INFINITY);
        let highest = highest(&logits);
        for (id, &logit) in logits.iter().enumerate() {
            if logit == highest {
                (best, top) = (id as u32, logit);
                break;
            }
        }
        let (total, weighted) = totals(&logits, top);
        // A NaN anywhere ends up in the weighted sum, and so does an infinity other than the padding's.
        if !(total.is_finite() && weighted.is_finite() && top.is_finite()) {
            return Distribution { logits, log_total: f64::NAN, entropy: f64::NAN, best };
        }
        let log_total = total.ln() + f64::from(top);
        // H = ln Z - sum p x, with both taken relative to the highest logit.
        let entropy = (total.ln() - weighted / total).max(0.0);
        Distribution { logits, log_total, entropy, best }
    }

    /// Whether the logits were numbers. Of those that were not, no figure means anything.
    pub fn is_sound(&self) -> bool {
        self.log_total.is_finite()
    }

    /// Log-probability of a token.
    pub fn log_probability(&self, token: u32) -> f64 {
        self.logits.get(token as usize).map_or(f64::NEG_INFINITY, |&logit| f64::from(logit) - self.log_total)
    }

    /// Jensen-Shannon divergence to another distribution over the same tokens, 0..ln 2; exactly 0 to itself.
    pub fn jensen_shannon(&self, other: &Distribution) -> f64 {
        divergence(&self.logits, self.log_total as f32, &other.logits, other.log_total as f32)
            .clamp(0.0, std::f64::consts::LN_2)
    }
}

wide! {
    fn highest(logits: &[f32]) -> f32 {
        let (blocks, rest) = logits.as_chunks::<LANES>();
        let mut top: Lanes = [f32::NEG_INFINITY; LANES];
        for block in blocks {
            for (t, &x) in top.iter_mut().zip(block) {
                *t = if x > *t { x } else { *t };
            }
        }
        top.iter().chain(rest).fold(f32::NEG_INFINITY, |a, &b| if b > a { b } else { a })
    }
}

wide! {
    /// Sum of exp(x - top), and of exp(x - top) * (x - top).
    fn totals(logits: &[f32], top: f32) -> (f64, f64) {
        let (mut total, mut weighted) = (0f64, 0f64);
        let (lanes, _) = logits.as_chunks::<LANES>();
        for block in lanes.chunks(BLOCK) {
            let (mut t, mut w): (Lanes, Lanes) = ([0.0; LANES], [0.0; LANES]);
            // Index loops, as in `matrix`: sums that an iterator borrows would not stay in registers.
            let mut i = 0;
            while i < block.len() {
                let mut j = 0;
                while j < LANES {
                    let x = block[i][j] - top;
                    // exp is held at e^-87, so nothing that low counts.
                    // A comparison and not `max`, which would take -87 for a NaN.
                    let d = if x < -87.0 { -87.0 } else { x };
                    let e = if x < -80.0 { 0.0 } else { exp(d) };
                    t[j] += e;
                    w[j] = e.mul_add(d, w[j]);
                    j += 1;
                }
                i += 1;
            }
            total += f64::from(sum(t));
            weighted += f64::from(sum(w));
        }
        (total, weighted)
    }
}

wide! {
    /// JSD of two distributions given by logits and their log totals.
    fn divergence(p: &[f32], p_total: f32, q: &[f32], q_total: f32) -> f64 {
        let (p, _) = p.as_chunks::<LANES>();
        let (q, _) = q.as_chunks::<LANES>();
        let mut total = 0f64;
        for (p, q) in p.chunks(BLOCK).zip(q.chunks(BLOCK)) {
            let mut sums: Lanes = [0.0; LANES];
            let q = &q[..p.len()];
            let mut i = 0;
            while i < p.len() {
                let mut j = 0;
                while j < LANES {
                    sums[j] += share(p[i][j] - p_total, q[i][j] - q_total);
                    j += 1;
                }
                i += 1;
            }
            total += f64::from(sum(sums));
        }
        total
    }
}

/// One token's part of the JSD, from its log-probabilities.
///
/// With a = |ln p - ln q|, P the larger probability, Q = P e^-a and g = ln((1 + e^-a) / 2), which is ln(m / P), it is
/// -((P + Q) g + Q a) / 2. Where p = q nothing is left over from rounding: a = g = 0.
#[inline(always)]
fn share(lp: f32, lq: f32) -> f32 {
    // Padding is -infinity in both: held finite, so that its distance is a number.
    let (lp, lq) = (lp.max(-1e4), lq.max(-1e4));
    let (high, low) = if lp > lq { (lp, lq) } else { (lq, lp) };
    let a = high - low;
    let less = exp_minus_one(-a);
    // ln((2 + y) / 2) = 2 atanh(z), z = y / (4 + y), y in (-1, 0]: the series of atanh to z^13.
    let z = less / (4.0 + less);
    let zz = z * z;
    let series = zz.mul_add(1.0 / 13.0, 1.0 / 11.0);
    let series = zz.mul_add(series, 1.0 / 9.0);
    let series = zz.mul_add(series, 1.0 / 7.0);
    let series = zz.mul_add(series, 1.0 / 5.0);
    let series = zz.mul_add(series, 1.0 / 3.0);
    let series = zz.mul_add(series, 1.0);
    let g = 2.0 * z * series;
    let ratio = less + 1.0;
    let larger = if high < -80.0 { 0.0 } else { exp(high) };
    -0.5 * larger * (1.0 + ratio).mul_add(g, ratio * a)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logits(n: usize, scale: f32, phase: f32) -> Vec<f32> {
        (0..n).map(|i| scale * ((i as f32) * 0.37 + phase).sin()).collect()
    }

    fn softmax(logits: &[f32]) -> Vec<f64> {
        let total: f64 = logits.iter().map(|&x| f64::from(x).exp()).sum();
        logits.iter().map(|&x| f64::from(x).exp() / total).collect()
    }

    #[test]
    fn equals_the_definitions_in_f64() {
        for scale in [0.1f32, 3.0, 25.0] {
            let (x, y) = (logits(4096, scale, 0.0), logits(4096, scale, 0.9));
            let (p, q) = (softmax(&x), softmax(&y));
            let (dp, dq) = (Distribution::from_logits(x), Distribution::from_logits(y));
            let entropy: f64 = p.iter().map(|p| -p * p.ln()).sum();
            assert!((dp.entropy - entropy).abs() < 1e-5, "{} {entropy}", dp.entropy);
            for token in [0u32, 17, 4095] {
                assert!((dp.log_probability(token) - p[token as usize].ln()).abs() < 1e-5);
            }
            let kl = |a: f64, b: f64| if a > 0.0 { a * (2.0 * a / (a + b)).ln() } else { 0.0 };
            let jsd: f64 = p.iter().zip(&q).map(|(&p, &q)| 0.5 * kl(p, q) + 0.5 * kl(q, p)).sum();
            assert!((dp.jensen_shannon(&dq) - jsd).abs() < 1e-5, "{} {jsd}", dp.jensen_shannon(&dq));
            assert_eq!(dp.jensen_shannon(&dp.clone()), 0.0);
        }
    }

    #[test]
    fn tiny_divergences_are_not_noise() {
        // Logits shifted by a small cosine: JSD is close to the variance of the shift over 8.
        let x = logits(4096, 2.0, 0.0);
        let y: Vec<f32> = x.iter().enumerate().map(|(i, v)| v + 1e-2 * (i as f32).cos()).collect();
        let p = softmax(&x);
        let shift: Vec<f64> = x.iter().zip(&y).map(|(a, b)| f64::from(b - a)).collect();
        let mean: f64 = p.iter().zip(&shift).map(|(p, s)| p * s).sum();
        let variance: f64 = p.iter().zip(&shift).map(|(p, s)| p * (s - mean) * (s - mean)).sum();
        let jsd = Distribution::from_logits(x).jensen_shannon(&Distribution::from_logits(y));
        assert!((jsd / (variance / 8.0) - 1.0).abs() < 0.02, "{jsd} {}", variance / 8.0);
    }

    #[test]
    fn one_logit_that_is_no_number_makes_the_distribution_unsound() {
        assert!(Distribution::from_logits(logits(64, 3.0, 0.0)).is_sound());
        for wrong in [f32::NAN, f32::INFINITY] {
            for place in [0, 37, 63] {
                let mut x = logits(64, 3.0, 0.0);
                x[place] = wrong;
                let d = Distribution::from_logits(x);
                assert!(!d.is_sound() && d.entropy.is_nan(), "{wrong} at {place}: {d:?}");
            }
            assert!(!Distribution::from_logits(vec![wrong; 64]).is_sound());
        }
        assert!(!Distribution::from_logits(vec![f32::NEG_INFINITY; 64]).is_sound());
        // Padding, and a token that can't come, are no fault.
        let mut x = logits(64, 3.0, 0.0);
        x[63] = f32::NEG_INFINITY;
        assert!(Distribution::from_logits(x).is_sound());
    }

    #[test]
    fn a_certain_token_and_the_first_of_equals() {
        let mut x = vec![0f32; 64];
        x[7] = 200.0;
        let d = Distribution::from_logits(x);
        assert_eq!((d.best, d.entropy), (7, 0.0));
        assert_eq!(d.log_probability(7), 0.0);
        assert!((d.log_probability(8) + 200.0).abs() < 1e-9);
        let d = Distribution::from_logits(vec![1.5f32; 64]);
        assert_eq!(d.best, 0);
        assert!((d.entropy - 64f64.ln()).abs() < 1e-6);
        let disjoint = |id: usize| {
            let mut x = vec![-300f32; 64];
            x[id] = 0.0;
            Distribution::from_logits(x)
        };
        assert!((disjoint(1).jensen_shannon(&disjoint(2)) - 2f64.ln()).abs() < 1e-6);
    }
}
