//! Verify: whether a run is what it says it is.
//!
//! In: a run directory. Out: one [`Check`] after another: bytes, schemas, keys, relations, counts, derived tables
//! against those that the raw tables give, contracts, baselines.
//! Nothing in the run is written; what is derived for it lies in a temporary folder.

use std::path::Path;

use super::analysis::{Analysis, check_is_run, given};
use super::contract::Kind;
use super::derived_sums::{self, DERIVED};
use super::graph::Model;
use super::inputs;
use super::making::{derived, file_in};
use super::promises::{self, first_row, named};
use super::session::Session;
use super::side_by_side::make_all;
use super::{damage, same_rows};
use crate::error::InputError;
use crate::store::check::check_sums;
use crate::store::manifest::{Manifest, raw_files};
use crate::store::schema::{TABLES, Table};
use crate::store::sums::SUMS;
use crate::{Error, Result};

/// A run gets its manifest when it ends.
const NO_MANIFEST: &str = "there is no manifest.json: the run did not end, or the file was removed; the command that \
    made the run goes on with it and writes one";
/// Why a stored table may differ without anybody's fault.
const OTHER_ORIGIN: &str =
    "; it was written from other raw tables or models, or by another version: `sago analyze RUN` writes it anew";

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Check {
    /// What holds, as a sentence, where nothing failed.
    pub what: String,
    /// What does not hold, with the first place at fault.
    pub fault: Option<String>,
}

impl std::fmt::Display for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.fault {
            None => write!(f, "ok      {}", self.what),
            Some(fault) => write!(f, "FAILED  {}: {fault}", self.what),
        }
    }
}

/// Checks `run` with the models of `analysis`; `tell` hears of every check as it is done. True where all hold.
///
/// # Errors
/// When the run can't be read although nothing before had failed: it is no run, a file is damaged that no manifest
/// speaks of, a model's SQL fails.
pub fn verify(analysis: &Analysis, run: &Path, tell: impl FnMut(&Check)) -> Result<bool> {
    let mut checks = Checks::new(tell);
    match carry_out(analysis, run, &mut checks) {
        // What failed before is the reason, and is told.
        Err(error) if checks.failed => checks.add("the rest can be checked", Some(one_line(&error))),
        other => other?,
    }
    Ok(!checks.failed)
}

/// Tells of each check and remembers whether one failed.
pub(crate) struct Checks<F> {
    tell: F,
    failed: bool,
}

impl<F: FnMut(&Check)> Checks<F> {
    /// No check yet; `tell` hears of each.
    pub(crate) fn new(tell: F) -> Self {
        Checks { tell, failed: false }
    }

    /// Whether one has failed.
    pub(crate) fn failed(&self) -> bool {
        self.failed
    }

    /// Tells of a check; `fault` is what does not hold.
    pub(crate) fn add(&mut self, what: &str, fault: Option<String>) {
        self.failed |= fault.is_some();
        (self.tell)(&Check { what: what.to_string(), fault });
    }
}

fn carry_out<F: FnMut(&Check)>(analysis: &Analysis, run: &Path, checks: &mut Checks<F>) -> Result<()> {
    check_is_run(run)?;
    match check_sums(run) {
        Ok(Some(parts)) => checks.add(&format!("the plan and {parts} raw files have the bytes of the manifest"), None),
        Ok(None) => checks.add("the run is complete", Some(NO_MANIFEST.to_string())),
        Err(Error::Input(fault)) => {
            let fix = fault.fix.as_ref().map_or_else(String::new, |fix| format!("; {fix}"));
            checks.add("raw files have the bytes of the manifest", Some(short(&fault) + &fix));
        }
        Err(other) => return Err(other),
    }
    checks.add("raw tables have their columns and types", schemas(run)?);
    let session = analysis.raw_session(run)?;
    let (graph, origins) = analysis.graph_with_origins(run)?;
    let said = |fault: Option<InputError>| fault.map(|fault| short(&fault));
    let keys = inputs::keys_twice(&session, run, &given(run)?, &graph)?;
    checks.add("keys of raw tables are unique", said(keys));
    checks.add("rows belong to prompts and wordings of the run", said(inputs::rows_without_relation(&session, None)?));
    checks.add("every wording's baseline was asked", said(inputs::baselines_missing(&session, None)?));
    if run.join("manifest.json").is_file() {
        checks.add("tables have as many rows as the manifest says", counts(&session, &Manifest::read(run)?)?);
    }

    let sums = format!("derived tables have the bytes of {DERIVED}/{SUMS}");
    checks.add(&sums, derived_sums::difference(run, &graph)?);
    let aside = tempfile::tempdir().map_err(Error::io("write in", std::env::temp_dir()))?;
    let (mut stored, mut tables, mut different) = (0, 0, None);
    let models: Vec<&Model> = graph.models().iter().collect();
    make_all(&session, &origins, &models, aside.path(), |_| {})?;
    for model in models {
        let file = derived(run, model);
        if model.contract.kind == Kind::View {
            continue;
        }
        tables += 1;
        if file.is_file() {
            stored += 1;
            let computed = file_in(aside.path(), model);
            let key = &model.contract.unique;
            if different.is_none() {
                let why = if origins.made(&model.name, &file) { "" } else { OTHER_ORIGIN };
                let found = same_rows::first_difference(&file, &computed, key)?;
                different = found.map(|found| format!("{found}{why}"));
            }
        }
    }
    let what = format!("{stored} stored of {tables} derived tables equal what the raw tables give, to 1e-12");
    checks.add(&what, different);

    let mut broken = Vec::new();
    for model in graph.models() {
        broken.extend(promises::check(&session, &model.name, &model.contract)?);
    }
    let more = if broken.len() > 1 { format!(" (and {} more promises)", broken.len() - 1) } else { String::new() };
    let what = format!("contracts of {} models hold", graph.models().len());
    checks.add(&what, broken.first().map(|violation| format!("{violation}{more}")));
    checks.add("every baseline's delta is exactly 0", baselines(&session)?);
    Ok(())
}

