//! The tokenizer: text to token ids and back.
//!
//! In: a model's files, by one of two ways: a Hugging Face folder (`folder`) or a GGUF file's metadata (`gguf`). Out:
//! [`Tokenizer`], which does not tell where it came from, with the tokens that begin and end texts and the chat template
//! that lay beside it.
//! Text is cut by the `tokenizers` crate, as transformers' fast tokenizers have it cut.
//!
//! | file | holds |
//! |---|---|
//! | `folder` | tokenizer.json and the configurations beside it |
//! | `gguf` | which tokenizer a GGUF file's metadata describe |
//! | `pre` | how byte-level vocabularies cut a text before their merges, by name |
//! | `sentencepiece` | vocabularies that merge by score and fall back on bytes |

mod folder;
mod gguf;
mod pre;
mod sentencepiece;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use regex::Regex;
use tokenizers::{Model as _, OffsetType, PreTokenizer as _, Tokenizer as Inner};

use super::template::Source;
use super::weights::gguf::Gguf;
use crate::{Error, Result};

/// Text to token ids and back.
#[derive(Debug)]
pub struct Tokenizer {
    inner: Inner,
    /// Matches the text of every token that a chat template means something by, the longest first; None without any.
    marks: Option<Regex>,
    /// A token that is a letter, where there is one: what follows it is not the beginning of a text.
    letter: Option<u32>,
    /// Number of tokens: one more than the largest id.
    pub vocabulary: usize,
    /// Begin token to put before a prompt that no chat template has begun.
    pub begin: Option<u32>,
    /// Tokens that end a response.
    pub ends: Vec<u32>,
    /// Begin, end, unknown and padding tokens as text, as chat templates name them.
    pub names: Vec<(&'static str, String)>,
    /// The chat template of the same files.
    pub chat_template: Option<Source>,
    /// SHA-256 of all that makes the tokens of a text.
    pub sha256: String,
}

/// What a tokenizer is made of, beside the cutting itself.
#[derive(Debug, Default)]
struct Parts {
    begin: Option<u32>,
    ends: Vec<u32>,
    names: Vec<(&'static str, String)>,
    chat_template: Option<Source>,
    sha256: String,
}

/// Tokens that some family's chat template closes a turn with.
const TURN_ENDS: [&str; 6] = ["<|im_end|>", "<|eot_id|>", "<|end_of_turn|>", "<end_of_turn>", "<turn|>", "<|end|>"];

/// What the library gives; where it panics, as it does on settings that do not fit each other, an error.
pub(crate) fn guarded<T>(work: impl FnOnce() -> tokenizers::Result<T>) -> tokenizers::Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err("its settings do not fit each other".into()))
}

impl Tokenizer {
    /// Reads a model's tokenizer: of a GGUF file, of a folder with tokenizer.json, or of such a tokenizer.json; no
    /// weights are read.
    ///
    /// # Errors
    /// As [`Tokenizer::from_folder`] and [`Tokenizer::from_gguf`]; [`Error::Input`] where the file is no GGUF.
    pub fn open(path: &Path) -> Result<Tokenizer> {
        match path.parent() {
            Some(folder) if path.file_name().is_some_and(|name| name == folder::FILE) => Tokenizer::from_folder(folder),
            _ if path.is_dir() => Tokenizer::from_folder(path),
            _ => Tokenizer::from_gguf(&Gguf::open(path)?),
        }
    }

    fn new(inner: Inner, parts: Parts) -> Result<Tokenizer, regex::Error> {
        let vocabulary = inner.get_vocab(true).into_values().max().map_or(0, |id| id as usize + 1);
        let is_itself =
            |id: &u32| inner.id_to_token(*id).is_some_and(|text| inner.decode(&[*id], true).ok() == Some(text));
        let letter = ('a'..='z').filter_map(|c| inner.token_to_id(&c.to_string())).find(is_itself);
        let mut tokenizer = Tokenizer {
            inner,
            marks: None,
            letter,
            vocabulary,
            begin: parts.begin,
            ends: parts.ends,
            names: parts.names,
            chat_template: parts.chat_template,
            sha256: parts.sha256,
        };
        tokenizer.find_marks()?;
        Ok(tokenizer)
    }

