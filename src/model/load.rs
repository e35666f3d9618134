//! Loading: a model's files become a model.
//!
//! In: a folder with safetensors, or a GGUF file, and where and in what type to compute. Out: a [`Model`], or what it would
//! be.
//! What the files say is read first; the weights are packed only once it is clear that they fit into memory.

use std::path::Path;
use std::sync::Arc;

use sysinfo::{MemoryRefreshKind, RefreshKind, System};

use super::device::Device;
use super::engine::Loaded;
use super::families::Outline;
use super::matrix::Compute;
use super::template::{Options as TemplateOptions, Template};
use super::tensors::{OnDevice, Place};
use super::tokenizer::Tokenizer;
use super::weights::config::Config;
use super::weights::gguf::Gguf;
use super::weights::{Weights, digest};
use super::{Model, ModelInfo};
use crate::{Error, Result};

/// How a model is loaded.
#[derive(Debug, Clone, Default)]
pub struct Loading {
    /// Where it is computed.
    pub device: Device,
    /// In what type its matrices are held and multiplied.
    pub compute: Compute,
    /// Variables for its chat template.
    pub template_options: TemplateOptions,
}

/// Room that must be left beside the weights: for one batch's work and a small cache.
const LEAST_ROOM: u64 = 256 << 20;
/// The same on a device, where keys and values are gathered for each layer.
const LEAST_ROOM_OF_DEVICE: u64 = 1 << 30;
/// Most bytes of cache, where there is as much and more.
const MOST_CACHE: u64 = 1 << 30;
/// The same in a device's own memory.
const MOST_CACHE_OF_DEVICE: u64 = 8 << 30;

/// What is read of a model's files before its weights.
struct Opened {
    outline: Outline,
    weights: Arc<Weights>,
    tokenizer: Tokenizer,
    template: Option<Template>,
    info: ModelInfo,
    /// Bytes of cache that there is room for beside the weights.
    cache_bytes: usize,
}

impl Opened {
    fn open(name: &str, path: &Path, loading: &Loading) -> Result<Opened> {
        let (outline, weights, tokenizer) = match path.is_dir() {
            true => {
                let outline = Outline::of_config(&Config::open(path)?)?;
                (outline, Arc::new(Weights::open(path)?), Tokenizer::from_folder(path)?)
            }
            false => {
                let gguf = Gguf::open(path)?;
                (Outline::of_gguf(&gguf)?, Arc::clone(&gguf.weights), Tokenizer::from_gguf(&gguf)?)
            }
        };
        let vocabulary = outline.vocabulary(&weights)?;
        tokenizer.check_rows(name, vocabulary)?;
        let source = tokenizer.chat_template.as_ref();
        let template = source.map(|source| Template::new(name, source, &tokenizer.names)).transpose()?;
        match (&template, loading.template_options.keys().next()) {
            (Some(template), _) => template.check(name, &loading.template_options)?,
            (None, Some(first)) => {
                let what = format!("{name} has no chat template that could have options");
                return Err(Error::input(what).key(first).fix("leave the template's options out").into());
            }
            (None, None) => {}
        }
        probe(name, &tokenizer, template.as_ref(), &loading.template_options)?;
        // Before the weights are hashed: those that do not fit may be many.
        let cache_bytes = room(name, path, outline.bytes(&weights, loading.compute)?, loading)?;
        let info = ModelInfo {
            name: name.to_string(),
            family: outline.family.clone(),
            parameters: weights.parameters(),
            layers: outline.layers(),
            width: outline.width(),
            vocabulary,
            context: outline.context(),
            dtype: loading.compute.as_str(),
            device: loading.device,
            weights_sha256: digest::of_files(weights.paths())?,
            tokenizer_sha256: tokenizer.sha256.clone(),
            template_sha256: template.as_ref().map(|template| template.sha256.clone()),
            end_ids: tokenizer.ends.clone(),
        };
        Ok(Opened { outline, weights, tokenizer, template, info, cache_bytes })
    }
}

