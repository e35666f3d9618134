//! What is asked of a model, and what it answers.
//!
//! In: prompts as token ids, which baseline each is measured against, and settings. Out: [`Answers`].

/// Prompts to answer and responses to score.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// Token ids of each prompt. Equal prompts share their computation, so repeats may stand here as they are.
    pub prompts: &'a [Vec<u32>],
    /// Key of each prompt's draws (as many as prompts); of use only where the temperature is above 0.
    pub draw_keys: &'a [String],
    /// Pairs (prompt, baseline), as indices into `prompts`: the baseline's response is scored after the prompt.
    pub forced: &'a [(usize, usize)],
    /// How to generate.
    pub settings: Settings,
    /// Which hidden states to return.
    pub layers: &'a Layers,
}

/// Generation settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Most new tokens of a response.
    pub max_new_tokens: usize,
    /// Whether an end token is taken as any other: every response then has `max_new_tokens`, and ends with
    /// [`Finish::Length`].
    pub ignore_end: bool,
    /// 0 is greedy.
    pub temperature: f64,
    /// Probability mass that is sampled from; 1 is all.
    pub top_p: f64,
    /// Seed of the draws.
    pub seed: u64,
    /// Most responses in the making at once; no result depends on it, but for the rounding of devices other than the CPU.
    pub batch: usize,
    /// Most bytes of cache; one prompt is always let in. Beside it, each baseline whose pairs are not all scored keeps the
    /// distributions along its response, 4 bytes x vocabulary a token. No result depends on it, as above.
    pub cache_bytes: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            max_new_tokens: 100,
            ignore_end: false,
            temperature: 0.0,
            top_p: 1.0,
            seed: 0,
            batch: 96,
            cache_bytes: 1 << 30,
        }
    }
}

/// Layers whose hidden state is returned; 0 is the embedding, the last is after the final norm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layers {
    /// None.
    None,
    /// All, in order.
    All,
    /// These, in this order.
    Some(Vec<usize>),
}

/// Answers to a [`Job`].
#[derive(Debug, Clone, Default)]
pub struct Answers {
    /// One a prompt.
    pub generations: Vec<Generation>,
    /// Hidden state of each prompt's last token, by layer as asked for; empty for [`Layers::None`].
    pub hidden: Vec<Vec<Vec<f32>>>,
    /// One a pair of [`Job::forced`].
    pub forced: Vec<Forced>,
    /// Where the time went.
    pub time: Time,
}

/// A response.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Generation {
    /// New tokens, the end token included where it was generated.
    pub token_ids: Vec<u32>,
    /// Log-probability of each new token: nats, from raw logits, whatever the temperature.
    pub logprobs: Vec<f32>,
    /// Entropy of the full next-token distribution at each new token: nats, from raw logits.
    pub entropies: Vec<f32>,
    /// Why it ended.
    pub finish: Finish,
}

/// Why a response ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Finish {
    /// An end token was generated.
    Stop,
    /// The limit of new tokens was reached.
    #[default]
    Length,
    /// The model gave numbers that are not finite for the next token; those before it are there, and mean nothing.
    Broken,
}

impl Finish {
    /// As it stands in the tables; of a broken response they hold an error instead.
    pub fn as_str(self) -> &'static str {
        match self {
            Finish::Stop => "stop",
            Finish::Length => "length",
            Finish::Broken => "broken",
        }
    }
}

/// The baseline's response, without its end token, scored after a prompt: one value a token.
///
/// Empty where the baseline's response is [`Finish::Broken`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Forced {
    /// The tokens scored.
    pub token_ids: Vec<u32>,
    /// Log-probability of each: nats.
    pub logprobs: Vec<f32>,
    /// Entropy of the next-token distribution at each: nats.
    pub entropies: Vec<f32>,
    /// Jensen-Shannon divergence from the distribution under the baseline's own prompt: nats, exactly 0 on that prompt.
    pub jsds: Vec<f32>,
    /// Place, from 0, of the first token at which the model gave numbers that are not finite; then no list means anything.
    pub broken_at: Option<usize>,
}

/// Wall seconds and token positions, by what they were for; positions that several sequences share count once.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Time {
    /// Seconds on prompts.
    pub prefill_seconds: f64,
    /// Seconds on new tokens.
    pub decode_seconds: f64,
    /// Seconds on forced responses.
    pub forced_seconds: f64,
    /// Prompt positions computed.
    pub prefill_tokens: u64,
    /// New tokens generated, over all responses.
    pub decode_tokens: u64,
    /// Forced tokens scored, over all pairs.
    pub forced_tokens: u64,
}

impl std::ops::AddAssign for Time {
    fn add_assign(&mut self, other: Time) {
        self.prefill_seconds += other.prefill_seconds;
        self.decode_seconds += other.decode_seconds;
        self.forced_seconds += other.forced_seconds;
        self.prefill_tokens += other.prefill_tokens;
        self.decode_tokens += other.decode_tokens;
        self.forced_tokens += other.forced_tokens;
    }
}

/// How far a job is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Responses complete.
    pub responses: usize,
    /// New tokens generated.
    pub new_tokens: u64,
    /// Forced tokens scored.
    pub forced_tokens: u64,
}
