//! `sago release`.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::Args;

use super::run::stop_on_ctrl_c;
use super::{Done, Limits, mib, say};
use crate::query::Analysis;
use crate::release::{self, Options};
use crate::{Error, Result};

/// Make a folder of complete runs that can be pushed to a data hub as it is
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sago release runs/first --out releases/first
  sago release runs/llama runs/qwen --out releases/both --title \"Two small models\" --author \"A. Author\" --license CC-BY-4.0
  sago release runs/first --out releases/bare --without-texts triviaqa --csv
  sago verify releases/first

Flat Parquet tables with their keys inside, wide delta matrices, a data card, Croissant metadata, a citation file and
checksums. Texts of data sets that may not be passed on (Alpaca) are left out; ids and hashes are kept. Of several runs
each table has a first column `run`. The release is checked as `sago verify` does before it gets its name.")]
pub struct Release {
    /// Directories of complete, analysed runs
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// The folder to make; it must not be there, or be empty
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,
    /// Name for people [default: made of the models' names]
    #[arg(long)]
    title: Option<String>,
    /// Who is to be cited; may be given several times
    #[arg(long = "author", value_name = "NAME")]
    authors: Vec<String>,
    /// Licence of the results, as an SPDX identifier
    #[arg(long, value_name = "ID")]
    license: Option<String>,
    /// Leave out the texts of this data set; may be given several times
    #[arg(long, value_name = "DATASET")]
    without_texts: Vec<String>,
    /// Hidden states too; their size is said before they are written
    #[arg(long)]
    activations: bool,
    /// The wide matrices as CSV too
    #[arg(long)]
    csv: bool,
    /// Only errors
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    limits: Limits,
}

impl Release {
    pub fn carry_out(self) -> Result<Done> {
        let options = Options {
            runs: self.runs,
            out: self.out,
            title: self.title,
            authors: self.authors,
            license: self.license,
            without_texts: self.without_texts,
            activations: self.activations,
            csv: self.csv,
        };
        let analysis = Analysis::default().with_memory_limit(self.limits.memory_limit);
        let quiet = self.quiet;
        let stop =
            stop_on_ctrl_c("stopping after the current table; nothing is left (again: at once, a hidden folder is)")?;
        let tell = |what: &str| {
            if stop.load(Ordering::Relaxed) {
                return Err(Error::input("stopped; nothing was released, and nothing is left").into());
            }
            if !quiet {
                say(what);
            }
            Ok(())
        };
        let released = release::release(&analysis, &options, tell)?;
        if !quiet {
            let (files, size, rows) = (released.files, mib(released.bytes), released.rows);
            say(&format!("{}: {files} files, {size}, {rows} rows", options.out.display()));
            if options.license.is_none() {
                say("note: the card says that no licence is stated for the results; --license ID states one");
            }
        }
        Ok(Done::All)
    }
}
