//! Manifest: what a complete run holds.
//!
//! In: a finished run directory. Out: manifest.json with counts, failed rows and the checksum of every part.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::run_dir::{RunDir, read_json};
use super::schema::{MEASURED_AGAIN, SCHEMA_VERSION, TABLES, Table};
use super::{files, part, read};
use crate::{Error, Result, hash};

/// Folder of a run for tables that stand in for derived ones: an import knows deltas, not what they came from.
pub const GIVEN: &str = "given";

/// `manifest.json`; its presence says that the run is complete.
#[derive(Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// SHA-256 of plan.json.
    pub run_id: String,
    /// Version of the raw tables' contract.
    pub schema_version: u32,
    /// Version of the program.
    pub version: String,
    /// Commit that the program was built from, where it was built in a repository.
    pub commit: Option<String>,
    /// Machines that worked on the run.
    pub hosts: BTreeSet<String>,
    /// UTC time at which the first unit started.
    pub started: String,
    /// UTC time at which the run was complete.
    pub finished: String,
    /// Rows by raw table, and by `given/NAME` of an import.
    pub rows: BTreeMap<String, u64>,
    /// Rows of `generations` that hold an error.
    pub failed_rows: u64,
    /// Every raw or given Parquet file, by path within the run.
    pub parts: BTreeMap<String, Part>,
    /// Signatures of the scores in `similarities`, by measure. One each; two are a mixture.
    #[serde(default)]
    pub signatures: BTreeMap<String, BTreeSet<String>>,
    /// What was measured again after the run was complete, in order.
    #[serde(default)]
    pub measured_again: Vec<MeasuredAgain>,
}

/// A later measurement that replaced parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasuredAgain {
    /// What: `bertscore`, `metrics`, `judges`.
    pub what: Vec<String>,
    /// UTC time at which it was complete.
    pub finished: String,
    /// Version of the program that measured.
    pub version: String,
    /// Commit that it was built from, where it was built in a repository.
    pub commit: Option<String>,
}

/// One raw Parquet file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of its bytes.
    pub sha256: String,
}

impl Manifest {
    /// Counts and hashes the parts of a run.
    ///
    /// # Errors
    /// A part can't be read.
    pub fn of(run: &RunDir, finished: String) -> Result<Manifest> {
        let mut rows = BTreeMap::new();
        let mut hosts = BTreeSet::new();
        let mut started = None;
        let mut parts = BTreeMap::new();
        let mut failed_rows = 0;
        for table in TABLES {
            let mut count = 0;
            for file in &raw_files(run.path(), table)? {
                let summary = part::summary(table.name, file)?;
                count += summary.rows;
                failed_rows += summary.failed;
                hosts.extend(summary.host);
                started = [started, summary.started].into_iter().flatten().min();
                parts.insert(name_of(run.path(), file), Part::of(file)?);
            }
            rows.insert(table.name.to_string(), count);
        }
        for file in &given_files(run.path())? {
            let name = name_of(run.path(), file);
            let table = name.trim_end_matches(".parquet").to_string();
            rows.insert(table.clone(), part::summary(&table, file)?.rows);
            parts.insert(name, Part::of(file)?);
        }
        Ok(Manifest {
            run_id: run.run_id().to_string(),
            schema_version: SCHEMA_VERSION,
            version: env!("CARGO_PKG_VERSION").to_string(),
            commit: option_env!("SAGO_COMMIT").map(str::to_string),
            hosts,
            started: started.unwrap_or_else(|| finished.clone()),
            finished,
            rows,
            failed_rows,
            parts,
            signatures: signatures(run.path())?,
            measured_again: Vec::new(),
        })
    }

