//! `config.json`: what a folder says of its model's architecture.
//!
//! In: the folder. Out: values by key, or an error that names file, key, what stands there and what was expected.
//! A checkpoint that wraps a language model (text, images, sound) says what concerns the text in `text_config`: a key is
//! looked up there first. `a.b` is the key b of the object a. A value of null counts as absent, as the reference library has it.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{Error, Result, text_file};

/// An open `config.json`.
#[derive(Debug)]
pub struct Config {
    path: PathBuf,
    whole: Value,
}

impl Config {
    /// Name of the file.
    pub const FILE: &'static str = "config.json";

    /// Opens `config.json` of a folder.
    ///
    /// # Errors
    /// [`Error::Io`] where it can't be read; [`Error::Input`] where it is not there or is no JSON object.
    pub fn open(folder: &Path) -> Result<Config> {
        let path = folder.join(Config::FILE);
        if !path.exists() {
            return Err(Error::input("the folder is no model: it has no config.json")
                .file(folder)
                .expected("a folder with config.json, tokenizer.json and safetensors, or a .gguf file")
                .into());
        }
        let text = text_file::read(&path)?;
        let whole: Value = serde_json::from_str(&text)
            .map_err(|e| Error::input(format!("config.json is not JSON: {e}")).file(&path).line(e.line() as u64))?;
        if !whole.is_object() {
            return Err(Error::input("config.json is no JSON object").file(&path).into());
        }
        Ok(Config { path, whole })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The value of a key, of the text's part where that has it.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let text = self.whole.get("text_config").and_then(|part| at(part, key));
        text.or_else(|| self.of_whole(key))
    }

    /// The value of a key outside `text_config`: what a wrapper says of itself.
    pub fn of_whole(&self, key: &str) -> Option<&Value> {
        at(&self.whole, key)
    }

    /// Whether a key has a value.
    pub fn contains(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// A text that must be there.
    ///
    /// # Errors
    /// [`Error::Input`] naming the key.
    pub fn text(&self, key: &str) -> Result<&str> {
        self.get(key).and_then(Value::as_str).ok_or_else(|| self.bad(key, "a text"))
    }

    /// A list of texts that may be absent.
    ///
    /// # Errors
    /// [`Error::Input`] where it is there and no such list.
    pub fn texts(&self, key: &str) -> Result<Option<Vec<&str>>> {
        self.list(key, "a list of texts", Value::as_str)
    }

    /// A count that must be there, above 0 and below 2^31.
    ///
    /// # Errors
    /// [`Error::Input`] naming the key.
    pub fn count(&self, key: &str) -> Result<usize> {
        self.get(key).and_then(count).ok_or_else(|| self.bad(key, "a number from 1 to 2147483647"))
    }

    /// A count as [`Config::count`] that may be absent; then it is `absent`.
    ///
    /// # Errors
    /// [`Error::Input`] where it is there and no such number.
    pub fn count_or(&self, key: &str, absent: usize) -> Result<usize> {
        if self.contains(key) { self.count(key) } else { Ok(absent) }
    }

    /// A list of whole numbers from 0 below 2^31 that may be absent.
    ///
    /// # Errors
    /// [`Error::Input`] where it is there and no such list.
    pub fn numbers(&self, key: &str) -> Result<Option<Vec<usize>>> {
        let number = |value: &Value| value.as_u64().filter(|&n| n < 1 << 31).map(|n| n as usize);
        self.list(key, "a list of whole numbers from 0", number)
    }

    /// A number above 0 that may be absent; above 0 and finite as f32, too.
    ///
    /// # Errors
    /// [`Error::Input`] where it is there and no such number.
    pub fn positive(&self, key: &str) -> Result<Option<f32>> {
        let positive = |value: &Value| value.as_f64().map(|x| x as f32).filter(|x| *x > 0.0 && x.is_finite());
        self.get(key).map(|value| positive(value).ok_or_else(|| self.bad(key, "a finite number above 0"))).transpose()
    }

    /// True or false, that may be absent.
    ///
    /// # Errors
    /// [`Error::Input`] where it is there and neither.
    pub fn flag(&self, key: &str) -> Result<Option<bool>> {
        self.get(key).map(|value| value.as_bool().ok_or_else(|| self.bad(key, "true or false"))).transpose()
    }

    fn list<'a, T>(&'a self, key: &str, what: &str, each: impl Fn(&'a Value) -> Option<T>) -> Result<Option<Vec<T>>> {
        let list = |value: &'a Value| value.as_array()?.iter().map(&each).collect::<Option<Vec<_>>>();
        self.get(key).map(|value| list(value).ok_or_else(|| self.bad(key, what))).transpose()
    }

    /// An error about this file and one of its keys.
    pub fn bad(&self, key: &str, expected: &str) -> Error {
        let found = match self.get(key) {
            None => "nothing".to_string(),
            Some(Value::Array(items)) if items.len() > 8 => format!("a list of {} values", items.len()),
            Some(value) => value.to_string().chars().take(80).collect(),
        };
        Error::input("the model's config can't be used")
            .file(&self.path)
            .key(key)
            .found(found)
            .expected(expected)
            .into()
    }
}

fn at<'a>(object: &'a Value, key: &str) -> Option<&'a Value> {
    key.split('.').try_fold(object, |value, key| value.get(key)).filter(|value| !value.is_null())
}

