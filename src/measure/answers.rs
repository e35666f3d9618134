//! Answers: whether a response gives one of the reference answers.
//!
//! In: a response and the reference answers (aliases). Out: exact match, containment, and the best token F1 on 0..1.
//! Formula: Rajpurkar et al. (2016), the evaluation of SQuAD, which also normalizes texts: [`normalize`].

use std::collections::HashMap;

use super::words::split_python;

/// Words that carry no answer.
const ARTICLES: [&str; 3] = ["a", "an", "the"];

/// A text as SQuAD compares it: lower case, without ASCII punctuation, without the articles a, an and the, words with one
/// space between them.
///
/// Other punctuation (curly quotes, dashes) stays, as it does there, and ends a word: "the–end" loses its article.
pub fn normalize(text: &str) -> String {
    let lower = text.to_lowercase();
    let plain: String = lower.chars().filter(|c| !c.is_ascii_punctuation()).collect();
    let mut kept = String::with_capacity(plain.len());
    let mut rest = plain.as_str();
    while let Some(first) = rest.chars().next() {
        let in_word = first.is_alphanumeric();
        let end = rest.find(|c: char| c.is_alphanumeric() != in_word).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        kept.push_str(if ARTICLES.contains(&run) { " " } else { run });
        rest = after;
    }
    split_python(&kept).collect::<Vec<_>>().join(" ")
}

/// A response beside the reference answers of its prompt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match {
    /// Whether the normalized response is a normalized answer.
    pub exact: bool,
    /// Whether the words of an answer stand in the response, all of them, in order, next to each other. An answer of which
    /// normalization leaves nothing ("A") is contained only in a response of which it leaves nothing.
    pub contains: bool,
    /// Greatest token F1 over the answers: harmonic mean of the shares of words that response and answer have in common.
    /// Where one of both has no words, 1 if the other has none either, else 0.
    pub f1: f64,
}

/// Compares a response with each answer and gives the best; None where there is no answer.
pub fn compare<'a>(response: &str, answers: impl IntoIterator<Item = &'a str>) -> Option<Match> {
    let response = normalize(response);
    let said: Vec<&str> = response.split(' ').filter(|word| !word.is_empty()).collect();
    let one = |answer: &str| {
        let answer = normalize(answer);
        let wanted: Vec<&str> = answer.split(' ').filter(|word| !word.is_empty()).collect();
        let exact = response == answer;
        let contains = exact || (!wanted.is_empty() && said.windows(wanted.len()).any(|words| words == wanted));
        Match { exact, contains, f1: f1(&said, &wanted) }
    };
    answers.into_iter().map(one).reduce(|a, b| Match {
        exact: a.exact || b.exact,
        contains: a.contains || b.contains,
        f1: a.f1.max(b.f1),
    })
}

/// F1 of two bags of words.
fn f1(said: &[&str], wanted: &[&str]) -> f64 {
    if said.is_empty() || wanted.is_empty() {
        return f64::from(said.is_empty() && wanted.is_empty());
    }
    let mut left: HashMap<&str, usize> = HashMap::new();
    for word in wanted {
        *left.entry(word).or_default() += 1;
    }
    let mut common = 0usize;
    for word in said {
        if let Some(n) = left.get_mut(word).filter(|n| **n > 0) {
            *n -= 1;
            common += 1;
        }
    }
    if common == 0 {
        return 0.0;
    }
    let (precision, recall) = (common as f64 / said.len() as f64, common as f64 / wanted.len() as f64);
    2.0 * precision * recall / (precision + recall)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn articles_case_and_punctuation_carry_no_answer() {
        assert_eq!(normalize("  The U.S.A.,  an\tAlly of a \"King\" "), "usa ally of king");
        assert_eq!(normalize("the–end"), "–end");
        assert_eq!(normalize("Theatre, another, A-ha"), "theatre another aha");
        assert_eq!(normalize("The A."), "");
    }

    #[test]
    fn the_best_alias_counts() {
        let found = compare("It is the city of Paris, France.", ["Lyon", "Paris"]).unwrap();
        assert_eq!((found.exact, found.contains), (false, true));
        // One word of one: recall 1, precision 1 of 6 ("it is city of paris france").
        assert!((found.f1 - 2.0 / 7.0).abs() < 1e-15, "{found:?}");
        let found = compare("Paris", ["The Paris!", "Lyon"]).unwrap();
        assert_eq!(found, Match { exact: true, contains: true, f1: 1.0 });
        assert_eq!(compare("Paris", []), None);
    }

    #[test]
    fn words_are_contained_whole_and_in_order() {
        assert!(!compare("Parisian", ["Paris"]).unwrap().contains);
        assert!(!compare("York New", ["New York"]).unwrap().contains);
        assert!(compare("in new york.", ["New York"]).unwrap().contains);
    }

    #[test]
    fn an_answer_without_words_is_in_no_other_text() {
        let found = compare("Blood type B", ["A"]).unwrap();
        assert_eq!(found, Match { exact: false, contains: false, f1: 0.0 });
        assert_eq!(compare("...", ["A"]).unwrap(), Match { exact: true, contains: true, f1: 1.0 });
    }
}
