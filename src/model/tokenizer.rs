//! The tokenizer, built from a GGUF file's metadata.
//!
//! In: vocabulary, merges, token types and the name of the pre-tokenizer. Out: token ids of a text, and text of ids.
//! Byte-level BPE by the `tokenizers` crate; control tokens are cut out of the text before it, here.

use std::collections::HashMap;
use std::path::Path;

use regex::Regex;
use tokenizers::decoders::byte_level::ByteLevel;
use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{SplitDelimiterBehavior, Tokenizer as Bpe};

use super::gguf::{Gguf, Value};
use crate::{Error, Result, hash};

/// Text to token ids and back.
#[derive(Debug)]
pub struct Tokenizer {
    bpe: Bpe,
    /// Matches every token that stands for itself in a text, the longest first; None where there is none.
    whole: Option<Regex>,
    ids: HashMap<String, u32>,
    /// Control tokens: in no response's text.
    control: Vec<u32>,
    /// Number of tokens.
    pub vocabulary: usize,
    /// Begin token to put before a prompt that no chat template has begun.
    pub begin: Option<u32>,
    /// Tokens that end a response, of the metadata.
    pub ends: Vec<u32>,
    /// Begin, end, unknown and padding tokens as text, as chat templates name them.
    pub names: Vec<(&'static str, String)>,
    /// SHA-256 of everything above that the file gives.
    pub sha256: String,
}

/// Token types of the format that matter here.
const CONTROL: i128 = 3;
const USER_DEFINED: i128 = 4;

/// How a pre-tokenizer cuts a text before BPE. The patterns are those that the vocabularies' merges were learned with.
const PRE: [(&str, Cut); 6] = [
    ("smollm", Cut::DigitsThenBytes),
    ("default", Cut::Bytes),
    ("gpt-2", Cut::Bytes),
    ("llama-bpe", Cut::Pattern(LLAMA3)),
    ("llama3", Cut::Pattern(LLAMA3)),
    ("qwen2", Cut::Pattern(QWEN2)),
];
const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const QWEN2: &str =
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

#[derive(Debug, Clone, Copy)]
enum Cut {
    /// GPT-2's pattern.
    Bytes,
    /// Each digit alone, then GPT-2's pattern.
    DigitsThenBytes,
    /// A pattern of its own.
    Pattern(&'static str),
}

impl Tokenizer {
    /// Reads the tokenizer of a GGUF file; its weights are not read.
    ///
    /// # Errors
    /// [`Error::Input`] where the file is no GGUF, or as [`Tokenizer::from_gguf`].
    pub fn open(path: &Path) -> Result<Tokenizer> {
        Tokenizer::from_gguf(&Gguf::open(path)?)
    }

    /// Builds the tokenizer.
    ///
    /// # Errors
    /// [`Error::Input`] where its kind or pre-tokenizer is not known, or its metadata is inconsistent.
    pub fn from_gguf(gguf: &Gguf) -> Result<Tokenizer> {
        let kind = gguf.text("tokenizer.ggml.model")?;
        if kind != "gpt2" {
            return Err(gguf.bad(
                "tokenizer.ggml.model",
                gguf.metadata.get("tokenizer.ggml.model"),
                "gpt2 (byte-level BPE); SentencePiece and other kinds are not supported",
            ));
        }
        let pre = gguf.text("tokenizer.ggml.pre")?;
        let Some((_, cut)) = PRE.iter().find(|(name, _)| *name == pre) else {
            let known: Vec<&str> = PRE.iter().map(|(name, _)| *name).collect();
            return Err(gguf.bad("tokenizer.ggml.pre", gguf.metadata.get("tokenizer.ggml.pre"), &known.join(", ")));
        };
        let tokens = gguf.texts("tokenizer.ggml.tokens")?;
        let bpe = bpe(gguf, &tokens, *cut, matches!(pre, "llama-bpe" | "llama3"))?;
        let types = types(gguf, tokens.len())?;
        let of_type = |kind: i128| types.iter().enumerate().filter(move |&(_, &t)| t == kind).map(|(id, _)| id as u32);
        let control: Vec<u32> = of_type(CONTROL).collect();
        let text = |id: u32| tokens.get(id as usize).copied().unwrap_or_default();
        let ids: HashMap<String, u32> = of_type(CONTROL)
            .chain(of_type(USER_DEFINED))
            .filter(|&id| !text(id).is_empty())
            .map(|id| (text(id).to_string(), id))
            .collect();
        let mut tokenizer = Tokenizer {
            bpe,
            whole: whole(&ids).map_err(|e| gguf.bad("tokenizer.ggml.token_type", None, &e.to_string()))?,
            ids,
            control,
            vocabulary: tokens.len(),
            begin: None,
            ends: Vec::new(),
            names: Vec::new(),
            sha256: fingerprint(gguf),
        };
        tokenizer.read_special_ids(gguf, &tokens, pre)?;
        Ok(tokenizer)
    }

