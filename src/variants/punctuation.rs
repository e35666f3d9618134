//! Punctuation: marks added to a prompt.
//!
//! In: a prompt, a place, how many, draws. Out: the prompt with so many marks more, never a question mark.

use super::Place;
use super::boundaries::{Gap, scatter};
use crate::draw::Draws;

/// The marks that are added. The question mark is not among them: it would change the sentence's form.
const MARKS: [char; 11] = ['.', ',', '!', '\'', '(', ')', '[', ']', ';', ':', '-'];

/// `text` with `count` marks before it, after it, or at random word boundaries.
pub(super) fn punctuation(text: &str, place: Place, count: u64, draws: &Draws) -> String {
    scatter(text, place, count, draws, |k, gap| {
        let allowed: Vec<char> = MARKS.into_iter().filter(|&mark| keeps_numbers(mark, gap)).collect();
        allowed.get(draws.below(k, allowed.len())).copied().unwrap_or('.')
    })
}

/// Whether the mark leaves a number beside it the number that it is: not "-5" for "5", "5!" (120) or "5'" (feet).
fn keeps_numbers(mark: char, gap: Gap) -> bool {
    let after_number = gap.before.is_some_and(char::is_numeric);
    let before_number = gap.after.is_some_and(char::is_numeric);
    !(after_number && matches!(mark, '!' | '\'') || before_number && matches!(mark, '-' | '.' | ',' | '\''))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_come_from_the_list_and_never_ask() {
        let draws = Draws::new(3, &["d", "p", "punctuation", "global"]);
        let text = punctuation("one two three", Place::Global, 200, &draws);
        let added: String = text.chars().filter(|c| MARKS.contains(c)).collect();
        assert_eq!(added.chars().count(), 200);
        assert!(MARKS.iter().all(|&mark| added.contains(mark)), "{added}");
        assert!(!text.contains('?'));
    }

    #[test]
    fn numbers_stay_what_they_are() {
        let draws = Draws::new(3, &["d", "p", "punctuation", "prefix"]);
        let text = punctuation("5 apples", Place::Prefix, 100, &draws);
        assert!(!text.contains(['-', '\'']) && text.ends_with("5 apples"), "{text}");
        let text = punctuation("in 5 or", Place::Global, 100, &draws);
        assert!(!text.contains("5!") && !text.contains("5'"), "{text}");
    }
}
