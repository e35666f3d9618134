//! Variants: meaning-preserving rewordings of one prompt.
//!
//! In: a [`Prompt`] and a [`Grid`]. Out: [`Variant`]s in grid order, baselines first.
//! A variant is a pure function of (seed, data set, prompt id, subtype, place, strength): no clock, no file, no model.

mod boundaries;
mod casing;
mod english;
mod form;
mod grid;
mod length;
mod own;
mod page;
mod politeness;
mod protected;
mod punctuation;
mod spacing;
mod subtype;
mod validity;

pub use grid::{Grid, count};
pub use own::{Paraphrase, own, read_paraphrases, unmatched};
pub use page::page;
pub use subtype::{Level, Place, Subtype};
pub use validity::{ValidityRule, apply_validity};

use crate::datasets::Prompt;
use crate::draw::Draws;
use form::Form;

/// variant_id of the prompt itself.
pub const BASELINE: &str = "baseline";

/// A wording, or why none could be made.
type Wording = std::result::Result<String, String>;

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

/// All wordings of `prompt` on `grid` under `seed`: the baselines first, then a row for every cell of the grid in its
/// order, also for those that could not be made (text None, not valid, with the reason).
///
/// A second baseline, `form/global/interrogative`, is there where the grid has form and the prompt is no question itself.
pub fn make(prompt: &Prompt, grid: &Grid, seed: u64) -> Vec<Variant> {
    let mut variants = vec![baseline(prompt, seed)];
    // The two rows of form depend on each other, so they are made together.
    let form = grid.has(Subtype::Form).then(|| form::form(&prompt.text));
    let mut imperative: Wording = Err("form is not on the grid".to_string());
    let mut form_baseline = BASELINE.to_string();
    match form {
        Some(Form::Question { imperative: wording }) => imperative = wording,
        Some(Form::Imperative { interrogative }) => {
            imperative = interrogative.as_ref().map(|_| prompt.text.clone()).map_err(Clone::clone);
            let row = interrogative_row(prompt, seed, interrogative);
            form_baseline.clone_from(&row.variant_id);
            variants.push(row);
        }
        Some(Form::Neither(reason)) => {
            imperative = Err(reason.clone());
            let row = interrogative_row(prompt, seed, Err(reason));
            form_baseline.clone_from(&row.variant_id);
            variants.push(row);
        }
        None => {}
    }
    for cell in grid.cells() {
        let (wording, rewriter, baseline_id) = match (cell.subtype, cell.level) {
            (Subtype::Form, _) => (imperative.clone(), Some("rules"), form_baseline.as_str()),
            (Subtype::Length, level) => {
                (length::length(&prompt.text, level.number().unwrap_or(1.0)), Some("rules"), BASELINE)
            }
            (subtype, level) => {
                let key = [prompt.dataset.as_str(), &prompt.prompt_id, subtype.as_str(), cell.place.as_str()];
                (noise(prompt, subtype, cell.place, level, &Draws::new(seed, &key)), None, BASELINE)
            }
        };
        let mut variant = blank(prompt, seed, cell.subtype, cell.place, cell.level);
        variant.baseline_id = baseline_id.to_string();
        variant.rewriter = rewriter.map(str::to_string);
        variants.push(worded(variant, wording));
    }
    variants
}

/// Framing and surface noise: what keeps the meaning by construction.
fn noise(prompt: &Prompt, subtype: Subtype, place: Place, level: &Level, draws: &Draws) -> Wording {
    let strength = level.number().unwrap_or(0.0);
    match subtype {
        Subtype::Politeness => Ok(politeness::politeness(&prompt.text, place, strength as i32)),
        Subtype::Spacing => Ok(spacing::spacing(&prompt.text, place, strength as u64, draws)),
        Subtype::Punctuation => Ok(punctuation::punctuation(&prompt.text, place, strength as u64, draws)),
        Subtype::Casing => casing::casing(&prompt.text, place, strength, draws),
        Subtype::Length | Subtype::Form => Err(format!("{} is no noise", subtype.as_str())),
    }
}

/// The row of the prompt itself.
fn baseline(prompt: &Prompt, seed: u64) -> Variant {
    Variant {
        dataset: prompt.dataset.clone(),
        prompt_id: prompt.prompt_id.clone(),
        variant_id: BASELINE.to_string(),
        family: BASELINE.to_string(),
        subtype: BASELINE.to_string(),
        place: None,
        strength: None,
        level: None,
        is_baseline: true,
        baseline_id: BASELINE.to_string(),
        seed,
        text: Some(prompt.text.clone()),
        rewriter: None,
        prompt_bertscore: None,
        scorer: None,
        is_valid: true,
        invalid_reason: None,
    }
}

/// The baseline of form for a prompt that is no question.
fn interrogative_row(prompt: &Prompt, seed: u64, wording: Wording) -> Variant {
    let mut row = blank(prompt, seed, Subtype::Form, Place::Global, &Level::Word("interrogative".to_string()));
    row.is_baseline = true;
    row.baseline_id.clone_from(&row.variant_id);
    row.rewriter = Some("rules".to_string());
    worded(row, wording)
}

/// A row of the grid before its wording.
fn blank(prompt: &Prompt, seed: u64, subtype: Subtype, place: Place, level: &Level) -> Variant {
    Variant {
        variant_id: format!("{}/{}/{level}", subtype.as_str(), place.as_str()),
        family: subtype.family().to_string(),
        subtype: subtype.as_str().to_string(),
        place: Some(place.as_str().to_string()),
        strength: level.number(),
        level: Some(level.to_string()),
        is_baseline: false,
        text: None,
        ..baseline(prompt, seed)
    }
}

/// The row with its wording, or with the reason why it has none.
fn worded(mut variant: Variant, wording: Wording) -> Variant {
    match wording {
        Ok(text) => variant.text = Some(text),
        Err(reason) => {
            variant.is_valid = false;
            variant.invalid_reason = Some(reason);
        }
    }
    variant
}
