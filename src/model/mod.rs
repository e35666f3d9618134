//! Models: weights, tokenizer, chat template, and the batched decoder.
//!
//! In: a model's files, then requests. Out: prompts as token ids, responses, scores and hidden states.
//!
//! | file | holds |
//! |---|---|
//! | `hub`, `cache_dir` | where models lie on this machine, and how they come there |
//! | `weights` | tensors and metadata of safetensors and GGUF files |
//! | `tokenizer`, `template` | text to ids, request to text |
//! | `families` | what the decoder of each architecture is made of |
//! | `load` | all of these become a model |
//! | `decoder`, `matrix`, `simd` | the forward pass over rows, on this processor |
//! | `tensors` | the same on a device |
//! | `device`, `engine` | where a model is computed, and what generation needs of either |
//! | `tree` | which positions are shared |
//! | `scores`, `sampling` | figures of a next-token distribution, and the choice of a token |
//! | `job`, `generate` | a batch of prompts and baselines, answered |
//! | `candle` | what the library of that name says when it fails |

pub mod cache_dir;
pub(crate) mod candle;
mod decoder;
mod device;
mod engine;
mod families;
mod generate;
pub mod hub;
mod job;
mod load;
pub(crate) mod matrix;
mod sampling;
mod scores;
pub(crate) mod simd;
mod template;
mod tensors;
pub(crate) mod tokenizer;
mod tree;
pub mod weights;

use std::sync::atomic::AtomicBool;

use crate::{Error, Result};
use engine::Loaded;
use template::Template;

pub use device::Device;
pub use job::{Answers, Finish, Forced, Generation, Job, Layers, Progress, Settings, Time};
pub use load::Loading;
pub use matrix::Compute;
pub use template::Options as TemplateOptions;
pub(crate) use tokenizer::Tokenizer;

/// A loaded model.
#[derive(Debug)]
pub struct Model {
    decoder: Loaded,
    tokenizer: Tokenizer,
    template: Option<Template>,
    template_options: TemplateOptions,
    info: ModelInfo,
    /// Bytes of cache that there was room for when it was loaded.
    cache_bytes: usize,
}

/// What a model is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelInfo {
    /// Name in the plan.
    pub name: String,
    /// Architecture, as the file names it.
    pub family: String,
    /// Number of weights; tied embeddings count once.
    pub parameters: u64,
    /// Number of blocks; there is one more hidden state.
    pub layers: usize,
    /// Length of a hidden state.
    pub width: usize,
    /// Number of tokens that can come next; the tokenizer may know fewer.
    pub vocabulary: usize,
    /// Most tokens of prompt and response together.
    pub context: usize,
    /// Compute type.
    pub dtype: &'static str,
    /// Where it is computed.
    pub device: Device,
    /// SHA-256 of the weights' file, or of the SHA-256 of its parts.
    pub weights_sha256: String,
    /// SHA-256 of what makes the tokenizer.
    pub tokenizer_sha256: String,
    /// SHA-256 of the chat template; None where the model has none and gets the request as it is.
    pub template_sha256: Option<String>,
    /// Tokens that end a response.
    pub end_ids: Vec<u32>,
}

/// A prompt as the model gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// Through the chat template.
    pub text: String,
    /// Its tokens.
    pub token_ids: Vec<u32>,
    /// Whether the request itself held text of special tokens.
    pub special_text: bool,
}

impl Model {
    /// What it is.
    pub fn info(&self) -> &ModelInfo {
        &self.info
    }

    /// Bytes of cache that there was room for when it was loaded.
    pub fn cache_bytes(&self) -> usize {
        self.cache_bytes
    }

