//! Spacing: spaces added to a prompt.
//!
//! In: a prompt, a place, how many, draws. Out: the prompt with so many spaces more.

use super::Place;
use super::boundaries::scatter;
use crate::draw::Draws;

/// `text` with `count` spaces before it, after it, or at random word boundaries.
pub(super) fn spacing(text: &str, place: Place, count: u64, draws: &Draws) -> String {
    scatter(text, place, count, draws, |_, _| ' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_go_where_they_should() {
        let draws = Draws::new(3, &["d", "p", "spacing", "global"]);
        assert_eq!(spacing("a b", Place::Prefix, 2, &draws), "  a b");
        assert_eq!(spacing("a b", Place::Suffix, 2, &draws), "a b  ");
        let global = spacing("one two three", Place::Global, 20, &draws);
        assert_eq!(global.len(), 33);
        assert_eq!(global.split_whitespace().collect::<Vec<_>>(), ["one", "two", "three"]);
    }
}
