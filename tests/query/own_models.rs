//! A user's own models: they join the graph, stay with the run, and their faults are placed.

use std::fs::{self, write};
use std::path::Path;
use std::time::SystemTime;

use sago::query::{Analysis, Kind, Session, Source, Step, check_contracts, is_analyzed};
use tempfile::TempDir;

use crate::published::published_run;
use crate::run::{Run, numbers};

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        write(file, text).unwrap();
    }
    folder
}

fn analysis(folder: &TempDir) -> Analysis {
    Analysis::default().with_folder(folder.path()).unwrap()
}

fn written(run: &Run, table: &str) -> SystemTime {
    run.path().join("analysis").join(format!("{table}.parquet")).metadata().unwrap().modified().unwrap()
}

fn fault(run: &Run, files: &[(&str, &str)]) -> String {
    let own = folder(files);
    let text = analysis(&own).run(run.path()).unwrap_err().to_string();
    text.replace(&own.path().display().to_string(), "DIR")
}

const TWICE: &str = "select model, axis, sgs * 2 as twice from sgs_model where normalization = 'fixed'";

#[test]
fn own_models_join_the_graph_and_stay_with_the_run() {
    let run = published_run();
    let own = folder(&[("mine/twice.sql", TWICE), ("tolerances.sql", "select 0.2 as epsilon, true as is_primary")]);
    let made = analysis(&own).run(run.path()).unwrap();
    assert!(made.iter().any(|table| table.name == "twice" && table.rows > 0));
    // Nothing has to be said again: not to query, not to check, not to analyze.
    let off = "select max(abs(t.twice - 2 * s.sgs)) from twice as t inner join sgs_model as s using (model, axis)
        where s.normalization = 'fixed'";
    assert_eq!(numbers(&run.session(), off), [0.0]);
    assert_eq!(numbers(&run.session(), "select distinct epsilon from significance_model"), [0.2]);
    assert!(is_analyzed(run.path()).unwrap());
    assert_eq!(check_contracts(run.path()).unwrap(), []);
    assert!(run.analyze().iter().any(|table| table.name == "twice"));

    // Another folder takes the place of the first.
    let other = folder(&[("thrice.sql", &TWICE.replace("2 as twice", "3 as thrice"))]);
    analysis(&other).run(run.path()).unwrap();
    let tables = run.session().tables();
    assert!(tables.contains(&"thrice".to_string()) && !tables.contains(&"twice".to_string()));
    assert_eq!(numbers(&run.session(), "select count(distinct epsilon) from significance_model"), [3.0]);
    // Without them the built-in ones are left.
    fs::remove_dir_all(run.path().join("analysis/models")).unwrap();
    assert!(!run.session().tables().contains(&"thrice".to_string()));
}

#[test]
fn a_table_is_made_when_it_is_named_and_one_that_fails_leaves_the_others() {
    let run = published_run();
    let own = folder(&[("broken.sql", "select cast(axis as double) as x from sgs_model"), ("twice.sql", TWICE)]);
    let session = analysis(&own).open(run.path()).unwrap();
    let unwritten = session.unwritten();
    assert!(unwritten.contains(&"sgs_model") && unwritten.contains(&"twice"), "{unwritten:?}");
    let error = |session: &Session| session.query("select * from broken").unwrap_err().to_string();
    assert!(error(&session).contains("model broken") && error(&session).contains("broken.sql"), "{}", error(&session));
    let made = numbers(&session, "select twice from twice order by twice");
    assert!(!made.is_empty());
    assert!(!run.path().join("analysis").exists());
    let wrong = session.query("select nothing from twice").unwrap_err().to_string();
    assert!(wrong.contains("there is no column nothing"), "{wrong}");

    // The same of several runs, and nothing is left to be made once it is written.
    let other = published_run();
    other.analyze();
    assert_eq!(other.session().unwritten(), [""; 0]);
    let both = analysis(&own).open_all(&[run.path().to_path_buf(), other.path().to_path_buf()]).unwrap();
    let all = numbers(&both, "select twice from twice order by twice");
    assert_eq!(all.len(), 2 * made.len());
    assert!(error(&both).contains("model broken"), "{}", error(&both));
}

#[test]
fn tables_made_with_other_models_are_computed_anew_and_only_those() {
    let run = published_run();
    run.analyze();
    let tolerances = folder(&[("tolerances.sql", "select 0.2 as epsilon, true as is_primary")]);
    let other = analysis(&tolerances);
    // Stored tests are of three tolerances: this session has other models, so it computes them.
    let session = other.open(run.path()).unwrap();
    assert_eq!(numbers(&session, "select distinct epsilon from significance_model"), [0.2]);
    assert_eq!(numbers(&run.session(), "select count(distinct epsilon) from significance_model"), [3.0]);
    // What does not come from a tolerance is as fresh as before.
    let marked = Source::new(
        "marked",
        "select s.sgs, t.p from significance_model as t inner join sgs_model as s using (model, axis)",
        "",
    );
    let (sgs, tests) = (written(&run, "sgs_model"), written(&run, "significance_model"));
    other.with_sources([marked]).with_only(["marked".to_string()]).run(run.path()).unwrap();
    assert_eq!(written(&run, "sgs_model"), sgs);
    assert!(written(&run, "significance_model") > tests);
}

