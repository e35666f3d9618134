//! To imperative: a question as an instruction, "Tell me" and the question as a clause.
//!
//! In: one question. Out: the instruction. The clause needs the auxiliary behind its subject, so the subject's end must be
//! certain; where it isn't, the question is refused rather than guessed.

use super::asked_last::asked_last;
use super::copula::be_clause;
use super::grammar::{ADVERBS, BE, CLAUSE, DO, DONE, HAVE, MODAL, OPENERS, PREPOSITIONS, PRONOUNS, STRANDED, WH};
use super::main_verb::{whether, without_do};
use super::phrase::{ATTRIBUTES, is_adverbial_phrase, phrase_end, single_what, subject_end, subject_reading};
use super::question::{Question, Start, UNCERTAIN, auxiliary, contracted, starts};
use super::subject::{participles, reordered};
use super::verbs;
use crate::variants::Wording;
use crate::variants::english::{self, lower_first, upper_first};

/// The instruction that asks for the same.
///
/// # Errors
/// The reason, where the rules can't be certain of the clause.
pub(super) fn imperative(sentence: &str) -> Wording {
    let marked = sentence.ends_with('?');
    let text = sentence.trim_end_matches(['?', '.', '!']).trim_end();
    let mut question = Question { text, tokens: english::tokens(text), framed: false };
    // A quotation with its own closing mark closes the sentence.
    let closed = ["?\"", ".\"", "!\"", "?”", ".”", "!”", "?'", ".'", "!'", "?’", ".’", "!’"]
        .iter()
        .any(|mark| text.ends_with(mark));
    let styled = |clause: String| {
        // A query in lower case without a mark stays one, so that form is all that changes.
        if !marked && !sentence.contains(char::is_uppercase) {
            lower_first(&clause)
        } else if closed {
            clause
        } else {
            format!("{clause}.")
        }
    };
    if let Some(order) = request(&question) {
        return Ok(styled(order));
    }
    if let Some(order) = asked_last(&question) {
        return Ok(styled(format!("Tell me {order}")));
    }
    let (adverbial, from) = adverbial(&question)?;
    question.framed = adverbial.as_ref().is_some_and(|a| !a.is_condition);
    let (opening, rest) = clause(&question, from)?;
    let clause = match adverbial {
        None => format!("{opening} {rest}"),
        Some(Adverbial { text, is_condition: true }) => format!("{opening} {rest} {}", lower_first(text)),
        Some(Adverbial { text, is_condition: false }) => format!("{opening}, {}, {rest}", lower_first(text)),
    };
    Ok(styled(format!("Tell me {}", clause.trim())))
}

/// "Could you write a poem?" is a request already: "Write a poem."
fn request(q: &Question) -> Option<String> {
    let polite = q.is(0, &["can", "could", "will", "would"]) && q.is(1, &["you"]);
    let at = if q.is(2, &["please", "kindly"]) { 3 } else { 2 };
    // Verbs of telling and writing only: "Can you get a fine for it?" asks about anyone.
    const ASKED_OF_YOU: &[&str] = &[
        "write",
        "explain",
        "tell",
        "give",
        "describe",
        "list",
        "name",
        "provide",
        "summarize",
        "suggest",
        "translate",
        "show",
        "create",
        "generate",
        "recommend",
        "define",
        "help",
        "rewrite",
        "identify",
        "compose",
        "classify",
        "edit",
    ];
    (polite && q.is(at, ASKED_OF_YOU)).then(|| upper_first(q.slice(at, q.len())))
}

/// What stands before the question proper, without its comma.
struct Adverbial<'a> {
    text: &'a str,
    /// A condition goes to the end of the clause, anything else behind the asking words.
    is_condition: bool,
}

