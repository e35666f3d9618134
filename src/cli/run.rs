//! `sago run`.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;

use super::progress::Stderr;
use super::{Done, print, say};
use crate::plan::config::{self, Config, Layers};
use crate::plan::{self, Said};
use crate::run::{self, Execution, Outcome, Progress};
use crate::{Error, Result, query};

/// Reword prompts, run models over them, and write every output to Parquet
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sago run --preset quick --out runs/first          the demo model on starter prompts, in minutes
  sago run --preset paper --model llama.gguf --out runs/llama
  sago run --preset paper --model Qwen/Qwen2.5-0.5B-Instruct --out runs/qwen
  sago run study.toml --dry-run                     what it comes to: rows, bytes
  sago run --model demo --dataset alpaca=alpaca.json --prompts 4 --out runs/alpaca

Flags win over the study file, the study file wins over the preset.
A directory that holds a part of the same run is gone on with; Ctrl-C stops and keeps what is complete.")]
pub struct Run {
    /// A study file (TOML)
    study: Option<PathBuf>,
    /// Settings to start from: paper, quick
    #[arg(long)]
    preset: Option<String>,
    /// Directory of the run
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    /// A GGUF file, a folder of safetensors, a hub id (org/name, org/name@revision, org/name:file.gguf), or demo; may be
    /// given several times
    #[arg(long, value_name = "PATH")]
    model: Vec<String>,
    /// Compute type of all models: auto, f32, bf16, f16, int8
    #[arg(long, value_name = "TYPE")]
    dtype: Option<String>,
    /// Device of all models: auto, cpu, cuda, cuda:N, metal
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// A data set, with a file to read it from; may be given several times
    #[arg(long, value_name = "NAME[=FILE]")]
    dataset: Vec<String>,
    /// Prompts per data set
    #[arg(long, short = 'n', value_name = "N", allow_negative_numbers = true)]
    prompts: Option<i64>,
    /// Seed of sampling and of the variants
    #[arg(long, allow_negative_numbers = true)]
    seed: Option<i64>,
    /// Subtypes of variants, separated by commas: politeness, spacing, punctuation, casing, length, form
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    subtypes: Vec<String>,
    /// A file of your own paraphrases (CSV, TSV or JSONL)
    #[arg(long, value_name = "FILE")]
    paraphrases: Option<PathBuf>,
    /// Most new tokens of a response
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_new_tokens: Option<i64>,
    /// Temperature; 0 is greedy
    #[arg(long, allow_negative_numbers = true)]
    temperature: Option<f64>,
    /// Nucleus to sample from
    #[arg(long, allow_negative_numbers = true)]
    top_p: Option<f64>,
    /// System turn before every prompt
    #[arg(long, value_name = "TEXT")]
    system_prompt: Option<String>,
    /// How often each prompt is asked
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    repeats: Option<i64>,
    /// Encoder of BERTScore: minilm, none, a folder, or a hub id as org/name
    #[arg(long)]
    encoder: Option<String>,
    /// Layers whose hidden states are kept: all, none, or numbers separated by commas
    #[arg(long, value_name = "LAYERS", allow_hyphen_values = true)]
    activations: Option<String>,
    /// Most wordings in one batch; changes speed and memory, not the rows
    #[arg(long, value_name = "N", default_value_t = 96, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    batch: u32,
    /// Say what would be run, and stop
    #[arg(long)]
    dry_run: bool,
    /// No progress on stderr
    #[arg(long, short)]
    quiet: bool,
}

