//! Print: a result as text or as a file.
//!
//! In: record batches and a format. Out: a table for people, or CSV, JSON, NDJSON, Parquet or Markdown.
//! A broken pipe is an [`Error::Io`] of that kind; the command line takes it as success.

mod data;
mod text;

use std::io::{self, Write};
use std::str::FromStr;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::Schema;
use datafusion::arrow::json::writer::{JsonArray, LineDelimited};

pub(super) use text::align;
pub(crate) use text::plain_table;

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
    /// One Parquet file, in plain types.
    Parquet,
    /// A Markdown table, digits as in [`Format::Table`].
    Markdown,
}

impl Format {
    /// The names of all formats, as [`FromStr`] takes them.
    pub const NAMES: [&'static str; 6] = ["table", "csv", "json", "ndjson", "parquet", "markdown"];

    /// Those that are text: several results may follow one another.
    pub const TEXTS: [&'static str; 5] = ["table", "csv", "json", "ndjson", "markdown"];

    /// Whether it is for people: rounded, and with room for a word beside the rows.
    pub fn is_for_people(self) -> bool {
        matches!(self, Format::Table | Format::Markdown)
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "table" => Ok(Format::Table),
            "csv" => Ok(Format::Csv),
            "json" => Ok(Format::Json),
            "ndjson" | "jsonl" => Ok(Format::Ndjson),
            "parquet" => Ok(Format::Parquet),
            "markdown" | "md" => Ok(Format::Markdown),
            other => {
                Err(Error::input("there is no such format").found(other).expected(Format::NAMES.join(", ")).into())
            }
        }
    }
}

/// Where the rows of one result go, batch by batch.
trait Sink {
    fn write(&mut self, batch: &RecordBatch) -> io::Result<()>;
    /// Writes what is still held, and flushes.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Writes one result in one format. All formats but [`Format::Table`], which aligns its columns, hold no more than a
/// part of the rows.
pub struct RowWriter<'w> {
    sink: Box<dyn Sink + 'w>,
    rows: usize,
    most: Option<usize>,
    is_cut: bool,
}

impl std::fmt::Debug for RowWriter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RowWriter({} rows)", self.rows)
    }
}

impl<'w> RowWriter<'w> {
    /// Begins a result with the columns of `schema`. `most`: of a [`Format::Table`] only so many rows are shown.
    ///
    /// # Errors
    /// `out` can't be written.
    pub fn new(
        format: Format,
        schema: &Schema,
        most: Option<usize>,
        out: &'w mut (dyn Write + Send),
    ) -> Result<RowWriter<'w>> {
        let most = most.filter(|_| format == Format::Table);
        let sink = || -> io::Result<Box<dyn Sink + 'w>> {
            Ok(match format {
                Format::Table => Box::new(text::Aligned::new(schema, most, out)),
                Format::Csv => Box::new(data::Csv::new(schema, out)?),
                Format::Json => Box::new(data::Json::<_, JsonArray>::new(out, "\n")),
                Format::Ndjson => Box::new(data::Json::<_, LineDelimited>::new(out, "")),
                Format::Parquet => Box::new(data::Parquet::new(schema, out)?),
                Format::Markdown => Box::new(text::Markdown::new(schema, out)?),
            })
        };
        let sink = sink().map_err(unwritable)?;
        Ok(RowWriter { sink, rows: 0, most, is_cut: false })
    }

    /// Takes the next rows; gives whether more are wanted.
    ///
    /// # Errors
    /// `out` can't be written, or a value has a type that the format can't show.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<bool> {
        self.sink.write(batch).map_err(unwritable)?;
        self.rows += batch.num_rows();
        self.is_cut = self.most.is_some_and(|most| self.rows > most);
        Ok(!self.is_cut)
    }

    /// Ends the result; gives whether rows were left out.
    ///
    /// # Errors
    /// `out` can't be written.
    pub fn finish(self) -> Result<bool> {
        self.sink.finish().map_err(unwritable)?;
        Ok(self.is_cut)
    }
}

/// Writes a result as `format` to `out`.
///
/// # Errors
/// When `out` can't be written, or a value has a type that text can't show.
pub fn print(batches: &[RecordBatch], format: Format, out: &mut (dyn Write + Send)) -> Result<()> {
    let schema = batches.first().map_or_else(|| Schema::empty().into(), RecordBatch::schema);
    let mut writer = RowWriter::new(format, &schema, None, out)?;
    for batch in batches {
        writer.write(batch)?;
    }
    writer.finish().map(drop)
}

fn unwritable(error: io::Error) -> Error {
    Error::io("write", "the result")(error)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use datafusion::arrow::array::{ArrayRef, LargeListArray, StringViewArray, UInt64Array};
    use datafusion::arrow::datatypes::Float64Type;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

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
    #[test]
    fn a_table_shows_at_most_so_many_rows_and_says_so() {
        let batches = Session::new(Some(1)).unwrap().query("select * from (values (1), (2), (3)) as t (x)").unwrap();
        let shown = |most: Option<usize>, format: Format| {
            let mut out = Vec::new();
            let mut writer = RowWriter::new(format, &batches[0].schema(), most, &mut out).unwrap();
            let wants_more = writer.write(&batches[0]).unwrap();
            let is_cut = writer.finish().unwrap();
            assert_eq!(wants_more, !is_cut);
            (String::from_utf8(out).unwrap().lines().count(), is_cut)
        };
        assert_eq!(shown(Some(2), Format::Table), (4, true));
        assert_eq!(shown(Some(3), Format::Table), (5, false));
        assert_eq!(shown(None, Format::Table), (5, false));
        assert_eq!(shown(Some(2), Format::Csv), (4, false));
    }

    #[test]
    fn parquet_is_in_plain_types() {
        let columns: [(&str, ArrayRef); 3] = [
            ("t", Arc::new(StringViewArray::from(vec!["a"]))),
            ("n", Arc::new(UInt64Array::from(vec![3]))),
            ("l", Arc::new(LargeListArray::from_iter_primitive::<Float64Type, _, _>([Some([Some(1.5), None])]))),
        ];
        let mut out = Vec::new();
        print(&[RecordBatch::try_from_iter(columns).unwrap()], Format::Parquet, &mut out).unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&out).unwrap();
        let mut read = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
        let batch = read.next().unwrap().unwrap();
        let types: Vec<String> = batch.columns().iter().map(|column| column.data_type().to_string()).collect();
        assert_eq!(types, ["Utf8", "Int64", "List(Float64)"]);
        let mut text = Vec::new();
        print(&[batch], Format::Csv, &mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "t,n,l\na,3,\"[1.5, null]\"\n");
    }
}
