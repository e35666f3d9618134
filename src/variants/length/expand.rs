//! Expand: the prompt with an introduction that asks for nothing more.
//!
//! In: a prompt and a target. Out: neutral sentences, a lead-in, then the prompt word for word; no sentence twice.

use super::Target;
use crate::variants::Wording;
use crate::variants::english::word_count;
use crate::variants::form::{Form, form};

/// Sentences of the introduction, in the order in which they are said; {n} is question, request or message.
const INTRODUCTION: [&str; 50] = [
    "I have a {n} for you.",
    "It is a plain {n}, and I will state it in full.",
    "Please read it from beginning to end.",
    "Please take it exactly as it is written.",
    "I mean every word of it in the usual sense.",
    "There is nothing hidden between its lines.",
    "What comes before it is only an introduction.",
    "None of these opening words changes what I am after.",
    "The {n} would be the same without them.",
    "I simply like to begin with a few words before I come to the point.",
    "Many people start in this way when they write to someone.",
    "Others come to the point at once, which is just as good.",
    "A short opening or a long one makes no difference to the matter.",
    "The matter itself is stated once, and it stands at the very end.",
    "Everything that belongs to it can be found there.",
    "I have not left anything out, and I have not added anything to it.",
    "Its wording has been chosen to say what I mean.",
    "I have thought about how to put it, and I am content with how it reads.",
    "It needs no special reading, only an ordinary one.",
    "You do not have to guess at anything behind it.",
    "Nobody else has to be consulted about it.",
    "There is no second {n} after it.",
    "There is no trick in it either.",
    "It came to my mind in the course of the day, and so I wrote it down.",
    "I have kept it just as I wrote it down.",
    "Someone else might have put the same thing in other words.",
    "The sense would have been the same in any case.",
    "Words can be many or few while their sense stays as it is.",
    "In this message they happen to be rather many.",
    "That is a habit of mine and has nothing to do with the subject.",
    "Some letters open with the weather, and this one opens with remarks about itself.",
    "Such remarks are harmless, since they carry no weight.",
    "You will notice that they say very little.",
    "They are here to lead up to the {n}, nothing else.",
    "By now you know what to expect from them.",
    "Each of them could be left out without any loss.",
    "All of them together could be left out as well.",
    "What counts is only what they lead up to.",
    "I trust that this is clear.",
    "It has been said often enough, so I will not dwell on it.",
    "A reader who has come this far has been patient.",
    "The end of this introduction is near.",
    "After it there is only the thing itself.",
    "It has the same meaning that it would have on an empty page.",
    "It is addressed to you and to no one else.",
    "It was written in one go and then read over once more.",
    "The reading over led to no changes.",
    "It therefore stands in its first and only version.",
    "I will now stop talking about it and show it.",
    "With that I have come to the point.",
];

/// Lead-ins of one to eight words.
const LEAD_INS: [&str; 8] = [
    "{N}:",
    "My {n}:",
    "Here it is:",
    "Here is my {n}:",
    "Here is the {n} itself:",
    "The {n} in full is this:",
    "Here is the {n}, word for word:",
    "The {n}, just as I mean it, is:",
];

/// `text` behind an introduction that brings it to the target.
///
/// # Errors
/// The reason, where there are not enough sentences to say something new each time.
pub(super) fn expand(text: &str, target: Target) -> Wording {
    let noun = match form(text) {
        Form::Question { .. } => "question",
        Form::Imperative { .. } => "request",
        Form::Neither(_) => "message",
    };
    let words = word_count(text);
    let mut missing = target.rounded().saturating_sub(words);
    let mut said = Vec::new();
    for sentence in INTRODUCTION {
        // At least one word stays for the lead-in, so that the last gap can always be closed.
        let length = word_count(sentence);
        if length < missing {
            said.push(sentence);
            missing -= length;
        }
    }
    let lead_in = LEAD_INS.get(missing.min(LEAD_INS.len()).saturating_sub(1)).copied().unwrap_or_default();
    said.push(lead_in);
    let capital = crate::variants::english::upper_first(noun);
    let introduction = said.join(" ").replace("{n}", noun).replace("{N}", &capital);
    let gap = if text.starts_with(char::is_whitespace) {
        ""
    } else if text.contains('\n') {
        "\n\n"
    } else {
        " "
    };
    let expanded = format!("{introduction}{gap}{text}");
    let reached = word_count(&expanded);
    if target.accepts(reached) {
        Ok(expanded)
    } else {
        Err(format!("the introduction is at its end at {reached} words of {}", target.rounded()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::length;
    use super::*;

    #[test]
    fn sentences_and_lead_ins_have_the_lengths_that_the_arithmetic_needs() {
        for (at, lead_in) in LEAD_INS.iter().enumerate() {
            assert_eq!(word_count(lead_in), at + 1, "{lead_in}");
        }
        // The largest gap that can stay open is the shortest sentence.
        let shortest = INTRODUCTION.iter().map(|s| word_count(s)).min().unwrap();
        assert!(shortest <= LEAD_INS.len());
        let distinct: std::collections::BTreeSet<_> = INTRODUCTION.iter().collect();
        assert_eq!(distinct.len(), INTRODUCTION.len());
    }

    #[test]
    fn the_target_is_met_to_the_word() {
        for words in 2..60 {
            let text = format!("Who {}?", vec!["ran"; words - 1].join(" "));
            for multiple in [1.5, 2.0, 3.0] {
                let long = length(&text, multiple).unwrap();
                assert_eq!(word_count(&long), (multiple * words as f64).round() as usize);
                assert!(long.ends_with(&text));
            }
        }
    }

    #[test]
    fn short_prompts_by_hand() {
        assert_eq!(length("Who wrote Hamlet?", 1.5).unwrap(), "My question: Who wrote Hamlet?");
        assert_eq!(length("Name a river.", 2.0).unwrap(), "Here it is: Name a river.");
        assert_eq!(length("Hello", 2.0).unwrap(), "Message: Hello");
        assert_eq!(
            length("Who wrote Hamlet?", 5.0).unwrap(),
            "I have a question for you. The question in full is this: Who wrote Hamlet?"
        );
        assert_eq!(
            length("Sum up.\n\nA cat sat.", 2.0).unwrap(),
            "Here is the request itself:\n\nSum up.\n\nA cat sat."
        );
    }

    #[test]
    fn what_is_too_long_is_refused() {
        assert!(length(&"word ".repeat(600), 3.0).unwrap_err().contains("introduction"));
        assert!(length("one two three", 1.1).unwrap_err().contains("nothing to change"));
    }
}
