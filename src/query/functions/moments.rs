//! Moments: mean and variance of a sample.
//!
//! In: scores, sorted, so that equal samples are summed alike. Out: their number, mean and variance.
//! Sums are compensated: the digits that an addition drops are added up apart.

/// Scores that differ by no more than this share of them are the same: their digits differ by how they were summed.
pub(super) const SAME: f64 = 1e-12;

/// Whether two scores are the same.
pub(super) fn are_same(a: f64, b: f64) -> bool {
    (a - b).abs() <= SAME * a.abs().max(b.abs())
}

/// Sum with Neumaier's compensation (Neumaier 1974).
pub(super) fn exact_sum(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0f64);
    for term in terms {
        let next = sum + term;
        lost += if sum.abs() >= term.abs() { (sum - next) + term } else { (term - next) + sum };
        sum = next;
    }
    sum + lost
}

/// What a sample of one or more finite scores comes to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Moments {
    pub(super) n: f64,
    /// Exactly the least score where all scores are the same.
    pub(super) mean: f64,
    /// With n - 1; exactly 0 where all scores are the same, NaN for one score.
    pub(super) variance: f64,
}

impl Moments {
    /// None for no scores.
    pub(super) fn of(sorted: &[f64]) -> Option<Moments> {
        let (&least, &most) = (sorted.first()?, sorted.last()?);
        let n = sorted.len() as f64;
        if are_same(least, most) {
            return Some(Moments { n, mean: least, variance: if n > 1.0 { 0.0 } else { f64::NAN } });
        }
        let mean = exact_sum(sorted.iter().copied()) / n;
        let variance = exact_sum(sorted.iter().map(|s| (s - mean).powi(2))) / (n - 1.0);
        Some(Moments { n, mean, variance })
    }
}
