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
    kept && session.register_file(&model.name, &path).is_ok()
}

/// Computes a model in `folder` and registers it; a view is only registered.
pub(super) fn compute(session: &Session, model: &Model, origins: &Origins, folder: &Path) -> Result<()> {
    match model.contract.kind {
        Kind::View => register_view(session, model),
        Kind::Table => make(session, model, origins, &folder.join(format!("{}.parquet", model.name))).map(drop),
    }
}

/// Runs a model, writes its rows to `path` and registers them.
pub(super) fn make(session: &Session, model: &Model, origins: &Origins, path: &Path) -> Result<Materialized> {
    let start = Instant::now();
    let (ctx, copy, target) = (session.context().clone(), model.clone(), path.to_path_buf());
    let metadata = origins.metadata(&model.name);
    let rows = session
        .wait(async move { materialize::write(planned(&ctx, &copy).await?, &copy, metadata, &target).await })
        .flatten()
        .map_err(|e| of_model(model, session.blame(e)))?;
    session.register_file(&model.name, path)?;
    Ok(Materialized { name: model.name.clone(), rows, seconds: start.elapsed().as_secs_f64() })
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
    run.join(DERIVED).join(format!("{}.parquet", model.name))
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
