//! A table of rows that stay in their file: embeddings that are looked up and never multiplied.
//!
//! In: a tensor's name. Out: rows of floats, decoded when they are asked for.

use std::sync::Arc;

use super::Weights;
use crate::{Error, Result};

/// Rows of a tensor of a mapped file.
#[derive(Debug)]
pub struct Table {
    weights: Arc<Weights>,
    name: String,
    shape: [usize; 2],
}

impl Table {
    /// The tensor `[rows, columns]` of this name.
    ///
    /// # Errors
    /// [`Error::Input`] where it is missing or of another shape; [`Error::Model`] where its rows can't be decoded.
    pub fn new(weights: &Arc<Weights>, name: &str, rows: usize, columns: usize) -> Result<Table> {
        let stored = weights.stored(name, &[rows, columns])?;
        let model = weights.path_of(name).display().to_string();
        let wrong = |what| Error::Model { model, what: format!("tensor {name}: {what}") };
        stored.decode_row(0, &mut vec![0.0; columns]).map_err(wrong)?;
        Ok(Table { weights: Arc::clone(weights), name: name.to_string(), shape: [rows, columns] })
    }

    /// Length of a row.
    pub fn columns(&self) -> usize {
        self.shape[1]
    }

    /// Row `row`, or NaN where there is none: then nothing that comes of it counts as an answer.
    pub fn row(&self, row: usize, out: &mut [f32]) {
        let stored = self.weights.stored(&self.name, &self.shape).map_err(|_| String::new());
        if stored.and_then(|stored| stored.decode_row(row, out)).is_err() {
            out.fill(f32::NAN);
        }
    }
}
