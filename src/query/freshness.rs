//! Freshness: whether a derived table belongs to the raw tables and models of now.
//!
//! In: a run directory and the graph of its models. Out: a fingerprint a model, which its file carries in its metadata.
//! A file with another fingerprint (a killed run that went on, a changed model, a newer program) is not read: its
//! model is computed anew. A fingerprint is made of those of what the model reads, so that one changed model leaves
//! the others fresh.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use parquet::file::metadata::KeyValue;

use super::damage;
use super::graph::{Graph, Model};
use crate::store::files::files_below;
use crate::store::schema::{MEASURED_AGAIN, SCHEMA_VERSION, TABLES};
use crate::{Error, Result, hash};

const INPUTS: &str = "sago.inputs";

/// What derived files say about their origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origins {
    /// Hash of plan.json; None for tables that came by import.
    run_id: Option<String>,
    /// By table and model: a hash over everything that its rows come from.
    inputs: BTreeMap<String, String>,
}

impl Origins {
    /// The origins that files derived now would have; `given` are the tables that stand in for models, by the name
    /// under which a model reads them.
    pub(super) fn of(run: &Path, given: &[(String, PathBuf)], graph: &Graph) -> Result<Origins> {
        let mut inputs = BTreeMap::new();
        for table in TABLES {
            let folder = run.join(table.name);
            let files = if folder.is_dir() { files_below(&folder)? } else { vec![folder.with_extension("parquet")] };
            inputs.insert(table.name.to_string(), of_files(run, &files)?);
        }
        for (name, file) in given {
            inputs.insert(name.clone(), of_files(run, std::slice::from_ref(file))?);
        }
        // A model comes after what it reads.
        for model in graph.models() {
            let of_model = of_model(model, &inputs);
            inputs.insert(model.name.clone(), of_model);
        }
        let plan = run.join("plan.json");
        let run_id = if plan.is_file() { Some(hash::of_file(&plan)?) } else { None };
        Ok(Origins { run_id, inputs })
    }

    /// As key-value metadata of a model's Parquet file.
    pub(super) fn metadata(&self, model: &str) -> Vec<KeyValue> {
        let mut all = vec![KeyValue::new("sago.schema_version".to_string(), SCHEMA_VERSION.to_string())];
        all.extend(self.inputs.get(model).map(|inputs| KeyValue::new(INPUTS.to_string(), inputs.clone())));
        all.extend(self.run_id.iter().map(|id| KeyValue::new("sago.run_id".to_string(), id.clone())));
        all
    }

    /// Whether `file` is there and was derived by `model` from just this.
    pub(super) fn made(&self, model: &str, file: &Path) -> bool {
        let metadata = || {
            let reader = damage::footer(file).ok()?;
            let all = reader.metadata().file_metadata().key_value_metadata()?.clone();
            all.into_iter().find(|kv| kv.key == INPUTS)?.value
        };
        self.inputs.get(model).is_some_and(|inputs| metadata().as_ref() == Some(inputs))
    }
}

/// By names and sizes: reading all of a run would take longer than deriving its tables. Parts that a later measurement
/// replaces may keep their size; they are small and read.
fn of_files(run: &Path, files: &[PathBuf]) -> Result<String> {
    let mut parts: Vec<Vec<u8>> = Vec::new();
    for file in files.iter().filter(|file| file.is_file() && file.extension().is_some_and(|e| e == "parquet")) {
        let size = file.metadata().map_err(Error::io("read", file))?.len();
        let name = file.strip_prefix(run).unwrap_or(file);
        let replaceable = MEASURED_AGAIN.iter().any(|table| name.starts_with(table));
        let content = if replaceable { hash::of_file(file)? } else { String::new() };
        parts.push(format!("{} {size} {content}", name.display()).into_bytes());
    }
    Ok(hash::of_parts(parts.iter().map(Vec::as_slice)))
}

fn of_model(model: &Model, inputs: &BTreeMap<String, String>) -> String {
    let contract = format!("{:?}", model.contract);
    // Functions are a part of what a query says.
    let mut parts: Vec<String> =
        vec![env!("CARGO_PKG_VERSION").to_string(), model.name.clone(), model.sql.clone(), contract];
    for name in &model.reads {
        parts.push(format!("{name} {}", inputs.get(name).map_or("", String::as_str)));
    }
    for file in &model.files {
        // A user's file beside the run is edited now and then, and may keep its size.
        let metadata = Path::new(file).metadata().ok();
        let changed = metadata.as_ref().and_then(|m| m.modified().ok()?.duration_since(UNIX_EPOCH).ok());
        parts.push(format!("{file} {:?} {changed:?}", metadata.map(|m| m.len())));
    }
    hash::of_parts(parts.iter().map(String::as_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_part_of_the_same_size_is_another_origin() {
        let run = tempfile::tempdir().unwrap();
        let graph = Graph::new(&[], &[]).unwrap();
        let origins = || Origins::of(run.path(), &[], &graph).unwrap();
        for table in ["generations", "judgements", "similarities"] {
            let file = run.path().join(table).join("part.parquet");
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, "old").unwrap();
            let before = origins();
            std::fs::write(&file, "new").unwrap();
            assert_eq!(origins() == before, table == "generations", "{table}");
            std::fs::write(&file, "old").unwrap();
            assert_eq!(origins(), before);
        }
    }
}
