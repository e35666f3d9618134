//! Fetch: from a name of the hub to files in its cache.
//!
//! In: a [`HubName`]. Out: the place of its files, after what was missing has been downloaded: the config, tokenizer and
//! template files and the safetensors, or one GGUF file; nothing else of the repository.

use super::cache::{self, Repository};
use super::client::{Client, Listing, Remote};
use super::{Found, HubName, HubOrigin, Place, Settings, Silent, Transfer};
use crate::model::weights::shards;
use crate::{Error, Result};

/// Finds a model in the cache, and fetches what is missing there.
pub(super) fn find(name: &HubName, settings: &Settings, transfer: &dyn Transfer) -> Result<Found> {
    let cached = Repository::of(&settings.cache, &name.id);
    let revision = name.revision.as_deref().unwrap_or("main");
    let commit = cached.commit(revision);
    let gguf = name.file.as_deref();
    let lacks = commit.as_deref().map(|commit| cached.lacks(commit, gguf)).transpose()?;
    let is_usable = lacks.as_ref().is_some_and(Vec::is_empty);
    if let Some(commit) = commit.as_deref().filter(|_| is_usable) {
        let is_known = gguf.is_some() || cached.unknown(commit).next().is_none();
        if is_known || settings.offline.is_some() {
            return Ok(found(name, &cached, commit));
        }
    }
    if let Some(variable) = settings.offline {
        return Err(offline(name, &cached, commit.as_deref().zip(lacks), variable));
    }
    let client = Client::new(settings, &name.id);
    // What the cache has of a branch is completed, not replaced by what the branch is by now.
    let listing = match (client.listing(commit.as_deref().unwrap_or(revision)), commit.as_deref()) {
        (Err(error), Some(commit)) if is_usable => {
            log::warn!("{}: what the cache has is used, as the hub could not be asked: {error}", name.id);
            return Ok(found(name, &cached, commit));
        }
        (listing, _) => listing?,
    };
    let download = Download { name, cached: &cached, client: &client, listing: &listing, transfer };
    match gguf {
        Some(file) => download.gguf(file)?,
        None => download.folder()?,
    }
    cached.set_commit(revision, &listing.commit)?;
    Ok(found(name, &cached, &listing.commit))
}

fn found(name: &HubName, cached: &Repository, commit: &str) -> Found {
    let folder = cached.snapshot(commit);
    let place = match &name.file {
        Some(file) => Place::Gguf(folder.join(file)),
        None => Place::Folder(folder),
    };
    Found { place, hub: Some(HubOrigin { id: name.id.clone(), commit: commit.to_string() }) }
}

fn offline(name: &HubName, cached: &Repository, lacks: Option<(&str, Vec<String>)>, variable: &str) -> Error {
    let found = match lacks {
        None if cached.folder().exists() => "other revisions of it".to_string(),
        None => "nothing of it".to_string(),
        Some((commit, lacks)) => format!("its commit {commit} without {}", lacks.join(", ")),
    };
    let fix = format!("unset {variable} to fetch it, or bring the folder here from a machine that has it");
    Error::input(format!(
        "the model {name} is not in the hub's cache, and {variable} keeps the program off the network"
    ))
    .file(cached.folder())
    .found(found)
    .fix(fix)
    .into()
}

struct Download<'a> {
    name: &'a HubName,
    cached: &'a Repository,
    client: &'a Client<'a>,
    listing: &'a Listing,
    transfer: &'a dyn Transfer,
}

