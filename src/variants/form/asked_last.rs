//! Asked last: questions in the order of a statement, "He was born in what year?".
//!
//! In: a question. Out: its clause with the asking words moved to the front, where they belong to the main clause.

use super::grammar::{BE, CLAUSE, DETERMINERS, OPENERS, PREPOSITIONS, PRONOUNS, STRANDED};
use super::question::{Question, auxiliary, starts};
use super::verbs;
use crate::variants::english::lower_first;

/// "He was born in what year?" asks in the order of a statement: "in what year he was born" needs no more than a move.
pub(super) fn asked_last(q: &Question) -> Option<String> {
    if starts(&q.tokens, 0).is_some() || !q.is(0, DETERMINERS) && !q.is(0, PRONOUNS) && !named(q, 0) {
        return None;
    }
    let end = q.len();
    let wh = (1..end).rfind(|&i| q.is(i, &["what", "which", "whom"]))?;
    let plain = (wh + 1..end).all(|i| {
        let Some(t) = q.tokens.get(i) else { return false };
        !t.closed
            && !verbs::is_participle(&t.key)
            && !verbs::is_past_only(&t.key)
            && !q.is(i, CLAUSE)
            && !auxiliary(q, i)
    });
    // Out of "x and did what" nothing can be moved.
    let joined = (0..wh).any(|i| {
        q.is(i, &["and", "but", "or"])
            && (verbs::is_participle(q.key(i + 1))
                || verbs::is_past_only(q.key(i + 1))
                || auxiliary(q, i + 1)
                || q.is(i + 1, PRONOUNS))
    });
    let moved = if q.is(wh - 1, STRANDED) { wh - 1 } else { wh };
    // "is the capital of which country", but not "called the theorem of what" or "is from a suburb of which city".
    let be = (0..wh).rfind(|&i| q.is(i, BE));
    let inner = be.is_none_or(|be| (be + 1..wh - 1).any(|i| q.is(i, PREPOSITIONS) || verbs::is_participle(q.key(i))));
    let of = q.is(wh - 1, &["of"]) && (wh + 1 == end || inner);
    let bound = of
        || q.is(wh - 1, &["than"])
        || (0..wh).any(|i| q.key(i).ends_with("ing") && verbs::is_progressive(q.key(i)))
        || q.is(wh + 1, PREPOSITIONS)
        || q.tokens.get(wh - 1).is_none_or(|t| t.opaque || t.closed);
    let finite = (0..moved).any(|i| auxiliary(q, i) || verbs::is_participle(q.key(i)) || verbs::is_past_only(q.key(i)));
    // A comma, or an asking word that is no relative pronoun, may hide another clause.
    let asks = (0..wh).any(|i| {
        q.is(i, &["what", "how", "why"])
            || q.tokens.get(i).is_some_and(|t| q.text[t.start..t.end].ends_with([';', ':', '?']))
    });
    let verb_at = |i: usize| auxiliary(q, i) || verbs::is_participle(q.key(i)) || verbs::is_past_only(q.key(i));
    // The question must belong to the main clause: behind a relative clause that is over, the main verb follows.
    let relative = (0..wh).find(|&i| q.is(i, CLAUSE));
    let groups = |from: usize| (from..moved).filter(|&i| verb_at(i) && !verb_at(i + 1)).count();
    let island = relative.is_some_and(|at| groups(at) < 2);
    // "a drama directed by whom": the noun's, not the sentence's.
    let last = moved - 1;
    let reduced =
        verbs::is_participle(q.key(last)) && groups(0) > 1 && !(last.saturating_sub(3)..last).any(|i| auxiliary(q, i));
    let nested = moved < wh && q.is(moved, &["from", "by", "with", "to", "about"]) && !verb_at(last);
    // "famous as what": without a noun the moved words read badly.
    let bare = moved < wh && wh + 1 == end && q.is(wh, &["what"]);
    let left_behind = moved == wh && q.is(wh - 1, PREPOSITIONS);
    if !plain
        || island
        || reduced
        || nested
        || left_behind
        || bare
        || joined
        || bound
        || !finite
        || asks
        || moved < 2
        || end - wh > 6
    {
        return None;
    }
    let body = q.slice(0, moved);
    let body =
        if named(q, 0) && !q.is(0, DETERMINERS) && !q.is(0, PRONOUNS) { body.to_string() } else { lower_first(body) };
    // An adverbial comma at the seam goes with the move.
    Some(format!("{} {}", q.slice(moved, end), body.trim_end_matches(',')))
}

/// Whether the sentence begins with a name rather than with a noun that is a capital by its place.
pub(super) fn named(q: &Question, at: usize) -> bool {
    let capital = |i: usize| q.tokens.get(i).is_some_and(|t| t.capital || t.opaque);
    capital(at) && (capital(at + 1) || auxiliary(q, at + 1)) && !q.is(at, OPENERS)
}
