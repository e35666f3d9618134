//! Queries on plain files, without a run.

use std::fs::write;

use sago::query::Session;

use crate::run::{Value, numbers, scratch, values};

#[test]
fn every_ending_is_read() {
    let folder = tempfile::tempdir().unwrap();
    // A name with what URLs and globs would take as their own.
    let file = |ending: &str| folder.path().join(format!("rows [1] 50%? é.{ending}"));
    write(file("csv"), "\u{feff}id,text,x\n1,\"a, b\nc\",0.5\n2,d,\n").unwrap();
    write(file("tsv"), "id\ttext\tx\n1\t\"a, b\nc\"\t0.5\n2\td\t\n").unwrap();
    let lines = "{\"id\": 1, \"text\": \"a, b\\nc\", \"x\": 0.5}\n{\"id\": 2, \"text\": \"d\", \"x\": null}\n";
    write(file("jsonl"), lines).unwrap();
    write(file("ndjson"), lines).unwrap();
    write(file("json"), format!("[{}]", lines.trim_end().replace('\n', ",\n"))).unwrap();
    let session = scratch();
    for ending in ["csv", "tsv", "jsonl", "ndjson", "json"] {
        let sql = format!("select id, text, x from '{}' order by id", file(ending).display());
        let rows = values(&session.query(&sql).unwrap());
        let expected = [
            vec![Value::Number(1.0), Value::Text("a, b\nc".into()), Value::Number(0.5)],
            vec![Value::Number(2.0), Value::Text("d".into()), Value::Null],
        ];
        assert_eq!(rows, expected, "{ending}");
        session.register_file("named", &file(ending)).unwrap();
        assert_eq!(numbers(&session, "select id from named order by id"), [1.0, 2.0]);
    }
}

#[test]
fn a_json_file_by_line_is_read_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lines.json");
    write(&file, "{\"x\": 1}\n{\"x\": 2}\n").unwrap();
    assert_eq!(numbers(&scratch(), &format!("select sum(x) from '{}'", file.display())), [3.0]);
}

#[test]
fn an_array_that_is_not_whole_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rows.json");
    for (text, column) in [("[{\"a\": 1},\n{\"a\": 2}", 8), ("[{\"a\": 1},\n{\"a\": 2}] x", 11)] {
        write(&file, text).unwrap();
        let error = scratch().query(&format!("select * from '{}'", file.display())).unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains(&format!("column {column}")), "{error}");
    }
}

#[test]
fn columns_are_made_out_from_all_rows() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("late.csv");
    let numbers: String = (0..3000).map(|i| format!("{i}\n")).collect();
    write(&file, format!("x\n{numbers}none\n")).unwrap();
    let rows = values(&scratch().query(&format!("select max(x) from '{}'", file.display())).unwrap());
    assert_eq!(rows, [vec![Value::Text("none".into())]]);
}

#[test]
fn a_function_on_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pairs.jsonl");
    write(
        &file,
        "{\"reference\": \"the cat sat on the mat\", \"candidate\": \"the cat sat on the mat\"}\n{\"reference\": null, \"candidate\": \"x\"}\n",
    )
    .unwrap();
    let rows =
        values(&scratch().query(&format!("select bleu(reference, candidate) from '{}'", file.display())).unwrap());
    let Value::Number(identical) = rows[0][0] else { panic!("{rows:?}") };
    assert!((identical - 1.0).abs() < 1e-12);
    assert_eq!(rows[1], [Value::Null]);
}

#[test]
fn faults_say_what_is_wrong() {
    let session = scratch();
    let error = |sql: &str| session.query(sql).unwrap_err().to_string();
    assert!(error("select * from 'no/such.jsonl'").contains("could not open no/such.jsonl"));
    assert!(error("select * from nowhere").contains("nowhere"));
    assert!(error("select frobnicate(1)").contains("frobnicate"));
    assert!(error("select bleu('a')").contains("bleu"));
    assert!(error("select cosine([1.0, 2.0], [1.0])").contains("2 and 1 elements"));
    assert!(error("select t_test_p(x, m) from (values (1.0, 0.1), (2.0, 0.2)) as t (x, m)").contains("one popmean"));
    assert!(error("copy (select 1) to 'x.csv'").contains("DML"));
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [("broken.jsonl", "{\"x\": 1}\n{\"x\": "), ("broken.parquet", "PAR1"), ("empty.csv", "")] {
        let file = folder.path().join(name);
        write(&file, content).unwrap();
        let text = error(&format!("select * from '{}'", file.display()));
        assert!(text.contains(name), "{text}");
    }
    assert!(
        session.register_file("t", std::path::Path::new("x.docx")).unwrap_err().to_string().contains(".parquet, .csv")
    );
}

#[test]
fn a_folder_that_is_no_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = Session::open_run(folder.path()).unwrap_err().to_string();
    assert!(error.contains("is not a run") && error.contains("plan.json"), "{error}");
    let error = Session::open_run(&folder.path().join("x")).unwrap_err().to_string();
    assert!(error.contains("no such folder"), "{error}");
}

#[test]
fn a_session_works_inside_another_runtime() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let found = runtime.block_on(async { numbers(&scratch(), "select 1 + 1") });
    assert_eq!(found, [2.0]);
    let found = futures::executor::block_on(async { numbers(&scratch(), "select 1 + 1") });
    assert_eq!(found, [2.0]);
}
