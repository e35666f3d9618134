//! Folder names: what a model or a data set can be called.
//!
//! In: a name as a user or a file writes it. Out: whether it can stand as `model=NAME` in a path, or one made of it that can.
//! One rule for names that are said, read from files and made from paths.

/// Most characters of a name; with `model=` before it, it stays well below what file systems allow.
const MOST: usize = 100;

/// The rule, for messages.
pub const RULE: &str = "at most 100 letters, digits, `.`, `_` and `-`, not starting with `.`";

/// Whether `name` can be the name of a folder as it is.
pub fn fits(name: &str) -> bool {
    made_of(name).is_some_and(|made| made == name)
}

/// A name that fits, made of any text: what does not fit becomes `-`, what is too long is cut. None for an empty text.
pub fn made_of(text: &str) -> Option<String> {
    let dots = text.chars().take_while(|c| *c == '.').count();
    let fits = |at: usize, c: char| at >= dots && (c.is_ascii_alphanumeric() || "._-".contains(c));
    let name: String = text.chars().take(MOST).enumerate().map(|(at, c)| if fits(at, c) { c } else { '-' }).collect();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_fit_stay_and_others_are_made_to() {
        let most = "m".repeat(MOST);
        for name in ["GPT-5.4", "a_b", "-", &most] {
            assert!(fits(name) && made_of(name).as_deref() == Some(name), "{name}");
        }
        let longer = "m".repeat(MOST + 1);
        for (text, name) in
            [("a/b c", "a-b-c"), ("..", "--"), (".hidden.x", "-hidden.x"), ("\u{e9}", "-"), (&longer, &most)]
        {
            assert!(!fits(text) && made_of(text).as_deref() == Some(name), "{text}");
        }
        assert!(!fits("") && made_of("").is_none());
    }
}