    fn read_special_ids(&mut self, gguf: &Gguf, tokens: &[&str], pre: &str) -> Result<()> {
        let id = |name: &str| -> Result<Option<u32>> {
            let key = format!("tokenizer.ggml.{name}");
            match gguf.token_id(&key)? {
                Some(id) if id as usize >= tokens.len() => {
                    Err(gguf.bad(&key, gguf.metadata.get(&key), &format!("an id below {}", tokens.len())))
                }
                id => Ok(id),
            }
        };
        let names = [
            ("bos_token", "bos_token_id"),
            ("eos_token", "eos_token_id"),
            ("unk_token", "unknown_token_id"),
            ("pad_token", "padding_token_id"),
        ];
        for (name, key) in names {
            if let Some(token) = id(key)?.and_then(|id| tokens.get(id as usize)) {
                self.names.push((name, (*token).to_string()));
            }
        }
        // Llama 3 files without the flag mean yes, as llama.cpp reads them.
        let add = gguf.flag("tokenizer.ggml.add_bos_token").unwrap_or(matches!(pre, "llama-bpe" | "llama3"));
        self.begin = id("bos_token_id")?.filter(|_| add);
        for key in ["eos_token_id", "eot_token_id", "eom_token_id"] {
            if let Some(end) = id(key)?
                && !self.ends.contains(&end)
            {
                self.ends.push(end);
            }
        }
        Ok(())
    }

    /// Adds end-of-turn tokens that the chat template writes and the vocabulary has as control tokens.
    pub fn add_ends_of(&mut self, template: &str) {
        for name in ["<|im_end|>", "<|eot_id|>", "<|end_of_turn|>", "<|end|>"] {
            if let Some(&id) = self.ids.get(name)
                && template.contains(name)
                && self.control.contains(&id)
                && !self.ends.contains(&id)
            {
                self.ends.push(id);
            }
        }
    }

    /// Whether the text holds the text of a special token.
    pub fn has_special_text(&self, text: &str) -> bool {
        self.whole.as_ref().is_some_and(|whole| whole.is_match(text))
    }

    /// The text with `breaker` put into every special token's text, after its first character.
    pub fn break_special_text(&self, text: &str, breaker: char) -> String {
        let Some(whole) = &self.whole else { return text.to_string() };
        let broken = whole.replace_all(text, |found: &regex::Captures<'_>| {
            let found = found.get(0).map_or("", |m| m.as_str());
            let mut chars = found.chars();
            chars.next().map_or_else(String::new, |first| format!("{first}{breaker}{}", chars.as_str()))
        });
        broken.into_owned()
    }

    /// Token ids of a text; special tokens' text becomes the tokens. `breaker` is taken out of the text between them.
    ///
    /// # Errors
    /// [`Error::Model`] where the tokenizer library fails.
    pub fn encode(&self, text: &str, breaker: Option<char>) -> Result<Vec<u32>> {
        let mut ids = Vec::new();
        let mut from = 0;
        let found = self.whole.iter().flat_map(|whole| whole.find_iter(text));
        for found in found {
            self.encode_plain(text.get(from..found.start()).unwrap_or_default(), breaker, &mut ids)?;
            ids.extend(self.ids.get(found.as_str()));
            from = found.end();
        }
        self.encode_plain(text.get(from..).unwrap_or_default(), breaker, &mut ids)?;
        Ok(ids)
    }

    fn encode_plain(&self, text: &str, breaker: Option<char>, ids: &mut Vec<u32>) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let fast = match breaker {
            Some(breaker) => self.bpe.encode_fast(text.replace(breaker, ""), false),
            None => self.bpe.encode_fast(text, false),
        };
        ids.extend(fast.map_err(Error::model("tokenizer"))?.get_ids());
        Ok(())
    }

