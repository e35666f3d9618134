//! Backends: who answers.
//!
//! In: all wordings of one prompt. Out: an [`Answer`] a wording and repeat, in the same order.
//! What a backend can't give is None, never 0.

pub mod local;

use std::sync::atomic::AtomicBool;

use crate::Result;
use crate::model::Time;
use crate::plan::GenerationPlan;
use crate::variants::Variant;

/// What one model said to one wording, once.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// Place of the wording in the slice that was asked.
    pub wording: usize,
    /// Number of the repetition.
    pub repeat: usize,
    /// The prompt through the chat template.
    pub prompt_token_ids: Option<Vec<u32>>,
    /// Whether the prompt's own text held special-token text that was read as tokens.
    pub special_text: bool,
    /// The response; None where there is an error.
    pub response: Option<Response>,
    /// Why there is no response.
    pub error: Option<String>,
    /// The baseline's response scored after this wording; only for repeat 0.
    pub forced: Option<Forced>,
    /// The prompt's last token at all layers (L + 1 vectors); only for repeat 0.
    pub hidden: Option<Vec<Vec<f32>>>,
}

/// The new tokens of an answer.
#[derive(Debug, Clone, Default)]
pub struct Response {
    /// Text without special tokens.
    pub text: String,
    /// Token ids, the end token included where it was generated.
    pub token_ids: Vec<u32>,
    /// `stop` or `length`.
    pub finish_reason: &'static str,
    /// Log-probability of each token, nats.
    pub logprobs: Vec<f32>,
    /// Entropy of the distribution that each token was drawn from, nats.
    pub entropies: Vec<f32>,
}

/// Scores of the baseline's response after another prompt; all lists have one value a token.
#[derive(Debug, Clone, Default)]
pub struct Forced {
    /// The baseline's response without its end token.
    pub target_token_ids: Vec<u32>,
    /// Log-probability of each target token, nats.
    pub logprobs: Vec<f32>,
    /// Entropy of each next-token distribution, nats.
    pub entropies: Vec<f32>,
    /// Jensen-Shannon divergence from the distribution under the baseline's prompt, nats.
    pub jsds: Vec<f32>,
}

/// Someone who answers prompts.
pub trait Backend {
    /// Answers every wording of one prompt, `generation.repeats` times each.
    ///
    /// `wordings` all have a text; `baselines[i]` is the place of wording i's baseline in the same slice.
    /// `progress` gets the number of answers that are complete.
    ///
    /// # Errors
    /// The model fails as a whole, or `stop` was raised. What fails for one wording alone is in its [`Answer`].
    fn answer(
        &self,
        wordings: &[&Variant],
        baselines: &[Option<usize>],
        generation: &GenerationPlan,
        stop: &AtomicBool,
        progress: &dyn Fn(usize),
    ) -> Result<(Vec<Answer>, Time)>;

    /// Name of the device.
    fn device(&self) -> &str;

    /// Most sequences in one batch.
    fn batch(&self) -> usize;
}
