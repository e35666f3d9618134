//! Boundaries: where spaces and marks may be added, and the adding.
//!
//! In: a prompt, a place, and draws. Out: the prompt with `count` characters more; taking them away gives it back.
//! Nested: mark `k` is the same at the same boundary whatever `count`, and marks at one boundary stand in drawing order.

use super::Place;
use super::protected;
use crate::draw::Draws;

/// Byte positions of the word boundaries: the text's start, the end of every word before white space, and the text's
/// end; none inside protected spans.
pub(super) fn boundaries(text: &str) -> Vec<usize> {
    let spans = protected::spans(text);
    let mut found = vec![0];
    let mut in_word = false;
    for (at, c) in text.char_indices() {
        if in_word && c.is_whitespace() && !spans.iter().any(|s| s.forbids(at)) {
            found.push(at);
        }
        in_word = !c.is_whitespace();
    }
    // White space at the end belongs to no gap between words: what follows the last word is the end.
    let last_word = text.trim_end().len();
    found.retain(|&at| at == 0 || at < last_word);
    if !text.is_empty() {
        found.push(text.len());
    }
    found
}

/// The characters beside a boundary.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gap {
    pub before: Option<char>,
    pub after: Option<char>,
}

/// Adds `count` characters to `text`: all before it, all after it, or each at a random boundary.
///
/// Mark `k` takes draw `2k` for its boundary; `mark` gets the counter `2k + 1` for whatever it draws.
pub(super) fn scatter(text: &str, place: Place, count: u64, draws: &Draws, mark: impl Fn(u64, Gap) -> char) -> String {
    let positions = match place {
        Place::Prefix => vec![0],
        Place::Suffix => vec![text.len()],
        Place::Global => boundaries(text),
    };
    let mut added: Vec<(usize, String)> = positions.into_iter().map(|at| (at, String::new())).collect();
    let n = added.len();
    for k in 0..count {
        if let Some((at, marks)) = added.get_mut(draws.below(2 * k, n)) {
            let gap = Gap { before: text[..*at].chars().next_back(), after: text[*at..].chars().next() };
            marks.push(mark(2 * k + 1, gap));
        }
    }
    let mut out = String::with_capacity(text.len() + count as usize);
    let mut done = 0;
    for (at, marks) in added {
        out.push_str(&text[done..at]);
        out.push_str(&marks);
        done = at;
    }
    out.push_str(&text[done..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_are_start_word_ends_and_end() {
        assert_eq!(boundaries("ab cd\nef"), [0, 2, 5, 8]);
        assert_eq!(boundaries("  ab  cd  "), [0, 4, 10]);
        assert_eq!(boundaries(""), [0]);
        assert_eq!(boundaries("   "), [0, 3]);
        assert_eq!(boundaries("one"), [0, 3]);
        assert_eq!(boundaries("你好 吗"), [0, 6, 10]);
    }

    #[test]
    fn no_boundary_inside_code_or_beside_an_address() {
        assert_eq!(boundaries("run `a b c` now"), [0, 3, 11, 15]);
        assert_eq!(boundaries("see http://a.b/c now"), [0, 3, 20]);
        assert_eq!(boundaries("do\n```\na b\n```\nnow please"), [0, 2, 18, 25]);
    }

    #[test]
    fn marks_at_one_boundary_keep_drawing_order() {
        let draws = Draws::new(1, &["x"]);
        let letters = |k: u64, _: Gap| char::from(b'a' + (k / 2) as u8);
        assert_eq!(scatter("w", Place::Prefix, 3, &draws, letters), "abcw");
        assert_eq!(scatter("w", Place::Suffix, 3, &draws, letters), "wabc");
    }
}
