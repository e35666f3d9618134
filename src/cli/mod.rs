//! The command line, a file a command.
//!
//! In: arguments. Out: results on stdout, progress and messages on stderr, and an exit code.
//! Exit codes: 0 done; 1 done, but rows failed; 2 bad input, or it could not be done; 3 a check did not hold.

mod analyze;
mod compare;
mod doctor;
mod import;
mod log;
mod measure;
mod own_models;
mod progress;
mod release;
mod report;
mod run;
mod shell;
mod sql;
mod variants;
mod verify;

use std::path::Path;
use std::process::ExitCode;

use clap::{ArgAction, Args, Parser, Subcommand};

use crate::query::{MemoryLimit, Resources};
use crate::store::begun::Begun;
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
                  sago measure runs/first --encoder DIR         score the same responses by another encoder\n  \
                  sago report runs/first                        a page of charts, tables and responses\n  \
                  sago release runs/first --out releases/first  a folder for a data hub\n  \
                  sago sql runs/first -c \"select * from sgs_model\"\n  \
                  sago sql runs/first                           a prompt for SQL; \\d lists the tables"
)]
pub struct Arguments {
    /// Say on stderr what is read and done, and how long it took; given twice, also every file written and every query asked
    #[arg(long, short, global = true, action = ArgAction::Count)]
    verbose: u8,
    #[command(subcommand)]
    command: Command,
}

/// What commands that run SQL may use of the machine.
#[derive(Debug, Args)]
pub(super) struct Limits {
    /// Most memory for sorts, joins and groups, as 2GiB; what is more goes to temporary files [default: no limit]
    #[arg(long, value_name = "SIZE")]
    memory_limit: Option<MemoryLimit>,
    /// Threads, and parts that a query is cut into, 128 at most [default: as many as the machine has]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=128))]
    threads: Option<u16>,
}

impl Limits {
    fn resources(&self) -> Resources {
        Resources { threads: self.threads.map(usize::from), memory: self.memory_limit }
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Reword prompts, run models over them, and write every output to Parquet
    Run(Box<run::Run>),
    /// Measure the responses of a complete run again, without asking a model
    Measure(measure::Measure),
    /// Show how a prompt is reworded
    Variants(variants::Variants),
    /// Make a run of other people's files, and analyse it
    Import(Box<import::Import>),
    /// Compute deltas, instability, SGS and tests of a run
    Analyze(analyze::Analyze),
    /// Compare two runs, or two models of one run, prompt by prompt
    Compare(compare::Compare),
    /// Write one HTML page that shows runs: charts, tables, responses side by side
    Report(report::ReportCommand),
    /// Make a folder of complete runs that can be pushed to a data hub as it is
    Release(release::Release),
    /// Ask SQL of runs, or of plain files
    Sql(sql::Sql),
    /// Check that a run or a release is whole, and that its figures follow from its tables
    Verify(verify::Verify),
    /// Show processor, memory, caches, and which models and encoders can be used
    Doctor(doctor::Doctor),
    /// Print the completions of a shell
    Completions(shell::Completions),
    /// Write the manual pages
    Man(shell::Man),
}

impl Arguments {
    /// Carries out the command.
    ///
    /// # Errors
    /// Whatever kept it from being done; the exit code is then 2.
    pub fn carry_out(self) -> Result<Done> {
        log::begin(self.verbose);
        match self.command {
            Command::Run(run) => run.carry_out(),
            Command::Measure(measure) => measure.carry_out(),
            Command::Variants(variants) => variants.carry_out(),
            Command::Import(import) => import.carry_out(),
            Command::Analyze(analyze) => analyze.carry_out(),
            Command::Compare(compare) => compare.carry_out(),
            Command::Report(report) => report.carry_out(),
            Command::Release(release) => release.carry_out(),
            Command::Sql(sql) => sql.carry_out(),
            Command::Verify(verify) => verify.carry_out(),
            Command::Doctor(doctor) => doctor.carry_out(),
            Command::Completions(completions) => completions.carry_out(),
            Command::Man(man) => man.carry_out(),
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

/// Says on stderr that a run, or a later measurement of it, is not complete, where that is so.
fn note_if_incomplete(run: &Path) {
    if let Ok(Some(begun)) = Begun::read(run) {
        say(&format!("note: {}", begun.unfinished(run)));
    }
    if run.join("plan.json").exists() && !run.join("manifest.json").exists() {
        say(&format!("note: {} is not complete; the command that began it goes on with it", run.display()));
    }
}

/// A line on stderr. One that can't be written (a closed pipe, a full disk) must not end the work.
fn say(text: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// A size for people.
fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

/// Writes to stdout. A reader that has seen enough ends neither the work nor its verdict: what a check or gate says is
/// in the exit code.
///
/// # Errors
/// Stdout can't be written.
fn print(text: &str) -> Result<()> {
    use std::io::{ErrorKind, Write};
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(Error::io("write", "stdout")),
    }
}
