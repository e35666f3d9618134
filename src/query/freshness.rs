//! Freshness: whether a derived table belongs to the raw tables and models of now.
//!
//! In: a run directory and models. Out: a fingerprint that every derived file carries in its metadata.
//! A file with another fingerprint (a killed run that went on, a newer program) is not read: its model is computed anew.

use std::path::Path;

use parquet::file::metadata::KeyValue;

use super::damage;
use super::models::Source;
use crate::store::files::files_below;
use crate::store::schema::{SCHEMA_VERSION, TABLES};
use crate::{Error, Result, hash};

const INPUTS: &str = "sago.inputs";

/// What a derived file says about its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    /// Hash of plan.json; None for tables that came by import.
    run_id: Option<String>,
    /// Hash over names and sizes of all raw files and over the text of all models.
    inputs: String,
}

impl Origin {
    /// The origin that files derived now would have; `given` is the folder of tables that stand in for models.
    pub(super) fn of(run: &Path, given: &Path, models: &[Source]) -> Result<Origin> {
        let mut parts: Vec<Vec<u8>> = Vec::new();
        let raw = TABLES.iter().map(|t| run.join(t.name)).chain([given.to_path_buf()]);
        let folders = raw.filter(|folder| folder.is_dir()).map(|folder| files_below(&folder));
        let single = TABLES.iter().map(|t| run.join(t.name).with_extension("parquet")).filter(|file| file.is_file());
        for file in folders.collect::<Result<Vec<_>>>()?.into_iter().flatten().chain(single) {
            if file.extension().is_some_and(|e| e == "parquet") {
                let size = file.metadata().map_err(Error::io("read", &file))?.len();
                let name = file.strip_prefix(run).unwrap_or(&file);
                parts.push(format!("{} {size}", name.display()).into_bytes());
            }
        }
        for model in models {
            parts.extend([&model.name, &model.sql, &model.contract].map(|text| text.clone().into_bytes()));
        }
        let plan = run.join("plan.json");
        let run_id = if plan.is_file() { Some(hash::of_file(&plan)?) } else { None };
        Ok(Origin { run_id, inputs: hash::of_parts(parts.iter().map(Vec::as_slice)) })
    }

    /// As key-value metadata of a Parquet file.
    pub(super) fn metadata(&self) -> Vec<KeyValue> {
        let mut all = vec![
            KeyValue::new("sago.schema_version".to_string(), SCHEMA_VERSION.to_string()),
            KeyValue::new(INPUTS.to_string(), self.inputs.clone()),
        ];
        all.extend(self.run_id.iter().map(|id| KeyValue::new("sago.run_id".to_string(), id.clone())));
        all
    }

    /// Whether `file` is there and was derived from just this.
    pub(super) fn made(&self, file: &Path) -> bool {
        let metadata = || {
            let reader = damage::footer(file).ok()?;
            let all = reader.metadata().file_metadata().key_value_metadata()?.clone();
            all.into_iter().find(|kv| kv.key == INPUTS)?.value
        };
        metadata().as_deref() == Some(&self.inputs)
    }
}
