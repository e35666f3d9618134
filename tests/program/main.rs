//! The program as its users meet it: bad input, resume, measuring again, exit codes. Every test runs the real binary on the real demo model.

mod bad_input;
mod compare;
mod hub;
mod import;
mod measure;
mod release;
mod report;
mod resume;
mod shell;
mod sql_prompt;
mod whole_job;

use std::path::Path;
use std::process::{Command, Output};

/// The program with arguments.
fn sago(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sago"));
    command.args(arguments);
    command
}

/// Runs the program to its end.
fn output(arguments: &[&str]) -> Output {
    sago(arguments).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Rows that a query gives, as CSV.
fn rows(run: &Path, sql: &str) -> String {
    let out = output(&["sql", &run.to_string_lossy(), "-c", sql, "--format", "csv"]);
    assert!(out.status.success(), "{sql}: {}", text(&out.stderr));
    text(&out.stdout)
}
