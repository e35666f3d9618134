//! Casing: letters of a prompt made upper case.
//!
//! In: a prompt, a region, a percentage, draws. Out: the prompt with nothing but the case of letters changed.
//! Nested: letters are changed in one drawn order, so those of 25 % are among those of 50 %.

use super::{Place, Wording};
use crate::draw::Draws;

/// `text` with `percent` of the letters of the region (first half, second half by character, all) made upper case: the
/// floor of the count, at least one.
///
/// Letters are characters that have an upper and a lower case of one character each (not "ß", not Chinese). Those that are
/// upper case already count as letters, but the ones to change are drawn from the lower-case ones, so that the dose is what it says.
///
/// # Errors
/// The reason, where the region has no lower-case letter: a wording equal to the baseline's would pass for perfect stability.
pub(super) fn casing(text: &str, place: Place, percent: f64, draws: &Draws) -> Wording {
    let mut chars: Vec<char> = text.chars().collect();
    let half = chars.len() / 2;
    let (region, name) = match place {
        Place::Prefix => (0..half, "the first half"),
        Place::Suffix => (half..chars.len(), "the second half"),
        Place::Global => (0..chars.len(), "the prompt"),
    };
    let mut letters = 0;
    let mut lower = Vec::new();
    for at in region {
        let Some(&c) = chars.get(at) else { continue };
        if let Some(upper) = upper_case(c) {
            lower.push((draws.bits(lower.len() as u64), at, upper));
            letters += 1;
        } else if has_lower_case(c) {
            letters += 1;
        }
    }
    if lower.is_empty() {
        return Err(format!("{name} has no letter that could be made upper case"));
    }
    lower.sort_unstable();
    let wanted = ((letters as f64 * percent / 100.0).floor() as usize).max(1);
    for &(_, at, upper) in lower.iter().take(wanted) {
        if let Some(c) = chars.get_mut(at) {
            *c = upper;
        }
    }
    Ok(chars.into_iter().collect())
}

/// The upper case of a lower-case letter, where case is all that would change: one character that goes back to the letter.
fn upper_case(c: char) -> Option<char> {
    let upper = single(c.to_uppercase())?;
    // Final sigma goes back by its place in the word, not by itself.
    (upper != c && (single(upper.to_lowercase()) == Some(c) || c == 'ς')).then_some(upper)
}

fn has_lower_case(c: char) -> bool {
    single(c.to_lowercase()).is_some_and(|lower| lower != c)
}

fn single(mut chars: impl Iterator<Item = char>) -> Option<char> {
    let first = chars.next()?;
    chars.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws() -> Draws {
        Draws::new(11, &["d", "p", "casing", "global"])
    }

    fn changed(a: &str, b: &str) -> Vec<usize> {
        a.chars().zip(b.chars()).enumerate().filter(|(_, (x, y))| x != y).map(|(at, _)| at).collect()
    }

    #[test]
    fn the_count_is_the_floor_and_at_least_one() {
        let text = "abcdefghij klmnopqrst uvwxyz"; // 26 letters
        for (percent, wanted) in [(1.0, 1), (10.0, 2), (25.0, 6), (50.0, 13), (75.0, 19), (100.0, 26)] {
            assert_eq!(changed(text, &casing(text, Place::Global, percent, &draws()).unwrap()).len(), wanted);
        }
    }

    #[test]
    fn upper_case_letters_count_but_are_not_drawn() {
        // 8 letters: 50 % are 4, all of them from the 5 lower-case ones; 75 % would be 6, and 5 are there.
        let text = "ABCdefgh";
        assert_eq!(changed(text, &casing(text, Place::Global, 50.0, &draws()).unwrap()).len(), 4);
        assert_eq!(casing(text, Place::Global, 75.0, &draws()).unwrap(), "ABCDEFGH");
    }

    #[test]
    fn halves_are_counted_by_character() {
        assert_eq!(casing("aéiou", Place::Prefix, 100.0, &draws()).unwrap(), "AÉiou");
        assert_eq!(casing("aéiou", Place::Suffix, 100.0, &draws()).unwrap(), "aéIOU");
    }

    #[test]
    fn nothing_but_case_changes() {
        for text in ["straße und Maß", "ODOS οδός", "ısırgan ŉ ſ µ", "naïve café №5 ǆ", "ﬁn {name} `x = 1`"]
        {
            let upper = casing(text, Place::Global, 100.0, &draws()).unwrap();
            assert_eq!(upper.to_lowercase(), text.to_lowercase());
            assert_eq!(upper.chars().count(), text.chars().count());
        }
        assert_eq!(casing("straße", Place::Global, 100.0, &draws()).unwrap(), "STRAßE");
    }

    #[test]
    fn a_region_without_lower_case_is_refused() {
        for text in ["你好吗", "", "12 + 3", "NASA", "مرحبا"] {
            assert!(casing(text, Place::Global, 50.0, &draws()).is_err(), "{text}");
        }
        assert!(casing("NASA was founded", Place::Prefix, 50.0, &draws()).is_ok());
        assert!(casing("NASA 1958 founded", Place::Prefix, 50.0, &draws()).unwrap_err().contains("first half"));
    }
}
