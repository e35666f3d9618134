//! Making: one model's rows, planned, computed and registered.
//!
//! In: a session that has what the model reads, and the model. Out: a view, or a Parquet file and the table on it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use datafusion::datasource::TableProvider;
use datafusion::prelude::{DataFrame, SessionContext};
use parquet::file::metadata::KeyValue;

use super::contract::Kind;
use super::derived_sums::DERIVED;
use super::freshness::Origins;
use super::graph::Model;
use super::session::{Session, plan};
use super::volatile::changing_function;
use super::{files, materialize};
use crate::{Error, Result};

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

/// Registers a derived table as it was written; false where that is not of the raw tables and models of now.
pub(super) fn take_written(session: &Session, run: &Path, model: &Model, origins: &Origins) -> bool {
    let path = derived(run, model);
    let kept = model.contract.kind == Kind::Table && origins.made(&model.name, &path);
    // A file that can't be opened is as good as none: what is derived can be computed anew.
    let taken = kept && session.register_file(&model.name, &path).is_ok();
    if taken {
        log::debug!("table {}: as written in {}", model.name, path.display());
    }
    taken
}

/// Begins to run a model and to write its rows to `path`; `done` hears of the outcome, for [`end`].
pub(super) fn begin(
    session: &Session,
    model: &Model,
    origins: &Origins,
    path: &Path,
    done: impl FnOnce(Result<Materialized>) + Send + 'static,
) {
    let start = Instant::now();
    let (ctx, model, path) = (session.context().clone(), model.clone(), path.to_path_buf());
    let metadata = origins.metadata(&model.name);
    let work = async move {
        let rows = materialize::write(planned(&ctx, &model).await?, &model, metadata, &path).await?;
        Ok(Materialized { name: model.name, rows, seconds: start.elapsed().as_secs_f64() })
    };
    session.start(work, |made| done(made.flatten()));
}

/// Registers a table that was [begun](begin); an error names the model or the damaged file.
pub(super) fn end(session: &Session, model: &Model, path: &Path, made: Result<Materialized>) -> Result<Materialized> {
    let made = made.map_err(|e| of_model(model, session.blame(e)))?;
    log::info!("table {}: {} rows made in {:.2} s", made.name, made.rows, made.seconds);
    session.register_file(&model.name, path)?;
    Ok(made)
}

/// Makes a model's table: a view as it is, a table written to `file`.
pub(super) async fn made(
    ctx: SessionContext,
    model: Model,
    metadata: Vec<KeyValue>,
    file: PathBuf,
) -> Result<Arc<dyn TableProvider>> {
    let made = async {
        let rows = planned(&ctx, &model).await?;
        if model.contract.kind == Kind::View {
            return Ok(rows.into_view());
        }
        materialize::write(rows, &model, metadata, &file).await?;
        files::open(&ctx, &file).await
    };
    made.await.map_err(|error| of_model(&model, error))
}

/// Plans a model; its key must be there. Of a user's, functions that give something else each time are refused: what is
/// derived could never be computed again.
async fn planned(ctx: &SessionContext, model: &Model) -> Result<DataFrame> {
    let frame = plan(ctx, &model.sql).await?;
    let columns: Vec<&str> = frame.schema().fields().iter().map(|field| field.name().as_str()).collect();
    if let Some(absent) = model.contract.unique.iter().find(|name| !columns.contains(&name.as_str())) {
        let what = format!("unique names {absent}, which is none of its columns ({})", columns.join(", "));
        return Err(model.wrong_contract(&what));
    }
    match model.file.as_ref().and_then(|_| changing_function(frame.logical_plan())) {
        Some(function) => {
            Err(Error::Query(format!("{function}() gives something else each time; a model may not use it")))
        }
        None => Ok(frame),
    }
}

/// Where a model's rows are written.
pub(super) fn derived(run: &Path, model: &Model) -> PathBuf {
    file_in(&run.join(DERIVED), model)
}

/// The file of a model's rows in a folder.
pub(super) fn file_in(folder: &Path, model: &Model) -> PathBuf {
    folder.join(format!("{}.parquet", model.name))
}

/// Registers a model as a view: its rows are computed where it is read.
pub(super) fn register_view(session: &Session, model: &Model) -> Result<()> {
    let (ctx, copy) = (session.context().clone(), model.clone());
    let view = session.wait(async move { planned(&ctx, &copy).await }).flatten().map_err(|e| of_model(model, e))?;
    session.register(&model.name, view.into_view())
}

/// Names the model in an error of its SQL.
fn of_model(model: &Model, error: Error) -> Error {
    match error {
        Error::Query(what) => model.wrong(&what),
        other => other,
    }
}