fn count(value: &Value) -> Option<usize> {
    value.as_u64().filter(|n| (1..1 << 31).contains(n)).map(|n| n as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(text: &str) -> Result<Config> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(Config::FILE), text).unwrap();
        Config::open(folder.path())
    }

    #[test]
    fn keys_are_typed_and_looked_up_in_the_text_part_first() {
        let config = open(
            r#"{"model_type": "wrapper", "tie_word_embeddings": true, "eos_token_id": [1, 106],
                "text_config": {"model_type": "text", "hidden_size": 64, "sliding_window": null, "rms_norm_eps": 1e-6,
                "rope_parameters": {"full": {"rope_theta": 1000000}}, "layer_types": ["full", "sliding"]}}"#,
        )
        .unwrap();
        assert_eq!(config.text("model_type").unwrap(), "text");
        assert_eq!(config.of_whole("model_type").and_then(Value::as_str), Some("wrapper"));
        assert_eq!(config.count("hidden_size").unwrap(), 64);
        assert_eq!(config.count_or("sliding_window", 7).unwrap(), 7);
        assert_eq!(config.positive("rms_norm_eps").unwrap(), Some(1e-6));
        assert_eq!(config.positive("rope_parameters.full.rope_theta").unwrap(), Some(1e6));
        assert_eq!(config.positive("rope_theta").unwrap(), None);
        assert_eq!(config.flag("tie_word_embeddings").unwrap(), Some(true));
        assert_eq!(config.texts("layer_types").unwrap(), Some(vec!["full", "sliding"]));
        assert_eq!(config.numbers("eos_token_id").unwrap(), Some(vec![1, 106]));
        assert!(!config.contains("sliding_window"));
    }

    #[test]
    fn what_can_not_be_used_names_file_key_found_and_expected() {
        let config = open(r#"{"a": "x", "zero": 0, "less": -1.5, "list": ["a", 1], "half": 1.5}"#).unwrap();
        let errors = [
            config.count("a").unwrap_err(),
            config.count("gone").unwrap_err(),
            config.count_or("zero", 1).unwrap_err(),
            config.count("half").unwrap_err(),
            config.positive("less").unwrap_err(),
            config.positive("zero").unwrap_err(),
            config.flag("a").unwrap_err(),
            config.text("half").unwrap_err(),
            config.texts("list").unwrap_err(),
            config.numbers("list").unwrap_err(),
        ];
        for error in errors {
            let Error::Input(error) = error else { panic!("{error}") };
            assert!(error.file.is_some() && error.key.is_some() && error.found.is_some(), "{error}");
            assert!(error.expected.is_some(), "{error}");
        }
        assert!(config.bad("a", "y").to_string().contains("found: \"x\""));
        assert!(open("[1]").unwrap_err().to_string().contains("no JSON object"));
        assert!(open("{\n\"a\": }").unwrap_err().to_string().contains("line 2"));
        let empty = tempfile::tempdir().unwrap();
        assert!(Config::open(empty.path()).unwrap_err().to_string().contains("has no config.json"));
    }
}