/// The adverbial before the question proper, if there is one, and where the question proper starts.
fn adverbial<'a>(q: &Question<'a>) -> Result<(Option<Adverbial<'a>>, usize), String> {
    let condition = q.is(0, &["if"]) || q.is(0, &["when", "while"]) && !auxiliary(q, 1);
    if starts(&q.tokens, 0).is_some() && !condition {
        return Ok((None, 0));
    }
    if !condition && !q.is(0, OPENERS) {
        return Err("the question begins with neither an asking word nor a verb".to_string());
    }
    for at in 0..q.len() {
        let comma = q.tokens.get(at).is_some_and(|t| q.text[t.start..t.end].ends_with(','));
        if comma && starts(&q.tokens, at + 1).is_some() {
            // A comma before "who" or "which" may open a relative clause; then another asking word follows.
            let again = (at + 2..q.len()).any(|i| {
                q.tokens.get(i - 1).is_some_and(|t| q.text[t.start..t.end].ends_with(','))
                    && starts(&q.tokens, i).is_some()
            });
            let asks_before = (1..=at).any(|i| q.is(i, WH));
            if again || asks_before {
                return Err("the question has more than one asking clause".to_string());
            }
            // A verb shows a clause, so a statement, unless the opener makes it a subordinate one.
            let subordinate = condition || q.is(0, &["before", "after", "since", "until", "as", "given"]);
            let commas = (0..at).any(|i| q.tokens.get(i).is_some_and(|t| t.closed));
            let stated = (1..at)
                .any(|i| auxiliary(q, i) || verbs::is_past_only(q.key(i)) || commas && verbs::is_participle(q.key(i)));
            if stated && !subordinate {
                return Err("what stands before the question may be a sentence of its own".to_string());
            }
            let text = q.slice(0, at + 1).trim_end_matches(',');
            return Ok((Some(Adverbial { text, is_condition: condition }), at + 1));
        }
    }
    // "In World War II what was ...": no comma, but nothing else that "what was" could be.
    let bare = (2..q.len().min(8)).find(|&at| q.is(at, WH));
    if let Some(at) = bare
        && q.is(at, &["what", "who", "where", "when"])
        && auxiliary(q, at + 1)
        && !q.is(at - 1, PREPOSITIONS)
        && !condition
        && !(0..at).any(|i| auxiliary(q, i) || verbs::is_past_only(q.key(i)) || verbs::is_participle(q.key(i)))
    {
        let text = q.slice(0, at).trim_end_matches([' ', '-', '–']);
        return Ok((Some(Adverbial { text, is_condition: false }), at));
    }
    Err("the question begins with neither an asking word nor a verb".to_string())
}

/// The question from token `from` as a clause: its asking words, and the rest in the order of a statement.
fn clause(q: &Question, from: usize) -> Result<(String, String), String> {
    if (from..q.len()).any(|i| q.key(i).ends_with("n't")) {
        return Err("the question is negated".to_string());
    }
    // "..., and what is its capital": a second question in the order of questions.
    let second = (from + 1..q.len().saturating_sub(1)).any(|i| {
        let comma = q.tokens.get(i).is_some_and(|t| q.text[t.start..t.end].ends_with(','));
        q.is(i, &["and", "or", "but"]) && starts(&q.tokens, i + 1).is_some_and(|s| matches!(s, Start::Wh(_)))
            || comma && q.is(i + 1, &["what", "when", "where", "why", "how"]) && auxiliary(q, i + 2)
            || q.is(i, &["and", "or", "but"]) && q.is(i + 1, DO)
    });
    if second {
        return Err("the question has more than one asking clause".to_string());
    }
    match starts(&q.tokens, from) {
        Some(Start::Auxiliary) => {
            let word = lower_first(q.slice(from, from + 1));
            Ok(("whether".to_string(), whether(q, from, &word)?))
        }
        Some(Start::Wh(at)) => wh_clause(q, from, at),
        None => Err("the question begins with neither an asking word nor a verb".to_string()),
    }
}

