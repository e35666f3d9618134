//! The 13a tokenizer: how BLEU cuts a text, as in mteval-v13a and sacrebleu.
//!
//! In: one text. Out: its tokens. Rules are applied as successive left-to-right passes, as the reference does,
//! since a pass sees the spaces that the one before put in.

use super::words::{is_python_space, split_python};

/// Tokens of `text` as sacrebleu's `tokenize="13a"` gives them (trailing white space is removed first, as its BLEU does).
pub(super) fn tokens(text: &str) -> Vec<String> {
    let mut line =
        text.trim_end_matches(is_python_space).replace("<skipped>", "").replace("-\n", "").replace('\n', " ");
    if line.contains('&') {
        // In this order: `&amp;lt;` becomes `<`.
        line = line.replace("&quot;", "\"").replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
    }
    let mut chars: Vec<char> = Vec::with_capacity(line.len() * 2);
    chars.push(' ');
    chars.extend(line.chars());
    chars.push(' ');
    let chars = spread(&chars, is_mark);
    let chars = pairs(&chars, |a, b| !a.is_ascii_digit() && is_stop(b), |a, b| [a, ' ', b, ' ']);
    let chars = pairs(&chars, |a, b| is_stop(a) && !b.is_ascii_digit(), |a, b| [' ', a, ' ', b]);
    let chars = pairs(&chars, |a, b| a.is_ascii_digit() && b == '-', |a, b| [a, ' ', b, ' ']);
    let line: String = chars.into_iter().collect();
    split_python(&line).map(str::to_string).collect()
}

/// ASCII marks that always stand alone: all but apostrophe, comma, hyphen and full stop.
fn is_mark(c: char) -> bool {
    matches!(c, '{'..='~' | '['..='`' | ' '..='&' | '('..='+' | ':'..='@' | '/')
}

fn is_stop(c: char) -> bool {
    matches!(c, '.' | ',')
}

/// A space on both sides of every character that `alone` names.
fn spread(chars: &[char], alone: impl Fn(char) -> bool) -> Vec<char> {
    let mut out = Vec::with_capacity(chars.len() * 2);
    for &c in chars {
        if alone(c) {
            out.extend([' ', c, ' ']);
        } else {
            out.push(c);
        }
    }
    out
}

/// Replaces pairs of neighbours, left to right, without overlap: the two characters of a match are not looked at again.
fn pairs(chars: &[char], fits: impl Fn(char, char) -> bool, instead: impl Fn(char, char) -> [char; 4]) -> Vec<char> {
    let mut out = Vec::with_capacity(chars.len() * 2);
    let mut rest = chars;
    while let [a, tail @ ..] = rest {
        match tail {
            [b, after @ ..] if fits(*a, *b) => {
                out.extend(instead(*a, *b));
                rest = after;
            }
            _ => {
                out.push(*a);
                rest = tail;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::tokens;

    #[test]
    fn numbers_keep_their_commas_and_stops() {
        assert_eq!(
            tokens("It cost $1,234.5, i.e. 3-4 %."),
            ["It", "cost", "$", "1,234.5", ",", "i", ".", "e", ".", "3", "-", "4", "%", "."]
        );
    }

    #[test]
    fn matches_do_not_overlap() {
        // After ("a", ".") is taken, the second stop is looked at with the third as its left neighbour.
        assert_eq!(tokens("a...b"), ["a", ".", ".", ".", "b"]);
        assert_eq!(tokens("5..6"), ["5", ".", ".", "6"]);
    }

    #[test]
    fn entities_hyphen_newlines_and_skipped_go_first() {
        assert_eq!(tokens("co-\noperate\nnow <skipped>&amp;lt;"), ["cooperate", "now", "<"]);
        assert_eq!(tokens("don't état-major"), ["don't", "état-major"]);
        assert!(tokens(" \u{1c}\n").is_empty());
    }
}
