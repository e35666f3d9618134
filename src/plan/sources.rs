//! Sources: what a study names (models, data sets, encoder) is found, checked and hashed.
//!
//! In: entries of a config. Out: their parts of the plan, sampled prompts, and files to open.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::config::{self, Config, Layers};
use super::{DatasetPlan, ModelPlan, Options, Said};
use crate::datasets::{self, Origin, Prompt};
use crate::measure::bertscore::BertScorer;
use crate::model::hub::{self, Found, HubName, Place, Settings, Transfer};
use crate::model::{self, Compute, Device, Loading, Model};
use crate::store::folder_name;
use crate::{Error, Result};

/// Prompts a data set, where nothing is said: the study's.
const PROMPTS: i64 = 16;
/// Source of prompts that are compiled in.
pub const STARTER: &str = "starter";
/// Word for the compute type that is right for the device.
const AUTO: &str = "auto";

/// Loads and samples every data set.
///
/// # Errors
/// None is given, a name stands twice, a file can't be used, or N is impossible.
pub fn datasets(config: &Config, seed: u64) -> Result<(Vec<DatasetPlan>, Vec<Vec<Prompt>>)> {
    if config.dataset.is_empty() {
        let known = datasets::descriptors()?.iter().map(|d| d.name.as_str()).collect::<Vec<_>>();
        return Err(Error::input("no data set is given")
            .expected(known.join(", ") + ", or a file of your own")
            .fix("add [[dataset]] with a name to the study file, or --dataset NAME, or --preset quick")
            .into());
    }
    let mut names = BTreeSet::new();
    let mut plans = Vec::new();
    let mut prompts = Vec::new();
    for entry in &config.dataset {
        slug(&entry.name, "dataset.name")?;
        if !names.insert(entry.name.value.clone()) {
            let error = entry.name.wrong("dataset.name", format!("data set {} is given twice", entry.name.value));
            return Err(error.fix("give each a name of its own").into());
        }
        let n = match entry.prompts.as_ref().or(config.prompts.as_ref()) {
            Some(said) => said.whole("prompts", 1..=i64::from(i32::MAX))?,
            None => PROMPTS as usize,
        };
        let loaded = match &entry.path {
            Some(path) => path.check("dataset.path", datasets::load(&spec(entry)))?,
            None => entry.name.check("dataset.name", datasets::load(&spec(entry)))?,
        };
        let rows = loaded.prompts.len();
        let from = match &loaded.origin {
            Origin::Starter { .. } => "the starter prompts",
            Origin::File { path, .. } => &*path.to_string_lossy(),
        };
        log::info!("data set {}: {rows} prompts from {from}", entry.name.value);
        let sampled = datasets::sample(loaded.prompts, n, seed);
        let sampled = match entry.prompts.as_ref().or(config.prompts.as_ref()) {
            Some(said) => said.check("prompts", sampled)?,
            None => sampled?,
        };
        let (source, sha256, layout) = match loaded.origin {
            Origin::Starter { sha256 } => (STARTER.to_string(), sha256, None),
            Origin::File { path, sha256, layout } => (file_name(&path), sha256, Some(layout)),
        };
        plans.push(DatasetPlan {
            name: entry.name.value.clone(),
            source,
            sha256,
            layout,
            licence: datasets::descriptor(&entry.name.value).ok().map(|d| d.licence.clone()),
            rows,
            prompt_ids: sampled.iter().map(|p| p.prompt_id.clone()).collect(),
        });
        prompts.push(sampled);
    }
    Ok((plans, prompts))
}

fn spec(entry: &config::Dataset) -> datasets::Spec {
    let column = |said: &Option<Said<String>>| said.as_ref().map(|s| s.value.clone());
    datasets::Spec {
        name: entry.name.value.clone(),
        path: entry.path.as_ref().map(|p| p.value.clone()),
        columns: datasets::Columns {
            prompt: column(&entry.prompt),
            input: column(&entry.input),
            answers: column(&entry.answers),
            answers_as: entry.answers_as.as_ref().map(|s| s.value),
            id: column(&entry.id),
            category: column(&entry.category),
        },
    }
}

