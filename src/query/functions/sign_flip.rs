//! `sign_flip` and `sign_flip_two_sided`: the randomization test of a mean by changing signs.
//!
//! In: scores and the mean to test against. Out: how often differences with random signs add up to as much as those found.
//! Under the null a score lies as likely above popmean as below it by as much. Exact up to 20 scores: all 2^n
//! assignments, met in the middle; above that by draws that depend on the seed and the number of scores alone.

use datafusion::common::Result;
use datafusion::logical_expr::AggregateUDF;

use super::aggregate::{Cell, CellKind, Shape, aggregate};
use super::doc::ArgumentKind::{Number, Whole};
use super::doc::{FunctionDoc, argument, per_group};
use super::group::Group;
use super::moments::{SAME, are_same, exact_sum};
use super::resample::{Stream, checked_draws};

/// Up to this number of scores all assignments of signs are counted.
pub const EXACT_UP_TO: usize = 20;

/// The direction of the alternative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sides {
    /// The mean is greater than the tested one.
    Greater,
    /// The mean is another one; sums are compared without their sign.
    Two,
}

/// The outcome of a sign-flip test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignFlip {
    /// Share of the assignments of signs whose sum is at least the one found.
    pub p: f64,
    /// Number of random assignments; None where all were counted. Then p = (b + 1) / (draws + 1) (Phipson and Smyth 2010).
    pub draws: Option<usize>,
}

/// The test of `scores` (finite, in a fixed order) against `popmean`; None for no scores.
pub fn sign_flip(scores: &[f64], popmean: f64, sides: Sides, draws: usize, seed: i64) -> Option<SignFlip> {
    if scores.is_empty() || !popmean.is_finite() {
        return None;
    }
    let difference = |&x: &f64| if are_same(x, popmean) { 0.0 } else { x - popmean };
    let mut differences: Vec<f64> = scores.iter().map(difference).collect();
    let mut sum = exact_sum(differences.iter().copied());
    if sides == Sides::Two && sum < 0.0 {
        // The two-sided test is the same for all signs changed.
        differences.iter_mut().for_each(|d| *d = -*d);
        sum = -sum;
    }
    let slack = 0.5 * SAME * exact_sum(differences.iter().map(|d| d.abs()));
    // A sum with the signs of a set changed is the sum less twice that set: as great when the set adds up to 0 or less,
    // as great on the other side when it adds up to the whole sum or more.
    let (low, high) = match sides {
        Sides::Greater => (slack, f64::INFINITY),
        Sides::Two if sum <= 2.0 * slack => (f64::INFINITY, f64::INFINITY),
        Sides::Two => (slack, sum - slack),
    };
    if differences.len() <= EXACT_UP_TO {
        let all = (1u64 << differences.len()) as f64;
        let one_side = sets_up_to(&differences, low) as f64;
        // Sets and their complements: as many lie at `high` or above as at `low` or below.
        let counted = if high.is_finite() { 2.0 * one_side } else { one_side };
        return Some(SignFlip { p: counted / all, draws: None });
    }
    let as_great = drawn_outside(&differences, low, high, draws, seed);
    Some(SignFlip { p: (as_great + 1) as f64 / (draws + 1) as f64, draws: Some(draws) })
}

/// Number of sets of `differences` whose sum is at most `most`.
fn sets_up_to(differences: &[f64], most: f64) -> u64 {
    let (first, second) = differences.split_at(differences.len() / 2);
    let (first, second) = (sorted_set_sums(first), sorted_set_sums(second));
    let mut fitting = second.len();
    let mut count = 0;
    for a in first {
        while fitting > 0 && second.get(fitting - 1).is_some_and(|b| a + b > most) {
            fitting -= 1;
        }
        count += fitting as u64;
    }
    count
}