    /// One user turn as the model gets it.
    ///
    /// Without a system prompt the template's own default, if it has one, stays. Text of special tokens in the request
    /// becomes those tokens, as the reference library has it, unless `escape_special` is set: then it stays text.
    ///
    /// # Errors
    /// [`Error::Model`] where the chat template refuses the turns.
    pub fn render(&self, user: &str, system: Option<&str>, escape_special: bool) -> Result<Rendered> {
        let special = |text: &str| self.tokenizer.has_special_text(text);
        let special_text = special(user) || system.is_some_and(special);
        // A character that occurs nowhere breaks special tokens' text until it is taken out again before encoding.
        let breaker = match escape_special && special_text {
            true => ('\u{e000}'..='\u{f8ff}').find(|&c| !user.contains(c) && !system.is_some_and(|s| s.contains(c))),
            false => None,
        };
        let whole = match breaker {
            Some(breaker) => {
                let system = system.map(|system| self.tokenizer.break_special_text(system, breaker));
                self.through_template(&self.tokenizer.break_special_text(user, breaker), system.as_deref())?
            }
            None => self.through_template(user, system)?,
        };
        let mut token_ids = self.tokenizer.encode(&whole, breaker)?;
        if self.template.is_none()
            && let Some(begin) = self.tokenizer.begin
        {
            token_ids.insert(0, begin);
        }
        let text = breaker.map_or_else(|| whole.clone(), |breaker| whole.replace(breaker, ""));
        Ok(Rendered { text, token_ids, special_text })
    }

    fn through_template(&self, user: &str, system: Option<&str>) -> Result<String> {
        match (&self.template, system) {
            (Some(template), system) => template.render(&self.info.name, user, system, &self.template_options),
            (None, Some(system)) => Ok(format!("{system}\n\n{user}")),
            (None, None) => Ok(user.to_string()),
        }
    }

    /// Text of token ids, special tokens left out.
    ///
    /// # Errors
    /// [`Error::Model`] where the tokenizer library fails.
    pub fn decode(&self, ids: &[u32]) -> Result<String> {
        self.tokenizer.decode(ids)
    }

    /// Whether a prompt of so many tokens can be answered; the reason where it can't.
    ///
    /// # Errors
    /// The sentence for the row of a prompt that is empty, or too long with the new tokens: nothing is ever cut.
    pub fn fits(&self, prompt_tokens: usize, max_new_tokens: usize) -> Result<(), String> {
        let context = self.info.context;
        if prompt_tokens == 0 {
            return Err("the prompt has no tokens".to_string());
        }
        if prompt_tokens.saturating_add(max_new_tokens) > context {
            return Err(format!(
                "{prompt_tokens} prompt tokens and {max_new_tokens} new ones are more than the model's context of {context}"
            ));
        }
        Ok(())
    }

    /// Answers prompts and scores baselines' responses; see [`Job`].
    ///
    /// On the CPU results are the same bits whatever the batch, the other prompts in the job and the number of threads;
    /// between processors of different instruction sets they differ by rounding. On another device they differ by rounding
    /// from batch to batch as well.
    /// `cancel` is looked at between steps; `progress` is called after each.
    ///
    /// # Errors
    /// [`Error::Interrupted`] once `cancel` is set; [`Error::Model`] where the job names a prompt, token or layer that is
    /// not there, a prompt does not fit ([`Model::fits`]), or a device fails.
    pub fn answer(&self, job: &Job<'_>, cancel: &AtomicBool, progress: &dyn Fn(Progress)) -> Result<Answers> {
        self.check(job).map_err(|what| Error::Model { model: self.info.name.clone(), what })?;
        generate::answer(&mut *self.decoder.begin()?, &self.info.end_ids, job, cancel, progress)
    }

    fn check(&self, job: &Job<'_>) -> Result<(), String> {
        let prompts = job.prompts.len();
        if job.settings.temperature > 0.0 && job.draw_keys.len() != prompts {
            return Err(format!("{prompts} prompts came with {} draw keys", job.draw_keys.len()));
        }
        for (index, prompt) in job.prompts.iter().enumerate() {
            self.fits(prompt.len(), job.settings.max_new_tokens).map_err(|why| format!("prompt {index}: {why}"))?;
            if let Some(token) = prompt.iter().find(|&&token| token as usize >= self.info.vocabulary) {
                return Err(format!("prompt {index}: token {token} is not below {}", self.info.vocabulary));
            }
        }
        if let Some((prompt, baseline)) = job.forced.iter().find(|(p, b)| *p >= prompts || *b >= prompts) {
            return Err(format!("pair ({prompt}, {baseline}) names a prompt beyond the {prompts} given"));
        }
        match job.layers {
            Layers::Some(layers) => match layers.iter().find(|&&layer| layer > self.info.layers) {
                Some(layer) => Err(format!("layer {layer} is above {}", self.info.layers)),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }
}
