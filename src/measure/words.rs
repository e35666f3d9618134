//! Words: the ways in which the measures cut a text.
//!
//! In: a text. Out: pieces between white space as Python sees it, or lower-case words for phrase rules.
//! Python's `str.split()` also splits at four separator control characters that Unicode does not call white space.

/// Whether Python's `str.isspace()` holds for this character: Unicode white space, and U+001C to U+001F.
pub fn is_python_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// The pieces that Python's `text.split()` gives.
pub fn split_python(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_python_space).filter(|piece| !piece.is_empty())
}

/// Number of words: pieces between white space. Scripts without spaces count a whole run as one.
pub fn word_count(text: &str) -> usize {
    split_python(text).count()
}

/// Lower-case words for phrase rules: runs of letters, digits and apostrophes (curly ones made straight).
/// Apostrophes at a word's edge are quotation marks and fall away.
pub fn plain_words(text: &str) -> Vec<String> {
    let straight = text.to_lowercase().replace(['\u{2019}', '\u{2018}', '\u{02bc}'], "'");
    straight
        .split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .map(|word| word.trim_matches('\''))
        .filter(|word| !word.is_empty())
        .map(str::to_string)
        .collect()
}

/// How many words the longest of `phrases` has with which `words` begin, word for word; None where none fits.
/// A phrase is words of [`plain_words`] with one space between them.
pub fn leading_phrase(phrases: &[&str], words: &[String]) -> Option<usize> {
    let length = |phrase: &&str| {
        let parts = phrase.split(' ').count();
        let begins = words.len() >= parts && phrase.split(' ').zip(words).all(|(part, word)| part == word);
        begins.then_some(parts)
    };
    phrases.iter().filter_map(length).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_splits_at_unicode_space_and_separator_controls() {
        let text = "a\u{a0}b\u{3000}c\u{1c}d\u{85}e\u{2028}f \t g";
        assert_eq!(split_python(text).collect::<Vec<_>>(), ["a", "b", "c", "d", "e", "f", "g"]);
        // U+200B (zero width space) and U+FEFF are no white space to Python.
        assert_eq!(split_python("a\u{200b}b\u{feff}c").count(), 1);
        assert_eq!(split_python(" \n").count(), 0);
    }

    #[test]
    fn the_longest_phrase_leads() {
        let words = plain_words("Thank you very much");
        assert_eq!(leading_phrase(&["thank", "thank you", "you very"], &words), Some(2));
        assert_eq!(leading_phrase(&["thank you very much indeed", "than"], &words), None);
        assert_eq!(leading_phrase(&["thank"], &[]), None);
    }

    #[test]
    fn words_keep_inner_apostrophes_only() {
        assert_eq!(plain_words("I’m ‘fine’, THANKS—you?"), ["i'm", "fine", "thanks", "you"]);
        assert_eq!(word_count("one  two\nthree"), 3);
        assert_eq!(word_count(""), 0);
    }
}
