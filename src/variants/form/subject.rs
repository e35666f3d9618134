//! Subject: where the subject of a question ends and its predicate begins.
//!
//! In: a question and where its subject starts. Out: an index, or that it isn't certain.

use super::copula::{stranded, verbal};
use super::grammar::{ADJECTIVES, ADVERBS, CLAUSE, DETERMINERS, MODAL, PREPOSITIONS, PRONOUNS};
use super::main_verb::main_verb;
use super::question::{Question, UNCERTAIN, auxiliary};
use super::verbs;
use crate::variants::Wording;

/// The rest with `word` behind its subject; `at_end` where a place or measure is asked for and the subject may be all of it.
pub(super) fn reordered(q: &Question, rest: usize, word: &str, at_end: bool) -> Wording {
    let end = q.len();
    if q.is(rest, &["not"]) {
        return Err("the question is negated".to_string());
    }
    if MODAL.contains(&word) && !q.is(rest, PRONOUNS) {
        let verb = before_adverbs(q, rest, main_verb(q, rest).ok_or(UNCERTAIN)?);
        return Ok(format!("{} {word} {}", q.slice(rest, verb), q.slice(verb, end)));
    }
    // "the last time they won": what follows is a clause without a sign of one.
    if q.is(rest + 1, &["last", "first", "next", "only"]) && q.is(rest + 2, &["time"]) {
        return if at_end && !stranded(q) {
            Ok(format!("{} {word}", q.slice(rest, end)))
        } else {
            Err(UNCERTAIN.to_string())
        };
    }
    match predicate_start(q, rest) {
        Ok(at) => Ok(format!("{} {word} {}", q.slice(rest, at), q.slice(at, end))),
        Err(_)
            if at_end
                && end - rest <= 10
                && !verbal(q, rest)
                && !(rest..end).any(|i| q.is(i, &["likely", "supposed", "be"]))
                && !stranded(q)
                && !q.is(end - 1, ADJECTIVES) =>
        {
            Ok(format!("{} {word}", q.slice(rest, end)))
        }
        Err(reason) => Err(reason),
    }
}

/// Indices of words that may begin a passive or progressive predicate of the main clause.
pub(super) fn participles(q: &Question, rest: usize) -> Vec<usize> {
    let mut found = Vec::new();
    for at in rest + 1..q.len() {
        if q.is(at, CLAUSE) {
            break;
        }
        let Some(t) = q.tokens.get(at) else { break };
        let word = t.key.as_str();
        let form = !t.opaque
            && !t.capital
            && (verbs::is_participle(word) && !verbs::is_past_only(word) || verbs::is_progressive(word));
        // An attribute stands before its noun; a predicate is followed by nothing, a preposition, or an adverb.
        let takes_noun = q.is(
            at,
            &[
                "awarded",
                "given",
                "named",
                "called",
                "considered",
                "offered",
                "granted",
                "made",
                "elected",
                "appointed",
                "told",
            ],
        );
        let follows = at + 1 == q.len()
            || q.is(at + 1, PREPOSITIONS)
            || q.is(at + 1, CLAUSE)
            || q.is(at + 1, ADVERBS)
            || takes_noun && q.is(at + 1, &["a", "an", "the"]);
        let coordinated = q.is(at - 1, &["and", "or"]);
        let attribute = q.is(at - 1, DETERMINERS) && !q.is(at - 1, ADVERBS) || q.is(at - 1, PREPOSITIONS);
        if form && follows && !coordinated && !attribute {
            found.push(at);
        }
    }
    found
}

