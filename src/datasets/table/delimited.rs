//! Delimited text: CSV and TSV.
//!
//! In: text with CSV quoting, with or without a line of column names. Out: rows of text fields with their lines.

use std::path::Path;

use serde_json::{Map, Value};

use super::{Head, Row, Sink, Wanted, name};
use crate::Error;
use crate::error::Result;

/// Hands on all rows. `names` are the columns of a file without a line of names.
pub(super) fn read(
    path: &Path,
    text: &str,
    sha256: String,
    separator: u8,
    names: Option<&[String]>,
    wanted: &Wanted,
    sink: &mut Sink,
) -> Result<Head> {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(names.is_none())
        .flexible(true)
        .from_reader(text.as_bytes());
    let columns = match names {
        Some(names) => names.to_vec(),
        None => {
            let header = reader.headers().map_err(|e| broken(path, &e))?;
            header.iter().map(|column| column.trim().to_string()).collect()
        }
    };
    check_names(path, &columns, wanted)?;
    let kept: Vec<bool> = columns.iter().map(|column| wanted.keeps(column)).collect();
    let mut lines = Lines { text, at: 0, line: 1 };
    let (mut last_start, mut last_line) = (0, None);
    // A field whose quote is never closed takes in all that follows, which then looks like other faults.
    let unclosed = |start: u64, line: u64| {
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        let ends_open = text.get(start..).is_some_and(|rest| ends_inside_quotes(rest, separator));
        ends_open.then(|| {
            let place = Error::input(format!("{}: a quoted field is never closed", name(path))).file(path);
            Error::from(place.line(line).fix("close the quote; write a quote inside quotes as \"\""))
        })
    };
    for record in reader.records() {
        let record = record.map_err(|e| broken(path, &e))?;
        last_start = record.position().map_or(last_start, csv::Position::byte);
        let line = lines.of(last_start);
        last_line = Some(line);
        if record.len() != columns.len() {
            let fault = ragged(path, line, record.len(), &columns, names.is_none());
            return Err(unclosed(last_start, line).unwrap_or(fault));
        }
        let fields = columns.iter().zip(&record).zip(&kept).filter(|(_, kept)| **kept);
        let fields: Map<String, Value> =
            fields.map(|((column, field), _)| (column.clone(), Value::from(field))).collect();
        if let Err(error) = sink(&columns, Row { line: Some(line), fields }) {
            return Err(unclosed(last_start, line).unwrap_or(error));
        }
    }
    if let Some(error) = last_line.and_then(|line| unclosed(last_start, line)) {
        return Err(error);
    }
    Ok(Head { sha256, columns, header_line: names.is_none().then_some(1) })
}

/// Two wanted columns of one name can't be told apart.
fn check_names(path: &Path, columns: &[String], wanted: &Wanted) -> Result<()> {
    match columns.iter().enumerate().find(|(at, c)| wanted.keeps(c) && columns.iter().take(*at).any(|d| d == *c)) {
        Some((_, twice)) => {
            let e = Error::input(format!("{} has two columns \"{twice}\"", name(path)));
            Err(e.file(path).line(1).found(columns.join(", ")).into())
        }
        None => Ok(()),
    }
}

fn ragged(path: &Path, line: u64, fields: usize, columns: &[String], header: bool) -> Error {
    let expected = if header {
        format!("{}, as line 1 has: {}", columns.len(), columns.join(", "))
    } else {
        columns.len().to_string()
    };
    Error::input(format!("{}: a row has another number of fields than there are columns", name(path)))
        .file(path)
        .line(line)
        .found(format!("{fields} fields"))
        .expected(expected)
        .fix("put quotes around a field that has separators or line breaks in it")
        .into()
}

fn broken(path: &Path, e: &csv::Error) -> Error {
    let input = Error::input(format!("{} can't be read", name(path))).file(path).found(e.to_string());
    match e.position() {
        Some(place) => input.line(place.line()).into(),
        None => input.into(),
    }
}

