//! Session: one place in which SQL is planned and run.
//!
//! In: tables (of a run, of files, in memory) and SQL. Out: record batches.
//! DataFusion is asynchronous; a session owns its runtime, so that its callers need not be.

use std::any::Any;
use std::future::ready;
use std::num::NonZeroUsize;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread::available_parallelism;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::SchemaProvider;
use datafusion::common::TableReference;
use datafusion::datasource::listing::ListingTable;
use datafusion::datasource::{MemTable, TableProvider};
use datafusion::error::DataFusionError;
use datafusion::execution::context::SQLOptions;
use datafusion::execution::disk_manager::DiskManagerBuilder;
use datafusion::execution::memory_pool::{FairSpillPool, TrackConsumersPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{DataFrame, SessionConfig, SessionContext};
use futures::{FutureExt, TryFutureExt, TryStreamExt};
use tokio::runtime::{Builder, Runtime};

use super::analysis::Analysis;
use super::fault::{failed_at, of_making};
use super::graph::Model;
use super::lazy::LazySchema;
use super::memory::{MemoryLimit, advice};
use super::rows::Rows;
use super::statement::Statement;
use super::types::{schema_without_views, without_views};
use super::{damage, depth, files, functions, joins, place};
use crate::store::files::files_below;
use crate::{Error, Result};

/// Catalog and schema of all tables, as DataFusion calls them.
pub(super) const CATALOG: &str = "datafusion";
pub(super) const SCHEMA: &str = "public";
/// Stack of a thread that plans: enough for the deepest query that [`depth`] lets pass. Only what is used takes memory.
const STACK: usize = 64 << 20;
/// Rows that are computed at a time.
const BATCH: usize = 32_768;
/// The same where memory counts: rows may hold long lists, and some batches are always under way.
const SMALL_BATCH: usize = 8_192;
/// Sorted files that are merged at a time: each holds some batches in memory, which can't be given back.
const MERGED: usize = 8;
/// Most partitions: what a join or a group keeps grows with their square.
const MOST_PARTITIONS: usize = 128;
/// Queries that run side by side at most: each holds batches and groups of its own.
const MOST_AT_ONCE: usize = 3;
/// Most users of memory that an error about its lack names.
const NAMED: NonZeroUsize = NonZeroUsize::MIN.saturating_add(2);

/// What a session may use of the machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Resources {
    /// Threads, and partitions into which a query is cut, 128 at most; None for as many as the machine has.
    pub threads: Option<usize>,
    /// Memory of sorts, joins and groups; None for all there is.
    pub memory: Option<MemoryLimit>,
}

/// Tables and functions that SQL can name, and the threads that run it.
pub struct Session {
    ctx: SessionContext,
    schema: Arc<LazySchema>,
    /// How many queries may run side by side.
    at_once: usize,
    /// None only while the session is dropped.
    runtime: Option<Runtime>,
    /// A user's own models among its tables.
    own: Vec<Model>,
    /// The sessions of single runs whose tables stand behind those of this one.
    behind: Vec<Session>,
    /// Names of derived tables that the run does not hold as they are now.
    unwritten: Vec<String>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Session({})", self.tables().join(", "))
    }
}

impl Session {
    /// A session without tables, with every function of [`functions`]. `threads`: how many, and into how many
    /// partitions a query is cut; None for as many as the machine has. Results differ by partitions only in the
    /// last bits of sums (well under a relative 1e-12).
    ///
    /// # Errors
    /// When the threads can't be started.
    pub fn new(threads: Option<usize>) -> Result<Self> {
        Session::with(Resources { threads, memory: None })
    }

