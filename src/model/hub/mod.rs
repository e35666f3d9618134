//! Hub: a model by its name.
//!
//! In: a path, a hub id (`org/name`, `org/name@revision`, `org/name:file.gguf`), or `demo`. Out: the place of its files.
//! What is on this machine is taken as it is: a path first, then the hub's cache, which other programs share; only what is
//! missing there is downloaded. A revision is settled to a commit, so that it can be recorded and asked for again.
//!
//! | file | holds |
//! |---|---|
//! | `name` | a hub id and its parts |
//! | `settings` | cache, address, token and offline mode, from the environment |
//! | `cache` | the layout of the hub's cache on disk |
//! | `client` | the hub's answers over HTTP |
//! | `fetch` | from the one to the other |

mod cache;
mod client;
mod fetch;
mod name;
mod settings;

use std::fs;
use std::path::{Path, PathBuf};

use super::cache_dir;
use crate::{Error, Result};

pub use name::HubName;
pub use settings::Settings;

/// Word for the demo model.
pub const DEMO: &str = "demo";
/// What a model can be named by.
pub const EXPECTED: &str = "a GGUF file, a folder with config.json and safetensors, a hub id as org/name, or demo";

/// Where a model's files are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What to open.
    pub place: Place,
    /// Where it comes from; None for the user's own files.
    pub hub: Option<HubOrigin>,
}

/// What to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A GGUF file; of a split model, the first.
    Gguf(PathBuf),
    /// A folder with config.json, tokenizer files and safetensors.
    Folder(PathBuf),
}

/// Which state of which repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubOrigin {
    /// `org/name`.
    pub id: String,
    /// The commit: 40 hexadecimal digits.
    pub commit: String,
}

/// Is told how a download goes on.
pub trait Transfer {
    /// Files of `what` are fetched, `bytes` in all.
    fn begin(&self, what: &str, bytes: u64);
    /// So many bytes are there.
    fn reach(&self, bytes: u64);
    /// All are there.
    fn end(&self);
}

/// For downloads too small to be told of.
struct Silent;

impl Transfer for Silent {
    fn begin(&self, _: &str, _: u64) {}
    fn reach(&self, _: u64) {}
    fn end(&self) {}
}

impl Place {
    /// The file or folder.
    pub fn path(&self) -> &Path {
        match self {
            Place::Gguf(path) | Place::Folder(path) => path,
        }
    }
}

/// Finds a model by its name, and fetches what is missing of it.
///
/// # Errors
/// [`Error::Input`] where there is no such model, it may not be fetched, or it can't be fetched now; [`Error::Io`] where the
/// cache can't be read or written.
pub fn find(name: &str, revision: Option<&str>, settings: &Settings, transfer: &dyn Transfer) -> Result<Found> {
    let own = |place| {
        if let Some(revision) = revision {
            let error = Error::input("only a model of the hub has a revision").found(revision);
            return Err(error.expected(format!("no revision: {name} is on this machine")).into());
        }
        Ok(Found { place, hub: None })
    };
    if name == DEMO {
        return own(Place::Gguf(cache_dir::demo_model()?));
    }
    if Path::new(name).exists() {
        return own(local(Path::new(name))?);
    }
    let Some(mut id) = HubName::parse(name) else {
        return Err(Error::input(format!("there is no model {name}")).expected(EXPECTED).into());
    };
    match (&id.revision, revision) {
        (_, None) => {}
        (Some(one), Some(other)) if one != other => {
            let error = Error::input(format!("two revisions of {} are asked for", id.id));
            return Err(error.found(format!("{one} and {other}")).into());
        }
        (_, Some(revision)) => {
            id = id.at(revision).ok_or_else(|| {
                let error = Error::input("the revision can't be one of the hub").found(revision);
                error.expected("a branch, a tag, or a commit")
            })?;
        }
    }
    fetch::find(&id, settings, transfer)
}

/// A path that is there.
fn local(path: &Path) -> Result<Place> {
    if path.is_file() {
        let is_of_folder = path.extension().is_some_and(|e| e == "safetensors" || e == "json");
        return match (is_of_folder, path.parent()) {
            (true, Some(folder)) => Err(Error::input("a model of safetensors is named by its folder")
                .found(path.display().to_string())
                .expected(folder.join("").display().to_string())
                .into()),
            _ => Ok(Place::Gguf(path.to_path_buf())),
        };
    }
    if path.join("config.json").exists() {
        return Ok(Place::Folder(path.to_path_buf()));
    }
    let entries = fs::read_dir(path).map_err(Error::io("read", path))?;
    let names = entries.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()));
    let mut files: Vec<String> = names.filter(|name| name.ends_with(".gguf")).collect();
    files.sort();
    let error = Error::input("the folder is no model: it has no config.json").file(path).expected(EXPECTED);
    Err(match files.is_empty() {
        true => error.into(),
        false => error.found(files.join(", ")).fix("name one of these files").into(),
    })
}

#[cfg(test)]
mod tests;
