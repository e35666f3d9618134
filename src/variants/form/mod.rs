//! Form: question or instruction.
//!
//! In: a prompt. Out: what it is, and its wording in the other form, or why there is none.
//! Only the frame of a sentence is rewritten; everything that it is about stays word for word.

mod asked_last;
mod copula;
mod grammar;
mod main_verb;
mod phrase;
mod question;
mod subject;
mod to_imperative;
mod to_question;
pub(super) mod verbs;

pub(super) use question::inverted_auxiliary;

use super::{Wording, english};

/// What a prompt is, and its other form.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Form {
    /// A question: itself the baseline.
    Question {
        /// The same as an instruction.
        imperative: Wording,
    },
    /// An instruction: the variant of a further baseline.
    Imperative {
        /// The same as a question.
        interrogative: Wording,
    },
    /// Statement, fragment, or nothing that the rules can read.
    Neither(String),
}

/// What one sentence is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Question,
    Imperative,
    Other,
}

/// Reads `text` and makes its other form.
///
/// The request is looked for in the first paragraph, then in the last; the others are taken as context or input and stay as
/// they are. Where the paragraph has a question, all its questions are made instructions; else all its instructions questions.
pub(super) fn form(text: &str) -> Form {
    if let Err(reason) = english::is_english(text) {
        return Form::Neither(reason);
    }
    let paragraphs = paragraphs(text);
    let candidates = [paragraphs.first(), paragraphs.last()];
    for &(start, end) in candidates.into_iter().flatten() {
        let (before, paragraph, after) = (&text[..start], &text[start..end], &text[end..]);
        let sentences = split(paragraph);
        let whole = |rewritten: Wording| -> Wording {
            let rewritten = format!("{before}{}{after}", rewritten?);
            keeps(text, &rewritten).map(|()| rewritten)
        };
        // Several questions after one another are often one list of answers; each is rewritten or none.
        if sentences.iter().any(|s| kind(s, &sentences) == Kind::Question) {
            let rewritten = each(&sentences, Kind::Question, to_imperative::imperative);
            return Form::Question { imperative: whole(rewritten) };
        }
        if sentences.iter().any(|s| kind(s, &sentences) == Kind::Imperative) {
            let rewritten = to_question::interrogative(&sentences, |s| kind(s, &sentences) == Kind::Imperative);
            return Form::Imperative { interrogative: whole(rewritten) };
        }
    }
    Form::Neither("the prompt is neither a question nor an instruction that the rules can read".to_string())
}

/// Byte spans of the paragraphs: what blank lines separate.
fn paragraphs(text: &str) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    let mut open = false;
    for line in text.split_inclusive('\n') {
        let blank = line.trim().is_empty();
        let end = at + line.trim_end_matches(['\n', '\r']).len();
        match found.last_mut() {
            Some(last) if open && !blank => last.1 = end,
            _ if !blank => found.push((at, end)),
            _ => {}
        }
        open = !blank;
        at += line.len();
    }
    found
}

/// The sentences of a paragraph, line by line, with the white space behind them.
fn split(paragraph: &str) -> Vec<&str> {
    paragraph.split_inclusive('\n').flat_map(english::sentences).collect()
}

/// Each sentence of this kind rewritten, the others as they are.
fn each(sentences: &[&str], wanted: Kind, rewrite: impl Fn(&str) -> Wording) -> Wording {
    let mut out = String::new();
    for sentence in sentences {
        if kind(sentence, sentences) == wanted {
            let body = sentence.trim();
            let start = sentence.len() - sentence.trim_start().len();
            out.push_str(&sentence[..start]);
            out.push_str(&rewrite(body)?);
            out.push_str(&sentence[start + body.len()..]);
        } else {
            out.push_str(sentence);
        }
    }
    Ok(out)
}

fn kind(sentence: &str, all: &[&str]) -> Kind {
    let body = sentence.trim();
    let tokens = english::tokens(body);
    if to_question::verb(body, &tokens).is_some() {
        return Kind::Imperative;
    }
    if body.ends_with('?') {
        return Kind::Question;
    }
    // Search queries come without a question mark; a sentence that is closed otherwise is none.
    let unclosed = !body.ends_with(['.', '!', ':', ';', ',']);
    if all.len() == 1 && unclosed && tokens.len() > 2 && question::opens_query(&tokens) {
        return Kind::Question;
    }
    Kind::Other
}

/// A last check of every rewrite: numbers, names, quotations, code and placeholders are still there, word for word.
fn keeps(text: &str, rewritten: &str) -> Result<(), String> {
    for token in english::tokens(text) {
        let word = text[token.start..token.end].trim_end_matches(['?', '.', '!', ':', ',']);
        let number = word.contains(|c: char| c.is_numeric());
        let acronym = word.chars().filter(|c| c.is_uppercase()).count() > 1;
        if (token.opaque || number || acronym) && !rewritten.contains(word) {
            return Err(format!("the rewrite would lose {word:?}"));
        }
    }
    Ok(())
}
