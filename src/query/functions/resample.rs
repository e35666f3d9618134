//! Resample: random numbers and drawn places that depend on a seed and a key alone.
//!
//! In: a seed and what is drawn for (the sizes of a sample's strata, or a key). Out: bits, places, means of resamples.
//! Any group of rows with the same sizes is resampled at the same places; order and threads play no part.

use std::cell::RefCell;
use std::rc::Rc;

use crate::draw::Draws;

/// A stream of uniform bits: SplitMix64 (Steele, Lea and Flood 2014), started at a point that SHA-256 gives for
/// (seed, key).
#[derive(Debug, Clone)]
pub struct Stream(u64);

impl Stream {
    /// The stream of `key` under `seed`.
    pub fn new(seed: i64, key: &[&str]) -> Self {
        Stream(Draws::new(seed as u64, key).bits(0))
    }

    /// The next 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0..n`, 0 for n = 0. The bias of the multiply-shift is under n / 2^64.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// Puts `items` in a random order (Durstenfeld 1964).
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// A number in [0, 1).
    pub fn fraction(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// How places are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// Any place of the stratum, again and again: a bootstrap.
    WithReplacement,
    /// Each place of the stratum once, in another order: a permutation.
    Shuffled,
}

impl Manner {
    fn key(self) -> &'static str {
        match self {
            Manner::WithReplacement => "places",
            Manner::Shuffled => "permutations",
        }
    }
}

/// The places of `draws` resamples, each stratum among itself; one resample after the other.
#[derive(Debug, PartialEq)]
struct Places {
    manner: Manner,
    seed: i64,
    strata: Vec<usize>,
    draws: usize,
    places: Vec<u32>,
}

/// Numbers of places up to which a table is kept for the next group: 32 MiB for each manner, a thread.
const KEPT: usize = 8 << 20;

thread_local! {
    static BOOTSTRAP: RefCell<Option<Rc<Places>>> = const { RefCell::new(None) };
    static PERMUTATIONS: RefCell<Option<Rc<Places>>> = const { RefCell::new(None) };
}

/// Calls `each` with the places of every resample, in order. `strata`: their sizes, as they lie in the sample.
pub(super) fn with_places(manner: Manner, seed: i64, strata: &[usize], draws: usize, mut each: impl FnMut(&[u32])) {
    let n: usize = strata.iter().sum();
    if n == 0 || u32::try_from(n).is_err() {
        return;
    }
    if n.saturating_mul(draws) > KEPT {
        let mut drawer = Drawer::new(manner, seed, strata);
        (0..draws).for_each(|_| each(drawer.next()));
        return;
    }
    let last = match manner {
        Manner::WithReplacement => &BOOTSTRAP,
        Manner::Shuffled => &PERMUTATIONS,
    };
    let fits = |known: &Rc<Places>| known.seed == seed && known.draws == draws && known.strata == strata;
    let table = match last.with_borrow(|last| last.clone().filter(fits)) {
        Some(table) => table,
        None => {
            let mut drawer = Drawer::new(manner, seed, strata);
            let mut places = Vec::with_capacity(n * draws);
            (0..draws).for_each(|_| places.extend_from_slice(drawer.next()));
            let table = Rc::new(Places { manner, seed, strata: strata.to_vec(), draws, places });
            last.set(Some(table.clone()));
            table
        }
    };
    table.places.chunks_exact(n).for_each(each);
}

/// Draws one resample after the other.
struct Drawer<'a> {
    manner: Manner,
    stream: Stream,
    strata: &'a [usize],
    places: Vec<u32>,
}

impl<'a> Drawer<'a> {
    fn new(manner: Manner, seed: i64, strata: &'a [usize]) -> Self {
        let sizes: Vec<String> = strata.iter().map(usize::to_string).collect();
        let stream = Stream::new(seed, &[manner.key(), &sizes.join(",")]);
        let places = (0..strata.iter().sum()).map(|place: usize| place as u32).collect();
        Drawer { manner, stream, strata, places }
    }

    fn next(&mut self) -> &[u32] {
        let (mut rest, mut from) = (self.places.as_mut_slice(), 0);
        for &size in self.strata {
            let (stratum, others) = rest.split_at_mut(size);
            match self.manner {
                Manner::WithReplacement => {
                    stratum.iter_mut().for_each(|place| *place = (from + self.stream.below(size)) as u32);
                }
                Manner::Shuffled => self.stream.shuffle(stratum),
            }
            rest = others;
            from += size;
        }
        &self.places
    }
}

