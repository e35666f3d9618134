//! Released: the tables of a release as a session.
//!
//! In: a run's models, or the Parquet files of a release. Out: which tables a run stores and what they promise, a session
//! with those of a release, and the promises that they break.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};

use datafusion::arrow::datatypes::SchemaRef;
use parquet::arrow::ArrowWriter;

use super::analysis::Analysis;
use super::contract::{Contract, Kind};
use super::graph::Model;
use super::models::built_in;
use super::promises::{self, Violation, quoted};
use super::session::{Resources, Session};
use super::statement::Statement;
use crate::{Error, Result};

/// A derived table that a run stores.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stored {
    /// What it promises; of several runs that promise different things, nothing.
    pub(crate) contract: Contract,
    /// Whether a user made it, beside the built-in ones.
    pub(crate) is_own: bool,
    /// Whether a user's SQL made it out of the raw tables asked for, or out of files.
    pub(crate) reads: bool,
}

impl Analysis {
    /// The derived tables that `runs` store, by name; `texts`: raw tables of which it is told whether a user's own read
    /// them. A user's model with the columns of the built-in one whose place it takes counts as that.
    ///
    /// # Errors
    /// As [`Analysis::graph`].
    pub(crate) fn stored_tables(&self, runs: &[PathBuf], texts: &[&str]) -> Result<BTreeMap<String, Stored>> {
        let mut replaced = BTreeMap::new();
        for source in built_in() {
            replaced.insert(source.name.clone(), Contract::of(&source)?);
        }
        let mut all: BTreeMap<String, Stored> = BTreeMap::new();
        for run in runs {
            let graph = self.graph(run)?;
            // What is built in hands on no texts of its own accord.
            let mut reading: BTreeSet<&str> = BTreeSet::new();
            for model in graph.models() {
                let is_a_users = model.file.is_some();
                let reads =
                    |name: &String| reading.contains(name.as_str()) || is_a_users && texts.contains(&name.as_str());
                if model.reads.iter().any(reads) || is_a_users && !model.files.is_empty() {
                    reading.insert(&model.name);
                }
            }
            let has_columns_of = |model: &Model, other: &Contract| {
                !model.contract.columns.is_empty() && model.contract.columns.keys().eq(other.columns.keys())
            };
            for model in graph.models().iter().filter(|model| model.contract.kind == Kind::Table) {
                let stands_for_it = replaced.get(&model.name).is_some_and(|other| has_columns_of(model, other));
                let is_own = model.file.is_some() && !stands_for_it;
                let reads = is_own && reading.contains(model.name.as_str());
                let stored = all.entry(model.name.clone()).or_insert_with(|| Stored {
                    contract: model.contract.clone(),
                    is_own,
                    reads,
                });
                (stored.is_own, stored.reads) = (stored.is_own || is_own, stored.reads || reads);
                if stored.contract != model.contract {
                    stored.contract = Contract::default();
                }
            }
        }
        Ok(all)
    }
}

/// A session with tables by name: of one file, of several parts, or of columns without rows where there is no file.
///
/// # Errors
/// A file can't be read, or its columns differ from those of the part before it.
pub(crate) fn open_released(resources: Resources, tables: &[(&str, Vec<PathBuf>, SchemaRef)]) -> Result<Session> {
    let session = Session::with(resources)?;
    for (name, files, columns) in tables {
        match files.as_slice() {
            [] => session.register_batches(name, columns.clone(), Vec::new())?,
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

impl Session {
    /// Writes the rows of a query to `folder` and names them as a table: what is asked for more than once is computed
    /// once.
    ///
    /// # Errors
    /// As [`Session::query`]; the file can't be written.
    pub(crate) fn keep_rows(&self, name: &str, sql: &str, folder: &Path) -> Result<()> {
        let path = folder.join(name).with_extension("parquet");
        let file = File::create(&path).map_err(Error::io("create", &path))?;
        let rows = self.rows(&Statement::from(sql))?;
        let mut writer = ArrowWriter::try_new(file, rows.schema().clone(), None).map_err(Error::table(name))?;
        for batch in rows {
            writer.write(&batch?).map_err(Error::table(name))?;
        }
        writer.close().map_err(Error::table(name))?;
        self.register_file(name, &path)
    }
}

/// Promises of `contracts` that do not hold on the tables of `session`.
///
/// # Errors
/// A table can't be read.
pub(crate) fn broken_promises(session: &Session, contracts: &[(&str, &Contract)]) -> Result<Vec<Violation>> {
    let mut broken = Vec::new();
    for (name, contract) in contracts {
        let mut contract = (*contract).clone();
        for column in contract.columns.values_mut() {
            // What is not released can't be looked up.
            column.references.take_if(|other| other.split_once('.').is_none_or(|(table, _)| !session.has(table)));
        }
        broken.extend(promises::check(session, name, &contract)?);
    }
    Ok(broken)
}
