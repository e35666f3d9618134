//! Parquet: columns, nested ones too, become rows.
//!
//! In: an open Parquet file. Out: rows; only wanted root columns are decoded.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use arrow::json::WriterBuilder;
use arrow::json::writer::JsonArray;
use arrow::record_batch::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Map, Value};

use super::{Head, Row, Sink, Wanted, name};
use crate::Error;
use crate::error::Result;

/// Rows decoded at a time; bounds the memory that a decoded batch and its JSON take.
const BATCH: usize = 1024;

/// Reads all rows.
///
/// Some damaged files make the Parquet decoder panic where it should report an error; for whoever gave the file that
/// is one message like any other, so the panic ends here. Nothing that it may have left half done is used again.
pub(super) fn read(path: &Path, file: File, sha256: String, wanted: &Wanted, sink: &mut Sink) -> Result<Head> {
    let decoded = catch_unwind(AssertUnwindSafe(|| decode(path, file, sha256, wanted, sink)));
    decoded.unwrap_or_else(|_| Err(broken(path, &"the file is damaged")))
}

fn decode(path: &Path, file: File, sha256: String, wanted: &Wanted, sink: &mut Sink) -> Result<Head> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|e| broken(path, &e))?;
    let columns: Vec<String> = builder.schema().fields().iter().map(|f| f.name().clone()).collect();
    let kept: Vec<usize> = columns.iter().enumerate().filter(|(_, c)| wanted.keeps(c)).map(|(at, _)| at).collect();
    if kept.is_empty() {
        // the caller finds that its columns are missing; a row without fields stands for each
        if builder.metadata().file_metadata().num_rows() > 0 {
            sink(&columns, Row { line: None, fields: Map::new() })?;
        }
        return Ok(Head { sha256, columns, header_line: None });
    }
    let mask = ProjectionMask::roots(builder.parquet_schema(), kept);
    let reader = builder.with_projection(mask).with_batch_size(BATCH).build().map_err(|e| broken(path, &e))?;
    for batch in reader {
        let batch = batch.map_err(|e| broken(path, &e))?;
        for fields in objects(&batch).map_err(|e| broken(path, &e))? {
            sink(&columns, Row { line: None, fields })?;
        }
    }
    Ok(Head { sha256, columns, header_line: None })
}

/// The rows of a batch as JSON objects, null fields included.
fn objects(batch: &RecordBatch) -> std::result::Result<Vec<Map<String, Value>>, Box<dyn std::error::Error>> {
    let mut writer = WriterBuilder::new().with_explicit_nulls(true).build::<_, JsonArray>(Vec::new());
    writer.write(batch)?;
    writer.finish()?;
    Ok(serde_json::from_slice(&writer.into_inner())?)
}

fn broken(path: &Path, e: &impl ToString) -> Error {
    Error::input(format!("{} can't be read as Parquet", name(path))).file(path).found(e.to_string()).into()
}

#[cfg(test)]
mod tests {
    use super::super::tests::read_as;

    #[test]
    fn no_damage_to_a_file_ends_the_program() {
        let good = include_bytes!("../../../tests/golden/hub/natural_questions.parquet");
        let mut refused = 0;
        for at in 0..good.len() {
            let mut bytes = good.to_vec();
            bytes[at] ^= 0xff;
            refused += usize::from(read_as("a.parquet", &bytes, &["question", "answer"]).is_err());
        }
        assert!(refused > good.len() / 4, "{refused} of {}", good.len());
    }

    #[test]
    fn what_is_no_parquet_is_an_error_that_names_the_file() {
        for bytes in [&b"prompt\nhi\n"[..], b"", b"PAR1 cut short PAR1"] {
            let message = read_as("a.parquet", bytes, &["prompt"]).unwrap_err().to_string();
            assert!(message.contains("a.parquet can't be read as Parquet"), "{message}");
        }
    }
}
