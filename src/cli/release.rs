//! `sago release`.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;

use super::{Done, Limits, say};
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
        // A process that is killed at once would leave a half-made folder behind.
        let stopped = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&stopped);
        let handler = ctrlc::set_handler(move || stop.store(true, Ordering::SeqCst));
        handler.map_err(|e| Error::io("listen for", "Ctrl-C")(std::io::Error::other(e)))?;
        let tell = |what: &str| {
            if stopped.load(Ordering::SeqCst) {
                return Err(Error::input("stopped; nothing was released, and nothing is left").into());
            }
            if !quiet {
                say(what);
            }
            Ok(())
        };
        let released = release::release(&analysis, &options, tell)?;
        if !quiet {
            let (files, mib) = (released.files, released.bytes as f64 / f64::from(1 << 20));
            say(&format!("{}: {files} files, {mib:.1} MiB, {} rows", options.out.display(), released.rows));
            if options.license.is_none() {
                say("note: the card says that no licence is stated for the results; --license ID states one");
            }
        }
        Ok(Done::All)
    }
}
