//! Weights: an encoder's tensors by name, in safetensors that are mapped into memory.
//!
//! In: a folder with `model.safetensors`, or with shards and their index. Out: tensors in f32, read where they are asked for.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use candle_core::safetensors::MmapedSafetensors;
use candle_core::{DType, Device, Tensor};
use serde::Deserialize;

use crate::model::candle::said;
use crate::{Error, Result, hash};

const ONE: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";

/// The tensors of an encoder.
pub(super) struct Weights {
    tensors: MmapedSafetensors,
    files: Vec<PathBuf>,
    /// What stands before every name: the model's own where it was saved with a head, else nothing.
    prefix: &'static str,
}

#[derive(Deserialize)]
struct Index {
    weight_map: serde_json::Map<String, serde_json::Value>,
}

impl Weights {
    /// Opens the weights of a folder.
    ///
    /// Errors: there are none, a shard is missing, or they are damaged.
    pub(super) fn open(dir: &Path) -> Result<Weights> {
        let files = files(dir)?;
        // SAFETY: the mapping is private and only read. A program that overwrites the file meanwhile breaks this one, as it
        // would break every reader of model files by memory map.
        let tensors = unsafe { MmapedSafetensors::multi(&files) }.map_err(|e| unusable(&files, &said(e)))?;
        let mut weights = Weights { tensors, files, prefix: "" };
        let prefixes = ["", "bert.", "roberta.", "distilbert.", "deberta."];
        let is_of = |prefix: &&&str| weights.tensors.get(&format!("{prefix}{}", super::network::WORDS)).is_ok();
        weights.prefix = prefixes.iter().find(is_of).copied().unwrap_or_default();
        Ok(weights)
    }

    /// SHA-256 of the file; of the shards' hashes, where there are several.
    pub(super) fn hash(&self) -> Result<String> {
        let hashes = self.files.iter().map(|file| hash::of_file(file)).collect::<Result<Vec<_>>>()?;
        match hashes.as_slice() {
            [one] => Ok(one.clone()),
            shards => Ok(hash::of_bytes(shards.concat().as_bytes())),
        }
    }

    fn name(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// Whether there is a tensor of this name.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.tensors.get(&self.name(name)).is_ok()
    }

    /// A tensor's values, row-major. Errors: it is missing, of another shape, or not of numbers.
    pub(super) fn vector(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        self.check(name, shape)?;
        let name = self.name(name);
        let tensor = self.tensors.load(&name, &Device::Cpu).and_then(|tensor| floats(&tensor));
        tensor.map_err(|e| unusable(&self.files, &format!("tensor {name}: {}", said(e))))
    }

    /// Row `row` of a matrix, into `out`. Errors: it is not there, or not of numbers.
    pub(super) fn row(&self, name: &str, row: usize, out: &mut [f32]) -> candle_core::Result<()> {
        let view = self.tensors.get(&self.name(name))?;
        let bytes = view.data().len() / view.shape().first().copied().unwrap_or(1).max(1);
        let data = view.data().get(row * bytes..(row + 1) * bytes);
        let data = data.ok_or_else(|| candle_core::Error::Msg(format!("tensor {name} has no row {row}")))?;
        let tensor = Tensor::from_raw_buffer(data, DType::try_from(view.dtype())?, &[out.len()], &Device::Cpu)?;
        out.copy_from_slice(&floats(&tensor)?);
        Ok(())
    }

    /// Errors: there is no such tensor, or it has another shape.
    pub(super) fn check(&self, name: &str, shape: &[usize]) -> Result<()> {
        let name = self.name(name);
        match self.tensors.get(&name) {
            Ok(view) if view.shape() == shape => Ok(()),
            Ok(view) => {
                let what = format!("tensor {name} has shape {:?}, and config.json asks for {shape:?}", view.shape());
                Err(unusable(&self.files, &what))
            }
            Err(_) => Err(unusable(&self.files, &format!("there is no tensor {name} of shape {shape:?}"))),
        }
    }
}

fn floats(tensor: &Tensor) -> candle_core::Result<Vec<f32>> {
    tensor.to_dtype(DType::F32)?.flatten_all()?.to_vec1()
}

fn unusable(files: &[PathBuf], what: &str) -> Error {
    let file = files.first().map_or(Path::new(ONE), PathBuf::as_path);
    let folder = file.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    Error::Model { model: folder.into_owned(), what: format!("{name} of the BERTScore encoder can't be used: {what}") }
}

/// The files of a folder's weights, each once.
fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let (one, index) = (dir.join(ONE), dir.join(INDEX));
    if one.is_file() {
        return Ok(vec![one]);
    }
    if !index.is_file() {
        let other =
            ["pytorch_model.bin", "tf_model.h5", "flax_model.msgpack"].into_iter().find(|f| dir.join(f).is_file());
        let error =
            Error::input(format!("the BERTScore encoder has no {ONE}")).file(dir).expected(super::encoder::FILES);
        return Err(match other {
            Some(other) => {
                error.found(other).fix("save it as safetensors: save_pretrained of transformers does").into()
            }
            None => error.fix("run scripts/fetch-models.sh").into(),
        });
    }
    let text = std::fs::read(&index).map_err(Error::io("read", &index))?;
    let index: Index =
        serde_json::from_slice(&text).map_err(|e| unusable(std::slice::from_ref(&index), &e.to_string()))?;
    let shards: BTreeSet<&str> = index.weight_map.values().filter_map(|shard| shard.as_str()).collect();
    let shard = |name: &&str| {
        let path = dir.join(Path::new(name).file_name().unwrap_or_default());
        match path.is_file() {
            true => Ok(path),
            false => Err(Error::input("a shard of the BERTScore encoder's weights is missing")
                .file(dir)
                .expected(format!("{name}, which {INDEX} names"))
                .into()),
        }
    };
    shards.iter().map(shard).collect()
}
