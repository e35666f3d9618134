//! `sago sql`: queries from the command line, a file, a pipe or a prompt.
//!
//! In: runs or files, and SQL. Out: rows in a format of the user's choice, on stdout or in a file.

mod complete;
mod console;
mod prompt;

use std::io::{IsTerminal, Read, stdin};
use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use self::console::{Console, Output};
use super::own_models::OwnModels;
use super::{Done, Limits, note_if_incomplete, say};
use crate::query::{Format, Session, script};
use crate::store::check::check_parts;
use crate::{Error, Result, text_file};

/// Ask SQL of runs, or of plain files
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sago sql runs/first                          a prompt; \\? lists its commands
  sago sql runs/first -c '\\d'                  the tables; -c '\\d deltas' the columns of one
  sago sql runs/first -c \"select * from sgs_model\"
  sago sql runs/first -f figures.sql --output figures.csv
  sago sql runs/first -c \"select * from deltas\" --output deltas.parquet
  sago sql runs/first runs/second -c \"select run, axis, sgs from sgs_model\"
  sago sql -c \"select bleu(reference, candidate) from 'pairs.jsonl'\"

Files in quotes may be .parquet, .csv, .tsv, .json, .jsonl and .ndjson. Of several runs each table holds the rows of all,
with a first column `run`. Without -c and -f statements are read from standard input.")]
pub struct Sql {
    /// Directories of runs; without any, name files in the query
    runs: Vec<PathBuf>,
    /// Statements, divided by `;`, or a command as `\d`
    #[arg(short, long, value_name = "SQL", allow_hyphen_values = true)]
    command: Option<String>,
    /// A file of statements
    #[arg(short, long, value_name = "FILE", conflicts_with = "command")]
    file: Option<PathBuf>,
    /// How to write the rows [default: by the ending of --output, else table]
    #[arg(long, value_parser = PossibleValuesParser::new(Format::NAMES).try_map(|s| s.parse::<Format>()))]
    format: Option<Format>,
    /// Write to this file, whole or not at all, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    models: OwnModels,
    #[command(flatten)]
    limits: Limits,
}

impl Sql {
    pub fn carry_out(self) -> Result<Done> {
        let text = match (&self.command, &self.file) {
            (Some(sql), _) => Some(sql.clone()),
            (None, Some(file)) => Some(text_file::read(file)?),
            (None, None) if stdin().is_terminal() => None,
            (None, None) => {
                let mut text = String::new();
                stdin().read_to_string(&mut text).map_err(Error::io("read", "standard input"))?;
                Some(text)
            }
        };
        if text.is_none() && self.output.is_some() {
            return Err(Error::input("--output needs a query").fix("say it with -c or -f").into());
        }
        if self.runs.is_empty() && self.models.is_given() {
            return Err(Error::input("--sql needs a run: models are made of its tables").fix("name the run").into());
        }
        for run in &self.runs {
            note_if_incomplete(run);
            // One may look at what is left; that something is missing must not pass unsaid.
            if let Err(damage) = check_parts(run) {
                say(&format!("note: {damage}"));
            }
        }
        let format = self.format()?;
        let session = if self.runs.is_empty() {
            Session::with(self.limits.resources())?
        } else {
            self.models.analysis()?.with_resources(self.limits.resources()).open_all(&self.runs)?
        };
        note_unwritten(&session);
        let output = Output::new(self.output.as_deref())?;
        let mut console = Console::new(session, format, output);
        match text {
            Some(text) => {
                console.carry_out(&script(&text, self.file.as_deref()))?;
                console.finish()?;
            }
            None => prompt::run(&mut console)?,
        }
        Ok(Done::All)
    }

    /// The format that was asked for, by name or by the ending of the output.
    ///
    /// # Errors
    /// The ending is that of no format.
    fn format(&self) -> Result<Format> {
        let ending = self.output.as_ref().and_then(|file| file.extension());
        let (None, Some(ending)) = (self.format, ending) else { return Ok(self.format.unwrap_or_default()) };
        let ending = ending.to_string_lossy().to_ascii_lowercase();
        if ending == "txt" {
            return Ok(Format::Table);
        }
        ending.parse().map_err(|_| {
            let error = Error::input("--output ends in that of no format").found(format!(".{ending}"));
            error.expected(".txt, .csv, .json, .ndjson, .parquet or .md").fix("or name a format with --format").into()
        })
    }
}

/// Says that tables are computed here, and how they would be kept.
fn note_unwritten(session: &Session) {
    let lacking = session.unwritten().len();
    if lacking > 0 {
        say(&format!(
            "note: {lacking} derived tables are not there, or not of these raw tables, models and this version: each is \
             computed when it is named; `sago analyze RUN` writes them"
        ));
    }
}
