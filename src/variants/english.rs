//! English: words, quotes and sentences of a prompt, as the built-in rewriter sees them.
//!
//! In: a prompt. Out: [`Token`]s with their places in the text, sentences, and whether it is English at all.

use std::sync::LazyLock;

use regex::Regex;

use super::protected::{self, pattern};

/// A word with what stands around it; a quotation, bracket or protected span is one token.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    /// First byte.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
    /// The word in lower case without punctuation around it; empty for opaque tokens.
    pub key: String,
    /// Whether it is quoted, bracketed or protected: never read as grammar, never altered.
    pub opaque: bool,
    /// Whether its first letter is upper case.
    pub capital: bool,
    /// Whether a comma, colon, semicolon or full stop closes it.
    pub closed: bool,
}

impl Token {
    /// Whether it is a plain word of this list.
    pub fn is(&self, list: &[&str]) -> bool {
        !self.opaque && list.contains(&self.key.as_str())
    }
}

static QUOTED: LazyLock<Regex> = LazyLock::new(|| pattern(r#""[^"\n]+"|“[^”\n]+”|«[^»\n]+»|``[^\n]+?''|\([^()\n]*\)"#));
static SINGLE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:^|[\s(])('[^'\n]+(?:'\w[^'\n]*)*'|‘[^’\n]+(?:’\w[^’\n]*)*’|`[^'`\n]+(?:'\w[^'\n]*)*')(?:$|[\s.,;:?!)])",
    )
});

/// Byte spans that grammar doesn't look into: quotations, brackets, protected spans; merged and in order.
pub(super) fn opaque(text: &str) -> Vec<(usize, usize)> {
    let mut spans: Vec<(usize, usize)> = protected::spans(text).iter().map(|s| (s.start, s.end)).collect();
    spans.extend(QUOTED.find_iter(text).map(|m| (m.start(), m.end())));
    spans.extend(SINGLE.captures_iter(text).filter_map(|c| c.get(1)).map(|m| (m.start(), m.end())));
    spans.sort_unstable();
    let mut merged: Vec<(usize, usize)> = Vec::new();
    for (start, end) in spans {
        match merged.last_mut() {
            Some(last) if start < last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

/// The tokens of `text`, in order.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let spans = opaque(text);
    let inside = |at: usize| spans.iter().any(|&(start, end)| start <= at && at < end);
    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        if c.is_whitespace() && !inside(at) {
            if let Some(first) = start.take() {
                found.push(token(text, first, at, &spans));
            }
        } else if start.is_none() {
            start = Some(at);
        }
    }
    found
}

fn token(text: &str, start: usize, end: usize, spans: &[(usize, usize)]) -> Token {
    let word = &text[start..end];
    let opaque = spans.iter().any(|&(s, e)| s < end && start < e);
    let trimmed = word.trim_matches(|c: char| !c.is_alphanumeric());
    Token {
        start,
        end,
        key: if opaque { String::new() } else { trimmed.to_lowercase().replace('’', "'") },
        opaque,
        capital: word.chars().find(|c| c.is_alphanumeric()).is_some_and(char::is_uppercase),
        closed: word.ends_with([',', ';', ':', '.']),
    }
}

/// Words that a full stop behind doesn't end a sentence.
const ABBREVIATIONS: [&str; 44] = [
    "mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "vs", "v", "no", "nos", "vol", "fig", "inc", "ltd", "co",
    "corp", "e.g", "i.e", "u.s", "u.k", "u.s.a", "d.c", "approx", "dept", "est", "gen", "col", "lt", "sgt", "rev",
    "hon", "mt", "ft", "capt", "gov", "sen", "rep", "pres", "ph.d", "ca", "cf", "al",
];

/// The sentences of one line, each with the white space behind it: put together they are the line.
pub(super) fn sentences(line: &str) -> Vec<&str> {
    let words = tokens(line);
    let mut parts = Vec::new();
    let mut start = 0;
    for pair in words.windows(2) {
        let [word, next] = pair else { continue };
        let text = line[word.start..word.end].trim_end_matches(['"', '”', '’', '\'', ')']);
        let ends = if text.ends_with('?') {
            true
        } else if text.ends_with(['.', '!']) {
            let abbreviated = ABBREVIATIONS.contains(&word.key.as_str()) || word.key.chars().count() == 1;
            !abbreviated && (next.capital || next.opaque)
        } else {
            false
        };
        // A question mark inside a quotation that the sentence goes on after is not its end.
        let inner = word.opaque && !next.capital;
        if ends && !inner {
            parts.push(&line[start..next.start]);
            start = next.start;
        }
    }
    if start < line.len() {
        parts.push(&line[start..]);
    }
    parts
}

/// Words as the method counts them: runs without white space.
pub(super) fn word_count(text: &str) -> usize {
    text.split_whitespace().count()
}

/// Frequent words of neighbouring languages that English doesn't have.
const FOREIGN: [&str; 40] = [
    "el", "los", "las", "una", "que", "es", "por", "para", "con", "del", "cuál", "qué", "le", "les", "des", "est",
    "une", "dans", "pour", "qui", "sur", "der", "das", "und", "ist", "nicht", "ein", "eine", "wie", "von", "het",
    "een", "il", "che", "di", "per", "não", "os", "um", "uma",
];
/// Frequent English words.
const ENGLISH: [&str; 40] = [
    "the",
    "a",
    "an",
    "of",
    "to",
    "in",
    "is",
    "are",
    "was",
    "were",
    "and",
    "or",
    "for",
    "with",
    "on",
    "what",
    "who",
    "which",
    "how",
    "when",
    "where",
    "why",
    "did",
    "does",
    "do",
    "you",
    "your",
    "this",
    "that",
    "it",
    "by",
    "from",
    "write",
    "give",
    "name",
    "list",
    "tell",
    "explain",
    "describe",
    "translate",
];

/// Whether the built-in rewriter may try: it knows English only.
///
/// # Errors
/// The reason: no words, another script, or more frequent words of another language than English ones.
pub(super) fn is_english(text: &str) -> Result<(), String> {
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    if letters == 0 {
        return Err("the prompt has no words".to_string());
    }
    let latin = text.chars().filter(char::is_ascii_alphabetic).count();
    let words = tokens(text);
    let count = |list: &[&str]| words.iter().filter(|t| !t.capital && t.is(list)).count();
    let (foreign, english) = (count(&FOREIGN), words.iter().filter(|t| t.is(&ENGLISH)).count());
    if latin * 10 < letters * 7 || foreign > english && foreign > 1 {
        return Err("the built-in rewriter knows English only".to_string());
    }
    Ok(())
}

/// `text` with its first letter in lower case.
pub(super) fn lower_first(text: &str) -> String {
    with_first(text, |c| c.to_lowercase().collect())
}

/// `text` with its first letter in upper case.
pub(super) fn upper_first(text: &str) -> String {
    with_first(text, |c| c.to_uppercase().collect())
}

fn with_first(text: &str, change: impl Fn(char) -> String) -> String {
    let mut chars = text.chars();
    chars.next().map(|c| change(c) + chars.as_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<String> {
        tokens(text).into_iter().map(|t| if t.opaque { text[t.start..t.end].to_string() } else { t.key }).collect()
    }

    #[test]
    fn quotations_and_code_are_one_token() {
        assert_eq!(keys("Who sang \"Let It Be\", then?"), ["who", "sang", "\"Let It Be\",", "then"]);
        assert_eq!(keys("What's the 'Iron Lady' (so called)?"), ["what's", "the", "'Iron Lady'", "(so called)?"]);
        assert_eq!(keys("Run `a b` for the dogs' food"), ["run", "`a b`", "for", "the", "dogs", "food"]);
        assert_eq!(keys("It’s Ben’s"), ["it's", "ben's"]);
    }

    #[test]
    fn sentences_put_together_are_the_line() {
        for (line, wanted) in [
            ("A dog ran. It barked!  Why?", 3),
            ("Who was Dr. J. R. Smith of the U.S. Army?", 1),
            ("He said \"Go away. Now.\" and left.", 1),
            ("Say it: \"Who is there?\" Then stop.", 2),
            ("Ask \"Who is there?\" and wait.", 1),
            ("who? what", 2),
        ] {
            let parts = sentences(line);
            assert_eq!(parts.len(), wanted, "{parts:?}");
            assert_eq!(parts.concat(), line);
        }
    }

    #[test]
    fn other_languages_are_told_apart() {
        for text in
            ["Who wrote Hamlet?", "define osmosis", "Translate \"el perro es un animal\" to English.", "café naïve"]
        {
            assert_eq!(is_english(text), Ok(()), "{text}");
        }
        for text in [
            "什么是光合作用？",
            "¿Cuál es la capital de Francia y por qué?",
            "Wie ist das und wer ist der Mann",
            "",
            "12",
            "ما هي",
        ] {
            assert!(is_english(text).is_err(), "{text}");
        }
    }
}
