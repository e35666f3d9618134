//! Data sets: where prompts come from.
//!
//! In: a descriptor, and a file in one of its layouts (or the embedded starter prompts). Out: sampled [`Prompt`]s.

/// One base prompt with its reference answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// Name of the data set in the plan.
    pub dataset: String,
    /// Key within the data set: the source row's own id, else its row number.
    pub prompt_id: String,
    /// The request as the model gets it.
    pub text: String,
    /// Reference answers, the best first; empty where the source has none.
    pub answers: Vec<String>,
    /// The source's own category, where it has one.
    pub category: Option<String>,
    /// Row in the source, from 0.
    pub source_row: u64,
    /// SHA-256 of the source row's text and answers, hexadecimal.
    pub source_hash: String,
}
