//! The command line, a file a command.
//!
//! In: arguments. Out: results on stdout, progress and messages on stderr, and an exit code.
//! Exit codes: 0 done; 1 done, but rows failed; 2 bad input, or it could not be done; 3 a check did not hold.

mod analyze;
mod compare;
mod import;
mod own_models;
mod progress;
mod run;
mod sql;
mod variants;
mod verify;

use std::path::Path;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::{Error, Result, query};

/// How a command ended, where nothing went wrong altogether.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    /// All of it.
    All,
    /// All of it, but some rows hold errors.
    WithFailedRows,
    /// A check or gate did not hold.
    CheckFailed,
}

/// Measures how stable a language model's behaviour is when the same request is worded differently.
#[derive(Debug, Parser)]
#[command(
    name = "sago",
    version,
    after_help = "Exit codes: 0 done; 1 done, but rows failed; 2 bad input, or it could not be done; 3 a check did not hold.\n\n\
                  Examples:\n  \
                  sago run --preset quick --out runs/first      variants, model, Parquet, SGS: the whole job\n  \
                  sago variants \"Who wrote Dracula?\"            see how a prompt is reworded\n  \
                  sago sql runs/first -c \"select * from sgs_model\""
)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Reword prompts, run models over them, and write every output to Parquet
    Run(Box<run::Run>),
    /// Show how a prompt is reworded
    Variants(variants::Variants),
    /// Make a run of other people's files, and analyse it
    Import(Box<import::Import>),
    /// Compute deltas, instability, SGS and tests of a run
    Analyze(analyze::Analyze),
    /// Compare two runs, or two models of one run, prompt by prompt
    Compare(compare::Compare),
    /// Ask SQL of a run, or of plain files
    Sql(sql::Sql),
    /// Check that a run is whole and that its figures are those of its raw tables
    Verify(verify::Verify),
}

impl Arguments {
    /// Carries out the command.
    ///
    /// # Errors
    /// Whatever kept it from being done; the exit code is then 2.
    pub fn carry_out(self) -> Result<Done> {
        match self.command {
            Command::Run(run) => run.carry_out(),
            Command::Variants(variants) => variants.carry_out(),
            Command::Import(import) => import.carry_out(),
            Command::Analyze(analyze) => analyze.carry_out(),
            Command::Compare(compare) => compare.carry_out(),
            Command::Sql(sql) => sql.carry_out(),
            Command::Verify(verify) => verify.carry_out(),
        }
    }
}

impl From<Done> for ExitCode {
    fn from(done: Done) -> Self {
        ExitCode::from(match done {
            Done::All => 0,
            Done::WithFailedRows => 1,
            Done::CheckFailed => 3,
        })
    }
}

/// Checks the contracts of a run's derived tables, baseline deltas of 0 among them; says on stderr what does not hold.
fn checks(analysis: &query::Analysis, run: &Path) -> Result<Done> {
    let violations = analysis.check_contracts(run)?;
    violations.iter().for_each(|violation| say(&format!("check: {violation}")));
    Ok(if violations.is_empty() { Done::All } else { Done::CheckFailed })
}

/// Says on stderr that a run is not complete, where it is not.
fn note_if_incomplete(run: &Path) {
    if run.join("plan.json").exists() && !run.join("manifest.json").exists() {
        say(&format!("note: {} is not complete; the command that began it goes on with it", run.display()));
    }
}

/// A line on stderr. One that can't be written (a closed pipe, a full disk) must not end the work.
fn say(text: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Writes to stdout.
///
/// # Errors
/// Stdout can't be written.
fn print(text: &str) -> Result<()> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Error::io("write", "stdout"))
}
