//! Runs: several runs as one set of tables.
//!
//! In: run directories. Out: a session in which each table holds the rows of all of them, with a first column `run`.
//! Constants of the method stay as they are; a table that a run lacks has no rows of it, a column that it lacks is NULL.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Column, ScalarValue, TableReference};
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, cast, lit};
use datafusion::prelude::{DataFrame, SessionContext};

use super::analysis::{Analysis, given};
use super::models::STAGES;
use super::session::{Session, failed};
use crate::{Error, Result};

/// The column that says from which run a row is.
pub(super) const RUN: &str = "run";

impl Analysis {
    /// A session with the tables of all `runs`: of one run as [`Analysis::open`], of several each table is the union
    /// by column name, with a first column `run` (the folder's name; the path where two folders have one name).
    ///
    /// # Errors
    /// As [`Analysis::open`]; a run that is given twice; a table that has a column `run` already.
    pub fn open_all(&self, runs: &[PathBuf]) -> Result<Session> {
        if let [only] = runs {
            return self.open(only);
        }
        let names = names(runs)?;
        let sessions = runs.iter().map(|run| self.open(run)).collect::<Result<Vec<_>>>()?;
        // A constant that a run brought itself may differ from another run's.
        let own = runs.iter().map(|run| given(run)).collect::<Result<Vec<_>>>()?;
        let constants = STAGES.iter().filter(|(stage, _)| *stage == "constants").flat_map(|(_, models)| models.iter());
        let constants: BTreeSet<&str> = constants
            .copied()
            .filter(|name| !own.iter().flatten().any(|own| own.model == *name))
            .filter(|name| !sessions.iter().any(|session| session.own_models().any(|own| own.name == *name)))
            .collect();

        let mut all = Session::with(self.resources())?;
        let tables: BTreeSet<String> = sessions.iter().flat_map(Session::tables).collect();
        for table in tables {
            let several = !constants.contains(table.as_str());
            let parts: Vec<(Option<String>, SessionContext)> = names
                .iter()
                .zip(&sessions)
                .filter(|(_, session)| session.has(&table))
                .take(if several { usize::MAX } else { 1 })
                .map(|(name, session)| (several.then(|| name.clone()), session.context().clone()))
                .collect();
            let name = table.clone();
            all.register_lazily(&table, move |ctx| {
                let (name, parts) = (name.clone(), parts.clone());
                async move { union(&ctx, &name, parts).await.map(DataFrame::into_view).map_err(|e| of_table(&name, e)) }
            })?;
        }
        all.keep(sessions);
        Ok(all)
    }
}

/// Names the table in an error that does not.
fn of_table(table: &str, error: Error) -> Error {
    match error {
        Error::Query(what) => Error::Table { table: table.to_string(), what },
        other => other,
    }
}

/// What each run is called in the column `run`.
///
/// # Errors
/// A run that is given twice.
pub(crate) fn names(runs: &[PathBuf]) -> Result<Vec<String>> {
    let whole: Vec<PathBuf> = runs.iter().map(|run| run.canonicalize().unwrap_or_else(|_| run.clone())).collect();
    for (at, run) in whole.iter().enumerate() {
        if whole.iter().take(at).any(|before| before == run) {
            return Err(Error::input(format!("the run {} is given twice", run.display())).into());
        }
    }
    let folder = |run: &Path| run.file_name().map_or_else(|| run.display().to_string(), |n| n.to_string_lossy().into());
    let folders: Vec<String> = whole.iter().map(|run| folder(run)).collect();
    let name = |(at, folder): (usize, &String)| {
        let twice = folders.iter().filter(|other| *other == folder).count() > 1;
        let path = runs.get(at).map(|run| run.display().to_string()).unwrap_or_default();
        if twice { path.trim_end_matches('/').to_string() } else { folder.clone() }
    };
    Ok(folders.iter().enumerate().map(name).collect())
}

/// The rows of a table in each of the contexts, with the run's name where one is given.
async fn union(ctx: &SessionContext, table: &str, parts: Vec<(Option<String>, SessionContext)>) -> Result<DataFrame> {
    let mut columns: Vec<(String, DataType)> = Vec::new();
    let mut scans = Vec::new();
    for (run, part) in parts {
        let provider = part.table_provider(TableReference::bare(table)).await.map_err(failed)?;
        for field in provider.schema().fields() {
            if run.is_some() && field.name() == RUN {
                return Err(Error::Query(format!("it has a column {RUN} already; ask one run at a time")));
            }
            if !columns.iter().any(|(name, _)| name == field.name()) {
                columns.push((field.name().clone(), field.data_type().clone()));
            }
        }
        scans.push((run, provider));
    }
    let mut whole: Option<LogicalPlan> = None;
    for (run, provider) in scans {
        let schema = provider.schema();
        let mut row: Vec<Expr> = run.map(|name| lit(name).alias(RUN)).into_iter().collect();
        for (name, kind) in &columns {
            let own = || Expr::Column(Column::new(Some(TableReference::bare(table)), name));
            row.push(match schema.column_with_name(name) {
                Some((_, field)) if field.data_type() == kind => own().alias(name),
                Some(_) => cast(own(), kind.clone()).alias(name),
                None => lit(ScalarValue::try_from(kind).map_err(failed)?).alias(name),
            });
        }
        let scan = LogicalPlanBuilder::scan(table, provider_as_source(provider), None).map_err(failed)?;
        let rows = scan.project(row).map_err(failed)?;
        let next = match whole.take() {
            None => rows,
            Some(before) => LogicalPlanBuilder::from(before).union(rows.build().map_err(failed)?).map_err(failed)?,
        };
        whole = Some(next.build().map_err(failed)?);
    }
    let Some(plan) = whole else { return Err(Error::Query("no run has it".to_string())) };
    Ok(DataFrame::new(ctx.state(), plan))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_called_by_their_folders_as_far_as_these_differ() {
        let dir = tempfile::tempdir().unwrap();
        for run in ["a/first", "b/first", "b/second"] {
            std::fs::create_dir_all(dir.path().join(run)).unwrap();
        }
        let path = |run: &str| dir.path().join(run);
        let called = names(&[path("a/first"), path("b/first/"), path("b/second/")]).unwrap();
        let shown = |run: &str| path(run).display().to_string();
        assert_eq!(called, [shown("a/first"), shown("b/first"), "second".to_string()]);
        assert_eq!(names(&[path("a/first"), path("b/second/.")]).unwrap(), ["first", "second"]);
        let twice = names(&[path("a/first"), path("b/../a/first")]).unwrap_err().to_string();
        assert!(twice.contains("given twice"), "{twice}");
    }
}
