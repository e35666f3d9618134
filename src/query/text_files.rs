//! Text files: the line on which a CSV, TSV, JSON or JSONL file is broken.
//!
//! In: a path. Out: an error with file and line, where there is a fault that the reader of rows would pass over or
//! tell without its place.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::error::InputError;
use crate::{Error, Result};

/// Checks the header and the quotes of delimited text.
pub(super) fn check_delimited(path: &Path, delimiter: u8) -> Result<()> {
    check_header(path, delimiter)?;
    let mut quotes = Quotes { delimiter, ..Quotes::default() };
    let mut reader = BufReader::new(File::open(path).map_err(Error::io("open", path))?);
    loop {
        let bytes = reader.fill_buf().map_err(Error::io("read", path))?;
        if bytes.is_empty() {
            break;
        }
        bytes.iter().for_each(|&byte| quotes.take(byte));
        let read = bytes.len();
        reader.consume(read);
    }
    if quotes.at == At::Quoted {
        return Err(Error::input(format!("{}: a quoted field is never closed", path.display()))
            .file(path)
            .line(quotes.opened)
            .fix("close the quote; write a quote inside quotes as \"\"")
            .into());
    }
    Ok(())
}

/// Two columns of one name can't be told apart in SQL.
fn check_header(path: &Path, delimiter: u8) -> Result<()> {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .from_path(path)
        .map_err(|e| broken(path, "CSV").found(e.to_string()))?;
    let Ok(header) = reader.headers() else {
        // Not UTF-8: the reader of rows says so.
        return Ok(());
    };
    let mut names = header.iter().enumerate();
    match names.find(|(at, name)| header.iter().take(*at).any(|before| before == *name)) {
        Some((_, twice)) => Err(Error::input(format!("{} has two columns \"{twice}\"", path.display()))
            .file(path)
            .line(1)
            .found(header.iter().collect::<Vec<_>>().join(", "))
            .fix("give each column a name of its own")
            .into()),
        None => Ok(()),
    }
}

#[derive(Clone, Copy, Default, PartialEq)]
enum At {
    #[default]
    FieldStart,
    Plain,
    Quoted,
    AfterQuote,
}

/// Follows quotes and lines of delimited text, as CSV readers take them.
struct Quotes {
    delimiter: u8,
    at: At,
    line: u64,
    /// The line of the last quote that opened a field.
    opened: u64,
}

impl Default for Quotes {
    fn default() -> Self {
        Quotes { delimiter: b',', at: At::FieldStart, line: 1, opened: 1 }
    }
}

impl Quotes {
    fn take(&mut self, byte: u8) {
        let next = match (self.at, byte) {
            (At::FieldStart | At::AfterQuote, b'"') => At::Quoted,
            (At::Quoted, b'"') => At::AfterQuote,
            (At::Quoted, _) => At::Quoted,
            (_, b'\n' | b'\r') => At::FieldStart,
            (_, byte) if byte == self.delimiter => At::FieldStart,
            _ => At::Plain,
        };
        if self.at == At::FieldStart && next == At::Quoted {
            self.opened = self.line;
        }
        self.line += u64::from(byte == b'\n');
        self.at = next;
    }
}

/// The first fault of a file with one object a line; None where there is none.
pub(super) fn fault_of_lines(path: &Path) -> Option<Error> {
    let mut reader = BufReader::new(File::open(path).ok()?);
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        if reader.read_until(b'\n', &mut bytes).ok()? == 0 {
            break;
        }
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        let found = match serde_json::from_slice::<Value>(&bytes) {
            Ok(Value::Object(_)) => continue,
            Ok(other) => format!("{other}, which is no object"),
            Err(e) => without_place(&e),
        };
        let expected = "one whole JSON object a line, as {\"prompt\": \"...\"}";
        return Some(broken(path, "JSON").line(line).found(found).expected(expected).into());
    }
    None
}

/// The fault of a file that is one JSON array; None where there is none.
pub(super) fn fault_of_array(path: &Path) -> Option<Error> {
    let mut text = Vec::new();
    File::open(path).ok()?.read_to_end(&mut text).ok()?;
    let error = serde_json::from_slice::<IgnoredAny>(&text).err()?;
    Some(broken(path, "JSON").line(error.line() as u64).found(without_place(&error)).into())
}

fn broken(path: &Path, kind: &str) -> InputError {
    Error::input(format!("{} can't be read as {kind}", path.display())).file(path)
}

/// What the parser says, less its own line: that one counts from the start of the piece it was given.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    format!("{} (column {})", text.strip_suffix(&place).unwrap_or(&text), error.column())
}
