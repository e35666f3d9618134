//! Length: fewer or more words, the same request.
//!
//! In: a prompt and a multiple of its word count. Out: a wording of about that many words, or why there is none.

mod expand;
mod shorten;

use super::{Wording, english};

/// `text` in `multiple` times its words, as near as the rules get: within 25 % of the target, or within half a word.
///
/// # Errors
/// The reason, where the target can't be reached without losing content or repeating.
pub(super) fn length(text: &str, multiple: f64) -> Wording {
    english::is_english(text)?;
    let words = english::word_count(text);
    let target = Target { words: multiple * words as f64 };
    if target.rounded() == words {
        return Err(format!("{multiple} times {words} words are {words} words: nothing to change"));
    }
    if multiple < 1.0 { shorten::shorten(text, target) } else { expand::expand(text, target) }
}

/// How many words are wanted.
#[derive(Debug, Clone, Copy)]
struct Target {
    words: f64,
}

impl Target {
    /// Furthest from the target that is accepted, as a share of it.
    const TOLERANCE: f64 = 0.25;

    fn rounded(self) -> usize {
        (self.words.round() as usize).max(1)
    }

    fn slack(self) -> f64 {
        (self.words * Target::TOLERANCE).max(0.5)
    }

    fn accepts(self, words: usize) -> bool {
        words == self.rounded() || (words as f64 - self.words).abs() <= self.slack()
    }
}