/// The sums of all sets of `differences`, ascending: with each difference the sums without it and with it are merged.
fn sorted_set_sums(differences: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for difference in differences {
        let with: Vec<f64> = sums.iter().map(|sum| sum + difference).collect();
        let mut merged = Vec::with_capacity(2 * sums.len());
        let (mut a, mut b) = (sums.iter().peekable(), with.iter().peekable());
        while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
            if x <= y {
                merged.extend(a.next());
            } else {
                merged.extend(b.next());
            }
        }
        merged.extend(a);
        merged.extend(b);
        sums = merged;
    }
    sums
}

/// Number of random sets whose sum is at most `low` or at least `high`.
fn drawn_outside(differences: &[f64], low: f64, high: f64, draws: usize, seed: i64) -> usize {
    // The sums of all 256 sets of eight differences each: a draw looks up a byte a table.
    let tables: Vec<[f64; 256]> = differences
        .chunks(8)
        .map(|eight| {
            let mut table = [0.0; 256];
            for (bits, sum) in table.iter_mut().enumerate() {
                *sum = eight.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1).map(|(_, d)| d).sum();
            }
            table
        })
        .collect();
    let mut stream = Stream::new(seed, &["signs", &differences.len().to_string()]);
    let mut outside = 0;
    for _ in 0..draws {
        let mut sum = 0.0;
        for tables in tables.chunks(8) {
            for (table, byte) in tables.iter().zip(stream.bits().to_le_bytes()) {
                sum += table[usize::from(byte)];
            }
        }
        outside += usize::from((sum <= low) | (sum >= high));
    }
    outside
}

pub(super) const SIGN_FLIP: FunctionDoc = FunctionDoc {
    name: "sign_flip",
    is_aggregate: true,
    arguments: &[
        argument("x", Number, "the scores; rows where it is NULL are left out"),
        per_group("popmean", Number, "the mean to test against"),
        per_group("draws", Whole, "number of random assignments of signs, where there are over 20 scores"),
        per_group("seed", Whole, "seed of the draws; the same for the same number of scores"),
    ],
    returns: "struct of p (double) and draws (bigint)",
    what: "Sign-flip test, alternative: the mean is greater than popmean. p: share of the assignments of signs to \
           x - popmean whose sum is at least the one found; up to 20 scores of all of them (draws NULL), above that \
           (b + 1) / (draws + 1). p is NULL without scores.",
    example: "select r['p'], r['draws']
from (select sign_flip(x, 0, 999, 1) as r from (values (1.0), (2.0), (3.0)) as t (x))",
    result: "0.125 | NULL",
    source: "Fisher 1935; (b + 1) / (draws + 1): Phipson and Smyth 2010",
};

pub(super) const SIGN_FLIP_TWO_SIDED: FunctionDoc = FunctionDoc {
    name: "sign_flip_two_sided",
    what: "Sign-flip test, alternative: the mean is not popmean. p as in sign_flip, with sums compared without sign.",
    example: "select r['p'], r['draws']
from (select sign_flip_two_sided(x, 0, 999, 1) as r from (values (1.0), (2.0), (3.0)) as t (x))",
    result: "0.25 | NULL",
    ..SIGN_FLIP
};

/// The aggregates of this file.
pub(super) fn functions() -> Vec<AggregateUDF> {
    let shape = Shape::Fields(&[("p", CellKind::Number), ("draws", CellKind::Count)]);
    vec![
        aggregate(&SIGN_FLIP, shape, |group| cells(group, Sides::Greater)),
        aggregate(&SIGN_FLIP_TWO_SIDED, shape, |group| cells(group, Sides::Two)),
    ]
}

