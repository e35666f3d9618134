//! Politeness: framing around a prompt, from rude to polite.
//!
//! In: a prompt, a place, a level from -10 to 10. Out: the prompt, unchanged, with |level| sentences around it.
//! A ladder: each level says what the level below says, and one thing more, stronger than the last.

use super::Place;

/// Said before the request, mildest first.
const POLITE_BEFORE: [&str; 10] = [
    "Hello.",
    "Please help me with this.",
    "I would be grateful for your answer.",
    "Thank you very much for your time.",
    "I hope that this is not too much trouble.",
    "Your help would mean a great deal to me.",
    "I have great respect for your knowledge.",
    "I could not think of anyone better to ask.",
    "It is a true pleasure and a privilege to turn to you.",
    "I am deeply and sincerely indebted to you for your kindness.",
];

/// Said after the request, mildest first.
const POLITE_AFTER: [&str; 10] = [
    "Thank you.",
    "Please take the time that you need.",
    "I appreciate your help.",
    "Thank you so much for your patience with me.",
    "I am sorry to take up your time.",
    "Whatever you can do will be most welcome.",
    "I always value your careful and thoughtful work.",
    "You are wonderfully kind to do this for me.",
    "It is an honour to have your attention.",
    "Please accept my warmest and most heartfelt gratitude.",
];

/// Said before the request, mildest first.
const RUDE_BEFORE: [&str; 10] = [
    "Hey.",
    "Listen up.",
    "Get on with this.",
    "I do not have all day.",
    "Try not to mess it up like you always do.",
    "Stop wasting my time.",
    "You are slow, lazy and annoying.",
    "Frankly, you are useless.",
    "I have never dealt with anything as stupid as you.",
    "You are a worthless piece of junk, and everybody knows it.",
];

/// Said after the request, mildest first.
const RUDE_AFTER: [&str; 10] = [
    "Hurry up.",
    "And no excuses.",
    "I am not going to ask twice.",
    "Do your job for once.",
    "I am tired of your sloppy work.",
    "Even you should be able to manage this.",
    "Your usual rubbish makes me sick.",
    "You are a complete waste of electricity.",
    "A brick has more brains than you.",
    "You are a pathetic failure, and I despise you.",
];

/// `text` framed at `level`: before it, after it, or (global) the odd rungs before it and the even rungs after it.
///
/// The text itself stands unchanged. Framing after a text of several lines, or after one without closing punctuation, gets
/// lines of its own, so that it does not run into an input or a name.
pub(super) fn politeness(text: &str, place: Place, level: i32) -> String {
    let (before, after) = if level < 0 { (RUDE_BEFORE, RUDE_AFTER) } else { (POLITE_BEFORE, POLITE_AFTER) };
    let rungs = level.unsigned_abs() as usize;
    let pick = |ladder: [&str; 10], wanted: &dyn Fn(usize) -> bool| -> String {
        let said: Vec<&str> =
            ladder.into_iter().take(rungs).enumerate().filter(|(at, _)| wanted(*at)).map(|(_, s)| s).collect();
        said.join(" ")
    };
    let (front, back) = match place {
        Place::Prefix => (pick(before, &|_| true), String::new()),
        Place::Suffix => (String::new(), pick(after, &|_| true)),
        Place::Global => (pick(before, &|at| at % 2 == 0), pick(after, &|at| at % 2 == 1)),
    };
    let mut framed = String::new();
    if !front.is_empty() {
        framed.push_str(&front);
        framed.push_str(gap_before(text));
    }
    framed.push_str(text);
    if !back.is_empty() {
        framed.push_str(gap_after(text));
        framed.push_str(&back);
    }
    framed
}

/// What separates framing from the text after it: code and lists start on a line of their own.
fn gap_before(text: &str) -> &'static str {
    if text.starts_with(char::is_whitespace) || text.is_empty() {
        ""
    } else if text.starts_with("```") || text.starts_with("~~~") || text.starts_with(['#', '|', '>', '<', '-', '*']) {
        "\n\n"
    } else {
        " "
    }
}

/// What separates framing from the text before it.
fn gap_after(text: &str) -> &'static str {
    if text.is_empty() || text.ends_with(char::is_whitespace) {
        ""
    } else if text.contains('\n') {
        "\n\n"
    } else if text.ends_with(['.', '!', '?', '"', '”', '。', '？', '！', '؟']) {
        " "
    } else {
        "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_adds_one_sentence_to_the_one_below() {
        for place in Place::ALL {
            for sign in [-1, 1] {
                let mut below = politeness("@", place, 0);
                assert_eq!(below, "@");
                for level in 1..=10 {
                    let framed = politeness("@", place, sign * level);
                    let sentences = |text: &str| text.matches(". ").count() + text.matches(".\n").count();
                    assert!(framed.len() > below.len());
                    let (mut rest, mut kept) = (framed.chars(), 0);
                    // The level below is a subsequence: nothing is taken back.
                    for c in below.chars().filter(|c| !c.is_whitespace()) {
                        kept += usize::from(rest.any(|d| d == c));
                    }
                    assert_eq!(kept, below.chars().filter(|c| !c.is_whitespace()).count(), "{place:?} {level}");
                    assert!(sentences(&framed) + 1 >= level as usize, "{framed}");
                    below = framed;
                }
            }
        }
    }

    #[test]
    fn framing_stands_where_it_belongs() {
        assert_eq!(politeness("Who?", Place::Prefix, 2), "Hello. Please help me with this. Who?");
        assert_eq!(politeness("Who?", Place::Suffix, -2), "Who? Hurry up. And no excuses.");
        assert_eq!(politeness("Who?", Place::Global, 2), "Hello. Who? Please take the time that you need.");
        assert_eq!(politeness("who wrote it", Place::Suffix, 1), "who wrote it\nThank you.");
        assert_eq!(politeness("Sum up.\n\nA cat.", Place::Suffix, 1), "Sum up.\n\nA cat.\n\nThank you.");
        assert_eq!(politeness("```\nx\n```", Place::Prefix, 1), "Hello.\n\n```\nx\n```");
    }

    #[test]
    fn no_rung_asks_a_question_or_is_said_twice() {
        let all: Vec<&str> = [POLITE_BEFORE, POLITE_AFTER, RUDE_BEFORE, RUDE_AFTER].concat();
        let distinct: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), 40);
        assert!(all.iter().all(|s| !s.contains('?') && s.ends_with('.')));
    }
}
