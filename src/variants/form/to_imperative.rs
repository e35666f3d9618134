//! To imperative: a question as an instruction, "Tell me" and the question as a clause.
//!
//! In: one question. Out: the instruction. The clause needs the auxiliary behind its subject, so the subject's end must be
//! certain; where it isn't, the question is refused rather than guessed.

use super::grammar::{
    ADJECTIVES, ADVERBS, BE, CLAUSE, DETERMINERS, DO, DONE, HAVE, MODAL, OPENERS, PREPOSITIONS, PRONOUNS, PROPERTIES,
    STRANDED, WH,
};
use super::verbs;
use crate::variants::Wording;
use crate::variants::english::{self, Token, lower_first, upper_first};

/// A question without its mark, and where its parts are.
struct Question<'a> {
    text: &'a str,
    tokens: Vec<Token>,
}

impl<'a> Question<'a> {
    /// The text of tokens `from..to`.
    fn slice(&self, from: usize, to: usize) -> &'a str {
        match (self.tokens.get(from), to.checked_sub(1).and_then(|last| self.tokens.get(last))) {
            (Some(first), Some(last)) if from < to => &self.text[first.start..last.end],
            _ => "",
        }
    }

    fn is(&self, at: usize, list: &[&str]) -> bool {
        self.tokens.get(at).is_some_and(|t| t.is(list))
    }

    fn key(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |t| t.key.as_str())
    }

    fn len(&self) -> usize {
        self.tokens.len()
    }
}

const UNCERTAIN: &str = "it is not certain where the question's subject ends";

/// The instruction that asks for the same.
///
/// # Errors
/// The reason, where the rules can't be certain of the clause.
pub(super) fn imperative(sentence: &str) -> Wording {
    let marked = sentence.ends_with('?');
    let text = sentence.trim_end_matches(['?', '.', '!']).trim_end();
    let question = Question { text, tokens: english::tokens(text) };
    let styled = |clause: String| {
        // A query in lower case without a mark stays one, so that form is all that changes.
        if !marked && !sentence.contains(char::is_uppercase) { lower_first(&clause) } else { format!("{clause}.") }
    };
    if let Some(order) = request(&question) {
        return Ok(styled(order));
    }
    let (adverbial, from) = adverbial(&question)?;
    let (opening, rest) = clause(&question, from)?;
    let clause = match adverbial {
        None => format!("{opening} {rest}"),
        Some((text, true)) => format!("{opening} {rest} {}", lower_first(text)),
        Some((text, false)) => format!("{opening}, {}, {rest}", lower_first(text)),
    };
    Ok(styled(format!("Tell me {}", clause.trim())))
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

/// What a question begins with.
enum Start {
    /// The asking word is at this index; a preposition may stand before it.
    Wh(usize),
    Auxiliary,
}

fn starts(tokens: &[Token], at: usize) -> Option<Start> {
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
fn contracted(key: &str) -> Option<&'static str> {
    let word = key.strip_suffix("'s")?;
    ["what", "who", "where", "how", "when", "why"].into_iter().find(|wh| *wh == word)
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

/// An adverbial before the question proper, whether it is a condition (goes last), and where the question proper starts.
fn adverbial<'a>(q: &Question<'a>) -> Result<(Option<(&'a str, bool)>, usize), String> {
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
            return Ok((Some((q.slice(0, at + 1).trim_end_matches(','), condition)), at + 1));
        }
    }
    Err("the question begins with neither an asking word nor a verb".to_string())
}

fn auxiliary(q: &Question, at: usize) -> bool {
    q.is(at, BE) || q.is(at, DO) || q.is(at, HAVE) || q.is(at, MODAL)
}

