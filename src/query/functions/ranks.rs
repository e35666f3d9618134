//! Ranks, `kendall_tau_b` and `spearman`: correlations of the order of two columns.
//!
//! In: pairs of numbers. Out: average ranks; a correlation in -1..1, NULL where a column does not vary.
//! Numbers within a relative 1e-12 of each other tie: what is equal but for rounding must not make an order.

use datafusion::logical_expr::AggregateUDF;

use super::aggregate::{Shape, aggregate};
use super::doc::ArgumentKind::Number;
use super::doc::{FunctionDoc, argument};

/// Numbers that differ by less than this share of the greater one are equal.
const SAME: f64 = 1e-12;

/// The places of `values` in ascending order, and where each run of equal values ends in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) places: Vec<usize>,
    pub(super) run_ends: Vec<usize>,
}

impl Order {
    pub(super) fn of(values: &[f64]) -> Order {
        let mut sorted: Vec<(usize, f64)> = values.iter().copied().enumerate().collect();
        sorted.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        let mut run_ends = Vec::new();
        let mut first = f64::NAN;
        for (place, &(_, value)) in sorted.iter().enumerate() {
            // A run is told by its first value, so that a chain of near ones does not tie its ends.
            let in_run = value == first || value - first <= SAME * value.abs().max(first.abs());
            if !in_run {
                if place > 0 {
                    run_ends.push(place);
                }
                first = value;
            }
        }
        if !sorted.is_empty() {
            run_ends.push(sorted.len());
        }
        Order { places: sorted.into_iter().map(|(place, _)| place).collect(), run_ends }
    }

    /// The runs of equal values as places, ascending by value.
    pub(super) fn runs(&self) -> impl Iterator<Item = &[usize]> {
        let starts = std::iter::once(0).chain(self.run_ends.iter().copied());
        starts.zip(&self.run_ends).map(|(start, &end)| self.places.get(start..end).unwrap_or(&[]))
    }
}

/// Ranks from 1; equal values share the average of theirs.
pub fn average_ranks(values: &[f64]) -> Vec<f64> {
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0.0;
    for run in Order::of(values).runs() {
        let size = run.len() as f64;
        for &place in run {
            if let Some(rank) = ranks.get_mut(place) {
                *rank = before + 0.5 * (size + 1.0);
            }
        }
        before += size;
    }
    ranks
}

/// Spearman's rho of pairs: Pearson's correlation of the average ranks; None for fewer than two pairs or a column
/// without variance (Spearman 1904).
pub fn spearman(a: &[f64], b: &[f64]) -> Option<f64> {
    let middle = 0.5 * (a.len() as f64 + 1.0);
    let centered = |values| average_ranks(values).into_iter().map(|rank| rank - middle).collect::<Vec<_>>();
    // Halves of whole numbers: these sums are exact.
    correlation(&centered(a), &centered(b))
}

/// Correlation of centered columns.
pub(super) fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let spread = dot(a, a) * dot(b, b);
    (spread > 0.0).then(|| (dot(a, b) / spread.sqrt()).clamp(-1.0, 1.0))
}

/// Kendall's tau-b of pairs: (concordant - discordant) / sqrt((pairs untied in a) (pairs untied in b)); None for fewer
/// than two pairs or a column without variance (Kendall 1945), in n log n steps (Knight 1966).
pub fn kendall_tau_b(a: &[f64], b: &[f64]) -> Option<f64> {
    let mut ranks: Vec<(u64, u64)> = whole_ranks(a).into_iter().zip(whole_ranks(b)).collect();
    ranks.sort_unstable();
    let pairs = |n: usize| (n as f64) * (n as f64 - 1.0) / 2.0;
    let all = pairs(ranks.len());
    let tied_a: f64 = ranks.chunk_by(|x, y| x.0 == y.0).map(|run| pairs(run.len())).sum();
    let tied_both: f64 = ranks.chunk_by(|x, y| x == y).map(|run| pairs(run.len())).sum();
    let mut second: Vec<u64> = ranks.into_iter().map(|(_, b)| b).collect();
    let discordant = sort_counting(&mut second) as f64;
    let tied_b: f64 = second.chunk_by(|x, y| x == y).map(|run| pairs(run.len())).sum();
    let untied = (all - tied_a) * (all - tied_b);
    let surplus = all - tied_a - tied_b + tied_both - 2.0 * discordant;
    (untied > 0.0).then(|| (surplus / untied.sqrt()).clamp(-1.0, 1.0))
}

/// Ranks as whole numbers, equal for equal values.
fn whole_ranks(values: &[f64]) -> Vec<u64> {
    let mut ranks = vec![0; values.len()];
    for (number, run) in (0..).zip(Order::of(values).runs()) {
        for &place in run {
            if let Some(rank) = ranks.get_mut(place) {
                *rank = number;
            }
        }
    }
    ranks
}