/// Means of `values` (stratum after stratum) at the places of every resample, in the order of the draws.
pub fn resampled_means(values: &[f64], strata: &[usize], draws: usize, seed: i64) -> Vec<f64> {
    let mut means = Vec::with_capacity(draws);
    let n = values.len() as f64;
    with_places(Manner::WithReplacement, seed, strata, draws, |places| {
        let at = |&place: &u32| values.get(place as usize).copied().unwrap_or(f64::NAN);
        // Four sums run side by side; one would wait for itself.
        let mut sums = [0.0f64; 4];
        let chunks = places.chunks_exact(4);
        let rest: f64 = chunks.remainder().iter().map(at).sum();
        for four in chunks {
            for (sum, place) in sums.iter_mut().zip(four) {
                *sum += at(place);
            }
        }
        means.push((sums[0] + sums[1] + (sums[2] + sums[3]) + rest) / n);
    });
    means
}

/// The quantile of `values` at `fraction`, linear between order statistics (type 7 of Hyndman and Fan 1996). Leaves
/// `values` in another order: two places are found much sooner than all are sorted.
pub(super) fn quantile(values: &mut [f64], fraction: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let place = (fraction.clamp(0.0, 1.0) * last as f64).min(last as f64);
    let (_, &mut below, rest) = values.select_nth_unstable_by(place.floor() as usize, f64::total_cmp);
    let above = rest.iter().copied().min_by(f64::total_cmp).unwrap_or(below);
    Some(below + (above - below) * place.fract())
}

/// Largest number of draws that a function takes.
pub(super) const MOST_DRAWS: i64 = 10_000_000;

/// A number of draws as it is given in SQL.
///
/// # Errors
/// Below 1 or above [`MOST_DRAWS`].
pub(super) fn checked_draws(function: &str, draws: i64) -> datafusion::common::Result<usize> {
    usize::try_from(draws).ok().filter(|_| (1..=MOST_DRAWS).contains(&draws)).ok_or_else(|| {
        datafusion::common::exec_datafusion_err!("{function} expects 1 to {MOST_DRAWS} draws, found {draws}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_stay_in_their_stratum_and_cover_it() {
        let mut seen = [0usize; 5];
        with_places(Manner::WithReplacement, 3, &[2, 3], 5000, |places| {
            assert!(places[..2].iter().all(|&p| p < 2) && places[2..].iter().all(|&p| (2..5).contains(&p)));
            places.iter().for_each(|&p| seen[p as usize] += 1);
        });
        // Each place of a stratum of k is drawn as often as any other: 5000 times, give or take 4 standard errors.
        assert!(seen.iter().all(|&n| (4700..5300).contains(&n)), "{seen:?}");
    }

    #[test]
    fn shuffles_hold_each_place_once_and_every_order() {
        let mut orders = std::collections::BTreeMap::new();
        with_places(Manner::Shuffled, 3, &[3, 2], 12_000, |places| {
            let mut sorted = places.to_vec();
            sorted[..3].sort_unstable();
            sorted[3..].sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3, 4]);
            *orders.entry(places.to_vec()).or_insert(0) += 1;
        });
        // 3! * 2! orders, each 1000 times, give or take 4 standard errors.
        assert_eq!(orders.len(), 12);
        assert!(orders.values().all(|n| (880..1120).contains(n)), "{orders:?}");
    }

    #[test]
    fn a_kept_table_changes_nothing() {
        let values: Vec<f64> = (0..7).map(f64::from).collect();
        let first = resampled_means(&values, &[7], 20, 1);
        let other = resampled_means(&values, &[3, 4], 20, 1);
        assert_eq!(resampled_means(&values, &[7], 20, 1), first);
        assert_ne!(first, other);
        // More draws go on where fewer ended.
        assert_eq!(resampled_means(&values, &[7], 50, 1)[..20], first);
    }

    #[test]
    fn quantiles_are_linear_between_order_statistics() {
        assert_eq!(quantile(&mut [4.0, 1.0, 2.0], 0.75), Some(3.0));
        assert_eq!((quantile(&mut [2.0, 1.0], 0.0), quantile(&mut [2.0, 1.0], 1.0)), (Some(1.0), Some(2.0)));
        assert_eq!(quantile(&mut [], 0.5), None);
    }
}
