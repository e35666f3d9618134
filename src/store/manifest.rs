//! Manifest: what a complete run holds.
//!
//! In: a finished run directory. Out: manifest.json with counts, failed rows and the checksum of every part.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::run_dir::{RunDir, read_json};
use super::schema::{SCHEMA_VERSION, TABLES};
use super::{files, part};
use crate::{Error, Result, hash};

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
    /// Rows by raw table.
    pub rows: BTreeMap<String, u64>,
    /// Rows of `generations` that hold an error.
    pub failed_rows: u64,
    /// SHA-256 of every raw Parquet file, by path within the run.
    pub parts: BTreeMap<String, String>,
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
            let place =
                run.path().join(if table.partitioned { table.name.into() } else { format!("{}.parquet", table.name) });
            let found = if place.is_dir() { files::files_below(&place)? } else { vec![place] };
            let mut count = 0;
            for file in found.iter().filter(|f| f.is_file()) {
                let summary = part::summary(table, file)?;
                count += summary.rows;
                failed_rows += summary.failed;
                hosts.extend(summary.host);
                started = [started, summary.started].into_iter().flatten().min();
                let name = file.strip_prefix(run.path()).unwrap_or(file).to_string_lossy().into_owned();
                parts.insert(name, hash::of_file(file)?);
            }
            rows.insert(table.name.to_string(), count);
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
    pub fn read(run: &RunDir) -> Result<Manifest> {
        let path = run.path().join("manifest.json");
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
