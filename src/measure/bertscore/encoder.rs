//! The encoder: from texts to hidden states of one layer.
//!
//! In: a folder with a BERT model, and texts. Out: for each text its tokens and their hidden states, scaled to length 1.
//! Batches hold texts of similar length and a bounded number of tokens; padding is masked and cut off again.

use std::fmt::Display;
use std::fs;
use std::path::Path;

use candle_core::{D, DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};
use rayon::prelude::*;
use tokenizers::{Tokenizer, TruncationParams};

use crate::measure::validity::default_layer;
use crate::model::candle::said;
use crate::{Error, Result, hash};

/// Most tokens of a batch, padding included: enough to keep the matrix products busy, few enough for the caches.
const BATCH_TOKENS: usize = 2048;

/// A BERT model cut off above one layer, and its tokenizer.
pub struct Encoder {
    model: BertModel,
    tokenizer: Tokenizer,
    /// Name of the folder it was loaded from.
    pub name: String,
    /// The block whose output is given, from 1.
    pub layer: usize,
    /// First twelve digits of the SHA-256 of the weights' file.
    pub weights: String,
    /// Most tokens of a text, special ones included; what is beyond is cut.
    pub max_tokens: usize,
    pad: u32,
    edges: [u32; 2],
}

/// A text as the encoder gets it.
pub(super) struct Tokens {
    pub(super) ids: Vec<u32>,
    /// Which tokens have weight 1; begin and end tokens have 0.
    pub(super) counts: Vec<bool>,
    pub(super) truncated: bool,
}

impl Tokens {
    /// Whether there is nothing to average over: no token but begin and end tokens.
    pub(super) fn is_empty(&self) -> bool {
        !self.counts.contains(&true)
    }
}

impl Encoder {
    /// Loads `config.json`, `model.safetensors` and `tokenizer.json` from `dir`, up to block `layer`.
    ///
    /// Errors: a file is missing, is no BERT model, or is incomplete; `layer` is 0 or above the number of blocks.
    pub fn load(dir: &Path, layer: Option<usize>) -> Result<Encoder> {
        let read = |file: &str| {
            let path = dir.join(file);
            fs::read(&path).map_err(|e| match e.kind() {
                std::io::ErrorKind::NotFound => Error::input(format!("the BERTScore encoder has no {file}"))
                    .file(dir)
                    .expected("config.json, model.safetensors, tokenizer.json")
                    .fix("run scripts/fetch-models.sh")
                    .into(),
                _ => Error::io("read", &path)(e),
            })
        };
        let name = dir.file_name().map_or_else(|| "encoder".to_string(), |n| n.to_string_lossy().into_owned());
        let broken = |file: &str, e: &dyn Display| -> Error {
            Error::Model {
                model: name.clone(),
                what: format!("{file} of the BERTScore encoder can't be used: {}", said(e)),
            }
        };
        let mut config: Config =
            serde_json::from_slice(&read("config.json")?).map_err(|e| broken("config.json", &e))?;
        let weights = read("model.safetensors")?;
        let hash: String = hash::of_bytes(&weights).chars().take(12).collect();
        let layer = layer.unwrap_or_else(|| default_layer(&hash, config.num_hidden_layers));
        if layer == 0 || layer > config.num_hidden_layers {
            let blocks = config.num_hidden_layers;
            return Err(Error::input("the BERTScore encoder has no such layer")
                .file(dir)
                .key("layer")
                .found(layer.to_string())
                .expected(format!("1 to {blocks}"))
                .into());
        }
        config.num_hidden_layers = layer;
        let max_tokens = config.max_position_embeddings;
        let heads_fit = config.num_attention_heads > 0 && config.hidden_size.is_multiple_of(config.num_attention_heads);
        if max_tokens < 3 || !heads_fit {
            return Err(broken("config.json", &"its positions or attention heads are impossible"));
        }

        let model = VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu)
            .and_then(|weights| BertModel::load(weights, &config))
            .map_err(|e| broken("model.safetensors", &e))?;

