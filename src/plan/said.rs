//! Said: a setting together with where the user said it.
//!
//! In: TOML text or a flag. Out: the value, and the place that an error message names.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use crate::Error;
use crate::error::InputError;

/// A value and where it was said.
#[derive(Debug, Clone)]
pub struct Said<T> {
    /// The value.
    pub value: T,
    /// Where it comes from.
    pub place: Place,
}

/// Where a setting comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Byte offset in a TOML text that has not been resolved to a line.
    Offset(usize),
    /// A line of a TOML file.
    Line(PathBuf, u64),
    /// A flag of the command line, as `--prompts`.
    Flag(String),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Said<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<T>::deserialize(deserializer)?;
        let place = Place::Offset(spanned.span().start);
        Ok(Said { value: spanned.into_inner(), place })
    }
}

impl<T> Said<T> {
    /// A value that was given as a flag.
    pub fn flag(flag: &str, value: T) -> Self {
        Said { value, place: Place::Flag(flag.to_string()) }
    }

    /// Turns a byte offset into file and line.
    pub fn locate(&mut self, file: &Path, text: &str) {
        if let Place::Offset(offset) = self.place {
            self.place = Place::Line(file.to_path_buf(), line_of(text, offset));
        }
    }

    /// Starts an error about this value, with its place.
    pub fn wrong(&self, key: &str, what: impl Into<String>) -> InputError {
        self.place_in(key, Error::input(what))
    }

    /// Adds the value's place to an input error about it.
    ///
    /// # Errors
    /// Those of `result`.
    pub fn check<U>(&self, key: &str, result: crate::Result<U>) -> crate::Result<U> {
        result.map_err(|e| match e {
            Error::Input(error) => self.place_in(key, *error).into(),
            other => other,
        })
    }

    /// The key becomes the setting's; a file that the error names already (a data file, say) stays.
    fn place_in(&self, key: &str, error: InputError) -> InputError {
        match &self.place {
            Place::Line(file, line) if error.file.is_none() => error.key(key).file(file).line(*line),
            Place::Line(..) | Place::Offset(_) => error.key(key),
            Place::Flag(flag) => error.key(flag.clone()),
        }
    }
}

impl Said<i64> {
    /// The number, which must lie in `range`.
    ///
    /// # Errors
    /// It does not.
    pub fn whole(&self, key: &str, range: RangeInclusive<i64>) -> crate::Result<usize> {
        usize::try_from(self.value).ok().filter(|_| range.contains(&self.value)).ok_or_else(|| {
            let error = self.wrong(key, format!("{key} = {} is impossible", self.value));
            let (least, most) = range.into_inner();
            let upper = if most == i64::MAX { String::new() } else { format!(" and at most {most}") };
            error.expected(format!("a whole number of at least {least}{upper}")).into()
        })
    }
}

/// The line, from 1, that holds byte `offset` of `text`.
pub fn line_of(text: &str, offset: usize) -> u64 {
    1 + text.bytes().take(offset).filter(|&b| b == b'\n').count() as u64
}
