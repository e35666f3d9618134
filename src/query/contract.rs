//! Contracts: what a derived table promises, beside its SQL.
//!
//! In: the TOML file beside a model. Out: the promises. [`check_contracts`](super::check_contracts) holds them against
//! the tables; the doc lines are the data dictionary.

use std::collections::BTreeMap;
use std::ops::Not;

use serde::{Deserialize, Serialize};

use super::models::Source;
use super::place;
use crate::{Error, Result};

/// What a derived table promises.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Contract {
    /// Whether the table is written to `analysis/` or computed where it is read.
    #[serde(default)]
    pub kind: Kind,
    /// The columns that make a row unique; the file is sorted by them.
    #[serde(default)]
    pub unique: Vec<String>,
    /// The columns by name: all of them, and no other.
    #[serde(default)]
    pub columns: BTreeMap<String, Column>,
}

/// Whether a model's rows are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Written to `analysis/NAME.parquet`.
    #[default]
    Table,
    /// Computed where it is read.
    View,
}

/// What one column promises.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Column {
    /// Meaning and unit.
    pub doc: String,
    /// Whether NULL is ruled out.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub not_null: bool,
    /// Least value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Greatest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Whether NaN and the infinities are ruled out; NULL is not.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub finite: bool,
    /// The only values that may stand here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_of: Option<Vec<String>>,
    /// `table.column` in which every value must be found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub references: Option<String>,
}

impl Column {
    /// Why no value could keep what is promised; None where one can.
    pub(super) fn impossible(&self) -> Option<String> {
        for (key, bound) in [("min", self.min), ("max", self.max)] {
            if let Some(bound) = bound.filter(|bound| !bound.is_finite()) {
                return Some(format!("{key} is {bound}; it is a finite number, or left out"));
            }
        }
        match (self.min, self.max, &self.one_of) {
            (Some(min), Some(max), _) if min > max => Some(format!("min is {min}, above max, which is {max}")),
            (_, _, Some(values)) if values.is_empty() => Some("one_of is empty; it lists what may stand there".into()),
            _ => None,
        }
    }
}

impl Contract {
    /// Reads a contract; `model` is for the message.
    ///
    /// # Errors
    /// Broken TOML, or a key that contracts don't have.
    pub fn parse(model: &str, text: &str) -> Result<Self> {
        toml::from_str(text).map_err(|e| Error::Table { table: model.to_string(), what: format!("its contract: {e}") })
    }

    /// Reads the contract of a source; of a user's an error names file, line and column.
    ///
    /// # Errors
    /// As [`Contract::parse`].
    pub fn of(source: &Source) -> Result<Self> {
        let Some(file) = &source.file else { return Contract::parse(&source.name, &source.contract) };
        toml::from_str(&source.contract).map_err(|e| {
            let place = place::of_byte(&source.contract, e.span().map_or(0, |span| span.start));
            Error::input(format!("model {}: its contract can't be read", source.name))
                .file(file.with_extension("toml"))
                .line(place.line)
                .column(place.column)
                .found(e.message())
                .into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_contracts_lack_is_an_error_that_names_the_model() {
        let error = Contract::parse("deltas", "uniqe = [\"a\"]").unwrap_err().to_string();
        assert!(error.contains("deltas") && error.contains("uniqe"), "{error}");
    }

    #[test]
    fn figures_of_the_built_in_models_are_finite() {
        for source in crate::query::built_in() {
            let contract = Contract::of(&source).unwrap();
            for (name, column) in &contract.columns {
                let figure = ["delta", "s", "sgs", "sgs_macro"].contains(&name.as_str());
                assert!(!figure || column.finite, "{}.{name}", source.name);
            }
        }
    }
}
