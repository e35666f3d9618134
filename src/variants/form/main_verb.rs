//! Main verb: the verb behind "do", "does", "did" or a modal, and its inflected form.
//!
//! In: a question and where its subject starts. Out: the clause without "do", or that the verb isn't certain.

use super::grammar::{ADJECTIVES, ADVERBS, CLAUSE, DETERMINERS, DO, PREPOSITIONS, PRONOUNS};
use super::question::Question;
use super::subject::{name_run, possessive, reordered};
use super::verbs;
use crate::variants::Wording;

/// "does X work" as "X works", "did X go" as "X went", "do X go" as "X go".
pub(super) fn without_do(q: &Question, rest: usize, word: &str) -> Wording {
    let end = q.len();
    if word == "do" {
        return Ok(q.slice(rest, end).to_string());
    }
    // "start and end": both would have to be inflected.
    if (rest..end).any(|i| {
        q.is(i, &["and", "or"]) && verbs::is_base(q.key(i + 1)) && !q.tokens.get(i + 1).is_some_and(|t| t.capital)
    }) {
        return Err("the question has two verbs".to_string());
    }
    let at = main_verb(q, rest).ok_or("it is not certain which word is the question's verb")?;
    let base = q.key(at);
    let inflected = if word == "did" { verbs::past(base) } else { verbs::third_person(base) };
    let inflected = inflected.ok_or("the question's verb is not in the tables")?;
    let token = q.tokens.get(at).map(|t| &q.text[t.start..t.end]).unwrap_or_default();
    // The token may carry a comma or closing quote.
    let inflected = token.to_lowercase().replacen(base, &inflected, 1);
    Ok([q.slice(rest, at), &inflected, q.slice(at + 1, end)]
        .into_iter()
        .filter(|s| !s.is_empty())
        .collect::<Vec<_>>()
        .join(" "))
}

/// The verb in its base form behind the subject that starts at `rest`; None if it isn't certain.
pub(super) fn main_verb(q: &Question, rest: usize) -> Option<usize> {
    let end = q.len();
    if q.is(rest, PRONOUNS) && !q.is(rest, &["there", "people"]) {
        let mut at = rest + 1;
        while q.is(at, ADVERBS) {
            at += 1;
        }
        return verbs::is_base(q.key(at)).then_some(at);
    }
    let mut candidates = Vec::new();
    for at in rest + 1..end {
        if q.is(at, CLAUSE) && !q.is(at, &["before", "after", "since", "until", "so"]) {
            break;
        }
        let Some(t) = q.tokens.get(at) else { break };
        let before_noun =
            q.is(at - 1, DETERMINERS) && !q.is(at - 1, ADVERBS) || q.is(at - 1, PREPOSITIONS) || possessive(q, at - 1);
        let noun = verbs::is_ambiguous(&t.key) && q.is(at + 1, &["of"]);
        if !t.opaque && !t.capital && verbs::is_base(&t.key) && !before_noun && !noun {
            candidates.push(at);
        }
    }
    let &first = candidates.first()?;
    // A name right before it: the subject can't go on.
    let run = name_run(q, rest);
    let after_name = run == first && run > rest;
    let followed = first + 1 == end
        || q.is(first + 1, PREPOSITIONS)
        || q.is(first + 1, DETERMINERS)
        || q.is(first + 1, PRONOUNS)
        || q.is(first + 1, ADVERBS);
    (after_name || candidates.len() == 1 && followed || !verbs::is_ambiguous(q.key(first))).then_some(first)
}

/// A yes-no question's rest behind "whether".
pub(super) fn whether(q: &Question, from: usize, word: &str) -> Wording {
    let rest = from + 1;
    let end = q.len();
    if rest >= end {
        return Err("the question is one word".to_string());
    }
    if DO.contains(&word) {
        return without_do(q, rest, word);
    }
    // "Is there", "are these": the next word is the subject.
    if q.is(rest, &["this", "that", "these", "those"])
        && (q.is(rest + 1, &["a", "an", "the"]) || q.is(rest + 1, ADJECTIVES))
    {
        return Ok(format!("{} {word} {}", q.slice(rest, rest + 1), q.slice(rest + 1, end)));
    }
    reordered(q, rest, word, false)
}
