//! Weights: a model's tensors by name, in files that are mapped into memory.
//!
//! In: a folder with safetensors, or a GGUF file. Out: [`Weights`], whose tensors are read only where they are asked for.
//!
//! | file | holds |
//! |---|---|
//! | `safetensors`, `shards` | the tensors of a folder: one file, or shards with an index |
//! | `gguf` | the tensors of a GGUF file and its metadata |
//! | `stored` | one tensor's shape, encoding and bytes, decoded by rows |
//! | `table` | rows that are looked up and never multiplied |
//! | `config` | a folder's `config.json` |
//! | `digest` | which weights they are, as one SHA-256 |

pub mod config;
pub(crate) mod digest;
pub mod gguf;
mod safetensors;
pub(crate) mod shards;
pub mod stored;
mod table;

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use crate::{Error, Result};

pub use stored::{Encoding, Stored};
pub use table::Table;

/// The tensors of a model.
#[derive(Debug, Default)]
pub struct Weights {
    /// The folder, or the first GGUF file.
    place: PathBuf,
    files: Vec<Mapped>,
    tensors: BTreeMap<String, Tensor>,
}

/// A file in memory.
#[derive(Debug)]
struct Mapped {
    path: PathBuf,
    bytes: Mmap,
}

/// Where a tensor lies and how it is encoded.
#[derive(Debug)]
struct Tensor {
    /// Index of its file.
    file: usize,
    /// The slowest dimension first: `[rows, columns]` of a matrix that maps columns to rows.
    shape: Vec<usize>,
    /// The encoding's name where it can't be computed with.
    encoding: Result<Encoding, String>,
    bytes: Range<usize>,
}

impl Weights {
    /// Opens the safetensors of a folder: `model.safetensors`, or the shards that `model.safetensors.index.json` names.
    ///
    /// # Errors
    /// [`Error::Io`] where a file can't be read; [`Error::Input`] where none is there, a shard is missing, cut, or lacks
    /// a tensor that the index places in it, or a tensor is there twice.
    pub fn open(folder: &Path) -> Result<Weights> {
        safetensors::open(folder)
    }

    fn none(place: &Path) -> Weights {
        Weights { place: place.to_path_buf(), files: Vec::new(), tensors: BTreeMap::new() }
    }

    /// Takes in a file and the tensors in it, whose ranges must lie in it.
    fn add(&mut self, file: Mapped, tensors: Vec<(String, Tensor)>) -> Result<()> {
        for (name, mut tensor) in tensors {
            tensor.file = self.files.len();
            if let Some(first) = self.tensors.insert(name.clone(), tensor) {
                let other = self.files.get(first.file).map_or(&file.path, |file| &file.path);
                return Err(Error::input(format!("the model has the tensor {name} twice"))
                    .file(&file.path)
                    .found(format!("it is in {} as well", other.display()))
                    .into());
            }
        }
        self.files.push(file);
        Ok(())
    }

    /// Whether there is a tensor of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    /// All tensors' names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// The files, in the order in which they were named.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|file| file.path.as_path())
    }

    /// A tensor's shape, the slowest dimension first.
    pub fn shape_of(&self, name: &str) -> Option<&[usize]> {
        self.tensors.get(name).map(|tensor| tensor.shape.as_slice())
    }

    /// The file that holds a tensor; for one that is not there, where it was looked for.
    pub fn path_of(&self, name: &str) -> &Path {
        let file = self.tensors.get(name).and_then(|tensor| self.files.get(tensor.file));
        file.map_or(&self.place, |file| &file.path)
    }

    /// Number of weights, tensors of other types than those that can be computed with left out.
    pub fn parameters(&self) -> u64 {
        let weights = self.tensors.values().filter(|tensor| tensor.encoding.is_ok());
        weights.map(|tensor| tensor.shape.iter().product::<usize>() as u64).sum()
    }

    /// A tensor, after checking its shape.
    ///
    /// # Errors
    /// [`Error::Input`] where it is missing, of another shape, or of a type that can't be computed with.
    pub fn stored(&self, name: &str, shape: &[usize]) -> Result<Stored<'_>> {
        let wrong = |what: &str| Error::input(format!("the model's tensor {name} {what}")).file(self.path_of(name));
        let Some(tensor) = self.tensors.get(name) else {
            return Err(Error::input(format!("the model has no tensor {name}"))
                .file(&self.place)
                .expected(format!("shape {shape:?}"))
                .into());
        };
        if tensor.shape != shape {
            let error = wrong("has the wrong shape").found(format!("{:?}", tensor.shape));
            return Err(error.expected(format!("{shape:?}")).into());
        }
        let encoding = tensor.encoding.as_ref().map_err(|name| {
            wrong("is of a type that can't be computed with").found(name).expected("F32, F16, BF16, or blocks of GGUF")
        })?;
        let file = self.files.get(tensor.file).and_then(|file| file.bytes.get(tensor.bytes.clone()));
        let bytes = file.ok_or_else(|| wrong("lies beyond the file's end"))?;
        Ok(Stored { shape: &tensor.shape, encoding: *encoding, bytes })
    }

    /// A tensor's values as f32, row-major, after checking its shape.
    ///
    /// # Errors
    /// As [`Weights::stored`]; [`Error::Model`] where it can't be decoded.
    pub fn vector(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let model = || self.path_of(name).display().to_string();
        let values = self.stored(name, shape)?.to_f32();
        values.map_err(|what| Error::Model { model: model(), what: format!("tensor {name}: {what}") })
    }
}

impl Mapped {
    fn open(path: &Path) -> Result<Mapped> {
        let file = File::open(path).map_err(Error::io("open", path))?;
        // SAFETY: the mapping is private and only read. A program that shortens or overwrites the file meanwhile breaks
        // this one, as it would break every reader of model files by memory map; files of the hub's cache never change.
        let bytes = unsafe { Mmap::map(&file) }.map_err(Error::io("map", path))?;
        Ok(Mapped { path: path.to_path_buf(), bytes })
    }
}

/// Errors: two tensors share bytes.
fn refuse_overlap(path: &Path, tensors: &[(String, Tensor)]) -> Result<()> {
    let mut sorted: Vec<&(String, Tensor)> = tensors.iter().filter(|(_, tensor)| !tensor.bytes.is_empty()).collect();
    sorted.sort_by_key(|(_, tensor)| tensor.bytes.start);
    match sorted.array_windows().find(|[(_, before), (_, after)]| after.bytes.start < before.bytes.end) {
        None => Ok(()),
        Some([(first, before), (second, after)]) => {
            Err(Error::input(format!("the model's tensors {first} and {second} lie in the same place"))
                .file(path)
                .found(format!(
                    "bytes {} to {}, and {} to {}",
                    before.bytes.start, before.bytes.end, after.bytes.start, after.bytes.end
                ))
                .expected("bytes of its own for each tensor")
                .into())
        }
    }
}
