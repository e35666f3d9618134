//! `sago measure`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::progress::Stderr;
use super::run::{KEPT, stop_on_ctrl_c};
use super::{Done, print};
use crate::plan::config::Measure as Settings;
use crate::plan::{self, Said};
use crate::run::{self, Again, Progress};
use crate::store::begun::Begun;
use crate::{Error, Result, query};

/// Measure the responses of a complete run again, without asking a model
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sago measure runs/first --encoder models/roberta-large --layer 17    BERTScore by another encoder
  sago measure runs/first --encoder minilm                             and back
  sago measure runs/first --encoder minilm --idf                       rare words weigh more
  sago measure runs/first --metrics --judges rules                     after an update of sago

The responses stay as they are. New scores take the place of the old ones, in the tables similarities and judgements, with
their signatures; copy the run first to keep both. Which wordings are valid stays as the run decided it.
Ctrl-C stops and keeps what is complete; the same command goes on. Until it has ended, `sago analyze` refuses the run.")]
pub struct Measure {
    /// Directory of the run
    run: PathBuf,
    /// Encoder of BERTScore: minilm, a folder, or a hub id as org/name
    #[arg(long, value_name = "PATH")]
    encoder: Option<String>,
    /// The encoder's layer, from 1; where none is said, one that suits it
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    layer: Option<i64>,
    /// Weigh tokens more that few of the run's prompts have
    #[arg(long)]
    idf: bool,
    /// BLEU and chrF
    #[arg(long)]
    metrics: bool,
    /// Judges of mirroring
    #[arg(long, value_name = "JUDGES")]
    judges: Option<Judges>,
    /// No progress on stderr
    #[arg(long, short)]
    quiet: bool,
}

/// Judges that need no model.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Judges {
    /// The built-in rules
    Rules,
}

impl Measure {
    pub fn carry_out(self) -> Result<Done> {
        let progress = Stderr::new(self.quiet);
        let encoder = self.encoder.clone().or_else(|| (self.layer.is_some() || self.idf).then(|| "minilm".to_string()));
        let (layer, idf, judges) = (self.layer, self.idf, self.judges.is_some());
        let said = Begun { encoder, layer, idf, metrics: self.metrics, judges };
        if said == Begun::default() {
            let error = Error::input("what should be measured?");
            return Err(error.expected("one or more of --encoder, --layer, --idf, --metrics, --judges rules").into());
        }
        let scorer = match &said.encoder {
            Some(encoder) if encoder == "none" => {
                let error = Error::input("without an encoder there is nothing to measure").key("--encoder");
                return Err(error.found("none").expected("minilm, a folder, or a hub id as org/name").into());
            }
            Some(encoder) => {
                let prompts = if idf { run::prompt_texts(&self.run)? } else { Vec::new() };
                let settings = Settings {
                    encoder: Some(Said::flag("--encoder", encoder.clone())),
                    layer: layer.map(|layer| Said::flag("--layer", layer)),
                    idf: Some(Said::flag("--idf", idf)),
                };
                plan::scorer(&settings, &prompts.iter().map(String::as_str).collect::<Vec<_>>(), &progress)?
            }
            None => None,
        };
        let stop = stop_on_ctrl_c(KEPT)?;
        let done = run::again(&self.run, &Again { said, scorer: scorer.as_ref() }, &stop, &progress)?;
        progress.say(&match done.replaced {
            0 => format!("{} holds just these scores; nothing was replaced", self.run.display()),
            n => format!("{n} of {} parts replaced", done.parts),
        });
        if !query::is_analyzed(&self.run)? {
            progress.say("analyzing");
            query::analyze(&self.run)?;
        }
        print(&query::sgs_table(&self.run)?)?;
        super::checks(&query::Analysis::default(), &self.run)
    }
}
