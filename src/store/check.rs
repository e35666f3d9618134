//! Check: whether a complete run holds the files that its manifest says.
//!
//! In: a run directory. Out: nothing where all is well, else an error that names the file and says what to do.

use std::collections::BTreeSet;
use std::path::Path;

use super::begun::Begun;
use super::manifest::{Manifest, Part, given_files, name_of, raw_files, signatures_or_none};
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
                Ok(there) => {
                    return Err(self.damaged(run, &file, &format!("has {} bytes, not {}", there.len(), part.bytes)));
                }
                Err(_) => return Err(self.damaged(run, &file, "is missing")),
            }
        }
        for table in TABLES.iter().filter(|table| !changing.contains(&table.name)) {
            for file in raw_files(run, table)? {
                if !self.parts.contains_key(&name_of(run, &file)) {
                    return Err(self.damaged(run, &file, "is not of this run"));
                }
            }
        }
        for file in given_files(run)? {
            if !self.parts.contains_key(&name_of(run, &file)) {
                return Err(self.damaged(run, &file, "is not of this run"));
            }
        }
        Ok(())
    }

    /// Compares the bytes of one file with this manifest.
    ///
    /// # Errors
    /// The file can't be read, is not of the run, or has other bytes.
    pub fn check_bytes(&self, run: &Path, file: &Path) -> Result<()> {
        let known = self.parts.get(&name_of(run, file)).ok_or_else(|| self.damaged(run, file, "is not of this run"))?;
        if Part::of(file)? != *known {
            return Err(self.damaged(run, file, "has other bytes than the manifest says (SHA-256)"));
        }
        Ok(())
    }

    fn damaged(&self, run: &Path, file: &Path, what: &str) -> Error {
        let mut fix =
            "delete that file, if it is there, and manifest.json; the command that made the run makes it again"
                .to_string();
        if let Some(again) = self.how_to_measure_again(run) {
            fix.push_str(&again);
        }
        Error::input(format!("the run is damaged: {} {what}", file.display())).file(file).fix(fix).into()
    }

    /// What has to follow where a part is made again: it comes as the plan has it, without what was measured since.
    fn how_to_measure_again(&self, run: &Path) -> Option<String> {
        let measured: BTreeSet<&str> = self.measured_again.iter().flat_map(|m| &m.what).map(String::as_str).collect();
        let said = Begun {
            encoder: measured.contains("bertscore").then(|| ENCODER.to_string()),
            layer: None,
            idf: self.signatures.get("bertscore").is_some_and(|by| by.iter().any(|s| s.contains("|idf:yes|"))),
            metrics: measured.contains("metrics"),
            judges: measured.contains("judges"),
        };
        if said == Begun::default() {
            return None;
        }
        let mut what: Vec<String> = measured.into_iter().map(str::to_string).collect();
        if let Some((bertscore, by)) = what.iter_mut().find(|w| *w == "bertscore").zip(self.signatures.get("bertscore"))
        {
            *bertscore = format!("{bertscore} ({})", by.iter().cloned().collect::<Vec<_>>().join(", "));
        }
        Some(format!("; measure again then what was measured since, {}: {}", what.join(", "), said.command(run)))
    }
}

/// Stands for the encoder in a command; the user knows the folder that the signature's encoder was in.
const ENCODER: &str = "ENCODER";

/// Looks whether the scores of a run are of one kind each.
///
/// # Errors
/// Parts of `similarities` have different signatures of a measure, or some have none: the message names them and says what
/// to do. A part can't be read.
pub fn check_signatures(run: &Path) -> Result<()> {
    let mixed = signatures_or_none(run)?.into_iter().find(|(_, found)| found.len() > 1);
    let Some((measure, found)) = mixed else { return Ok(()) };
    let said = if measure == "bertscore" {
        Begun { encoder: Some(ENCODER.to_string()), ..Begun::default() }
    } else {
        Begun { metrics: true, ..Begun::default() }
    };
    let found: Vec<String> = found.into_iter().map(|s| s.unwrap_or_else(|| "none".to_string())).collect();
    Err(Error::input(format!("the scores of {} are of {} kinds", run.display(), found.len()))
        .key(measure)
        .found(found.join(" and "))
        .expected("one signature in all of similarities")
        .fix(format!("measure all responses alike: {}", said.command(run)))
        .into())
}
