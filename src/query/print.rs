//! Print: a result as text.
//!
//! In: record batches and a format. Out: a table for people, or CSV, JSON, NDJSON or Markdown.
//! A broken pipe is an [`Error::Io`] of that kind; the command line takes it as success.

use std::borrow::Cow;
use std::io::{self, Write};
use std::str::FromStr;

use comfy_table::{CellAlignment, ContentArrangement, Table, TableComponent};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::json::writer::{JsonArray, JsonFormat, LineDelimited, WriterBuilder};

use super::cell;
use crate::{Error, Result};

/// How a result is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Aligned columns, six significant digits, NULL as the word.
    #[default]
    Table,
    /// A header line, every digit, NULL as an empty field, lists as JSON.
    Csv,
    /// One JSON array of objects; NULL, NaN and infinities as `null`.
    Json,
    /// One JSON object a line; NULL, NaN and infinities as `null`.
    Ndjson,
    /// A Markdown table, digits as in [`Format::Table`].
    Markdown,
}

impl Format {
    /// The names of all formats, as [`FromStr`] takes them.
    pub const NAMES: [&'static str; 5] = ["table", "csv", "json", "ndjson", "markdown"];
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "table" => Ok(Format::Table),
            "csv" => Ok(Format::Csv),
            "json" => Ok(Format::Json),
            "ndjson" | "jsonl" => Ok(Format::Ndjson),
            "markdown" | "md" => Ok(Format::Markdown),
            other => {
                Err(Error::input("there is no such format").found(other).expected(Format::NAMES.join(", ")).into())
            }
        }
    }
}

/// Writes a result as `format` to `out`.
///
/// # Errors
/// When `out` can't be written, or a value has a type that text can't show.
pub fn print(batches: &[RecordBatch], format: Format, out: &mut dyn Write) -> Result<()> {
    let written = match format {
        Format::Table => table(batches, out),
        Format::Csv => csv_lines(batches, out),
        Format::Json => json::<JsonArray>(batches, out).and_then(|()| writeln!(out)),
        Format::Ndjson => json::<LineDelimited>(batches, out),
        Format::Markdown => markdown(batches, out),
    };
    written.and_then(|()| out.flush()).map_err(Error::io("write", "standard output"))
}

fn header(batches: &[RecordBatch]) -> Vec<String> {
    let schema = batches.first().map(RecordBatch::schema);
    schema.iter().flat_map(|s| s.fields().iter().map(|f| f.name().clone())).collect()
}

/// Each row's cells as `text` makes them, with `null` where there is none.
fn rows(
    batches: &[RecordBatch],
    text: impl Fn(
        &dyn datafusion::arrow::array::Array,
        usize,
    ) -> Result<Option<String>, datafusion::arrow::error::ArrowError>,
    null: &str,
) -> io::Result<Vec<Vec<String>>> {
    let mut rows = Vec::new();
    for batch in batches {
        for row in 0..batch.num_rows() {
            let cells = batch.columns().iter().map(|column| Ok(text(column, row)?.unwrap_or_else(|| null.to_string())));
            let cells: Result<Vec<String>, datafusion::arrow::error::ArrowError> = cells.collect();
            rows.push(cells.map_err(io::Error::other)?);
        }
    }
    Ok(rows)
}

/// Which columns hold numbers, and so stand to the right.
fn numeric(batches: &[RecordBatch]) -> Vec<bool> {
    let schema = batches.first().map(RecordBatch::schema);
    schema.iter().flat_map(|s| s.fields().iter().map(|f| f.data_type().is_numeric())).collect()
}

fn table(batches: &[RecordBatch], out: &mut dyn Write) -> io::Result<()> {
    let mut table = plain_table();
    table.set_header(header(batches).iter().map(|name| visible(name)));
    for row in rows(batches, cell::short, "NULL")? {
        table.add_row(row.iter().map(|cell| visible(cell)));
    }
    align(&mut table, &numeric(batches));
    writeln!(out, "{}", table.trim_fmt())
}

/// A text with its control characters escaped: what a model wrote must not steer the terminal.
fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let escaped = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(escaped).collect())
}

/// A table with one line under its header, as wide as the terminal where there is one.
pub(crate) fn plain_table() -> Table {
    let mut table = Table::new();
    table.load_preset(comfy_table::presets::NOTHING);
    table.set_style(TableComponent::HeaderLines, '─');
    table.set_style(TableComponent::MiddleHeaderIntersections, '─');
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table
}