    /// Text of token ids, control tokens left out; bytes that are no UTF-8 become U+FFFD.
    ///
    /// # Errors
    /// [`Error::Model`] where the tokenizer library fails.
    pub fn decode(&self, ids: &[u32]) -> Result<String> {
        let kept: Vec<u32> = ids.iter().copied().filter(|id| !self.control.contains(id)).collect();
        self.bpe.decode(&kept, false).map_err(Error::model("tokenizer"))
    }
}

fn bpe(gguf: &Gguf, tokens: &[&str], cut: Cut, whole_words_first: bool) -> Result<Bpe> {
    let merges = gguf.texts("tokenizer.ggml.merges")?;
    let pairs: Option<Vec<(String, String)>> =
        merges.iter().map(|merge| merge.split_once(' ').map(|(a, b)| (a.to_string(), b.to_string()))).collect();
    let pairs = pairs.ok_or_else(|| gguf.bad("tokenizer.ggml.merges", None, "pairs, as \"a b\""))?;
    let vocabulary: Vocab = tokens.iter().enumerate().map(|(id, token)| ((*token).to_string(), id as u32)).collect();
    if vocabulary.len() != tokens.len() {
        return Err(gguf.bad("tokenizer.ggml.tokens", None, "tokens that differ from one another"));
    }
    let unusable = |e: tokenizers::Error| gguf.bad("tokenizer.ggml", None, &format!("a usable vocabulary ({e})"));
    let model = BPE::builder().vocab_and_merges(vocabulary, pairs).ignore_merges(whole_words_first).build();
    let mut bpe = Bpe::new(model.map_err(unusable)?);
    let bytes = |pattern| PreTokenizerWrapper::from(ByteLevel::new(false, true, pattern));
    let steps = match cut {
        Cut::Bytes => vec![bytes(true)],
        Cut::DigitsThenBytes => vec![Digits::new(true).into(), bytes(true)],
        Cut::Pattern(pattern) => {
            let pattern = SplitPattern::Regex(pattern.to_string());
            let split = Split::new(pattern, SplitDelimiterBehavior::Isolated, false).map_err(unusable)?;
            vec![split.into(), bytes(false)]
        }
    };
    bpe.with_pre_tokenizer(Some(Sequence::new(steps)));
    bpe.with_decoder(Some(ByteLevel::default()));
    Ok(bpe)
}

/// Token types, one a token; all normal where the file gives none.
fn types(gguf: &Gguf, tokens: usize) -> Result<Vec<i128>> {
    let key = "tokenizer.ggml.token_type";
    match gguf.metadata.get(key) {
        None => Ok(vec![1; tokens]),
        Some(Value::List(items)) if items.len() == tokens => {
            Ok(items.iter().map(|item| if let Value::Int(kind) = item { *kind } else { 1 }).collect())
        }
        other => Err(gguf.bad(key, other, &format!("a list of {tokens} numbers"))),
    }
}

fn whole(ids: &HashMap<String, u32>) -> Result<Option<Regex>, regex::Error> {
    let mut texts: Vec<&str> = ids.keys().map(String::as_str).collect();
    // The first alternative that fits wins, so the longest must come first.
    texts.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
    let pattern = texts.iter().map(|text| regex::escape(text)).collect::<Vec<_>>().join("|");
    if pattern.is_empty() { Ok(None) } else { Regex::new(&pattern).map(Some) }
}

/// SHA-256 over the file's tokenizer metadata, without the chat template, by key.
fn fingerprint(gguf: &Gguf) -> String {
    let mut parts = Vec::new();
    for (key, value) in gguf.metadata.iter().filter(|(key, _)| key.starts_with("tokenizer.ggml.")) {
        parts.push(key.as_bytes().to_vec());
        add_parts(&mut parts, value);
    }
    hash::of_parts(parts.iter().map(Vec::as_slice))
}

fn add_parts(parts: &mut Vec<Vec<u8>>, value: &Value) {
    match value {
        Value::Int(n) => parts.push(n.to_le_bytes().to_vec()),
        Value::Float(x) => parts.push(x.to_le_bytes().to_vec()),
        Value::Bool(flag) => parts.push(vec![u8::from(*flag)]),
        Value::Text(text) => parts.push(text.as_bytes().to_vec()),
        Value::List(items) => {
            parts.push(items.len().to_string().into_bytes());
            items.iter().for_each(|item| add_parts(parts, item));
        }
    }
}
