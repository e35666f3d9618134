//! Phrase: the asking words, as "which city" or "in how many years".
//!
//! In: a question and where it asks. Out: where the phrase ends, and whether it is the subject of the verb behind it.

use super::grammar::{ADJECTIVES, ADVERBS, CLAUSE, PREPOSITIONS, PRONOUNS, STRANDED};
use super::question::{Question, UNCERTAIN, auxiliary};
use super::subject::{manner, participles};
use super::verbs;

/// Where the asking phrase of a question ends: the index of the auxiliary behind it, None where the phrase is the subject.
pub(super) fn phrase_end(q: &Question, wh: usize) -> Result<Option<usize>, String> {
    if auxiliary(q, wh + 1) {
        return Ok(Some(wh + 1));
    }
    if q.is(wh, &["who", "whom", "where", "when", "why"]) {
        return if q.is(wh, &["who", "whom"]) { Ok(None) } else { Err("the question has no auxiliary".to_string()) };
    }
    if q.is(wh, &["how"]) {
        if q.is(wh + 1, &["to"]) {
            return Ok(None);
        }
        if q.is(wh + 1, &["come", "about"]) {
            return Err("the question is a fixed phrase".to_string());
        }
    }
    if q.is(wh + 1, &["if", "about", "not", "else"]) {
        return Err("the question is a fixed phrase".to_string());
    }
    for at in wh + 2..q.len() {
        if q.is(at, CLAUSE) {
            return Ok(None);
        }
        if auxiliary(q, at) {
            // A verb before it would make it the auxiliary of another clause.
            let verb = |i: usize| {
                !q.tokens.get(i).is_none_or(|t| t.opaque)
                    && (verbs::is_past_only(q.key(i)) || verbs::is_participle(q.key(i)))
            };
            return if (wh + 1..at).any(verb) {
                Err("the question may have two verbs".to_string())
            } else {
                Ok(Some(at))
            };
        }
    }
    Ok(None)
}

/// Where a phrase that is the subject ends: only asked for where an adverbial has to be put behind it.
pub(super) fn subject_end(q: &Question, wh: usize) -> Result<usize, String> {
    if !q.framed
        || q.is(wh, &["who", "whom"])
        || verbs::is_participle(q.key(wh + 1))
        || verbs::is_past_only(q.key(wh + 1))
    {
        return Ok(wh + 1);
    }
    let past = |i: usize| {
        q.tokens
            .get(i)
            .is_some_and(|t| !t.opaque && !t.capital && (verbs::is_participle(&t.key) || verbs::is_past_only(&t.key)))
    };
    let verb = (wh + 2..q.len())
        .find(|&i| past(i))
        .filter(|&i| !q.is(i + 1, &["by"]) && !(wh..i).any(|k| q.is(k, CLAUSE) && k > wh));
    verb.ok_or_else(|| UNCERTAIN.to_string())
}

/// Whether the asking phrase is "what" alone, which is hardly ever the subject of "had".
pub(super) fn single_what(q: &Question, wh: usize, aux: usize) -> bool {
    q.is(wh, &["what"]) && aux == wh + 1
}

/// What a thing is said to be rather than things themselves: "what colour is the flag".
#[rustfmt::skip]
pub(super) const ATTRIBUTES: &[&str] = &[
    "color", "colour", "colors", "colours", "nationality", "religion", "sex", "gender", "size", "shape", "breed",
    "species", "type", "kind", "sort", "language", "profession", "relation", "number", "faith", "material", "flavour",
    "flavor", "temperature", "weight", "height", "length", "race", "ethnicity", "genre",
];

/// Time, manner and measure: such a phrase is hardly ever the subject.
pub(super) fn is_adverbial_phrase(q: &Question, wh: usize, aux: usize) -> bool {
    const TIMES: &[&str] =
        &["year", "date", "day", "month", "time", "decade", "century", "season", "age", "years", "way", "episode"];
    let how = q.is(wh, &["how"]) && !q.is(wh + 1, &["many", "much"]);
    how || q.is(wh, &["where", "when", "why"]) || (wh + 1..aux).any(|i| q.is(i, TIMES))
}

/// Whether the phrase before a form of "be" is its subject: Some(true) for sure, Some(false) surely not, None unknown.
pub(super) fn subject_reading(q: &Question, aux: usize) -> Option<bool> {
    let rest = aux + 1;
    if q.is(q.len() - 1, STRANDED) && !verbs::is_participle(q.key(rest)) {
        return Some(false);
    }
    // "is well known", "was only used": adverbs, then a participle.
    let mut first = rest;
    while q.is(first, ADVERBS) || q.is(first, &["well", "only", "just", "almost", "being", "said"]) || manner(q, first)
    {
        first += 1;
    }
    let verb = |at: usize| verbs::is_participle(q.key(at)) || verbs::is_progressive(q.key(at));
    let adverbs = first > rest && (verb(first) || q.is(first, PREPOSITIONS) || q.is(first, &["a", "an", "the"]));
    if adverbs || verb(rest) || q.is(rest, &["a", "an"]) || q.is(rest, ADJECTIVES) || q.is(rest, PREPOSITIONS) {
        return Some(true);
    }
    if q.is(rest, PRONOUNS) || !participles(q, rest).is_empty() {
        return Some(false);
    }
    None
}
