//! The same results for any number of partitions, and files that every reader opens.

use std::fs::{File, create_dir_all, read_dir, write};

use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use sago::query::{Analysis, Kind, Model, Session};

use crate::published::published_run;
use crate::run::{Run, Value, create, scratch, values};

/// The same rows in another order, each part cut into several.
fn scattered(run: &Run, seed: u32) -> Run {
    let other = Run::new();
    for file in sago::store::files::files_below(run.path()).unwrap() {
        let name = file.strip_prefix(run.path()).unwrap().to_path_buf();
        if name.extension().is_none_or(|e| e != "parquet") || name.starts_with("analysis") {
            continue;
        }
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&file).unwrap()).unwrap();
        let schema = reader.schema().clone();
        let batches: Vec<_> = reader.build().unwrap().collect::<Result<_, _>>().unwrap();
        let rows = arrow::compute::concat_batches(&schema, &batches).unwrap();
        let mut order: Vec<u32> = (0..rows.num_rows() as u32).collect();
        // A fixed scramble: by the digits of a multiplicative hash.
        order.sort_by_key(|row| (row + 1).wrapping_mul(2_654_435_761).rotate_left(seed));
        let parts = if name.components().count() > 2 { 3 } else { 1 };
        for part in 0..parts {
            let rows_of_part = order.iter().copied().filter(|row| row % parts == part).collect::<Vec<_>>();
            let taken =
                arrow::compute::take_record_batch(&rows, &arrow::array::UInt32Array::from(rows_of_part)).unwrap();
            let path = other.path().join(&name);
            let path = if parts > 1 { path.with_file_name(format!("part-{}-{part}.parquet", seed % 7)) } else { path };
            create_dir_all(path.parent().unwrap()).unwrap();
            let mut writer =
                parquet::arrow::ArrowWriter::try_new(File::create(path).unwrap(), schema.clone(), None).unwrap();
            writer.write(&taken).unwrap();
            writer.close().unwrap();
        }
    }
    other
}

/// A run from raw tables: two models, two data sets, three prompts, numbers from sines.
pub fn raw_run() -> Run {
    let session = scratch();
    let run = Run::new();
    run.table(&session, "models", "select * from (values ('a', 3), ('b', 3)) as t (model, layers)");
    create(
        &session,
        "wordings",
        "select d.dataset, cast(p.value as varchar) as prompt_id, 'v' || v.value as variant_id, v.value as v,
                 p.value + 10.0 * v.value as x
             from (values ('d'), ('e')) as d (dataset) cross join range(0, 3) as p cross join range(0, 20) as v",
    )
    .unwrap();
    run.table(
        &session,
        "variants",
        "select dataset, prompt_id, variant_id, 'noise' as family, 'spacing' as subtype, 'global' as place,
             cast(v as varchar) as level, v = 0 as is_baseline, 'v0' as baseline_id, true as is_valid, '' as text
         from wordings",
    );
    create(&session, "keyed", "select * from (values ('a'), ('b')) as m (model) cross join wordings").unwrap();
    run.table(
        &session,
        "activations",
        "select *, l.value as layer, 'last_token' as pooling,
             make_array(sin(x), cos(x + l.value), sin(2 * x), cos(x * x), sin(x + 1)) as vector
         from keyed cross join range(0, 4) as l",
    );
    run.table(
        &session,
        "forced",
        "select *, make_array(-abs(sin(x)), -abs(cos(x))) as logprobs, make_array(sin(x) + 2, cos(x) + 2) as entropies,
             make_array(abs(sin(x)) / 2, 0.1) as jsds
         from keyed where model = 'a'",
    );
    run.table(&session, "similarities", "select *, abs(sin(x)) as bleu, abs(cos(x)) as bertscore_f1 from keyed");
    run.table(
        &session,
        "generations",
        "select *, 'text' as response, make_array(-abs(sin(x)), -abs(cos(x))) as logprobs from keyed",
    );
    run
}

