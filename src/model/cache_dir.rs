//! Where fetched models lie on this machine.
//!
//! In: the environment. Out: paths.
//! `$SAGO_CACHE`, else `$XDG_CACHE_HOME/sago`, else `~/.cache/sago`; models are in its folder `models`.

use std::env;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// Name of the folder and file of the demo model.
const DEMO: [&str; 2] = ["smollm2-135m-instruct", "SmolLM2-135M-Instruct.Q4_1.gguf"];

/// The program's folder for what can be made or fetched again, whether it exists or not.
pub fn cache_dir() -> PathBuf {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("SAGO_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|cache| cache.join("sago")))
        .or_else(|| set("HOME").map(|home| home.join(".cache/sago")))
        .unwrap_or_else(|| PathBuf::from(".cache/sago"))
}

/// The folder of fetched models, whether it exists or not.
pub fn models_dir() -> PathBuf {
    cache_dir().join("models")
}

/// A file below [`models_dir`] that must be there.
///
/// # Errors
/// [`Error::Input`] that names the path and the script that fetches it.
pub fn fetched(parts: &[&str]) -> Result<PathBuf> {
    let path = parts.iter().fold(models_dir(), |path, part| path.join(part));
    if Path::new(&path).is_file() {
        return Ok(path);
    }
    Err(Error::input("a model has not been fetched").file(path).fix("run scripts/fetch-models.sh").into())
}

/// The demo model's file.
///
/// # Errors
/// [`Error::Input`] where it has not been fetched.
pub fn demo_model() -> Result<PathBuf> {
    fetched(&DEMO)
}

/// The folder of the encoder that BERTScore uses by default.
///
/// # Errors
/// [`Error::Input`] where it has not been fetched.
pub fn demo_encoder() -> Result<PathBuf> {
    let weights = fetched(&["all-minilm-l6-v2", "model.safetensors"])?;
    Ok(weights.parent().map_or_else(models_dir, Path::to_path_buf))
}
