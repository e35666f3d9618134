//! Check: whether a complete run holds the files that its manifest says.
//!
//! In: a run directory. Out: nothing where all is well, else an error that names the file and says what to do.

use std::path::Path;

use super::begun::Begun;
use super::manifest::{Manifest, Part, given_files, name_of, raw_files};
use super::schema::TABLES;
use crate::{Error, Result, hash};

/// Compares the raw files of a complete run with its manifest, by name and size; does nothing for a run without one.
///
/// # Errors
/// A file is missing, is of another size, or is not of the run: the message names it and says what to do. A later
/// measurement has not ended: the message says how to finish it.
pub fn check_parts(run: &Path) -> Result<()> {
    if !run.join("manifest.json").exists() {
        return Ok(());
    }
    if let Some(begun) = Begun::read(run)? {
        return Err(begun.unfinished(run));
    }
    Manifest::read(run)?.check(run, &[])
}

/// Compares a complete run with its manifest byte by byte: plan.json by the run's id, every raw file by size and
/// SHA-256. Gives the number of raw files; None for a run without a manifest.
///
/// # Errors
/// As [`check_parts`]; a file's bytes are others than those the manifest was made of.
pub fn check_sums(run: &Path) -> Result<Option<usize>> {
    if !run.join("manifest.json").exists() {
        return Ok(None);
    }
    check_parts(run)?;
    let manifest = Manifest::read(run)?;
    let plan = run.join("plan.json");
    if hash::of_file(&plan)? != manifest.run_id {
        return Err(Error::input(format!("{} is not the plan that the manifest is of", plan.display()))
            .file(&plan)
            .expected(format!("SHA-256 {}", manifest.run_id))
            .into());
    }
    for name in manifest.parts.keys() {
        manifest.check_bytes(run, &run.join(name))?;
    }
    Ok(Some(manifest.parts.len()))
}

impl Manifest {
    /// Compares the raw files with this manifest, by name and size; of tables in `changing` by name alone, and they may
    /// have more files.
    ///
    /// # Errors
    /// A file is missing, is of another size, or is not of the run.
    pub fn check(&self, run: &Path, changing: &[&str]) -> Result<()> {
        let changes = |name: &str| changing.iter().any(|table| name.split('/').next() == Some(table));
        for (name, part) in &self.parts {
            let file = run.join(name);
            match file.metadata() {
                Ok(there) if there.len() == part.bytes || changes(name) => {}
                Ok(there) => return Err(damaged(&file, &format!("has {} bytes, not {}", there.len(), part.bytes))),
                Err(_) => return Err(damaged(&file, "is missing")),
            }
        }
        for table in TABLES.iter().filter(|table| !changing.contains(&table.name)) {
            for file in raw_files(run, table)? {
                if !self.parts.contains_key(&name_of(run, &file)) {
                    return Err(damaged(&file, "is not of this run"));
                }
            }
        }
        for file in given_files(run)? {
            if !self.parts.contains_key(&name_of(run, &file)) {
                return Err(damaged(&file, "is not of this run"));
            }
        }
        Ok(())
    }

    /// Compares the bytes of one file with this manifest.
    ///
    /// # Errors
    /// The file can't be read, is not of the run, or has other bytes.
    pub fn check_bytes(&self, run: &Path, file: &Path) -> Result<()> {
        let known = self.parts.get(&name_of(run, file)).ok_or_else(|| damaged(file, "is not of this run"))?;
        if Part::of(file)? != *known {
            return Err(damaged(file, "has other bytes than the manifest says (SHA-256)"));
        }
        Ok(())
    }
}

fn damaged(file: &Path, what: &str) -> Error {
    let error = Error::input(format!("the run is damaged: {} {what}", file.display())).file(file);
    error
        .fix("delete that file, if it is there, and manifest.json; the command that made the run makes it again")
        .into()
}