/// Finds every model, fetches what is missing of it, and hashes it.
///
/// # Errors
/// None is given, a name stands twice, a model is not there, can't be fetched or can't run, or a model's context has no room
/// for `max_new_tokens`.
pub fn models(config: &Config, max_new_tokens: usize, transfer: &dyn Transfer) -> Result<(Vec<ModelPlan>, Vec<Found>)> {
    let entries = &config.model;
    if entries.is_empty() {
        return Err(Error::input("no model is given")
            .expected(hub::EXPECTED)
            .fix("add [[model]] with a path to the study file, or --model PATH, or --model demo")
            .into());
    }
    let mut names = BTreeSet::new();
    let mut plans = Vec::new();
    let mut places = Vec::new();
    let settings = Settings::of_environment();
    for entry in entries {
        let device = device(entry, config.device.as_ref())?;
        let compute = compute(entry, config.dtype.as_ref(), device)?;
        let loading = Loading { device, compute, template_options: options(entry)? };
        let found = find(entry, &settings, transfer)?;
        let name = match &entry.name {
            Some(said) => slug(said, "model.name")?,
            None => slug_of(&found),
        };
        if !names.insert(name.clone()) {
            let error = entry.path.wrong("model.path", format!("two models are named {name}"));
            return Err(error.fix("give each [[model]] a name of its own").into());
        }
        let path = found.place.path();
        let info = Model::inspect(&name, path, &loading)?;
        log::info!("model {name}: {}, {} weights", path.display(), info.parameters);
        if max_new_tokens >= info.context {
            const KEY: &str = "generation.max_new_tokens";
            let what = format!("{max_new_tokens} new tokens do not fit model {name}");
            let error = match &config.generation.max_new_tokens {
                Some(said) => said.wrong(KEY, what),
                None => Error::input(what).key(KEY).found(format!("{max_new_tokens}, as nothing is said")),
            };
            let context = info.context;
            return Err(error
                .expected(format!("less than its context of {context} tokens, which the prompt takes part of"))
                .fix("say how many: max_new_tokens under [generation], or --max-new-tokens N")
                .into());
        }
        plans.push(ModelPlan {
            name,
            source: source(entry, &found),
            revision: found.hub.as_ref().map(|hub| hub.commit.clone()),
            family: info.family,
            weights_sha256: info.weights_sha256,
            tokenizer_sha256: info.tokenizer_sha256,
            template_sha256: info.template_sha256,
            template_options: loading.template_options,
            dtype: info.dtype.to_string(),
            device: info.device.to_string(),
            layers: info.layers,
            parameters: info.parameters,
            vocabulary: info.vocabulary,
            context: info.context,
            width: info.width,
            escape_special_tokens: entry.escape_special_tokens.as_ref().is_some_and(|s| s.value),
        });
        places.push(found);
    }
    Ok((plans, places))
}

/// Where a model is.
fn find(entry: &config::Model, settings: &Settings, transfer: &dyn Transfer) -> Result<Found> {
    let name = entry.path.value.as_str();
    if name.contains("://") {
        let error = entry.path.wrong("model.path", "models behind a URL can't be asked").found(name);
        return Err(error
            .expected(hub::EXPECTED)
            .fix("ask it with another program, and take its logs in with `sago import`")
            .into());
    }
    let revision = entry.revision.as_ref();
    let found = hub::find(name, revision.map(|said| said.value.as_str()), settings, transfer);
    entry.path.check("model.path", found)
}

/// The device: what the command line says, else the entry, else an accelerator where there is one.
fn device(entry: &config::Model, of_all: Option<&Said<String>>) -> Result<Device> {
    let Some(said) = of_all.or(entry.device.as_ref()) else { return Ok(Device::auto()) };
    said.check("model.device", Device::chosen(&said.value))
}

/// The compute type: what the command line says, else the entry, else what is right for the device.
fn compute(entry: &config::Model, of_all: Option<&Said<String>>, device: Device) -> Result<Compute> {
    let Some(said) = of_all.or(entry.dtype.as_ref()) else { return Ok(device.compute()) };
    match Compute::named(&said.value) {
        Some(compute) => match device.refusal(compute) {
            Some(error) => said.check("model.dtype", Err(error.into())),
            None => Ok(compute),
        },
        None if said.value == AUTO => Ok(device.compute()),
        None => {
            let error = said.wrong("model.dtype", format!("\"{}\" is not a compute type", said.value));
            let names = Compute::ALL.map(Compute::as_str).join(", ");
            Err(error.expected(format!("{AUTO}, {names}")).into())
        }
    }
}

/// Options of the chat template: what a template can compare and print.
fn options(entry: &config::Model) -> Result<Options> {
    let Some(said) = &entry.template else { return Ok(Options::new()) };
    // A date of TOML arrives as an object of its own making.
    match said.value.iter().find(|(_, value)| value.is_object() || value.is_null()) {
        None => Ok(said.value.clone()),
        Some((name, _)) => {
            let error = said.wrong("model.template", format!("the option {name} can't be given to a template"));
            Err(error.expected("true or false, a number, a text, or a list of these").into())
        }
    }
}

