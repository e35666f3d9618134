//! Seeded draws that depend on what is drawn for, never on order.
//!
//! In: a seed and the parts of a key (data set, prompt, subtype, ...). Out: integers and fractions.
//! Every draw is a SHA-256 of seed, key and counter, so the same draw comes out on any machine, in any order.

use sha2::{Digest, Sha256};

/// A source of draws for one key. Draw number `k` is a pure function of (seed, key, k).
#[derive(Debug, Clone)]
pub struct Draws(Sha256);

impl Draws {
    /// Draws for `key` under `seed`. The parts are length-prefixed: ("ab", "c") and ("a", "bc") differ.
    pub fn new(seed: u64, key: &[&str]) -> Self {
        let mut hash = Sha256::new();
        hash.update(seed.to_le_bytes());
        for part in key {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        Draws(hash)
    }

    /// Draw number `k`: 64 uniform bits.
    pub fn bits(&self, k: u64) -> u64 {
        let mut hash = self.0.clone();
        hash.update(k.to_le_bytes());
        let digest = hash.finalize();
        let mut first = [0u8; 8];
        first.copy_from_slice(&digest[..8]);
        u64::from_le_bytes(first)
    }

    /// Draw number `k` in `0..n`; 0 where `n` is 0. The bias of the multiply-shift is under `n` / 2^64.
    pub fn below(&self, k: u64, n: usize) -> usize {
        ((u128::from(self.bits(k)) * n as u128) >> 64) as usize
    }

    /// Draw number `k` in [0, 1).
    pub fn fraction(&self, k: u64) -> f64 {
        (self.bits(k) >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_depend_on_seed_key_and_counter_alone() {
        let a = Draws::new(7, &["alpaca", "3"]);
        assert_eq!(a.bits(5), Draws::new(7, &["alpaca", "3"]).bits(5));
        assert_ne!(a.bits(5), a.bits(6));
        assert_ne!(a.bits(5), Draws::new(8, &["alpaca", "3"]).bits(5));
        assert_ne!(Draws::new(7, &["ab", "c"]).bits(0), Draws::new(7, &["a", "bc"]).bits(0));
    }

    #[test]
    fn below_covers_its_range() {
        let d = Draws::new(1, &["x"]);
        let seen: std::collections::BTreeSet<_> = (0..200).map(|k| d.below(k, 6)).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
        assert_eq!(d.below(0, 0), 0);
        assert!((0..200).all(|k| (0.0..1.0).contains(&d.fraction(k))));
    }
}
