//! Columns: the cells of one row by the names that they have here.
//!
//! In: a row of a file, and which of its columns is meant by which name. Out: texts and numbers, or an error that names
//! file, line and column, what stands there and which option maps a column.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::datasets::table::{Row, name};
use crate::error::InputError;
use crate::{Error, Result};

/// The files' names of columns, by the name that they have here.
#[derive(Debug)]
pub(super) struct Columns<'a>(&'a BTreeMap<String, String>);

impl<'a> Columns<'a> {
    /// Takes the mapping that the user gave; `known` are the names that can be mapped.
    ///
    /// # Errors
    /// A name that the layout does not have.
    pub(super) fn new(given: &'a BTreeMap<String, String>, known: &[&str]) -> Result<Columns<'a>> {
        match given.keys().find(|ours| !known.contains(&ours.as_str())) {
            Some(unknown) => Err(Error::input(format!("the layout has no column \"{unknown}\""))
                .key(format!("--column {unknown}=..."))
                .expected(known.join(", "))
                .into()),
            None => Ok(Columns(given)),
        }
    }

    /// What the file calls the column.
    pub(super) fn theirs<'b>(&'b self, ours: &'b str) -> &'b str {
        self.0.get(ours).map_or(ours, String::as_str)
    }

    /// Refuses a file that lacks one of the columns `needed`, or one that the user mapped.
    pub(super) fn check(&self, path: &Path, row: &Row, found: &[String], needed: &[&str]) -> Result<()> {
        let mapped = self.0.keys().map(String::as_str);
        let missing = |ours: &&str| !found.iter().any(|column| column == self.theirs(ours));
        match needed.iter().copied().chain(mapped).find(missing) {
            Some(ours) => Err(self.lacking(path, row, found, ours).into()),
            None => Ok(()),
        }
    }

    /// The error of a file without a column.
    pub(super) fn lacking(&self, path: &Path, row: &Row, found: &[String], ours: &str) -> InputError {
        let theirs = self.theirs(ours);
        // Rows of delimited text come after the line of names, which is at fault; JSON has its names in the row.
        let line = row.line.map(|line| if is_delimited(path) { 1 } else { line });
        let error = Error::input(format!("{} has no column \"{theirs}\"", name(path)))
            .file(path)
            .found(found.join(", "))
            .fix(format!("say which column it is: --column {ours}=NAME"));
        match line {
            Some(line) => error.line(line),
            None => error,
        }
    }
}

fn is_delimited(path: &Path) -> bool {
    path.extension().is_some_and(|e| ["csv", "tsv", "tab"].iter().any(|d| e.eq_ignore_ascii_case(d)))
}

/// Where a row stands: a line, or in formats without lines its number from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spot {
    /// Number of the file in the order of reading.
    pub(super) file: u32,
    number: u64,
    is_line: bool,
}

impl Spot {
    /// Of the row number `number` (from 1).
    pub(super) fn of(file: usize, row: &Row, number: u64) -> Spot {
        let file = u32::try_from(file).unwrap_or(u32::MAX);
        Spot { file, number: row.line.unwrap_or(number), is_line: row.line.is_some() }
    }

    /// Puts the place into an error.
    pub(super) fn mark(self, path: &Path, error: InputError) -> InputError {
        if self.is_line {
            return error.file(path).line(self.number);
        }
        let mut error = error.file(path);
        error.what = format!("{} (row {})", error.what, self.number);
        error
    }
}

impl std::fmt::Display for Spot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", if self.is_line { "line" } else { "row" }, self.number)
    }
}

/// One row under the names of its columns.
pub(super) struct Cells<'a> {
    pub(super) path: &'a Path,
    pub(super) columns: &'a Columns<'a>,
    pub(super) row: &'a Row,
    pub(super) spot: Spot,
}

impl Cells<'_> {
    /// The value of a column; None where it is empty, NULL or absent.
    pub(super) fn value(&self, ours: &str) -> Option<&Value> {
        self.row.fields.get(self.columns.theirs(ours)).filter(|value| match value {
            Value::Null => false,
            Value::String(text) => !text.trim().is_empty(),
            _ => true,
        })
    }

    /// The text of a column, trimmed; None where it is empty.
    ///
    /// # Errors
    /// A list or an object stands there.
    pub(super) fn text(&self, ours: &str) -> Result<Option<Cow<'_, str>>> {
        match self.value(ours) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(Cow::Borrowed(text.trim()))),
            Some(Value::Number(number)) => Ok(Some(Cow::Owned(number.to_string()))),
            Some(Value::Bool(flag)) => Ok(Some(Cow::Owned(flag.to_string()))),
            Some(_) => Err(self.wrong(ours, "is neither text nor number").into()),
        }
    }

    /// The text of a column that may not be empty.
    ///
    /// # Errors
    /// It is empty, or as [`Cells::text`].
    pub(super) fn required(&self, ours: &str) -> Result<Cow<'_, str>> {
        match self.text(ours)? {
            Some(text) => Ok(text),
            None => Err(self.wrong(ours, "is empty").into()),
        }
    }

    /// The number in a column; None where it is empty.
    ///
    /// # Errors
    /// Something else stands there, or NaN or an infinity.
    pub(super) fn number(&self, ours: &str) -> Result<Option<f64>> {
        let number = match self.value(ours) {
            None => return Ok(None),
            Some(Value::Number(number)) => number.as_f64(),
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(_) => None,
        };
        match number {
            Some(x) if x.is_finite() => Ok(Some(x)),
            _ => {
                let error = self.wrong(ours, "is no finite number");
                Err(error.expected("a number, or nothing where there is none").into())
            }
        }
    }

    /// Begins the error of a cell.
    pub(super) fn wrong(&self, ours: &str, what: &str) -> InputError {
        let theirs = self.columns.theirs(ours);
        let found = match self.row.fields.get(theirs) {
            None => "no such field".to_string(),
            Some(Value::Null) => "nothing".to_string(),
            Some(Value::String(text)) if text.trim().is_empty() => "nothing".to_string(),
            Some(Value::String(text)) => shortened(text),
            Some(other) => shortened(&other.to_string()),
        };
        let error = Error::input(format!("{}: column \"{theirs}\" {what}", name(self.path)));
        self.spot.mark(self.path, error.key(theirs).found(found))
    }
}

/// The beginning of a text, for a message.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_string(),
    }
}
