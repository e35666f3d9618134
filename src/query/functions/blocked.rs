//! `blocked_spearman`: rank correlation within blocks, pooled over them.
//!
//! In: pairs, each with its block. Out: rho, its permutation p-value and its bootstrap interval.
//! Ranks are taken and centered within blocks, so that differences between blocks (levels of data sets, say) are no
//! correlation; permuted and resampled is within blocks too.

use datafusion::common::Result;
use datafusion::logical_expr::AggregateUDF;

use super::aggregate::{Cell, CellKind, Shape, aggregate};
use super::doc::ArgumentKind::{Number, Text, Whole};
use super::doc::{FunctionDoc, argument, per_group};
use super::group::Group;
use super::ranks::{Order, correlation};
use super::resample::{Manner, checked_draws, quantile, with_places};
use super::t_test::checked_share;

/// What [`blocked_spearman`] gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockedSpearman {
    /// Rows of the blocks in which both columns have variance; the others tell nothing and would only dilute rho.
    pub n: usize,
    /// The pooled correlation.
    pub rho: f64,
    /// Two-sided: (b + 1) / (draws + 1) with b permutations that correlate at least as much.
    pub p: f64,
    /// Percentile interval over resampled pairs, ranked anew; None where no resample has variance in both columns.
    pub interval: Option<(f64, f64)>,
}

/// The correlation of `a` and `b`, whose blocks of the sizes `blocks` lie one after the other; None where a column has
/// no variance within any block.
pub fn blocked_spearman(
    a: &[f64],
    b: &[f64],
    blocks: &[usize],
    confidence: f64,
    draws: usize,
    seed: i64,
) -> Option<BlockedSpearman> {
    let (a, b, blocks) = with_variance(a, b, blocks);
    let (a, b, blocks) = (BlockRanks::new(&a, &blocks), BlockRanks::new(&b, &blocks), blocks.as_slice());
    let once = vec![1.0; a.rows];
    let (mut of_a, mut of_b) = (vec![0.0; a.rows], vec![0.0; a.rows]);
    a.ranks(&once, &mut of_a);
    b.ranks(&once, &mut of_b);
    let rho = correlation(&of_a, &of_b)?;
    // Centered ranks are halves of whole numbers: these sums are exact, and ties are ties. The spread stays as it is.
    let found = of_a.iter().zip(&of_b).map(|(x, y)| x * y).sum::<f64>().abs();
    let mut as_great = 0;
    with_places(Manner::Shuffled, seed, blocks, draws, |places| {
        let sum: f64 = of_a.iter().zip(places).map(|(x, &place)| x * of_b.get(place as usize).unwrap_or(&0.0)).sum();
        as_great += usize::from(sum.abs() >= found);
    });
    let mut resampled = Vec::with_capacity(draws);
    let mut counts = vec![0.0f64; a.rows];
    with_places(Manner::WithReplacement, seed, blocks, draws, |places| {
        counts.fill(0.0);
        for &place in places {
            if let Some(count) = counts.get_mut(place as usize) {
                *count += 1.0;
            }
        }
        a.ranks(&counts, &mut of_a);
        b.ranks(&counts, &mut of_b);
        let (mut both, mut in_a, mut in_b) = (0.0, 0.0, 0.0);
        for ((count, x), y) in counts.iter().zip(&of_a).zip(&of_b) {
            both += count * x * y;
            in_a += count * x * x;
            in_b += count * y * y;
        }
        if in_a * in_b > 0.0 {
            resampled.push((both / f64::sqrt(in_a * in_b)).clamp(-1.0, 1.0));
        }
    });
    let tail = 0.5 * (1.0 - confidence);
    let interval = quantile(&mut resampled, tail).zip(quantile(&mut resampled, 1.0 - tail));
    Some(BlockedSpearman { n: a.rows, rho, p: (as_great + 1) as f64 / (draws + 1) as f64, interval })
}