    /// As [`Session::new`], within `resources`. Under a memory limit sorts and groups go to files in the system's
    /// temporary folder when they reach it; joins that do not fit sort their sides, so that they can do so as well. Too
    /// little memory is an error where rows were given already, on keys that are floats, and for outer joins with more
    /// than equal keys.
    ///
    /// # Errors
    /// When the threads can't be started.
    pub fn with(resources: Resources) -> Result<Self> {
        let Resources { threads, memory } = resources;
        let threads =
            threads.unwrap_or_else(|| available_parallelism().map_or(1, usize::from)).clamp(1, MOST_PARTITIONS);
        let mut config =
            SessionConfig::new().with_target_partitions(threads).with_batch_size(BATCH).with_information_schema(true);
        // The statistics of Parquet leave NaN out: a column of 1 and NaN would be taken for a constant 1.
        config.options_mut().execution.collect_statistics = false;
        // Without statistics the engine would part both sides of every join by its key. The first table of a join is the
        // smaller one, as a rule: all threads look up in one table of it, and the rows of the other stay where they are.
        config.options_mut().optimizer.repartition_joins = false;
        // Errors say where in the query their cause stands.
        config.options_mut().sql_parser.collect_spans = true;
        let mut environment = RuntimeEnvBuilder::new();
        if let Some(limit) = memory {
            config = config.with_batch_size(SMALL_BATCH);
            // A sort counts what views point to once for each batch that points to it, and takes a thousandth of the
            // memory for all of it.
            config.options_mut().execution.parquet.schema_force_view_types = false;
            config.options_mut().sql_parser.map_string_types_to_utf8view = false;
            let disk = DiskManagerBuilder::default().with_max_spill_merge_fan_in(MERGED);
            environment = environment.with_disk_manager_builder(disk);
            let pool = TrackConsumersPool::new(FairSpillPool::new(limit.bytes()), NAMED);
            environment = environment.with_memory_pool(Arc::new(pool));
        }
        // Where memory is short, each of several would have only a share of it.
        let at_once = if memory.is_some() { 1 } else { threads.min(MOST_AT_ONCE) };
        let environment = environment.build_arc().map_err(failed)?;
        let ctx = SessionContext::new_with_config_rt(config, environment);
        functions::register_all(&ctx);
        let schema = Arc::new(LazySchema::default());
        if let Some(catalog) = ctx.catalog(CATALOG) {
            catalog.register_schema(SCHEMA, Arc::clone(&schema) as Arc<dyn SchemaProvider>).map_err(failed)?;
        }
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_stack_size(STACK)
            .on_thread_start(damage::silence_thread)
            .enable_all()
            .build()
            .map_err(|e| Error::Query(format!("could not start {threads} threads: {e}")))?;
        Ok(Session {
            ctx,
            schema,
            at_once,
            runtime: Some(runtime),
            own: Vec::new(),
            behind: Vec::new(),
            unwritten: Vec::new(),
        })
    }

    /// A session with all tables of a run: the raw ones (empty where the run has none), the constants, and every
    /// derived table: as [`analyze`](super::analyze) wrote it, else computed when it is asked for.
    ///
    /// # Errors
    /// When `run` is no run directory, or a file in it can't be read.
    pub fn open_run(run: &Path) -> Result<Self> {
        Analysis::default().open(run)
    }

    /// Names a Parquet, CSV, TSV, JSON, JSONL or NDJSON file (told by its ending) as a table.
    ///
    /// # Errors
    /// When the file is missing, has another ending, or its columns can't be made out.
    pub fn register_file(&self, name: &str, path: &Path) -> Result<()> {
        let (ctx, file) = (self.ctx.clone(), path.to_path_buf());
        let table = self.wait(async move { files::open(&ctx, &file).await })??;
        self.register(name, table)
    }

    /// Names rows in memory as a table, in place of one that had the name.
    ///
    /// # Errors
    /// When a batch does not have `schema`.
    pub fn register_batches(&self, name: &str, schema: SchemaRef, batches: Vec<RecordBatch>) -> Result<()> {
        let table = MemTable::try_new(schema, vec![batches]).map_err(Error::table(name))?;
        self.register(name, Arc::new(table))
    }

