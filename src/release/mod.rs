//! Release: complete runs as a folder that can be pushed to a data hub as it is.
//!
//! In: analysed run directories. Out: flat Parquet tables, wide delta matrices, a data card, Croissant metadata, a
//! citation file and checksums. The folder appears whole or not at all, and the same runs give the same bytes.

mod card;
mod checksums;
mod croissant;
mod index;
mod licences;
mod long;
mod matrices;
mod options;
mod parts;
mod place;
mod sgs;
mod sources;
mod tables;
mod verify;

use std::path::Path;

pub use index::{Index, IndexedColumn, IndexedMatrix, IndexedRun, IndexedTable, TextsLeftOut};
pub use options::Options;
pub use sources::texts_not_to_be_passed_on;
pub use verify::{is_release, verify};

use self::place::Place;
use self::sources::Sources;
use crate::query::{Analysis, Catalog, Stop, Stored, TableDoc, check_analyzed, check_derived, check_is_run};
use crate::store::check::{check_signatures, check_sums};
use crate::store::files::write_json;
use crate::store::schema::TABLES;
use crate::{Error, Result};

/// The raw tables that a release leaves out: who computed what, and where.
const NOT_RELEASED: [&str; 1] = ["work"];
/// Released only where it is asked for: by far the largest table.
const ACTIVATIONS: &str = "activations";

/// What became of a release.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It is there.
    #[non_exhaustive]
    Released {
        /// Files, SHA256SUMS among them.
        files: usize,
        /// Their size.
        bytes: u64,
        /// Rows of all tables.
        rows: u64,
    },
    /// The runs' figures do not hold together; nothing was released. A line for each check that failed.
    CheckFailed(Vec<String>),
}

/// Makes a release; `tell` hears what is being written, and `stop` ends it. Before the folder gets its name it is
/// checked as [`verify()`] does.
///
/// # Errors
/// An option can't be used, `out` holds something, a run is incomplete, damaged or not analysed, a data set of
/// `without_texts` is in none of them, a file can't be written, or `stop` was asked. Nothing is left then.
pub fn release(analysis: &Analysis, options: &Options, stop: &Stop, mut tell: impl FnMut(&str)) -> Result<Outcome> {
    options.check()?;
    place::check_out(&options.out)?;
    options.runs.iter().try_for_each(|run| check_run(run))?;
    let sources = Sources::read(&options.runs, &options.without_texts)?;
    for left_out in sources.texts_left_out() {
        tell(&format!("texts of {} are left out: {}", left_out.dataset, left_out.why));
    }
    tell(&match sources.bytes_of(ACTIVATIONS).div_ceil(1 << 20) {
        0 => format!("{ACTIVATIONS}: the runs hold none"),
        size if options.activations => format!("{ACTIVATIONS}: {size} MiB as the runs hold them"),
        size => format!("{ACTIVATIONS}: {size} MiB, left out; --activations adds them"),
    });

    let place = Place::begin(&options.out)?;
    let index = fill(analysis, options, &sources, place.folder(), (stop, &mut tell))?;
    tell("checking");
    let mut faults = Vec::new();
    let note = |check: &crate::query::Check| faults.extend(check.fault.as_ref().map(|_| check.to_string()));
    if !verify::verify_until(analysis, place.folder(), stop, note)? {
        return Ok(Outcome::CheckFailed(faults));
    }
    stop.check()?;
    let (files, bytes) = place.commit()?;
    Ok(Outcome::Released { files, bytes, rows: index.tables.iter().map(|table| table.rows).sum() })
}

/// Writes every file of the release into `folder`.
fn fill(
    analysis: &Analysis,
    options: &Options,
    sources: &Sources,
    folder: &Path,
    (stop, tell): (&Stop, &mut impl FnMut(&str)),
) -> Result<Index> {
    let session = analysis.open_all(&options.runs)?;
    let texts: Vec<&str> = tables::TEXTS.iter().map(|(table, _)| *table).collect();
    let stored = analysis.stored_tables(&options.runs, &texts)?;
    let catalog = Catalog::of(&session)?;
    let mut index = Index::of(sources, options);
    let mut docs = Vec::new();
    let part_bytes = options.part_bytes.unwrap_or(tables::PART);
    let from = tables::From { session: &session, sources, stop, part_bytes };
    for table in &catalog.tables {
        let of = stored.get(&table.name);
        if !is_wanted(table, of, options) {
            continue;
        }
        if let Some(why) = of.and_then(|of| kept_back(of, options, sources)) {
            tell(&format!("{} is left out: {why}", table.name));
            continue;
        }
        tell(&table.name);
        let contract = tables::contract(table, of.map(|of| &of.contract), sources)?;
        index.tables.push(tables::write(&from, table, contract, folder)?);
        docs.push(table.clone());
    }
    tell("delta matrices");
    index.matrices = matrices::write(&session, folder, options.csv, stop)?;
    write_json(&folder.join(index::FILE), &index)?;
    licences::write(sources, options, folder)?;
    card::write(&session, sources, options, &index, &docs, folder)?;
    croissant::write(sources, options, &index, &docs, folder)?;
    checksums::write(folder)?;
    Ok(index)
}

/// Whether a table is of the kind that is released.
fn is_wanted(table: &TableDoc, stored: Option<&Stored>, options: &Options) -> bool {
    match table.name.as_str() {
        name if NOT_RELEASED.contains(&name) => false,
        ACTIVATIONS => options.activations,
        tables::NORMALIZED => true,
        name => stored.is_some() || TABLES.iter().any(|raw| raw.name == name),
    }
}

/// Why a user's own table stays out.
fn kept_back(stored: &Stored, options: &Options, sources: &Sources) -> Option<&'static str> {
    match stored.is_own {
        true if !options.own_tables => Some("a model of your own makes it; --own-tables adds those"),
        true if stored.reads && sources.is_left_out().is_some() => {
            Some("its model reads a table with texts of prompts, or a file, and texts are left out")
        }
        _ => None,
    }
}

/// A run is released when it is complete, whole and analysed.
fn check_run(run: &Path) -> Result<()> {
    check_is_run(run)?;
    if check_sums(run)?.is_none() {
        return Err(Error::input(format!("the run {} is not complete", run.display()))
            .found("no manifest.json")
            .fix("the command that began the run goes on with it")
            .into());
    }
    if !sources::is_import(run)? {
        check_signatures(run)?;
    }
    check_analyzed(run)?;
    check_derived(run)
}
