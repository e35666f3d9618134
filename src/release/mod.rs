//! Release: complete runs as a folder that can be pushed to a data hub as it is.
//!
//! In: analysed run directories. Out: flat Parquet tables, wide delta matrices, a data card, Croissant metadata, a
//! citation file and checksums. The folder appears whole or not at all, and the same runs give the same bytes.

mod card;
mod checksums;
mod croissant;
mod index;
mod long;
mod matrices;
mod sgs;
mod sources;
mod tables;
mod verify;

use std::fs;
use std::path::{Path, PathBuf};

pub use index::{Index, IndexedMatrix, IndexedRun, IndexedTable, TextsLeftOut};
pub use verify::{is_release, verify};

use self::sources::Sources;
use crate::query::{Analysis, Catalog, check_analyzed, check_is_run};
use crate::store::check::check_sums;
use crate::store::files::{files_below, write_json};
use crate::store::schema::TABLES;
use crate::{Error, Result};

/// The raw tables that a release leaves out: who computed what, and where.
const NOT_RELEASED: [&str; 1] = ["work"];
/// Released only where it is asked for: by far the largest table.
const ACTIVATIONS: &str = "activations";

/// What a release is made of and says of itself.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Complete, analysed runs.
    pub runs: Vec<PathBuf>,
    /// The folder to make; it must not be there, or be empty.
    pub out: PathBuf,
    /// Name for people; None for one made of the models' names.
    pub title: Option<String>,
    /// Who is to be cited.
    pub authors: Vec<String>,
    /// SPDX identifier of the licence of the results; None where its maker has not said one.
    pub license: Option<String>,
    /// Data sets whose texts are left out, beside those that may not be passed on.
    pub without_texts: Vec<String>,
    /// Whether hidden states are released.
    pub activations: bool,
    /// Whether matrices are written as CSV too.
    pub csv: bool,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Released {
    /// Files, SHA256SUMS among them.
    pub files: usize,
    /// Their size.
    pub bytes: u64,
    /// Rows of all tables.
    pub rows: u64,
}

/// Makes a release; `tell` hears what is being written, and ends it with an
/// error. Before the folder gets its name it is checked as [`verify()`] does.
///
/// # Errors
/// `out` holds something, a run is incomplete, damaged or not analysed, its figures do not follow from its deltas, a
/// data set of `without_texts` is in none of them, or a file can't be written. Nothing is left then.
pub fn release(analysis: &Analysis, options: &Options, mut tell: impl FnMut(&str) -> Result<()>) -> Result<Released> {
    check_out(&options.out)?;
    options.runs.iter().try_for_each(|run| check_run(run))?;
    let sources = Sources::read(&options.runs, &options.without_texts)?;
    for left_out in sources.texts_left_out() {
        tell(&format!("texts of {} are left out: {}", left_out.dataset, left_out.why))?;
    }
    if options.activations {
        let size = sources.bytes_of(ACTIVATIONS);
        tell(&format!("{ACTIVATIONS}: {} MiB as the runs hold them", size.div_ceil(1 << 20)))?;
    }

    let parent = options.out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
    let aside = tempfile::Builder::new().prefix(".sago-release-").tempdir_in(parent);
    let aside = aside.map_err(Error::io("write in", parent))?;
    // The folder inside has the permissions that the umask gives; the temporary one is private.
    let folder = aside.path().join("release");
    fs::create_dir(&folder).map_err(Error::io("create", &folder))?;

    let index = fill(analysis, options, &sources, &folder, &mut tell)?;
    tell("checking")?;
    let mut faults = Vec::new();
    let holds = verify(analysis, &folder, |check| faults.extend(check.fault.clone()))?;
    if !holds {
        return Err(Error::input("the runs' figures do not hold together, so nothing was released")
            .found(faults.join("\n         "))
            .fix("`sago verify RUN` says what is wrong with a run; `sago analyze RUN` computes its tables anew")
            .into());
    }
    let mut released = Released { files: 0, bytes: 0, rows: index.tables.iter().map(|table| table.rows).sum() };
    for file in files_below(&folder)? {
        released.files += 1;
        released.bytes += file.metadata().map_err(Error::io("read", &file))?.len();
    }
    if options.out.is_dir() {
        fs::remove_dir(&options.out).map_err(Error::io("replace", &options.out))?;
    }
    fs::rename(&folder, &options.out).map_err(Error::io("create", &options.out))?;
    Ok(released)
}

/// Writes every file of the release into `folder`.
fn fill(
    analysis: &Analysis,
    options: &Options,
    sources: &Sources,
    folder: &Path,
    tell: &mut impl FnMut(&str) -> Result<()>,
) -> Result<Index> {
    let session = analysis.open_all(&options.runs)?;
    let stored = analysis.stored_tables(&options.runs)?;
    let catalog = Catalog::of(&session)?;
    let mut index = Index::of(sources, options);
    let (mut docs, mut empty) = (Vec::new(), Vec::new());
    for table in &catalog.tables {
        let raw = TABLES.iter().any(|raw| raw.name == table.name);
        let wanted = match table.name.as_str() {
            name if NOT_RELEASED.contains(&name) => false,
            ACTIVATIONS => options.activations,
            tables::NORMALIZED => true,
            name => raw || stored.contains(name),
        };
        if !wanted {
            continue;
        }
        tell(&table.name)?;
        match tables::write(&session, table, sources, folder)? {
            Some(written) => {
                index.tables.push(written);
                docs.push(table.clone());
            }
            None => empty.push(table.name.clone()),
        }
    }
    tell("delta matrices")?;
    index.matrices = matrices::write(&session, folder, options.csv)?;
    write_json(&folder.join(index::FILE), &index)?;
    card::write(&session, sources, options, &index, &docs, &empty, folder)?;
    croissant::write(sources, options, &index, &docs, folder)?;
    checksums::write(folder)?;
    Ok(index)
}

/// A folder that holds something is somebody's.
fn check_out(out: &Path) -> Result<()> {
    let refused = |found: &str| {
        Err(Error::input(format!("{} can't become a release", out.display()))
            .key("--out")
            .found(found)
            .expected("a folder that is not there, or is empty")
            .fix("choose another folder with --out, or remove this one")
            .into())
    };
    if out.file_name().is_none() {
        return refused("a path without a name");
    }
    if !out.exists() {
        return Ok(());
    }
    if !out.is_dir() {
        return refused("a file");
    }
    match fs::read_dir(out).map_err(Error::io("list", out))?.next() {
        Some(_) => refused("a folder that is not empty"),
        None => Ok(()),
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
    check_analyzed(run)
}