    /// Runs one statement as [`Session::query`] does, and gives its rows as they come.
    ///
    /// # Errors
    /// As [`Session::query`]; those of a running query come with its rows.
    pub fn rows(&self, statement: &Statement) -> Result<Rows<'_>> {
        let Some(runtime) = &self.runtime else { return Err(closed()) };
        let (ctx, copy) = (self.ctx.clone(), statement.clone());
        let planned = self.wait(async move {
            log::debug!("query: {}", copy.sql());
            let frame = plan_statement(&ctx, &copy).await?;
            let schema = schema_without_views(frame.schema().as_arrow());
            let (mut state, plan) = frame.into_parts();
            *state.config_mut() = state.config().clone().with_batch_size(SMALL_BATCH);
            let stream = joins::rows(DataFrame::new(state, plan)).await.map_err(|e| failed_at(&e, &copy, &ctx))?;
            Ok((schema, stream))
        });
        let (schema, stream) = planned.flatten().map_err(|e| self.blame(e))?;
        Ok(Rows::new(self, runtime, schema, stream, (statement.clone(), self.ctx.clone())))
    }

    /// Names a query as a table; it is run where it is read.
    pub(super) fn view(&self, name: &str, sql: &str) -> Result<()> {
        let (ctx, sql) = (self.ctx.clone(), sql.to_string());
        let view = self.wait(async move { plan(&ctx, &sql).await })??;
        self.register(name, view.into_view())
    }

    /// Runs one statement. A quoted file stands for its rows: `select * from 'data/rows.jsonl'`.
    /// Statements that would change files, tables or settings (insert, copy, create, drop, set) are refused. At least one batch comes back, so that the
    /// columns of an empty result are known.
    ///
    /// # Errors
    /// [`Error::Query`] with what the planner or a function said; input errors of the files it names.
    pub fn query(&self, sql: &str) -> Result<Vec<RecordBatch>> {
        let (ctx, sql) = (self.ctx.clone(), sql.to_string());
        self.wait(async move {
            log::debug!("query: {sql}");
            let statement = Statement::from(sql.as_str());
            let frame = plan_statement(&ctx, &statement).await?;
            let schema = schema_without_views(frame.schema().as_arrow());
            let rows = joins::rows(frame).map_err(|e| failed_at(&e, &statement, &ctx)).await?;
            let plain = rows.and_then(|batch| ready(without_views(&batch)));
            let mut batches: Vec<RecordBatch> =
                plain.try_collect().await.map_err(|e| failed_at(&e, &statement, &ctx))?;
            if batches.is_empty() {
                batches.push(RecordBatch::new_empty(schema));
            }
            Ok(batches)
        })
        .flatten()
        .map_err(|e| self.blame(e))
    }

    /// In place of an error of the Parquet decoder, the one that names the damaged file.
    pub(super) fn blame(&self, error: Error) -> Error {
        let decoding = matches!(&error, Error::Query(what) if ["Parquet", "External error", BROKE_OFF].iter().any(|sign| what.contains(sign)));
        if !decoding {
            return error;
        }
        for file in self.parquet_files() {
            if let Err(found) = damage::values(&file) {
                return damage::damaged(&file, found, damage::advice(&file));
            }
        }
        error
    }

    /// Every Parquet file behind the tables.
    fn parquet_files(&self) -> Vec<PathBuf> {
        let schema = Arc::clone(&self.schema);
        let tables = self.wait(async move {
            let mut paths = Vec::new();
            for table in schema.made().await {
                let listed = table.downcast_ref::<ListingTable>().into_iter().flat_map(ListingTable::table_paths);
                paths.extend(listed.filter_map(|url| url.get_url().to_file_path().ok()));
            }
            paths
        });
        let below = |path: PathBuf| if path.is_dir() { files_below(&path).unwrap_or_default() } else { vec![path] };
        let all = tables.unwrap_or_default().into_iter().flat_map(below);
        let own = all.filter(|file| files::is_parquet(file));
        own.chain(self.behind.iter().flat_map(Session::parquet_files)).collect()
    }

    /// Names of the tables, in order.
    pub fn tables(&self) -> Vec<String> {
        let mut names = self.schema.table_names();
        names.sort();
        names
    }

    /// Whether there is a table of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.ctx.table_exist(TableReference::bare(name)).unwrap_or(false)
    }

    /// Keeps what is known of the user's own among `models`.
    pub(super) fn knows(&mut self, models: &[Model]) {
        self.own = models.iter().filter(|model| model.file.is_some()).cloned().collect();
    }

    /// A user's own models among its tables.
    pub(super) fn own_models(&self) -> impl Iterator<Item = &Model> {
        self.own.iter().chain(self.behind.iter().flat_map(|session| &session.own))
    }

    /// Names a table that `make` makes, in this session, when a query first names it.
    pub(super) fn register_lazily<F>(
        &self,
        name: &str,
        make: impl Fn(SessionContext) -> F + Send + Sync + 'static,
    ) -> Result<()>
    where
        F: Future<Output = Result<Arc<dyn TableProvider>>> + Send + 'static,
    {
        // The context holds what is made here, so this must not hold the context.
        let state = self.ctx.state_weak_ref();
        let make = Box::new(move || match state.upgrade() {
            Some(state) => make(SessionContext::new_with_state(state.read().clone())).boxed(),
            None => ready(Err(closed())).boxed(),
        });
        self.schema.wait_with(name, make).map_err(Error::table(name))
    }

    /// Names of the derived tables that the run does not hold as they are now: never written, or from other raw
    /// tables, models or another version. Each is computed when a query first names it.
    pub fn unwritten(&self) -> Vec<&str> {
        self.unwritten.iter().chain(self.behind.iter().flat_map(|s| &s.unwritten)).map(String::as_str).collect()
    }

    /// Keeps the names of derived tables that the run does not hold.
    pub(super) fn lacks(&mut self, tables: Vec<String>) {
        self.unwritten = tables;
    }

    /// Keeps the sessions whose tables stand behind those of this one: their files are looked through for damage.
    pub(super) fn keep(&mut self, behind: Vec<Session>) {
        self.behind = behind;
    }

    /// How many queries may run side by side.
    pub(super) fn at_once(&self) -> usize {
        self.at_once
    }

    /// The context, for the modules that register tables.
    pub(super) fn context(&self) -> &SessionContext {
        &self.ctx
    }

    pub(super) fn register(&self, name: &str, table: Arc<dyn TableProvider>) -> Result<()> {
        let reference = TableReference::bare(name);
        self.ctx.deregister_table(reference.clone()).map_err(Error::table(name))?;
        self.ctx.register_table(reference, table).map_err(Error::table(name))?;
        Ok(())
    }

    /// Runs `work` on the session's threads and waits; a panic in it is an error. Unlike `block_on` this also works
    /// inside another runtime.
    pub(super) fn wait<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Result<T> {
        let (done, result) = mpsc::sync_channel(1);
        // The receiver below waits for exactly this message.
        self.start(work, move |outcome| drop(done.send(outcome)));
        result.recv().map_err(|_| broke_off(&"no answer"))?
    }

    /// Runs `work` on the session's threads; `done` hears of its outcome. A panic in it is an error.
    pub(super) fn start<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
        done: impl FnOnce(Result<T>) + Send + 'static,
    ) {
        let Some(runtime) = &self.runtime else { return done(Err(closed())) };
        runtime.spawn(async move {
            let finished = AssertUnwindSafe(work).catch_unwind().await;
            done(finished.map_err(|panic| broke_off(&*panic)));
        });
    }
}

