//! Pieces: where each token of a response begins and ends in its text.
//!
//! In: the model's GGUF file or folder, from which the tokenizer is read, and token ids. Out: lengths of the tokens' texts.
//! A run keeps token ids, not the tokens' texts; the file must have the tokenizer that the run names.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{Float32Type, Int32Type};
use serde_json::{Value, json};

use super::columns::rounded;
use crate::model::Tokenizer;
use crate::query::{Session, texts};
use crate::{Error, Result};

/// The tokenizer of one model of the run, as an option gives it: MODEL=PATH.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenizerFile {
    /// Name of the model in the run.
    pub model: String,
    /// A GGUF file with its tokenizer, or a folder with tokenizer.json.
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
                .expected("MODEL=PATH, the model's name in the run and its GGUF file or folder")
                .into()),
        }
    }
}

/// Tokenizers that were opened, each of the models of its name whose tokenizer it is.
#[derive(Debug, Default)]
pub(super) struct Tokenizers(Vec<(String, Tokenizer)>);

impl Tokenizers {
    /// Opens what was given for the models of `runs`. Of runs whose models share a name each may have its own file.
    ///
    /// # Errors
    /// A file can't be read, no run has a model of the name, or none of those has this tokenizer.
    pub(super) fn open(given: &[TokenizerFile], runs: &[Session]) -> Result<Tokenizers> {
        if given.is_empty() {
            return Ok(Tokenizers::default());
        }
        let mut known = Vec::new();
        for run in runs {
            known.extend(models(run)?);
        }
        let mut opened = Vec::new();
        for TokenizerFile { model, file } in given {
            let of_model: Vec<&str> =
                known.iter().filter(|(name, _)| name == model).map(|(_, sha256)| sha256.as_str()).collect();
            if of_model.is_empty() {
                let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
                return Err(Error::input(format!("there is no model {model} in the run"))
                    .key("--tokenizer")
                    .found(model)
                    .expected(names.join(", "))
                    .into());
            }
            if of_model.iter().all(|sha256| sha256.is_empty()) {
                return Err(Error::input(format!("the run does not say which tokenizer {model} has"))
                    .key("--tokenizer")
                    .fix("leave the option out; the page then says that it shows no tokens")
                    .into());
            }
            let tokenizer = Tokenizer::open(file)?;
            if !of_model.contains(&tokenizer.sha256.as_str()) {
                return Err(Error::input(format!("this is not the tokenizer of {model}"))
                    .file(file)
                    .key("--tokenizer")
                    .found(format!("SHA-256 {}", tokenizer.sha256))
                    .expected(format!("SHA-256 {}, as the table models says", of_model.join(" or ")))
                    .into());
            }
            opened.push((model.clone(), tokenizer));
        }
        Ok(Tokenizers(opened))
    }

    /// Those of the models of one run, by name.
    ///
    /// # Errors
    /// As [`Session::query`].
    pub(super) fn of(&self, run: &Session) -> Result<BTreeMap<String, &Tokenizer>> {
        if self.0.is_empty() {
            return Ok(BTreeMap::new());
        }
        let fits = |(name, sha256): (String, String)| {
            let (_, tokenizer) = self.0.iter().find(|(model, t)| *model == name && t.sha256 == sha256)?;
            Some((name, tokenizer))
        };
        Ok(models(run)?.into_iter().filter_map(fits).collect())
    }
}

/// The models of a run with the SHA-256 of their tokenizer; empty where it is not known.
fn models(run: &Session) -> Result<Vec<(String, String)>> {
    let rows = run.query("select model, coalesce(tokenizer_sha256, '') from models order by model")?;
    Ok(texts(&rows, 0)?.into_iter().zip(texts(&rows, 1)?).collect())
}