impl Download<'_> {
    /// Config, tokenizer and template, then the safetensors.
    fn folder(&self) -> Result<()> {
        let (commit, files) = (&self.listing.commit, &self.listing.files);
        let (one, index) = (files.contains_key(shards::ONE), files.contains_key(shards::INDEX));
        if !files.contains_key("config.json") || !(one || index) {
            return Err(self.no_folder());
        }
        if !files.contains_key("tokenizer.json") {
            return Err(Error::input(format!("the model {} has no tokenizer.json", self.name))
                .fix("load its tokenizer with transformers, save it, and name a folder with both")
                .into());
        }
        let mut small: Vec<&str> = cache::small_files().collect();
        if !one {
            small.push(shards::INDEX);
        }
        for file in &small {
            if !files.contains_key(*file) {
                self.cached.set_absent(commit, file)?;
            }
        }
        small.retain(|file| files.contains_key(*file));
        self.files(&small, &Silent)?;
        match one {
            true => self.files(&[shards::ONE], self.transfer),
            false => {
                let shards = self.cached.shards(commit)?;
                self.files(&shards.iter().map(String::as_str).collect::<Vec<_>>(), self.transfer)
            }
        }
    }

    /// One GGUF file, or all parts of a split one.
    fn gguf(&self, file: &str) -> Result<()> {
        let parts = cache::parts(file);
        if let Some(missing) = parts.iter().find(|part| !self.listing.files.contains_key(*part)) {
            return Err(Error::input(format!("the model {} has no file {missing}", self.name.id))
                .expected(self.ggufs().unwrap_or_else(|| "a repository with .gguf files".to_string()))
                .into());
        }
        self.files(&parts.iter().map(String::as_str).collect::<Vec<_>>(), self.transfer)
    }

    fn no_folder(&self) -> Error {
        let error = Error::input(format!("the model {} has no config.json with safetensors", self.name));
        match self.ggufs() {
            Some(files) => error.found(files).fix(format!("name one of these files: {}:FILE.gguf", self.name)).into(),
            None => error.expected("a repository with safetensors or .gguf files").into(),
        }
    }

    /// The GGUF files of the repository, of split ones the first.
    fn ggufs(&self) -> Option<String> {
        let files = self.listing.files.keys().filter(|file| file.ends_with(".gguf"));
        let names: Vec<&str> = files.filter(|file| !is_later_part(file)).map(String::as_str).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// Fetches files that are not there, and tells `transfer` of it.
    fn files(&self, names: &[&str], transfer: &dyn Transfer) -> Result<()> {
        let commit = &self.listing.commit;
        let mut wanted: Vec<(&str, &Remote)> = Vec::new();
        for &name in names.iter().filter(|name| !self.cached.has(commit, name)) {
            let remote = self.listing.files.get(name).ok_or_else(|| {
                let error = Error::input(format!("the model {} lacks its file {name}", self.name.id));
                Error::from(error.expected(format!("what {} says", shards::INDEX)))
            })?;
            wanted.push((name, remote));
        }
        if wanted.is_empty() {
            return Ok(());
        }
        let bytes = wanted.iter().fold(0, |sum: u64, (_, file)| sum.saturating_add(file.size));
        transfer.begin(&self.name.id, bytes);
        let mut before = 0u64;
        let fetched = wanted.iter().try_for_each(|(name, file)| {
            self.file(name, file, &|bytes| transfer.reach(before.saturating_add(bytes)))?;
            before = before.saturating_add(file.size);
            Ok(())
        });
        transfer.end();
        fetched
    }

    fn file(&self, name: &str, file: &Remote, reach: &dyn Fn(u64)) -> Result<()> {
        let blob = self.cached.blob(&file.hash);
        cache::make_parent(&blob)?;
        let lock = self.cached.lock(&file.hash)?;
        if !blob.exists() {
            let part = self.cached.blob(&format!("{}.incomplete", file.hash));
            self.client.fetch(&self.listing.commit, name, file, &part, reach)?;
            std::fs::rename(&part, &blob).map_err(Error::io("rename", &part))?;
        }
        drop(lock);
        reach(file.size);
        self.cached.link(&self.listing.commit, name, &file.hash)
    }
}

/// Whether a file is the second or a later part of a split model.
fn is_later_part(file: &str) -> bool {
    let part = file
        .strip_suffix(".gguf")
        .and_then(|stem| stem.rsplit_once("-of-"))
        .and_then(|(stem, _)| stem.get(stem.len().checked_sub(5)?..));
    part.is_some_and(|part| part != "00001" && part.bytes().all(|b| b.is_ascii_digit()))
}
