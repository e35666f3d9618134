//! Question: one question as tokens, and how it opens.
//!
//! In: a sentence. Out: [`Question`], what it begins with, and where its asking phrase ends.

use super::grammar::{BE, DETERMINERS, DO, HAVE, MODAL, PREPOSITIONS, PRONOUNS, WH};
use super::phrase::{phrase_end, subject_reading};
use crate::variants::english::Token;

/// A question without its mark, and where its parts are.
pub(super) struct Question<'a> {
    /// The question.
    pub text: &'a str,
    /// Its words.
    pub tokens: Vec<Token>,
    /// Whether an adverbial will be put behind the asking words: then there must be some.
    pub framed: bool,
}

impl<'a> Question<'a> {
    /// The text of tokens `from..to`.
    pub fn slice(&self, from: usize, to: usize) -> &'a str {
        match (self.tokens.get(from), to.checked_sub(1).and_then(|last| self.tokens.get(last))) {
            (Some(first), Some(last)) if from < to => &self.text[first.start..last.end],
            _ => "",
        }
    }

    pub fn is(&self, at: usize, list: &[&str]) -> bool {
        self.tokens.get(at).is_some_and(|t| t.is(list))
    }

    pub fn key(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |t| t.key.as_str())
    }

    pub fn len(&self) -> usize {
        self.tokens.len()
    }
}

pub(super) const UNCERTAIN: &str = "it is not certain where the question's subject ends";

pub(super) fn auxiliary(q: &Question, at: usize) -> bool {
    q.is(at, BE) || q.is(at, DO) || q.is(at, HAVE) || q.is(at, MODAL)
}

/// What a question begins with.
pub(super) enum Start {
    /// The asking word is at this index; a preposition may stand before it.
    Wh(usize),
    Auxiliary,
}

pub(super) fn starts(tokens: &[Token], at: usize) -> Option<Start> {
    let first = tokens.get(at)?;
    if first.is(WH) || contracted(&first.key).is_some() && !first.opaque {
        return Some(Start::Wh(at));
    }
    if first.is(PREPOSITIONS) && tokens.get(at + 1).is_some_and(|t| t.is(&["what", "which", "whom", "whose", "how"])) {
        return Some(Start::Wh(at + 1));
    }
    (first.is(BE) || first.is(DO) || first.is(HAVE) || first.is(MODAL)).then_some(Start::Auxiliary)
}

/// "what's" is "what is".
pub(super) fn contracted(key: &str) -> Option<&'static str> {
    let word = key.strip_suffix("'s")?;
    ["what", "who", "where", "how", "when", "why"].into_iter().find(|wh| *wh == word)
}

/// Whether a text without a question mark opens like a search query: "who wrote ...", "in which year ...", "is it ...".
pub(super) fn opens_query(tokens: &[Token]) -> bool {
    let Some(second) = tokens.get(1) else { return false };
    match starts(tokens, 0) {
        Some(Start::Wh(at)) => {
            // "what a day", "when you are done": no questions.
            let subordinate =
                tokens.get(at).is_some_and(|t| t.is(&["when", "where", "why", "how"])) && second.is(PRONOUNS);
            !second.is(&["a", "an"]) && !subordinate
        }
        Some(Start::Auxiliary) => second.is(PRONOUNS) || second.is(DETERMINERS) || second.capital,
        None => false,
    }
}

/// Index of the auxiliary that stands before its subject in a question, for the shortening rules.
pub(in crate::variants) fn inverted_auxiliary(text: &str, tokens: &[Token]) -> Option<usize> {
    let q = Question { text, tokens: tokens.to_vec(), framed: false };
    let Some(Start::Wh(wh)) = starts(&q.tokens, 0) else { return None };
    let at = phrase_end(&q, wh).ok().flatten()?;
    let adverb = q.is(wh, &["where", "when", "why"]) || q.is(wh, &["how"]) && at == wh + 1;
    let subject_be = q.is(at, BE) && !adverb && (q.is(wh, &["who", "what"]) || subject_reading(&q, at) != Some(false));
    // Modals carry meaning, and "have" may be a verb of its own.
    let subject = subject_be || q.is(at, MODAL) || q.is(at, HAVE);
    (!subject).then_some(at)
}
