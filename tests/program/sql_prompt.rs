//! `sago sql` through the binary: scripts and pipes, formats, several runs, places of errors, memory.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use sago::query::{Format, Session, print};

use super::{output, sago, text};

/// Runs `sago sql` with arguments; `typed` goes to its standard input.
fn sql(arguments: &[&str], typed: &str) -> Output {
    let mut child = sago(&[&["sql"], arguments].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// What a query prints; it must succeed.
fn answer(arguments: &[&str]) -> String {
    let out = sql(arguments, "");
    assert!(out.status.success(), "{arguments:?}: {}", text(&out.stderr));
    text(&out.stdout)
}

/// What is said about a query that must be refused; nothing of it may reach stdout.
fn refusal(arguments: &[&str], typed: &str) -> String {
    let out = sql(arguments, typed);
    assert_eq!(out.status.code(), Some(2), "{arguments:?}: {}", text(&out.stderr));
    text(&out.stderr)
}

/// A run that knows only its models and its deltas, as `select`.
fn run(folder: &Path, name: &str, deltas: &str) -> PathBuf {
    let run = folder.join(name);
    fs::create_dir_all(run.join("given")).unwrap();
    for file in ["plan.json", "manifest.json"] {
        fs::write(run.join(file), "{}").unwrap();
    }
    let session = Session::new(Some(1)).unwrap();
    let mut file = Vec::new();
    print(&session.query(deltas).unwrap(), Format::Parquet, &mut file).unwrap();
    fs::write(run.join("given/deltas.parquet"), file).unwrap();
    run
}

const DELTAS: &str = "select 'm' as model, 'd' as dataset, 'p' as prompt_id, 'v' as variant_id, 0 as repeat, \
                      'cos' as axis, 0.5 as value, -0.25 as delta";

#[test]
fn statements_of_a_pipe_and_of_a_file_run_in_order() {
    let piped = sql(&["--format", "csv"], "select 1 as a;\n-- between; them\nselect ';' as b;select 3\n as c");
    assert_eq!(text(&piped.stdout), "a\n1\nb\n;\nc\n3\n", "{}", text(&piped.stderr));

    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("two.sql");
    fs::write(&file, "\\format ndjson\nselect 1 as a; -- done\n\\format markdown\nselect 2 as b").unwrap();
    assert_eq!(answer(&["-f", &file.to_string_lossy()]), "{\"a\":1}\n\n| b |\n| ---: |\n| 2 |\n");
    assert!(refusal(&[], " -- nothing\n").contains("there is no query"));

    // What comes before an error was done, what comes after it is not.
    let half = sql(&["--format", "csv"], "select 1 as a; select x; select 2 as b");
    assert_eq!((half.status.code(), text(&half.stdout).as_str()), (Some(2), "a\n1\n"));
    let left = sql(&["--format", "csv"], "select 1 as a;\n\\q\nselect 2 as b;");
    assert_eq!((left.status.code(), text(&left.stdout).as_str()), (Some(0), "a\n1\n"));
    let timed = sql(&["--format", "csv"], "\\timing\nselect 1 as a;");
    assert!(text(&timed.stderr).contains("timing is on\ntime: 0."), "{}", text(&timed.stderr));
}

#[test]
fn errors_show_the_place() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("q.sql").to_string_lossy().into_owned();
    fs::write(&file, "select 1;\n\nselect model, sum(detla)\n  from 'rows.csv' group by model;\n").unwrap();
    let rows = dir.path().join("rows.csv").to_string_lossy().into_owned();
    fs::write(&rows, "model,delta\nm,1\n").unwrap();
    let in_folder = |arguments: &[&str]| {
        let out = sago(&[&["sql"], arguments].concat()).current_dir(dir.path()).output().unwrap();
        assert_eq!(out.status.code(), Some(2), "{}", text(&out.stderr));
        text(&out.stderr)
    };
    assert_eq!(
        in_folder(&["-f", "q.sql"]),
        "error: query: there is no column detla\n  at q.sql, line 3, column 19\n  \
         3 | select model, sum(detla)\n    |                   ^^^^^\n  did you mean delta?\n"
    );
    assert_eq!(
        in_folder(&["-c", "select *\nfrom sgs_model"]),
        "error: query: there is no table sgs_model\n  at line 2, column 6\n  2 | from sgs_model\n    |      \
         ^^^^^^^^^\n  name a run, or a file in quotes: from 'rows.csv'\n"
    );
    assert_eq!(
        in_folder(&["-c", "select 1 as a where"]),
        "error: query: Expected: an expression, found: EOF: the query ends too early\n  at line 1, column 20\n  \
         1 | select 1 as a where\n    |                    ^\n"
    );
    assert!(in_folder(&["-c", "\\dx"]).contains("there is no such command\n  found: \\dx\n"));
    let run = run(dir.path(), "r", DELTAS).to_string_lossy().into_owned();
    let said = refusal(&[&run], "select 1;\nselect * from deltaz");
    // What is to be known of the run comes first.
    let (notes, error) = said.split_once("error: ").unwrap();
    assert!(notes.starts_with("note: ") && notes.contains("`sago analyze RUN` writes them"), "{notes}");
    assert_eq!(
        error,
        "query: there is no table deltaz\n  at line 2, column 15\n  2 | select * from deltaz\n    \
         |               ^^^^^^\n  did you mean deltas?\n"
    );
    fs::write(&file, "select 1 as one;\nselect delta::int from 'bad.csv';").unwrap();
    fs::write(dir.path().join("bad.csv"), "delta\nx\n").unwrap();
    let cast = in_folder(&["-f", "q.sql"]);
    assert!(cast.contains("Cannot cast string 'x'") && cast.ends_with("in the statement at q.sql, line 2\n"), "{cast}");
}

#[test]
fn a_mean_of_truth_values_says_what_to_write() {
    let said = refusal(&["-c", "select avg(x > 1) from (values (1), (2)) as t (x)"], "");
    assert!(said.contains("avg does not take values of this type") && said.contains("cast(x as int)"), "{said}");
    assert!(!said.contains("bug"), "{said}");
}

#[test]
fn tables_and_columns_tell_what_they_mean() {
    let dir = tempfile::tempdir().unwrap();
    let run = run(dir.path(), "r", DELTAS).to_string_lossy().into_owned();
    let all = answer(&[&run, "-c", "\\d", "--format", "csv"]);
    assert!(all.starts_with("group,table,doc\nraw,prompts,a base prompt\nraw,variants,"), "{all}");
    assert!(all.contains("\nstability,deltas,how far a wording moves an axis from its baseline\n"), "{all}");
    let shown = answer(&[&run, "-c", "\\d"]);
    assert_eq!(shown.lines().filter(|line| line.trim_start().starts_with("raw ")).count(), 1, "{shown}");

    let deltas = answer(&[&run, "-c", "\\d deltas"]);
    assert!(deltas.starts_with("deltas: how far a wording moves an axis from its baseline\nkey: model, dataset,"));
    let row = deltas.lines().find(|line| line.trim_start().starts_with("axis ")).unwrap();
    assert_eq!(
        row.split_whitespace().collect::<Vec<_>>().join(" "),
        "axis text not NULL what is measured; a row of axes"
    );
    let json = answer(&[&run, "-c", "\\d generations", "--format", "ndjson"]);
    assert!(
        json.contains(r#"{"column":"response","type":"text","null":"NULL","doc":"the new tokens as text"#),
        "{json}"
    );
    assert!(refusal(&[&run, "-c", "\\d delta"], "").contains("did you mean deltas?"));
    assert!(answer(&["-c", "\\df", "--format", "csv"]).contains("\n\"bleu("));
}

const ROWS: &str = "select * from (values \
    ('a,\"b\"', 0.1 + 0.2::double, 9007199254740993, true, [1.5, null]), \
    ('é|\nx', -1e-300, -1, false, [2.0]), (null, null, null, null, null)) as t (name, x, n, flag, list)";

#[test]
fn each_format_is_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let csv = "name,x,n,flag,list\n\"a,\"\"b\"\"\",0.30000000000000004,9007199254740993,true,\"[1.5, null]\"\n\
               \"é|\nx\",-1e-300,-1,false,[2.0]\n,,,,\n";
    assert_eq!(answer(&["-c", ROWS, "--format", "csv"]), csv);
    for ending in ["csv", "json", "ndjson", "parquet"] {
        let file = dir.path().join(format!("rows.{ending}")).to_string_lossy().into_owned();
        assert_eq!(answer(&["-c", ROWS, "--output", &file]), "", "{ending}");
        let back = answer(&["-c", &format!("select * from '{file}'"), "--format", "csv"]);
        assert_eq!(back, csv, "{ending}");
        if ending != "parquet" {
            assert_eq!(fs::read_to_string(&file).unwrap(), answer(&["-c", ROWS, "--format", ending]));
        }
    }
    let markdown = dir.path().join("rows.md").to_string_lossy().into_owned();
    answer(&["-c", ROWS, "-o", &markdown]);
    assert_eq!(
        fs::read_to_string(&markdown).unwrap(),
        "| name | x | n | flag | list |\n| --- | ---: | ---: | --- | --- |\n\
         | a,\"b\" | 0.3 | 9007199254740993 | true | [1.5, null] |\n\
         | é\\|<br>x | -1e-300 | -1 | false | [2] |\n| NULL | NULL | NULL | NULL | NULL |\n"
    );
    let table = answer(&["-c", ROWS]);
    assert_eq!(table.lines().nth(3).unwrap().split_whitespace().next().unwrap(), "é|\\nx", "{table}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 5, "no temporary file is left");

    // Parquet through a pipe, and in plain types.
    let out = sql(&["--format", "parquet"], "select arrow_cast('a', 'Dictionary(Int32, Utf8)') as t");
    let file = dir.path().join("piped.parquet");
    fs::write(&file, out.stdout).unwrap();
    let read = ParquetRecordBatchReaderBuilder::try_new(fs::File::open(&file).unwrap()).unwrap();
    assert_eq!(read.schema().field(0).data_type().to_string(), "Utf8");
}

#[test]
fn a_file_appears_whole_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rows.csv");
    let path = file.to_string_lossy().into_owned();
    fs::write(&file, "old\n").unwrap();
    let broken = "select (100 - value)::text || 'x', 1 / (100 - value) from generate_series(1, 100)";
    assert!(refusal(&["-c", broken, "--output", &path], "").contains("ivide by zero"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "old\n");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    for format in ["csv", "json"] {
        let two = refusal(&["-c", "select 1; select 2", "--format", format, "--output", &path], "");
        assert!(two.contains("one statement"), "{two}");
    }
    let unknown = refusal(&["-c", "select 1", "--output", "rows.xlsx"], "");
    assert!(unknown.contains(".xlsx") && unknown.contains(".parquet or .md"), "{unknown}");
    assert!(answer(&["-c", "-- one\nselect 1 as x", "--format", "csv"]).ends_with("x\n1\n"));
    let two = refusal(&["-c", "select 1; select 2", "--format", "parquet", "--output", &path], "");
    assert!(two.contains("a file of this format holds the rows of one statement"), "{two}");
    assert!(refusal(&["-c", "select 1", "--output", "/proc/nowhere/x.csv"], "").contains("/proc/nowhere"));
    assert!(refusal(&["-c", "\\format xml"], "").contains("table, csv, json, ndjson, parquet, markdown"));
}

#[test]
fn an_output_takes_the_place_of_a_file_and_of_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    let write = |to: &str| sql(&["-c", "select 1 as a", "--format", "csv", "--output", to], "");
    // A link stays one; a pipe gets the rows.
    fs::write(path("far.csv"), "old").unwrap();
    std::os::unix::fs::symlink("far.csv", path("link")).unwrap();
    std::os::unix::fs::symlink("/proc/self/fd/1", path("pipe")).unwrap();
    assert_eq!(write(&path("link")).status.code(), Some(0));
    assert_eq!(fs::read_to_string(path("far.csv")).unwrap(), "a\n1\n");
    let piped = write(&path("pipe"));
    assert_eq!((text(&piped.stdout).as_str(), piped.status.code()), ("a\n1\n", Some(0)));
    assert!(["link", "pipe"].iter().all(|name| dir.path().join(name).is_symlink()));
    // A run and a folder are left alone.
    let run = run(dir.path(), "r", DELTAS);
    let plan = run.join("plan.json");
    let before = fs::read(&plan).unwrap();
    for (to, why) in [(plan.as_path(), "a file of a run"), (run.as_path(), "a folder")] {
        let out = write(&to.to_string_lossy());
        assert_eq!(out.status.code(), Some(2));
        assert!(text(&out.stderr).contains(why), "{}", text(&out.stderr));
    }
    assert_eq!(fs::read(&plan).unwrap(), before);
    assert_eq!(write(&run.join("new.csv").to_string_lossy()).status.code(), Some(0));
}

#[test]
fn several_runs_are_one_set_of_tables() {
    let dir = tempfile::tempdir().unwrap();
    let first = run(dir.path(), "a/first", DELTAS).to_string_lossy().into_owned();
    // Another version's deltas: no value, a column more, the numbers in another type.
    let other = DELTAS.replace("0.5 as value, -0.25", "'new' as note, 1");
    let second = run(dir.path(), "a/second", &other).to_string_lossy().into_owned();
    let asked = |runs: &[&str], query: &str| answer(&[runs, &["-c", query, "--format", "csv"]].concat());
    assert_eq!(
        asked(&[&first, &second], "select * from deltas order by run"),
        "run,model,dataset,prompt_id,variant_id,repeat,axis,value,delta,note\n\
         first,m,d,p,v,0,cos,0.5,-0.25,\nsecond,m,d,p,v,0,cos,,1.0,new\n"
    );
    assert_eq!(asked(&[&first], "select * from deltas").lines().next().unwrap().split(',').next(), Some("model"));
    // Raw and derived tables have the column, constants stay as they are.
    assert_eq!(asked(&[&first, &second], "select run from generations"), "run\n");
    assert_eq!(
        asked(&[&first, &second], "select run, count(*) as n from coverage group by run").lines().next(),
        Some("run,n")
    );
    let tolerances = "select * from tolerances order by epsilon";
    assert_eq!(asked(&[&first, &second], tolerances), asked(&[&first], tolerances));
    let described = asked(&[&first, &second], "\\d deltas");
    assert!(described.starts_with("column,type,null,doc\nrun,text,not NULL,\"the run, by the name of its folder\"\n"));

    let twin = run(dir.path(), "b/first", DELTAS).to_string_lossy().into_owned();
    assert_eq!(
        asked(&[&first, &twin], "select distinct run from deltas order by run"),
        format!("run\n{first}\n{twin}\n")
    );
    assert!(refusal(&[&first, &first, "-c", "select 1"], "").contains("given twice"));
    let nowhere = dir.path().join("nowhere").to_string_lossy().into_owned();
    assert!(refusal(&[&first, &nowhere, "-c", "select 1"], "").contains("nowhere is not a run"));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    for format in ["csv", "json", "ndjson", "parquet", "table", "markdown"] {
        let rows = if format == "table" { 50_000 } else { 3_000_000 };
        let query = format!("select value, value * random() as x from generate_series(1, {rows})");
        let arguments = ["sql", "-c", &query, "--format", format];
        let mut child = sago(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut start = [0; 4];
        child.stdout.take().unwrap().read_exact(&mut start).unwrap();
        let out = child.wait_with_output().unwrap();
        assert_eq!((out.status.code(), text(&out.stderr).as_str()), (Some(0), ""), "{format}");
    }
}

/// The most memory that `sago sql` held, in MiB; None where the system does not tell.
fn peak(arguments: &[&str]) -> Option<u64> {
    let mut child = sago(&[&["sql"], arguments].concat()).stderr(Stdio::piped()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most = None;
    while child.try_wait().unwrap().is_none() {
        let now = fs::read_to_string(&status).unwrap_or_default();
        let line = now.lines().find_map(|line| line.strip_prefix("VmHWM:").map(str::to_string));
        let kilobytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
        most = most.max(kilobytes.map(|kilobytes| kilobytes / 1024));
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success(), "{}", text(&out.stderr));
    most
}

#[test]
fn rows_pass_through_without_being_held() {
    // 700 MB of text; what is held are a few batches and a row group.
    let query = "select value, repeat('x', 700) || value as text from generate_series(1, 1000000)";
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rows").to_string_lossy().into_owned();
    for format in ["csv", "ndjson", "parquet"] {
        let held = peak(&["-c", query, "--format", format, "--output", &file]);
        assert!(held.is_none_or(|held| held < 400), "{format}: {held:?} MiB");
    }
}

#[test]
fn a_memory_limit_is_kept_by_files() {
    let sorted = "select count(*) as n, sum(row) as s from (select row_number() over (order by key) as row \
                  from (select repeat('x', 100) || (value * 7919 % 1000003) as key from generate_series(1, 1000000)))";
    let joined = "with t as (select value, 'key ' || value as key from generate_series(1, 1000000)) \
                  select count(*) as n, sum(a.value) as s from t as a inner join t as b on a.key = b.key";
    let limited = |query: &str, limit: &str, threads: &str| {
        answer(&["-c", query, "--format", "csv", "--memory-limit", limit, "--threads", threads])
    };
    // Each of the two needs more than it may have.
    for threads in ["1", "2"] {
        assert_eq!(limited(sorted, "64MiB", threads), "n,s\n1000000,500000500000\n");
        assert_eq!(limited(joined, "48MiB", threads), "n,s\n1000000,500000500000\n");
    }
    let sorts = |limit: &str| {
        let said = text(&output(&["-v", "sql", "-c", joined, "--memory-limit", limit, "--threads", "2"]).stderr);
        said.contains("joins sort their sides")
    };
    assert!(sorts("48MiB") && !sorts("4GiB"));
    // Sorted, -0 and 0 would be two keys: too little memory is an error then, not fewer rows.
    let zeros = "with t as (select value, 'key ' || value as key from generate_series(1, 1000000)), \
                 a as (select key, case when value % 2 = 0 then -0.0 else 0.0 end as z from t), \
                 b as (select key, cast(least(value, 0) as double) as z from t) \
                 select count(*) as n from a inner join b on a.key = b.key and a.z = b.z";
    let refused = refusal(&["-c", zeros, "--memory-limit", "32MiB", "--threads", "2"], "");
    assert!(refused.contains("--memory-limit"), "{refused}");
    assert_eq!(limited(&zeros.replace("1000000", "10000"), "64MiB", "2"), "n\n10000\n");
    let too_much = "select length(string_agg(repeat('x', 1000) || value, '')) from generate_series(1, 200000)";
    let refused = refusal(&["-c", too_much, "--memory-limit", "16MiB"], "");
    assert!(refused.contains("esources exhausted") && refused.contains("--memory-limit"), "{refused}");
    let wrong = output(&["sql", "-c", "select 1", "--memory-limit", "2"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("2GiB"), "{}", text(&wrong.stderr));
}
