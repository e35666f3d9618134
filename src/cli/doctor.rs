//! `sago doctor`: what the program finds on this machine.

use std::env;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use clap::Args;
use sysinfo::{Disks, System};

use super::{Done, mib, print};
use crate::measure::bertscore::BertScorer;
use crate::model::cache_dir::{cache_dir, demo_encoder, demo_model, models_dir};
use crate::model::hub::Settings;
use crate::model::weights::config::Config;
use crate::model::{Device, Loading, Model};
use crate::store::files::files_below;
use crate::{Error, Result};

/// Show processor, memory, caches, and which models and encoders can be used
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sago doctor                            this machine, and the models in its cache
  sago doctor llama.gguf models/qwen     can these be used as well?

Weights of language models are not read, only what the file says of them. Exit code 3 where something is missing or can't
be used.")]
pub struct Doctor {
    /// GGUF files and folders of models, and folders of encoders, beside those in the cache
    paths: Vec<PathBuf>,
}

impl Doctor {
    pub fn carry_out(self) -> Result<Done> {
        let mut text = machine();
        let mut models: Vec<PathBuf> = Vec::new();
        let mut encoders: Vec<PathBuf> = Vec::new();
        let cached = if models_dir().is_dir() { files_below(&models_dir())? } else { Vec::new() };
        for path in cached.iter().chain(&self.paths) {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let is_given = self.paths.contains(path);
            match path.parent() {
                Some(folder) if name == "model.safetensors" => encoders.push(folder.to_path_buf()),
                _ if is_given && path.is_dir() && !generates(path) => encoders.push(path.clone()),
                _ if is_given || name.ends_with(".gguf") => models.push(path.clone()),
                _ => {}
            }
        }
        let mut all_work = true;
        let mut line = |found: Result<String>, path: &Path| match found {
            Ok(what) => format!("ok      {}: {what}\n", path.display()),
            Err(error) => {
                all_work = false;
                format!("FAILED  {}\n", error.to_string().replace('\n', "\n      "))
            }
        };
        text.push_str("\nmodels\n");
        for path in &models {
            text.push_str(&line(model(path), path));
        }
        if let Err(error) = demo_model() {
            text.push_str(&line(Err(error), Path::new("")));
        }
        text.push_str("\nencoders of BERTScore\n");
        for path in &encoders {
            text.push_str(&line(BertScorer::load(path, None).map(|scorer| scorer.signature().to_string()), path));
        }
        if let Err(error) = demo_encoder() {
            text.push_str(&line(Err(error), Path::new("")));
        }
        print(&text)?;
        Ok(if all_work { Done::All } else { Done::CheckFailed })
    }
}

/// Processor, memory and folders.
fn machine() -> String {
    let system = System::new_all().ok();
    let threads = available_parallelism().map_or(1, usize::from);
    let limit = env::var("RAYON_NUM_THREADS").map_or(String::new(), |n| format!(", RAYON_NUM_THREADS={n}"));
    let mut text = format!("sago {}", env!("CARGO_PKG_VERSION"));
    if let Some(commit) = option_env!("SAGO_COMMIT") {
        let _ = write!(text, ", commit {commit}");
    }
    let processor = system.as_ref().and_then(|s| s.cpus().first()).map_or("unknown", |cpu| cpu.brand().trim());
    let memory =
        system.as_ref().map(|s| format!("{} of {} available", mib(s.available_memory()), mib(s.total_memory())));
    let _ = write!(
        text,
        "\n\nprocessor  {processor}, {}, {threads} threads{limit}\n\
         device     {}; this build knows {}\n\
         memory     {}\n",
        env::consts::ARCH,
        Device::auto(),
        Device::built().join(", "),
        memory.as_deref().unwrap_or("unknown"),
    );
    let hub = Settings::of_environment();
    for (name, path) in [("temporary", env::temp_dir()), ("cache", cache_dir()), ("hub cache", hub.cache)] {
        let room = room(&path).map_or(String::new(), |bytes| format!(", {} free", mib(bytes)));
        let _ = writeln!(text, "{name:10} {}{room}", path.display());
    }
    let token = if hub.token.is_some() { "with a token" } else { "without a token" };
    let _ = match hub.offline {
        Some(variable) => writeln!(text, "hub        not asked: {variable} is set"),
        None => writeln!(text, "hub        {}, {token}", hub.endpoint),
    };
    text
}

/// Whether a folder's config is of a model that writes texts, rather than of an encoder.
fn generates(folder: &Path) -> bool {
    let config = Config::open(folder);
    let classes = config.as_ref().ok().and_then(|config| config.texts("architectures").ok().flatten());
    classes
        .is_some_and(|names| names.iter().any(|n| n.ends_with("ForCausalLM") || n.ends_with("ConditionalGeneration")))
}

/// Free space of the disk that holds `path`, or would.
fn room(path: &Path) -> Option<u64> {
    let there = path.ancestors().find_map(|folder| folder.canonicalize().ok())?;
    let disks = Disks::new_with_refreshed_list().ok()?;
    let of_path = disks.iter().filter(|disk| there.starts_with(disk.mount_point()));
    of_path.max_by_key(|disk| disk.mount_point().as_os_str().len()).map(|disk| disk.available_space())
}

/// What a model is, in a line.
fn model(path: &Path) -> Result<String> {
    let info = Model::inspect("", path, &Loading::default())?;
    let files = if path.is_dir() { files_below(path)? } else { vec![path.to_path_buf()] };
    let is_weights = |file: &&PathBuf| file.extension().is_some_and(|e| e == "safetensors" || e == "gguf");
    let sizes = files.iter().filter(is_weights).map(|file| file.metadata().map(|meta| meta.len()));
    let size = sizes.sum::<std::io::Result<u64>>().map_err(Error::io("read", path))?;
    Ok(format!(
        "{}, {:.0} million weights ({}), {} layers, context {}{}",
        info.family,
        info.parameters as f64 / 1e6,
        mib(size),
        info.layers,
        info.context,
        if info.template_sha256.is_none() { ", no chat template" } else { "" },
    ))
}
