//! Wordings: what a complete run knows of the wordings that it asked.
//!
//! In: variants.parquet and parts of generations. Out: subtype, strength and baseline of a wording, by data set, prompt and
//! variant, and what a model answered to the baselines.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use arrow::array::Array;

use crate::store::read;
use crate::store::schema::Table;
use crate::{Error, Result};

/// What is known of a wording.
pub(super) struct Wording {
    pub(super) subtype: String,
    pub(super) strength: Option<f64>,
    pub(super) is_baseline: bool,
    pub(super) baseline_id: String,
}

/// The wordings of a run, by data set, prompt and variant.
pub(super) struct Wordings(HashMap<(String, String, String), Wording>);

impl Wordings {
    /// Reads variants.parquet.
    pub(super) fn read(path: &Path) -> Result<Wordings> {
        let table = Table::named("variants").ok_or_else(|| Error::table("variants")("not one of the raw tables"))?;
        let names = ["dataset", "prompt_id", "variant_id", "subtype", "strength", "is_baseline", "baseline_id"];
        let batch = read::columns(path, table, &names)?;
        let text = |name| read::texts(&batch, name);
        let (dataset, prompt, variant) = (text("dataset")?, text("prompt_id")?, text("variant_id")?);
        let (subtype, baseline) = (text("subtype")?, text("baseline_id")?);
        let (strength, is_baseline) = (read::doubles(&batch, "strength")?, read::flags(&batch, "is_baseline")?);
        let wording = |i: usize| {
            let key = (dataset.value(i).to_string(), prompt.value(i).to_string(), variant.value(i).to_string());
            let wording = Wording {
                subtype: subtype.value(i).to_string(),
                strength: strength.is_valid(i).then(|| strength.value(i)),
                is_baseline: is_baseline.value(i),
                baseline_id: baseline.value(i).to_string(),
            };
            (key, wording)
        };
        Ok(Wordings((0..batch.num_rows()).map(wording).collect()))
    }

    pub(super) fn get(&self, dataset: &str, prompt: &str, variant: &str) -> Result<&Wording> {
        let found = self.0.get(&(dataset.to_string(), prompt.to_string(), variant.to_string()));
        found.ok_or_else(|| Error::table("variants")(format!("there is no {variant} of prompt {prompt} in {dataset}")))
    }
}

/// The texts of the run's prompts; none where there is no such table.
///
/// # Errors
/// prompts.parquet can't be read.
pub fn prompt_texts(run: &Path) -> Result<Vec<String>> {
    let table = Table::named("prompts").ok_or_else(|| Error::table("prompts")("not one of the raw tables"))?;
    let path = run.join("prompts.parquet");
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let batch = read::columns(&path, table, &["text"])?;
    Ok(read::texts(&batch, "text")?.iter().flatten().map(str::to_string).collect())
}

/// What one model answered to the baselines of one data set, repeat 0.
pub(super) struct Baselines {
    /// Name of the data set.
    pub(super) dataset: String,
    /// By prompt and variant.
    responses: HashMap<(String, String), String>,
}

impl Baselines {
    /// Reads all parts of `generations` of one model and data set: a prompt's wordings may lie in two of them.
    pub(super) fn read(parts: &[PathBuf], wordings: &Wordings) -> Result<Baselines> {
        let unplaced = |part: &Path| {
            Error::table("generations")(format!("{} does not lie in a folder dataset=NAME", part.display()))
        };
        let table =
            Table::named("generations").ok_or_else(|| Error::table("generations")("not one of the raw tables"))?;
        let mut read_so_far = Baselines { dataset: String::new(), responses: HashMap::new() };
        for part in parts {
            let folder = part.parent().and_then(Path::file_name).and_then(|name| name.to_str());
            let dataset = folder.and_then(|name| name.strip_prefix("dataset=")).ok_or_else(|| unplaced(part))?;
            read_so_far.dataset = dataset.to_string();
            let batch = read::columns(part, table, &["prompt_id", "variant_id", "repeat", "response"])?;
            let (prompts, variants) = (read::texts(&batch, "prompt_id")?, read::texts(&batch, "variant_id")?);
            let (repeats, responses) = (read::ints(&batch, "repeat")?, read::texts(&batch, "response")?);
            for i in (0..batch.num_rows()).filter(|&i| repeats.value(i) == 0 && responses.is_valid(i)) {
                let (prompt, variant) = (prompts.value(i), variants.value(i));
                if wordings.get(dataset, prompt, variant)?.is_baseline {
                    let key = (prompt.to_string(), variant.to_string());
                    read_so_far.responses.insert(key, responses.value(i).to_string());
                }
            }
        }
        Ok(read_so_far)
    }

    /// What was answered to a prompt's baseline; None where that has no response.
    pub(super) fn response(&self, prompt: &str, baseline_id: &str) -> Option<&str> {
        self.responses.get(&(prompt.to_string(), baseline_id.to_string())).map(String::as_str)
    }
}
