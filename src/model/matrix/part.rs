//! Which rows of a stored tensor become outputs of a matrix.
//!
//! In: a stored tensor and an order of its rows. Out: weight rows by output.

use std::ops::Range;

use crate::model::weights::stored::Stored;

/// Rows of a stored tensor that become outputs, in this order.
#[derive(Debug, Clone)]
pub struct Part<'a> {
    /// The tensor; its last dimension is the matrix's k.
    pub stored: Stored<'a>,
    /// Which of its rows.
    pub rows: RowOrder,
}

/// An order of rows.
#[derive(Debug, Clone)]
pub enum RowOrder {
    /// All rows, as they lie.
    All,
    /// Neighbouring rows, as they lie.
    Range(Range<usize>),
    /// These rows, in this order.
    Listed(Vec<usize>),
}

impl<'a> Part<'a> {
    /// All rows of a tensor.
    #[cfg(test)]
    pub fn all(stored: Stored<'a>) -> Part<'a> {
        Part { stored, rows: RowOrder::All }
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        match &self.rows {
            RowOrder::All => self.stored.rows(),
            RowOrder::Range(range) => range.len(),
            RowOrder::Listed(rows) => rows.len(),
        }
    }

    /// Checks that every row is there and `k` long, before anything of the announced size is allocated.
    pub fn check(&self, k: usize) -> Result<(), String> {
        let Stored { shape, .. } = self.stored;
        if self.stored.columns() != k {
            return Err(format!("a tensor of shape {shape:?} does not have rows of {k} values"));
        }
        let last = match &self.rows {
            RowOrder::All => self.stored.rows().checked_sub(1),
            RowOrder::Range(range) => range.end.checked_sub(1).filter(|_| !range.is_empty()),
            RowOrder::Listed(rows) => rows.iter().max().copied(),
        };
        last.map_or(Ok(()), |last| self.stored.row(last).map(drop))
    }

    /// The tensor's row behind output `output`; None beyond the last.
    pub fn row(&self, output: usize) -> Option<usize> {
        match &self.rows {
            RowOrder::All => Some(output).filter(|&row| row < self.stored.rows()),
            RowOrder::Range(range) => range.clone().nth(output),
            RowOrder::Listed(rows) => rows.get(output).copied(),
        }
    }
}
