//! Config: a study as its author writes it, in TOML or by flags; everything optional, nothing checked but names and types.
//!
//! In: TOML text. Out: a [`Config`], to be laid over a preset and then settled into a plan.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::said::{Said, line_of};
use crate::datasets::ListForm;
use crate::model::hub::{self, HubName};
use crate::{Error, Result, text_file};

/// A list that knows where it and each of its values stand.
pub type List<T> = Said<Vec<Said<T>>>;

/// A study file. Unknown keys are errors.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Settings to start from: `paper` or `quick`.
    pub preset: Option<Said<String>>,
    /// Seed of sampling and of the variants.
    pub seed: Option<Said<i64>>,
    /// Prompts per data set (N).
    pub prompts: Option<Said<i64>>,
    /// How the models answer.
    #[serde(default)]
    pub generation: Generation,
    /// How prompts are reworded.
    #[serde(default)]
    pub variants: Variants,
    /// What is measured on responses.
    #[serde(default)]
    pub measure: Measure,
    /// What is kept.
    #[serde(default)]
    pub store: Store,
    /// The models.
    #[serde(default)]
    pub model: Vec<Model>,
    /// Compute type of all models, of the command line.
    #[serde(skip)]
    pub dtype: Option<Said<String>>,
    /// Device of all models, of the command line.
    #[serde(skip)]
    pub device: Option<Said<String>>,
    /// The data sets.
    #[serde(default)]
    pub dataset: Vec<Dataset>,
}

/// `[generation]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generation {
    /// Most new tokens of a response.
    pub max_new_tokens: Option<Said<i64>>,
    /// Whether generation goes on after an end token, up to `max_new_tokens`.
    pub ignore_end: Option<Said<bool>>,
    /// 0 is greedy.
    pub temperature: Option<Said<f64>>,
    /// Nucleus of the distribution that is sampled from.
    pub top_p: Option<Said<f64>>,
    /// Seed of sampling; without effect at temperature 0.
    pub seed: Option<Said<i64>>,
    /// A system turn before the prompt; without it the template's own default holds.
    pub system_prompt: Option<Said<String>>,
    /// How often each prompt is asked.
    pub repeats: Option<Said<i64>>,
}

/// `[variants]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variants {
    /// Subtypes to make.
    pub subtypes: Option<List<String>>,
    /// Places to put noise and framing.
    pub places: Option<List<String>>,
    /// Strengths by subtype.
    #[serde(default)]
    pub strengths: Strengths,
    /// Whether the built-in variants are made at all.
    pub built_in: Option<Said<bool>>,
    /// A file of the user's own paraphrases.
    pub paraphrases: Option<Said<PathBuf>>,
    /// `rewrites` (length, form and own paraphrases must pass) or `none`.
    pub validity: Option<Said<String>>,
    /// BERTScore F1 that a rewrite must reach; by default the scorer's calibrated threshold.
    pub threshold: Option<Said<f64>>,
}

/// `[variants.strengths]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Strengths {
    /// -10..10 without 0; rude to polite.
    pub politeness: Option<List<f64>>,
    /// Spaces added.
    pub spacing: Option<List<f64>>,
    /// Marks added.
    pub punctuation: Option<List<f64>>,
    /// Percent of letters.
    pub casing: Option<List<f64>>,
    /// Multiple of the prompt's word count.
    pub length: Option<List<f64>>,
}

/// `[measure]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// BERTScore's encoder: `minilm`, a folder, a hub id, or `none`.
    pub encoder: Option<Said<String>>,
    /// Its layer.
    pub layer: Option<Said<i64>>,
    /// Whether tokens weigh more that few of the study's prompts have.
    pub idf: Option<Said<bool>>,
}

/// `[store]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Store {
    /// Hidden states whose vectors are kept: `all`, `none`, or a list of layers.
    pub activations: Option<Said<Layers>>,
}

/// Which layers' vectors are kept.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "expected \"all\", \"none\" or a list of layer numbers")]
pub enum Layers {
    /// `all` or `none`.
    Word(String),
    /// These layers; 0 is the embedding output.
    List(Vec<i64>),
}

/// `[[model]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Name in the tables; by default the file's or repository's name.
    pub name: Option<Said<String>>,
    /// `demo`, a GGUF file, a folder of safetensors, or a hub id.
    pub path: Said<String>,
    /// Branch, tag or commit on the hub; without it, what the cache has, else the branch `main`.
    pub revision: Option<Said<String>>,
    /// Compute type: `auto`, `f32`, `bf16`, `f16` or `int8`.
    pub dtype: Option<Said<String>>,
    /// Device: `auto`, `cpu`, `cuda`, `cuda:N` or `metal`.
    pub device: Option<Said<String>>,
    /// Options that the chat template is given, as `enable_thinking = false`.
    pub template: Option<Said<Options>>,
    /// Whether special-token text in prompts is read as plain text.
    pub escape_special_tokens: Option<Said<bool>>,
}