/// Whether a record ends before its last quoted field does. The CSV reader then takes all that follows, the rest of
/// the file perhaps, for that field without a word.
fn ends_inside_quotes(record: &str, separator: u8) -> bool {
    #[derive(Clone, Copy, PartialEq)]
    enum At {
        FieldStart,
        Plain,
        Quoted,
        AfterQuote,
    }
    let end = record.bytes().fold(At::FieldStart, |at, byte| match (at, byte) {
        (At::FieldStart | At::AfterQuote, b'"') => At::Quoted,
        (At::Quoted, b'"') => At::AfterQuote,
        (At::Quoted, _) => At::Quoted,
        (_, b'\n' | b'\r') => At::FieldStart,
        (_, byte) if byte == separator => At::FieldStart,
        _ => At::Plain,
    });
    end == At::Quoted
}

/// Numbers the lines of a text; the CSV reader's own numbers are one too low after CRLF and blank lines.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: u64,
}

impl Lines<'_> {
    /// The line, from 1, on which the record starts that the reader found at byte `from`. Only forwards.
    fn of(&mut self, from: u64) -> u64 {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let skipped = usize::try_from(from).unwrap_or(usize::MAX).saturating_sub(self.at);
        let breaks = rest.iter().skip(skipped).take_while(|b| matches!(b, b'\n' | b'\r')).count();
        let passed = rest.get(..skipped + breaks).unwrap_or(rest);
        self.line += passed.iter().filter(|&&b| b == b'\n').count() as u64;
        self.at += passed.len();
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::read_as;

    #[test]
    fn quotes_line_breaks_and_lines_of_rows() {
        let table = read_as("a.csv", b"id, prompt\r\n1,\"a, \"\"b\"\"\r\nc\"\r\n\r\n2,d\r\n", &["prompt"]).unwrap();
        assert_eq!(table.columns, ["id", "prompt"]);
        let rows: Vec<_> = table.rows.iter().map(|r| (r.line, r.fields["prompt"].as_str())).collect();
        assert_eq!(rows, [(Some(2), Some("a, \"b\"\r\nc")), (Some(5), Some("d"))]);
        assert!(!table.rows[0].fields.contains_key("id"), "columns that are not wanted are not kept");
    }

    #[test]
    fn a_ragged_row_is_an_error_with_its_line() {
        let message = read_as("a.csv", b"id,prompt\n1,a\n2,b,c\n", &["prompt"]).unwrap_err().to_string();
        assert!(
            message.contains("line 3")
                && message.contains("3 fields")
                && message.contains("2, as line 1 has: id, prompt"),
            "{message}"
        );
        let message = read_as("a.tsv", b"id\tprompt\n1\n", &["prompt"]).unwrap_err().to_string();
        assert!(message.contains("line 2") && message.contains("1 fields"), "{message}");
    }

    #[test]
    fn a_quote_that_is_never_closed_is_an_error_with_its_line() {
        let message = read_as("a.csv", b"id,prompt\n1,a\n2,\"b\n3,c\n4,d\n", &["prompt"]).unwrap_err().to_string();
        assert!(message.contains("never closed") && message.contains("line 3"), "{message}");
        assert!(read_as("a.csv", b"id,prompt\n1,\"a \"\"b\"\"\"", &["prompt"]).is_ok());
        assert!(read_as("a.csv", b"id,prompt\n1,5\" disk", &["prompt"]).is_ok());
    }

    #[test]
    fn two_columns_of_one_name_are_an_error_only_where_it_matters() {
        let message = read_as("a.csv", b"prompt,prompt\na,b\n", &["prompt"]).unwrap_err().to_string();
        assert!(message.contains("two columns \"prompt\""), "{message}");
        assert!(read_as("a.csv", b"prompt,,\na,b,c\n", &["prompt"]).is_ok());
    }
}