/// Sets columns of numbers to the right.
pub(super) fn align(table: &mut Table, right: &[bool]) {
    for (column, right) in table.column_iter_mut().zip(right) {
        column.set_cell_alignment(if *right { CellAlignment::Right } else { CellAlignment::Left });
    }
}

fn csv_lines(batches: &[RecordBatch], out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    let io_error = |e: csv::Error| match e.into_kind() {
        csv::ErrorKind::Io(e) => e,
        other => io::Error::other(format!("{other:?}")),
    };
    csv.write_record(header(batches)).map_err(io_error)?;
    for row in rows(batches, cell::exact, "")? {
        csv.write_record(row).map_err(io_error)?;
    }
    csv.flush()
}

fn json<F: JsonFormat>(batches: &[RecordBatch], out: &mut dyn Write) -> io::Result<()> {
    let mut writer = WriterBuilder::new().with_explicit_nulls(true).build::<_, F>(out);
    for batch in batches {
        writer.write(batch).map_err(io_error)?;
    }
    writer.finish().map_err(io_error)
}

fn io_error(error: datafusion::arrow::error::ArrowError) -> io::Error {
    match error {
        datafusion::arrow::error::ArrowError::IoError(_, e) => e,
        other => io::Error::other(other),
    }
}

fn markdown(batches: &[RecordBatch], out: &mut dyn Write) -> io::Result<()> {
    // A bar ends a cell and a line break ends the row.
    let line = |cells: &[String]| {
        let cells = cells.iter().map(|c| c.replace('\\', "\\\\").replace('|', "\\|").replace('\n', "<br>"));
        format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
    };
    writeln!(out, "{}", line(&header(batches)))?;
    let rules = numeric(batches).into_iter().map(|right| if right { "---:" } else { "---" });
    writeln!(out, "| {} |", rules.collect::<Vec<_>>().join(" | "))?;
    for row in rows(batches, cell::short, "NULL")? {
        writeln!(out, "{}", line(&row))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Session;

    fn printed(sql: &str, format: Format) -> String {
        let batches = Session::new(Some(1)).unwrap().query(sql).unwrap();
        let mut out = Vec::new();
        print(&batches, format, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    const ROWS: &str = "select * from (values ('a|b', 1.0/3, [1, 2]), (null, null, null)) as t (name, x, l)";

    #[test]
    fn every_format_shows_the_same_rows() {
        assert_eq!(
            printed(ROWS, Format::Table),
            " name          x   l\n──────────────────────────\n a|b    0.333333   [1, 2]\n NULL       NULL   NULL\n"
        );
        assert_eq!(printed(ROWS, Format::Csv), "name,x,l\na|b,0.3333333333333333,\"[1, 2]\"\n,,\n");
        assert_eq!(
            printed(ROWS, Format::Json),
            "[{\"name\":\"a|b\",\"x\":0.3333333333333333,\"l\":[1,2]},{\"name\":null,\"x\":null,\"l\":null}]\n"
        );
        assert_eq!(
            printed(ROWS, Format::Ndjson),
            "{\"name\":\"a|b\",\"x\":0.3333333333333333,\"l\":[1,2]}\n{\"name\":null,\"x\":null,\"l\":null}\n"
        );
        assert_eq!(
            printed(ROWS, Format::Markdown),
            "| name | x | l |\n| --- | ---: | --- |\n| a\\|b | 0.333333 | [1, 2] |\n| NULL | NULL | NULL |\n"
        );
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let shown = printed("select chr(27) || '[31mé' || chr(10) || 'x' as \"a\tb\"", Format::Table);
        assert!(shown.contains("\\u{1b}[31mé\\nx") && shown.contains("a\\tb"), "{shown}");
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
    }

    #[test]
    fn no_rows_still_show_their_columns() {
        let sql = "select 1 as a, 'x' as b where false";
        assert_eq!(printed(sql, Format::Csv), "a,b\n");
        assert_eq!(printed(sql, Format::Json), "[]\n");
        assert_eq!(printed(sql, Format::Ndjson), "");
        assert!(printed(sql, Format::Table).starts_with(" a   b\n"));
    }

    #[test]
    fn numbers_that_json_lacks_become_null() {
        assert_eq!(printed("select 'NaN'::double as x", Format::Ndjson), "{\"x\":null}\n");
    }

    #[test]
    fn formats_have_names() {
        for name in Format::NAMES {
            assert!(name.parse::<Format>().is_ok());
        }
        assert!("xml".parse::<Format>().unwrap_err().to_string().contains("table, csv, json"));
    }
}
