//! Same rows: whether two Parquet files of a derived table agree.
//!
//! In: two files, sorted by the same key. Out: the first place in which they differ by more than rounding.
//! Both are read a batch at a time: a table need not fit in memory.

use std::fs::File;
use std::path::Path;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Float64Type};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::damage::{self, IN_ANALYSIS, caught, damaged};
use super::promises::{named, row, value};
use crate::{Error, Result};

/// Rows read at once.
const BATCH: usize = 32_768;

/// Numbers are the same within this, relative to those above 1: sums differ in their last bits by the order of rows.
const ROUNDING: f64 = 1e-12;

/// The first difference of a `stored` table from the `computed` one, as a sentence; `key` names the row.
pub(super) fn first_difference(stored: &Path, computed: &Path, key: &[String]) -> Result<Option<String>> {
    let name = stored.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (mut left, mut right) = (Batches::open(stored)?, Batches::open(computed)?);
    let names = |b: &Batches| b.columns.iter().map(|(n, t)| format!("{n} {t}")).collect::<Vec<_>>().join(", ");
    if left.columns != right.columns {
        return Ok(Some(format!("{name} has the columns ({}), not ({})", names(&left), names(&right))));
    }
    if left.rows != right.rows {
        return Ok(Some(format!("{name} has {} rows, not {}", left.rows, right.rows)));
    }
    while let (Some(a), Some(b)) = (left.next()?, right.next()?) {
        if let Some((column, at)) = difference(&a, &b) {
            let shown = |batch: &RecordBatch| batch.columns().get(column).map_or(String::new(), |c| value(c, at));
            let field = a.schema().fields().get(column).map_or(String::new(), |f| f.name().clone());
            let place: Vec<(String, String)> = row(&b, at).into_iter().filter(|(n, _)| key.contains(n)).collect();
            let (a, b) = (shown(&a), shown(&b));
            return Ok(Some(format!("{name}: {field} is {a}, not {b}, at {}", named(&place))));
        }
    }
    Ok(None)
}

/// The batches of a file, all of one size but the last.
struct Batches {
    file: std::path::PathBuf,
    columns: Vec<(String, DataType)>,
    rows: i64,
    reader: parquet::arrow::arrow_reader::ParquetRecordBatchReader,
}

impl Batches {
    fn open(path: &Path) -> Result<Batches> {
        let file = File::open(path).map_err(Error::io("open", path))?;
        let unreadable = |found: String| damaged(path, found, IN_ANALYSIS);
        damage::footer(path).map_err(unreadable)?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|e| unreadable(e.to_string()))?;
        let fields = builder.schema().fields().iter();
        let columns = fields.map(|f| (f.name().clone(), f.data_type().clone())).collect();
        let rows = builder.metadata().file_metadata().num_rows();
        let reader = builder.with_batch_size(BATCH).build().map_err(|e| unreadable(e.to_string()))?;
        Ok(Batches { file: path.to_path_buf(), columns, rows, reader })
    }

    fn next(&mut self) -> Result<Option<RecordBatch>> {
        let batch = caught(|| self.reader.next().transpose().map_err(|e| e.to_string()));
        batch.map_err(|found| damaged(&self.file, found, IN_ANALYSIS))
    }
}

/// Column and row of the first difference.
fn difference(a: &RecordBatch, b: &RecordBatch) -> Option<(usize, usize)> {
    let columns = a.columns().iter().zip(b.columns()).enumerate();
    let first = columns.filter_map(|(column, (a, b))| Some((first_unequal(a, b)?, column)));
    first.min().map(|(row, column)| (column, row))
}

fn first_unequal(a: &ArrayRef, b: &ArrayRef) -> Option<usize> {
    if a.len() != b.len() {
        return Some(a.len().min(b.len()));
    }
    match (a.data_type(), b.data_type()) {
        (DataType::Float64, DataType::Float64) => {
            let (a, b) = (a.as_primitive::<Float64Type>(), b.as_primitive::<Float64Type>());
            a.iter().zip(b).position(|(a, b)| !same(a, b))
        }
        (DataType::List(_), DataType::List(_)) => {
            let (a, b) = (a.as_list::<i32>(), b.as_list::<i32>());
            a.iter().zip(b.iter()).position(|(a, b)| match (a, b) {
                (Some(a), Some(b)) => first_unequal(&a, &b).is_some(),
                (a, b) => a.is_some() != b.is_some(),
            })
        }
        _ if a.to_data() == b.to_data() => None,
        _ => (0..a.len()).find(|&at| a.slice(at, 1).to_data() != b.slice(at, 1).to_data()),
    }
}

fn same(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= ROUNDING * a.abs().max(1.0),
        (a, b) => a.is_some() == b.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Session;
    use parquet::arrow::ArrowWriter;

    fn difference_of(stored: &str, computed: &str) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, sql: &str| {
            let path = folder.path().join(name);
            let rows = Session::new(Some(1)).unwrap().query(sql).unwrap();
            let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), rows[0].schema(), None).unwrap();
            rows.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.close().unwrap();
            path
        };
        first_difference(&write("t.parquet", stored), &write("other.parquet", computed), &["k".to_string()]).unwrap()
    }

    #[test]
    fn rounding_is_no_difference_and_anything_more_is() {
        let rows = |x: &str| format!("select value as k, 1e6 + {x} as x, [0.5, null] as l from range(0, 40000)");
        assert_eq!(difference_of(&rows("0.0"), &rows("1e-7")), None);
        let off = rows("case when value = 39000 then 1e-5 else 0 end");
        assert_eq!(
            difference_of(&rows("0.0"), &off).unwrap(),
            "t.parquet: x is 1000000.0, not 1000000.00001, at k=39000"
        );
        assert_eq!(
            difference_of("select 1 as k, [0.5, 1.0] as l", "select 1 as k, [0.5, 1.1] as l").unwrap(),
            "t.parquet: l is [0.5, 1.0], not [0.5, 1.1], at k=1"
        );
        assert_eq!(
            difference_of("select 1 as k, 'a' as t", "select 1 as k, null::varchar as t").unwrap(),
            "t.parquet: t is a, not NULL, at k=1"
        );
        assert!(difference_of("select 1 as k", "select 1 as k where false").unwrap().contains("1 rows, not 0"));
        assert!(difference_of("select 1 as k", "select 1.0 as k").unwrap().contains("columns"));
        assert_eq!(difference_of("select 1 as k, 'NaN'::double as x", "select 1 as k, 'NaN'::double as x"), None);
    }
}
