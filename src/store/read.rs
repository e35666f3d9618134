//! Read: columns of one part, in the types that its table declares.
//!
//! In: a Parquet file of a run. Out: an Arrow batch, and its columns as what they are.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array, Int32Array, RecordBatch, StringArray};
use arrow::compute::{cast, concat_batches};
use arrow::datatypes::{Field, Float64Type, Int32Type, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::schema::Table;
use crate::{Error, Result};

/// All rows of the part at `path`, with the columns `names` of `table` in this order; other columns are not decoded.
///
/// # Errors
/// The file can't be read, is no whole Parquet file, or lacks a column: the message names it.
pub fn columns(path: &Path, table: &Table, names: &[&str]) -> Result<RecordBatch> {
    let failed = |what: String| Error::table(table.name)(format!("{}: {what}", path.display()));
    let file = File::open(path).map_err(Error::io("read", path))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|e| failed(e.to_string()))?;
    let mask = ProjectionMask::columns(builder.parquet_schema(), names.iter().copied());
    let reader = builder.with_projection(mask).build().map_err(|e| failed(e.to_string()))?;
    let schema = arrow::array::RecordBatchReader::schema(&reader);
    let batches = reader.collect::<std::result::Result<Vec<_>, _>>().map_err(|e| failed(e.to_string()))?;
    let whole = concat_batches(&schema, &batches).map_err(|e| failed(e.to_string()))?;

    let mut fields = Vec::with_capacity(names.len());
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(names.len());
    for name in names {
        let declared = table.columns.iter().find(|c| c.name == *name);
        let (Some(declared), Some(found)) = (declared, whole.column_by_name(name)) else {
            return Err(failed(format!("there is no column {name}")));
        };
        let kind = declared.kind.data_type();
        arrays.push(cast(found, &kind).map_err(|e| failed(e.to_string()))?);
        fields.push(Field::new(*name, kind, declared.nullable));
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(|e| failed(e.to_string()))
}

/// All rows and columns of the part at `path`.
///
/// # Errors
/// As [`columns`].
pub fn all(path: &Path, table: &Table) -> Result<RecordBatch> {
    let names: Vec<&str> = table.columns.iter().map(|c| c.name).collect();
    columns(path, table, &names)
}

fn column<'a, T>(batch: &'a RecordBatch, name: &str, of: impl Fn(&'a dyn Array) -> Option<&'a T>) -> Result<&'a T> {
    let found = batch.column_by_name(name).and_then(|column| of(column.as_ref()));
    found.ok_or_else(|| Error::table(name)("the column was not read, or has another type"))
}

/// A column of texts.
///
/// # Errors
/// `batch` has no such column of this type.
pub fn texts<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a StringArray> {
    column(batch, name, |c| c.as_string_opt::<i32>())
}

/// A column of doubles.
///
/// # Errors
/// As [`texts`].
pub fn doubles<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a Float64Array> {
    column(batch, name, |c| c.as_primitive_opt::<Float64Type>())
}

/// A column of 32-bit integers.
///
/// # Errors
/// As [`texts`].
pub fn ints<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a Int32Array> {
    column(batch, name, |c| c.as_primitive_opt::<Int32Type>())
}

/// A column of flags.
///
/// # Errors
/// As [`texts`].
pub fn flags<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a BooleanArray> {
    column(batch, name, |c| c.as_boolean_opt())
}

#[cfg(test)]
mod tests {
    use super::super::part;
    use super::super::rows::{Cell, Rows};
    use super::*;

    #[test]
    fn columns_come_in_the_order_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("part.parquet");
        let mut rows = Rows::of("drift").unwrap();
        rows.push(["1".into(), "baseline".into(), 0.into(), 2.into(), 0.5.into(), Cell::Null]).unwrap();
        let table = rows.table();
        part::write(&path, rows, "id").unwrap();
        let batch = columns(&path, table, &["cosine", "prompt_id"]).unwrap();
        assert_eq!(batch.num_columns(), 2);
        assert_eq!(
            (doubles(&batch, "cosine").unwrap().value(0), texts(&batch, "prompt_id").unwrap().value(0)),
            (0.5, "1")
        );
        assert!(ints(&batch, "layer").is_err() && texts(&batch, "cosine").is_err());
        assert_eq!(all(&path, table).unwrap().schema(), table.schema());
        std::fs::write(&path, "PAR1").unwrap();
        assert!(all(&path, table).unwrap_err().to_string().contains("part.parquet"));
    }
}
