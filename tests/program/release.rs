//! `sago release` and `sago verify` on it: what is in the folder, what is refused, and that each kind of fault is named.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use parquet::arrow::ArrowWriter;
use sago::query::Session;
use sago::store::files::files_below;

use super::{output, rows, text};

/// A complete run of two data sets, of which one is read from a file of Alpaca's layout.
static RUN: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    let alpaca = "[{\"instruction\": \"Name a primary colour.\", \"input\": \"\", \"output\": \"Red\"},
                   {\"instruction\": \"Say hello.\", \"input\": \"In French.\", \"output\": \"Bonjour\"}]";
    fs::write(dir.path().join("alpaca.json"), alpaca).unwrap();
    let out = dir.path().join("run").to_string_lossy().into_owned();
    let alpaca = format!("alpaca={}", dir.path().join("alpaca.json").display());
    let job = ["run", "--model", "demo", "--dataset", &alpaca, "--dataset", "triviaqa", "-n", "2", "--quiet"];
    let short = ["--max-new-tokens", "6", "--subtypes", "spacing,form", "--encoder", "none", "--out", &out];
    let done = output(&[&job[..], &short[..]].concat());
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    dir
});

fn run() -> PathBuf {
    RUN.path().join("run")
}

/// Releases `runs` as `folder/name` with further arguments.
fn release(runs: &[&Path], folder: &Path, name: &str, more: &[&str]) -> PathBuf {
    let out = folder.join(name);
    let runs: Vec<String> = runs.iter().map(|run| run.to_string_lossy().into_owned()).collect();
    let (runs, to) = (runs.iter().map(String::as_str), out.to_string_lossy().into_owned());
    let arguments: Vec<&str> =
        ["release"].into_iter().chain(runs).chain(["--out", &to]).chain(more.iter().copied()).collect();
    let done = output(&arguments);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    out
}

/// What `sago verify` says, and that its exit code agrees.
fn failed(release: &Path) -> Vec<String> {
    let out = output(&["verify", &release.to_string_lossy()]);
    let lines = text(&out.stdout);
    assert!(lines.lines().count() >= 2, "{lines} {}", text(&out.stderr));
    let failed: Vec<String> = lines.lines().filter(|line| line.starts_with("FAILED")).map(str::to_string).collect();
    assert_eq!(out.status.code(), Some(if failed.is_empty() { 0 } else { 3 }), "{lines} {}", text(&out.stderr));
    failed
}

/// SHA256SUMS of the folder as it is now.
fn sum_again(release: &Path) {
    let names = files_below(release).unwrap();
    let line = |file: &PathBuf| {
        let name = file.strip_prefix(release).unwrap().display().to_string();
        (name != "SHA256SUMS").then(|| format!("{}  {name}\n", sago::hash::of_file(file).unwrap()))
    };
    fs::write(release.join("SHA256SUMS"), names.iter().filter_map(line).collect::<String>()).unwrap();
}

/// Puts the rows of a query in the place of a table's file; `{}` stands for it.
fn rewrite(release: &Path, name: &str, sql: &str) {
    let file = release.join(name);
    let rows = Session::new(Some(1)).unwrap().query(&sql.replace("{}", &format!("'{}'", file.display()))).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(&file).unwrap(), rows[0].schema(), None).unwrap();
    rows.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.close().unwrap();
    sum_again(release);
}

/// Rows of a file of the release, as CSV.
fn of_file(release: &Path, select: &str, name: &str) -> String {
    let sql = format!("{select} from '{}'", release.join(name).display());
    let out = output(&["sql", "-c", &sql, "--format", "csv"]);
    assert!(out.status.success(), "{sql}: {}", text(&out.stderr));
    text(&out.stdout)
}

fn has(found: &[String], part: &str) {
    assert!(found.iter().any(|line| line.contains(part)), "{part}: {found:?}");
}