/// `[lengths, log-probabilities]` of each response; NULL where they are not known.
pub(super) fn shades(tokenizer: &Tokenizer, batch: &RecordBatch) -> Result<Vec<Value>> {
    let column = |name: &str| {
        let column = batch.column_by_name(name);
        column.ok_or_else(|| Error::Query(format!("the responses have no column {name}")))
    };
    let (response, ids, logprobs) = (column("response")?, column("response_token_ids")?, column("logprobs")?);
    let (Some(response), Some(ids), Some(logprobs)) =
        (response.as_string_opt::<i32>(), ids.as_list_opt::<i32>(), logprobs.as_list_opt::<i32>())
    else {
        return Err(Error::Query("responses or their tokens have another type than a run's".to_string()));
    };
    let mut done: HashMap<(&str, Vec<i32>), Option<Vec<usize>>> = HashMap::new();
    let mut all = Vec::with_capacity(batch.num_rows());
    for row in 0..batch.num_rows() {
        if response.is_null(row) || ids.is_null(row) || logprobs.is_null(row) {
            all.push(Value::Null);
            continue;
        }
        let ids = ids.value(row).as_primitive_opt::<Int32Type>().map(|ids| ids.values().to_vec()).unwrap_or_default();
        let text = response.value(row);
        let known = match done.get(&(text, ids.clone())) {
            Some(known) => known.clone(),
            None => {
                let tokens: Vec<u32> = ids.iter().filter_map(|&id| u32::try_from(id).ok()).collect();
                let found = lengths(tokenizer, &tokens, text)?;
                done.entry((text, ids)).or_insert(found).clone()
            }
        };
        let logprobs = logprobs.value(row);
        let logprobs = logprobs.as_primitive_opt::<Float32Type>();
        all.push(match (known, logprobs) {
            (Some(lengths), Some(logprobs)) if lengths.len() == logprobs.len() => {
                let short = |x: Option<f32>| x.map_or(Value::Null, |x| rounded((f64::from(x) * 1e3).round() / 1e3));
                json!([lengths, logprobs.iter().map(short).collect::<Vec<_>>()])
            }
            _ => Value::Null,
        });
    }
    Ok(all)
}

/// Lengths of the tokens' texts in UTF-16 units, as JavaScript counts; 0 for a token that is not in the text or only
/// begins a character. None where the tokens do not add up to `text`.
///
/// # Errors
/// As [`Tokenizer::decode`].
fn lengths(tokenizer: &Tokenizer, ids: &[u32], text: &str) -> Result<Option<Vec<usize>>> {
    let units = |text: &str| text.encode_utf16().count();
    let mut lengths = Vec::with_capacity(ids.len());
    // Tokens and text up to here are settled; `begun` units of what follows are given to tokens.
    let (mut from, mut rest, mut begun) = (0, text, 0);
    for end in 1..=ids.len() {
        let piece = ids.get(from..end).unwrap_or_default();
        // Only the first piece of a text can lose the space before its first word.
        let piece = if rest.len() == text.len() { tokenizer.decode(piece)? } else { tokenizer.decode_rest(piece)? };
        // A character that is cut ends in U+FFFD until its last token is there.
        let is_cut = piece.ends_with('\u{fffd}') && end < ids.len();
        let whole = if is_cut { piece.trim_end_matches('\u{fffd}') } else { piece.as_str() };
        let Some(after) = rest.strip_prefix(whole) else { return Ok(None) };
        lengths.push(units(whole).saturating_sub(begun));
        if is_cut {
            begun = units(whole);
        } else {
            (from, rest, begun) = (end, after, 0);
        }
    }
    Ok(rest.is_empty().then_some(lengths))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_names_model_and_file() {
        let given: TokenizerFile = "a=b/c=d.gguf".parse().unwrap();
        assert_eq!((given.model.as_str(), given.file.to_str().unwrap()), ("a", "b/c=d.gguf"));
        for wrong in ["", "a", "=b", "a="] {
            assert!(wrong.parse::<TokenizerFile>().unwrap_err().to_string().contains("MODEL=PATH"), "{wrong}");
        }
    }
}
