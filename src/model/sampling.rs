//! Sampling: which token comes next.
//!
//! In: a distribution, temperature, top-p, and a uniform draw. Out: a token.
//! Temperature 0 is greedy. The draw is made by the caller from a key of its own, so that no batch can change it.

use super::scores::Distribution;

/// Picks a token.
///
/// `temperature` 0 takes the best token. Otherwise probabilities are those of `logits / temperature`; with `top_p` below 1
/// only the fewest most probable tokens that together reach it are kept, of equals the lower id first. `draw` is in [0, 1).
pub fn pick(distribution: &Distribution, temperature: f64, top_p: f64, draw: f64) -> u32 {
    if temperature <= 0.0 {
        return distribution.best;
    }
    let top = distribution.logits.get(distribution.best as usize).copied().unwrap_or(0.0);
    let weight = |logit: f32| (f64::from(logit - top) / temperature).exp();
    let total: f64 = distribution.logits.iter().map(|&logit| weight(logit)).sum();
    if top_p >= 1.0 {
        let all = distribution.logits.iter().enumerate().map(|(id, &logit)| (id as u32, weight(logit)));
        return at(all, draw * total).unwrap_or(distribution.best);
    }
    let kept = nucleus(distribution, top_p * total, weight);
    let mass: f64 = kept.iter().map(|&(_, w)| w).sum();
    at(kept.into_iter(), draw * mass).unwrap_or(distribution.best)
}

/// The fewest most probable tokens whose weights reach `wanted`, most probable first.
fn nucleus(distribution: &Distribution, wanted: f64, weight: impl Fn(f32) -> f64) -> Vec<(u32, f64)> {
    let mut ids: Vec<u32> = (0..distribution.logits.len() as u32).collect();
    let logit = |id: u32| distribution.logits.get(id as usize).copied().unwrap_or(f32::NEG_INFINITY);
    let order = |a: &u32, b: &u32| logit(*b).total_cmp(&logit(*a)).then(a.cmp(b));
    let mut kept = Vec::new();
    let (mut reached, mut done, mut block) = (0.0, 0, 256);
    // Sorting the whole vocabulary costs more than the model's step; the nucleus is nearly always in the first few.
    while done < ids.len() {
        let end = (done + block).min(ids.len());
        if let Some(rest) = ids.get_mut(done..) {
            if end < done + rest.len() {
                rest.select_nth_unstable_by(end - done, order);
            }
            if let Some(next) = rest.get_mut(..end - done) {
                next.sort_unstable_by(order);
                for &id in next.iter() {
                    let w = weight(logit(id));
                    kept.push((id, w));
                    reached += w;
                    if reached >= wanted {
                        return kept;
                    }
                }
            }
        }
        (done, block) = (end, block * 8);
    }
    kept
}

/// The token in whose stretch of the cumulated weights `target` falls; the last one with weight, should rounding overshoot.
fn at(weights: impl Iterator<Item = (u32, f64)>, target: f64) -> Option<u32> {
    let (mut reached, mut last) = (0.0, None);
    for (id, weight) in weights {
        if weight > 0.0 {
            reached += weight;
            last = Some(id);
            if reached > target {
                break;
            }
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distribution(probabilities: &[f64]) -> Distribution {
        let best = probabilities.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0))).unwrap().0;
        let logits = probabilities.iter().map(|p| p.ln() as f32).collect();
        Distribution { logits, log_total: 0.0, entropy: 0.0, best: best as u32 }
    }

    #[test]
    fn greedy_ignores_the_draw() {
        let d = distribution(&[0.2, 0.5, 0.3]);
        assert!([0.0, 0.5, 0.999].iter().all(|&u| pick(&d, 0.0, 1.0, u) == 1));
    }

    #[test]
    fn draws_fall_into_cumulated_probabilities() {
        let d = distribution(&[0.2, 0.5, 0.3]);
        let picks: Vec<u32> = [0.0, 0.19, 0.21, 0.69, 0.71, 0.9999].iter().map(|&u| pick(&d, 1.0, 1.0, u)).collect();
        assert_eq!(picks, [0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn top_p_keeps_the_fewest_that_reach_it() {
        // Sorted: 1 (0.5), 2 (0.3), 0 (0.2). 0.6 needs two; renormalized 0.625 and 0.375.
        let d = distribution(&[0.2, 0.5, 0.3]);
        let picks: Vec<u32> = [0.0, 0.62, 0.63, 0.999].iter().map(|&u| pick(&d, 1.0, 0.6, u)).collect();
        assert_eq!(picks, [1, 1, 2, 2]);
        assert_eq!(pick(&d, 1.0, 0.4, 0.999), 1);
    }

    #[test]
    fn a_wide_nucleus_needs_more_than_one_block() {
        let d = distribution(&vec![1.0 / 5000.0; 5000]);
        assert_eq!(nucleus(&d, 0.5 * 5000.0, |_| 1.0).len(), 2500);
        assert_eq!(pick(&d, 1.0, 0.5, 0.9999), 2499);
    }

    #[test]
    fn temperature_flattens() {
        // At temperature 2 the weights are square roots: 0.9 and 0.1 become 0.75 and 0.25.
        let d = distribution(&[0.9, 0.1]);
        assert_eq!((pick(&d, 2.0, 1.0, 0.74), pick(&d, 2.0, 1.0, 0.76)), (0, 1));
    }
}