/// Options of a chat template by name, in the order in which they were written.
pub type Options = serde_json::Map<String, serde_json::Value>;

/// `[[dataset]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dataset {
    /// A known data set, or a name of the user's own with `path` and `prompt`.
    pub name: Said<String>,
    /// A file in one of the data set's layouts; without it the starter prompts are used.
    pub path: Option<Said<PathBuf>>,
    /// Prompts of this data set, in place of the study's N.
    pub prompts: Option<Said<i64>>,
    /// Column that holds the prompt; a dotted path goes into nested fields.
    pub prompt: Option<Said<String>>,
    /// Column with a further input that is put after the prompt.
    pub input: Option<Said<String>>,
    /// Column with the reference answers.
    pub answers: Option<Said<String>>,
    /// How that column holds several answers: `auto`, `text` (one), `python` (a written list) or `joined` (by `; `).
    pub answers_as: Option<Said<ListForm>>,
    /// Column with the row's own id.
    pub id: Option<Said<String>>,
    /// Column with the category.
    pub category: Option<Said<String>>,
}

/// Reads a study file.
///
/// # Errors
/// The file can't be read, is not TOML, or has an unknown key or a wrong type: the message names key and line.
pub fn read(path: &Path) -> Result<Config> {
    let text = text_file::read(path)?;
    let mut config = parse(&text, path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    // Paths in a study file are relative to it, so that a study can be moved as a folder.
    let beside = |p: &mut PathBuf| *p = folder.join(&*p);
    config.variants.paraphrases.iter_mut().for_each(|p| beside(&mut p.value));
    config.dataset.iter_mut().filter_map(|d| d.path.as_mut()).for_each(|p| beside(&mut p.value));
    // What is no file beside the study may be of the hub.
    let named = |name: &mut String, words: &[&str]| {
        let path = folder.join(&*name);
        if !words.contains(&name.as_str()) && (path.exists() || HubName::parse(name).is_none()) {
            *name = path.to_string_lossy().into_owned();
        }
    };
    if let Some(encoder) = &mut config.measure.encoder {
        named(&mut encoder.value, &["minilm", "none"]);
    }
    config.model.iter_mut().for_each(|model| named(&mut model.path.value, &[hub::DEMO]));
    Ok(config)
}

/// Parses the text of a study file; `file` is named in errors.
///
/// # Errors
/// Not TOML, an unknown key or a wrong type: the message names key and line.
pub fn parse(text: &str, file: &Path) -> Result<Config> {
    let mut config: Config = toml::from_str(text).map_err(|e| {
        let what =
            e.message().replace("expected i64", "expected a whole number").replace("expected f64", "expected a number");
        let mut error = Error::input(format!("{} is not a study file: {what}", file.display())).file(file);
        if what.contains("expected a sequence") {
            error = error.fix("models and data sets are lists: write [[model]] and [[dataset]]");
        }
        if let Some(span) = e.span() {
            error = error.line(line_of(text, span.start));
            let line = text[..span.start].rfind('\n').map_or(0, |i| i + 1);
            error = error.found(text[line..].lines().next().unwrap_or_default().trim().to_string());
        }
        error
    })?;
    config.locate(file, text);
    Ok(config)
}

macro_rules! each_said {
    ($over:expr, $f:expr, [$($($field:ident).+),* $(,)?]) => { $( $over.$($field).+.iter_mut().for_each($f); )* };
}

macro_rules! prefer {
    ($over:expr, $base:expr, [$($($field:ident).+),* $(,)?]) => { $( $over.$($field).+ = $over.$($field).+.or($base.$($field).+); )* };
}

impl Config {
    fn locate(&mut self, file: &Path, text: &str) {
        each_said!(
            self,
            |s| s.locate(file, text),
            [preset, generation.system_prompt, variants.validity, measure.encoder]
        );
        each_said!(self, |s| s.locate(file, text), [seed, prompts, generation.max_new_tokens, generation.seed]);
        each_said!(self, |s| s.locate(file, text), [generation.repeats, measure.layer]);
        each_said!(self, |s| s.locate(file, text), [generation.temperature, generation.top_p, variants.threshold]);
        each_said!(self, |s| s.locate(file, text), [generation.ignore_end, variants.built_in, measure.idf]);
        each_said!(self, |s| s.locate(file, text), [variants.paraphrases]);
        each_said!(self, |s| s.locate(file, text), [store.activations]);
        for list in [&mut self.variants.subtypes, &mut self.variants.places].into_iter().flatten() {
            list.locate(file, text);
            list.value.iter_mut().for_each(|s| s.locate(file, text));
        }
        let Strengths { politeness, spacing, punctuation, casing, length } = &mut self.variants.strengths;
        for list in [politeness, spacing, punctuation, casing, length].into_iter().flatten() {
            list.locate(file, text);
            list.value.iter_mut().for_each(|s| s.locate(file, text));
        }
        for model in &mut self.model {
            model.path.locate(file, text);
            each_said!(model, |s| s.locate(file, text), [name, revision, dtype, device]);
            each_said!(model, |s| s.locate(file, text), [template]);
            each_said!(model, |s| s.locate(file, text), [escape_special_tokens]);
        }
        for dataset in &mut self.dataset {
            dataset.name.locate(file, text);
            each_said!(dataset, |s| s.locate(file, text), [path]);
            each_said!(dataset, |s| s.locate(file, text), [prompts]);
            each_said!(dataset, |s| s.locate(file, text), [answers_as]);
            each_said!(dataset, |s| s.locate(file, text), [prompt, input, answers, id, category]);
        }
    }

    /// This config where it says something, `base` where it does not. Lists of models and data sets are taken whole.
    pub fn over(mut self, base: Config) -> Config {
        prefer!(
            self,
            base,
            [preset, seed, prompts, generation.max_new_tokens, generation.temperature, generation.top_p]
        );
        prefer!(self, base, [generation.seed, generation.system_prompt, generation.repeats, generation.ignore_end]);
        prefer!(self, base, [variants.subtypes, variants.places, variants.built_in, variants.paraphrases]);
        prefer!(self, base, [variants.validity, variants.threshold, variants.strengths.politeness]);
        prefer!(self, base, [variants.strengths.spacing, variants.strengths.punctuation, variants.strengths.casing]);
        prefer!(self, base, [variants.strengths.length, measure.encoder, measure.layer, measure.idf]);
        prefer!(self, base, [store.activations]);
        prefer!(self, base, [dtype, device]);
        if self.model.is_empty() {
            self.model = base.model;
        }
        if self.dataset.is_empty() {
            self.dataset = base.dataset;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        parse(text, Path::new("study.toml")).unwrap_err().to_string()
    }

    #[test]
    fn unknown_keys_and_wrong_types_name_key_line_and_choices() {
        let unknown = error("seed = 1\n[generation]\nmax_tokens = 5\n");
        assert!(unknown.contains("unknown field `max_tokens`") && unknown.contains("`max_new_tokens`"), "{unknown}");
        assert!(unknown.contains("study.toml, line 3"), "{unknown}");
        let wrong = error("prompts = \"many\"\n");
        assert!(wrong.contains("line 1") && wrong.contains("whole number") && wrong.contains("many"), "{wrong}");
        assert!(error("seed = \n").contains("line 1"));
        assert!(error("[store]\nactivations = 3.5\n").contains("\"all\", \"none\" or a list"));
    }

    #[test]
    fn what_is_said_wins_over_the_base() {
        let base = parse("seed = 1\nprompts = 16\n[[dataset]]\nname = \"alpaca\"\n", Path::new("a")).unwrap();
        let over = parse("\n\nprompts = 2\n", Path::new("b.toml")).unwrap().over(base);
        assert_eq!(over.seed.map(|s| s.value), Some(1));
        let prompts = over.prompts.unwrap();
        assert_eq!(prompts.value, 2);
        assert!(prompts.wrong("prompts", "no").to_string().contains("at b.toml, line 3"));
        assert_eq!(over.dataset.len(), 1);
    }

    #[test]
    fn template_options_keep_their_order() {
        let text = "[[model]]\npath = \"demo\"\ntemplate = { z = false, a = \"x\", m = [1] }\n";
        let config = parse(text, Path::new("a")).unwrap();
        let options = &config.model[0].template.as_ref().unwrap().value;
        assert_eq!(serde_json::to_string(options).unwrap(), r#"{"z":false,"a":"x","m":[1]}"#);
    }

    #[test]
    fn a_model_that_is_no_file_beside_the_study_is_one_of_the_hub() {
        let folder = tempfile::tempdir().unwrap();
        let models = ["demo", "org/name", "org/there", "x.gguf", "org/x.gguf"];
        let text: String = models.iter().map(|path| format!("[[model]]\npath = \"{path}\"\n")).collect();
        std::fs::create_dir_all(folder.path().join("org/there")).unwrap();
        std::fs::write(folder.path().join("study.toml"), text).unwrap();
        let config = read(&folder.path().join("study.toml")).unwrap();
        let beside = |path: &str| folder.path().join(path).to_str().unwrap().to_string();
        let wanted = ["demo".into(), "org/name".into(), beside("org/there"), beside("x.gguf"), beside("org/x.gguf")];
        assert_eq!(config.model.into_iter().map(|m| m.path.value).collect::<Vec<_>>(), wanted);
    }
}
