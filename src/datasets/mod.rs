//! Data sets: where prompts come from.
//!
//! In: a descriptor, and a file in one of its layouts (or the embedded starter prompts). Out: sampled [`Prompt`]s.
//! Reads from [`descriptor()`] over tables (files to rows), fields and answers (rows to texts) to [`load()`] and [`sample()`].

use crate::hash;

mod answers;
mod descriptor;
mod fields;
mod load;
mod python;
mod rows;
mod sample;
mod starter;
pub(crate) mod table;

pub use answers::ListForm;
pub(crate) use answers::read as read_answers;
pub use descriptor::{AnswerColumn, Descriptor, Layout, descriptor, descriptors};
pub use load::{Columns, Loaded, Origin, Spec, load};
pub use sample::sample;

/// One base prompt with its reference answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// Name of the data set in the plan.
    pub dataset: String,
    /// Key within the data set: the source row's own id, else its row number.
    pub prompt_id: String,
    /// The request as the model gets it.
    pub text: String,
    /// Reference answers, the best first; empty where the source has none.
    pub answers: Vec<String>,
    /// The source's own category, where it has one.
    pub category: Option<String>,
    /// Row in the source, from 0.
    pub source_row: u64,
    /// SHA-256 of the source row's text and answers, hexadecimal.
    pub source_hash: String,
}

/// SHA-256 of a prompt's text and answers, hexadecimal. Each part is preceded by its length in bytes (u64,
/// little-endian), so that no two different rows hash alike.
pub fn source_hash(text: &str, answers: &[String]) -> String {
    hash::of_parts(std::iter::once(text).chain(answers.iter().map(String::as_str)).map(str::as_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_hash_tells_text_from_answers() {
        let a = source_hash("ab", &["c".into()]);
        assert_ne!(a, source_hash("a", &["bc".into()]));
        assert_ne!(a, source_hash("abc", &[]));
        // sha256 of 8 zero bytes (the length of an empty text), from `head -c8 /dev/zero | sha256sum`
        assert_eq!(source_hash("", &[]), "af5570f5a1810b7af78caf4bc70a660f0df51e42baf91d4de5b2328de0e83dfc");
    }
}
