//! The tokenizer that a GGUF file's metadata describe.
//!
//! In: vocabulary, merges or scores, token types and the names of kind and pre-tokenizer. Out: [`Tokenizer`].
//! Where the metadata are less than the model's own tokenizer.json had, the families' known ways fill in; each is said
//! where it is done.

use std::collections::HashSet;

use tokenizers::decoders::byte_level::ByteLevel;
use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::{AddedToken, Tokenizer as Inner};

use super::pre::Pre;
use super::sentencepiece::{self, SPACE, Spaces};
use super::{Parts, Tokenizer};
use crate::model::template::Source;
use crate::model::weights::gguf::{Gguf, Value};
use crate::{Result, hash};

/// Token types of the format that matter here.
const CONTROL: i128 = 3;
const USER_DEFINED: i128 = 4;

const TEMPLATE: &str = "tokenizer.chat_template";
const KINDS: &str = "gpt2 (byte-level BPE), llama (SentencePiece), gemma4";

/// A tokenizer without added tokens, and what its kind says of begin tokens where the file does not.
struct Built {
    inner: Inner,
    /// The tokens, as the vocabulary spells them.
    spelled: Vec<String>,
    begins: bool,
}

impl Tokenizer {
    /// Builds the tokenizer.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) where its kind or pre-tokenizer is not known, or its metadata are
    /// inconsistent.
    pub fn from_gguf(gguf: &Gguf) -> Result<Tokenizer> {
        let tokens = gguf.texts("tokenizer.ggml.tokens")?;
        let Built { mut inner, spelled, begins } = match gguf.text("tokenizer.ggml.model")? {
            "gpt2" => byte_level(gguf, &tokens)?,
            "llama" | "gemma4" => by_score(gguf, &tokens)?,
            _ => {
                let kind = gguf.metadata.get("tokenizer.ggml.model");
                return Err(gguf.bad("tokenizer.ggml.model", kind, KINDS));
            }
        };
        let added = added(gguf, &spelled)?;
        inner.add_tokens(added).map_err(|e| gguf.bad("tokenizer.ggml.token_type", None, &e.to_string()))?;
        let mut parts = special_ids(gguf, &tokens, begins)?;
        parts.sha256 = fingerprint(gguf);
        if gguf.metadata.contains_key(TEMPLATE) {
            parts.chat_template = Some(Source { from: TEMPLATE.to_string(), text: gguf.text(TEMPLATE)?.to_string() });
        }
        Tokenizer::new(inner, parts).map_err(|e| gguf.bad("tokenizer.ggml.token_type", None, &e.to_string()))
    }
}

fn byte_level(gguf: &Gguf, tokens: &[&str]) -> Result<Built> {
    let pre = gguf.text("tokenizer.ggml.pre")?;
    let Some(pre) = Pre::named(pre) else {
        return Err(gguf.bad("tokenizer.ggml.pre", gguf.metadata.get("tokenizer.ggml.pre"), &Pre::names()));
    };
    let vocabulary: Vocab = tokens.iter().enumerate().map(|(id, token)| ((*token).to_string(), id as u32)).collect();
    if vocabulary.len() != tokens.len() {
        return Err(doubled(gguf));
    }
    let build = |pairs| -> tokenizers::Result<Inner> {
        let model = BPE::builder().vocab_and_merges(vocabulary, pairs).ignore_merges(pre.whole_first).build()?;
        let mut inner = Inner::new(model);
        pre.set(&mut inner)?;
        inner.with_decoder(Some(ByteLevel::default()));
        Ok(inner)
    };
    let inner = build(given_merges(gguf)?).map_err(|e| unusable(gguf, &e))?;
    let spelled = tokens.iter().map(|token| (*token).to_string()).collect();
    Ok(Built { inner, spelled, begins: pre.begins })
}

fn by_score(gguf: &Gguf, tokens: &[&str]) -> Result<Built> {
    let family = gguf.text("general.architecture")?;
    let is_gemma = family.starts_with("gemma");
    // Gemma's runs of spaces are written with spaces, while its merges, as its texts, have them escaped.
    let respell = |token: &&str| match is_gemma && token.len() > 1 && token.bytes().all(|b| b == b' ') {
        true => SPACE.repeat(token.len()),
        false => (*token).to_string(),
    };
    let spelled: Vec<String> = tokens.iter().map(respell).collect();
    if spelled.iter().collect::<HashSet<_>>().len() != spelled.len() {
        return Err(doubled(gguf));
    }
    let merges = if gguf.metadata.contains_key("tokenizer.ggml.merges") {
        given_merges(gguf)?
    } else if is_gemma {
        // Gemma merges in the order of its tokens; its scores do not say it.
        sentencepiece::merges(&spelled, |id| -(id as f64))
    } else {
        let scores = scores(gguf, tokens.len())?;
        sentencepiece::merges(&spelled, |id| scores.get(id).copied().unwrap_or_default())
    };
    let unknown = token_id(gguf, "unknown_token_id", tokens.len())?.and_then(|id| spelled.get(id as usize));
    let spaces = Spaces {
        prefix: gguf.flag("tokenizer.ggml.add_space_prefix").unwrap_or(!is_gemma),
        squeeze: gguf.flag("tokenizer.ggml.remove_extra_whitespaces").unwrap_or(false),
    };
    let inner = sentencepiece::build(&spelled, merges, unknown.map(String::as_str), spaces);
    Ok(Built { inner: inner.map_err(|e| unusable(gguf, &e))?, spelled, begins: true })
}

