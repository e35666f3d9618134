//! The tokenizer of a Hugging Face folder.
//!
//! In: tokenizer.json, and what lies beside it: tokenizer_config.json, special_tokens_map.json, added_tokens.json,
//! generation_config.json, config.json, chat_template.jinja. Out: [`Tokenizer`].
//! tokenizer.json says how a text is cut. The others add tokens to it and name those that begin and end texts.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tokenizers::{AddedToken, ModelWrapper, Tokenizer as Inner};

use super::{Parts, Tokenizer, guarded};
use crate::model::template::Source;
use crate::{Error, Result, hash, text_file};

/// The file that makes a folder one with a tokenizer.
pub(super) const FILE: &str = "tokenizer.json";

const CONFIG: &str = "tokenizer_config.json";
const NAMES: [&str; 7] = ["bos_token", "eos_token", "unk_token", "pad_token", "sep_token", "cls_token", "mask_token"];

/// A JSON file that is an object; an empty one where it is not there.
struct Object {
    file: PathBuf,
    map: Map<String, Value>,
}

impl Object {
    fn read(folder: &Path, name: &str) -> Result<Object> {
        let file = folder.join(name);
        if !file.exists() {
            return Ok(Object { file, map: Map::new() });
        }
        let text = text_file::read(&file)?;
        match serde_json::from_str(&text) {
            Ok(Value::Object(map)) => Ok(Object { file, map }),
            Ok(_) => Err(Error::input(format!("{name} is not an object")).file(&file).line(1).into()),
            Err(e) => Err(Error::input(format!("{name} is not JSON: {e}")).file(&file).line(e.line() as u64).into()),
        }
    }

    fn bad(&self, key: &str, found: &Value, expected: &str) -> Error {
        let found: String = found.to_string().chars().take(80).collect();
        Error::input("the model's configuration can't be used")
            .file(&self.file)
            .key(key)
            .found(found)
            .expected(expected)
            .into()
    }

    /// A token, given as its text or as an object that has it as `content`; null is none.
    fn token(&self, key: &str) -> Result<Option<&str>> {
        match self.map.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match text_of(value) {
                Some(text) => Ok(Some(text)),
                None => Err(self.bad(key, value, "a token's text, or an object with its content")),
            },
        }
    }
}

fn text_of(token: &Value) -> Option<&str> {
    token.as_str().or_else(|| token.get("content")?.as_str())
}

impl Tokenizer {
    /// Reads the tokenizer of a folder; weights are not read.
    ///
    /// # Errors
    /// [`Error::Input`] where the folder has no tokenizer.json, or a file in it can't be used; [`Error::Io`] where one
    /// can't be read.
    pub fn from_folder(folder: &Path) -> Result<Tokenizer> {
        let file = folder.join(FILE);
        if !file.exists() {
            return Err(Error::input("the model's folder has no tokenizer.json")
                .file(folder)
                .fix("load its tokenizer with transformers' AutoTokenizer and save it there with save_pretrained")
                .into());
        }
        let raw = std::fs::read(&file).map_err(Error::io("read", &file))?;
        let broken = |e: &dyn std::fmt::Display| Error::input(format!("the tokenizer can't be used: {e}")).file(&file);
        let mut inner = guarded(|| Inner::from_bytes(&raw)).map_err(|e| broken(&e))?;
        if let ModelWrapper::BPE(bpe) = inner.get_model()
            && bpe.dropout.is_some_and(|share| share > 0.0)
        {
            return Err(Error::input("the tokenizer cuts the same text differently each time")
                .file(&file)
                .key("model.dropout")
                .found(bpe.dropout.unwrap_or_default().to_string())
                .expected("null: dropout is for training")
                .into());
        }
        inner.with_truncation(None).map_err(|e| broken(&e))?;
        inner.with_padding(None);
        let mut config = Object::read(folder, CONFIG)?;
        let chat_template = chat_template(folder, &mut config)?;
        let map = Object::read(folder, "special_tokens_map.json")?;
        let listed = Object::read(folder, "added_tokens.json")?;
        add_tokens(&mut inner, &config, &listed)?;
        let names = names(&config, &map)?;
        mark_special(&mut inner, &names, &config, &map).map_err(|e| broken(&e))?;
        let begin = begin(&inner, &config, &names).map_err(|e| broken(&e))?;
        let ends = ends(folder, &inner, &names)?;
        // Everything but the template, which has a hash of its own, and the ends, which are the model's.
        let said = [&config, &map, &listed].map(|object| serde_json::Value::from(object.map.clone()).to_string());
        let sha256 = hash::of_parts([raw.as_slice()].into_iter().chain(said.iter().map(String::as_bytes)));
        let parts = Parts { begin, ends, names, chat_template, sha256 };
        Ok(Tokenizer::new(inner, parts).map_err(|e| broken(&e))?)
    }
}

