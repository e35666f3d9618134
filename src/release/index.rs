//! Index: what a release holds, as the program that wrote it says.
//!
//! In: the runs and what was written of them. Out: release.json, against which `sago verify` holds the files.
//! No machine and no folder is in it, and of times only those at which the runs were complete: the same runs give the
//! same bytes. It has the contracts of its tables: a later program has others, and they are not this release's.

use std::path::{Path, PathBuf};

use arrow::datatypes::{Field, Schema, SchemaRef};
use serde::{Deserialize, Serialize};

use super::Options;
use super::sources::Sources;
use super::tables::FOLDER;
use crate::query::{Contract, type_named};
use crate::store::run_dir::read_json;
use crate::{Error, Result};

/// Name of the file in a release.
pub(super) const FILE: &str = "release.json";
/// Version of the layout of a release.
const FORMAT: u32 = 1;

/// `release.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Index {
    /// Version of the layout of a release.
    pub format: u32,
    /// Name for people.
    pub title: String,
    /// Version of the program that wrote it.
    pub version: String,
    /// The runs, in the order in which they were given.
    pub runs: Vec<IndexedRun>,
    /// Data sets whose texts are not in it.
    pub texts_left_out: Vec<TextsLeftOut>,
    /// The long tables, those without rows among them.
    pub tables: Vec<IndexedTable>,
    /// The wide matrices.
    pub matrices: Vec<IndexedMatrix>,
}

/// A run of a release.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct IndexedRun {
    /// What it is called in the column `run`; None where there is but one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// SHA-256 of its plan.
    pub run_id: String,
    /// Version of the program that made it.
    pub version: String,
    /// Commit of the program that made it, where that is known.
    pub commit: Option<String>,
    /// UTC time at which it was complete.
    pub finished: String,
}

/// A data set whose texts are not in a release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextsLeftOut {
    /// The run, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The data set.
    pub dataset: String,
    /// Why, in words.
    pub why: String,
}

/// A long table.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct IndexedTable {
    /// Name, as in a run.
    pub name: String,
    /// Its rows.
    pub rows: u64,
    /// Its files within the release; none where it has no rows.
    pub files: Vec<String>,
    /// The columns, in order.
    pub columns: Vec<IndexedColumn>,
    /// What its rows keep to: key, bounds, relations; the meaning of its columns.
    pub contract: Contract,
}

/// A column of a long table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexedColumn {
    /// Name.
    pub name: String,
    /// Type, as SQL names it.
    #[serde(rename = "type")]
    pub kind: String,
}

/// A wide matrix of deltas: a row a prompt, a column a wording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexedMatrix {
    /// Its file within the release.
    pub file: String,
    /// The run, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The model.
    pub model: String,
    /// The axis.
    pub axis: String,
    /// `raw` or `fixed`.
    pub scale: String,
    /// Prompts.
    pub rows: usize,
    /// Wordings.
    pub variants: usize,
    /// Cells that hold a delta.
    pub values: usize,
}

impl IndexedTable {
    /// The columns as they are read.
    pub(super) fn schema(&self) -> SchemaRef {
        let field = |column: &IndexedColumn| Field::new(&column.name, type_named(&column.kind), true);
        Schema::new(self.columns.iter().map(field).collect::<Vec<_>>()).into()
    }

    /// The one path that names all its files.
    pub(super) fn pattern(&self) -> String {
        match self.files.as_slice() {
            [only] => only.clone(),
            _ => format!("{FOLDER}/{}/*.parquet", self.name),
        }
    }

    /// Its files, with the folder that the release is in.
    pub(super) fn paths(&self, folder: &Path) -> Vec<PathBuf> {
        self.files.iter().map(|name| folder.join(name)).collect()
    }
}

impl Index {
    /// The index of a release without files yet.
    pub(super) fn of(sources: &Sources, options: &Options) -> Index {
        let run = |run: &super::sources::RunSource| IndexedRun {
            name: sources.name_of(run),
            run_id: run.manifest.run_id.clone(),
            version: run.manifest.version.clone(),
            commit: run.manifest.commit.clone(),
            finished: run.manifest.finished.clone(),
        };
        Index {
            format: FORMAT,
            title: options.title.clone().unwrap_or_else(|| sources.title()),
            version: env!("CARGO_PKG_VERSION").to_string(),
            runs: sources.runs.iter().map(run).collect(),
            texts_left_out: sources.texts_left_out(),
            tables: Vec::new(),
            matrices: Vec::new(),
        }
    }

    /// Whether there is a table of this name with rows.
    pub(super) fn has(&self, name: &str) -> bool {
        self.tables.iter().any(|table| table.name == name && table.rows > 0)
    }

    /// Reads release.json.
    ///
    /// # Errors
    /// It is missing or damaged, or of a later version of the layout.
    pub fn read(folder: &Path) -> Result<Index> {
        let path = folder.join(FILE);
        let damaged = |e: serde_json::Error| Error::input(format!("{} is damaged: {e}", path.display())).file(&path);
        let index: Index = serde_json::from_value(read_json(&path)?).map_err(damaged)?;
        if index.format != FORMAT {
            return Err(Error::input(format!("{} is of another version of the layout", path.display()))
                .found(index.format.to_string())
                .expected(FORMAT.to_string())
                .fix("check it with the version of sago that made it")
                .into());
        }
        Ok(index)
    }
}
