//! Variants: meaning-preserving rewordings of one prompt.
//!
//! In: a [`Prompt`](crate::datasets::Prompt) and a grid. Out: [`Variant`]s in grid order, baselines first.
//! A variant is a pure function of (seed, data set, prompt id, subtype, place, strength): no clock, no file, no model.

/// One wording of one prompt: a row of the table `variants`.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// Name of the data set in the plan.
    pub dataset: String,
    /// Key of the prompt within the data set.
    pub prompt_id: String,
    /// Readable and stable: `spacing/global/20`, `politeness/prefix/-4`, `form/global/imperative`, `baseline`.
    pub variant_id: String,
    /// `social_register`, `surface_noise`, `structural_rewriting`, `own`; `baseline` for the prompt itself.
    pub family: String,
    /// `politeness`, `spacing`, `punctuation`, `casing`, `length`, `form`; of own paraphrases what the file says; `baseline` for the prompt itself.
    pub subtype: String,
    /// `prefix`, `suffix` or `global`; None for `baseline`.
    pub place: Option<String>,
    /// Strength as a number; None for form and `baseline`.
    pub strength: Option<f64>,
    /// Strength as a word or shortest decimal, as it stands in the id.
    pub level: Option<String>,
    /// Whether other variants are measured against this row.
    pub is_baseline: bool,
    /// variant_id of the row that this one is measured against (its own, for a baseline).
    pub baseline_id: String,
    /// Seed of the plan.
    pub seed: u64,
    /// The wording; None where no faithful rewrite could be made.
    pub text: Option<String>,
    /// Who made it: `rules` for the built-in rewriter, `own` for a user's paraphrase, None for noise and framing.
    pub rewriter: Option<String>,
    /// BERTScore F1 of the wording against its baseline's.
    pub prompt_bertscore: Option<f64>,
    /// Signature of the scorer of `prompt_bertscore`.
    pub scorer: Option<String>,
    /// False where the validity rule applies and fails, and where no rewrite could be made.
    pub is_valid: bool,
    /// Why it is not valid.
    pub invalid_reason: Option<String>,
}
