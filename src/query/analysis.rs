//! Analysis: every derived table of a run, in the order in which one needs the other.
//!
//! In: a run directory and models. Out: `analysis/NAME.parquet` for each model that is a table.
//! A file `given/NAME.parquet` takes the place of the model NAME: an import knows deltas, not what they came from.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use super::contract::Kind;
use super::derived_sums::{self, DERIVED, DerivedSums};
use super::freshness::Origins;
use super::graph::{Graph, Model};
use super::inputs::{self, Given};
use super::making::{Materialized, derived, file_in, made, register_view, take_written};
use super::memory::MemoryLimit;
use super::models::{Source, built_in};
use super::promises::{self, Violation};
use super::session::{Resources, Session};
use super::side_by_side::{Event, make_all};
use super::{files, own_models, raw};
use crate::store::manifest::GIVEN;
use crate::{Error, Result};

/// Under this prefix a given table is known to the model that hands it on.
const GIVEN_PREFIX: &str = "given_";

/// How far an analysis is.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Step<'a> {
    /// The model of this name begins to run.
    Begin(&'a str),
    /// Its table is written.
    End(&'a Materialized),
}

/// Runs all models on `run`; see [`Analysis::run`].
///
/// # Errors
/// As [`Analysis::run`].
pub fn analyze(run: &Path) -> Result<Vec<Materialized>> {
    Analysis::default().run(run)
}

/// Whether every model of `run` that is a table has been written, from the raw tables as they are now.
///
/// # Errors
/// As [`Graph::new`], or a raw file can't be read.
pub fn is_analyzed(run: &Path) -> Result<bool> {
    let analysis = Analysis::default();
    let (graph, origins) = analysis.graph_with_origins(run)?;
    let written = |model: &Model| model.contract.kind == Kind::View || origins.made(&model.name, &derived(run, model));
    Ok(graph.models().iter().all(written))
}

/// What shows or hands on a run's tables takes them as they are stored.
///
/// # Errors
/// `run` is none, or not all of its models' tables are written from the raw tables and models of now.
pub(crate) fn check_analyzed(run: &Path) -> Result<()> {
    check_is_run(run)?;
    if !is_analyzed(run)? {
        return Err(Error::input(format!("the run {} is not analysed, or not as it is now", run.display()))
            .expected("derived tables of just these raw tables and models, by this version")
            .fix(format!("run `sago analyze {}` first", run.display()))
            .into());
    }
    Ok(())
}

/// Checks the contract of every model on a run; see [`Analysis::check_contracts`].
///
/// # Errors
/// As [`Analysis::check_contracts`].
pub fn check_contracts(run: &Path) -> Result<Vec<Violation>> {
    Analysis::default().check_contracts(run)
}

/// Refuses a run whose derived tables have other bytes than an analysis wrote.
///
/// # Errors
/// Which table, and what to do; the sums can't be read.
pub(crate) fn check_derived(run: &Path) -> Result<()> {
    let graph = Analysis::default().graph(run)?;
    derived_sums::difference(run, &graph)?.map_or(Ok(()), |fault| {
        Err(Error::input(format!("the derived tables of {} are damaged", run.display())).found(fault).into())
    })
}

/// Which models are run, and on how many threads.
#[derive(Debug, Clone)]
pub struct Analysis {
    sources: Vec<Source>,
    /// A user's own; None for those that the run keeps.
    own: Option<Vec<Source>>,
    only: Vec<String>,
    resources: Resources,
}

impl Default for Analysis {
    /// The built-in models and those of a user that the run keeps, on all threads of the machine.
    fn default() -> Self {
        Analysis { sources: built_in(), own: None, only: Vec::new(), resources: Resources::default() }
    }
}

impl Analysis {
    /// Adds models; one with a name that is already there takes its place.
    #[must_use]
    pub fn with_sources(mut self, sources: impl IntoIterator<Item = Source>) -> Self {
        self.sources.extend(sources);
        self
    }

    /// Adds the models of a folder, as [`Source::from_folder`] reads them, in place of those that a run keeps. A model
    /// that takes the place of a built-in one and has no contract is held to the built-in one's.
    /// [`Analysis::run`] keeps them in the run, so that everything that opens it later knows them.
    ///
    /// # Errors
    /// As [`Source::from_folder`].
    pub fn with_folder(mut self, folder: &Path) -> Result<Self> {
        self.own = Some(Source::from_folder(folder)?);
        Ok(self)
    }

    /// Runs and checks just these models and what they need; with no name all models.
    #[must_use]
    pub fn with_only(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.only = names.into_iter().collect();
        self
    }

    /// Sets the number of threads and partitions.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.resources.threads = Some(threads);
        self
    }

    /// Bounds the memory of sorts, joins and groups.
    #[must_use]
    pub fn with_memory_limit(mut self, limit: Option<MemoryLimit>) -> Self {
        self.resources.memory = limit;
        self
    }

    /// Sets both.
    #[must_use]
    pub fn with_resources(mut self, resources: Resources) -> Self {
        self.resources = resources;
        self
    }

    /// What its sessions may use.
    pub(crate) fn resources(&self) -> Resources {
        self.resources
    }

    /// The models in the order in which they run on `run`, given tables in their places.
    ///
    /// # Errors
    /// As [`Graph::new`] and [`Source::from_folder`].
    pub fn graph(&self, run: &Path) -> Result<Graph> {
        let own = match &self.own {
            Some(own) => own.clone(),
            None => own_models::kept(run)?,
        };
        let mut sources = self.sources.clone();
        for mut source in own {
            if source.contract.trim().is_empty()
                && let Some(replaced) = self.sources.iter().rfind(|other| other.name == source.name)
            {
                source.contract.clone_from(&replaced.contract);
            }
            sources.push(source);
        }
        let given = given(run)?;
        for source in &mut sources {
            if let Some(given) = given.iter().find(|given| given.model == source.name) {
                source.sql = format!("select * from {}", given.table);
                source.file = None;
            }
        }
        let tables: Vec<&str> = raw::names().into_iter().chain(given.iter().map(|g| g.table.as_str())).collect();
        Graph::new(&sources, &tables)
    }

    /// Runs the models and writes those that are tables to `run/analysis`, each file whole or not at all.
    /// Rows are sorted by the contract's key; values do not depend on the number of threads beyond 1e-12, relative to
    /// those above 1.
    ///
    /// # Errors
    /// When `run` is no run directory, a table can't be read or written, raw tables hold what can't be analysed (a key
    /// twice, a row of an unknown prompt or wording, no baseline), or a model's SQL fails (the model is named).
    pub fn run(&self, run: &Path) -> Result<Vec<Materialized>> {
        self.run_with(run, |_| {})
    }

    /// As [`Analysis::run`]; `tell` hears of each table before and after it is made. Where only some models are asked
    /// for, those that they need are taken as they stand, if they are of the raw tables and models of now.
    ///
    /// # Errors
    /// As [`Analysis::run`].
    pub fn run_with(&self, run: &Path, mut tell: impl FnMut(Step<'_>)) -> Result<Vec<Materialized>> {
        let session = self.raw_session(run)?;
        let (graph, origins) = self.graph_with_origins(run)?;
        let needed = graph.needed(&self.only)?;
        inputs::check(&session, run, &given(run)?, &graph)?;
        let sums = DerivedSums::begin(run)?;
        let is_asked = |model: &Model| self.only.is_empty() || self.only.contains(&model.name);
        let needed = graph.models().iter().filter(|model| needed.contains(model.name.as_str()));
        let to_make: Vec<&Model> =
            needed.filter(|model| is_asked(model) || !take_written(&session, run, model, &origins)).collect();
        let mut written = Vec::new();
        let outcome = make_all(&session, &origins, &to_make, &run.join(DERIVED), |event| match event {
            Event::Begun(model) => tell(Step::Begin(&model.name)),
            Event::Made(table) => {
                tell(Step::End(&table));
                written.push(table);
            }
        });
        let fit = if outcome.is_ok() { check_fit(&session, &graph, &to_make) } else { Ok(()) };
        written.sort_by_key(|made: &Materialized| to_make.iter().position(|model| model.name == made.name));
        let mut sums = sums.with(written.iter().map(|table| table.name.as_str()))?;
        if fit.is_err() {
            for model in to_make.iter().filter(|model| model.file.is_some()) {
                sums = sums.without(&model.name)?;
            }
        }
        if let Err(error) = outcome.and(fit) {
            // What was written before is whole.
            sums.write()?;
            return Err(error);
        }
        if let Some(own) = &self.own {
            own_models::keep(run, own)?;
        }
        sums.without_others(&graph)?.write()?;
        Ok(written)
    }

    /// A session with all tables of `run`; derived ones as they were written from the raw tables of now, else made
    /// when a query first names them.
    ///
    /// # Errors
    /// As [`Session::open_run`].
    pub fn open(&self, run: &Path) -> Result<Session> {
        let mut session = self.raw_session(run)?;
        let (graph, origins) = self.graph_with_origins(run)?;
        let aside = Arc::new(tempfile::tempdir().map_err(Error::io("write in", std::env::temp_dir()))?);
        let mut unwritten = Vec::new();
        let given = given(run)?;
        for model in graph.models() {
            if take_written(&session, run, model, &origins) {
                continue;
            }
            let mut model = model.clone();
            if given.iter().any(|given| given.model == model.name) {
                // Its rows are in a file already.
                model.contract.kind = Kind::View;
            }
            if model.contract.kind == Kind::Table {
                unwritten.push(model.name.clone());
            }
            let (metadata, aside) = (origins.metadata(&model.name), Arc::clone(&aside));
            session.register_lazily(&model.name.clone(), move |ctx| {
                // The folder lives as long as what is in it can be asked for.
                let file = file_in(aside.path(), &model);
                made(ctx, model.clone(), metadata.clone(), file)
            })?;
        }
        session.lacks(unwritten);
        session.knows(graph.models());
        Ok(session)
    }

    /// Checks the contracts of the models on `run`; empty where all hold. Tables that are not written are computed
    /// for it, each once, and left out of the run.
    ///
    /// # Errors
    /// When the run or a table of it can't be read.
    pub fn check_contracts(&self, run: &Path) -> Result<Vec<Violation>> {
        let session = self.raw_session(run)?;
        let (graph, origins) = self.graph_with_origins(run)?;
        let needed = graph.needed(&self.only)?;
        let aside = tempfile::tempdir().map_err(Error::io("write in", std::env::temp_dir()))?;
        let unwritten = graph.models().iter().filter(|model| !take_written(&session, run, model, &origins));
        let is_needed = |model: &&Model| needed.contains(model.name.as_str());
        let (to_make, others): (Vec<&Model>, Vec<&Model>) = unwritten.partition(is_needed);
        make_all(&session, &origins, &to_make, aside.path(), |_| {})?;
        // A promise may speak of values of any table.
        others.into_iter().try_for_each(|model| register_view(&session, model))?;
        let is_asked = |model: &&Model| self.only.is_empty() || self.only.contains(&model.name);
        let asked: Vec<&Model> = graph.models().iter().filter(is_asked).collect();
        let check = |model: &&Model| promises::check(&session, &model.name, &model.contract);
        let threads = ThreadPoolBuilder::new().num_threads(session.at_once()).build();
        let threads = threads.map_err(|e| Error::Query(format!("could not start threads: {e}")))?;
        // Of several faults the first model's is told, whichever thread was first.
        let found: Vec<Result<_>> = threads.install(|| asked.par_iter().map(check).collect());
        Ok(found.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    /// Registers `names` and what they need as views over the tables that `session` has already.
    pub(super) fn views(&self, session: &Session, names: &[&str]) -> Result<()> {
        let known = session.tables();
        let sources: Vec<Source> = self.sources.iter().filter(|s| !known.contains(&s.name)).cloned().collect();
        let tables: Vec<&str> = raw::names().into_iter().chain(known.iter().map(String::as_str)).collect();
        let graph = Graph::new(&sources, &tables)?;
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let needed = graph.needed(&names)?;
        let needed = graph.models().iter().filter(|model| needed.contains(model.name.as_str()));
        needed.into_iter().try_for_each(|model| register_view(session, model))
    }

    /// The graph on `run`, and what its derived files would say about their origin.
    pub(super) fn graph_with_origins(&self, run: &Path) -> Result<(Graph, Origins)> {
        let graph = self.graph(run)?;
        let given: Vec<(String, PathBuf)> = given(run)?.into_iter().map(|g| (g.table, g.file)).collect();
        let origins = Origins::of(run, &given, &graph)?;
        Ok((graph, origins))
    }

    /// A session with the raw and the given tables of `run`.
    pub(super) fn raw_session(&self, run: &Path) -> Result<Session> {
        check_is_run(run)?;
        let session = Session::with(self.resources)?;
        raw::register(&session, run)?;
        for given in given(run)? {
            session.register_file(&given.table, &given.file)?;
        }
        Ok(session)
    }
}

/// The contracts of a user's `models` must be ones that the columns can keep. They may speak of tables that nothing that
/// was made reads.
fn check_fit(session: &Session, graph: &Graph, models: &[&Model]) -> Result<()> {
    let own: Vec<&&Model> = models.iter().filter(|model| model.file.is_some()).collect();
    let promised = own.iter().flat_map(|model| model.contract.columns.values());
    let others = promised.filter_map(|column| column.references.as_deref()?.split_once('.'));
    let others = others.map(|(table, _)| table.to_string()).filter(|table| graph.model(table).is_some());
    let others: Vec<String> = others.collect();
    if !others.is_empty() {
        let needed = graph.needed(&others)?;
        let absent = |model: &&Model| needed.contains(model.name.as_str()) && !session.has(&model.name);
        graph.models().iter().filter(absent).try_for_each(|model| register_view(session, model))?;
    }
    own.into_iter().try_for_each(|model| {
        let misfit = promises::misfit(session, &model.name, &model.contract)?;
        misfit.map_or(Ok(()), |what| Err(model.wrong_contract(&what)))
    })
}

/// Whether a folder is a run at all.
pub(crate) fn is_run(folder: &Path) -> bool {
    ["plan.json", "variants.parquet"].iter().any(|file| folder.join(file).is_file())
}

/// Refuses what is no run.
///
/// # Errors
/// It is none; the message says what is there.
pub(crate) fn check_is_run(run: &Path) -> Result<()> {
    if !is_run(run) {
        let is_release = run.join("release.json").is_file();
        let found = match run.is_dir() {
            true if is_release => "a release",
            true => "a folder without plan.json",
            false => "no such folder",
        };
        let mut error = Error::input(format!("{} is not a run", run.display()))
            .found(found)
            .expected("the output folder of `sago run` or `sago import`");
        if is_release {
            let table = run.join("data/sgs_model.parquet");
            error = error.fix(format!("ask its files: sago sql -c \"select * from '{}'\"", table.display()));
        }
        return Err(error.into());
    }
    Ok(())
}

/// The tables that stand in for models, by name.
pub(super) fn given(run: &Path) -> Result<Vec<Given>> {
    let folder = run.join(GIVEN);
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut all = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(Error::io("list", &folder))? {
        let file = entry.map_err(Error::io("list", &folder))?.path();
        if files::is_parquet(&file)
            && let Some(name) = file.file_stem().and_then(|stem| stem.to_str())
        {
            all.push(Given { model: name.to_string(), table: format!("{GIVEN_PREFIX}{name}"), file });
        }
    }
    all.sort_by(|a, b| a.model.cmp(&b.model));
    Ok(all)
}