/// A model as the plan names it: the same wherever the files lie.
fn source(entry: &config::Model, found: &Found) -> String {
    match (&found.hub, entry.path.value.as_str()) {
        (None, hub::DEMO) => hub::DEMO.to_string(),
        (None, _) => file_name(found.place.path()),
        (Some(hub), named) => match named.split_once(':') {
            Some((_, file)) => format!("{}:{file}", hub.id),
            None => hub.id.clone(),
        },
    }
}

/// Loads the scorer of BERTScore, and fetches what is missing of it; None where the user wants none.
///
/// Weights by IDF, where they are asked for, are those of `prompts`, the texts of all prompts of the study: known before any
/// model answers, so that every part of a run, a later one of it and a later measurement weigh alike.
///
/// # Errors
/// The encoder is not there, can't be fetched or is broken, or the layer is impossible.
pub fn scorer(said: &config::Measure, prompts: &[&str], transfer: &dyn Transfer) -> Result<Option<BertScorer>> {
    let layer = said.layer.as_ref().map(|s| s.whole("measure.layer", 1..=1000)).transpose()?;
    let dir = match said.encoder.as_ref().map(|s| (s, s.value.as_str())) {
        Some((_, "none")) => return Ok(None),
        None | Some((_, "minilm")) => model::cache_dir::demo_encoder()?,
        Some((_, dir)) if Path::new(dir).is_dir() => PathBuf::from(dir),
        Some((said, name)) => said.check("measure.encoder", hub_encoder(name, transfer))?,
    };
    let weighs = said.idf.as_ref().is_some_and(|idf| idf.value);
    let loaded = BertScorer::load(&dir, layer);
    let loaded = if weighs { loaded.and_then(|scorer| scorer.with_idf(prompts)) } else { loaded };
    log::info!("encoder of BERTScore: {}", dir.display());
    match (&said.layer, &said.encoder) {
        (Some(layer), _) => layer.check("measure.layer", loaded).map(Some),
        (None, Some(encoder)) => encoder.check("measure.encoder", loaded).map(Some),
        (None, None) => loaded.map(Some),
    }
}

/// The folder of an encoder of the hub.
fn hub_encoder(name: &str, transfer: &dyn Transfer) -> Result<PathBuf> {
    match HubName::parse(name) {
        Some(id) if id.file.is_none() => {
            let found = hub::find(name, None, &Settings::of_environment(), transfer)?;
            Ok(found.place.path().to_path_buf())
        }
        _ => {
            let files =
                "minilm, none, a folder with config.json, tokenizer.json and safetensors, or a hub id as org/name";
            Err(Error::input(format!("there is no encoder {name}")).expected(files).into())
        }
    }
}

/// Layers whose vectors are kept; None for all.
///
/// # Errors
/// A word other than `all` and `none`, or a layer that a model does not have.
pub fn layers(said: &Said<Layers>, models: &[ModelPlan]) -> Result<Option<Vec<usize>>> {
    const KEY: &str = "store.activations";
    let list = match &said.value {
        Layers::Word(word) if word == "all" => return Ok(None),
        Layers::Word(word) if word == "none" => return Ok(Some(Vec::new())),
        Layers::Word(word) => {
            let error = said.wrong(KEY, format!("\"{word}\" is not a choice of layers"));
            return Err(error.expected("all, none, or a list of layer numbers").into());
        }
        Layers::List(list) => list,
    };
    let last = models.iter().map(|m| m.layers).min().unwrap_or(0);
    let layer = |&layer: &i64| {
        usize::try_from(layer).ok().filter(|&l| l <= last).ok_or_else(|| {
            let error = said.wrong(KEY, format!("there is no layer {layer}"));
            Error::from(error.expected(format!("0 (the embedding output) to {last} (after the final norm)")))
        })
    };
    Ok(Some(list.iter().map(layer).collect::<Result<BTreeSet<_>>>()?.into_iter().collect()))
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// A name that is safe as a folder's name and in SQL text.
fn slug(said: &Said<String>, key: &str) -> Result<String> {
    if !folder_name::fits(&said.value) {
        let error = said.wrong(key, format!("\"{}\" can't be a name", said.value));
        return Err(error.expected(folder_name::RULE).into());
    }
    Ok(said.value.clone())
}

/// A name for a model that was given none: of its file, its folder, or its repository.
fn slug_of(found: &Found) -> String {
    let name = match (&found.hub, &found.place) {
        (Some(hub), Place::Folder(_)) => hub.id.rsplit('/').next().unwrap_or_default().to_string(),
        (None, Place::Folder(path)) => path.canonicalize().map_or_else(|_| file_name(path), |path| file_name(&path)),
        (_, Place::Gguf(path)) => path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
    };
    folder_name::made_of(name.trim_start_matches('.')).unwrap_or_else(|| "model".to_string())
}
