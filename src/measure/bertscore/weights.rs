//! Weights: an encoder's tensors by name.
//!
//! In: a folder with `model.safetensors`, or with shards and their index. Out: tensors in f32, read where they are asked for.

use std::fmt::Display;
use std::path::Path;

use crate::model::weights::{Weights as Tensors, digest};
use crate::{Error, Result};

/// The tensors of an encoder.
pub(super) struct Weights {
    tensors: Tensors,
    /// What stands before every name: the model's own where it was saved with a head, else nothing.
    prefix: &'static str,
}

impl Weights {
    /// Opens the weights of a folder.
    ///
    /// Errors: there are none, a shard is missing, or they are damaged.
    pub(super) fn open(dir: &Path) -> Result<Weights> {
        let tensors = Tensors::open(dir)?;
        let prefixes = ["", "bert.", "roberta.", "distilbert.", "deberta."];
        let is_of = |prefix: &&&str| tensors.contains(&format!("{prefix}{}", super::network::WORDS));
        let prefix = prefixes.iter().find(is_of).copied().unwrap_or_default();
        Ok(Weights { tensors, prefix })
    }

    /// SHA-256 of the file; of the shards' hashes, where there are several.
    pub(super) fn hash(&self) -> Result<String> {
        digest::of_files(self.tensors.paths())
    }

    fn name(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// Whether there is a tensor of this name.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.tensors.contains(&self.name(name))
    }

    /// A tensor's values, row-major. Errors: it is missing, of another shape, or not of numbers.
    pub(super) fn vector(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        self.tensors.vector(&self.name(name), shape)
    }

    /// Row `row` of a matrix `[rows, out.len()]`, into `out`. Errors: it is not there, or not of numbers.
    pub(super) fn row(&self, name: &str, row: usize, out: &mut [f32]) -> Result<()> {
        let name = self.name(name);
        let rows = self.tensors.shape_of(&name).and_then(|shape| shape.first().copied()).unwrap_or(0);
        let decoded = self.tensors.stored(&name, &[rows, out.len()])?.decode_row(row, out);
        decoded.map_err(|what: String| self.failed(&name, what))
    }

    /// Errors: there is no such tensor, it has another shape, or is not of numbers.
    pub(super) fn check(&self, name: &str, shape: &[usize]) -> Result<()> {
        self.tensors.stored(&self.name(name), shape).map(drop)
    }

    fn failed(&self, name: &str, what: impl Display) -> Error {
        let model = self.tensors.path_of(name).display().to_string();
        Error::Model { model, what: format!("tensor {name}: {what}") }
    }
}