    /// The manifest of the run after `what` was measured again: only parts that can be replaced are looked at.
    ///
    /// # Errors
    /// A part can't be read.
    pub fn measured_again(mut self, run: &Path, what: Vec<String>, finished: String) -> Result<Manifest> {
        for table in TABLES.iter().filter(|t| MEASURED_AGAIN.contains(&t.name)) {
            let mut count = 0;
            for file in &raw_files(run, table)? {
                count += part::summary(table.name, file)?.rows;
                self.parts.insert(name_of(run, file), Part::of(file)?);
            }
            self.rows.insert(table.name.to_string(), count);
        }
        self.signatures = signatures(run)?;
        self.measured_again.push(MeasuredAgain {
            what,
            finished,
            version: env!("CARGO_PKG_VERSION").to_string(),
            commit: option_env!("SAGO_COMMIT").map(str::to_string),
        });
        Ok(self)
    }

    /// Reads manifest.json.
    ///
    /// # Errors
    /// It can't be read or is damaged.
    pub fn read(run: &Path) -> Result<Manifest> {
        let path = run.join("manifest.json");
        serde_json::from_value(read_json(&path)?)
            .map_err(|e| Error::input(format!("{} is damaged: {e}", path.display())).file(&path).into())
    }

    /// Writes manifest.json.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn write(&self, run: &RunDir) -> Result<()> {
        files::write_json(&run.path().join("manifest.json"), self)
    }
}

/// The given tables that are there.
pub(super) fn given_files(run: &Path) -> Result<Vec<PathBuf>> {
    let folder = run.join(GIVEN);
    let mut found = if folder.is_dir() { files::files_below(&folder)? } else { Vec::new() };
    found.retain(|f| f.extension().is_some_and(|e| e == "parquet"));
    Ok(found)
}

/// The Parquet files of a raw table that are there.
pub(crate) fn raw_files(run: &Path, table: &Table) -> Result<Vec<PathBuf>> {
    let place = run.join(if table.partitioned { table.name.to_string() } else { format!("{}.parquet", table.name) });
    let mut found = if place.is_dir() { files::files_below(&place)? } else { vec![place] };
    found.retain(|f| f.is_file() && f.extension().is_some_and(|e| e == "parquet"));
    Ok(found)
}

/// The signatures in `similarities`, by measure.
fn signatures(run: &Path) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let all = signatures_or_none(run)?;
    Ok(all.into_iter().map(|(measure, found)| (measure.to_string(), found.into_iter().flatten().collect())).collect())
}

/// The signatures in `similarities`, by measure; None among them where some rows are without a score.
pub(super) fn signatures_or_none(run: &Path) -> Result<BTreeMap<&'static str, BTreeSet<Option<String>>>> {
    let mut all: BTreeMap<&str, BTreeSet<Option<String>>> = BTreeMap::new();
    let Some(table) = Table::named("similarities") else { return Ok(all) };
    let columns = SIGNATURES.map(|(_, column)| column);
    for file in raw_files(run, table)? {
        let batch = read::columns(&file, table, &columns)?;
        for (measure, column) in SIGNATURES {
            let known = all.entry(measure).or_default();
            let mut last = None;
            for found in read::texts(&batch, column)? {
                // A part has one signature, many times.
                if last.replace(found) != Some(found) {
                    known.insert(found.map(str::to_string));
                }
            }
        }
    }
    Ok(all)
}

/// Measures of `similarities` with the columns of their signatures.
const SIGNATURES: [(&str, &str); 4] = [
    ("bleu", "bleu_signature"),
    ("bleu_effective_order", "bleu_effective_order_signature"),
    ("chrf", "chrf_signature"),
    ("bertscore", "bertscore_signature"),
];

/// Path of a file within its run.
pub(super) fn name_of(run: &Path, file: &Path) -> String {
    file.strip_prefix(run).unwrap_or(file).to_string_lossy().into_owned()
}

impl Part {
    /// Size and hash of a file.
    ///
    /// # Errors
    /// It can't be read.
    pub fn of(file: &Path) -> Result<Part> {
        let bytes = file.metadata().map_err(Error::io("read", file))?.len();
        Ok(Part { bytes, sha256: hash::of_file(file)? })
    }
}
