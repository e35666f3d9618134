//! Rotary positions: by which angles queries and keys are turned at each position.
//!
//! In: frequencies, and positions. Out: cos and sin of the angles, and turned vectors.
//! Su et al., 2021, <https://arxiv.org/abs/2104.09864>; element i is paired with element i + n, n frequencies long.

use super::super::simd::wide;

/// The angles of one kind of layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Rotary {
    /// Radians a position, one for each pair of elements; pairs beyond them keep their values.
    pub frequencies: Vec<f32>,
    /// By which cos and sin are multiplied; 1 but for some models of long contexts.
    pub factor: f32,
}

impl Rotary {
    /// Floats of one position's angles.
    pub fn len(&self) -> usize {
        2 * self.frequencies.len()
    }

    /// cos of a position's angles, then sin.
    pub fn angles(&self, position: usize, out: &mut [f32]) {
        let (cos, sin) = out.split_at_mut(self.frequencies.len().min(out.len()));
        for ((cos, sin), &frequency) in cos.iter_mut().zip(sin).zip(&self.frequencies) {
            let (s, c) = (position as f32 * frequency).sin_cos();
            (*sin, *cos) = (s * self.factor, c * self.factor);
        }
    }
}

wide! {
    /// Turns each head of `x` by `angles` (cos, then sin): element i with element i + n, n = half their number.
    pub fn rotate(x: &mut [f32], head: usize, angles: &[f32]) {
        let pairs = angles.len() / 2;
        let (cos, sin) = angles.split_at(pairs);
        for x in x.chunks_exact_mut(head) {
            let (a, b) = x.split_at_mut(pairs);
            for (((a, b), &c), &s) in a.iter_mut().zip(b).zip(cos).zip(sin) {
                (*a, *b) = (*a * c - *b * s, *b * c + *a * s);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_turn_and_elements_beyond_the_pairs() {
        let rotary = Rotary { frequencies: vec![std::f32::consts::FRAC_PI_2, 0.0], factor: 1.0 };
        let mut angles = [0f32; 4];
        rotary.angles(1, &mut angles);
        // A quarter turn takes (1, 0) to (0, 1); (5, 6) has frequency 0, 7 and 8 no frequency.
        let mut x = [1f32, 5.0, 0.0, 6.0, 7.0, 8.0];
        rotate(&mut x, 6, &angles);
        assert!(x[0].abs() < 1e-6 && (x[2] - 1.0).abs() < 1e-6);
        assert_eq!([x[1], x[3], x[4], x[5]], [5.0, 6.0, 7.0, 8.0]);
        Rotary { factor: 2.0, ..rotary }.angles(0, &mut angles);
        assert_eq!(angles, [2.0, 2.0, 0.0, 0.0]);
    }
}