fn unusable(gguf: &Gguf, e: &tokenizers::Error) -> crate::Error {
    gguf.bad("tokenizer.ggml", None, &format!("a usable vocabulary ({e})"))
}

fn doubled(gguf: &Gguf) -> crate::Error {
    gguf.bad("tokenizer.ggml.tokens", None, "tokens that differ from one another")
}

fn given_merges(gguf: &Gguf) -> Result<Vec<(String, String)>> {
    let merges = gguf.texts("tokenizer.ggml.merges")?;
    // The space between the two is not the first character: that is of the left one.
    let split = |merge: &&str| -> Option<(String, String)> {
        let (at, _) = merge.char_indices().skip(1).find(|(_, c)| *c == ' ')?;
        Some((merge.get(..at)?.to_string(), merge.get(at + 1..)?.to_string()))
    };
    let pairs: Option<Vec<(String, String)>> = merges.iter().map(split).collect();
    pairs.ok_or_else(|| gguf.bad("tokenizer.ggml.merges", None, "pairs, as \"a b\""))
}

/// Tokens that stand for themselves wherever their text occurs.
fn added(gguf: &Gguf, tokens: &[String]) -> Result<Vec<AddedToken>> {
    let types = types(gguf, tokens.len())?;
    // Phi-3's turn tokens swallow the blanks after them; the format can't say so.
    let swallows = |text: &str| !matches!(text, "<s>" | "<unk>" | "<|endoftext|>");
    let is_phi3 = gguf.text("general.architecture")? == "phi3";
    let added = tokens.iter().zip(types).filter_map(|(text, kind)| {
        let (is_control, is_user) = (kind == CONTROL, kind == USER_DEFINED);
        let stands = (is_control || is_user) && !text.is_empty();
        stands.then(|| AddedToken::from(text.as_str(), is_control).normalized(false).rstrip(is_phi3 && swallows(text)))
    });
    Ok(added.collect())
}

fn token_id(gguf: &Gguf, name: &str, tokens: usize) -> Result<Option<u32>> {
    let key = format!("tokenizer.ggml.{name}");
    match gguf.token_id(&key)? {
        Some(id) if id as usize >= tokens => {
            Err(gguf.bad(&key, gguf.metadata.get(&key), &format!("an id below {tokens}")))
        }
        id => Ok(id),
    }
}

fn special_ids(gguf: &Gguf, tokens: &[&str], begins: bool) -> Result<Parts> {
    let id = |name: &str| token_id(gguf, name, tokens.len());
    let mut parts = Parts::default();
    let names = [
        ("bos_token", "bos_token_id"),
        ("eos_token", "eos_token_id"),
        ("unk_token", "unknown_token_id"),
        ("pad_token", "padding_token_id"),
    ];
    for (name, key) in names {
        if let Some(token) = id(key)?.and_then(|id| tokens.get(id as usize)) {
            parts.names.push((name, (*token).to_string()));
        }
    }
    // Files without the flag mean what llama.cpp takes them to mean.
    let begins = gguf.flag("tokenizer.ggml.add_bos_token").unwrap_or(begins);
    parts.begin = id("bos_token_id")?.filter(|_| begins);
    for key in ["eos_token_id", "eot_token_id", "eom_token_id"] {
        if let Some(end) = id(key)?
            && !parts.ends.contains(&end)
        {
            parts.ends.push(end);
        }
    }
    Ok(parts)
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

/// Scores, one a token.
fn scores(gguf: &Gguf, tokens: usize) -> Result<Vec<f64>> {
    let key = "tokenizer.ggml.scores";
    let value = gguf.metadata.get(key);
    if let Some(Value::List(items)) = value
        && items.len() == tokens
    {
        let scores: Option<Vec<f64>> =
            items.iter().map(|item| if let Value::Float(score) = item { Some(*score) } else { None }).collect();
        if let Some(scores) = scores {
            return Ok(scores);
        }
    }
    Err(gguf.bad(key, value, &format!("a list of {tokens} numbers")))
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
