//! Manifest: what a complete run holds.
//!
//! In: a finished run directory. Out: manifest.json with counts, failed rows and the checksum of every part.

use std::collections::BTreeMap;

use serde::Serialize;

use super::files;
use super::run_dir::RunDir;
use super::schema::{SCHEMA_VERSION, TABLES};
use crate::{Result, hash};

/// `manifest.json`; its presence says that the run is complete.
#[derive(Debug, Serialize)]
pub struct Manifest {
    /// SHA-256 of plan.json.
    pub run_id: String,
    /// Version of the raw tables' contract.
    pub schema_version: u32,
    /// Version of the program.
    pub version: &'static str,
    /// Commit that the program was built from, where it was built in a repository.
    pub commit: Option<&'static str>,
    /// Machine that finished the run.
    pub host: String,
    /// UTC time at which the last process on this run started.
    pub started: String,
    /// UTC time at which the run was complete.
    pub finished: String,
    /// Rows by raw table.
    pub rows: BTreeMap<&'static str, u64>,
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
    pub fn of(run: &RunDir, host: String, started: String, finished: String) -> Result<Manifest> {
        let mut rows = BTreeMap::new();
        let mut parts = BTreeMap::new();
        let mut failed_rows = 0;
        for table in TABLES {
            let place =
                run.path().join(if table.partitioned { table.name.into() } else { format!("{}.parquet", table.name) });
            let found = if place.is_dir() { files::files_below(&place)? } else { vec![place] };
            let mut count = 0;
            for file in found.iter().filter(|f| f.is_file()) {
                let (all, failed) = super::part::count(table, file)?;
                count += all;
                failed_rows += failed;
                let name = file.strip_prefix(run.path()).unwrap_or(file).to_string_lossy().into_owned();
                parts.insert(name, hash::of_file(file)?);
            }
            rows.insert(table.name, count);
        }
        Ok(Manifest {
            run_id: run.run_id().to_string(),
            schema_version: SCHEMA_VERSION,
            version: env!("CARGO_PKG_VERSION"),
            commit: option_env!("SAGO_COMMIT"),
            host,
            started,
            finished,
            rows,
            failed_rows,
            parts,
        })
    }

    /// Writes manifest.json.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn write(&self, run: &RunDir) -> Result<()> {
        files::write_json(&run.path().join("manifest.json"), self)
    }
}
