//! Released: the tables of a release as a session.
//!
//! In: a run's models, or the Parquet files of a release. Out: which tables are written, a session with those that are
//! there, and the promises that they break. Tables of several runs have a first column `run`, which joins every key.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::analysis::Analysis;
use super::contract::{Column, Contract, Kind};
use super::models::built_in;
use super::promises::{self, Violation, quoted};
use super::raw;
use super::runs::RUN;
use super::session::{Resources, Session};
use crate::{Error, Result};

impl Analysis {
    /// Names of the derived tables that `runs` store, a user's own among them.
    ///
    /// # Errors
    /// As [`Analysis::graph`].
    pub(crate) fn stored_tables(&self, runs: &[PathBuf]) -> Result<BTreeSet<String>> {
        let mut names = BTreeSet::new();
        for run in runs {
            let graph = self.graph(run)?;
            let stored = graph.models().iter().filter(|model| model.contract.kind == Kind::Table);
            names.extend(stored.map(|model| model.name.clone()));
        }
        Ok(names)
    }
}

/// A session with tables by name, each of one file or of several parts. Raw tables that are not among them have no rows.
///
/// # Errors
/// A file can't be read, or its columns differ from those of the part before it.
pub(crate) fn open_released(resources: Resources, tables: &[(String, Vec<PathBuf>)]) -> Result<Session> {
    let session = Session::with(resources)?;
    raw::register_empty(&session)?;
    for (name, files) in tables {
        match files.as_slice() {
            [file] => session.register_file(name, file)?,
            parts => {
                let part = |file: &PathBuf| format!("select * from {}", quoted(&file.to_string_lossy()));
                let all = parts.iter().map(part).collect::<Vec<_>>().join(" union all ");
                session.view(name, &all).map_err(Error::table(name))?;
            }
        }
    }
    Ok(session)
}

/// Promises of built-in models that do not hold on the tables of `session`, of which `there` are released.
///
/// # Errors
/// A table can't be read.
pub(crate) fn broken_promises(session: &Session, there: &BTreeSet<String>) -> Result<Vec<Violation>> {
    let mut broken = Vec::new();
    for source in built_in().iter().filter(|source| there.contains(&source.name)) {
        let mut contract = Contract::of(source)?;
        if promises::columns(session, &source.name)?.iter().any(|(column, _)| column == RUN) {
            contract.unique.insert(0, RUN.to_string());
            let doc = "the run, by the name of its folder".to_string();
            contract.columns.insert(RUN.to_string(), Column { doc, not_null: true, ..Column::default() });
        }
        for column in contract.columns.values_mut() {
            // What is not released can't be looked up.
            column.references.take_if(|other| other.split_once('.').is_none_or(|(table, _)| !there.contains(table)));
        }
        broken.extend(promises::check(session, &source.name, &contract)?);
    }
    Ok(broken)
}
