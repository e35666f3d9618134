//! Greedy matching: each token with the most similar token of the other text.
//!
//! In: the unit-length hidden states of two texts, and which of their tokens count. Out: precision and recall.
//! Special tokens can be matched with, but do not count themselves (their weight is 0 in bert-score).

use candle_core::{Result, Tensor};

/// Precision and recall of a candidate against a reference; states are `[tokens, width]`, rows of length 1.
/// `counts` says for each row whether it is averaged over; with none that does, the result is 0.
pub(super) fn greedy(
    of_reference: &Tensor,
    reference_counts: &[bool],
    of_candidate: &Tensor,
    candidate_counts: &[bool],
) -> Result<(f64, f64)> {
    let cosines = of_candidate.matmul(&of_reference.t()?)?.to_vec2::<f32>()?;
    let mut best_of_reference = vec![f32::NEG_INFINITY; reference_counts.len()];
    let mut best_of_candidate = Vec::with_capacity(candidate_counts.len());
    for row in &cosines {
        for (best, &cosine) in best_of_reference.iter_mut().zip(row) {
            *best = best.max(cosine);
        }
        best_of_candidate.push(row.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    }
    Ok((mean(&best_of_candidate, candidate_counts), mean(&best_of_reference, reference_counts)))
}

fn mean(best: &[f32], counts: &[bool]) -> f64 {
    let (mut sum, mut n) = (0.0, 0.0);
    for (&cosine, _) in best.iter().zip(counts).filter(|(_, counts)| **counts) {
        sum += f64::from(cosine);
        n += 1.0;
    }
    if n == 0.0 { 0.0 } else { sum / n }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::Device;

    #[test]
    fn special_tokens_are_matched_with_but_do_not_count() -> Result<()> {
        let cpu = &Device::Cpu;
        let reference = Tensor::new(&[[1f32, 0.0], [0.0, 1.0]], cpu)?;
        let candidate = Tensor::new(&[[0.6f32, 0.8], [0.0, 1.0], [-1.0, 0.0]], cpu)?;
        // Candidate: 0.8 (with the second), 1, 0; reference: 0.6, 1.
        let (p, r) = greedy(&reference, &[true, true], &candidate, &[true, true, true])?;
        assert!((p - 0.6).abs() < 1e-6 && (r - 0.8).abs() < 1e-6, "{p} {r}");
        // The second row of each is special: it no longer counts, but 0.8 still comes from it.
        let (p, r) = greedy(&reference, &[true, false], &candidate, &[true, false, true])?;
        assert!((p - 0.4).abs() < 1e-6 && (r - 0.6).abs() < 1e-6, "{p} {r}");
        assert_eq!(greedy(&reference, &[false, false], &candidate, &[false; 3])?, (0.0, 0.0));
        Ok(())
    }
}