/// Adds the tokens that only the configurations list; they must get the ids that stand there.
fn add_tokens(inner: &mut Inner, config: &Object, listed: &Object) -> Result<()> {
    let mut missing: Vec<(&Object, u32, AddedToken)> = Vec::new();
    let key = "added_tokens_decoder";
    if let Some(Value::Object(tokens)) = config.map.get(key) {
        for (id, token) in tokens {
            let (Ok(id), Some(text)) = (id.parse::<u32>(), text_of(token)) else {
                return Err(config.bad(&format!("{key}.{id}"), token, "a token's id, and an object with its content"));
            };
            let flag = |name: &str| token.get(name).and_then(Value::as_bool).unwrap_or(false);
            let added = AddedToken::from(text, flag("special"))
                .normalized(flag("normalized"))
                .lstrip(flag("lstrip"))
                .rstrip(flag("rstrip"))
                .single_word(flag("single_word"));
            missing.push((config, id, added));
        }
    }
    for (text, id) in &listed.map {
        let Some(id) = id.as_u64().and_then(|id| u32::try_from(id).ok()) else {
            return Err(listed.bad(text, id, "a token's id"));
        };
        missing.push((listed, id, AddedToken::from(text.as_str(), false)));
    }
    missing.sort_by_key(|(_, id, _)| *id);
    for (object, id, token) in missing {
        let text = token.content.clone();
        if !inner.get_added_vocabulary().get_vocab().contains_key(&text) {
            let added = inner.add_tokens([token]);
            added.map_err(|e| Error::input(format!("token {text} can't be added: {e}")).file(&object.file))?;
        }
        if inner.token_to_id(&text) != Some(id) {
            let ours = inner.token_to_id(&text).map_or_else(|| "none".to_string(), |id| id.to_string());
            return Err(Error::input("the tokenizer's files give a token two ids")
                .file(&object.file)
                .key(text)
                .found(id.to_string())
                .expected(format!("{ours}, as {FILE} gives it"))
                .into());
        }
    }
    Ok(())
}

/// The named tokens: those of the configuration, and where it names none those of special_tokens_map.json.
fn names(config: &Object, map: &Object) -> Result<Vec<(&'static str, String)>> {
    let mut names = Vec::new();
    for name in NAMES {
        let token = match config.map.contains_key(name) {
            true => config.token(name)?,
            false => map.token(name)?,
        };
        names.extend(token.map(|token| (name, token.to_string())));
    }
    Ok(names)
}

