//! Verify: whether a release is whole, and whether its scores follow from its deltas.
//!
//! In: a folder that `sago release` made. Out: one [`Check`] after another: bytes, files, counts, columns, relations,
//! contracts, texts that are left out, baselines, SGS, matrices. Nothing in the folder is written, and no run is needed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::checksums::{self, Sums};
use super::index::{Index, IndexedTable};
use super::{croissant, index, matrices, sgs, sources, tables};
use crate::query::{
    Analysis, Check, Checks, RUN, Session, Stop, baselines_missing, broken_promises, columns, first_row, named,
    one_line, open_released, quoted, rows_without_relation, short, sql_type,
};
use crate::store::sums::SUMS;
use crate::{Error, Result};

/// Whether a folder is a release rather than a run. What holds release.json is one, whatever lies beside it.
pub fn is_release(folder: &Path) -> bool {
    let looks_like_one =
        folder.join(SUMS).is_file() || folder.join(tables::FOLDER).is_dir() && folder.join(matrices::FOLDER).is_dir();
    folder.join(index::FILE).is_file() || !folder.join("plan.json").exists() && looks_like_one
}

/// Checks a release; `tell` hears of every check as it is done. True where all hold.
///
/// # Errors
/// When the folder can't be read although nothing before had failed.
pub fn verify(analysis: &Analysis, folder: &Path, tell: impl FnMut(&Check)) -> Result<bool> {
    verify_until(analysis, folder, &Stop::default(), tell)
}

/// As [`verify`], until `stop` is asked for.
pub(super) fn verify_until(analysis: &Analysis, folder: &Path, stop: &Stop, tell: impl FnMut(&Check)) -> Result<bool> {
    let mut checks = Checks::new(tell);
    match carry_out(analysis, folder, stop, &mut checks) {
        Err(Error::Interrupted) => return Err(Error::Interrupted),
        // What failed before is the reason, and is told.
        Err(error) if checks.failed() => checks.add("the rest can be checked", Some(one_line(&error))),
        other => other?,
    }
    Ok(!checks.failed())
}

