//! Inputs: what must hold of raw tables before anything is derived from them.
//!
//! In: a session with a run's tables. Out: the first fault: a key twice, a row of an unknown prompt or wording,
//! a baseline that was never asked. Only keys are read.

use std::path::Path;

use super::files::is_parquet;
use super::graph::Graph;
use super::promises::{duplicates, first_row, literal, named, quoted};
use super::session::Session;
use crate::error::InputError;
use crate::store::files::files_below;
use crate::store::schema::TABLES;
use crate::{Error, Result};

/// A table that stands in for a model: its name, the name that the session knows it by, its file within the run.
pub(super) struct Given {
    pub(super) model: String,
    pub(super) table: String,
    pub(super) file: std::path::PathBuf,
}

/// Refuses a run whose tables can't be analysed.
///
/// # Errors
/// The first fault, with table, key values and files.
pub(super) fn check(session: &Session, run: &Path, given: &[Given], graph: &Graph) -> Result<()> {
    let faults = [
        keys_twice(session, run, given, graph)?,
        rows_without_relation(session, None)?,
        baselines_missing(session, None)?,
    ];
    faults.into_iter().flatten().next().map_or(Ok(()), |fault| Err(fault.into()))
}

/// The first key that stands twice in a raw table or in a table that stands in for a model.
pub(super) fn keys_twice(session: &Session, run: &Path, given: &[Given], graph: &Graph) -> Result<Option<InputError>> {
    for table in TABLES {
        let key: Vec<String> = table.key.iter().map(ToString::to_string).collect();
        if let Some((keys, first)) = duplicates(session, table.name, &key)? {
            return twice(session, table.name, keys, &first, run.join(table.name).as_path()).map(Some);
        }
    }
    for given in given {
        let Some(model) = graph.model(&given.model) else { continue };
        let columns = session.query(&format!("select * from {} limit 0", quoted(&given.table)))?;
        let has = |column: &String| columns.iter().any(|b| b.column_by_name(column).is_some());
        // Missing columns are told by the contract.
        if model.contract.unique.is_empty() || !model.contract.unique.iter().all(has) {
            continue;
        }
        if let Some((keys, first)) = duplicates(session, &given.table, &model.contract.unique)? {
            return twice(session, &given.model, keys, &first, &given.file).map(Some);
        }
    }
    Ok(None)
}

fn twice(session: &Session, table: &str, keys: u64, first: &[(String, String)], place: &Path) -> Result<InputError> {
    let mut error = Error::input(format!("the table {table} has more than one row of one key"))
        .found(format!("{}{}", named(first), if keys > 1 { format!(", and {} more", keys - 1) } else { String::new() }))
        .expected("one row a key")
        .fix("delete what is one too many; rows of one key would count twice");
    let files = holding(session, first, place)?;
    if let Some(file) = files.first() {
        error = error.file(file);
        if let [_, other, ..] = &files[..] {
            error.what.push_str(&format!("; one of them in {other}"));
        }
    }
    Ok(error)
}

/// The first two files that hold a key.
fn holding(session: &Session, key: &[(String, String)], place: &Path) -> Result<Vec<String>> {
    let value = |name: &str| key.iter().find(|(n, _)| n == name).map_or("", |(_, value)| value.as_str());
    let mut place = place.to_path_buf();
    let mut inside: Vec<&(String, String)> = key.iter().collect();
    if place.is_dir() {
        place = place.join(format!("model={}", value("model"))).join(format!("dataset={}", value("dataset")));
        inside.retain(|(name, _)| name != "model" && name != "dataset");
    } else if !place.is_file() {
        place.set_extension("parquet");
    }
    let files = if place.is_dir() { files_below(&place)? } else { vec![place] };
    let conditions: Vec<String> =
        inside.iter().map(|(name, value)| format!("cast({} as varchar) = {}", quoted(name), literal(value))).collect();
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.is_file() && is_parquet(file)) {
        let path = file.to_string_lossy();
        let sql = format!("select 1 from {} where {} limit 1", quoted(&path), conditions.join(" and "));
        if session.query(&sql)?.iter().any(|batch| batch.num_rows() > 0) {
            found.push(path.into_owned());
        }
        if found.len() == 2 {
            break;
        }
    }
    Ok(found)
}