/// Named tokens that the vocabulary has are special, whatever tokenizer.json says of them.
fn mark_special(
    inner: &mut Inner,
    names: &[(&'static str, String)],
    config: &Object,
    map: &Object,
) -> tokenizers::Result<()> {
    let lists = ["additional_special_tokens", "extra_special_tokens"];
    let more = [config, map].into_iter().flat_map(|object| lists.iter().filter_map(|key| object.map.get(*key)));
    let more = more.filter_map(Value::as_array).flatten().filter_map(text_of);
    let texts: Vec<String> = names.iter().map(|(_, text)| text.as_str()).chain(more).map(str::to_string).collect();
    for text in texts {
        let known = inner.get_added_vocabulary();
        let is_special = known.is_special_token(&text);
        let Some(id) = inner.token_to_id(&text).filter(|_| !is_special) else { continue };
        let token = match known.get_added_tokens_decoder().get(&id) {
            Some(token) => token.clone().special(true),
            None => AddedToken::from(text, true),
        };
        inner.add_tokens([token])?;
    }
    Ok(())
}

/// The begin token that comes before a text: as the configuration says, else as tokenizer.json's last step puts it.
fn begin(inner: &Inner, config: &Object, names: &[(&'static str, String)]) -> tokenizers::Result<Option<u32>> {
    let id = |name: &str| names.iter().find(|(known, _)| *known == name).and_then(|(_, text)| inner.token_to_id(text));
    match config.map.get("add_bos_token").and_then(Value::as_bool) {
        Some(begins) => Ok(id("bos_token").filter(|_| begins)),
        None => {
            let first = guarded(|| inner.encode_fast("", true))?.get_ids().first().copied();
            Ok(first.filter(|first| Some(*first) != id("eos_token") || id("bos_token") == id("eos_token")))
        }
    }
}

/// Tokens that end a response: the model's, of generation_config.json and config.json, and the tokenizer's own.
fn ends(folder: &Path, inner: &Inner, names: &[(&'static str, String)]) -> Result<Vec<u32>> {
    let mut ends = Vec::new();
    let mut take = |object: &Object, value: Option<&Value>| -> Result<()> {
        let key = "eos_token_id";
        let items: Vec<&Value> = match value {
            None | Some(Value::Null) => return Ok(()),
            Some(Value::Array(items)) => items.iter().collect(),
            Some(value) => vec![value],
        };
        for item in items {
            match item.as_u64().and_then(|id| u32::try_from(id).ok()) {
                Some(id) if !ends.contains(&id) => ends.push(id),
                Some(_) => {}
                None => return Err(object.bad(key, item, "a token's id, or a list of ids")),
            }
        }
        Ok(())
    };
    for name in ["generation_config.json", "config.json"] {
        let object = Object::read(folder, name)?;
        let inside = object.map.get("text_config").and_then(|text| text.get("eos_token_id"));
        take(&object, object.map.get("eos_token_id"))?;
        take(&object, inside)?;
    }
    let own = names.iter().find(|(name, _)| *name == "eos_token").and_then(|(_, text)| inner.token_to_id(text));
    ends.extend(own.filter(|own| !ends.contains(own)));
    Ok(ends)
}

/// The chat template: chat_template.jinja, else the configuration's, of several the one named "default". It is taken
/// out of the configuration.
fn chat_template(folder: &Path, config: &mut Object) -> Result<Option<Source>> {
    let key = "chat_template";
    let inside = config.map.shift_remove(key);
    let file = folder.join("chat_template.jinja");
    if file.exists() {
        return Ok(Some(Source { from: "chat_template.jinja".to_string(), text: text_file::read(&file)? }));
    }
    let source = |from: &str, text: &str| Some(Source { from: from.to_string(), text: text.to_string() });
    match inside {
        None | Some(Value::Null) => {
            let older = Object::read(folder, "chat_template.json")?;
            Ok(older.token(key)?.and_then(|text| source("chat_template.json", text)))
        }
        Some(Value::String(text)) => Ok(source(CONFIG, &text)),
        Some(Value::Array(named)) => {
            let is_default = |entry: &&Value| entry.get("name").and_then(Value::as_str) == Some("default");
            let default = named.iter().find(is_default).and_then(|entry| entry.get("template")?.as_str());
            match default {
                Some(text) => Ok(source(CONFIG, text)),
                None => Err(config.bad(key, &Value::Array(named), "a list with a template named \"default\"")),
            }
        }
        Some(other) => Err(config.bad(key, &other, "a template's text, or a list of named templates")),
    }
}
