//! Wordings: what a complete run knows of the wordings that it asked.
//!
//! In: variants.parquet. Out: subtype, strength and baseline of a wording, by data set, prompt and variant.

use std::collections::HashMap;
use std::path::Path;

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
