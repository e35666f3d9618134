//! The encoder: from texts to hidden states of one layer.
//!
//! In: a folder with an encoder of a known family, and texts. Out: for each text its tokens and their hidden states, scaled
//! to length 1. Batches hold a bounded number of tokens, without padding; a text's states are the same in any batch.

use std::fmt::Display;
use std::fs;
use std::path::Path;

use super::config::{Shape, Unfit};
use super::network::Network;
use super::rows::to_unit;
use super::tokens::{TextTokenizer, Tokens};
use super::weights::Weights;
use crate::measure::validity::default_layer;
use crate::model::candle::said;
use crate::{Error, Result};

/// Most tokens of a batch: enough to keep the matrix products busy, few enough for the caches.
const BATCH_TOKENS: usize = 2048;

/// What a folder must hold.
pub(super) const FILES: &str = "config.json, tokenizer.json, and model.safetensors or its shards";

/// An encoder cut off above one layer, and its tokenizer.
pub struct Encoder {
    network: Network,
    tokenizer: TextTokenizer,
    /// Name of the folder it was loaded from; in the hub's cache, of the repository.
    pub name: String,
    /// The block whose output is given, from 1.
    pub layer: usize,
    /// First twelve digits of the SHA-256 of the weights' file.
    pub weights: String,
    /// Most tokens of a text, special ones included; what is beyond is cut.
    pub max_tokens: usize,
}

impl Encoder {
    /// Loads configuration, weights and tokenizer from `dir`, up to block `layer`.
    ///
    /// Errors: a file is missing, of a family that is not known, or incomplete; `layer` is 0 or above the number of blocks.
    pub fn load(dir: &Path, layer: Option<usize>) -> Result<Encoder> {
        let read = |file: &str| {
            let path = dir.join(file);
            fs::read(&path).map_err(|e| match e.kind() {
                std::io::ErrorKind::NotFound => Error::input(format!("the BERTScore encoder has no {file}"))
                    .file(dir)
                    .expected(FILES)
                    .fix("run scripts/fetch-models.sh")
                    .into(),
                _ => Error::io("read", &path)(e),
            })
        };
        let name = name_of(dir);
        let broken = |file: &str, e: &dyn Display| -> Error {
            Error::Model {
                model: name.clone(),
                what: format!("{file} of the BERTScore encoder can't be used: {}", said(e)),
            }
        };
        let shape = Shape::read(&read("config.json")?).map_err(|unfit| match unfit {
            Unfit::Kind { found, known } => Error::input("the BERTScore encoder is of a family that is not known")
                .file(dir.join("config.json"))
                .key("model_type")
                .found(found)
                .expected(known)
                .into(),
            Unfit::Other(what) => broken("config.json", &what),
        })?;
        let weights = Weights::open(dir)?;
        let hash: String = weights.hash()?.chars().take(12).collect();
        let layer = layer.unwrap_or_else(|| default_layer(&name, &hash, shape.blocks));
        if layer == 0 || layer > shape.blocks {
            return Err(Error::input("the BERTScore encoder has no such layer")
                .file(dir)
                .key("layer")
                .found(layer.to_string())
                .expected(format!("1 to {}", shape.blocks))
                .into());
        }
        let max_tokens = limit(dir).map_or(shape.max_tokens, |limit| limit.min(shape.max_tokens));
        let tokenizer = read("tokenizer.json")?;
        let tokenizer =
            TextTokenizer::read(&tokenizer, max_tokens, shape.vocabulary).map_err(|e| broken("tokenizer.json", &e))?;
        let network = Network::load(weights, shape, layer)?;
        Ok(Encoder { network, tokenizer, name, layer, weights: hash, max_tokens })
    }

    /// An error of this encoder.
    fn failed(&self, e: impl Display) -> Error {
        Error::Model { model: self.name.clone(), what: format!("BERTScore encoder: {}", said(e)) }
    }

    /// Length of a hidden state.
    pub(super) fn width(&self) -> usize {
        self.network.width()
    }

    /// Whether a token is a begin or end token.
    pub(super) fn is_edge(&self, id: u32) -> bool {
        self.tokenizer.is_edge(id)
    }

    /// The tokens of a text, begin and end tokens included, at most `max_tokens`.
    pub(super) fn tokens(&self, text: &str) -> Result<Tokens> {
        self.tokenizer.tokens(text).map_err(|e| self.failed(e))
    }

    /// Hidden states `[tokens, width]` of each text in order, rows scaled to length 1. Errors: they are not finite.
    pub(super) fn embed(&self, texts: &[Tokens]) -> Result<Vec<Vec<f32>>> {
        let mut states = Vec::with_capacity(texts.len());
        let mut rest = texts;
        while !rest.is_empty() {
            let mut tokens = 0;
            let fit = rest.iter().take_while(|text| {
                tokens += text.ids.len();
                tokens <= BATCH_TOKENS
            });
            let (batch, after) = rest.split_at(fit.count().max(1));
            self.embed_batch(batch, &mut states)?;
            rest = after;
        }
        Ok(states)
    }

    fn embed_batch(&self, batch: &[Tokens], states: &mut Vec<Vec<f32>>) -> Result<()> {
        let ids: Vec<&[u32]> = batch.iter().map(|text| text.ids.as_slice()).collect();
        let mut all = self.network.states(&ids).map_err(|e| self.failed(e))?;
        // One that is not finite makes the length so.
        if !all.chunks_mut(self.width()).all(to_unit) {
            return Err(self.failed("the encoder gave numbers that are not finite"));
        }
        let mut rest = all.as_slice();
        for ids in ids {
            let (text, after) = rest.split_at(ids.len() * self.width());
            states.push(text.to_vec());
            rest = after;
        }
        Ok(())
    }
}

/// The folder's name; `OWNER/NAME` of a snapshot in the hub's cache, `models--OWNER--NAME/snapshots/REVISION`.
fn name_of(dir: &Path) -> String {
    let name = |path: Option<&Path>| Some(path?.file_name()?.to_string_lossy().into_owned());
    let snapshots = dir.parent().filter(|parent| name(Some(parent)).as_deref() == Some("snapshots"));
    let repository = name(snapshots.and_then(Path::parent));
    match repository.as_deref().and_then(|name| name.strip_prefix("models--")) {
        Some(repository) => repository.replacen("--", "/", 1),
        None => name(Some(dir)).unwrap_or_else(|| "encoder".to_string()),
    }
}

/// The tokenizer's own limit, where tokenizer_config.json says one.
fn limit(dir: &Path) -> Option<usize> {
    let text = fs::read(dir.join("tokenizer_config.json")).ok()?;
    let config: serde_json::Value = serde_json::from_slice(&text).ok()?;
    let limit = config.get("model_max_length")?.as_u64().filter(|&limit| limit >= 3)?;
    usize::try_from(limit).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_of_the_hub_is_named_for_its_repository() {
        let name = |dir: &str| name_of(Path::new(dir));
        assert_eq!(name("/models/all-minilm-l6-v2"), "all-minilm-l6-v2");
        assert_eq!(name("/hub/models--FacebookAI--roberta-large/snapshots/722cf37b"), "FacebookAI/roberta-large");
        assert_eq!(name("snapshots/mine"), "mine");
        assert_eq!(name("/"), "encoder");
    }
}