/// The rows of the blocks in which both columns vary, and the sizes of these blocks.
fn with_variance(a: &[f64], b: &[f64], blocks: &[usize]) -> (Vec<f64>, Vec<f64>, Vec<usize>) {
    let (mut of_a, mut of_b, mut sizes, mut from) = (Vec::new(), Vec::new(), Vec::new(), 0);
    let varies = |block: &[f64]| block.windows(2).any(|pair| pair.first() != pair.last());
    for &size in blocks {
        let rows = from..from + size;
        from += size;
        let (Some(x), Some(y)) = (a.get(rows.clone()), b.get(rows)) else { continue };
        if varies(x) && varies(y) {
            of_a.extend_from_slice(x);
            of_b.extend_from_slice(y);
            sizes.push(size);
        }
    }
    (of_a, of_b, sizes)
}

/// The order of a column within each block, from which the ranks of any resample follow without sorting.
struct BlockRanks {
    /// Rows by their values: those of the first block, of the second, and so on.
    order: Vec<u32>,
    /// How many rows of `order` share a value, run by run.
    runs: Vec<u32>,
    /// For each block its number of runs and the middle of its ranks.
    blocks: Vec<(usize, f64)>,
    rows: usize,
}

impl BlockRanks {
    fn new(values: &[f64], blocks: &[usize]) -> Self {
        let (mut order, mut runs, mut of_blocks, mut from) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for &size in blocks {
            let of_block = Order::of(values.get(from..from + size).unwrap_or(&[]));
            let before = runs.len();
            for run in of_block.runs() {
                order.extend(run.iter().map(|place| (from + place) as u32));
                runs.push(run.len() as u32);
            }
            of_blocks.push((runs.len() - before, 0.5 * (size as f64 + 1.0)));
            from += size;
        }
        BlockRanks { order, runs, blocks: of_blocks, rows: values.len() }
    }

    /// Centered average ranks within blocks where row i is there `counts[i]` times, in all as often as there are rows.
    fn ranks(&self, counts: &[f64], out: &mut [f64]) {
        let (mut order, mut runs) = (self.order.as_slice(), self.runs.iter());
        for &(number, middle) in &self.blocks {
            let mut before = 0.0;
            for &length in runs.by_ref().take(number) {
                let (run, rest) = order.split_at_checked(length as usize).unwrap_or((order, &[]));
                order = rest;
                let size: f64 = run.iter().filter_map(|&row| counts.get(row as usize)).sum();
                let rank = before + 0.5 * (size + 1.0) - middle;
                for &row in run {
                    if let Some(slot) = out.get_mut(row as usize) {
                        *slot = rank;
                    }
                }
                before += size;
            }
        }
    }
}

pub(super) const BLOCKED_SPEARMAN: FunctionDoc = FunctionDoc {
    name: "blocked_spearman",
    is_aggregate: true,
    arguments: &[
        argument("a", Number, "one number a row"),
        argument("b", Number, "another; rows where either is NULL are left out"),
        argument("block", Text, "rows with the same one are ranked, permuted and resampled among themselves"),
        per_group("confidence", Number, "share of such intervals that hold rho, 0.95 say"),
        per_group("draws", Whole, "number of permutations, and of resamples"),
        per_group("seed", Whole, "seed of both; the same for the same sizes of blocks"),
    ],
    returns: "struct of rho, p, low, high (double) and n (bigint, rows of blocks in which both vary; all where rho is NULL)",
    what: "Rank correlation of ranks taken and centered within blocks, pooled over them. p: two-sided, by permuting \
           within blocks, (b + 1) / (draws + 1). low, high: percentile interval of resampled pairs, ranked anew. All \
           but n are NULL where a column has no variance within any block.",
    example: "select r['rho'], r['n']
from (
    select blocked_spearman(a, b, g, 0.95, 99, 1) as r
    from (values (1, 5, 'x'), (2, 6, 'x'), (11, 1, 'y'), (12, 2, 'y')) as t (a, b, g)
)",
    result: "1.0 | 4",
    source: "Spearman 1904; permutation within blocks: Good 2005; interval: Efron 1979",
};

