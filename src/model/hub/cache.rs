//! The hub's cache on disk, as all programs of the hub lay it out.
//!
//! In: the cache's folder and a model's id. Out: what is there of it, and places for what is not.
//! `models--org--name/refs/REVISION` holds a commit; `snapshots/COMMIT/FILE` is a link to `blobs/HASH`;
//! `.no_exist/COMMIT/FILE` says that the commit has no such file.
//! See <https://huggingface.co/docs/huggingface_hub/guides/manage-cache>.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::name::stays_inside;
use crate::model::weights::shards;
use crate::{Error, Result};

/// Files without which a folder is no model.
const NEEDED: [&str; 2] = ["config.json", "tokenizer.json"];
/// Files that change how a model runs, where it has them.
const OPTIONAL: [&str; 6] = [
    "generation_config.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template.jinja",
    "chat_template.json",
];

/// A model in the cache, whether anything of it is there or not.
#[derive(Debug)]
pub struct Repository {
    folder: PathBuf,
    locks: PathBuf,
}

impl Repository {
    /// The model `id` (`org/name`).
    pub fn of(cache: &Path, id: &str) -> Repository {
        let name = format!("models--{}", id.replace('/', "--"));
        Repository { folder: cache.join(&name), locks: cache.join(".locks").join(&name) }
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The commit that a revision was when it was last asked for; a commit is its own.
    pub fn commit(&self, revision: &str) -> Option<String> {
        if is_commit(revision) {
            return Some(revision.to_string());
        }
        let commit = fs::read_to_string(self.folder.join("refs").join(revision)).ok()?.trim().to_string();
        is_commit(&commit).then_some(commit)
    }

    /// Records what a revision is.
    pub fn set_commit(&self, revision: &str, commit: &str) -> Result<()> {
        if revision == commit {
            return Ok(());
        }
        let path = self.folder.join("refs").join(revision);
        make_parent(&path)?;
        fs::write(&path, commit).map_err(Error::io("write", &path))
    }

    /// The folder of a commit's files.
    pub fn snapshot(&self, commit: &str) -> PathBuf {
        self.folder.join("snapshots").join(commit)
    }

    /// Whether a file of a commit is there.
    pub fn has(&self, commit: &str, file: &str) -> bool {
        self.snapshot(commit).join(file).is_file()
    }

    /// Files of a commit that are needed to run it and not there: of its safetensors, or of one GGUF file.
    pub fn lacks(&self, commit: &str, gguf: Option<&str>) -> Result<Vec<String>> {
        let mut needed: Vec<String> = match gguf {
            Some(file) => parts(file),
            None => NEEDED.map(str::to_string).into(),
        };
        if gguf.is_none() {
            match (self.has(commit, shards::ONE), self.has(commit, shards::INDEX)) {
                (false, true) => needed.extend(self.shards(commit)?),
                _ => needed.push(shards::ONE.to_string()),
            }
        }
        needed.retain(|file| !self.has(commit, file));
        Ok(needed)
    }

    /// The shards that a commit's index names.
    pub fn shards(&self, commit: &str) -> Result<Vec<String>> {
        let index = shards::Index::open(&self.snapshot(commit).join(shards::INDEX))?;
        Ok(index.shards().into_iter().map(str::to_string).collect())
    }

    /// Optional files of a commit of which it is not known whether it has them.
    pub fn unknown(&self, commit: &str) -> impl Iterator<Item = &'static str> {
        let absent = self.folder.join(".no_exist").join(commit);
        OPTIONAL.into_iter().filter(move |file| !self.has(commit, file) && !absent.join(file).exists())
    }

    /// Records that a commit has no such file.
    pub fn set_absent(&self, commit: &str, file: &str) -> Result<()> {
        let path = self.folder.join(".no_exist").join(commit).join(file);
        make_parent(&path)?;
        fs::write(&path, "").map_err(Error::io("write", &path))
    }

    /// Where the bytes with this hash lie.
    pub fn blob(&self, hash: &str) -> PathBuf {
        self.folder.join("blobs").join(hash)
    }

    /// Links a file of a commit to its bytes, which are there.
    pub fn link(&self, commit: &str, file: &str, hash: &str) -> Result<()> {
        let path = self.snapshot(commit).join(file);
        make_parent(&path)?;
        let up = "../".repeat(2 + file.matches('/').count());
        // A link to bytes that were deleted stands in the way.
        if path.symlink_metadata().is_ok() {
            fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        }
        symlink(format!("{up}blobs/{hash}"), &path).map_err(Error::io("link", &path))
    }

    /// Keeps other programs from fetching the same bytes until the file is dropped.
    pub fn lock(&self, hash: &str) -> Result<File> {
        let path = self.locks.join(format!("{hash}.lock"));
        make_parent(&path)?;
        let file = File::create(&path).map_err(Error::io("create", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                log::info!("waiting for another program that fetches {}", self.blob(hash).display());
                file.lock().map_err(Error::io("lock", &path))?;
            }
            // Some network file systems have no locks; without one, two programs at once fetch in vain at worst.
            Err(TryLockError::Error(e)) => log::info!("{} can't be locked: {e}", path.display()),
        }
        Ok(file)
    }
}

/// The files of a commit that are wanted beside its weights.
pub fn small_files() -> impl Iterator<Item = &'static str> {
    NEEDED.into_iter().chain(OPTIONAL)
}

/// The files of a GGUF model, which may be split: `x-00001-of-00003.gguf` and the others.
pub fn parts(file: &str) -> Vec<String> {
    let split = || {
        let (stem, count) = file.strip_suffix(".gguf")?.rsplit_once("-of-")?;
        let stem = stem.strip_suffix("-00001")?;
        let many: u32 = count.parse().ok().filter(|&many| count.len() == 5 && many > 0)?;
        Some((1..=many).map(|part| format!("{stem}-{part:05}-of-{count}.gguf")).collect())
    };
    split().unwrap_or_else(|| vec![file.to_string()])
}

/// Whether a text is a commit, and so safe as a folder's name.
pub fn is_commit(text: &str) -> bool {
    text.len() == 40 && is_hash(text)
}

/// Whether a text is a hash, and so safe as a file's name.
pub fn is_hash(text: &str) -> bool {
    !text.is_empty() && stays_inside(text) && text.chars().all(|c| c.is_ascii_hexdigit())
}

/// Makes the folders above a path.
pub fn make_parent(path: &Path) -> Result<()> {
    match path.parent() {
        Some(folder) => fs::create_dir_all(folder).map_err(Error::io("create", folder)),
        None => Ok(()),
    }
}