/// Refuses a template that does not take a user's turn, and files that make the same prompt of different texts: every
/// wording would get the same answer, and the model would look perfectly stable.
fn probe(name: &str, tokenizer: &Tokenizer, template: Option<&Template>, options: &TemplateOptions) -> Result<()> {
    let through = |text: &str| match template {
        Some(template) => template.render(name, text, None, options),
        None => Ok(text.to_string()),
    };
    let (one, other) = (through("Where is it?")?, through("And tell me more.")?);
    if one == other {
        let from = tokenizer.chat_template.as_ref().map_or("", |source| &source.from);
        return Err(Error::input(format!("the chat template of {name} ({from}) leaves the prompt out"))
            .found(format!("{:?} for every prompt", one.chars().take(80).collect::<String>()))
            .expected("a template that writes the content of the messages")
            .into());
    }
    if tokenizer.encode(&one, None)? == tokenizer.encode(&other, None)? {
        return Err(Error::input(format!("the tokenizer of {name} makes the same tokens of different texts"))
            .expected("a vocabulary that can write them, and no step that takes them away")
            .into());
    }
    Ok(())
}

/// Bytes of cache that there is room for beside the `weights`, in bytes of the compute type.
///
/// # Errors
/// [`Error::Input`] where not even the weights fit.
fn room(name: &str, path: &Path, weights: u64, loading: &Loading) -> Result<usize> {
    let (device, compute) = (loading.device, loading.compute);
    // A device without memory of its own shares the processor's.
    let (free, most_cache) = match device.free_memory() {
        Some(free) => (free, MOST_CACHE_OF_DEVICE),
        None => (available(), MOST_CACHE),
    };
    let room = free.saturating_sub(weights);
    let least = if device == Device::Cpu { LEAST_ROOM } else { LEAST_ROOM_OF_DEVICE };
    if room < least {
        let gib = |bytes: u64| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30));
        return Err(Error::input(format!("the model {name} does not fit into the memory of {device}"))
            .file(path)
            .found(format!("{} for its weights in {}, {} free", gib(weights), compute.as_str(), gib(free)))
            .expected(format!("{} free, for weights and work", gib(weights + least)))
            .fix("take a smaller compute type (--dtype bf16, or int8 on the CPU), a smaller model, or a larger machine")
            .into());
    }
    Ok((room / 2).min(most_cache) as usize)
}

/// Builds the decoder where it will be computed.
fn build(name: &str, outline: &Outline, weights: &Arc<Weights>, loading: &Loading) -> Result<Loaded> {
    if loading.device == Device::Cpu {
        return outline.build(weights, &loading.compute).map(Loaded::Cpu);
    }
    let place =
        Place::new(loading.device.open()?, loading.compute).ok_or_else(|| loading.device.refuses(loading.compute))?;
    Ok(Loaded::Device(OnDevice::new(name, outline.build(weights, &place)?, place)))
}

/// Bytes of memory that can be had: the system's, or less where a container is held to less. What can't be found out is no
/// reason to refuse a model.
fn available() -> u64 {
    let memory = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let Ok(system) = System::new_with_specifics(memory) else { return u64::MAX };
    // Pages of files count as used in a container, but are given back when they are needed.
    let of_container = system.cgroup_limits().map(|limits| limits.total_memory.saturating_sub(limits.rss));
    of_container.map_or(system.available_memory(), |free| free.min(system.available_memory()))
}

impl Model {
    /// Says what a model's files hold, without loading its weights; `name` is the model's name in the plan.
    ///
    /// # Errors
    /// As [`Model::load`], but for tensors of the blocks that are missing or of a wrong shape.
    pub fn inspect(name: &str, path: &Path, loading: &Loading) -> Result<ModelInfo> {
        Ok(Opened::open(name, path, loading)?.info)
    }

    /// Loads a GGUF file, or a folder with config.json, tokenizer.json and safetensors; `name` is the model's name in the
    /// plan.
    ///
    /// # Errors
    /// [`Error::Input`] where a file is missing, cut, or of a family, tokenizer or encoding that is not known, a tensor is
    /// missing, of a wrong shape or left over, or the model does not fit into memory; [`Error::Model`] where its tokenizer
    /// and weights do not belong together or its chat template has an error; [`Error::Io`] where a file can't be read.
    pub fn load(name: &str, path: &Path, loading: &Loading) -> Result<Model> {
        let Opened { outline, weights, tokenizer, template, info, cache_bytes } = Opened::open(name, path, loading)?;
        let decoder = build(name, &outline, &weights, loading)?;
        let template_options = loading.template_options.clone();
        Ok(Model { decoder, tokenizer, template, template_options, info, cache_bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_into_memory_is_refused() {
        let room = |weights| room("big", Path::new("big.gguf"), weights, &Loading::default());
        assert!(room(1 << 20).unwrap() > 0);
        let said = room(1 << 50).unwrap_err().to_string();
        for part in
            ["big does not fit into the memory of cpu", "big.gguf", "1048576.0 GiB for its weights in f32", "int8"]
        {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
}