#[test]
fn a_release_holds_the_run_and_is_the_same_each_time() {
    let dir = tempfile::tempdir().unwrap();
    let run = run();
    let options = ["--csv", "--author", "A. \"B\" C", "--license", "CC-BY-4.0"];
    let first = release(&[&run], dir.path(), "first", &options);
    let second = release(&[&run], dir.path(), "second", &options);
    assert_eq!(failed(&first), [""; 0]);
    let sums = |folder: &Path| fs::read_to_string(folder.join("SHA256SUMS")).unwrap();
    assert_eq!(sums(&first), sums(&second));
    let there: Vec<String> =
        fs::read_dir(dir.path()).unwrap().map(|f| f.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(there.len(), 2, "nothing is left beside them: {there:?}");

    for table in ["generations", "deltas", "sgs_model", "instability", "variants"] {
        let count = format!("select count(*) as n from {table}");
        assert_eq!(of_file(&first, "select count(*) as n", &format!("data/{table}.parquet")), rows(&run, &count));
    }
    assert!(!first.join("data/work.parquet").exists() && !first.join("data/activations.parquet").exists());
    let fixed = of_file(&first, "select distinct normalization", "data/normalized.parquet");
    assert_eq!(fixed, "normalization\nfixed\n");

    // A row of the fixed matrix is the prompt's instability.
    let ids = rows(&run, "select distinct variant_id from variants where not is_baseline and is_valid order by 1");
    let ids: Vec<&str> = ids.lines().skip(1).collect();
    let square = |id: &&str| format!("coalesce(\"{id}\" * \"{id}\", 0)");
    let one = |id: &&str| format!("case when \"{id}\" is null then 0 else 1 end");
    let sum = |of: &dyn Fn(&&str) -> String| ids.iter().map(of).collect::<Vec<_>>().join(" + ");
    let model = rows(&run, "select model from models").lines().nth(1).unwrap().to_string();
    let by_matrix = format!(
        "select round(avg(s), 12) as s from (select sqrt(({}) / ({})) as s from '{}')",
        sum(&square),
        sum(&one),
        first.join(format!("deltas/fixed/{model}/ent.parquet")).display()
    );
    let by_matrix = text(&output(&["sql", "-c", &by_matrix, "--format", "csv"]).stdout);
    let sgs = "select round(sgs, 12) as s from sgs_model where axis = 'ent' and normalization = 'fixed'";
    assert_eq!(by_matrix, rows(&run, sgs));
    let csv = fs::read_to_string(first.join(format!("deltas/raw/{model}/ent.csv"))).unwrap();
    assert!(csv.starts_with("dataset,prompt_id,spacing/") && csv.lines().count() == 5, "{csv}");

    let card = fs::read_to_string(first.join("README.md")).unwrap();
    for part in ["license: \"cc-by-4.0\"", "config_name: \"deltas\"", "| model | cos |", "CC-BY-NC-4.0", &model] {
        assert!(card.contains(part), "{part}: {card}");
    }
    let croissant = fs::read_to_string(first.join("croissant.json")).unwrap();
    let croissant: serde_json::Value = serde_json::from_str(&croissant).unwrap();
    assert_eq!(croissant["license"][0], "CC-BY-4.0", "{}", croissant["license"]);
    let models = output(&["verify", &first.to_string_lossy(), "--sql", &dir.path().to_string_lossy()]);
    assert!(models.status.code() == Some(2) && text(&models.stderr).contains("leave --sql out"));
    let citation = fs::read_to_string(first.join("CITATION.cff")).unwrap();
    assert!(citation.contains("- name: \"A. \\\"B\\\" C\"") && citation.contains("Stanford Alpaca"), "{citation}");
}

#[test]
fn texts_that_may_not_be_passed_on_stay_out() {
    let dir = tempfile::tempdir().unwrap();
    let held = |release: &Path, what: &str, name: &str| {
        of_file(release, &format!("select count({what}) as n, count(*) as rows"), name)
            .lines()
            .nth(1)
            .unwrap()
            .to_string()
    };
    let both = release(&[&run()], dir.path(), "both", &[]);
    assert_eq!(held(&both, "text", "data/prompts.parquet"), "2,4");
    assert_eq!(held(&both, "source_hash", "data/prompts.parquet"), "4,4");
    let none = release(&[&run()], dir.path(), "none", &["--without-texts", "triviaqa"]);
    for (what, table) in [("text", "variants"), ("prompt_token_ids", "generations"), ("answers", "prompts")] {
        let name = format!("data/{table}.parquet");
        assert!(held(&none, what, &name).starts_with("0,"), "{table}.{what}");
        assert!(!held(&both, what, &name).starts_with("0,"), "{table}.{what}");
    }
    let bytes: Vec<u8> = files_below(&both).unwrap().iter().flat_map(|file| fs::read(file).unwrap()).collect();
    assert!(!bytes.windows(22).any(|w| w == b"Name a primary colour."));
    assert_eq!(failed(&none), [""; 0]);
    let card = fs::read_to_string(none.join("README.md")).unwrap();
    assert!(card.contains("--without-texts") && card.contains("allows passing them on only"), "{card}");
}

#[test]
fn several_runs_have_a_column_run() {
    let dir = tempfile::tempdir().unwrap();
    let other = dir.path().join("other");
    copy(&run(), &other);
    let both = release(&[&run(), &other], dir.path(), "both", &[]);
    assert_eq!(failed(&both), [""; 0]);
    let by_run = "select count(*) as n, count(distinct run) as runs";
    let of_one: usize = rows(&run(), "select count(*) from deltas").lines().nth(1).unwrap().parse().unwrap();
    assert_eq!(of_file(&both, by_run, "data/deltas.parquet"), format!("n,runs\n{},2\n", 2 * of_one));
    let index: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(both.join("release.json")).unwrap()).unwrap();
    assert_eq!(index["runs"].as_array().unwrap().len(), 2);
    assert!(both.join("deltas/raw/other").is_dir() && both.join("deltas/raw/run").is_dir());
}

