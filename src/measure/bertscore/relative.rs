//! Relative: DeBERTa's attention to distances between tokens.
//!
//! In: queries and keys of a text's tokens, and projected vectors of distances. Out: what is added to the attention scores.
//! He et al. (2021): a token's query is matched with the distance's key, and its key with the distance's query.

use super::config::Relative;
use super::packed::{Packed, Rows};

/// The vectors of all distances in one block, `[2 * span, width]`.
#[derive(Debug, Default)]
pub(super) struct Distances {
    pub(super) keys: Option<Vec<f32>>,
    pub(super) queries: Option<Vec<f32>>,
}

/// Which vector each distance of a text has.
#[derive(Debug)]
pub(super) struct Places {
    /// The first vector that is used, and how many from there on are.
    first: usize,
    count: usize,
    /// By distance, from -(tokens - 1) on; counted from `first`.
    of: Vec<usize>,
}

impl Places {
    /// For a text of so many tokens.
    pub(super) fn new(relative: &Relative, tokens: usize) -> Places {
        let span = relative.span() as i64;
        let reach = tokens.saturating_sub(1) as i64;
        let place = |distance: i64| {
            let distance = relative.buckets.map_or(distance, |buckets| bucket(distance, buckets, relative.most));
            (distance + span).clamp(0, 2 * span - 1) as usize
        };
        let of: Vec<usize> = (-reach..=reach).map(place).collect();
        let first = of.iter().copied().min().unwrap_or(0);
        let last = of.iter().copied().max().unwrap_or(0);
        Places { first, count: last - first + 1, of: of.into_iter().map(|place| place - first).collect() }
    }
}

/// Distances up to half the buckets keep their own; beyond, on a logarithmic scale that ends at `most`.
fn bucket(distance: i64, buckets: usize, most: usize) -> i64 {
    let middle = (buckets / 2) as i64;
    if distance.abs() <= middle {
        return distance;
    }
    // In f32, as transformers computes it: a boundary may hang on the last bit.
    let log = |distance: f64| ((distance / middle as f64) as f32).ln();
    let far = log(distance.abs() as f64) / log(most as f64 - 1.0) * (middle - 1) as f32;
    (far.ceil() as i64 + middle) * distance.signum()
}

/// Queries and keys of one head.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head<'a> {
    pub(super) queries: Rows<'a>,
    pub(super) keys: Rows<'a>,
    /// Where the head's values begin in a row of all heads', which is `width` long.
    pub(super) from: usize,
    pub(super) width: usize,
    /// How many values it has.
    pub(super) length: usize,
}

/// What the work is done in.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    packed: Packed,
    products: Vec<f32>,
}

impl Distances {
    /// Adds one head's products with the distances to `scores`: rows of `stride`, one for each query.
    pub(super) fn add(
        &self,
        head: Head<'_>,
        places: &Places,
        scratch: &mut Scratch,
        scores: &mut [f32],
        stride: usize,
    ) {
        if let Some(keys) = &self.keys {
            scratch.multiply(head.queries, keys, head, places);
            let padded = scratch.packed.padded();
            for (i, (scores, products)) in scores.chunks_mut(stride).zip(scratch.products.chunks(padded)).enumerate() {
                // Distances to the keys: i, i - 1, ...
                let places = places.of.iter().rev().skip(head.queries.count.saturating_sub(i + 1));
                for (score, &place) in scores.iter_mut().zip(places) {
                    *score += products.get(place).copied().unwrap_or_default();
                }
            }
        }
        if let Some(queries) = &self.queries {
            scratch.multiply(head.keys, queries, head, places);
            let padded = scratch.packed.padded();
            for (i, scores) in scores.chunks_mut(stride).enumerate() {
                let places = places.of.iter().rev().skip(head.queries.count.saturating_sub(i + 1));
                for ((score, &place), products) in scores.iter_mut().zip(places).zip(scratch.products.chunks(padded)) {
                    *score += products.get(place).copied().unwrap_or_default();
                }
            }
        }
    }
}

impl Scratch {
    /// Products of rows with the vectors of those distances that a text has.
    fn multiply(&mut self, rows: Rows<'_>, vectors: &[f32], head: Head<'_>, places: &Places) {
        let values = vectors.get(places.first * head.width + head.from..).unwrap_or_default();
        self.packed.columns(Rows { values, stride: head.width, count: places.count }, head.length);
        self.packed.multiply(rows, &mut self.products);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_distances_share_buckets() {
        // transformers' make_log_bucket_position, of DeBERTa-v3's 256 buckets up to 512.
        for (distance, want) in [(128, 128), (129, 129), (130, 130), (200, 169), (300, 207), (400, 233), (510, 255)] {
            assert_eq!(bucket(distance, 256, 512), want);
            assert_eq!(bucket(-distance, 256, 512), -want);
        }
    }

    #[test]
    fn places_are_clamped_and_counted_from_the_first_used() {
        let relative = Relative { buckets: None, most: 3, by_query: true, by_key: false, shared: false, normed: false };
        let places = Places::new(&relative, 3);
        assert_eq!((places.first, places.count, places.of), (1, 5, vec![0, 1, 2, 3, 4]));
        let places = Places::new(&relative, 5);
        assert_eq!((places.first, places.count), (0, 6));
        assert_eq!(places.of, [0, 0, 1, 2, 3, 4, 5, 5, 5]);
    }
}
