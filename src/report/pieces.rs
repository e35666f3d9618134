//! Pieces: where each token of a response begins and ends in its text.
//!
//! In: the model's GGUF file, from which the tokenizer is read, and token ids. Out: lengths of the tokens' texts.
//! A run keeps token ids, not the tokens' texts; the file must have the tokenizer that the run names.

use std::path::PathBuf;

use crate::model::Tokenizer;
use crate::{Error, Result};

/// The tokenizer of one model of the run, as an option gives it: MODEL=FILE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenizerFile {
    /// Name of the model in the run.
    pub model: String,
    /// A GGUF file with its tokenizer.
    pub file: PathBuf,
}

impl std::str::FromStr for TokenizerFile {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.split_once('=') {
            Some((model, file)) if !model.is_empty() && !file.is_empty() => {
                Ok(TokenizerFile { model: model.to_string(), file: PathBuf::from(file) })
            }
            _ => Err(Error::input("this names no tokenizer")
                .found(text)
                .expected("MODEL=FILE, the model's name in the run and its GGUF file")
                .into()),
        }
    }
}

impl TokenizerFile {
    /// Reads the tokenizer.
    ///
    /// # Errors
    /// The file can't be read, or its tokenizer is another than `sha256`, which the run has noted.
    pub(super) fn open(&self, sha256: &str) -> Result<Tokenizer> {
        let tokenizer = Tokenizer::open(&self.file)?;
        if tokenizer.sha256 != sha256 {
            return Err(Error::input(format!("this is not the tokenizer of {}", self.model))
                .file(&self.file)
                .key("--tokenizer")
                .found(format!("SHA-256 {}", tokenizer.sha256))
                .expected(format!("SHA-256 {sha256}, as the table models says"))
                .into());
        }
        Ok(tokenizer)
    }
}

/// Lengths of the tokens' texts in UTF-16 units, as JavaScript counts; 0 for a token that is not in the text or only
/// begins a character. None where the tokens do not add up to `text`.
///
/// # Errors
/// As [`Tokenizer::decode`].
pub(super) fn lengths(tokenizer: &Tokenizer, ids: &[u32], text: &str) -> Result<Option<Vec<usize>>> {
    let mut lengths = Vec::with_capacity(ids.len());
    let mut known = 0;
    for end in 1..=ids.len() {
        let so_far = tokenizer.decode(ids.get(..end).unwrap_or_default())?;
        // A character that is cut ends in U+FFFD until its last token is there.
        let whole = if text.starts_with(&so_far) { so_far.as_str() } else { so_far.trim_end_matches('\u{fffd}') };
        if !text.starts_with(whole) || whole.len() < known {
            return Ok(None);
        }
        lengths.push(whole.get(known..).unwrap_or_default().encode_utf16().count());
        known = whole.len();
    }
    Ok((known == text.len()).then_some(lengths))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_names_model_and_file() {
        let given: TokenizerFile = "a=b/c=d.gguf".parse().unwrap();
        assert_eq!((given.model.as_str(), given.file.to_str().unwrap()), ("a", "b/c=d.gguf"));
        for wrong in ["", "a", "=b", "a="] {
            assert!(wrong.parse::<TokenizerFile>().unwrap_err().to_string().contains("MODEL=FILE"), "{wrong}");
        }
    }
}
