//! Parts: one Parquet file of one table.
//!
//! In: rows and the run's id. Out: a Parquet file that every reader opens without options.
//! Plain LIST columns, zstd, dictionaries on text only, page index, row groups capped by bytes.

use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnPath;

use super::files;
use super::rows::Rows;
use super::schema::{Kind, SCHEMA_VERSION, Table};
use crate::{Error, Result};

/// Row groups hold at most this many bytes, so that a reader with one group in memory stays small.
const ROW_GROUP_BYTES: usize = 64 << 20;

/// Keys of a part's metadata.
const RUN_ID: &str = "sago.run_id";
const TABLE: &str = "sago.table";
const BESIDE: &str = "sago.beside";

/// Where the part of one prompt lies: `RUN/TABLE/model=M/dataset=D/part-00003.parquet`.
///
/// Parts are numbered by the prompt's place in the sampled data set, so that the same work always has the same name.
pub fn path(run: &Path, table: &str, model: &str, dataset: &str, number: usize) -> PathBuf {
    run.join(table)
        .join(format!("model={model}"))
        .join(format!("dataset={dataset}"))
        .join(format!("part-{number:05}.parquet"))
}

/// Writes all `rows` as one file.
///
/// # Errors
/// The file can't be written, or the rows do not fit their table.
pub fn write(path: &Path, rows: Rows, run_id: &str) -> Result<()> {
    write_beside(path, rows, run_id, &[])
}

/// Writes all `rows` as one file that names the tables whose parts of the same unit were written before it.
///
/// # Errors
/// As [`write()`].
pub fn write_beside(path: &Path, rows: Rows, run_id: &str, beside: &[&str]) -> Result<()> {
    let table = rows.table();
    write_batch(path, table, &rows.finish()?, run_id, beside)
}

/// Writes a batch of a table's schema as one file.
///
/// # Errors
/// As [`write()`].
pub fn write_batch(path: &Path, table: &Table, batch: &RecordBatch, run_id: &str, beside: &[&str]) -> Result<()> {
    let properties = properties(table, batch, run_id, beside)?;
    files::write_atomically(path, |file| {
        let failed = |e: parquet::errors::ParquetError| match e {
            parquet::errors::ParquetError::External(source) => match source.downcast::<std::io::Error>() {
                Ok(source) => Error::io("write", path)(*source),
                Err(other) => Error::table(table.name)(other),
            },
            other => Error::table(table.name)(format!("writing {}: {other}", path.display())),
        };
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).map_err(failed)?;
        writer.write(batch).map_err(failed)?;
        writer.close().map_err(failed)?;
        Ok(())
    })
}

/// The tables beside which the part at `path` was written; None where it is not a whole part of this run and table.
pub fn beside(path: &Path, table: &str, run_id: &str) -> Option<Vec<String>> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(path).ok()?).ok()?;
    let metadata = reader.metadata().file_metadata().key_value_metadata()?;
    let value = |key: &str| metadata.iter().find(|kv| kv.key == key)?.value.clone();
    let belongs = value(RUN_ID)? == run_id && value(TABLE)? == table;
    belongs.then(|| value(BESIDE).unwrap_or_default().split_whitespace().map(str::to_string).collect())
}

/// What a part's footer says, without reading its rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Rows.
    pub rows: u64,
    /// Rows whose column `error` is not NULL.
    pub failed: u64,
    /// Least value of the column `host`, of which a part has one.
    pub host: Option<String>,
    /// Least value of the column `started`.
    pub started: Option<String>,
}

/// Reads a part's footer.
///
/// # Errors
/// The file can't be read or is no Parquet file.
pub fn summary(table: &str, path: &Path) -> Result<Summary> {
    let file = std::fs::File::open(path).map_err(Error::io("read", path))?;
    let failed = |e: parquet::errors::ParquetError| Error::table(table)(format!("{}: {e}", path.display()));
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).map_err(failed)?;
    let mut summary = Summary::default();
    for group in reader.metadata().row_groups() {
        let rows = u64::try_from(group.num_rows()).unwrap_or(0);
        let statistics = |name: &str| group.columns().iter().find(|c| c.column_path().string() == name)?.statistics();
        let least = |name: &str| {
            let least = statistics(name)?.min_bytes_opt()?.to_vec();
            String::from_utf8(least).ok()
        };
        summary.rows += rows;
        summary.failed +=
            statistics("error").and_then(Statistics::null_count_opt).map_or(0, |nulls| rows.saturating_sub(nulls));
        summary.host = summary.host.or(least("host"));
        summary.started = [summary.started, least("started")].into_iter().flatten().min();
    }
    Ok(summary)
}

fn properties(table: &Table, batch: &RecordBatch, run_id: &str, beside: &[&str]) -> Result<WriterProperties> {
    let bytes_a_row = (batch.get_array_memory_size() / batch.num_rows().max(1)).max(1);
    let level = ZstdLevel::try_new(3).map_err(Error::table(table.name))?;
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_max_row_group_row_count(Some((ROW_GROUP_BYTES / bytes_a_row).max(1)))
        .set_key_value_metadata(Some(vec![
            KeyValue::new("sago.schema_version".to_string(), SCHEMA_VERSION.to_string()),
            KeyValue::new(RUN_ID.to_string(), run_id.to_string()),
            KeyValue::new(TABLE.to_string(), table.name.to_string()),
            KeyValue::new(BESIDE.to_string(), beside.join(" ")),
        ]));
    for column in table.columns {
        let leaf = match column.kind {
            Kind::Floats | Kind::Ints | Kind::Texts => ["list", "item"].as_slice(),
            _ => &[],
        };
        let names = std::iter::once(column.name).chain(leaf.iter().copied());
        let leaf = ColumnPath::new(names.map(str::to_string).collect());
        if column.kind == Kind::Floats {
            // Exponents and mantissas compress far better apart than together.
            properties = properties
                .set_column_dictionary_enabled(leaf.clone(), false)
                .set_column_encoding(leaf, Encoding::BYTE_STREAM_SPLIT);
        } else if column.kind == Kind::Double {
            properties = properties.set_column_dictionary_enabled(leaf, false);
        }
    }
    Ok(properties.build())
}

#[cfg(test)]
mod tests {
    use super::super::rows::Cell;
    use super::*;

    #[test]
    fn a_part_reads_back_as_written_and_carries_the_run() {
        let dir = tempfile::tempdir().unwrap();
        let path = path(dir.path(), "activations", "m", "d", 3);
        assert!(path.ends_with("activations/model=m/dataset=d/part-00003.parquet"));
        let mut rows = Rows::of("activations").unwrap();
        for layer in 0..3 {
            let vector = Cell::Floats(vec![0.5, -1.25, layer as f32]);
            let key: [Cell; 3] = ["1".into(), "baseline".into(), 0.into()];
            let [a, b, c] = key;
            rows.push([a, b, c, layer.into(), "last_token".into(), 3.into(), vector]).unwrap();
        }
        write(&path, rows, "abc").unwrap();
        let file = std::fs::File::open(&path).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        let metadata = reader.metadata().file_metadata().key_value_metadata().unwrap().clone();
        assert!(metadata.iter().any(|kv| kv.key == "sago.run_id" && kv.value.as_deref() == Some("abc")));
        let column = reader.metadata().row_group(0).columns().last().unwrap().clone();
        assert!(column.encodings().any(|e| e == Encoding::BYTE_STREAM_SPLIT));
        let batch = reader.build().unwrap().next().unwrap().unwrap();
        assert_eq!(batch.num_rows(), 3);
        assert_eq!(batch.schema().fields(), Table::named("activations").unwrap().schema().fields());
    }
}
