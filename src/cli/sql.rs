//! `sago sql`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::{Done, note_if_incomplete};
use crate::query::{self, Format, Session};
use crate::{Error, Result};

/// Ask SQL of a run, or of plain files
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sago sql runs/first -c \"select * from sgs_model\"
  sago sql runs/first -c \"select response from generations where variant_id = 'baseline'\" --format json
  sago sql -c \"select bleu(reference, candidate) from 'pairs.jsonl'\"

Files in quotes may be .parquet, .csv, .tsv, .json, .jsonl and .ndjson.")]
pub struct Sql {
    /// Directory of a run; without it, name files in the query
    run: Option<PathBuf>,
    /// The query
    #[arg(short, long, value_name = "SQL", required_unless_present = "file")]
    command: Option<String>,
    /// A file with the query
    #[arg(short, long, value_name = "FILE", conflicts_with = "command")]
    file: Option<PathBuf>,
    /// How to print the rows
    #[arg(long, default_value = "table", value_parser = PossibleValuesParser::new(Format::NAMES).try_map(|s| s.parse::<Format>()))]
    format: Format,
}

impl Sql {
    pub fn carry_out(self) -> Result<Done> {
        let sql = match (&self.command, &self.file) {
            (Some(sql), _) => sql.clone(),
            (None, Some(file)) => std::fs::read_to_string(file).map_err(Error::io("read", file))?,
            (None, None) => return Err(Error::input("there is no query").fix("say it with -c or -f").into()),
        };
        let session = match &self.run {
            Some(run) => {
                note_if_incomplete(run);
                Session::open_run(run)?
            }
            None => Session::new(None)?,
        };
        let rows = session.query(&sql)?;
        query::print(&rows, self.format, &mut std::io::stdout().lock())?;
        Ok(Done::All)
    }
}