/// The index where the predicate begins, `rest` being where the subject does.
pub(super) fn predicate_start(q: &Question, rest: usize) -> Result<usize, String> {
    let end = q.len();
    // "people in the city" and the like are longer subjects than the word alone.
    let noun = q.is(rest, &["people", "someone", "somebody", "anyone", "everyone"]);
    if q.is(rest, PRONOUNS) && !(noun && (q.is(rest + 1, PREPOSITIONS) || q.is(rest + 1, CLAUSE))) {
        return Ok(rest + 1);
    }
    let clause_at = (rest..end).find(|&i| q.is(i, CLAUSE)).unwrap_or(end);
    if (rest..clause_at)
        .any(|i| !q.tokens.get(i).is_none_or(|t| t.opaque || t.capital) && verbs::is_past_only(q.key(i)))
    {
        return Err(UNCERTAIN.to_string());
    }
    if (rest..clause_at).any(|i| auxiliary(q, i) && !q.is(i, &["may", "will", "can", "might"])) {
        return Err(UNCERTAIN.to_string());
    }
    let back = |at: usize| before_adverbs(q, rest, at);
    let run = name_run(q, rest);
    if run > rest && !possessive(q, run - 1) && q.is(run, &["both", "a", "an"]) {
        return Ok(run);
    }
    match participles(q, rest).as_slice() {
        [at] => return Ok(back(*at)),
        [] => {}
        _ => return Err(UNCERTAIN.to_string()),
    }
    // "Is Mars a planet?", "Were A and B of the same age?": a name, then a lower-case word that opens a predicate.
    if run > rest && run < end && !possessive(q, run - 1) && opens_predicate(q, run) {
        return Ok(run);
    }
    // "Is the sun a star?", "Is the earth flat?"
    let opener = (rest + 1..clause_at).find(|&i| {
        let after_noun = !q.is(i - 1, PREPOSITIONS) && !q.is(i - 1, DETERMINERS) && !q.is(i - 1, &["and", "or", "not"]);
        let capital = q.tokens.get(i).is_some_and(|t| t.capital) || q.tokens.get(i - 1).is_none_or(|t| t.closed);
        after_noun && !capital && !verbs::is_participle(q.key(i - 1)) && q.is(i, &["a", "an"])
    });
    let adjectives: Vec<usize> = (rest + 1..clause_at)
        .filter(|&i| closing_adjective(q, i) && !q.is(i - 1, DETERMINERS) && !q.is(i - 1, PREPOSITIONS))
        .collect();
    match (opener, adjectives.as_slice()) {
        (Some(at), []) => Ok(at),
        (None, [at]) => Ok(back(*at)),
        _ => Err(UNCERTAIN.to_string()),
    }
}

/// Whether it is an adverb in -ly.
pub(super) fn manner(q: &Question, at: usize) -> bool {
    const NOUNS_IN_LY: &[&str] = &[
        "family",
        "italy",
        "july",
        "fly",
        "ally",
        "assembly",
        "supply",
        "reply",
        "monopoly",
        "butterfly",
        "belly",
        "bully",
        "jelly",
        "lily",
        "sicily",
        "monthly",
        "weekly",
        "daily",
        "only",
        "early",
        "anomaly",
        "rally",
        "polly",
        "molly",
        "sally",
        "holly",
        "billy",
        "kelly",
        "emily",
        "lovely",
    ];
    q.tokens
        .get(at)
        .is_some_and(|t| !t.opaque && !t.capital && t.key.ends_with("ly") && !NOUNS_IN_LY.contains(&t.key.as_str()))
}

/// The index of the first of the adverbs that stand right before `at` and belong to it.
pub(super) fn before_adverbs(q: &Question, rest: usize, mut at: usize) -> usize {
    let adverb = |i: usize| q.is(i, ADVERBS) || q.is(i, &["being", "been", "better", "well"]) || manner(q, i);
    while at > rest + 1 && adverb(at - 1) {
        at -= 1;
    }
    at
}

/// Whether it is an adjective that no noun follows.
pub(super) fn closing_adjective(q: &Question, at: usize) -> bool {
    const AFTER: &[&str] =
        &["than", "to", "for", "in", "at", "with", "if", "when", "on", "from", "that", "as", "enough"];
    q.is(at, ADJECTIVES) && (at + 1 == q.len() || q.is(at + 1, AFTER))
}

pub(super) fn opens_predicate(q: &Question, at: usize) -> bool {
    q.is(
        at,
        &[
            "a",
            "an",
            "the",
            "both",
            "not",
            "of",
            "in",
            "from",
            "on",
            "at",
            "part",
            "considered",
            "still",
            "also",
            "really",
            "ever",
            "located",
        ],
    ) || closing_adjective(q, at)
        || verbs::is_participle(q.key(at))
        || verbs::is_progressive(q.key(at))
}

/// The end of the run of names that starts at `from`: capitals, quotations, and small words between capitals.
pub(super) fn name_run(q: &Question, from: usize) -> usize {
    let name = |i: usize| q.tokens.get(i).is_some_and(|t| t.capital || t.opaque);
    let mut at = from;
    if q.is(at, &["the"]) && name(at + 1) {
        at += 1;
    }
    if !name(at) {
        return from;
    }
    loop {
        while name(at) {
            at += 1;
        }
        let joins = |i: usize| q.is(i, &["of", "the", "and", "de", "von", "van", "&", "in", "on", "for", "to"]);
        if joins(at) && name(at + 1) {
            at += 1;
        } else if joins(at) && q.is(at + 1, &["the"]) && name(at + 2) {
            at += 2;
        } else {
            return at;
        }
    }
}

pub(super) fn possessive(q: &Question, at: usize) -> bool {
    q.key(at).ends_with("'s")
        || q.tokens.get(at).is_some_and(|t| q.text[t.start..t.end].ends_with(['\'', '’']) && !t.opaque)
}

pub(super) fn possessive_within(q: &Question, rest: usize) -> bool {
    (rest..q.len().min(rest + 5)).any(|i| possessive(q, i))
}