/// The first file whose columns are not those of its table.
fn schemas(run: &Path) -> Result<Option<String>> {
    for table in TABLES {
        for file in raw_files(run, table)? {
            let footer = damage::footer(&file).map_err(|found| damage::damaged(&file, found, damage::IN_RUN))?;
            if let Some(fault) = wrong_column(table, footer.schema()) {
                return Ok(Some(format!("{}: {fault}", file.display())));
            }
        }
    }
    Ok(None)
}

fn wrong_column(table: &Table, found: &datafusion::arrow::datatypes::Schema) -> Option<String> {
    let schema = table.schema();
    for field in schema.fields() {
        let Ok(there) = found.field_with_name(field.name()) else {
            return Some(format!("there is no column {}", field.name()));
        };
        // Tools give the items of a list names of their own.
        if !there.data_type().equals_datatype(field.data_type()) {
            return Some(format!("column {} is {}, not {}", field.name(), there.data_type(), field.data_type()));
        }
        if there.is_nullable() && !field.is_nullable() {
            return Some(format!("column {} may be NULL, which it must not", field.name()));
        }
    }
    let unknown = found.fields().iter().find(|field| schema.field_with_name(field.name()).is_err());
    unknown.map(|field| format!("column {} is none of the table's", field.name()))
}

fn counts(session: &Session, manifest: &Manifest) -> Result<Option<String>> {
    for table in TABLES {
        let said = manifest.rows.get(table.name).copied().unwrap_or(0);
        let found = count(session, &format!("select count(*) from {}", table.name))?;
        if found != said {
            return Ok(Some(format!("{} has {found} rows, not {said}", table.name)));
        }
    }
    let failed = count(session, "select count(error) from generations")?;
    if failed != manifest.failed_rows {
        return Ok(Some(format!("generations has {failed} failed rows, not {}", manifest.failed_rows)));
    }
    Ok(None)
}

fn count(session: &Session, sql: &str) -> Result<u64> {
    let first = first_row(&session.query(sql)?);
    Ok(first.first().and_then(|(_, n)| n.parse().ok()).unwrap_or(0))
}

/// The first baseline whose own delta is anything but 0.
fn baselines(session: &Session) -> Result<Option<String>> {
    let sql = "select model, dataset, prompt_id, variant_id, axis, delta from baseline_check
        where not holds order by model, dataset, prompt_id, variant_id, axis limit 1";
    let first = first_row(&session.query(sql)?);
    Ok(if first.is_empty() { None } else { Some(named(&first)) })
}

/// An input error in one line, without advice.
pub(crate) fn short(error: &InputError) -> String {
    let mut text = error.what.clone();
    if let Some(file) = &error.file {
        let file = file.display().to_string();
        if !text.contains(&file) {
            text.push_str(&format!(", in {file}"));
        }
    }
    error.found.iter().for_each(|found| text.push_str(&format!(": {found}")));
    text
}

pub(crate) fn one_line(error: &Error) -> String {
    match error {
        Error::Input(error) => short(error),
        other => other.to_string().replace('\n', " "),
    }
}
