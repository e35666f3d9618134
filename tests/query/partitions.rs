//! The same results for any number of partitions, and files that every reader opens.

use std::fs::{File, read_dir};

use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use sago::query::{Analysis, Session};

use crate::published::published_run;
use crate::run::{Value, values};

#[test]
fn one_two_and_seven_partitions_give_the_same_tables() {
    let run = published_run();
    let tables = |threads: usize| -> Vec<(String, Vec<Vec<Value>>)> {
        let written = Analysis::default().with_threads(threads).run(run.path()).unwrap();
        let read = |name: &str| {
            let file = run.path().join("analysis").join(format!("{name}.parquet"));
            // One partition reads the rows in the order of the file.
            let session = Session::new(Some(1)).unwrap();
            session.register_file("t", &file).unwrap();
            values(&session.query("select * from t").unwrap())
        };
        written.iter().map(|table| (table.name.clone(), read(&table.name))).collect()
    };
    let one = tables(1);
    assert!(one.iter().any(|(name, rows)| name == "significance_model" && !rows.is_empty()));
    for threads in [2, 7] {
        for ((name, expected), (_, found)) in one.iter().zip(tables(threads)) {
            assert_eq!(expected.len(), found.len(), "{name}");
            for (expected, found) in expected.iter().zip(&found) {
                let same = expected.iter().zip(found).all(|pair| match pair {
                    (Value::Number(a), Value::Number(b)) => (a - b).abs() <= 1e-12 * a.abs().max(1e-300),
                    (a, b) => a == b,
                });
                assert!(same, "{name} with {threads}: {expected:?} {found:?}");
            }
        }
    }
}

#[test]
fn files_hold_plain_types_and_nothing_else_is_left() {
    let run = published_run();
    let written = run.analyze();
    let mut files = 0;
    for file in read_dir(run.path().join("analysis")).unwrap() {
        let path = file.unwrap().path();
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap();
        for field in reader.schema().fields() {
            let plain =
                ["Utf8", "Float64", "Int64", "Int32", "Boolean"].contains(&field.data_type().to_string().as_str());
            assert!(plain, "{}: {field}", path.display());
        }
        assert_eq!(path.extension().unwrap(), "parquet");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o444, 0o444);
        }
        files += 1;
    }
    assert_eq!(files, written.len());
    // Again: the files are replaced.
    assert_eq!(run.analyze().iter().map(|t| t.rows).sum::<u64>(), written.iter().map(|t| t.rows).sum::<u64>());
}
