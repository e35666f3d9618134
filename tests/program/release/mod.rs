//! `sago release` and `sago verify` on it: what is in the folder, what is refused, and that each kind of fault is named.

mod contents;
mod faults;
mod refusals;
mod texts;

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
    let short = ["--max-new-tokens", "6", "--subtypes", "spacing,form", "--encoder", "none", "--activations", "0,30"];
    let done = output(&[&job[..], &short[..], &["--out", &out]].concat());
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    dir
});

fn run() -> PathBuf {
    RUN.path().join("run")
}

/// Releases `runs` as `folder/name` with further arguments.
fn release(runs: &[&Path], folder: &Path, name: &str, more: &[&str]) -> PathBuf {
    let out = folder.join(name);
    let (code, said) = try_release(runs, &out, more);
    assert_eq!(code, Some(0), "{said}");
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
    write_rows(&release.join(name), sql);
    sum_again(release);
}

/// Puts the rows of a query in the place of a file; `{}` stands for it.
fn write_rows(file: &Path, sql: &str) {
    let rows = Session::new(Some(1)).unwrap().query(&sql.replace("{}", &format!("'{}'", file.display()))).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(file).unwrap(), rows[0].schema(), None).unwrap();
    rows.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.close().unwrap();
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

fn copy(from: &Path, to: &Path) {
    for file in files_below(from).unwrap() {
        let target = to.join(file.strip_prefix(from).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(&file, &target).unwrap();
    }
}

/// Runs `sago release`: its exit code and what it says.
fn try_release(runs: &[&Path], out: &Path, more: &[&str]) -> (Option<i32>, String) {
    let runs: Vec<String> = runs.iter().map(|run| run.to_string_lossy().into_owned()).collect();
    let out = out.to_string_lossy().into_owned();
    let arguments = ["release"].into_iter().chain(runs.iter().map(String::as_str)).chain(["--out", &out]);
    let done = output(&arguments.chain(more.iter().copied()).collect::<Vec<_>>());
    (done.status.code(), text(&done.stderr))
}

/// A copy of the run, analysed with models of a user's own: name, SQL and contract.
fn with_models(folder: &Path, name: &str, models: &[(&str, &str, &str)]) -> PathBuf {
    let (own, copied) = (folder.join(format!("{name}-models")), folder.join(name));
    fs::create_dir(&own).unwrap();
    for (model, sql, contract) in models {
        fs::write(own.join(format!("{model}.sql")), sql).unwrap();
        if !contract.is_empty() {
            fs::write(own.join(format!("{model}.toml")), contract).unwrap();
        }
    }
    copy(&run(), &copied);
    let done = output(&["analyze", &copied.to_string_lossy(), "--sql", &own.to_string_lossy(), "--quiet"]);
    assert!(done.status.code() != Some(2), "{}", text(&done.stderr));
    copied
}

/// A file of the release as JSON.
fn json(release: &Path, name: &str) -> serde_json::Value {
    serde_json::from_str(&fs::read_to_string(release.join(name)).unwrap()).unwrap()
}

/// Damages a file: one bit, half way.
fn flip(file: &Path) {
    let mut bytes = fs::read(file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(file, bytes).unwrap();
}