        let mut tokenizer = Tokenizer::from_bytes(read("tokenizer.json")?).map_err(|e| broken("tokenizer.json", &e))?;
        let truncation = TruncationParams { max_length: max_tokens, ..TruncationParams::default() };
        tokenizer.with_padding(None).with_truncation(Some(truncation)).map_err(|e| broken("tokenizer.json", &e))?;
        let id = |token: &str| {
            tokenizer.token_to_id(token).ok_or_else(|| broken("tokenizer.json", &format!("there is no {token}")))
        };
        let (pad, edges) = (id("[PAD]")?, [id("[CLS]")?, id("[SEP]")?]);
        Ok(Encoder { model, tokenizer, name, layer, weights: hash, max_tokens, pad, edges })
    }

    /// An error of this encoder.
    pub(super) fn failed(&self, e: impl Display) -> Error {
        Error::Model { model: self.name.clone(), what: format!("BERTScore encoder: {}", said(e)) }
    }

    /// The tokens of a text, begin and end tokens included, at most `max_tokens`.
    pub(super) fn tokens(&self, text: &str) -> Result<Tokens> {
        let encoding = self.tokenizer.encode_fast(text, true).map_err(|e| self.failed(e))?;
        let ids = encoding.get_ids().to_vec();
        let counts = ids.iter().map(|id| !self.edges.contains(id)).collect();
        Ok(Tokens { ids, counts, truncated: !encoding.get_overflowing().is_empty() })
    }

    /// Hidden states `[tokens, width]` of each text in order, rows scaled to length 1. Errors: they are not finite.
    pub(super) fn embed(&self, texts: &[Tokens]) -> Result<Vec<Tensor>> {
        let mut by_length: Vec<(usize, &Tokens)> = texts.iter().enumerate().collect();
        by_length.sort_by_key(|(_, text)| std::cmp::Reverse(text.ids.len()));
        let mut batches = Vec::new();
        let mut rest = by_length.as_slice();
        // The first of the rest is the longest, so it says how many fit.
        while let Some((_, longest)) = rest.first() {
            let fit = (BATCH_TOKENS / longest.ids.len().max(1)).clamp(1, rest.len());
            let (batch, after) = rest.split_at(fit);
            batches.push(batch);
            rest = after;
        }
        let states: Vec<Vec<(usize, Tensor)>> = batches
            .into_par_iter()
            .map(|batch| self.embed_batch(batch))
            .collect::<candle_core::Result<_>>()
            .map_err(|e| self.failed(e))?;
        let mut states: Vec<(usize, Tensor)> = states.into_iter().flatten().collect();
        states.sort_by_key(|(place, _)| *place);
        Ok(states.into_iter().map(|(_, states)| states).collect())
    }

    fn embed_batch(&self, batch: &[(usize, &Tokens)]) -> candle_core::Result<Vec<(usize, Tensor)>> {
        let width = batch.iter().map(|(_, text)| text.ids.len()).max().unwrap_or(0);
        let mut ids = Vec::with_capacity(batch.len() * width);
        let mut mask = Vec::with_capacity(batch.len() * width);
        for (_, text) in batch {
            let padding = width - text.ids.len();
            ids.extend(text.ids.iter().copied().chain(std::iter::repeat_n(self.pad, padding)));
            mask.extend(std::iter::repeat_n(1f32, text.ids.len()).chain(std::iter::repeat_n(0f32, padding)));
        }
        let shape = (batch.len(), width);
        let ids = Tensor::from_vec(ids, shape, &self.model.device)?;
        let mask = Tensor::from_vec(mask, shape, &self.model.device)?;
        let states = self.model.forward(&ids, &ids.zeros_like()?, Some(&mask))?;
        let states = states.broadcast_div(&states.sqr()?.sum_keepdim(D::Minus1)?.sqrt()?)?;
        let of = |(row, (place, text)): (usize, &(usize, &Tokens))| {
            // A copy of its own, so that the padded batch is freed.
            let states = states.get(row)?.narrow(0, 0, text.ids.len())?.force_contiguous()?;
            // No row is longer than 1, so only what is not finite makes the sum so.
            if !states.sum_all()?.to_scalar::<f32>()?.is_finite() {
                return Err(candle_core::Error::Msg("the encoder gave numbers that are not finite".to_string()));
            }
            Ok((*place, states))
        };
        batch.iter().enumerate().map(of).collect()
    }
}