fn copy(from: &Path, to: &Path) {
    for file in files_below(from).unwrap() {
        let target = to.join(file.strip_prefix(from).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(&file, &target).unwrap();
    }
}

#[test]
fn what_can_not_be_released_is_refused_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |run: &Path, out: &Path, more: &[&str], part: &str| {
        let (run, out) = (run.to_string_lossy().into_owned(), out.to_string_lossy().into_owned());
        let done = output(&[&["release", &run, "--out", &out], more].concat());
        let message = text(&done.stderr);
        assert!(done.status.code() == Some(2) && message.contains(part), "{part}: {message}");
    };
    let out = dir.path().join("out");
    let run = run();
    fs::create_dir(dir.path().join("full")).unwrap();
    fs::write(dir.path().join("full/thesis.tex"), "x").unwrap();
    refused(&run, &dir.path().join("full"), &[], "not empty");
    refused(&run, &dir.path().join("full/thesis.tex"), &[], "a file");
    refused(&run, &out, &["--without-texts", "trivia"], "no run has a data set trivia");
    refused(dir.path(), &out, &[], "is not a run");

    let broken = dir.path().join("broken");
    copy(&run, &broken);
    let stored = broken.join("analysis/sgs_model.parquet");
    // Its metadata goes as well: it is not the table that the raw tables give.
    fs::remove_file(&stored).unwrap();
    refused(&broken, &out, &[], "sago analyze");
    copy(&run, &broken);
    let part = files_below(&broken.join("forced")).unwrap().remove(0);
    let mut bytes = fs::read(&part).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&part, bytes).unwrap();
    refused(&broken, &out, &[], "other bytes");
    fs::remove_file(broken.join("manifest.json")).unwrap();
    refused(&broken, &out, &[], "is not complete");
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn every_fault_of_a_release_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let whole = release(&[&run()], dir.path(), "whole", &[]);
    let mut number = 0;
    let mut damaged = |damage: &dyn Fn(&Path)| {
        number += 1;
        let copied = dir.path().join(format!("copy{number}"));
        copy(&whole, &copied);
        damage(&copied);
        failed(&copied)
    };
    let flipped = damaged(&|release| {
        let file = release.join("data/deltas.parquet");
        let mut bytes = fs::read(&file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&file, bytes).unwrap();
    });
    has(&flipped, "data/deltas.parquet has other bytes than SHA256SUMS says");
    let missing = damaged(&|release| fs::remove_file(release.join("data/instability.parquet")).unwrap());
    has(&missing, "data/instability.parquet is missing");
    let missing = damaged(&|release| {
        fs::remove_file(release.join("data/instability.parquet")).unwrap();
        sum_again(release);
    });
    has(&missing, "data/instability.parquet is missing");
    let extra = damaged(&|release| fs::write(release.join("notes.txt"), "x").unwrap());
    has(&extra, "notes.txt is not of the release");
    let unsummed = damaged(&|release| fs::remove_file(release.join("SHA256SUMS")).unwrap());
    has(&unsummed, "SHA256SUMS is missing");

    let row = "select * from {} where not (axis = 'ent' and variant_id = 'spacing/global/20' and dataset = 'triviaqa')";
    let dropped = damaged(&|release| rewrite(release, "data/deltas.parquet", row));
    has(&dropped, "deltas has ");
    has(&dropped, "instability: s is ");
    has(&dropped, "ent.parquet");
    let score =
        "select * replace (case when axis = 'ent' and normalization = 'fixed' then sgs + 1e-6 else sgs end as sgs)
        from {} order by model, axis, normalization";
    let changed = damaged(&|release| rewrite(release, "data/sgs_model.parquet", score));
    has(&changed, "sgs_model: sgs is ");
    has(&changed, "axis=ent, normalization=fixed");
    let baseline = "select * replace (case when variant_id = 'baseline' and axis = 'ent' then 1e-9 else delta end as delta) from {}";
    let moved = damaged(&|release| rewrite(release, "data/deltas.parquet", baseline));
    has(&moved, "every baseline's delta of repeat 0 is exactly 0");
    let twice = damaged(&|release| {
        rewrite(release, "data/flips.parquet", "select * from {} union all select * from {}");
    });
    has(&twice, "flips has more than one row of ");
    let typed = damaged(&|release| {
        rewrite(release, "data/models.parquet", "select * replace (cast(layers as varchar) as layers) from {}");
    });
    has(&typed, "models: column layers is Utf8");
    let negative = damaged(&|release| {
        rewrite(release, "data/intervals.parquet", "select * replace (null as model) from {}");
    });
    has(&negative, "intervals: model is not null does not hold");
    let model = rows(&run(), "select model from models").lines().nth(1).unwrap().to_string();
    let wide = format!("deltas/raw/{model}/bleu.parquet");
    let cell = damaged(&|release| {
        rewrite(release, &wide, "select * replace (0.25 as \"spacing/global/5\") from {} order by dataset, prompt_id");
    });
    has(&cell, "bleu.parquet has 0.25, not ");
    has(&cell, "another SHA-256 than croissant.json says");
    let index = damaged(&|release| {
        fs::remove_file(release.join("release.json")).unwrap();
        sum_again(release);
    });
    has(&index, "release.json is missing");
}
