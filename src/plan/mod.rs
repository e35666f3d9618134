//! Plan: TOML and flags become what will be run.
//!
//! In: a [`Config`], laid over a preset. Out: a [`Study`]: the [`Plan`] that is written to plan.json, and its prompts and variants.
//! Nothing after this module reads user text again.

pub mod config;
mod describe;
mod said;
mod settle;
mod sources;

use std::path::Path;

use serde::Serialize;

pub use config::{Config, Options};
pub use describe::describe;
pub use said::{Place, Said};
pub use settle::settle;
pub use sources::scorer;

use crate::datasets::Prompt;
use crate::measure::bertscore::BertScorer;
use crate::model::hub::Found;
use crate::variants::{Grid, Variant};
use crate::{Error, Result};

/// Everything that determines the rows of a run. Serialized, it is plan.json, and its hash is the run's id.
#[derive(Debug, Clone, Serialize)]
pub struct Plan {
    /// Version of the raw tables' contract.
    pub schema_version: u32,
    /// Seed of sampling and of the variants.
    pub seed: u64,
    /// The models, in the order in which they run.
    pub models: Vec<ModelPlan>,
    /// The data sets, in the order in which they run.
    pub datasets: Vec<DatasetPlan>,
    /// How the models answer.
    pub generation: GenerationPlan,
    /// How prompts are reworded.
    pub variants: VariantsPlan,
    /// What is measured.
    pub measures: MeasuresPlan,
    /// Layers whose vectors are kept; None keeps all.
    pub activation_layers: Option<Vec<usize>>,
    /// What this comes to.
    pub planned: Counts,
}

/// One model of a plan.
#[derive(Debug, Clone, Serialize)]
pub struct ModelPlan {
    /// Name in the tables.
    pub name: String,
    /// `demo`, the file's or folder's name, or the hub id.
    pub source: String,
    /// Commit on the hub; None for files of the user's own.
    pub revision: Option<String>,
    /// Architecture.
    pub family: String,
    /// Hash of the weights' file, or of the hashes of its shards.
    pub weights_sha256: String,
    /// Hash of the tokenizer.
    pub tokenizer_sha256: String,
    /// Hash of the chat template; None where the model has none and gets the plain prompt.
    pub template_sha256: Option<String>,
    /// Options that the chat template is given.
    pub template_options: Options,
    /// Compute type.
    pub dtype: String,
    /// Device.
    pub device: String,
    /// Blocks; there are layers + 1 hidden states.
    pub layers: usize,
    /// Number of weights.
    pub parameters: u64,
    /// Number of tokens.
    pub vocabulary: usize,
    /// Most tokens of prompt and response together.
    pub context: usize,
    /// Length of a hidden state.
    pub width: usize,
    /// Whether special-token text in prompts is read as plain text.
    pub escape_special_tokens: bool,
}

/// One data set of a plan.
#[derive(Debug, Clone, Serialize)]
pub struct DatasetPlan {
    /// Name in the tables.
    pub name: String,
    /// `starter` for the embedded prompts, else the file's name.
    pub source: String,
    /// Hash of the file, or of the embedded prompts.
    pub sha256: String,
    /// The file's layout.
    pub layout: Option<String>,
    /// Licence of the texts, where it is known.
    pub licence: Option<String>,
    /// Rows of the source.
    pub rows: usize,
    /// Keys of the sampled prompts, in run order.
    pub prompt_ids: Vec<String>,
}

/// How the models answer.
#[derive(Debug, Clone, Serialize)]
pub struct GenerationPlan {
    /// Most new tokens of a response.
    pub max_new_tokens: usize,
    /// Whether generation goes on after an end token: every response then has `max_new_tokens`.
    pub ignore_end: bool,
    /// 0 is greedy.
    pub temperature: f64,
    /// Nucleus of the distribution that is sampled from.
    pub top_p: f64,
    /// Seed of sampling.
    pub seed: u64,
    /// System turn, where one is set.
    pub system_prompt: Option<String>,
    /// How often each prompt is asked.
    pub repeats: usize,
}

/// How prompts are reworded.
#[derive(Debug, Clone, Serialize)]
pub struct VariantsPlan {
    /// Subtypes, strengths and places; None where only own paraphrases run.
    pub grid: Option<Grid>,
    /// Hash of the file of own paraphrases.
    pub paraphrases_sha256: Option<String>,
    /// `rewrites` or `none`.
    pub validity: String,
    /// BERTScore F1 that a rewrite must reach, where the rule applies and there is a scorer.
    pub threshold: Option<f64>,
}

/// What is measured, by signature.
#[derive(Debug, Clone, Serialize)]
pub struct MeasuresPlan {
    /// Corpus BLEU.
    pub bleu: String,
    /// chrF.
    pub chrf: String,
    /// BERTScore; None without an encoder.
    pub bertscore: Option<String>,
    /// Judges of mirroring.
    pub judges: Vec<String>,
}

/// What a plan comes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Prompts over all data sets.
    pub prompts: usize,
    /// Variant rows over all prompts, baselines included.
    pub variants: usize,
    /// Variant rows that have a text.
    pub wordings: usize,
    /// Rows of `generations`.
    pub generations: usize,
}

/// A plan with what it was made from.
#[derive(Debug)]
pub struct Study {
    /// The plan.
    pub plan: Plan,
    /// Sampled prompts by data set, in the plan's order.
    pub prompts: Vec<Vec<Prompt>>,
    /// Variants by data set and prompt; validity is not yet applied.
    pub variants: Vec<Vec<Vec<Variant>>>,
    /// Where the models' files are, in the plan's order.
    pub found: Vec<Found>,
    /// Scorer of BERTScore; None where the user wants none.
    pub scorer: Option<BertScorer>,
    /// What the user should know before it runs, a sentence each.
    pub notes: Vec<String>,
}

/// Reads a built-in preset.
///
/// # Errors
/// There is no preset of this name.
pub fn preset(name: &Said<String>) -> Result<Config> {
    let (file, text) = match name.value.as_str() {
        "paper" => ("preset paper", include_str!("presets/paper.toml")),
        "quick" => ("preset quick", include_str!("presets/quick.toml")),
        other => {
            let error = name.wrong("preset", format!("there is no preset \"{other}\""));
            return Err(error.expected("paper or quick").into());
        }
    };
    config::parse(text, Path::new(file))
}

impl DatasetPlan {
    /// Whether the prompts are the embedded ones.
    pub fn is_starter(&self) -> bool {
        self.layout.is_none()
    }
}

impl Plan {
    /// The plan as JSON.
    ///
    /// # Errors
    /// A number is not finite, which validation rules out.
    pub fn to_json(&self) -> Result<serde_json::Value> {
        serde_json::to_value(self).map_err(Error::table("plan"))
    }
}
