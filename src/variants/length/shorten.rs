//! Shorten: the prompt in telegram style.
//!
//! In: a prompt and a target. Out: the prompt without words that carry nothing: courtesies, articles, auxiliaries, "which is".
//! Content words, numbers, names, negations, modals, quotations and code all stay; so short targets are mostly refused.

use super::Target;
use crate::variants::Wording;
use crate::variants::english::{self, Token, upper_first, word_count};
use crate::variants::form::{inverted_auxiliary, verbs};

/// Words taken out together, and one that takes the place of another.
#[derive(Debug, Default)]
struct Edit {
    drop: Vec<usize>,
    replace: Option<(usize, &'static str)>,
}

/// `text` with as many of its empty words left out as the target asks for.
///
/// Only the first paragraph is touched: what comes after it is input.
///
/// # Errors
/// The reason, where content would have to go.
pub(super) fn shorten(text: &str, target: Target) -> Wording {
    let head_end = text.find("\n\n").unwrap_or(text.len());
    let (head, tail) = text.split_at(head_end);
    let tokens = english::tokens(head);
    let mut dropped = vec![false; tokens.len()];
    let mut replaced: Vec<Option<&str>> = vec![None; tokens.len()];
    let mut shortest = word_count(text);
    for edit in edits(head, &tokens) {
        if shortest <= target.rounded() {
            break;
        }
        let fresh: Vec<usize> = edit.drop.into_iter().filter(|&at| dropped.get(at) == Some(&false)).collect();
        let left = shortest.saturating_sub(fresh.len());
        if (left as f64) < target.words - target.slack() {
            continue;
        }
        for at in fresh {
            if let Some(flag) = dropped.get_mut(at) {
                *flag = true;
            }
        }
        if let Some((at, word)) = edit.replace
            && let Some(slot) = replaced.get_mut(at)
        {
            *slot = Some(word);
        }
        shortest = left;
    }
    let mut short = written(head, &tokens, &dropped, &replaced);
    if shortest > target.rounded()
        && let Some(possessive) = possessive(&short)
        && target.accepts(shortest - 1)
        && tail.is_empty()
    {
        short = possessive;
    }
    // "Could you explain it?" without "could you" is no question any more.
    let asked =
        tokens.first().is_some_and(|t| t.is(&["can", "could", "will", "would"])) && dropped.first() == Some(&true);
    if asked && short.ends_with('?') && short.matches('?').count() == 1 {
        short.pop();
        short.push('.');
    }
    let whole = format!("{short}{tail}");
    let reached = word_count(&whole);
    if reached > 0 && target.accepts(reached) {
        Ok(whole)
    } else {
        Err(format!("no fewer than {reached} words without losing content; the target is {}", target.rounded()))
    }
}

/// What is left, in the original's spacing; closing marks of dropped words move to the word before.
fn written(text: &str, tokens: &[Token], dropped: &[bool], replaced: &[Option<&str>]) -> String {
    let mut out = String::new();
    let mut behind = 0;
    for (at, token) in tokens.iter().enumerate() {
        let word = &text[token.start..token.end];
        if dropped.get(at) == Some(&true) {
            let mark: String = word.chars().rev().take_while(|c| matches!(c, '?' | '.' | '!' | ':')).collect();
            if !out.ends_with(['?', '.', '!', ':']) {
                out.extend(mark.chars().rev());
            }
        } else {
            let gap = &text[behind..token.start];
            if !out.is_empty() {
                out.push_str(if gap.is_empty() { " " } else { gap });
            }
            match replaced.get(at).copied().flatten() {
                Some(new) => out.push_str(new),
                None => out.push_str(word),
            }
        }
        behind = token.end;
    }
    if tokens.first().is_some_and(|t| t.capital) { upper_first(&out) } else { out }
}

/// "Capital of France?" as "France's capital?".
fn possessive(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [noun, "of", name] = words.as_slice() else { return None };
    let bare = name.trim_end_matches(['?', '.']);
    let plain = bare.chars().all(char::is_alphabetic) && bare.starts_with(char::is_uppercase);
    plain.then(|| format!("{bare}'s {}{}", english::lower_first(noun), &name[bare.len()..]))
}

/// What may be left out, the emptiest words first.
fn edits(text: &str, tokens: &[Token]) -> Vec<Edit> {
    let is = |at: usize, list: &[&str]| tokens.get(at).is_some_and(|t| t.is(list));
    let drop = |list: &[usize]| Edit { drop: list.to_vec(), replace: None };
    let mut edits = Vec::new();

    // Courtesies.
    let ordered = |at: usize| tokens.get(at).is_some_and(|t| !t.opaque && verbs::is_instruction(&t.key));
    let please = usize::from(is(2, &["please", "kindly"]));
    if is(0, &["can", "could", "will", "would"]) && is(1, &["you"]) && ordered(2 + please) {
        edits.push(drop(&[0, 1]));
    }
    if is(0, &["i"]) && is(1, &["want", "need"]) && is(2, &["you"]) && is(3, &["to"]) && ordered(4) {
        edits.push(drop(&[0, 1, 2, 3]));
    }
    if is(0, &["i"]) && is(1, &["would"]) && is(2, &["like"]) && is(3, &["you"]) && is(4, &["to"]) && ordered(5) {
        edits.push(drop(&[0, 1, 2, 3, 4]));
    }
    for at in 0..tokens.len() {
        if is(at, &["please", "kindly"]) {
            edits.push(drop(&[at]));
        }
    }

    // "the following" goes only with the noun that it belongs to.
    let instanced = |at: usize| {
        let noun = tokens.get(at).is_some_and(|t| {
            !t.is(&["of", "as", "into", "to", "in", "with", "and", "from", "by", "for", "or", "is", "are"])
        });
        noun && tokens.get(at - 1).is_some_and(|t| !t.closed)
    };

    // Long-winded joints.
    for at in 0..tokens.len() {
        if is(at, &["in"]) && is(at + 1, &["order"]) && is(at + 2, &["to"]) {
            edits.push(drop(&[at, at + 1]));
        }
        if at > 1 && is(at, &["the", "a"]) && is(at + 1, &["given", "following", "provided"]) && instanced(at + 2) {
            edits.push(drop(&[at, at + 1]));
        }
        let relative = at > 1 && is(at, &["that", "which", "who"]) && is(at + 1, &["is", "are", "was", "were"]);
        let reduced = tokens.get(at + 2).is_some_and(|t| !t.opaque && !t.capital && verbs::reduces(&t.key));
        let after_noun =
            at > 0 && !tokens.get(at - 1).is_none_or(|t| t.closed || verbs::reduces(&t.key) || verbs::is_base(&t.key));
        if relative && reduced && after_noun {
            edits.push(drop(&[at, at + 1]));
        }
    }

    // "Create a list of ..." as "List ...".
    let listing = is(0, &["generate", "create", "make", "write", "give", "provide", "compile"])
        && is(1, &["a"])
        && is(2, &["list"])
        && is(3, &["of"]);
    if listing {
        let word = if tokens.first().is_some_and(|t| t.capital) { "List" } else { "list" };
        edits.push(Edit { drop: vec![1, 2, 3], replace: Some((0, word)) });
    }
    if is(0, &["give", "tell", "show", "send", "find", "write"]) && is(1, &["me"]) {
        edits.push(drop(&[1]));
    }

    // Articles outside names. In a text without capitals any "the" may belong to a name, save one right after the opening.
    let cased = tokens.iter().skip(1).any(|t| t.capital) || tokens.first().is_some_and(|t| t.capital);
    for at in 0..tokens.len() {
        let opening = at <= 2 && (is(0, &["what", "who", "where", "when", "how"]) || at == 1);
        if is(at, &["a", "an", "the"]) && (cased || opening) && !inside_name(tokens, at) && !bound_article(tokens, at) {
            edits.push(drop(&[at]));
        }
    }

    // The frame of the question.
    if is(0, &["how"])
        && is(1, &["do", "can", "should"])
        && is(2, &["i", "you", "we", "one", "someone"])
        && !is(3, &["feel", "think", "know"])
        && !is(1, &["should"])
    {
        edits.push(Edit { drop: vec![2], replace: Some((1, "to")) });
    }
    let many = is(0, &["how"]) && is(1, &["many", "much"]);
    if let Some(at) = (2..tokens.len()).find(|&at| many && is(at, &["is", "are"]) && is(at + 1, &["there"])) {
        edits.push(drop(&[at, at + 1]));
    }
    const RANKS: [&str; 12] = [
        "first", "last", "only", "youngest", "oldest", "largest", "smallest", "longest", "highest", "tallest",
        "second", "third",
    ];
    if is(0, &["who", "what"])
        && is(1, &["is", "was", "are", "were"])
        && is(2, &["the"])
        && is(3, &RANKS)
        && !stranded(tokens)
    {
        edits.push(drop(&[0, 1, 2]));
    }
    if is(0, &["what"]) && is(1, &["is", "are"]) && is(2, &["the"]) && relational(tokens) {
        edits.push(drop(&[0, 1, 2]));
    }
    if is(0, &["in", "on", "at"])
        && is(1, &["which", "what"])
        && is(2, &["year", "month", "day", "date", "century", "decade", "country", "city", "state"])
    {
        edits.push(drop(&[0]));
    }
    if let Some(at) = inverted_auxiliary(text, tokens)
        && !edits.iter().any(|e| e.replace.is_some_and(|(slot, _)| slot == at))
    {
        edits.push(drop(&[at]));
    }

    // Telegrams say "France 1998": place and time need no preposition before a name or number.
    for at in 1..tokens.len() {
        let next = tokens
            .get(at + 1)
            .is_some_and(|t| !t.opaque && (t.capital || t.key.starts_with(|c: char| c.is_ascii_digit())));
        let verb = tokens.get(at - 1).is_none_or(|t| t.closed || verbs::reduces(&t.key) || verbs::is_base(&t.key));
        let verb = verb || tokens.get(at - 1).is_some_and(|t| verbs::is_base(t.key.trim_end_matches('s')));
        let number = tokens.get(at - 1).is_some_and(|t| t.key.starts_with(|c: char| c.is_ascii_digit()));
        if is(at, &["in", "on", "at"]) && next && !verb && !number && !inside_name(tokens, at) {
            edits.push(drop(&[at]));
        }
    }
    edits
}

/// "what is the N of ...": with a complement and nothing stranded, the noun phrase alone is the question.
fn relational(tokens: &[Token]) -> bool {
    let of = tokens.iter().skip(3).take(4).any(|t| t.is(&["of", "between"]));
    let verbal = tokens.iter().skip(3).any(|t| !t.opaque && !t.capital && verbs::reduces(&t.key));
    of && !stranded(tokens) && !verbal
}

/// Whether the question closes with a word that belongs to its front: "What is the capital of X known for?"
fn stranded(tokens: &[Token]) -> bool {
    tokens.last().is_some_and(|t| {
        t.is(&["of", "for", "in", "from", "to", "with", "by", "on", "at", "about", "like", "called", "as"])
    })
}

/// Whether a small word stands between parts of one name: "Lord of the Rings", "Alexander the Great".
fn inside_name(tokens: &[Token], at: usize) -> bool {
    const JOINTS: [&str; 12] = ["of", "the", "and", "in", "for", "de", "on", "to", "a", "an", "at", "with"];
    let name = |t: &Token| t.capital || t.opaque;
    let before = tokens.iter().take(at).rev().find(|t| !t.is(&JOINTS) || name(t));
    let after = tokens.iter().skip(at + 1).find(|t| !t.is(&JOINTS) || name(t));
    // The first word is a capital by its place alone.
    let first = tokens.iter().take(at).rev().position(|t| !t.is(&JOINTS) || name(t)).is_some_and(|back| back + 1 == at);
    tokens.get(at).is_some_and(|t| t.capital && at > 0) || before.is_some_and(name) && !first && after.is_some_and(name)
}

/// Whether the article changes the meaning of what follows or precedes: "a few", "vitamin a", "the more".
fn bound_article(tokens: &[Token], at: usize) -> bool {
    const AFTER: [&str; 16] = [
        "few", "little", "lot", "number", "couple", "bit", "more", "less", "one", "same", "other", "who", "great",
        "only", "dozen", "hundred",
    ];
    const BEFORE: [&str; 12] =
        ["vitamin", "grade", "plan", "type", "hepatitis", "letter", "letters", "or", "group", "part", "such", "quite"];
    tokens.get(at + 1).is_none_or(|t| t.is(&AFTER))
        || at > 0 && tokens.get(at - 1).is_some_and(|t| t.is(&BEFORE))
        || tokens.get(at).is_some_and(|t| t.closed)
}
