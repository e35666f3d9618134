//! To question: an instruction asked as a question.
//!
//! In: the sentences of a paragraph with instructions in it. Out: the paragraph with "Could you ...?" for each of them.

use super::grammar::{BE, CLAUSE, HAVE, MODAL, OPENERS};
use super::verbs;
use crate::variants::Wording;
use crate::variants::english::{self, Token};

/// Words with which an instruction with something before its verb may begin: "Given two strings, write ...".
const LEADS: &[&str] = &["using", "utilizing", "if", "without", "when", "while", "rather"];
/// Adverbs before the verb.
#[rustfmt::skip]
const ADVERBS: &[&str] = &[
    "please", "kindly", "briefly", "clearly", "carefully", "accurately", "concisely", "quickly", "now", "then", "also",
    "next", "finally", "first",
];

/// Index of the verb that makes the sentence an instruction; None if it is none, or not certainly.
pub(super) fn verb(sentence: &str, tokens: &[Token]) -> Option<usize> {
    let mut at = 0;
    let first = tokens.first()?;
    if !first.is(ADVERBS) && (first.is(LEADS) || first.is(OPENERS)) && !starts_instruction(sentence, tokens, 0) {
        // The verb after the comma that ends the lead.
        let comma = (0..tokens.len())
            .find(|&i| ends_with_comma(sentence, tokens, i) && starts_instruction(sentence, tokens, i + 1))?;
        // In "Using A, B, C and D, list ..." only the last comma counts; a list item that reads as a verb is followed by a comma.
        at = comma + 1;
    }
    while tokens.get(at).is_some_and(|t| t.is(ADVERBS)) {
        at += 1;
    }
    starts_instruction(sentence, tokens, at).then_some(at)
}

fn ends_with_comma(sentence: &str, tokens: &[Token], at: usize) -> bool {
    tokens.get(at).is_some_and(|t| sentence[t.start..t.end].ends_with(','))
}

fn starts_instruction(sentence: &str, tokens: &[Token], mut at: usize) -> bool {
    while tokens.get(at).is_some_and(|t| t.is(ADVERBS)) {
        at += 1;
    }
    let (Some(verb), Some(next)) = (tokens.get(at), tokens.get(at + 1)) else { return false };
    let plain = !verb.opaque && !verb.closed && verb.key.chars().all(|c| c.is_ascii_alphabetic() || c == '-');
    // "Answer keys are ...", "list of presidents": a noun after all.
    let finite = |t: &Token| t.is(BE) || t.is(HAVE) || t.is(MODAL);
    let noun = next.is(&["of"]) || finite(next) || tokens.get(at + 2).is_some_and(|t| finite(t) && !next.is(CLAUSE));
    let inner_capital = at > 0 && verb.capital;
    plain && !noun && !inner_capital && !sentence.is_empty() && verbs::is_instruction(&verb.key)
}

/// The paragraph with its instructions asked.
///
/// # Errors
/// The reason, where an instruction can't be asked without breaking what belongs to it.
pub(super) fn interrogative(sentences: &[&str], is_instruction: impl Fn(&str) -> bool) -> Wording {
    let mut out = String::new();
    for (at, sentence) in sentences.iter().enumerate() {
        if is_instruction(sentence) {
            let body = sentence.trim();
            let start = sentence.len() - sentence.trim_start().len();
            let more = sentences.len() > at + 1;
            out.push_str(&sentence[..start]);
            out.push_str(&ask(body, more)?);
            out.push_str(&sentence[start + body.len()..]);
        } else {
            out.push_str(sentence);
        }
    }
    Ok(out)
}

/// Nouns that what follows a colon is an instance of: there the colon may become a question mark.
const REFERRING: &[&str] = &["following", "given", "this", "these", "below", "provided"];

fn ask(body: &str, more_follows: bool) -> Wording {
    let tokens = english::tokens(body);
    let at = verb(body, &tokens).ok_or("no instruction")?;
    let mut first = at;
    while first > 0 && tokens.get(first - 1).is_some_and(|t| t.is(ADVERBS)) {
        first -= 1;
    }
    let lead = tokens.get(first).map(|t| &body[..t.start]).unwrap_or_default();
    let order = tokens.get(first).map(|t| &body[t.start..]).unwrap_or_default();
    let capital = tokens.first().is_some_and(|t| t.capital);
    let asked = if lead.is_empty() && capital { "Could you" } else { "could you" };
    let order = english::lower_first(order);
    Ok(format!("{lead}{asked} {}", close(&order, more_follows)?))
}

/// The order with a question mark where it ends.
fn close(order: &str, more_follows: bool) -> Wording {
    let spans = english::opaque(order);
    let colon = order
        .char_indices()
        .filter(|&(at, c)| c == ':' && !spans.iter().any(|&(s, e)| s <= at && at < e))
        .map(|(at, _)| at)
        .find(|&at| order[at + 1..].starts_with(char::is_whitespace) || at + 1 == order.len());
    if let Some(at) = colon {
        let (head, tail) = (&order[..at], &order[at + 1..]);
        let refers = english::tokens(head).iter().rev().take(8).any(|t| t.is(REFERRING));
        let last = english::tokens(head).last().map(|t| t.key.clone()).unwrap_or_default();
        let open = super::grammar::PREPOSITIONS.contains(&last.as_str())
            || REFERRING.contains(&last.as_str()) && last != "below";
        if !open && (refers || tail.trim().is_empty()) {
            return Ok(format!("{head}?{tail}"));
        }
        if tail.trim().is_empty() || more_follows {
            return Err("what follows the instruction's colon belongs to it".to_string());
        }
    }
    let kept = order.trim_end_matches(['.', '!', '?']);
    let cut = &order[kept.len()..];
    // An ellipsis belongs to what it stands in.
    if cut.len() > 1 && cut.chars().all(|c| c == '.') || kept.ends_with([';', ',', ':']) {
        return Err("the instruction has no clear end".to_string());
    }
    Ok(format!("{kept}?"))
}
