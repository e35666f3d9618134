//! Import: other people's files become a run, with the same tables as one that was measured here.
//!
//! In: files in one of three [`Layout`]s. Out: a complete run directory: plan, variants, models, prompts where they are
//! known, and either raw tables (responses) or `given/deltas.parquet`. What the files do not say is NULL, or no row.

mod columns;
mod deltas;
mod gathered;
mod given;
mod lm_eval;
mod names;
mod published;
mod raw;
mod sample;
mod wording;
mod write;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::datasets::table::name;
use crate::{Error, Result};

/// How the files are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// CSV files of the published study: a row a wording, a column an axis. Either one file a style (`spacing.csv`,
    /// `letter_case.csv`, ...) of one model and data set, or a long file with columns model, dataset and style.
    Published,
    /// `samples_*.jsonl` of lm-evaluation-harness: an object a document. A file is one wording of its documents.
    LmEval,
    /// A long table of deltas: a row a model, data set, prompt, wording and axis.
    Deltas,
}

/// What the confidence columns of published files hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Scores of the baseline's response (teacher forcing): axes prob and ent.
    Forced,
    /// Scores of the tokens that the model generated itself: axes prob_generated and ent_generated. The study's scripts
    /// write this probability as baseline minus wording; the import turns it round.
    Generated,
}

/// Which responses of lm-evaluation-harness are taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Responses {
    /// What the model wrote.
    #[default]
    Raw,
    /// What a filter of the task made of it.
    Filtered,
}

/// One file or folder, with what is said about it beside its content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Source {
    /// The file, or a folder of such files.
    pub path: PathBuf,
    /// Name of the model whose rows it holds.
    pub model: Option<String>,
    /// Name of the data set.
    pub dataset: Option<String>,
    /// variant_id of the wording (lm-eval); `baseline` for the prompts themselves.
    pub variant: Option<String>,
}

/// What is imported, and how it is read.
#[derive(Debug, Clone)]
pub struct Import {
    /// How the files are laid out.
    pub layout: Layout,
    /// The files.
    pub sources: Vec<Source>,
    /// Model of the sources that name none.
    pub model: Option<String>,
    /// Data set of the sources that name none.
    pub dataset: Option<String>,
    /// The files' names of columns, by the name that they have here.
    pub columns: BTreeMap<String, String>,
    /// What confidence columns hold; None: told by the column's name, `entropy_shift` means generated.
    pub confidence: Option<Confidence>,
    /// Whether baselines that the files leave out are added, with a delta of 0.
    pub add_baselines: bool,
    /// Filter of lm-eval whose rows are read; None: the first that a file has.
    pub filter: Option<String>,
    /// Which responses are read.
    pub responses: Responses,
}

impl Import {
    /// An import of `sources` without further options.
    pub fn new(layout: Layout, sources: Vec<Source>) -> Import {
        Import {
            layout,
            sources,
            model: None,
            dataset: None,
            columns: BTreeMap::new(),
            confidence: None,
            add_baselines: false,
            filter: None,
            responses: Responses::Raw,
        }
    }

    /// Reads the files and writes the run directory `out`, which must be new, empty, or hold this same import.
    /// Nothing is written before everything has been read, nor where the import is there whole: a note says so.
    ///
    /// # Errors
    /// An input error that names file, line and column for whatever can't be used: a missing column, a text in a column
    /// of numbers, an unknown style or axis, a key that stands twice (both lines), wordings without a baseline. The
    /// import is there, but damaged. Errors of writing.
    pub fn carry_out(&self, out: &Path) -> Result<Imported> {
        if self.sources.is_empty() {
            return Err(Error::input("there is nothing to import").fix("name the files").into());
        }
        match self.layout {
            Layout::Published => given::write(self, published::read(self)?, out),
            Layout::Deltas => given::write(self, deltas::read(self)?, out),
            Layout::LmEval => raw::write(self, lm_eval::read(self)?, out),
        }
    }

    /// The options that determine rows, for plan.json.
    fn options(&self) -> serde_json::Value {
        serde_json::json!({
            "model": self.model,
            "dataset": self.dataset,
            "columns": self.columns,
            "confidence": self.confidence,
            "add_baselines": self.add_baselines,
            "filter": self.filter,
            "responses": self.responses,
        })
    }
}

/// What came of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// Rows written, by table.
    pub rows: BTreeMap<String, u64>,
    /// What the user should know, a sentence each.
    pub notes: Vec<String>,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct ReadFile {
    /// Its name without folders.
    file: String,
    sha256: String,
    rows: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dataset: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<String>,
}

/// The files that a source stands for: itself, or those in its folder that `fits` accepts, sorted.
fn files(path: &Path, wanted: &str, fits: &dyn Fn(&str) -> bool) -> Result<Vec<PathBuf>> {
    if !path.metadata().map_err(Error::io("open", path))?.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut all = crate::store::files::files_below(path)?;
    all.retain(|file| file.file_name().and_then(|n| n.to_str()).is_some_and(fits));
    if all.is_empty() {
        return Err(Error::input(format!("{} holds no file to import", name(path))).file(path).expected(wanted).into());
    }
    Ok(all)
}
