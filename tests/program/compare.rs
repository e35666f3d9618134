//! Gates and checks as a pipeline meets them: the exit code tells, whatever becomes of stdout, and damage is not passed over.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use super::{output, sago, text};

/// A run of one model with a wording of this delta on bleu a prompt.
fn run(folder: &Path, name: &str, deltas: &[f64]) -> String {
    let mut csv = "model,dataset,prompt_id,variant,axis,delta\n".to_string();
    for (prompt, delta) in deltas.iter().enumerate() {
        csv.push_str(&format!("m,d,{prompt},baseline,bleu,0\nm,d,{prompt},own/x,bleu,{delta}\n"));
    }
    let (file, out) = (folder.join(format!("{name}.csv")), folder.join(name).to_string_lossy().into_owned());
    fs::write(&file, csv).unwrap();
    let made = output(&["import", "--layout", "deltas", &file.to_string_lossy(), "--out", &out]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    out
}

/// The exit code where nobody reads stdout.
fn unread(arguments: &[&str]) -> Option<i32> {
    let mut child = sago(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    child.wait().unwrap().code()
}

#[test]
fn a_verdict_does_not_depend_on_who_reads() {
    let dir = tempfile::tempdir().unwrap();
    let base = run(dir.path(), "base", &[-0.1, -0.2, -0.1, -0.3, -0.2]);
    let worse = run(dir.path(), "worse", &[-0.4, -0.6, -0.5, -0.9, -0.4]);
    let gated = ["compare", &base, &worse, "--fail-if", "sgs.bleu > 0.05"];
    let read = output(&gated);
    assert_eq!(read.status.code(), Some(3), "{}", text(&read.stderr));
    assert!(text(&read.stdout).contains("bleu") && text(&read.stderr).contains("gate: sgs.bleu > 0.05"));
    assert_eq!(unread(&gated), Some(3));
    assert_eq!(unread(&["compare", &base, &worse, "--fail-if", "sgs.bleu > 0.9"]), Some(0));

    fs::write(Path::new(&worse).join("plan.json"), "{}").unwrap();
    assert_eq!(unread(&["verify", &worse]), Some(3));
    assert_eq!(unread(&["verify", &base]), Some(0));
}

#[test]
fn what_is_missing_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let base = run(dir.path(), "base", &[-0.1, -0.2]);
    let damaged = run(dir.path(), "damaged", &[-0.1, -0.2]);
    fs::remove_file(Path::new(&damaged).join("given/deltas.parquet")).unwrap();
    let compared = output(&["compare", &base, &damaged]);
    assert_eq!(compared.status.code(), Some(2));
    assert!(text(&compared.stderr).contains("deltas.parquet is missing"), "{}", text(&compared.stderr));
    let asked = output(&["sql", &damaged, "-c", "select count(*) from variants", "--format", "csv"]);
    assert_eq!(asked.status.code(), Some(0), "{}", text(&asked.stderr));
    assert!(text(&asked.stderr).contains("deltas.parquet is missing"), "{}", text(&asked.stderr));
}