impl Run {
    pub fn carry_out(self) -> Result<Done> {
        let mut config = self.flags()?;
        if let Some(path) = &self.study {
            config = config.over(config::read(path)?);
        }
        let progress = Stderr::new(self.quiet);
        let study = plan::settle(config, &progress)?;
        study.notes.iter().for_each(|note| progress.say(&format!("note: {note}")));
        if self.dry_run {
            print(&plan::describe(&study))?;
            return Ok(Done::All);
        }
        let Some(out) = &self.out else {
            return Err(Error::input("where should the run go?").key("--out").fix("say --out runs/NAME").into());
        };
        let stop = stop_on_ctrl_c(KEPT)?;
        let outcome = run::run(&study, out, Execution { batch: self.batch as usize, stop: &stop }, &progress)?;
        let failed_rows = match outcome {
            Outcome::AlreadyComplete { failed_rows } => {
                progress.say(&format!("{} is complete; nothing to do", out.display()));
                failed_rows
            }
            Outcome::Completed { failed_rows, timing } => {
                progress.say(&timing.to_string());
                failed_rows
            }
        };
        if !query::is_analyzed(out)? {
            progress.say("analyzing");
            query::analyze(out)?;
        }
        print(&query::sgs_table(out)?)?;
        if failed_rows > 0 {
            say(&format!("{failed_rows} rows failed; see the column error of the table generations"));
        }
        match super::checks(&query::Analysis::default(), out)? {
            Done::All if failed_rows > 0 => Ok(Done::WithFailedRows),
            done => Ok(done),
        }
    }

    /// The flags as a config.
    fn flags(&self) -> Result<Config> {
        let mut config = Config {
            preset: said("--preset", &self.preset),
            seed: said("--seed", &self.seed),
            prompts: said("--prompts", &self.prompts),
            dtype: said("--dtype", &self.dtype),
            device: said("--device", &self.device),
            ..Config::default()
        };
        config.generation.max_new_tokens = said("--max-new-tokens", &self.max_new_tokens);
        config.generation.temperature = said("--temperature", &self.temperature);
        config.generation.top_p = said("--top-p", &self.top_p);
        config.generation.seed = None;
        config.generation.system_prompt = said("--system-prompt", &self.system_prompt);
        config.generation.repeats = said("--repeats", &self.repeats);
        config.variants.paraphrases = said("--paraphrases", &self.paraphrases);
        if !self.subtypes.is_empty() {
            let each = self.subtypes.iter().map(|s| Said::flag("--subtypes", s.clone())).collect();
            config.variants.subtypes = Some(Said::flag("--subtypes", each));
        }
        config.measure.encoder = said("--encoder", &self.encoder);
        config.store.activations = self.activations.as_deref().map(layers).transpose()?;
        config.model = self.model.iter().map(|path| model(path)).collect();
        config.dataset = self.dataset.iter().map(|entry| dataset(entry)).collect();
        Ok(config)
    }
}

fn said<T: Clone>(flag: &str, value: &Option<T>) -> Option<Said<T>> {
    value.clone().map(|v| Said::flag(flag, v))
}

fn model(path: &str) -> config::Model {
    config::Model {
        name: None,
        path: Said::flag("--model", path.to_string()),
        revision: None,
        dtype: None,
        device: None,
        template: None,
        escape_special_tokens: None,
    }
}

fn dataset(entry: &str) -> config::Dataset {
    let (name, path) = match entry.split_once('=') {
        Some((name, path)) => (name, Some(Said::flag("--dataset", PathBuf::from(path)))),
        None => (entry, None),
    };
    config::Dataset {
        name: Said::flag("--dataset", name.to_string()),
        path,
        prompts: None,
        prompt: None,
        input: None,
        answers: None,
        answers_as: None,
        id: None,
        category: None,
    }
}

fn layers(text: &str) -> Result<Said<Layers>> {
    let numbers: Option<Vec<i64>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
    Ok(Said::flag("--activations", numbers.map_or_else(|| Layers::Word(text.to_string()), Layers::List)))
}

/// What is said where the work goes on another time.
pub(super) const KEPT: &str = "stopping after the current step; what is complete is kept (again: stop at once)";

/// A flag that Ctrl-C and a termination signal raise, the first time with `words`; a second one ends the process.
pub(super) fn stop_on_ctrl_c(words: &'static str) -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&stop);
    on_ctrl_c(words, move || raised.swap(true, Ordering::Relaxed))?;
    Ok(stop)
}

/// Has Ctrl-C and a termination signal `ask` for an end, the first time with `words`; where `ask` says that it was asked
/// before, the process ends.
pub(super) fn on_ctrl_c(words: &'static str, ask: impl Fn() -> bool + Send + 'static) -> Result<()> {
    ctrlc::set_handler(move || {
        if ask() {
            std::process::exit(2);
        }
        say(&format!("\n{words}"));
    })
    .map_err(|e| Error::io("listen for", "Ctrl-C")(std::io::Error::other(e)))
}