fn cells(group: &Group, sides: Sides) -> Result<Vec<Cell>> {
    let draws = checked_draws("sign_flip", group.whole(1))?;
    Ok(match sign_flip(group.column(0), group.number(0), sides, draws, group.whole(2)) {
        Some(test) => {
            let draws = test.draws.and_then(|draws| i64::try_from(draws).ok());
            vec![Cell::Number(test.p), draws.map_or(Cell::Null, Cell::Count)]
        }
        None => vec![Cell::Null; 2],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All assignments, one by one.
    fn brute_force(scores: &[f64], popmean: f64, sides: Sides) -> f64 {
        let differences: Vec<f64> = scores.iter().map(|x| x - popmean).collect();
        let scale: f64 = scores.iter().map(|x| x.abs() + popmean.abs()).sum();
        let side = |sum: f64| if sides == Sides::Two { sum.abs() } else { sum };
        let found = side(differences.iter().sum());
        let all = 1u32 << scores.len();
        let as_great = (0..all).filter(|signs| {
            let signed = differences.iter().enumerate().map(|(i, d)| if signs >> i & 1 == 1 { -d } else { *d });
            side(signed.sum()) >= found - 1e-12 * scale
        });
        as_great.count() as f64 / f64::from(all)
    }

    #[test]
    fn all_assignments_are_counted_as_one_by_one() {
        let mut stream = Stream::new(5, &["scores"]);
        for n in 1..=14 {
            for sides in [Sides::Greater, Sides::Two] {
                let smooth: Vec<f64> = (0..n).map(|_| stream.fraction()).collect();
                // Tenths: sums tie in many ways, none of them to the last bit.
                let tied: Vec<f64> = (0..n).map(|_| stream.below(4) as f64 * 0.1).collect();
                for (scores, popmean) in [(&smooth, 0.4), (&smooth, 0.0), (&tied, 0.1), (&tied, 0.3), (&tied, 0.15)] {
                    let found = sign_flip(scores, popmean, sides, 1, 0).unwrap();
                    assert_eq!(found.p, brute_force(scores, popmean, sides), "{scores:?} {popmean} {sides:?}");
                    assert_eq!(found.draws, None);
                }
            }
        }
    }

    #[test]
    fn what_is_always_as_great() {
        // Without differences every assignment gives the same sum.
        for n in [3, 30] {
            for sides in [Sides::Greater, Sides::Two] {
                assert_eq!(sign_flip(&vec![0.1; n], 0.1, sides, 99, 0).unwrap().p, 1.0);
            }
        }
        // 0.3 - 0.1 - 0.2 is no sum to a double, but is one here: two-sided, all eight assignments are as great.
        assert_eq!(sign_flip(&[-0.1, -0.2, 0.3], 0.0, Sides::Two, 1, 0).unwrap().p, 1.0);
        // Scores that differ from popmean by how they were summed do not differ.
        assert_eq!(sign_flip(&[0.05, 0.05 + 7e-18, 0.05 + 1.4e-17], 0.05, Sides::Greater, 1, 0).unwrap().p, 1.0);
        assert_eq!(sign_flip(&[], 0.0, Sides::Two, 1, 0), None);
    }

    #[test]
    fn draws_come_near_to_all_assignments() {
        let scores: Vec<f64> = (0..20).map(|i| f64::from(i * i % 17) / 17.0).collect();
        for popmean in [0.3, 0.4, 0.5] {
            let exact = sign_flip(&scores, popmean, Sides::Greater, 1, 0).unwrap().p;
            let differences: Vec<f64> = scores.iter().map(|x| x - popmean).collect();
            let drawn = drawn_outside(&differences, 1e-12, f64::INFINITY, 100_000, 1) as f64 / 1e5;
            // Five standard errors.
            assert!((drawn - exact).abs() < 5.0 * (exact * (1.0 - exact) / 1e5).sqrt(), "{drawn} {exact}");
        }
    }

    #[test]
    fn no_random_assignment_as_great_still_gives_a_p_above_0() {
        let test = sign_flip(&[1.0; 40], 0.0, Sides::Greater, 999, 7).unwrap();
        assert_eq!(test, SignFlip { p: 0.001, draws: Some(999) });
    }
}