/// The question from token `from` as a clause: its asking words, and the rest in the order of a statement.
fn clause(q: &Question, from: usize) -> Result<(String, String), String> {
    if (from..q.len()).any(|i| q.key(i).ends_with("n't")) {
        return Err("the question is negated".to_string());
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

/// Where the asking phrase of a question ends: the index of the auxiliary behind it, None where the phrase is the subject.
fn phrase_end(q: &Question, wh: usize) -> Result<Option<usize>, String> {
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

/// Index of the auxiliary that stands before its subject in a question, for the shortening rules.
pub(in crate::variants) fn inverted_auxiliary(text: &str, tokens: &[Token]) -> Option<usize> {
    let q = Question { text, tokens: tokens.to_vec() };
    let Some(Start::Wh(wh)) = starts(&q.tokens, 0) else { return None };
    let at = phrase_end(&q, wh).ok().flatten()?;
    let subject = q.is(at, BE) && (q.is(wh, &["who", "what"]) || subject_reading(&q, at) != Some(false))
        || q.is(at, MODAL)
        || q.is(at, HAVE);
    (!subject).then_some(at)
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
    let Some(aux) = phrase_end(q, wh)? else { return as_it_is(wh + 1) };
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
            Some(true) if wh == from => as_it_is(aux),
            _ if wh > from || is_adverbial_phrase(q, wh, aux) => {
                Ok((phrase, reordered(q, rest, &word, q.is(wh, &["how"]))?))
            }
            Some(false) => Ok((phrase, reordered(q, rest, &word, false)?)),
            _ => as_it_is(aux),
        };
    }
    // "who has won", "which team can win": the phrase is the subject.
    let next = q.key(rest);
    let subject_have = q.is(aux, HAVE) && (verbs::is_participle(next) || next == "been" || q.is(rest, ADVERBS));
    let subject_modal = q.is(aux, MODAL)
        && (verbs::is_base(next) || q.is(rest, ADVERBS))
        && !q.is(wh, &["where", "when", "why", "how"]);
    if wh == from && (subject_have || subject_modal) {
        return as_it_is(wh + 1);
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
            return if q.is(rest, PRONOUNS) { Err(UNCERTAIN.to_string()) } else { as_it_is(wh + 1) };
        }
    }
    Ok((phrase, reordered(q, rest, &word, false)?))
}

/// Time, manner and measure: such a phrase is hardly ever the subject.
fn is_adverbial_phrase(q: &Question, wh: usize, aux: usize) -> bool {
    const TIMES: &[&str] =
        &["year", "date", "day", "month", "time", "decade", "century", "season", "age", "years", "way", "episode"];
    let how = q.is(wh, &["how"]) && !q.is(wh + 1, &["many", "much"]);
    how || q.is(wh, &["where", "when", "why"]) || (wh + 1..aux).any(|i| q.is(i, TIMES))
}

/// Whether the phrase before a form of "be" is its subject: Some(true) for sure, Some(false) surely not, None unknown.
fn subject_reading(q: &Question, aux: usize) -> Option<bool> {
    let rest = aux + 1;
    if q.is(q.len() - 1, STRANDED) && !verbs::is_participle(q.key(rest)) {
        return Some(false);
    }
    let next = q.key(rest);
    let predicate =
        verbs::is_participle(next) || verbs::is_progressive(next) || q.is(rest, &["a", "an"]) || q.is(rest, ADJECTIVES);
    if predicate || q.is(rest, PREPOSITIONS) || q.is(rest, ADVERBS) {
        return Some(true);
    }
    if q.is(rest, PRONOUNS) || !participles(q, rest).is_empty() {
        return Some(false);
    }
    None
}

