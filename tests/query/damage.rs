//! Damaged files and statements that are no queries: one error that names the place.

use std::fs::{File, create_dir_all, read, remove_file, write};
use std::path::Path;

use parquet::arrow::ArrowWriter;
use sago::query::{Session, check_contracts, is_analyzed};

use crate::run::{Run, numbers, scratch};

fn fault(session: &Session, sql: &str) -> String {
    session.query(sql).unwrap_err().to_string()
}

fn with(file: &Path, content: impl AsRef<[u8]>) -> String {
    write(file, content).unwrap();
    fault(&scratch(), &format!("select * from '{}'", file.display()))
}

/// A run of two wordings, from one model, with scores.
fn small_run() -> Run {
    let session = scratch();
    let run = Run::new();
    run.table(&session, "models", "select 'm' as model, 2 as layers");
    run.table(
        &session,
        "variants",
        "select 'd' as dataset, 'p' as prompt_id, v as variant_id, 'noise' as family, 'spacing' as subtype,
             'global' as place, v as level, v = 'b' as is_baseline, 'b' as baseline_id, true as is_valid, '' as text
         from (values ('b'), ('w')) as t (v)",
    );
    run.table(
        &session,
        "similarities",
        "select 'm' as model, 'd' as dataset, 'p' as prompt_id, v as variant_id, x as bleu
         from (values ('b', 1.0), ('w', 0.5)) as t (v, x)",
    );
    run.table(
        &session,
        "generations",
        "select 'm' as model, 'd' as dataset, 'p' as prompt_id, v as variant_id, 'text' as response
         from (values ('b'), ('w')) as t (v)",
    );
    run
}

#[test]
fn damaged_parquet_is_one_error_that_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let rows = scratch().query("select value as i, 'text ' || value as t from range(0, 5000)").unwrap();
    let whole = folder.path().join("whole.parquet");
    let mut writer = ArrowWriter::try_new(File::create(&whole).unwrap(), rows[0].schema(), None).unwrap();
    rows.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.close().unwrap();
    let whole = read(&whole).unwrap();
    let file = folder.path().join("rows.parquet");
    let cut = [&whole[..whole.len() / 2], b"PAR1"].concat();
    for bytes in [&b"PAR1xxxxPAR1"[..], b"", b"PAR1", &cut] {
        let text = with(&file, bytes);
        assert!(text.contains("rows.parquet is damaged"), "{text}");
    }
    // Any byte: the rows, or an error that names the file; never a panic that gets through.
    let mut refused = 0;
    for at in (0..whole.len()).step_by(whole.len() / 150) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        write(&file, bytes).unwrap();
        if let Err(error) = scratch().query(&format!("select max(i), max(t) from '{}'", file.display())) {
            assert!(error.to_string().contains("rows.parquet"), "{at}: {error}");
            refused += 1;
        }
    }
    assert!(refused > 0);
}

#[test]
fn statements_that_would_change_something_are_refused() {
    let session = scratch();
    for sql in [
        "create table x as select 1",
        "create view x as select 1",
        "drop table x",
        "drop table if exists x",
        "set datafusion.execution.batch_size = 1",
        "prepare p as select 1",
        "copy (select 1) to 'x.csv'",
    ] {
        let text = fault(&session, sql);
        assert!(text.contains("only queries"), "{sql}: {text}");
    }
    for sql in ["show tables", "explain select 1", "values (1)", "with a as (select 1) select * from a"] {
        session.query(sql).unwrap();
    }
}

#[test]
fn broken_json_is_placed_by_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let lines = "{\"x\": 1}\n".repeat(5);
    let text = with(&folder.path().join("rows.jsonl"), format!("{lines}\n{{\"x\": 1, y}}\n{{\"x\": 1}}\n"));
    assert!(text.contains("rows.jsonl, line 7") && !text.contains("line 1"), "{text}");
    let text = with(&folder.path().join("list.jsonl"), format!("{lines}[1]\n"));
    assert!(text.contains("list.jsonl, line 6") && text.contains("no object"), "{text}");
    let text = with(&folder.path().join("rows.json"), "[\n{\"x\": 1},\n{\"x\": 1, y}\n]\n");
    assert!(text.contains("rows.json, line 3"), "{text}");
}

#[test]
fn broken_csv_is_placed_by_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let text = with(&folder.path().join("rows.csv"), "id,text\n1,a\n2,\"b\n3,c\n4,d\n");
    assert!(text.contains("never closed") && text.contains("rows.csv, line 3"), "{text}");
    let text = with(&folder.path().join("twice.tsv"), "id\ttext\ttext\n1\ta\tb\n");
    assert!(text.contains("two columns \"text\"") && text.contains("twice.tsv, line 1"), "{text}");
    let good = folder.path().join("good.csv");
    write(&good, "id,text\n1,\"a \"\"b\"\"\nc\"\n2,5\" disk\n3,\"\"\n").unwrap();
    assert_eq!(numbers(&scratch(), &format!("select count(*) from '{}'", good.display())), [3.0]);
}

