//! Compute types: in what numbers matrices are held and multiplied.
//!
//! In: a name. Out: a [`Compute`], and how much memory weights take in it.

use crate::model::weights::Encoding;

/// In what type a matrix is held and multiplied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Compute {
    /// Held and multiplied in f32.
    #[default]
    F32,
    /// Held in bf16, multiplied in f32.
    Bf16,
    /// Held in f16, multiplied in f32.
    F16,
    /// Held in 8-bit integers with scales, multiplied in integers with rows rounded to 8 bits. Weights of GGUF's blocks are
    /// held as they are; others are rounded.
    Int8,
}

impl Compute {
    /// All of them.
    pub const ALL: [Compute; 4] = [Compute::F32, Compute::Bf16, Compute::F16, Compute::Int8];

    /// As plans and command lines name it.
    pub fn as_str(self) -> &'static str {
        match self {
            Compute::F32 => "f32",
            Compute::Bf16 => "bf16",
            Compute::F16 => "f16",
            Compute::Int8 => "int8",
        }
    }

    /// The type of this name.
    pub fn named(name: &str) -> Option<Compute> {
        Compute::ALL.into_iter().find(|compute| compute.as_str() == name)
    }

    /// Bytes that a weight takes in memory, its share of scales included, when its file holds it in `encoding`.
    pub fn bytes_per_weight(self, encoding: Encoding) -> f64 {
        match (self, encoding) {
            (Compute::F32, _) => 4.0,
            (Compute::Bf16 | Compute::F16, _) => 2.0,
            // Codes of four bits or of eight, and one number or two for each 32 of them, or 16.
            (Compute::Int8, Encoding::Q4_0 | Encoding::Q4_1 | Encoding::Q4K) => 0.75,
            (Compute::Int8, Encoding::Q2K) => 1.0,
            (Compute::Int8, Encoding::Q5_1 | Encoding::Q5K | Encoding::Q3K | Encoding::Q6K) => 1.25,
            (Compute::Int8, _) => 1.125,
        }
    }
}