#[test]
fn only_what_is_asked_and_what_it_needs_is_made() {
    let run = published_run();
    let only = |names: &[&str]| {
        let analysis = Analysis::default().with_threads(2).with_only(names.iter().map(ToString::to_string));
        let mut begun = Vec::new();
        let made = analysis.run_with(run.path(), |step| {
            if let Step::Begin(name) = step {
                begun.push(name.to_string());
            }
        });
        made.map(|made| {
            let names: Vec<String> = made.into_iter().map(|table| table.name).collect();
            // Tables that do not read each other are begun in any order, and told of in that of the graph.
            let mut sorted = names.clone();
            sorted.sort();
            begun.sort();
            assert_eq!(sorted, begun);
            names
        })
    };
    let first = only(&["sgs_model"]).unwrap();
    let graph = Analysis::default().graph(run.path()).unwrap();
    let needed = graph.needed(&["sgs_model".to_string()]).unwrap();
    let tables = graph.models().iter().filter(|m| m.contract.kind == Kind::Table && needed.contains(m.name.as_str()));
    assert_eq!(first, tables.map(|m| m.name.clone()).collect::<Vec<_>>());
    assert!(!run.path().join("analysis/t_tests.parquet").exists() && !is_analyzed(run.path()).unwrap());
    // What it needs is there now.
    assert_eq!(only(&["sgs_model"]).unwrap(), ["sgs_model"]);
    let checked = Analysis::default().with_only(["scales".to_string()]).check_contracts(run.path()).unwrap();
    assert_eq!(checked, []);
    let text = only(&["sgs_modle"]).unwrap_err().to_string();
    assert!(text.contains("no model sgs_modle (near it: sgs_model"), "{text}");
}

#[test]
fn faults_name_file_line_and_column() {
    let run = published_run();
    for (sql, parts) in [
        ("select model,\n  sgz\nfrom sgs_model", &["No field named sgz", "DIR/m.sql, line 2, column 3"][..]),
        ("select 1 as x\nfrom sgs_mode", &["(near it: sgs_model", "DIR/m.sql, line 2, column 6"]),
        ("select model,\n  from from sgs_model", &["DIR/m.sql, line 2, column "]),
        ("select model,\n  'x\nfrom sgs_model", &["Unterminated", "DIR/m.sql, line 2, column 3"]),
        ("select sqqrt(sgs) as x from sgs_model", &["sqqrt", "DIR/m.sql, line 1, column 8"]),
        ("select 1 as x;\nselect 2 as x", &["one query", "DIR/m.sql, line 2, column 1"]),
        ("-- only a comment", &["there is none", "DIR/m.sql"]),
        ("create table x as select 1", &["it starts with select or with", "DIR/m.sql"]),
        ("select * from m", &["circle: m -> m", "DIR/m.sql"]),
    ] {
        let text = fault(&run, &[("m.sql", sql)]);
        parts.iter().for_each(|part| assert!(text.contains(part), "{part}: {text}"));
    }
    let text = fault(&run, &[("m.sql", "select 1 as x"), ("m.toml", "[columns.x]\ndoc = \"x\"\nmin = \"a\"\n")]);
    assert!(text.contains("DIR/m.toml, line 3, column 7"), "{text}");
    for (contract, parts) in [
        ("unique = [\"y\"]", ["unique names y, which is none of its columns (axis, x)", ""]),
        ("[columns.x]\ndoc = \"x\"\nmin = nan", ["column x: min is NaN", ""]),
        ("[columns.x]\ndoc = \"x\"\nmin = 2\nmax = 1", ["column x: min is 2, above max", ""]),
        ("[columns.axis]\ndoc = \"x\"\none_of = []", ["column axis: one_of is empty", ""]),
        ("[columns.axis]\ndoc = \"x\"\nmax = 1", ["column axis is Utf8", "promises about numbers"]),
        (
            "[columns.axis]\ndoc = \"x\"\nreferences = \"axes.name\"",
            ["references axes.name", "axes has no column name"],
        ),
    ] {
        let text = fault(&run, &[("m.sql", "select axis, 1 as x from axes"), ("m.toml", contract)]);
        parts.iter().for_each(|part| assert!(text.contains(part), "{part}: {text}"));
        assert!(text.contains("DIR/m.toml"), "{text}");
    }
    for function in ["random()", "now()"] {
        let text = fault(&run, &[("m.sql", &format!("select axis, {function} as x from axes"))]);
        assert!(text.contains("gives something else each time") && text.contains("DIR/m.sql"), "{text}");
    }
    let text = fault(&run, &[("variants.sql", "select 1 as x")]);
    assert!(text.contains("a table of the run has this name") && text.contains("DIR/variants.sql"), "{text}");
    // Nothing of it stays with the run.
    assert!(!run.path().join("analysis/models").exists() && !run.path().join("analysis/m.parquet").exists());
    run.analyze();
}

