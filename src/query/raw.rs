//! Raw tables: what a run has measured, as SQL names it.
//!
//! In: a run directory. Out: every table of [`crate::store::schema`] in a session; one that the run does not have
//! (no hidden states kept, no teacher forcing) is there without rows, so that every query can be planned.

use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::datasource::{MemTable, TableProvider};
use datafusion::prelude::SessionContext;

use super::session::Session;
use super::{damage, files};
use crate::store::files::files_below;
use crate::store::schema::{TABLES, Table};
use crate::{Error, Result};

/// The partition columns: in the path of a part, not in the part.
const PARTITIONS: [&str; 2] = ["model", "dataset"];

/// Names of the raw tables.
pub(super) fn names() -> Vec<&'static str> {
    TABLES.iter().map(|table| table.name).collect()
}

/// Registers every raw table of `run`.
pub(super) fn register(session: &Session, run: &Path) -> Result<()> {
    check_whole(run)?;
    for table in TABLES {
        let ctx = session.context();
        let provider = if table.partitioned { parts(ctx, table, run)? } else { file(ctx, table, run)? };
        session.register(table.name, provider)?;
    }
    Ok(())
}

/// Registers every raw table without rows.
pub(super) fn register_empty(session: &Session) -> Result<()> {
    for table in TABLES {
        session.register(
            table.name,
            if table.partitioned { no_parts(table)? } else { empty(table.name, table.schema())? },
        )?;
    }
    Ok(())
}

/// A run that has generated knows of what: without these tables every figure would be of nothing.
fn check_whole(run: &Path) -> Result<()> {
    let generations = run.join("generations");
    if !run.join("plan.json").is_file() || !generations.is_dir() {
        return Ok(());
    }
    if !files_below(&generations)?.iter().any(|part| files::is_parquet(part)) {
        return Ok(());
    }
    for name in ["prompts.parquet", "variants.parquet"] {
        let path = run.join(name);
        if !path.is_file() {
            return Err(Error::input(format!("the run {} lacks {name}", run.display()))
                .file(&path)
                .found("generations, but not what they were generated from")
                .fix("run `sago run` again; it makes anew what is missing")
                .into());
        }
    }
    Ok(())
}

fn file(ctx: &SessionContext, table: &Table, run: &Path) -> Result<Arc<dyn TableProvider>> {
    let path = run.join(table.name).with_extension("parquet");
    if path.is_file() {
        damage::check_part(&path)?;
    }
    if path.is_file() { files::open_part(ctx, &path, table.schema()) } else { empty(table.name, table.schema()) }
}

fn parts(ctx: &SessionContext, table: &Table, run: &Path) -> Result<Arc<dyn TableProvider>> {
    let folder = run.join(table.name);
    if folder.is_dir() {
        // An empty file would be passed over as a part without rows.
        for part in files_below(&folder)?.iter().filter(|part| files::is_parquet(part)) {
            damage::check_part(part)?;
        }
        return files::open_parts(ctx, &folder, &PARTITIONS, table.schema());
    }
    no_parts(table)
}

fn no_parts(table: &Table) -> Result<Arc<dyn TableProvider>> {
    // Where the folder is there, the partition columns come last as well.
    let mut fields = table.schema().fields().to_vec();
    fields.extend(PARTITIONS.map(|name| Arc::new(Field::new(name, DataType::Utf8, false))));
    empty(table.name, Arc::new(Schema::new(fields)))
}

fn empty(name: &str, schema: SchemaRef) -> Result<Arc<dyn TableProvider>> {
    Ok(Arc::new(MemTable::try_new(schema, vec![Vec::new()]).map_err(Error::table(name))?))
}
