//! Verify: whether a release is whole, and whether its scores follow from its deltas.
//!
//! In: a folder that `sago release` made. Out: one [`Check`] after another: bytes, files, counts, columns, keys,
//! contracts, baselines, SGS, matrices, metadata. Nothing in the folder is written, and no run is needed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::index::Index;
use super::{checksums, croissant, index, matrices, sgs, tables};
use crate::query::{
    Analysis, Check, Checks, RUN, Session, broken_promises, columns, duplicates, first_row, named, one_line,
    open_released, quoted,
};
use crate::store::schema::Table;
use crate::store::sums::{self, SUMS};
use crate::{Error, Result};

/// Whether a folder is a release rather than a run: it holds what only releases hold.
pub fn is_release(folder: &Path) -> bool {
    !folder.join("plan.json").exists()
        && (folder.join(index::FILE).is_file() || folder.join(SUMS).is_file() || {
            folder.join(tables::FOLDER).is_dir() && folder.join(matrices::FOLDER).is_dir()
        })
}

/// Checks a release; `tell` hears of every check as it is done. True where all hold.
///
/// # Errors
/// When the folder can't be read although nothing before had failed.
pub fn verify(analysis: &Analysis, folder: &Path, tell: impl FnMut(&Check)) -> Result<bool> {
    let mut checks = Checks::new(tell);
    match carry_out(analysis, folder, &mut checks) {
        // What failed before is the reason, and is told.
        Err(error) if checks.failed() => checks.add("the rest can be checked", Some(one_line(&error))),
        other => other?,
    }
    Ok(!checks.failed())
}

fn carry_out<F: FnMut(&Check)>(analysis: &Analysis, folder: &Path, checks: &mut Checks<F>) -> Result<()> {
    bytes(folder, checks)?;
    if !folder.join(index::FILE).is_file() {
        checks.add("the release says what it holds", Some(format!("{} is missing", index::FILE)));
        return Ok(());
    }
    let index = Index::read(folder)?;
    files(folder, &index, checks)?;

    let mut open: Vec<(String, Vec<PathBuf>)> = Vec::new();
    for table in &index.tables {
        let files: Vec<PathBuf> = table.files.iter().map(|name| folder.join(name)).collect();
        // What is missing was told.
        if !files.is_empty() && files.iter().all(|file| file.is_file()) {
            open.push((table.name.clone(), files));
        }
    }
    let session = open_released(analysis.resources(), &open)?;
    let there: BTreeSet<String> = open.into_iter().map(|(name, _)| name).collect();
    checks.add("tables have as many rows as release.json says", counts(&session, &index, &there)?);
    checks.add("raw tables have their columns and types", schemas(&session, &there)?);
    checks.add("keys are unique", keys(&session, &index, &there)?);
    let broken = broken_promises(&session, &there)?;
    let more = if broken.len() > 1 { format!(" (and {} more promises)", broken.len() - 1) } else { String::new() };
    checks.add("contracts of derived tables hold", broken.first().map(|violation| format!("{violation}{more}")));

    let absent: Vec<&str> = sgs::NEEDED.into_iter().filter(|name| !there.contains(*name)).collect();
    if absent.is_empty() {
        checks.add("every baseline's delta of repeat 0 is exactly 0", sgs::baseline(&session)?);
        checks.add("instability and SGS follow from the deltas, to 1e-9", sgs::difference(&session)?);
        let what = format!("{} wide matrices equal the long tables", index.matrices.len());
        checks.add(&what, matrices::difference(&session, folder, &index.matrices)?);
    } else {
        let fault = format!("there is no table {}", absent.join(", "));
        checks.add("SGS can be computed from the deltas", Some(fault));
    }
    checks.add("the Croissant metadata has the files' checksums", croissant::difference(folder)?);
    Ok(())
}