/// The first row that belongs to no prompt, or to no wording, of its run. A run without prompts (or wordings)
/// says nothing about them. `run`: the column that tells runs apart, where the tables hold several.
pub(crate) fn rows_without_relation(session: &Session, run: Option<&str>) -> Result<Option<InputError>> {
    let (own, same_run) = (own(run), same_run(run));
    let only_runs_of = |alias: &str, table: &str| match run {
        Some(run) => format!("where {alias}.{run} in (select {run} from {table})"),
        None => String::new(),
    };
    let is_empty = |table: &str| -> Result<bool> {
        let rows = session.query(&format!("select 1 from {} limit 1", quoted(table)))?;
        Ok(rows.iter().all(|batch| batch.num_rows() == 0))
    };
    if is_empty("variants")? {
        return Ok(None);
    }
    if !is_empty("prompts")? {
        let unknown = format!(
            "select {own_v}v.dataset, v.prompt_id, v.variant_id
             from prompts as p
             right anti join variants as v on {same}v.dataset = p.dataset and v.prompt_id = p.prompt_id
             {only}
             order by {own_v}v.dataset, v.prompt_id, v.variant_id limit 1",
            own_v = own("v"),
            same = same_run("v", "p"),
            only = only_runs_of("v", "prompts"),
        );
        if let Some(fault) = unknown_to(session, &unknown, "variants", "prompt", "prompts")? {
            return Ok(Some(fault));
        }
    }
    for table in TABLES.iter().filter(|table| table.partitioned && session.has(table.name)) {
        let unknown = format!(
            "select {own_m}m.model, m.dataset, m.prompt_id, m.variant_id
             from variants as v
             right anti join {table} as m
                 on {same}m.dataset = v.dataset and m.prompt_id = v.prompt_id and m.variant_id = v.variant_id
             {only}
             order by {own_m}m.model, m.dataset, m.prompt_id, m.variant_id limit 1",
            own_m = own("m"),
            table = quoted(table.name),
            same = same_run("m", "v"),
            only = only_runs_of("m", "variants"),
        );
        if let Some(fault) = unknown_to(session, &unknown, table.name, "wording", "variants")? {
            return Ok(Some(fault));
        }
    }
    Ok(None)
}

fn unknown_to(session: &Session, sql: &str, table: &str, what: &str, known: &str) -> Result<Option<InputError>> {
    let first = first_row(&session.query(sql)?);
    if first.is_empty() {
        return Ok(None);
    }
    let error = Error::input(format!("the table {table} has a row whose {what} is not in the table {known}"));
    Ok(Some(error.found(named(&first)).fix("are these files of one run?")))
}

/// The first baseline that was never asked although wordings that are measured against it were. One that was asked
/// and failed is a row with an error: its deltas are NULL, and the rest counts. `run` as in [`rows_without_relation`].
pub(crate) fn baselines_missing(session: &Session, run: Option<&str>) -> Result<Option<InputError>> {
    let sql = format!(
        "select {key}
         from variants as v
         inner join generations as g
             on {same}g.dataset = v.dataset and g.prompt_id = v.prompt_id and g.variant_id = v.variant_id
         group by {key}
         having not bool_or(g.variant_id = v.baseline_id and g.repeat = 0) and bool_or(not v.is_baseline)
         order by {key} limit 1",
        key = format!("{}g.model, g.dataset, g.prompt_id, v.baseline_id", own(run)("g")),
        same = same_run(run)("g", "v"),
    );
    let first = first_row(&session.query(&sql)?);
    if first.is_empty() {
        return Ok(None);
    }
    let error = Error::input("wordings were asked, but not the baseline that they are measured against");
    let error = error.found(named(&first)).expected("a row of it in the table generations, repeat 0");
    Ok(Some(error.fix("run `sago run` again where a part is missing; add the baseline's row to tables of your own")))
}

/// The column `run` of a table, as the first of a list.
fn own(run: Option<&str>) -> impl Fn(&str) -> String {
    move |table| run.map_or_else(String::new, |run| format!("{table}.{run}, "))
}

/// What two rows of one run have in common, as the first of several conditions.
fn same_run(run: Option<&str>) -> impl Fn(&str, &str) -> String {
    move |a, b| run.map_or_else(String::new, |run| format!("{a}.{run} = {b}.{run} and "))
}