fn closed() -> Error {
    Error::Query("the session is closed".to_string())
}

/// The error of a panic on a thread of the session.
pub(super) fn broke_off(panic: &(dyn Any + Send)) -> Error {
    Error::Query(format!("{BROKE_OFF} ({}); please report this", damage::words(panic)))
}

/// Sign of a panic on a thread of the session.
const BROKE_OFF: &str = "a worker thread broke off";

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Dropping a runtime inside another one panics; this does not wait, and nothing is left to wait for.
            runtime.shutdown_background();
        }
    }
}

/// Parses and plans one statement; files that it names become tables under their quoted name.
pub(super) async fn plan(ctx: &SessionContext, sql: &str) -> Result<DataFrame> {
    plan_or(ctx, sql, failed).await
}

/// As [`plan`]; errors show the place in the text that the statement comes from.
async fn plan_statement(ctx: &SessionContext, statement: &Statement) -> Result<DataFrame> {
    plan_or(ctx, statement.sql(), |e| failed_at(&e, statement, ctx)).await
}

/// Plans; what DataFusion refuses becomes an error by `failed`.
async fn plan_or(ctx: &SessionContext, sql: &str, failed: impl Fn(DataFusionError) -> Error) -> Result<DataFrame> {
    depth::check(sql)?;
    let state = ctx.state();
    let dialect = state.config().options().sql_parser.dialect;
    let statement = state.sql_to_statement(sql, &dialect).map_err(&failed)?;
    for reference in state.resolve_table_references(&statement).map_err(&failed)? {
        let TableReference::Bare { table } = &reference else { continue };
        if files::is_file_name(table) {
            let provider = files::open(ctx, Path::new(&**table)).await?;
            ctx.deregister_table(reference.clone()).map_err(&failed)?;
            ctx.register_table(reference.clone(), provider).map_err(&failed)?;
        }
    }
    // The state was a snapshot: planning needs one that knows the files.
    let plan = ctx.state().statement_to_plan(statement).await.map_err(&failed)?;
    let only_queries = SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    only_queries.verify_plan(&plan).map_err(refused)?;
    ctx.execute_logical_plan(plan).await.map_err(failed)
}

/// Tables, files and settings are left as they are: such a statement would seem to work and change nothing.
fn refused(error: DataFusionError) -> Error {
    Error::input("only queries are run here: nothing is created, changed or set")
        .found(error.strip_backtrace())
        .expected("a statement that starts with select, with, values, show, describe or explain")
        .into()
}

/// What DataFusion says, with the place in the query where it knows one.
pub(super) fn failed(error: DataFusionError) -> Error {
    if let Some(of_making) = of_making(&error) {
        return of_making;
    }
    let what = place::message(&error);
    Error::Query(advice(&error).map_or(what.clone(), |advice| format!("{what}\n  {advice}")))
}
