//! Data: a result for programs, as CSV, JSON, NDJSON or Parquet.
//!
//! In: record batches. Out: every digit and every element; rows leave as they come.

use std::io::{self, Write};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::json::writer::{JsonFormat, Writer, WriterBuilder};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::Sink;
use crate::query::cell;
use crate::query::types::{plain, plain_schema};

/// CSV: a header line, NULL as an empty field, lists as JSON.
pub(super) struct Csv<W: Write> {
    out: csv::Writer<W>,
}

impl<W: Write> Csv<W> {
    pub(super) fn new(schema: &Schema, out: W) -> io::Result<Self> {
        let mut csv = Csv { out: csv::Writer::from_writer(out) };
        csv.out.write_record(schema.fields().iter().map(|field| field.name())).map_err(of_csv)?;
        Ok(csv)
    }
}

impl<W: Write> Sink for Csv<W> {
    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        for row in 0..batch.num_rows() {
            for column in batch.columns() {
                let text = cell::exact(column, row).map_err(io::Error::other)?;
                self.out.write_field(text.unwrap_or_default()).map_err(of_csv)?;
            }
            self.out.write_record(None::<&[u8]>).map_err(of_csv)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.out.flush()
    }
}

fn of_csv(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// One JSON array of objects, or one object a line; NULL, NaN and infinities as `null`.
pub(super) struct Json<W: Write, F: JsonFormat> {
    out: Writer<W, F>,
    /// What stands after the last row.
    end: &'static str,
}

impl<W: Write, F: JsonFormat> Json<W, F> {
    pub(super) fn new(out: W, end: &'static str) -> Self {
        Json { out: WriterBuilder::new().with_explicit_nulls(true).build(out), end }
    }
}

impl<W: Write, F: JsonFormat> Sink for Json<W, F> {
    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.out.write(batch).map_err(of_arrow)
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.out.finish().map_err(of_arrow)?;
        let mut out = self.out.into_inner();
        out.write_all(self.end.as_bytes())?;
        out.flush()
    }
}

fn of_arrow(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        other => io::Error::other(other),
    }
}

/// Parquet in the plain types that every reader opens the same way.
pub(super) struct Parquet<W: Write + Send> {
    out: ArrowWriter<W>,
    schema: SchemaRef,
}

/// Most rows of a row group: what is held in memory until it is written.
const GROUP: usize = 1 << 20;
/// Most bytes of a row group, for rows with long lists.
const GROUP_BYTES: usize = 128 << 20;

impl<W: Write + Send> Parquet<W> {
    pub(super) fn new(schema: &Schema, out: W) -> io::Result<Self> {
        if schema.fields().is_empty() {
            return Err(io::Error::other("a Parquet file counts rows by their columns, and there are none"));
        }
        let schema = plain_schema(schema);
        let level = ZstdLevel::try_new(3).map_err(of_parquet)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_max_row_group_row_count(Some(GROUP))
            .set_max_row_group_bytes(Some(GROUP_BYTES))
            .build();
        let out = ArrowWriter::try_new(out, SchemaRef::clone(&schema), Some(properties)).map_err(of_parquet)?;
        Ok(Parquet { out, schema })
    }
}

impl<W: Write + Send> Sink for Parquet<W> {
    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        let batch = plain(batch, &self.schema).map_err(io::Error::other)?;
        self.out.write(&batch).map_err(of_parquet)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        let mut out = self.out.into_inner().map_err(of_parquet)?;
        out.flush()
    }
}

/// The error of the system where there is one: a closed pipe must be known as such.
fn of_parquet(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
