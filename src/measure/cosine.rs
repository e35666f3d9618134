//! Cosine and length ratio of two hidden states.
//!
//! In: two vectors of floats. Out: a float64, summed in float64; equal vectors give exactly 1.

/// Cosine of two vectors; None where one has no length or the lengths differ.
///
/// dot / sqrt(|a|^2 |b|^2): for equal vectors the root of a square, which is exact.
pub fn cosine<N: Copy + Into<f64>>(a: &[N], b: &[N]) -> Option<f64> {
    let product = sum(a, a) * sum(b, b);
    (a.len() == b.len() && product > 0.0).then(|| (sum(a, b) / product.sqrt()).clamp(-1.0, 1.0))
}

/// Length of `a` over the length of `b`; None where `b` has none.
pub fn norm_ratio<N: Copy + Into<f64>>(a: &[N], b: &[N]) -> Option<f64> {
    let length = sum(b, b);
    (length > 0.0).then(|| (sum(a, a) / length).sqrt())
}

/// Dot product in eight lanes, which the compiler can keep in one register.
fn sum<N: Copy + Into<f64>>(a: &[N], b: &[N]) -> f64 {
    let (a8, a_rest) = a.as_chunks::<8>();
    let (b8, b_rest) = b.as_chunks::<8>();
    let mut lanes = [0.0f64; 8];
    for (x, y) in a8.iter().zip(b8) {
        for ((lane, x), y) in lanes.iter_mut().zip(x).zip(y) {
            *lane += (*x).into() * (*y).into();
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(x, y)| (*x).into() * (*y).into()).sum();
    lanes.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_vectors_are_exactly_1_apart_from_nothing() {
        let v: Vec<f32> = (0..577).map(|i| (i as f32 * 0.37).sin() * 1e3).collect();
        assert_eq!(cosine(&v, &v), Some(1.0));
        assert_eq!(norm_ratio(&v, &v), Some(1.0));
        // (3, 4) and (4, 3): 24 / 25
        assert_eq!(cosine(&[3.0f32, 4.0], &[4.0, 3.0]), Some(0.96));
        assert_eq!(norm_ratio(&[6.0f32, 8.0], &[3.0, 4.0]), Some(2.0));
        assert_eq!(cosine(&[0.0f32], &[1.0]), None);
        assert_eq!(cosine(&[1.0f32], &[1.0, 2.0]), None);
    }
}
