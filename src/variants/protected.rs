//! Protected spans: parts of a prompt that rewrites and marks must leave alone.
//!
//! In: a prompt. Out: byte spans of code, placeholders, tags, addresses, bracketed lists and sums.
//! What is meant as code is decided by shape alone, and rather once too often: a protected span only loses boundaries.

use std::sync::LazyLock;

use regex::Regex;

/// Bytes `start..end` that stay as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub start: usize,
    pub end: usize,
    /// Nothing may touch its ends either: a mark behind an address or a fence would become part of it.
    pub sealed: bool,
}

impl Span {
    /// Whether a mark at byte `at` would change the span.
    pub fn forbids(&self, at: usize) -> bool {
        if self.sealed { self.start <= at && at <= self.end } else { self.start < at && at < self.end }
    }
}

/// Fences, to their end or the text's.
static FENCE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?s)```.*?(?:```|\z)|~~~.*?(?:~~~|\z)"));
/// Web and mail addresses.
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?:https?|ftp)://\S+|www\.\S+|\S+@\S+\.\S+"));
/// Inline code, calls, placeholders, tags, bracketed lists, formulas.
static INLINE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"`[^`\n]+`",
        r"|[A-Za-z_][\w.]*\([^()\n]*\)",
        r"|\{\{[^{}]*\}\}|\$?\{[^{}]*\}|\{%.*?%\}",
        r"|<\|[^|\n]*\|>|</?[A-Za-z!][^<>\n]*>",
        r"|\[[^\[\]\n]{1,200}\]",
        r"|\\\(.*?\\\)|\\\[.*?\\\]|\$[^$\n]*[\\^_=][^$\n]*\$",
    ))
});
/// Sums: numbers or single letters with signs between them. "10! + 4" is another sum than "10 + 4".
static SUM: LazyLock<Regex> = LazyLock::new(|| {
    let operand = r"[(\[]*[-+]?(?:\d[\d.,]*[A-Za-z]?\b|\b[A-Za-z]\b)[)\]²³]*";
    pattern(&format!(r"{operand}(?:\s*(?:[-+*/=×÷^%<>]|<=|>=|==)\s*{operand})+"))
});
/// Digits in groups: "1 000 000".
static GROUPED: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b\d{1,3}(?:\s\d{3})+\b"));
/// Lines that read as program text.
static CODE_LINE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?: {4}|\t)",
        r"|[({=].*[;{}]\s*$|^\s*[{}]\s*$",
        r"|^\s*[A-Za-z_][\w.\[\]]*\s*(?:=|\+=|-=)\s*\S",
        r"|^\s*(?:def|class|function|func|fn|public|private|protected|static|import|package|const|var|elif)\b.*[(){};:=.]",
        r"|^\s*(?:if|else|for|while|try|except|return|let|case|switch)\b.*[{;:]\s*$",
        r"|^\s*#include\b|^\s*(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE TABLE)\b.*[*;=(),]",
        r"|==|!=|=>|->|::|&&|\|\|",
    ))
});

/// A pattern that stands in the source; tests compile them all.
pub(super) fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant pattern")
}

/// Every protected span of `text`, in no order; they may overlap.
pub(super) fn spans(text: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut add = |regex: &Regex, sealed: bool| {
        spans.extend(regex.find_iter(text).map(|m| Span { start: m.start(), end: m.end(), sealed }));
    };
    add(&FENCE, true);
    add(&ADDRESS, true);
    add(&INLINE, false);
    add(&SUM, false);
    add(&GROUPED, false);
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let body = line.trim_end_matches(['\n', '\r']);
        if CODE_LINE.is_match(body) && !body.trim().is_empty() {
            spans.push(Span { start, end: start + body.len(), sealed: false });
        }
        start += line.len();
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protected(text: &str, part: &str) -> bool {
        let start = text.find(part).unwrap();
        let end = start + part.len();
        spans(text).iter().any(|s| s.start <= start && end <= s.end)
    }

    #[test]
    fn shapes_that_are_kept_whole() {
        for (text, part) in [
            ("Run `ls -la /tmp` now", "`ls -la /tmp`"),
            ("Explain:\n```python\nx = 1\nprint(x)\n```\nThanks", "```python\nx = 1\nprint(x)\n```"),
            ("Fill in {first name} here", "{first name}"),
            ("Fill in {{ user.name }} here", "{{ user.name }}"),
            ("Use <first name> and go", "<first name>"),
            ("See <|im_end|> there", "<|im_end|>"),
            ("Read [INPUT TEXT] aloud", "[INPUT TEXT]"),
            ("Sort [3, 1, 2] please", "[3, 1, 2]"),
            ("See https://example.org/a?b=c for more", "https://example.org/a?b=c"),
            ("What is 10 + 4 * 3 in all", "10 + 4 * 3"),
            ("Solve 2x + 3 = 7 for me", "2x + 3 = 7"),
            ("About 1 000 000 people", "1 000 000"),
            ("What does range(1, 10) give", "range(1, 10)"),
            ("Fix it:\ndef f(a, b):\n    return a + b", "def f(a, b):"),
            ("Fix it:\ndef f(a, b):\n    return a + b", "    return a + b"),
            ("Fix it:\nint x = f(1, 2);", "int x = f(1, 2);"),
        ] {
            assert!(protected(text, part), "{part:?} in {text:?}");
        }
    }

    #[test]
    fn prose_is_not_protected() {
        for text in
            ["Who wrote Hamlet?", "List a, b and c.", "It costs $5 or $10, I think.", "for what purpose is it used"]
        {
            assert!(spans(text).is_empty(), "{text:?}");
        }
    }
}
