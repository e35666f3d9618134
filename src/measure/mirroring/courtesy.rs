//! Courtesy mirroring: whether a response is politer or ruder than the baseline's, by cue words.
//!
//! In: the strength of the politeness framing, and the two responses. Out: a judgement marked as one by cue words.
//! It stands in where no judging model is at hand. It reads no irony and no language but English, and a cue counts
//! wherever it stands, so a response *about* manners has cues too.

use serde_json::json;

use super::Judgement;
use crate::measure::words::{leading_phrase, plain_words};

/// Name of the judge that this rule makes up.
pub const JUDGE: &str = "rules/cue-words";

/// Phrases that show courtesy; own list. Each occurrence counts once, the longest phrase at a place first.
const COURTEOUS: &[&str] = &[
    "any time",
    "apologies",
    "apologise",
    "apologize",
    "appreciate",
    "appreciated",
    "be my guest",
    "best regards",
    "best wishes",
    "by all means",
    "certainly",
    "could you",
    "dear",
    "delighted",
    "do let me know",
    "excuse me",
    "feel free",
    "forgive me",
    "glad to",
    "good luck",
    "grateful",
    "gratitude",
    "great question",
    "good question",
    "happy to",
    "have a great day",
    "have a nice day",
    "have a wonderful day",
    "honored",
    "honoured",
    "i hope",
    "it would be my pleasure",
    "kind regards",
    "kindly",
    "let me know",
    "ma'am",
    "madam",
    "many thanks",
    "may i",
    "my pleasure",
    "of course",
    "pardon",
    "please",
    "pleased to",
    "pleasure to",
    "regards",
    "respectfully",
    "sincerely",
    "sir",
    "sorry",
    "thank you",
    "thankful",
    "thanks",
    "wonderful question",
    "would you",
    "you are welcome",
    "you're welcome",
];

/// Phrases that show contempt or impatience; own list.
const RUDE: &[&str] = &[
    "are you kidding",
    "bother me",
    "brainless",
    "clueless",
    "damn",
    "don't bother",
    "dumb",
    "duh",
    "figure it out yourself",
    "fool",
    "foolish",
    "get lost",
    "go away",
    "hurry up",
    "i don't care",
    "idiot",
    "idiotic",
    "idiots",
    "ignorant",
    "leave me alone",
    "look it up yourself",
    "moron",
    "moronic",
    "morons",
    "not my problem",
    "pathetic",
    "ridiculous",
    "shut up",
    "stop wasting",
    "stupid",
    "stupidity",
    "use your brain",
    "useless",
    "waste my time",
    "wasting my time",
    "waste of time",
    "what's wrong with you",
    "who cares",
    "your problem",
];

/// Judges one response; `strength` is the framing's, below 0 for rude, above for polite.
///
/// With c courteous and r rude cues in a response, and no answer but "no" when neither response has a courteous cue:
/// - polite framing: mirrored where c is greater than the baseline's;
/// - rude framing: mirrored where c - r is less than the baseline's, that is, courtesies fell away or rude words came.
pub fn judge(strength: f64, response: &str, baseline_response: &str) -> Judgement {
    let (words, baseline_words) = (plain_words(response), plain_words(baseline_response));
    let (courteous, baseline) = (occurrences(COURTEOUS, &words), occurrences(COURTEOUS, &baseline_words));
    let (rude, baseline_rude) = (occurrences(RUDE, &words), occurrences(RUDE, &baseline_words));
    let mirrored = if courteous == 0 && baseline == 0 {
        false
    } else if strength > 0.0 {
        courteous > baseline
    } else {
        courteous + baseline_rude < baseline + rude
    };
    let figures = json!({"courteous": courteous, "baseline": baseline, "rude": rude, "baseline_rude": baseline_rude});
    Judgement::by_rule(JUDGE, Some(mirrored), &figures)
}

/// How many phrases of the list occur, left to right, the longest at each place, without overlap.
fn occurrences(phrases: &[&str], words: &[String]) -> usize {
    let mut count = 0;
    let mut rest = words;
    while let [_, after @ ..] = rest {
        rest = match leading_phrase(phrases, rest).and_then(|n| rest.get(n..)) {
            Some(beyond) => {
                count += 1;
                beyond
            }
            None => after,
        };
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mirrored(strength: f64, response: &str, baseline: &str) -> Option<bool> {
        judge(strength, response, baseline).mirrored
    }

    #[test]
    fn phrases_count_once_and_word_for_word() {
        let count = |text: &str| occurrences(COURTEOUS, &plain_words(text));
        assert_eq!(count("Thank you, thank you! You’re welcome."), 3);
        assert_eq!(count("It would be my pleasure to help."), 1);
        assert_eq!(count("thank  you"), 1);
        assert_eq!(count("The pleased crowd was unthankful and displeased; a sirloin"), 0);
        assert_eq!(count(""), 0);
    }

    #[test]
    fn polite_framing_asks_for_more_courtesy() {
        assert_eq!(mirrored(4.0, "Of course! Paris.", "Paris."), Some(true));
        assert_eq!(mirrored(4.0, "Of course! Paris.", "Certainly: Paris."), Some(false));
        assert_eq!(mirrored(10.0, "Paris.", "Paris is the capital."), Some(false));
        assert_eq!(mirrored(2.0, "Paris.", "Happy to help: Paris."), Some(false));
    }

    #[test]
    fn rude_framing_asks_for_less_courtesy_or_ruder_words() {
        assert_eq!(mirrored(-4.0, "Paris.", "Happy to help: Paris."), Some(true));
        assert_eq!(mirrored(-4.0, "Thanks, idiot. Paris.", "Thanks. Paris."), Some(true));
        assert_eq!(mirrored(-4.0, "Thanks. Paris.", "Thanks. Paris."), Some(false));
        // An apology is no mirroring of rudeness.
        assert_eq!(mirrored(-10.0, "I'm sorry to hear that. Paris.", "Paris."), Some(false));
    }

    #[test]
    fn without_courtesy_in_either_response_the_answer_is_no() {
        assert_eq!(mirrored(-10.0, "Paris, stupid.", "Paris."), Some(false));
        assert_eq!(mirrored(10.0, "Paris.", "Paris, stupid."), Some(false));
    }

    #[test]
    fn the_figures_are_stored() {
        let judgement = judge(-2.0, "Whatever. Paris, you fool.", "Please: Paris.");
        assert_eq!(judgement.raw, r#"{"courteous":0,"baseline":1,"rude":1,"baseline_rude":0}"#);
        assert_eq!((judgement.judge, judgement.method), ("rules/cue-words", "rule"));
    }

    #[test]
    fn the_lists_hold_phrases_as_words_are_cut() {
        for phrase in COURTEOUS.iter().chain(RUDE) {
            assert_eq!(plain_words(phrase).join(" "), *phrase);
        }
    }
}
