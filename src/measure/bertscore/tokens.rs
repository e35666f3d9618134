//! Tokens: a text as the encoder gets it.
//!
//! In: `tokenizer.json`, and texts. Out: token ids with begin and end tokens, cut at the limit.
//! As in bert-score, blanks around a text are left out.

use tokenizers::{Encoding, PostProcessor, Tokenizer, TruncationParams};

use crate::measure::words::is_python_space;
use crate::model::tokenizer::guarded;

/// A text's tokens.
pub(super) struct Tokens {
    /// Begin and end tokens included.
    pub(super) ids: Vec<u32>,
    pub(super) truncated: bool,
}

/// Cuts texts into an encoder's tokens.
pub(super) struct TextTokenizer {
    tokenizer: Tokenizer,
    /// What stands around each text.
    edges: Vec<u32>,
}

impl TextTokenizer {
    /// Reads tokenizer.json. Errors: it is damaged, adds no begin and end tokens, has ids beyond the vocabulary,
    /// or can't tell texts apart.
    pub(super) fn read(json: &[u8], max_tokens: usize, vocabulary: usize) -> Result<TextTokenizer, String> {
        let mut tokenizer = guarded(|| Tokenizer::from_bytes(json)).map_err(|e| e.to_string())?;
        let truncation = TruncationParams { max_length: max_tokens, ..TruncationParams::default() };
        tokenizer.with_padding(None).with_truncation(Some(truncation)).map_err(|e| e.to_string())?;
        let last = tokenizer.get_vocab(true).into_values().max().unwrap_or(0);
        if last as usize >= vocabulary {
            return Err(format!("it has a token {last}, and the weights have {vocabulary} tokens"));
        }
        let edges = match tokenizer.get_post_processor() {
            Some(post) => post.process(Encoding::default(), None, true).map_err(|e| e.to_string())?.get_ids().to_vec(),
            None => Vec::new(),
        };
        if edges.is_empty() {
            return Err("its post_processor adds no begin and end tokens".to_string());
        }
        let read = TextTokenizer { tokenizer, edges };
        if read.tokens("Where is it?")?.ids == read.tokens("And tell me more.")?.ids {
            return Err("it makes the same tokens of different texts".to_string());
        }
        Ok(read)
    }

    /// The tokens of a text.
    pub(super) fn tokens(&self, text: &str) -> Result<Tokens, String> {
        let text = text.trim_matches(is_python_space);
        if text.is_empty() {
            return Ok(Tokens { ids: self.edges.clone(), truncated: false });
        }
        let encoding = guarded(|| self.tokenizer.encode_fast(text, true)).map_err(|e| e.to_string())?;
        Ok(Tokens { ids: encoding.get_ids().to_vec(), truncated: !encoding.get_overflowing().is_empty() })
    }

    /// Whether a token is a begin or end token, wherever it stands.
    pub(super) fn is_edge(&self, id: u32) -> bool {
        self.edges.contains(&id)
    }
}