    /// Special tokens are marks, and so are other added tokens that the chat template writes; but not the runs of
    /// blanks or the markup that some vocabularies add, which are text like any other.
    fn find_marks(&mut self) -> Result<(), regex::Error> {
        let added = self.inner.get_added_vocabulary().get_added_tokens_decoder();
        let template = self.chat_template.as_ref().map_or("", |template| template.text.as_str());
        let is_mark = |text: &str, special: bool| special || (template.contains(text) && !text.trim().is_empty());
        let mut texts: Vec<&str> = added
            .values()
            .filter(|token| !token.content.is_empty() && is_mark(&token.content, token.special))
            .map(|token| token.content.as_str())
            .collect();
        // The first alternative that fits wins, so the longest must come first.
        texts.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        let pattern = texts.iter().map(|text| regex::escape(text)).collect::<Vec<_>>().join("|");
        self.marks = if pattern.is_empty() { None } else { Some(Regex::new(&pattern)?) };
        // A template closes its turns with a token that not every model's configuration names as an end.
        for name in TURN_ENDS.iter().filter(|name| template.contains(**name)) {
            if let Some(&id) = self.inner.get_added_vocabulary().get_vocab().get(*name)
                && !self.ends.contains(&id)
            {
                self.ends.push(id);
            }
        }
        Ok(())
    }

    /// Checks that a model with so many rows of embeddings has one for every token. It may have more: many are padded.
    ///
    /// # Errors
    /// [`Error::Model`] with both numbers.
    pub fn check_rows(&self, model: &str, rows: usize) -> Result<()> {
        if rows >= self.vocabulary {
            return Ok(());
        }
        let what = format!(
            "its tokenizer has {} tokens, but its embedding only {rows} rows: they do not belong together",
            self.vocabulary
        );
        Err(Error::Model { model: model.to_string(), what })
    }

    /// Whether the text holds the text of a special token.
    pub fn has_special_text(&self, text: &str) -> bool {
        self.marks.as_ref().is_some_and(|marks| marks.is_match(text))
    }

    /// The text with `breaker` put into every special token's text, after its first character.
    pub fn break_special_text(&self, text: &str, breaker: char) -> String {
        let Some(marks) = &self.marks else { return text.to_string() };
        let broken = marks.replace_all(text, |found: &regex::Captures<'_>| {
            let found = found.get(0).map_or("", |m| m.as_str());
            let mut chars = found.chars();
            chars.next().map_or_else(String::new, |first| format!("{first}{breaker}{}", chars.as_str()))
        });
        broken.into_owned()
    }

    /// Token ids of a text; added tokens' text becomes the tokens. `breaker` is taken out of the text between them.
    /// Nothing is added before or after.
    ///
    /// # Errors
    /// [`Error::Model`] where the tokenizer library fails.
    pub fn encode(&self, text: &str, breaker: Option<char>) -> Result<Vec<u32>> {
        let encoding = guarded(|| match breaker {
            None => self.inner.encode_fast(text, false),
            Some(breaker) => self.encode_broken(text, breaker),
        });
        Ok(encoding.map_err(Error::model("tokenizer"))?.get_ids().to_vec())
    }

    /// The library's own steps, with the breaker taken out once the added tokens are found.
    fn encode_broken(&self, text: &str, breaker: char) -> tokenizers::Result<tokenizers::Encoding> {
        let mut parts = self.inner.get_added_vocabulary().extract_and_normalize(self.inner.get_normalizer(), text);
        parts.normalize(|part| part.replace(breaker, ""))?;
        if let Some(cut) = self.inner.get_pre_tokenizer() {
            cut.pre_tokenize(&mut parts)?;
        }
        parts.tokenize(|part| self.inner.get_model().tokenize(part.get()))?;
        parts.into_encoding(None, 0, OffsetType::None)
    }

    /// Text of token ids, special tokens left out; bytes that are no UTF-8 become U+FFFD. Where the vocabulary puts a
    /// space before a text's first word, it is taken away again.
    ///
    /// # Errors
    /// [`Error::Model`] where the tokenizer library fails.
    pub fn decode(&self, ids: &[u32]) -> Result<String> {
        self.inner.decode(ids, true).map_err(Error::model("tokenizer"))
    }

    /// As [`Tokenizer::decode`], of ids that go on a text: a space before the first word stays.
    ///
    /// # Errors
    /// As [`Tokenizer::decode`].
    pub fn decode_rest(&self, ids: &[u32]) -> Result<String> {
        let Some(letter) = self.letter else { return self.decode(ids) };
        let whole = self.decode(&[&[letter], ids].concat())?;
        let mut chars = whole.chars();
        chars.next();
        Ok(chars.as_str().to_string())
    }
}

#[cfg(test)]
mod tests;