/// Sorts by merging; gives the number of pairs that stood in the wrong order.
fn sort_counting(values: &mut [u64]) -> u64 {
    let n = values.len();
    if n < 2 {
        return 0;
    }
    let (left, right) = values.split_at_mut(n / 2);
    let mut wrong = sort_counting(left) + sort_counting(right);
    let mut merged = Vec::with_capacity(n);
    let (mut a, mut b) = (left.iter().peekable(), right.iter().peekable());
    let mut left_of_a = n / 2;
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        if x <= y {
            merged.extend(a.next());
            left_of_a -= 1;
        } else {
            wrong += left_of_a as u64;
            merged.extend(b.next());
        }
    }
    merged.extend(a);
    merged.extend(b);
    values.copy_from_slice(&merged);
    wrong
}

pub(super) const KENDALL_TAU_B: FunctionDoc = FunctionDoc {
    name: "kendall_tau_b",
    is_aggregate: true,
    arguments: &[
        argument("a", Number, "one number a row"),
        argument("b", Number, "another; rows where either is NULL are left out"),
    ],
    returns: "double",
    what: "Kendall's rank correlation with ties (tau-b), -1..1. NULL for fewer than two rows or a column without \
           variance.",
    example: "select round(kendall_tau_b(a, b), 6) from (values (1, 1), (2, 3), (3, 2), (4, 4)) as t (a, b)",
    result: "0.666667",
    source: "Kendall 1945; Knight 1966",
};

pub(super) const SPEARMAN: FunctionDoc = FunctionDoc {
    name: "spearman",
    what: "Spearman's rank correlation: that of the average ranks, -1..1. NULL for fewer than two rows or a column \
           without variance.",
    example: "select round(spearman(a, b), 6) from (values (1, 1), (2, 3), (3, 2), (4, 4)) as t (a, b)",
    result: "0.8",
    source: "Spearman 1904",
    ..KENDALL_TAU_B
};

/// The aggregates of this file.
pub(super) fn functions() -> Vec<AggregateUDF> {
    vec![
        aggregate(&KENDALL_TAU_B, Shape::Number, |g| Ok(vec![kendall_tau_b(g.column(0), g.column(1)).into()])),
        aggregate(&SPEARMAN, Shape::Number, |g| Ok(vec![spearman(g.column(0), g.column(1)).into()])),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_their_average_rank() {
        assert_eq!(average_ranks(&[0.3, 0.1, 0.1 + 0.2, 0.0]), [3.5, 2.0, 3.5, 1.0]);
        assert_eq!(average_ranks(&[-1.0, -1.0 - 1e-14, 5.0]), [1.5, 1.5, 3.0]);
        assert_eq!(average_ranks(&[]), [0.0; 0]);
    }

    /// All pairs, one by one.
    fn tau_of_pairs(a: &[f64], b: &[f64]) -> f64 {
        let sign = |x: f64| if x == 0.0 { 0.0 } else { x.signum() };
        let (mut surplus, mut in_a, mut in_b) = (0.0, 0.0, 0.0);
        for i in 0..a.len() {
            for j in 0..i {
                let (x, y) = (sign(a[i] - a[j]), sign(b[i] - b[j]));
                surplus += x * y;
                in_a += x * x;
                in_b += y * y;
            }
        }
        surplus / f64::sqrt(in_a * in_b)
    }

    #[test]
    fn tau_counts_pairs() {
        for n in [2u32, 3, 7, 50, 101] {
            let a: Vec<f64> = (0..n).map(|i| f64::from(i * 37 % 11)).collect();
            let b: Vec<f64> = (0..n).map(|i| f64::from(i * i % 13)).collect();
            let found = kendall_tau_b(&a, &b).unwrap();
            assert!((found - tau_of_pairs(&a, &b)).abs() < 1e-14, "{n}: {found}");
        }
    }

    #[test]
    fn the_same_order_is_exactly_one() {
        let a: Vec<f64> = (0..30).map(|i| f64::from(i * 7 % 10)).collect();
        let (up, down): (Vec<f64>, Vec<f64>) = a.iter().map(|x| (x.exp(), -x)).unzip();
        assert_eq!((spearman(&a, &up), spearman(&a, &down)), (Some(1.0), Some(-1.0)));
        assert_eq!((kendall_tau_b(&a, &up), kendall_tau_b(&a, &down)), (Some(1.0), Some(-1.0)));
    }

    #[test]
    fn without_variance_there_is_no_order() {
        assert_eq!((spearman(&[1.0, 2.0], &[3.0, 3.0]), kendall_tau_b(&[1.0, 2.0], &[3.0, 3.0])), (None, None));
        assert_eq!((spearman(&[1.0], &[1.0]), kendall_tau_b(&[], &[])), (None, None));
    }
}