fn carry_out<F: FnMut(&Check)>(analysis: &Analysis, folder: &Path, stop: &Stop, checks: &mut Checks<F>) -> Result<()> {
    let sums = checksums::of_files(folder)?;
    bytes(folder, &sums, checks);
    if !folder.join(index::FILE).is_file() {
        checks.add("the release says what it holds", Some(format!("{} is missing", index::FILE)));
        return Ok(());
    }
    let index = Index::read(folder)?;
    files(&sums, &index, checks);

    // What is missing was told.
    let whole = |table: &&IndexedTable| table.paths(folder).iter().all(|file| file.is_file());
    let there: Vec<&IndexedTable> = index.tables.iter().filter(whole).collect();
    let open: Vec<(&str, Vec<PathBuf>, _)> =
        there.iter().map(|table| (table.name.as_str(), table.paths(folder), table.schema())).collect();
    let session = open_released(analysis.resources(), &open)?;
    let has = |names: &[&'static str]| names.iter().all(|name| session.has(name));
    let mut add = |what: &str, fault: Option<String>| {
        checks.add(what, fault);
        stop.check()
    };
    add("tables have as many rows as release.json says", counts(&session, &there)?)?;
    add("tables have their columns and types", schemas(&session, &there)?)?;
    let run = (index.runs.len() > 1).then_some(RUN);
    if has(&["prompts", "variants", "generations"]) {
        let relations = rows_without_relation(&session, run)?;
        add("rows belong to prompts and wordings of their run", relations.map(|fault| short(&fault)))?;
        let baselines = baselines_missing(&session, run)?;
        add("every wording's baseline was asked", baselines.map(|fault| short(&fault)))?;
    }
    let contracts: Vec<_> =
        there.iter().filter(|table| table.rows > 0).map(|t| (t.name.as_str(), &t.contract)).collect();
    let broken = broken_promises(&session, &contracts)?;
    let more = if broken.len() > 1 { format!(" (and {} more promises)", broken.len() - 1) } else { String::new() };
    add("keys and contracts of tables hold", broken.first().map(|violation| format!("{violation}{more}")))?;
    add("texts are left out where release.json says so, and only there", texts(&session, &index, &there)?)?;

    let absent: Vec<&str> = sgs::NEEDED.into_iter().filter(|name| !session.has(name)).collect();
    if absent.is_empty() {
        let aside = tempfile::tempdir().map_err(Error::io("write in", std::env::temp_dir()))?;
        add("every baseline's delta of repeat 0 is exactly 0", sgs::baseline(&session)?)?;
        add("deltas on the fixed scale are the deltas over R, to 1e-9", sgs::scaled_difference(&session)?)?;
        add("instability and SGS follow from the deltas, to 1e-9", sgs::difference(&session, aside.path())?)?;
        let what = format!("{} wide matrices equal the long tables", index.matrices.len());
        add(&what, matrices::difference(&session, folder, &index.matrices, stop)?)?;
    } else {
        let fault = format!("there is no table {}", absent.join(", "));
        add("SGS can be computed from the deltas", Some(fault))?;
    }
    add("the Croissant metadata has the files' checksums", croissant::difference(folder, &sums))
}

/// Each file that differs from SHA256SUMS is a check of its own.
fn bytes<F: FnMut(&Check)>(folder: &Path, sums: &Sums, checks: &mut Checks<F>) {
    let what = "files have the bytes of SHA256SUMS, and no other is there";
    if !folder.join(SUMS).is_file() {
        return checks.add(what, Some(format!("{SUMS} is missing")));
    }
    match checksums::differences(folder, sums, &croissant::sums(folder).unwrap_or_default()) {
        Ok(none) if none.is_empty() => checks.add(&format!("{} {what}", sums.len().saturating_sub(1)), None),
        Ok(differences) => differences.into_iter().for_each(|difference| checks.add(what, Some(difference))),
        Err(unreadable) => checks.add(what, Some(one_line(&unreadable))),
    }
}

/// Tables and matrices that are there are those of release.json.
fn files<F: FnMut(&Check)>(sums: &Sums, index: &Index, checks: &mut Checks<F>) {
    let tables = index.tables.iter().flat_map(|table| &table.files);
    let listed: BTreeSet<&String> = tables.chain(index.matrices.iter().map(|matrix| &matrix.file)).collect();
    let of_release = |name: &&String| {
        let own = [tables::FOLDER, matrices::FOLDER].iter().any(|own| name.starts_with(&format!("{own}/")));
        own && name.ends_with(".parquet")
    };
    let there: BTreeSet<&String> = sums.keys().filter(of_release).collect();
    let missing = listed.difference(&there).map(|name| format!("{name} is missing"));
    let others = there.difference(&listed).map(|name| format!("{name} is not of the release"));
    let faults: Vec<String> = missing.chain(others).collect();
    let what = format!("{} tables and {} matrices are there", index.tables.len(), index.matrices.len());
    checks.add(&what, if faults.is_empty() { None } else { Some(faults.join("; ")) });
}

fn counts(session: &Session, there: &[&IndexedTable]) -> Result<Option<String>> {
    for table in there {
        let found = tables::rows(session, &table.name)?;
        if found != table.rows {
            return Ok(Some(format!("{} has {found} rows, not {}", table.name, table.rows)));
        }
    }
    Ok(None)
}

/// The first table whose columns are not those of release.json.
fn schemas(session: &Session, there: &[&IndexedTable]) -> Result<Option<String>> {
    for table in there {
        let found = columns(session, &table.name)?;
        for wanted in &table.columns {
            let name = &wanted.name;
            match found.iter().find(|(found, _)| found == name).map(|(_, kind)| sql_type(kind)) {
                None => return Ok(Some(format!("{}: there is no column {name}", table.name))),
                Some(kind) if kind != wanted.kind => {
                    return Ok(Some(format!("{}: column {name} is {kind}, not {}", table.name, wanted.kind)));
                }
                Some(_) => {}
            }
        }
        let known = |name: &String| table.columns.iter().any(|column| column.name == *name);
        if let Some((name, _)) = found.iter().find(|(name, _)| !known(name)) {
            return Ok(Some(format!("{}: column {name} is none of the table's", table.name)));
        }
    }
    Ok(None)
}

/// The first row whose texts are there although they are left out, or whose prompt has none although they are not.
fn texts(session: &Session, index: &Index, there: &[&IndexedTable]) -> Result<Option<String>> {
    let left_out = sources::is_left_out(&index.texts_left_out).unwrap_or_else(|| "false".to_string());
    for table in there {
        let hidden = tables::hidden(&table.name);
        // Other tables may lack texts of their own accord.
        let always = |name: &str| {
            if table.name == "prompts" { format!(" or not ({left_out}) and {name} is null") } else { String::new() }
        };
        let wrong = |name: &&str| format!("({left_out}) and {name} is not null{}", always(&quoted(name)));
        let key: Vec<String> = table.contract.unique.iter().map(|name| quoted(name)).collect();
        let (key, wrong) = (key.join(", "), hidden.iter().map(wrong).collect::<Vec<_>>());
        if wrong.is_empty() {
            continue;
        }
        let sql =
            format!("select {key} from {} where {} order by {key} limit 1", quoted(&table.name), wrong.join(" or "));
        let first = first_row(&session.query(&sql)?);
        if !first.is_empty() {
            return Ok(Some(format!("{}: {} is not so in the row {}", table.name, hidden.join(" or "), named(&first))));
        }
    }
    Ok(None)
}
