//! `sago release`.

use std::path::PathBuf;

use clap::Args;

use super::run::on_ctrl_c;
use super::{Done, Limits, mib, say};
use crate::query::{Analysis, Stop, size_in_bytes};
use crate::release::{self, Options, Outcome};
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
each table has a first column `run`. The release is checked as `sago verify` does before it gets its name; where a check
fails nothing is released, and the exit code is 3.")]
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
    /// Page at which the release will be found, for its metadata and citation
    #[arg(long)]
    url: Option<String>,
    /// Leave out the texts of this data set; may be given several times
    #[arg(long, value_name = "DATASET")]
    without_texts: Vec<String>,
    /// Tables of your own models too; where texts are left out, not those made from tables that hold texts
    #[arg(long)]
    own_tables: bool,
    /// Hidden states too; their size is said before they are written
    #[arg(long)]
    activations: bool,
    /// Size at which a file of a table ends and the next begins, as 512MiB [default: 512MiB]
    #[arg(long, value_name = "SIZE", value_parser = part_size)]
    part_size: Option<usize>,
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
            url: self.url,
            without_texts: self.without_texts,
            own_tables: self.own_tables,
            activations: self.activations,
            part_bytes: self.part_size,
            csv: self.csv,
        };
        let analysis = Analysis::default().with_resources(self.limits.resources());
        let stop = Stop::default();
        let asked = stop.clone();
        on_ctrl_c("stopping; nothing is left (again: at once; the next call removes what is left)", move || {
            asked.ask()
        })?;
        let tell = |what: &str| {
            if !self.quiet {
                say(what);
            }
        };
        match release::release(&analysis, &options, &stop, tell) {
            Ok(Outcome::Released { files, bytes, rows }) => {
                tell(&format!("{}: {files} files, {}, {rows} rows", options.out.display(), mib(bytes)));
                if options.license.is_none() {
                    tell("note: the card says that no licence is stated for the results; --license ID states one");
                }
                Ok(Done::All)
            }
            Ok(Outcome::CheckFailed(faults)) => {
                say("the runs' figures do not hold together; nothing was released");
                faults.iter().for_each(|fault| say(fault));
                say("`sago verify RUN` says what is wrong with a run; `sago analyze RUN` computes its tables anew");
                Ok(Done::CheckFailed)
            }
            Err(Error::Interrupted) => Err(Error::input("stopped; nothing was released, and nothing is left").into()),
            Err(other) => Err(other),
        }
    }
}

/// A size as people write it, from 1kB to 1TB.
fn part_size(text: &str) -> Result<usize, String> {
    let bytes = size_in_bytes(text).ok().filter(|bytes| (1e3..=1e12).contains(bytes));
    bytes.map(|bytes| bytes as usize).ok_or_else(|| "expected a size from 1kB to 1TB, as 512MiB".to_string())
}