/// "who is ...", "what was ...", "where are ...": `rest` is the first token behind the verb `word`.
fn be_clause(q: &Question, rest: usize, wh: &str, phrase: String, word: &str) -> Result<(String, String), String> {
    let end = q.len();
    let next = q.key(rest);
    let asked = |from: usize| Ok((phrase.clone(), format!("{word} {}", q.slice(from, end))));
    if q.is(rest, PRONOUNS) {
        return Ok((phrase, reordered(q, rest, word, false)?));
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

fn predicate_next(q: &Question, rest: usize) -> bool {
    q.is(rest, &["next", "wrong", "left", "inside", "better", "worse", "known", "special", "unique"])
}

/// Whether the question closes with what asks for its front: "of", "called".
fn stranded(q: &Question) -> bool {
    let last = q.len().saturating_sub(1);
    q.is(last, STRANDED) || q.is(last, &["called", "named", "known", "famous", "doing", "like", "termed", "nicknamed"])
}

/// Where the predicate begins that a stranded ending belongs to: "is the tower | made of".
fn moved_predicate(q: &Question, rest: usize) -> Option<usize> {
    if !stranded(q) {
        return None;
    }
    predicate_start(q, rest).ok()
}

fn who_clause(q: &Question, rest: usize, phrase: String, word: &str) -> Result<(String, String), String> {
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

fn what_clause(q: &Question, rest: usize, phrase: String, word: &str) -> Result<(String, String), String> {
    let end = q.len();
    // The property that is asked for, up to four words in: "the highest recorded temperature of".
    let property = (rest..end.min(rest + 6)).find(|&i| {
        q.is(i, PROPERTIES)
            && (i + 1 == end || q.is(i + 1, PREPOSITIONS) || q.is(i + 1, &["given", "that"]))
            && !q.tokens.get(i).is_some_and(|t| t.closed)
    });
    let before_clean = property.is_some_and(|p| !(rest..p).any(|i| q.is(i, PREPOSITIONS) || q.is(i, CLAUSE)));
    let present = matches!(word, "is" | "are");
    if let Some(p) = property.filter(|_| before_clean && q.is(rest, DETERMINERS)) {
        if present {
            // "Tell me the capital of France."
            return Ok((String::new(), q.slice(rest, end).to_string()));
        }
        if p + 1 < end {
            return Ok((phrase, format!("{} {word} {}", q.slice(rest, p + 1), q.slice(p + 1, end))));
        }
        return Ok((phrase, format!("{} {word}", q.slice(rest, end))));
    }
    if present && q.is(rest, &["some", "three", "two", "five", "four", "several"]) && !verbal(q, rest + 2) {
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
fn verbal(q: &Question, from: usize) -> bool {
    (from..q.len()).any(|i| {
        let Some(t) = q.tokens.get(i) else { return false };
        !t.opaque
            && (verbs::is_participle(&t.key)
                || verbs::is_past_only(&t.key)
                || verbs::is_progressive(&t.key)
                || auxiliary(q, i))
    })
}

/// The rest with `word` behind its subject; `at_end` where a place or measure is asked for and the subject may be all of it.
fn reordered(q: &Question, rest: usize, word: &str, at_end: bool) -> Wording {
    let end = q.len();
    if q.is(rest, &["not"]) {
        return Err("the question is negated".to_string());
    }
    if MODAL.contains(&word) && !q.is(rest, PRONOUNS) {
        let verb = main_verb(q, rest).ok_or(UNCERTAIN)?;
        return Ok(format!("{} {word} {}", q.slice(rest, verb), q.slice(verb, end)));
    }
    match predicate_start(q, rest) {
        Ok(at) => Ok(format!("{} {word} {}", q.slice(rest, at), q.slice(at, end))),
        Err(_) if at_end && end - rest <= 10 && !verbal(q, rest) && !stranded(q) && !q.is(end - 1, ADJECTIVES) => {
            Ok(format!("{} {word}", q.slice(rest, end)))
        }
        Err(reason) => Err(reason),
    }
}

/// Indices of words that may begin a passive or progressive predicate of the main clause.
fn participles(q: &Question, rest: usize) -> Vec<usize> {
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
        let follows = at + 1 == q.len()
            || q.is(at + 1, PREPOSITIONS)
            || q.is(at + 1, CLAUSE)
            || q.is(at + 1, ADVERBS)
            || q.is(at + 1, &["a", "an", "the"]);
        let coordinated = q.is(at - 1, &["and", "or"]);
        let attribute = q.is(at - 1, DETERMINERS) && !q.is(at - 1, ADVERBS) || q.is(at - 1, PREPOSITIONS);
        if form && follows && !coordinated && !attribute {
            found.push(at);
        }
    }
    found
}

/// The index where the predicate begins, `rest` being where the subject does.
fn predicate_start(q: &Question, rest: usize) -> Result<usize, String> {
    let end = q.len();
    if q.is(rest, PRONOUNS) {
        // "people" and the like may be told more about.
        return if q.is(rest, &["people"]) && q.is(rest + 1, CLAUSE) {
            Err(UNCERTAIN.to_string())
        } else {
            Ok(rest + 1)
        };
    }
    let clause_at = (rest..end).find(|&i| q.is(i, CLAUSE)).unwrap_or(end);
    if (rest..clause_at)
        .any(|i| !q.tokens.get(i).is_none_or(|t| t.opaque || t.capital) && verbs::is_past_only(q.key(i)))
    {
        return Err(UNCERTAIN.to_string());
    }
    let back = |mut at: usize| {
        while at > rest + 1 && q.is(at - 1, ADVERBS) {
            at -= 1;
        }
        at
    };
    match participles(q, rest).as_slice() {
        [at] => return Ok(back(*at)),
        [] => {}
        _ => return Err(UNCERTAIN.to_string()),
    }
    // "Is Mars a planet?", "Were A and B of the same age?": a name, then a lower-case word that opens a predicate.
    let run = name_run(q, rest);
    if run > rest && run < end && !possessive(q, run - 1) && opens_predicate(q, run) {
        return Ok(run);
    }
    // "Is the sun a star?", "Is the earth flat?"
    let opener = (rest + 1..clause_at).find(|&i| {
        let after_noun = !q.is(i - 1, PREPOSITIONS) && !q.is(i - 1, DETERMINERS) && !q.is(i - 1, &["and", "or", "not"]);
        after_noun && q.is(i, &["a", "an"])
    });
    let adjectives: Vec<usize> = (rest + 1..clause_at)
        .filter(|&i| {
            let closes = i + 1 == end
                || q.is(
                    i + 1,
                    &["than", "to", "for", "in", "at", "with", "if", "when", "on", "from", "that", "as", "enough"],
                );
            q.is(i, ADJECTIVES) && closes && !q.is(i - 1, DETERMINERS) && !q.is(i - 1, PREPOSITIONS)
        })
        .collect();
    match (opener, adjectives.as_slice()) {
        (Some(at), []) => Ok(at),
        (None, [at]) => Ok(back(*at)),
        _ => Err(UNCERTAIN.to_string()),
    }
}

fn opens_predicate(q: &Question, at: usize) -> bool {
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
    ) || q.is(at, ADJECTIVES)
        || verbs::is_participle(q.key(at))
        || verbs::is_progressive(q.key(at))
}

/// The end of the run of names that starts at `from`: capitals, quotations, and small words between capitals.
fn name_run(q: &Question, from: usize) -> usize {
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

fn possessive(q: &Question, at: usize) -> bool {
    q.key(at).ends_with("'s")
        || q.tokens.get(at).is_some_and(|t| q.text[t.start..t.end].ends_with(['\'', '’']) && !t.opaque)
}

fn possessive_within(q: &Question, rest: usize) -> bool {
    (rest..q.len().min(rest + 5)).any(|i| possessive(q, i))
}

/// "does X work" as "X works", "did X go" as "X went", "do X go" as "X go".
fn without_do(q: &Question, rest: usize, word: &str) -> Wording {
    let end = q.len();
    if word == "do" {
        return Ok(q.slice(rest, end).to_string());
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
fn main_verb(q: &Question, rest: usize) -> Option<usize> {
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
    (after_name || candidates.len() == 1 || !verbs::is_ambiguous(q.key(first))).then_some(first)
}

/// A yes-no question's rest behind "whether".
fn whether(q: &Question, from: usize, word: &str) -> Wording {
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