fn wh_clause(q: &Question, from: usize, wh: usize) -> Result<(String, String), String> {
    let end = q.len();
    let as_it_is = |split: usize| Ok((lower_first(q.slice(from, split)), q.slice(split, end).to_string()));
    if let Some(word) = contracted(q.key(wh)) {
        if verbs::is_participle(q.key(wh + 1)) {
            return Err("the contraction may stand for \"is\" or \"has\"".to_string());
        }
        return be_clause(q, wh + 1, word, word.to_string(), "is");
    }
    if end < wh + 2 {
        return Err("the question is one word".to_string());
    }
    let Some(aux) = phrase_end(q, wh)? else {
        if q.is(end - 1, STRANDED) && !(wh + 1..end).any(|i| q.is(i, CLAUSE)) && !q.is(wh + 1, &["to"]) {
            return Err("the question may lack its auxiliary".to_string());
        }
        if q.is(wh, &["what", "which"]) && q.is(wh + 1, &["the", "a", "an", "is", "was"]) {
            return Err("the question has no auxiliary".to_string());
        }
        if !q.is(wh, &["who"]) && (wh + 1..end).any(|i| q.is(i, &["did", "does"])) {
            return Err("the question may have two verbs".to_string());
        }
        return as_it_is(subject_end(q, wh)?);
    };
    let phrase = lower_first(q.slice(from, aux));
    let word = q.key(aux).to_string();
    let rest = aux + 1;
    if rest >= end || q.is(rest, &["not"]) {
        return Err("the question is negated or has no subject".to_string());
    }
    if q.is(aux, DO) {
        if q.is(wh, &["who"]) && (rest..end).any(|i| q.is(i, DONE)) {
            return as_it_is(wh + 1);
        }
        if word == "do"
            && phrase == "how"
            && q.is(rest, &["i", "you", "we"])
            && !q.is(rest + 1, &["feel", "think", "like", "know", "say", "see", "do"])
        {
            return Ok(("how to".to_string(), q.slice(rest + 1, end).to_string()));
        }
        return Ok((phrase, without_do(q, rest, &word)?));
    }
    // "the team he was sacked from in 2009": two prepositions in a row, and what belongs to the first stands in front.
    let gap = (rest..end).any(|i| {
        q.is(i, &["from", "of", "for", "with", "to", "into", "by", "in", "at"])
            && q.is(i + 1, &["in", "during", "after", "before", "on", "at", "by", "for", "from"])
    });
    let single = aux == wh + 1;
    if q.is(aux, BE) {
        if single {
            return be_clause(q, rest, q.key(wh), phrase, &word);
        }
        if q.is(rest, &["there"]) {
            return Ok((phrase, format!("there {word} {}", q.slice(rest + 1, end))));
        }
        // "Which city is ..." and "In which city is ...": with a preposition the phrase is no subject.
        return match subject_reading(q, aux) {
            Some(true) if wh == from && !gap => as_it_is(aux),
            _ if wh > from || is_adverbial_phrase(q, wh, aux) => {
                Ok((phrase, reordered(q, rest, &word, q.is(wh, &["how"]))?))
            }
            Some(false) => Ok((phrase, reordered(q, rest, &word, false)?)),
            _ if (wh + 1..aux).any(|i| q.is(i, ATTRIBUTES)) => Ok((phrase, reordered(q, rest, &word, true)?)),
            // "which city is the capital of X"
            _ if q.is(rest, &["the"]) && !(rest..end).any(|i| q.is(i, &["a", "an"]) && !q.is(i - 1, PREPOSITIONS)) => {
                as_it_is(aux)
            }
            _ => Err(UNCERTAIN.to_string()),
        };
    }
    if q.is(aux, MODAL) && verbs::is_base(q.key(rest)) && (wh > from || q.is(wh, &["where", "when", "why"])) {
        return Err("the question has no subject".to_string());
    }
    // "who has won", "which team can win": the phrase is the subject.
    let next = q.key(rest);
    let subject_have = q.is(aux, HAVE) && (verbs::is_participle(next) || next == "been" || q.is(rest, ADVERBS));
    let subject_modal = q.is(aux, MODAL)
        && (verbs::is_base(next) || q.is(rest, ADVERBS))
        && !q.is(wh, &["where", "when", "why", "how"]);
    if wh == from && (subject_have || subject_modal) {
        return as_it_is(aux);
    }
    if word == "had"
        && wh == from
        && !is_adverbial_phrase(q, wh, aux)
        && q.is(wh, &["who", "which", "what"])
        && !single_what(q, wh, aux)
    {
        return Err("\"had\" may be a perfect or a verb of its own".to_string());
    }
    if q.is(aux, HAVE) {
        let perfect = participles(q, rest);
        if perfect.is_empty()
            && wh == from
            && !q.is(end - 1, STRANDED)
            && !is_adverbial_phrase(q, wh, aux)
            && !(rest..end).any(|i| q.key(i) == "been")
        {
            // "which country has the most people": a full verb.
            return if q.is(rest, PRONOUNS) { Err(UNCERTAIN.to_string()) } else { as_it_is(aux) };
        }
    }
    Ok((phrase, reordered(q, rest, &word, false)?))
}