/// The aggregate.
pub(super) fn function() -> AggregateUDF {
    let shape = Shape::Fields(&[
        ("rho", CellKind::Number),
        ("p", CellKind::Number),
        ("low", CellKind::Number),
        ("high", CellKind::Number),
        ("n", CellKind::Count),
    ]);
    aggregate(&BLOCKED_SPEARMAN, shape, cells)
}

fn cells(group: &Group) -> Result<Vec<Cell>> {
    let confidence = checked_share("blocked_spearman", "confidence", group.number(0))?;
    let draws = checked_draws("blocked_spearman", group.whole(1))?;
    let (a, b) = (group.column(0), group.column(1));
    let rows = |n: usize| Cell::Count(i64::try_from(n).unwrap_or(i64::MAX));
    Ok(match blocked_spearman(a, b, group.strata(), confidence, draws, group.whole(2)) {
        Some(BlockedSpearman { n, rho, p, interval }) => {
            let (low, high) = interval.unzip();
            vec![Cell::Number(rho), Cell::Number(p), low.into(), high.into(), rows(n)]
        }
        None => vec![Cell::Null, Cell::Null, Cell::Null, Cell::Null, rows(a.len())],
    })
}

#[cfg(test)]
mod tests {
    use super::super::ranks::{average_ranks, spearman};
    use super::*;

    #[test]
    fn one_block_is_spearman() {
        let a: Vec<f64> = (0..20).map(|i| f64::from(i * 7 % 10)).collect();
        let b: Vec<f64> = (0..20).map(|i| f64::from(i * i % 13)).collect();
        let found = blocked_spearman(&a, &b, &[20], 0.95, 199, 1).unwrap();
        assert_eq!(Some(found.rho), spearman(&a, &b));
        let (low, high) = found.interval.unwrap();
        assert!(low < found.rho && found.rho < high);
    }

    #[test]
    fn what_differs_between_blocks_is_no_correlation() {
        // Within blocks the orders are opposite, over all rows nearly the same.
        let a = [1.0, 2.0, 3.0, 11.0, 12.0, 13.0];
        let b = [3.0, 2.0, 1.0, 13.0, 12.0, 11.0];
        assert_eq!(blocked_spearman(&a, &b, &[3, 3], 0.95, 9, 1).unwrap().rho, -1.0);
        assert!(spearman(&a, &b).unwrap() > 0.5);
        assert_eq!(blocked_spearman(&[1.0, 1.0, 2.0, 2.0], &[1.0, 2.0, 3.0, 4.0], &[2, 2], 0.95, 9, 1), None);
    }

    #[test]
    fn a_block_in_which_nothing_varies_does_not_dilute() {
        let a = [1.0, 2.0, 3.0, 7.0, 7.0, 7.0];
        let b = [1.0, 2.0, 3.0, 3.0, 1.0, 2.0];
        let found = blocked_spearman(&a, &b, &[3, 3], 0.95, 99, 1).unwrap();
        assert_eq!((found.rho, found.n), (1.0, 3));
        assert_eq!(found.interval, blocked_spearman(&a[..3], &b[..3], &[3], 0.95, 99, 1).unwrap().interval);
    }

    #[test]
    fn p_of_few_rows_is_the_share_of_all_orders() {
        // Of the 3! * 3! = 36 orders 2 are as extreme as full agreement in both blocks.
        let a = [1.0, 2.0, 3.0, 1.0, 2.0, 3.0];
        let p = blocked_spearman(&a, &a, &[3, 3], 0.95, 40_000, 3).unwrap().p;
        assert!((p - 2.0 / 36.0).abs() < 0.005, "{p}");
    }

    #[test]
    fn ranks_of_a_resample_are_those_of_its_rows() {
        let values = [0.5, 0.1, 0.5, 0.9, 0.3];
        let places: [usize; 5] = [2, 2, 0, 4, 3];
        let expected = average_ranks(&places.map(|place| values[place]));
        let mut counts = [0.0; 5];
        places.iter().for_each(|&place| counts[place] += 1.0);
        let mut found = [0.0; 5];
        BlockRanks::new(&values, &[5]).ranks(&counts, &mut found);
        for (i, &place) in places.iter().enumerate() {
            assert_eq!(found[place] + 3.0, expected[i]);
        }
    }
}
