//! Manifest: what a complete run holds.
//!
//! In: a finished run directory. Out: manifest.json with counts, failed rows and the checksum of every part.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::run_dir::{RunDir, read_json};
use super::schema::{SCHEMA_VERSION, TABLES, Table};
use super::{files, part};
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
}

/// One raw Parquet file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of its bytes.
    pub sha256: String,
}

impl Part {
    fn of(file: &Path) -> Result<Part> {
        let bytes = file.metadata().map_err(Error::io("read", file))?.len();
        Ok(Part { bytes, sha256: hash::of_file(file)? })
    }
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
                parts.insert(name_in(run.path(), file), Part::of(file)?);
            }
            rows.insert(table.name.to_string(), count);
        }
        for file in &given_files(run.path())? {
            let name = name_in(run.path(), file);
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
        })
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

/// A file's path within the run.
fn name_in(run: &Path, file: &Path) -> String {
    file.strip_prefix(run).unwrap_or(file).to_string_lossy().into_owned()
}

/// The given tables that are there.
fn given_files(run: &Path) -> Result<Vec<PathBuf>> {
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

/// Compares the raw files of a complete run with its manifest, by name and size; does nothing for a run without one.
///
/// # Errors
/// A file is missing, is of another size, or is not of the run: the message names it and says what to do.
pub fn check_parts(run: &Path) -> Result<()> {
    if !run.join("manifest.json").exists() {
        return Ok(());
    }
    let manifest = Manifest::read(run)?;
    for (name, part) in &manifest.parts {
        let file = run.join(name);
        match file.metadata() {
            Ok(there) if there.len() == part.bytes => {}
            Ok(there) => return damaged(&file, &format!("has {} bytes, not {}", there.len(), part.bytes)),
            Err(_) => return damaged(&file, "is missing"),
        }
    }
    let mut all = given_files(run)?;
    for table in TABLES {
        all.extend(raw_files(run, table)?);
    }
    for file in all {
        if !manifest.parts.contains_key(&name_in(run, &file)) {
            return damaged(&file, "is not of this run");
        }
    }
    Ok(())
}

/// Compares a complete run with its manifest byte by byte: plan.json by the run's id, every raw file by size and
/// SHA-256. Gives the number of raw files; None for a run without a manifest.
///
/// # Errors
/// As [`check_parts`]; a file's bytes are others than those the manifest was made of.
pub fn check_sums(run: &Path) -> Result<Option<usize>> {
    if !run.join("manifest.json").exists() {
        return Ok(None);
    }
    check_parts(run)?;
    let manifest = Manifest::read(run)?;
    let plan = run.join("plan.json");
    if hash::of_file(&plan)? != manifest.run_id {
        return Err(Error::input(format!("{} is not the plan that the manifest is of", plan.display()))
            .file(&plan)
            .expected(format!("SHA-256 {}", manifest.run_id))
            .into());
    }
    for (name, part) in &manifest.parts {
        let file = run.join(name);
        if hash::of_file(&file)? != part.sha256 {
            return damaged(&file, "has other bytes than the manifest says (SHA-256)");
        }
    }
    Ok(Some(manifest.parts.len()))
}

fn damaged<T>(file: &Path, what: &str) -> Result<T> {
    let error = Error::input(format!("the run is damaged: {} {what}", file.display())).file(file);
    Err(error
        .fix("delete that file, if it is there, and manifest.json; the command that made the run makes it again")
        .into())
}