/// Each file that differs from SHA256SUMS is a check of its own.
fn bytes<F: FnMut(&Check)>(folder: &Path, checks: &mut Checks<F>) -> Result<()> {
    let what = "files have the bytes of SHA256SUMS, and no other is there";
    if !folder.join(SUMS).is_file() {
        checks.add(what, Some(format!("{} is missing", SUMS)));
        return Ok(());
    }
    let differences = checksums::differences(folder)?;
    if differences.is_empty() {
        checks.add(&format!("{} {what}", sums::read(folder)?.len()), None);
    }
    differences.into_iter().for_each(|difference| checks.add(what, Some(difference)));
    Ok(())
}

/// Tables and matrices that are there are those of release.json.
fn files<F: FnMut(&Check)>(folder: &Path, index: &Index, checks: &mut Checks<F>) -> Result<()> {
    let tables = index.tables.iter().flat_map(|table| &table.files);
    let listed: BTreeSet<&String> = tables.chain(index.matrices.iter().map(|matrix| &matrix.file)).collect();
    let of_release = |name: &&String| {
        let own = [tables::FOLDER, matrices::FOLDER].iter().any(|own| name.starts_with(&format!("{own}/")));
        own && name.ends_with(".parquet")
    };
    let names = checksums::names(folder)?;
    let there: BTreeSet<&String> = names.iter().filter(of_release).collect();
    let missing = listed.difference(&there).map(|name| format!("{name} is missing"));
    let others = there.difference(&listed).map(|name| format!("{name} is not of the release"));
    let faults: Vec<String> = missing.chain(others).collect();
    let what = format!("{} tables and {} matrices are there", index.tables.len(), index.matrices.len());
    checks.add(&what, if faults.is_empty() { None } else { Some(faults.join("; ")) });
    Ok(())
}

fn counts(session: &Session, index: &Index, there: &BTreeSet<String>) -> Result<Option<String>> {
    for table in index.tables.iter().filter(|table| there.contains(&table.name)) {
        let first = first_row(&session.query(&format!("select count(*) from {}", quoted(&table.name)))?);
        let found = first.first().map_or("no", |(_, n)| n.as_str());
        if found != table.rows.to_string() {
            return Ok(Some(format!("{} has {found} rows, not {}", table.name, table.rows)));
        }
    }
    Ok(None)
}

/// The first raw table whose columns are not its keys (and the run), then its own.
fn schemas(session: &Session, there: &BTreeSet<String>) -> Result<Option<String>> {
    for table in there.iter().filter_map(|name| Table::named(name)) {
        let found = columns(session, table.name)?;
        let declared = table.schema();
        for field in declared.fields() {
            let kind = found.iter().find(|(name, _)| name == field.name()).map(|(_, kind)| kind);
            match kind {
                None => return Ok(Some(format!("{}: there is no column {}", table.name, field.name()))),
                Some(kind) if kind != field.data_type() => {
                    let (name, wanted) = (field.name(), field.data_type());
                    return Ok(Some(format!("{}: column {name} is {kind}, not {wanted}", table.name)));
                }
                Some(_) => {}
            }
        }
        let absent = table.key.iter().find(|key| !found.iter().any(|(name, _)| name == **key));
        let unknown = found.iter().map(|(name, _)| name).find(|name| {
            let known = table.key.contains(&name.as_str()) || declared.field_with_name(name).is_ok();
            !known && *name != RUN
        });
        if let Some(name) = absent {
            return Ok(Some(format!("{}: there is no column {name}", table.name)));
        }
        if let Some(name) = unknown {
            return Ok(Some(format!("{}: column {name} is none of the table's", table.name)));
        }
    }
    Ok(None)
}

fn keys(session: &Session, index: &Index, there: &BTreeSet<String>) -> Result<Option<String>> {
    for table in index.tables.iter().filter(|table| there.contains(&table.name) && !table.key.is_empty()) {
        let known = columns(session, &table.name)?;
        if let Some(column) = table.key.iter().find(|key| !known.iter().any(|(name, _)| name == *key)) {
            return Ok(Some(format!("{}: there is no column {column}, which is of its key", table.name)));
        }
        if let Some((_, first)) = duplicates(session, &table.name, &table.key).map_err(|e| match e {
            Error::Query(what) => Error::table(&table.name)(what),
            other => other,
        })? {
            return Ok(Some(format!("{} has more than one row of {}", table.name, named(&first))));
        }
    }
    Ok(None)
}
