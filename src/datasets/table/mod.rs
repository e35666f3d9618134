//! Tables: the rows of a file, whatever its format.
//!
//! In: a path, a format, and which columns are wanted. Out: a [`Table`] of rows as JSON objects, with their places.
//! Only wanted columns are kept: the full layouts carry whole web pages beside each question.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::{Map, Value};

use super::fields;
pub(crate) use crate::text_file::name;
use crate::{Error, Result, hash, text_file};

mod delimited;
mod json;
mod parquet;

/// The rows of a file.
#[derive(Debug, PartialEq)]
pub(crate) struct Table {
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
    /// Names of all columns, kept or not, in the order of the file.
    pub columns: Vec<String>,
    /// The line that names the columns, in formats that have one.
    pub header_line: Option<u64>,
    /// The rows, in the order of the file.
    pub rows: Vec<Row>,
}

/// One row.
#[derive(Debug, PartialEq)]
pub(crate) struct Row {
    /// The line on which it starts, from 1, in formats where a row has one.
    pub line: Option<u64>,
    /// The wanted columns.
    pub fields: Map<String, Value>,
}

/// How a file is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Format {
    /// Fields separated by this byte, quoted as in CSV; the first line names the columns.
    Delimited(u8),
    /// Tab-separated fields, quoted as in CSV, without a line of names; these are the names.
    Headerless(Vec<String>),
    /// A JSON document: an array of objects, or an object that holds one. `.json` files of one object a line too.
    Json,
    /// One JSON object a line.
    JsonLines,
    /// Parquet.
    Parquet,
}

/// The extensions that name a format, as the messages list them.
const EXTENSIONS: &str = ".csv, .tsv, .json, .jsonl, .ndjson, .parquet";

impl Format {
    /// The format that the file's extension names.
    ///
    /// # Errors
    /// An [`Error::Input`] that lists the extensions, for any other.
    pub(crate) fn of(path: &Path) -> Result<Format> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
        Ok(match extension.as_str() {
            "csv" => Format::Delimited(b','),
            "tsv" | "tab" => Format::Delimited(b'\t'),
            "json" => Format::Json,
            "jsonl" | "ndjson" => Format::JsonLines,
            "parquet" | "pq" => Format::Parquet,
            _ => {
                let found = if extension.is_empty() { "no extension".to_string() } else { format!(".{extension}") };
                return Err(Error::input(format!("{} is in no known format", name(path)))
                    .file(path)
                    .found(found)
                    .expected(EXTENSIONS)
                    .into());
            }
        })
    }
}

/// Which columns to keep: those in which one of some dotted paths starts, in any letter case.
#[derive(Debug, Default)]
pub(crate) struct Wanted(Vec<String>);

impl Wanted {
    /// The columns in which these paths start.
    pub(crate) fn by<'a>(paths: impl IntoIterator<Item = &'a str>) -> Wanted {
        Wanted(paths.into_iter().map(str::to_lowercase).collect())
    }

    /// Whether to keep the column.
    fn keeps(&self, column: &str) -> bool {
        let column = column.to_lowercase();
        self.0.iter().any(|path| fields::starts_in(path, &column))
    }
}

/// What a file says beside its rows.
#[derive(Debug, PartialEq)]
pub(crate) struct Head {
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
    /// Names of all columns, kept or not, in the order of the file.
    pub columns: Vec<String>,
    /// The line that names the columns, in formats that have one.
    pub header_line: Option<u64>,
}

/// Takes the rows of a file one after another, each with the names of the columns found so far.
pub(crate) type Sink<'a> = dyn FnMut(&[String], Row) -> Result<()> + 'a;

/// Reads all rows of a file.
///
/// # Errors
/// As [`scan`].
pub(crate) fn read(path: &Path, format: &Format, wanted: &Wanted) -> Result<Table> {
    let mut rows = Vec::new();
    let head = scan(path, format, wanted, &mut |_, row| {
        rows.push(row);
        Ok(())
    })?;
    Ok(Table { sha256: head.sha256, columns: head.columns, header_line: head.header_line, rows })
}

