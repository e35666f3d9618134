//! A run directory for tests: tables written through the real schemas from rows given as SQL.

use std::collections::BTreeMap;
use std::fs::{File, create_dir_all, write};
use std::path::{Path, PathBuf};

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, new_null_array};
use arrow::compute::{cast, concat_batches};
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use parquet::arrow::ArrowWriter;
use sago::import::Import;
use sago::query::{Materialized, Session, analyze};
use sago::store::schema::{Kind, Table};
use tempfile::TempDir;

/// A run in a temporary directory.
pub struct Run {
    folder: TempDir,
}

impl Run {
    pub fn new() -> Run {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path().join("plan.json"), "{}").unwrap();
        Run { folder }
    }

    /// A run that an import makes.
    pub fn imported(import: &Import) -> Result<Run, sago::Error> {
        let folder = tempfile::tempdir().unwrap();
        import.carry_out(folder.path())?;
        Ok(Run { folder })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes the rows of `select` as table `name`: a raw table, where columns may be left out (then NULL, or 0, "",
    /// false, []), or, under any other name, the table that stands in for the model of that name.
    pub fn table(&self, scratch: &Session, name: &str, select: &str) {
        let batches = scratch.query(select).unwrap();
        let rows = concat_batches(&batches[0].schema(), &batches).unwrap();
        match Table::named(name) {
            None => self.write(&format!("given/{name}.parquet"), &rows),
            Some(table) if name == "generations" => {
                // A run that has generated knows its prompts and wordings, be there none.
                for name in ["prompts", "variants"] {
                    if !self.path().join(name).with_extension("parquet").is_file() {
                        let none = RecordBatch::new_empty(Table::named(name).unwrap().schema());
                        self.write(&format!("{name}.parquet"), &none);
                    }
                }
                self.write_parts(table, &rows);
            }
            Some(table) if table.partitioned => self.write_parts(table, &rows),
            Some(table) => self.write(&format!("{name}.parquet"), &in_schema(table, &rows)),
        }
    }

    fn write_parts(&self, table: &Table, rows: &RecordBatch) {
        for (partition, rows) in by_partition(rows) {
            self.write(&format!("{}/{partition}/part-0.parquet", table.name), &in_schema(table, &rows));
        }
    }

    fn write(&self, file: &str, rows: &RecordBatch) {
        let path: PathBuf = self.path().join(file);
        create_dir_all(path.parent().unwrap()).unwrap();
        let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), rows.schema(), None).unwrap();
        writer.write(rows).unwrap();
        writer.close().unwrap();
    }

    pub fn analyze(&self) -> Vec<Materialized> {
        analyze(self.path()).unwrap()
    }

    pub fn session(&self) -> Session {
        Session::open_run(self.path()).unwrap()
    }
}

/// The rows with the columns of a raw table, in its order and types.
fn in_schema(table: &Table, rows: &RecordBatch) -> RecordBatch {
    let columns = table.columns.iter().map(|column| match rows.column_by_name(column.name) {
        Some(values) => cast(values, &column.kind.data_type()).unwrap(),
        None if column.nullable => new_null_array(&column.kind.data_type(), rows.num_rows()),
        None => blank(column.kind, rows.num_rows()),
    });
    RecordBatch::try_new(table.schema(), columns.collect()).unwrap()
}

fn blank(kind: Kind, rows: usize) -> ArrayRef {
    let blank = match kind {
        Kind::Text => "''",
        Kind::Double | Kind::Int | Kind::Long => "0",
        Kind::Flag => "false",
        Kind::Texts | Kind::Ints | Kind::Floats => "make_array()",
    };
    let session = Session::new(Some(1)).unwrap();
    let one = session.query(&format!("select {blank} as x")).unwrap();
    let values = arrow::compute::take(one[0].column(0), &arrow::array::UInt32Array::from(vec![0; rows]), None).unwrap();
    cast(&values, &kind.data_type()).unwrap()
}

/// The rows of each (model, data set) under its path, as the writers of a run lay them out.
fn by_partition(rows: &RecordBatch) -> BTreeMap<String, RecordBatch> {
    let key = |name: &str| cast(rows.column_by_name(name).unwrap(), &DataType::Utf8).unwrap();
    let (model, dataset) = (key("model"), key("dataset"));
    let (model, dataset) = (model.as_string::<i32>(), dataset.as_string::<i32>());
    let mut parts: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for i in 0..rows.num_rows() {
        let partition = format!("model={}/dataset={}", model.value(i), dataset.value(i));
        parts.entry(partition).or_default().push(i as u32);
    }
    let take = |rows_of_part: Vec<u32>| {
        arrow::compute::take_record_batch(rows, &arrow::array::UInt32Array::from(rows_of_part)).unwrap()
    };
    parts.into_iter().map(|(partition, rows)| (partition, take(rows))).collect()
}

/// One value of a result, for comparison.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Number(f64),
    Text(String),
}

/// All rows of a result.
pub fn values(batches: &[RecordBatch]) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    for batch in batches {
        for row in 0..batch.num_rows() {
            rows.push(batch.columns().iter().map(|column| value(column, row)).collect());
        }
    }
    rows
}

fn value(column: &ArrayRef, row: usize) -> Value {
    if column.is_null(row) {
        return Value::Null;
    }
    match column.data_type() {
        DataType::Float64 => Value::Number(column.as_primitive::<Float64Type>().value(row)),
        t if t.is_integer() => {
            let whole = cast(column, &DataType::Int64).unwrap();
            Value::Number(whole.as_primitive::<Int64Type>().value(row) as f64)
        }
        _ => {
            let text = cast(column, &DataType::Utf8).unwrap();
            Value::Text(text.as_string::<i32>().value(row).to_string())
        }
    }
}

/// The numbers of a result of one column.
pub fn numbers(session: &Session, sql: &str) -> Vec<f64> {
    let rows = values(&session.query(sql).unwrap());
    rows.into_iter().map(|row| if let Value::Number(x) = row[0] { x } else { panic!("{row:?} of {sql}") }).collect()
}

/// Whether two numbers are the same to a relative 1e-9, or an absolute 1e-12 where the expected one is as small.
pub fn close(found: f64, expected: f64) -> bool {
    let tolerance = if expected.abs() < 1e-12 { 1e-12 } else { 1e-9 * expected.abs() };
    (found - expected).abs() <= tolerance
}

/// Names the rows of a query as a table; a session itself refuses `create table`.
pub fn create(session: &Session, name: &str, select: &str) -> Result<(), sago::Error> {
    let batches = session.query(select)?;
    session.register_batches(name, batches[0].schema(), batches)
}

/// A session without a run, to make rows in.
pub fn scratch() -> Session {
    Session::new(Some(2)).unwrap()
}
