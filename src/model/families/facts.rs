//! Facts: the numbers and flags that describe an architecture, from whichever file holds them.
//!
//! In: a folder's config, or GGUF metadata. Out: typed values, asked for by the names that both give them.

use super::super::weights::config::Config;
use super::super::weights::gguf::{Gguf, Value};
use crate::{Error, Result};

/// A config, or GGUF metadata whose keys begin with the architecture's name.
#[derive(Debug, Clone, Copy)]
pub enum Facts<'a> {
    /// `config.json`, and numbers that the reference library takes for keys that are not there.
    Config(&'a Config, &'static [(&'static str, f32)]),
    /// GGUF metadata, and the architecture's name.
    Gguf(&'a Gguf, &'a str),
}

/// A fact's two names: in a config, and in GGUF after the architecture's. Empty where it is not there.
pub type Key = (&'static str, &'static str);

impl<'a> Facts<'a> {
    /// Whether the model is a GGUF file.
    pub fn is_gguf(&self) -> bool {
        matches!(self, Facts::Gguf(..))
    }

    /// Whether a fact is there.
    pub fn has(&self, key: Key) -> bool {
        match self {
            Facts::Config(config, absent) => config.contains(key.0) || absent.iter().any(|(name, _)| *name == key.0),
            Facts::Gguf(gguf, name) => gguf.metadata.contains_key(&full(name, key)),
        }
    }

    /// A count that must be there, from 1.
    ///
    /// # Errors
    /// [`Error::Input`] naming the key.
    pub fn count(&self, key: Key) -> Result<usize> {
        match self {
            Facts::Config(config, absent) if !config.contains(key.0) => {
                let absent = absent.iter().find(|(name, _)| *name == key.0);
                absent.map_or_else(|| config.count(key.0), |(_, number)| Ok(*number as usize))
            }
            Facts::Config(config, _) => config.count(key.0),
            Facts::Gguf(gguf, name) => gguf.count(&full(name, key)),
        }
    }

    /// A count that may be absent, or 0, which says the same.
    ///
    /// # Errors
    /// [`Error::Input`] where it is there and no count.
    pub fn count_if(&self, key: Key) -> Result<Option<usize>> {
        let zero = match self {
            Facts::Config(config, _) => config.get(key.0).and_then(serde_json::Value::as_u64) == Some(0),
            Facts::Gguf(gguf, name) => gguf.metadata.get(&full(name, key)) == Some(&Value::Int(0)),
        };
        if zero || !self.has(key) { Ok(None) } else { self.count(key).map(Some) }
    }

    /// A count for each layer: one for all, or a list.
    ///
    /// # Errors
    /// [`Error::Input`] where it is not there, or a list of another length.
    pub fn counts(&self, key: Key, layers: usize) -> Result<Vec<usize>> {
        let list = match self {
            Facts::Config(config, _) => {
                config.get(key.0).filter(|v| v.is_array()).map(|_| config.numbers(key.0)).transpose()?
            }
            Facts::Gguf(gguf, name) => match gguf.metadata.get(&full(name, key)) {
                Some(Value::List(items)) => {
                    let count = |item: &Value| if let Value::Int(n) = item { usize::try_from(*n).ok() } else { None };
                    Some(items.iter().map(count).collect())
                }
                _ => None,
            },
        };
        match list {
            None => Ok(vec![self.count(key)?; layers]),
            Some(Some(list)) if list.len() == layers && !list.contains(&0) => Ok(list),
            Some(_) => Err(self.bad(key, &format!("a number from 1 for each of {layers} layers"))),
        }
    }

    /// A finite number above 0 that may be absent.
    ///
    /// # Errors
    /// [`Error::Input`] where it is there and no such number.
    pub fn positive(&self, key: Key) -> Result<Option<f32>> {
        match self {
            Facts::Config(config, absent) => {
                let absent = absent.iter().find(|(name, _)| *name == key.0).map(|(_, number)| *number);
                Ok(config.positive(key.0)?.or(absent))
            }
            Facts::Gguf(gguf, name) => gguf.positive(&full(name, key)),
        }
    }

    /// A finite number above 0 that must be there.
    ///
    /// # Errors
    /// [`Error::Input`] naming the key.
    pub fn must_be_positive(&self, key: Key) -> Result<f32> {
        self.positive(key)?.ok_or_else(|| self.bad(key, "a finite number above 0"))
    }

    /// True or false; false where it is absent.
    ///
    /// # Errors
    /// [`Error::Input`] where it is there and neither.
    pub fn flag(&self, key: Key) -> Result<bool> {
        match self {
            Facts::Config(config, _) => Ok(config.flag(key.0)?.unwrap_or(false)),
            Facts::Gguf(gguf, name) => Ok(gguf.flag(&full(name, key)).unwrap_or(false)),
        }
    }

    /// A text that may be absent.
    ///
    /// # Errors
    /// [`Error::Input`] where it is there and no text.
    pub fn text(&self, key: Key) -> Result<Option<&'a str>> {
        if !self.has(key) {
            return Ok(None);
        }
        match *self {
            Facts::Config(config, _) => config.text(key.0).map(Some),
            Facts::Gguf(gguf, name) => gguf.text(&full(name, key)).map(Some),
        }
    }

    /// Which of the layers a list of a config (by `word`), or a list of true and false of GGUF, marks.
    ///
    /// # Errors
    /// [`Error::Input`] where it is there and no such list of that length.
    pub fn marked(&self, key: Key, word: &str, layers: usize) -> Result<Option<Vec<bool>>> {
        let list = match self {
            Facts::Config(config, _) => {
                config.texts(key.0)?.map(|words| words.into_iter().map(|w| w == word).collect::<Vec<bool>>())
            }
            Facts::Gguf(gguf, name) => match gguf.metadata.get(&full(name, key)) {
                Some(Value::List(items)) => {
                    let flag = |item: &Value| match item {
                        Value::Bool(flag) => Some(*flag),
                        Value::Int(n) => Some(*n != 0),
                        _ => None,
                    };
                    items.iter().map(flag).collect()
                }
                _ => None,
            },
        };
        match list {
            Some(list) if list.len() != layers => Err(self.bad(key, &format!("a list of {layers} layers"))),
            list => Ok(list),
        }
    }

    /// An error that names the file and the key.
    pub fn bad(&self, key: Key, expected: &str) -> Error {
        match self {
            Facts::Config(config, _) => config.bad(key.0, expected),
            Facts::Gguf(gguf, name) => {
                let key = full(name, key);
                gguf.bad(&key, gguf.metadata.get(&key), expected)
            }
        }
    }

    /// Refuses what the family can't do here: a flag that is set, or a fact that is there.
    ///
    /// # Errors
    /// [`Error::Input`] naming the key.
    pub fn refuse(&self, key: Key, is_asked_for: bool, expected: &str) -> Result<()> {
        if is_asked_for { Err(self.bad(key, expected)) } else { Ok(()) }
    }
}

fn full(architecture: &str, key: Key) -> String {
    format!("{architecture}.{}", key.1)
}