/// Every derived table by name, rows in the order of its key; views are computed.
fn tables(run: &Run, threads: usize) -> Vec<(String, Vec<Vec<Value>>)> {
    let analysis = Analysis::default().with_threads(threads);
    analysis.run(run.path()).unwrap();
    let computing = analysis.open(run.path()).unwrap();
    let read = |model: &Model| {
        if model.contract.kind == Kind::View {
            let sql = format!("select * from {} order by {}", model.name, model.contract.unique.join(", "));
            return values(&computing.query(&sql).unwrap());
        }
        // One partition reads the rows as they stand.
        let session = Session::new(Some(1)).unwrap();
        session.register_file("t", &run.path().join("analysis").join(format!("{}.parquet", model.name))).unwrap();
        values(&session.query("select * from t").unwrap())
    };
    let graph = analysis.graph(run.path()).unwrap();
    graph.models().iter().map(|model| (model.name.clone(), read(model))).collect()
}

/// Deltas are differences: what a delta of 0 is off by is measured against the values it is the difference of.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => (a - b).abs() <= 1e-12 * a.abs().max(1.0),
        _ => a == b,
    }
}

fn assert_same(expected: &[(String, Vec<Vec<Value>>)], found: &[(String, Vec<Vec<Value>>)], how: &str) {
    assert_eq!(expected.len(), found.len());
    for ((name, expected), (_, found)) in expected.iter().zip(found) {
        assert_eq!(expected.len(), found.len(), "{name}, {how}");
        for (expected, found) in expected.iter().zip(found) {
            let equal = expected.len() == found.len() && expected.iter().zip(found).all(|(a, b)| same(a, b));
            assert!(equal, "{name}, {how}: {expected:?} {found:?}");
        }
    }
}

/// Fault of another tool: float sums vary with partitioning (<https://github.com/apache/datafusion/issues/11264>).
#[test]
fn partitions_order_and_files_change_no_table() {
    for run in [published_run(), raw_run()] {
        let one = tables(&run, 1);
        assert!(one.iter().any(|(name, rows)| name == "significance_model" && rows.len() > 20));
        for threads in [2, 7] {
            assert_same(&one, &tables(&run, threads), &format!("{threads} threads"));
        }
        for (seed, threads) in [(5, 1), (16, 2), (23, 7)] {
            assert_same(&one, &tables(&scattered(&run, seed), threads), &format!("rows scattered, {threads} threads"));
        }
    }
}

#[test]
fn a_run_that_is_being_written_can_be_read() {
    let run = raw_run();
    let expected = values(&run.session().query("select count(*) from similarities").unwrap());
    // A part under its temporary name, a partition without parts, a table without partitions.
    let partition = run.path().join("similarities/model=a/dataset=d");
    write(partition.join("part-1.parquet.tmp"), "half a pa").unwrap();
    create_dir_all(run.path().join("similarities/model=c/dataset=d")).unwrap();
    create_dir_all(run.path().join("drift")).unwrap();
    let session = run.session();
    assert_eq!(values(&session.query("select count(*) from similarities").unwrap()), expected);
    assert_eq!(values(&session.query("select count(*) from drift").unwrap()), [[Value::Number(0.0)]]);
    // Derived tables are there before they are written.
    let Value::Number(rows) = values(&session.query("select count(*) from sgs_dataset").unwrap())[0][0] else {
        panic!()
    };
    assert!(rows > 0.0);
    run.analyze();
}

#[test]
fn partitions_are_read_from_the_path() {
    let session = scratch();
    let run = Run::new();
    run.table(
        &session,
        "similarities",
        "select 'SmolLM2-135M_v.1' as model, 'natural questions (é)' as dataset, 'p' as prompt_id, 0.5 as bleu",
    );
    let rows = values(&run.session().query("select model, dataset, bleu from similarities").unwrap());
    let text = |text: &str| Value::Text(text.to_string());
    assert_eq!(rows, [[text("SmolLM2-135M_v.1"), text("natural questions (é)"), Value::Number(0.5)]]);
}

/// Faults of other tools: half floats and fixed-size lists misread (<https://github.com/pola-rs/polars/issues/21803>,
/// <https://github.com/duckdb/duckdb/issues/17238>).
#[test]
fn files_hold_plain_types_and_nothing_else_is_left() {
    let run = published_run();
    let written = run.analyze();
    let mut files = 0;
    for file in read_dir(run.path().join("analysis")).unwrap() {
        let path = file.unwrap().path();
        if path.file_name().unwrap() == "SHA256SUMS" {
            continue;
        }
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
