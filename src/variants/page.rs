//! Page: all wordings of one starter prompt, for people to read.
//!
//! In: nothing. Out: Markdown, a section a subtype and a row a wording of the full grid.
//! It shows what the program makes; it is written by `make dictionary`.

use super::{Grid, Subtype, Variant, make};
use crate::datasets::{self, Columns, Spec};
use crate::{Error, Result};

/// The prompt that is shown: one that nearly every rewrite can be made of.
const DATASET: &str = "triviaqa";
const PROMPT: &str = "starter-11";
/// Seed of the presets.
const SEED: u64 = 2610;

/// Path of the page in the repository, and its text.
///
/// # Errors
/// The starter prompt is not there (a fault of the build).
pub fn page() -> Result<(&'static str, String)> {
    let spec = Spec { name: DATASET.to_string(), path: None, columns: Columns::default() };
    let prompts = datasets::load(&spec)?.prompts;
    let prompt = prompts
        .iter()
        .find(|p| p.prompt_id == PROMPT)
        .ok_or_else(|| Error::input("the starter prompt of the page of wordings is missing").found(PROMPT))?;
    let made = make(prompt, &Grid::paper(), SEED);
    let wordings = made.iter().filter(|v| !v.is_baseline);
    let count = wordings.clone().filter(|v| v.text.is_some()).count();
    let planned = wordings.count();
    let mut page = format!(
        "# All wordings of one prompt\n\nMade by `make dictionary` from the program: change `src/variants/`, not this page. \
         The prompt is a starter prompt of `{DATASET}`,\nreworded under seed {SEED}:\n\n> {}\n\n{count} of {planned} wordings \
         could be made. Where noise falls depends on the seed, the data set and the prompt's id: another\nseed gives other \
         places. `sago variants \"...\"` shows the wordings of a prompt of yours.\n",
        prompt.text
    );
    for subtype in Subtype::ALL {
        page.push_str(&section(subtype, &made));
    }
    Ok(("docs/wordings.md", page))
}

fn section(subtype: Subtype, made: &[Variant]) -> String {
    let mut text = format!("\n## {}\n\nFamily `{}`. {}.", subtype.as_str(), subtype.family(), meaning(subtype));
    text.push_str(&format!("\nAccepted strengths: {}.\n\n| wording | text |\n|---|---|\n", subtype.accepted()));
    for v in made.iter().filter(|v| v.subtype == subtype.as_str()) {
        let shown = match (&v.text, &v.invalid_reason) {
            // Markdown shows a run of spaces as one.
            (Some(text), _) if subtype == Subtype::Spacing => format!("`{}`", text.replace(' ', "·")),
            (Some(text), _) => format!("`{text}`"),
            (None, reason) => format!("not made: {}", reason.as_deref().unwrap_or("no reason")),
        };
        text.push_str(&format!("| `{}` | {shown} |\n", v.variant_id));
    }
    text
}

/// What the strength means.
fn meaning(subtype: Subtype) -> &'static str {
    match subtype {
        Subtype::Politeness => "Framing around the prompt from rude to polite; each level adds to the one below",
        Subtype::Spacing => "So many spaces are added, shown as dots; those of a strength are among those of the next",
        Subtype::Punctuation => "So many marks are added, never `?`; those of a strength are among those of the next",
        Subtype::Casing => "So many percent of the letters of the first half, the second half or all become upper case",
        Subtype::Length => "The target number of words is this multiple of the prompt's; the request stays as it is",
        Subtype::Form => "A question becomes an order; it is measured against the question",
    }
}
