//! Copula: "who is ...", "what was ...", "where are ...".
//!
//! In: a question whose asking word stands right before a form of "be". Out: its clause.

use super::grammar::{ADJECTIVES, CLAUSE, DETERMINERS, PREPOSITIONS, PRONOUNS, PROPERTIES, STRANDED};
use super::question::{Question, UNCERTAIN, auxiliary};
use super::subject::{name_run, participles, possessive, possessive_within, predicate_start, reordered};
use super::verbs;

/// "who is ...", "what was ...", "where are ...": `rest` is the first token behind the verb `word`.
pub(super) fn be_clause(
    q: &Question,
    rest: usize,
    wh: &str,
    phrase: String,
    word: &str,
) -> Result<(String, String), String> {
    let end = q.len();
    let next = q.key(rest);
    let asked = |from: usize| Ok((phrase.clone(), format!("{word} {}", q.slice(from, end))));
    if rest >= end {
        return Err("the question has no subject".to_string());
    }
    if q.is(rest, PRONOUNS) {
        return Ok((phrase, reordered(q, rest, word, false)?));
    }
    if wh == "which" && !stranded(q) {
        // "which is heavier", "which are the longest"
        return asked(rest);
    }
    if matches!(wh, "who" | "what") {
        let predicate = verbs::is_participle(next)
            || verbs::is_progressive(next)
            || q.is(rest, ADJECTIVES)
            || q.is(rest, PREPOSITIONS);
        if predicate
            || q.is(rest, &["next", "left", "likely", "considered", "not", "so", "also", "now", "currently", "most"])
                && wh == "who"
            || predicate_next(q, rest)
        {
            return asked(rest);
        }
        if let Some(at) = moved_predicate(q, rest) {
            return Ok((phrase, format!("{} {word} {}", q.slice(rest, at), q.slice(at, end))));
        }
        if stranded(q) {
            return Err(UNCERTAIN.to_string());
        }
        return if wh == "who" { who_clause(q, rest, phrase, word) } else { what_clause(q, rest, phrase, word) };
    }
    Ok((phrase, reordered(q, rest, word, wh == "where" || wh == "when")?))
}

pub(super) fn predicate_next(q: &Question, rest: usize) -> bool {
    q.is(rest, &["next", "wrong", "left", "inside", "better", "worse", "known", "special", "unique"])
}

/// Whether the question closes with what asks for its front: "of", "called".
pub(super) fn stranded(q: &Question) -> bool {
    let last = q.len().saturating_sub(1);
    q.is(last, STRANDED) || q.is(last, &["called", "named", "known", "famous", "doing", "like", "termed", "nicknamed"])
}

/// Where the predicate begins that a stranded ending belongs to: "is the tower | made of".
pub(super) fn moved_predicate(q: &Question, rest: usize) -> Option<usize> {
    if !stranded(q) {
        return None;
    }
    predicate_start(q, rest).ok()
}

pub(super) fn who_clause(q: &Question, rest: usize, phrase: String, word: &str) -> Result<(String, String), String> {
    let end = q.len();
    let run = name_run(q, rest);
    let bare = run > rest && !q.is(rest, DETERMINERS) && !possessive(q, run - 1);
    if bare && run == end {
        return Ok((phrase, format!("{} {word}", q.slice(rest, end))));
    }
    if bare && q.is(run, &["in", "on", "at", "from"]) {
        return Ok((phrase, format!("{} {word} {}", q.slice(rest, run), q.slice(run, end))));
    }
    let described = q.is(rest, DETERMINERS) || possessive_within(q, rest) || q.is(rest + 1, &["of"]);
    if described && participles(q, rest).len() < 2 || (rest..end).any(|i| q.is(i, &["that", "who", "which"])) {
        // "who was the first man on the moon": the asking word is the subject.
        return Ok((phrase, format!("{word} {}", q.slice(rest, end))));
    }
    Err(UNCERTAIN.to_string())
}

pub(super) fn what_clause(q: &Question, rest: usize, phrase: String, word: &str) -> Result<(String, String), String> {
    let end = q.len();
    // The property that is asked for, up to four words in: "the highest recorded temperature of".
    let property = (rest..end.min(rest + 6)).find(|&i| {
        q.is(i, PROPERTIES)
            && (i + 1 == end || q.is(i + 1, PREPOSITIONS) || q.is(i + 1, &["given", "that"]))
            && !q.tokens.get(i).is_some_and(|t| t.closed)
    });
    // "the date of birth of" is one property.
    let property =
        property.map(|p| if q.is(p + 1, &["of"]) && q.is(p + 2, &["birth", "death", "origin"]) { p + 2 } else { p });
    let before_clean = property.is_some_and(|p| !(rest..p).any(|i| q.is(i, PREPOSITIONS) || q.is(i, CLAUSE)));
    let present = matches!(word, "is" | "are");
    if let Some(p) = property.filter(|_| before_clean && q.is(rest, DETERMINERS)) {
        if present && !q.framed {
            // "Tell me the capital of France."
            return Ok((String::new(), q.slice(rest, end).to_string()));
        }
        if p + 1 < end && !present && !q.is(p + 1, &["of", "for", "between"]) {
            return Err(UNCERTAIN.to_string());
        }
        if p + 1 < end && !present {
            return Ok((phrase, format!("{} {word} {}", q.slice(rest, p + 1), q.slice(p + 1, end))));
        }
        return Ok((phrase, format!("{} {word}", q.slice(rest, end))));
    }
    if present && !q.framed && q.is(rest, &["some", "three", "two", "five", "four", "several"]) && !verbal(q, rest + 2)
    {
        return Ok((String::new(), q.slice(rest, end).to_string()));
    }
    if end - rest <= 7
        && !verbal(q, rest)
        && !(rest..end).any(|i| q.is(i, CLAUSE) || q.is(i, ADJECTIVES) && i + 1 == end)
    {
        return Ok((phrase, format!("{} {word}", q.slice(rest, end))));
    }
    Err(UNCERTAIN.to_string())
}

/// Whether any word from `from` on may be a verb: then what follows is no plain noun phrase.
pub(super) fn verbal(q: &Question, from: usize) -> bool {
    (from..q.len()).any(|i| {
        let Some(t) = q.tokens.get(i) else { return false };
        !t.opaque
            && (verbs::is_participle(&t.key)
                || verbs::is_past_only(&t.key)
                || verbs::is_progressive(&t.key)
                || auxiliary(q, i))
    })
}
