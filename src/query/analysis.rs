//! Analysis: every derived table of a run, in the order in which one needs the other.
//!
//! In: a run directory and models. Out: `analysis/NAME.parquet` for each model that is a table.
//! A file `given/NAME.parquet` takes the place of the model NAME: an import knows deltas, not what they came from.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::contract::Kind;
use super::freshness::Origin;
use super::graph::{Graph, Model};
use super::models::{Source, built_in};
use super::session::{Session, plan};
use super::{files, materialize, raw};
use crate::store::manifest::GIVEN;
use crate::{Error, Result};

/// Folder of a run for what is derived.
const DERIVED: &str = "analysis";
/// Under this prefix a given table is known to the model that hands it on.
const GIVEN_PREFIX: &str = "given_";

/// A derived table that was written.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Materialized {
    /// Name of the model and of the file.
    pub name: String,
    /// Its rows.
    pub rows: u64,
    /// Time that it took.
    pub seconds: f64,
}

/// Runs all built-in models on `run`; see [`Analysis::run`].
///
/// # Errors
/// As [`Analysis::run`].
pub fn analyze(run: &Path) -> Result<Vec<Materialized>> {
    Analysis::default().run(run)
}

/// Whether every built-in model of `run` that is a table has been written, from the raw tables as they are now.
///
/// # Errors
/// As [`Graph::new`], or a raw file can't be read.
pub fn is_analyzed(run: &Path) -> Result<bool> {
    let analysis = Analysis::default();
    let origin = analysis.origin(run)?;
    let written = |model: &Model| model.contract.kind == Kind::View || origin.made(&derived(run, model));
    Ok(analysis.graph(run)?.models().iter().all(written))
}

/// Which models are run, and on how many threads.
#[derive(Debug, Clone)]
pub struct Analysis {
    sources: Vec<Source>,
    threads: Option<usize>,
}

impl Default for Analysis {
    /// The built-in models, on all threads of the machine.
    fn default() -> Self {
        Analysis { sources: built_in(), threads: None }
    }
}

impl Analysis {
    /// Adds models; one with a name that is already there takes its place.
    #[must_use]
    pub fn with_sources(mut self, sources: impl IntoIterator<Item = Source>) -> Self {
        self.sources.extend(sources);
        self
    }

    /// Sets the number of threads and partitions.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// The models in the order in which they run on `run`, given tables in their places.
    ///
    /// # Errors
    /// As [`Graph::new`].
    pub fn graph(&self, run: &Path) -> Result<Graph> {
        let given = given(run)?;
        let mut sources = self.sources.clone();
        for source in &mut sources {
            if given.contains(&source.name) {
                source.sql = format!("select * from {GIVEN_PREFIX}{}", source.name);
            }
        }
        let given: Vec<String> = given.iter().map(|name| format!("{GIVEN_PREFIX}{name}")).collect();
        let tables: Vec<&str> = raw::names().into_iter().chain(given.iter().map(String::as_str)).collect();
        Graph::new(&sources, &tables)
    }

    /// Runs the models and writes those that are tables to `run/analysis`, each file whole or not at all.
    /// Rows are sorted by the contract's key; values do not depend on the number of threads beyond a relative 1e-12.
    ///
    /// # Errors
    /// When `run` is no run directory, a table can't be read or written, or a model's SQL fails (the model is named).
    pub fn run(&self, run: &Path) -> Result<Vec<Materialized>> {
        let session = self.raw_session(run)?;
        let origin = self.origin(run)?;
        let mut written = Vec::new();
        for model in self.graph(run)?.models() {
            let start = Instant::now();
            if model.contract.kind == Kind::View {
                register_view(&session, model)?;
                continue;
            }
            let path = derived(run, model);
            let (ctx, copy, target, from) = (session.context().clone(), model.clone(), path.clone(), origin.clone());
            let rows = session
                .wait(async move { materialize::write(plan(&ctx, &copy.sql).await?, &copy, &from, &target).await })
                .flatten()
                .map_err(|e| of_model(model, session.blame(e)))?;
            session.register_file(&model.name, &path)?;
            written.push(Materialized { name: model.name.clone(), rows, seconds: start.elapsed().as_secs_f64() });
        }
        Ok(written)
    }

    /// A session with all tables of `run`; derived ones as they were written from the raw tables of now, else as views.
    ///
    /// # Errors
    /// As [`Session::open_run`].
    pub fn open(&self, run: &Path) -> Result<Session> {
        let session = self.raw_session(run)?;
        let origin = self.origin(run)?;
        for model in self.graph(run)?.models() {
            let path = derived(run, model);
            // A file that can't be opened is as good as none: what is derived can be computed anew.
            let kept = model.contract.kind == Kind::Table && origin.made(&path);
            if !kept || session.register_file(&model.name, &path).is_err() {
                register_view(&session, model)?;
            }
        }
        Ok(session)
    }

    fn origin(&self, run: &Path) -> Result<Origin> {
        Origin::of(run, &run.join(GIVEN), &self.sources)
    }

    fn raw_session(&self, run: &Path) -> Result<Session> {
        let is_run = ["plan.json", "variants.parquet"].iter().any(|file| run.join(file).is_file());
        if !is_run {
            let found = if run.is_dir() { "a folder without plan.json" } else { "no such folder" };
            return Err(Error::input(format!("{} is not a run", run.display()))
                .found(found)
                .expected("the output folder of `sago run` or `sago import`")
                .into());
        }
        let session = Session::new(self.threads)?;
        raw::register(&session, run)?;
        for name in given(run)? {
            session
                .register_file(&format!("{GIVEN_PREFIX}{name}"), &run.join(GIVEN).join(format!("{name}.parquet")))?;
        }
        Ok(session)
    }
}

/// Where a model's rows are written.
fn derived(run: &Path, model: &Model) -> PathBuf {
    run.join(DERIVED).join(format!("{}.parquet", model.name))
}

fn register_view(session: &Session, model: &Model) -> Result<()> {
    let (ctx, sql) = (session.context().clone(), model.sql.clone());
    let view = session.wait(async move { plan(&ctx, &sql).await })?.map_err(|e| of_model(model, e))?;
    session.register(&model.name, view.into_view())
}

/// Names the model in an error of its SQL.
fn of_model(model: &Model, error: Error) -> Error {
    match error {
        Error::Query(what) => Error::Table { table: model.name.clone(), what },
        other => other,
    }
}

/// Names of the tables that stand in for models, sorted.
fn given(run: &Path) -> Result<Vec<String>> {
    let folder = run.join(GIVEN);
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(Error::io("list", &folder))? {
        let path = entry.map_err(Error::io("list", &folder))?.path();
        if files::is_parquet(&path)
            && let Some(name) = path.file_stem().and_then(|stem| stem.to_str())
        {
            names.push(name.to_string());
        }
    }
    names.sort();
    Ok(names)
}