#[test]
fn a_contract_that_leaves_columns_out_hides_no_other_promise() {
    let run = published_run();
    let own = folder(&[("m.sql", "select axis, -1 as x from axes"), ("m.toml", "[columns.x]\ndoc = \"x\"\nmin = 0")]);
    analysis(&own).run(run.path()).unwrap();
    let found: Vec<String> = check_contracts(run.path()).unwrap().iter().map(ToString::to_string).collect();
    assert!(found.iter().any(|line| line.contains("column axis has a doc line in the contract")), "{found:?}");
    assert!(found.iter().any(|line| line.contains("x is at least 0 does not hold in 17 rows")), "{found:?}");
}

#[test]
fn a_model_that_fails_leaves_the_sums_of_what_is_whole() {
    let run = published_run();
    run.analyze();
    let analysis = run.path().join("analysis");
    let listed = sago::store::sums::read(&analysis).unwrap().len();
    for sql in ["select nothing from sgs_model", "select cast(axis as double) as x from sgs_model"] {
        fault(&run, &[("m.sql", sql)]);
        let sums = sago::store::sums::read(&analysis).unwrap();
        assert_eq!(sums.len(), listed, "{sql}");
        for (name, sum) in sums {
            assert_eq!(sago::hash::of_file(&analysis.join(&name)).unwrap(), sum, "{sql}: {name}");
        }
    }
}

#[test]
fn a_model_that_is_gone_leaves_no_table() {
    let run = published_run();
    analysis(&folder(&[("twice.sql", TWICE)])).run(run.path()).unwrap();
    let file = run.path().join("analysis/twice.parquet");
    assert!(file.is_file());
    analysis(&folder(&[("tolerances.sql", "select 0.2 as epsilon, true as is_primary")])).run(run.path()).unwrap();
    assert!(!file.exists() && run.path().join("analysis/sgs_model.parquet").is_file());
}

#[test]
fn contracts_of_own_models_are_checked_with_the_first_row() {
    let run = published_run();
    let contract = "unique = [\"model\", \"axis\"]\n[columns.model]\ndoc = \"m\"\n[columns.axis]\ndoc = \"a\"\nreferences = \"axes.axis\"\n\
                    [columns.twice]\ndoc = \"t\"\nmax = -1\n";
    analysis(&folder(&[("twice.sql", TWICE), ("twice.toml", contract)])).run(run.path()).unwrap();
    let found = check_contracts(run.path()).unwrap();
    assert_eq!(found.len(), 1);
    let text = found[0].to_string();
    assert!(
        text.starts_with("twice: twice is at most -1 does not hold in ") && text.contains("; first: model="),
        "{text}"
    );
    // A model that takes a built-in one's place without a contract is held to the built-in one's.
    let own = folder(&[("tolerances.sql", "select -1.0 as epsilon, true as is_primary")]);
    analysis(&own).run(run.path()).unwrap();
    let found = check_contracts(run.path()).unwrap();
    assert!(found.iter().any(|violation| violation.model == "tolerances"), "{found:?}");
}

#[test]
fn a_contract_may_speak_of_tables_that_are_made_later_or_not_at_all() {
    let run = published_run();
    for kind in ["view", "table"] {
        let contract = format!(
            "kind = \"{kind}\"\nunique = [\"model\"]\n[columns.model]\ndoc = \"m\"\nreferences = \"sgs_model.model\"\n"
        );
        let own = folder(&[("mine.sql", "select model from models"), ("mine.toml", &contract)]);
        analysis(&own).with_only(["mine".to_string()]).run(run.path()).unwrap();
        analysis(&own).run(run.path()).unwrap();
        assert_eq!(check_contracts(run.path()).unwrap(), []);
    }
}

/// Every promise was a query on a view: minutes on a run that no one had analysed.
#[test]
fn contracts_of_a_run_that_is_not_analyzed_leave_it_as_it_is() {
    let run = published_run();
    assert_eq!(check_contracts(run.path()).unwrap(), []);
    assert!(!run.path().join("analysis").exists());
}

#[test]
fn a_file_that_a_model_reads_is_watched() {
    let run = published_run();
    let side = folder(&[("side.csv", "model,size\na,1\n")]);
    let file = side.path().join("side.csv");
    let source = Source::new("sizes", format!("select size from '{}'", file.display()), "");
    let analysis = Analysis::default().with_sources([source]);
    analysis.run(run.path()).unwrap();
    let size = |path: &Path| numbers(&analysis.open(path).unwrap(), "select max(size) from sizes");
    assert_eq!(size(run.path()), [1.0]);
    std::thread::sleep(std::time::Duration::from_millis(20));
    write(&file, "model,size\na,2\n").unwrap();
    assert_eq!(size(run.path()), [2.0]);
    let _: Session = run.session();
}
