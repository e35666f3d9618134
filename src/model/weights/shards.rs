//! Shards: the files over which a large model is spread.
//!
//! In: a model's index. Out: which file holds which tensor.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use serde::Deserialize;

use crate::{Error, Result, text_file};

/// Name of the file of a model in one piece.
pub const ONE: &str = "model.safetensors";
/// Name of the file that says in which shard a tensor is.
pub const INDEX: &str = "model.safetensors.index.json";

/// Which shard holds which tensor.
#[derive(Debug, Deserialize)]
pub struct Index {
    /// Names of shards by tensor.
    pub weight_map: BTreeMap<String, String>,
}

impl Index {
    /// Reads an index.
    ///
    /// # Errors
    /// [`Error::Io`] where it can't be read; [`Error::Input`] where it is no index, or names a file outside its folder.
    pub fn open(path: &Path) -> Result<Index> {
        let index: Index = serde_json::from_str(&text_file::read(path)?)
            .map_err(|e| Error::input(format!("the index of the shards can't be read: {e}")).file(path))?;
        // A path could point anywhere on the machine.
        let is_name = |shard: &str| matches!(Path::new(shard).components().collect::<Vec<_>>()[..], [Component::Normal(name)] if name == shard);
        match index.weight_map.values().find(|shard| !is_name(shard)) {
            None => Ok(index),
            Some(shard) => Err(Error::input("the index of the shards names a file outside its folder")
                .file(path)
                .found(shard)
                .expected("the name of a file beside it")
                .into()),
        }
    }

    /// The shards, sorted.
    pub fn shards(&self) -> BTreeSet<&str> {
        self.weight_map.values().map(String::as_str).collect()
    }
}