#[test]
fn a_query_that_is_too_deep_is_refused_and_a_long_one_is_not() {
    let session = scratch();
    for sql in [
        format!("select 1{}", "+1".repeat(20_000)),
        format!("select 1{}", " union all select 1".repeat(20_000)),
        format!("select true{}", " and 1 = 1".repeat(20_000)),
    ] {
        assert!(fault(&session, &sql).contains("nested too deeply"));
    }
    // What is let pass has to fit the stack.
    assert_eq!(numbers(&session, &format!("select value{} from range(0, 1)", "+1".repeat(1900))), [1900.0]);
    assert_eq!(session.query(&format!("select 1{}", " union all select 1".repeat(400))).unwrap().len(), 401);
    let list: Vec<String> = (0..20_000).map(|i| format!("(-{i})")).collect();
    let sql = format!("select count(*) from (values {}) as t (x)", list.join(", "));
    assert_eq!(numbers(&session, &sql), [20_000.0]);
}

#[test]
fn a_damaged_part_of_a_run_is_named() {
    for content in [&b""[..], b"PAR1xxxxPAR1", b"half a pa"] {
        let run = small_run();
        let part = run.path().join("similarities/model=m/dataset=d/part-0.parquet");
        write(&part, content).unwrap();
        for text in [
            Session::open_run(run.path()).unwrap_err().to_string(),
            sago::query::analyze(run.path()).unwrap_err().to_string(),
        ] {
            assert!(text.contains("similarities/model=m/dataset=d/part-0.parquet"), "{text}");
            assert!(text.contains("delete the file") && text.contains("sago run"), "{text}");
            assert!(text.contains("or says what else to do"), "{text}");
        }
    }
}

#[test]
fn a_run_without_its_prompts_or_wordings_is_no_empty_run() {
    for name in ["prompts.parquet", "variants.parquet"] {
        let run = small_run();
        run.session();
        remove_file(run.path().join(name)).unwrap();
        let text = Session::open_run(run.path()).unwrap_err().to_string();
        assert!(text.contains(name) && text.contains("sago run"), "{text}");
        write(run.path().join(name), "").unwrap();
        let text = Session::open_run(run.path()).unwrap_err().to_string();
        assert!(text.contains(name) && text.contains("damaged"), "{text}");
    }
}

#[test]
fn a_damaged_table_of_the_analysis_is_computed_anew() {
    let run = small_run();
    run.analyze();
    let file = run.path().join("analysis/deltas.parquet");
    let whole = read(&file).unwrap();
    let cut = [&whole[..whole.len() / 2], b"PAR1"].concat();
    for content in [&b""[..], b"PAR1xxxxPAR1", &cut] {
        write(&file, content).unwrap();
        assert!(!is_analyzed(run.path()).unwrap());
        assert_eq!(numbers(&run.session(), "select count(*) from deltas where axis = 'bleu'"), [2.0]);
    }
    remove_file(&file).unwrap();
    create_dir_all(&file).unwrap();
    assert_eq!(numbers(&run.session(), "select count(*) from deltas where axis = 'bleu'"), [2.0]);
}

#[test]
fn a_figure_that_is_no_number_is_reported() {
    let run = small_run();
    // Each promise is a query: on views every one would run the models again.
    run.analyze();
    assert!(check_contracts(run.path()).unwrap().is_empty());
    run.table(
        &scratch(),
        "similarities",
        "select 'm' as model, 'd' as dataset, 'p' as prompt_id, v as variant_id, x as bleu
         from (values ('b', 1.0), ('w', 'NaN'::double)) as t (v, x)",
    );
    run.analyze();
    let found: Vec<String> = check_contracts(run.path()).unwrap().iter().map(ToString::to_string).collect();
    for promise in ["deltas: delta is finite", "instability: s is"] {
        assert!(found.iter().any(|text| text.contains(promise)), "{promise}: {found:?}");
    }
}

#[test]
fn nan_beside_one_value_is_read_as_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rows.parquet");
    let rows = scratch().query("select x from (values (1.0), ('NaN'::double)) as t (x)").unwrap();
    let mut writer = ArrowWriter::try_new(File::create(&file).unwrap(), rows[0].schema(), None).unwrap();
    rows.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.close().unwrap();
    let count = |of: &str| numbers(&scratch(), &format!("select count(*) from '{}' where {of}", file.display()));
    assert_eq!((count("isnan(x)"), count("x = 1")), (vec![1.0], vec![1.0]));
    assert!(numbers(&scratch(), &format!("select max(x) from '{}'", file.display()))[0].is_nan());
}