/// Reads a file row by row; rows that the sink does not keep take no memory (JSON documents excepted, which are parsed
/// whole).
///
/// # Errors
/// [`Error::Io`] where the file can't be read; [`Error::Input`] with file and line where it is not what its format
/// says, and where it has no rows; the first error of the sink.
pub(crate) fn scan(path: &Path, format: &Format, wanted: &Wanted, sink: &mut Sink) -> Result<Head> {
    let mut file = File::open(path).map_err(Error::io("open", path))?;
    if file.metadata().map_err(Error::io("read", path))?.is_dir() {
        return Err(Error::input(format!("{} is a folder", name(path))).file(path).fix("give one file").into());
    }
    let mut is_empty = true;
    let mut counted = |columns: &[String], row: Row| {
        is_empty = false;
        sink(columns, row)
    };
    let head = if *format == Format::Parquet {
        let sha256 = hash::of_reader(&mut file).map_err(Error::io("read", path))?;
        parquet::read(path, file, sha256, wanted, &mut counted)?
    } else {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(Error::io("read", path))?;
        let sha256 = hash::of_bytes(&bytes);
        let text = text_file::utf8(path, &bytes)?;
        match format {
            Format::Delimited(separator) => {
                delimited::read(path, text, sha256, *separator, None, wanted, &mut counted)?
            }
            Format::Headerless(names) => delimited::read(path, text, sha256, b'\t', Some(names), wanted, &mut counted)?,
            Format::JsonLines => json::read_lines(path, text, sha256, wanted, &mut counted)?,
            _ => json::read(path, text, sha256, wanted, &mut counted)?,
        }
    };
    if is_empty {
        return Err(Error::input(format!("{} has no rows", name(path))).file(path).into());
    }
    Ok(head)
}

/// Reads compiled-in JSON lines; `path` is their name in messages.
///
/// # Errors
/// [`Error::Input`] where a line is broken.
pub(super) fn read_embedded(path: &Path, text: &str, wanted: &Wanted) -> Result<Table> {
    let mut rows = Vec::new();
    let sha256 = hash::of_bytes(text.as_bytes());
    let head = json::read_lines(path, text, sha256, wanted, &mut |_, row| {
        rows.push(row);
        Ok(())
    })?;
    Ok(Table { sha256: head.sha256, columns: head.columns, header_line: head.header_line, rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a file into a new folder and reads it by its extension, keeping the given columns.
    pub(super) fn read_as(file: &str, bytes: &[u8], columns: &[&str]) -> Result<Table> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(file);
        std::fs::write(&path, bytes).unwrap();
        read(&path, &Format::of(&path)?, &Wanted::by(columns.iter().copied()))
    }

    #[test]
    fn an_unknown_extension_lists_the_known_ones() {
        for (file, found) in [("prompts.xlsx", ".xlsx"), ("prompts", "no extension"), ("prompts.csv.gz", ".gz")] {
            let message = Format::of(Path::new(file)).unwrap_err().to_string();
            assert!(message.contains(file) && message.contains(found) && message.contains(".parquet"), "{message}");
        }
        assert_eq!(Format::of(Path::new("A.JSONL")).unwrap(), Format::JsonLines);
    }

    #[test]
    fn bytes_that_are_not_utf8_are_an_error_with_their_line() {
        let message = read_as("a.csv", b"prompt\none\ncaf\xe9\n", &["prompt"]).unwrap_err().to_string();
        assert!(
            message.contains("a.csv is not UTF-8") && message.contains("line 3") && message.contains("0xe9"),
            "{message}"
        );
        let message = read_as("a.jsonl", b"\xff\xfe{\0", &["prompt"]).unwrap_err().to_string();
        assert!(message.contains("UTF-16"), "{message}");
    }

    #[test]
    fn a_file_without_rows_and_a_missing_file_are_errors() {
        for (file, text) in
            [("a.csv", ""), ("a.csv", "prompt\n"), ("a.json", "[]"), ("a.json", ""), ("a.jsonl", "\n\n")]
        {
            let message = read_as(file, text.as_bytes(), &["prompt"]).unwrap_err().to_string();
            assert!(message.contains(&format!("{file} has no rows")), "{message}");
        }
        let message =
            read(Path::new("gone.csv"), &Format::Delimited(b','), &Wanted::default()).unwrap_err().to_string();
        assert!(message.contains("gone.csv") && message.contains("No such file"), "{message}");
        let folder = tempfile::tempdir().unwrap();
        let message = read(folder.path(), &Format::Parquet, &Wanted::default()).unwrap_err().to_string();
        assert!(message.contains("is a folder"), "{message}");
    }

    #[test]
    fn the_hash_is_of_the_file_as_it_is_byte_order_mark_included() {
        let table = read_as("a.csv", b"\xef\xbb\xbfprompt\nhi\n", &["prompt"]).unwrap();
        // printf '\xef\xbb\xbfprompt\nhi\n' | sha256sum
        assert_eq!(table.sha256, "fd98366df37be7feb0fa47a545f65301409b562215cc33689501b92284bd3903");
        assert_eq!(table.columns, ["prompt"]);
    }
}
