//! The library's one error type.
//!
//! In: what went wrong, where, what was found and what was wanted. Out: a message that a person can act on.
//! The words are put together here and nowhere else; callers match on the fields.

use std::fmt;
use std::path::{Path, PathBuf};

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something could not be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Something that the user gave (file, row, column, key, option) can't be used.
    #[error("{0}")]
    Input(Box<InputError>),
    /// Reading or writing failed.
    #[error("could not {doing} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb: "read", "create", "rename".
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The model could not be loaded or run.
    #[error("model {model}: {what}")]
    Model {
        /// Name or path of the model.
        model: String,
        /// What failed, with shapes or tensor names where they matter.
        what: String,
    },
    /// A table could not be written, read or queried.
    #[error("table {table}: {what}")]
    Table {
        /// Name of the table or SQL model.
        table: String,
        /// What failed.
        what: String,
    },
    /// A figure or table of a report could not be made.
    #[error("figure {figure}: {what}")]
    Figure {
        /// Its id, as the file of it would be called.
        figure: String,
        /// What failed.
        what: String,
    },
    /// A query is wrong or failed.
    #[error("query: {0}")]
    Query(String),
    /// The user asked to stop (Ctrl-C); what was complete is kept.
    #[error("stopped; what was complete is kept, run the same command again to go on")]
    Interrupted,
}

/// What the user gave and why it can't be used; shown as a sentence, then one indented line a fact.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InputError {
    /// The sentence: what is wrong.
    pub what: String,
    /// The file it is in.
    pub file: Option<PathBuf>,
    /// The line in that file, from 1.
    pub line: Option<u64>,
    /// The place in that line, in characters from 1.
    pub column: Option<u64>,
    /// The column (of a table), key (of a TOML file) or option (of a command) at fault.
    pub key: Option<String>,
    /// What stands there.
    pub found: Option<String>,
    /// What would be accepted.
    pub expected: Option<String>,
    /// What to do about it.
    pub fix: Option<String>,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "\n  at {}, line {line}", file.display())?,
            (Some(file), None) => write!(f, "\n  in {}", file.display())?,
            (None, Some(line)) => write!(f, "\n  at line {line}")?,
            (None, None) => {}
        }
        if let (Some(_), Some(column)) = (self.line, self.column) {
            write!(f, ", column {column}")?;
        }
        if let Some(key) = &self.key {
            write!(f, "\n  key: {key}")?;
        }
        if let Some(found) = &self.found {
            write!(f, "\n  found: {found}")?;
        }
        if let Some(expected) = &self.expected {
            write!(f, "\n  expected: {expected}")?;
        }
        if let Some(fix) = &self.fix {
            write!(f, "\n  {fix}")?;
        }
        Ok(())
    }
}

impl Error {
    /// Starts an input error with its sentence; add what is known with the methods of [`InputError`], then `.into()`.
    pub fn input(what: impl Into<String>) -> InputError {
        InputError { what: what.into(), ..InputError::default() }
    }

    /// For `map_err` on file operations: `fs::read(p).map_err(Error::io("read", p))`.
    pub fn io(doing: &'static str, path: impl AsRef<Path>) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.as_ref().to_path_buf();
        move |source| Error::Io { doing, path, source }
    }

    /// For `map_err` on anything printable that a model's parts report.
    pub fn model<E: fmt::Display>(model: &str) -> impl Fn(E) -> Error + '_ {
        move |e| Error::Model { model: model.to_string(), what: e.to_string() }
    }

    /// For `map_err` on anything printable that reading or writing a table reports.
    pub fn table<E: fmt::Display>(table: &str) -> impl Fn(E) -> Error + '_ {
        move |e| Error::Table { table: table.to_string(), what: e.to_string() }
    }
}

impl InputError {
    /// The file it is in.
    #[must_use]
    pub fn file(mut self, file: impl AsRef<Path>) -> Self {
        self.file = Some(file.as_ref().to_path_buf());
        self
    }

    /// The line, from 1.
    #[must_use]
    pub fn line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// The place in the line, in characters from 1.
    #[must_use]
    pub fn column(mut self, column: u64) -> Self {
        self.column = Some(column);
        self
    }

    /// The column, key or option at fault.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// What stands there.
    #[must_use]
    pub fn found(mut self, found: impl Into<String>) -> Self {
        self.found = Some(found.into());
        self
    }

    /// What would be accepted.
    #[must_use]
    pub fn expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    /// What to do about it.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }
}

impl From<InputError> for Error {
    fn from(e: InputError) -> Self {
        Error::Input(Box::new(e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_place_find_and_fix() {
        let e: Error = Error::input("prompts.csv has no column \"question\"")
            .file("prompts.csv")
            .line(1)
            .found("id, text, answer")
            .fix("say `prompt = \"text\"` under [[dataset]]")
            .into();
        assert_eq!(
            e.to_string(),
            "prompts.csv has no column \"question\"\n  at prompts.csv, line 1\n  found: id, text, answer\n  say `prompt = \"text\"` under [[dataset]]"
        );
    }
}
