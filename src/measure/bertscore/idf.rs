//! IDF: how much a token counts, by the number of texts of a corpus that have it.
//!
//! In: the tokens of the corpus's texts. Out: weights of tokens: ln((texts + 1) / (texts with the token + 1)), as bert-score.

use std::collections::{BTreeSet, HashMap};

/// Weights of tokens by inverse document frequency.
#[derive(Debug)]
pub(super) struct Idf {
    weights: HashMap<u32, f64>,
    /// Of a token that no text has.
    unseen: f64,
}

impl Idf {
    /// Counts in how many texts each token occurs.
    pub(super) fn of<'a>(texts: impl IntoIterator<Item = &'a [u32]>) -> Idf {
        let (mut counts, mut n) = (HashMap::new(), 0);
        for ids in texts {
            n += 1;
            for &id in ids.iter().collect::<BTreeSet<_>>() {
                *counts.entry(id).or_insert(0) += 1;
            }
        }
        let weight = |with: i32| (f64::from(n + 1) / f64::from(with + 1)).ln();
        Idf { weights: counts.into_iter().map(|(id, with)| (id, weight(with))).collect(), unseen: weight(0) }
    }

    pub(super) fn weight(&self, id: u32) -> f64 {
        self.weights.get(&id).copied().unwrap_or(self.unseen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_every_text_count_nothing() {
        let texts: [&[u32]; 3] = [&[0, 5, 5, 1], &[0, 6, 1], &[0, 5, 7, 1]];
        let idf = Idf::of(texts);
        assert_eq!([idf.weight(0), idf.weight(1)], [0.0, 0.0]);
        assert!((idf.weight(5) - (4f64 / 3.0).ln()).abs() < 1e-12);
        assert!((idf.weight(7) - 2f64.ln()).abs() < 1e-12);
        assert!((idf.weight(99) - 4f64.ln()).abs() < 1e-12);
    }
}
