//! Sums of derived tables: `analysis/SHA256SUMS`.
//!
//! In: a run and what an analysis wrote. Out: a checksum a derived table; and, later, the tables that differ from theirs.
//! Values alone do not show all damage: a flipped bit in a column's statistics leaves its values, and makes filters skip
//! them. The file is gone while an analysis writes, so that one that was killed is seen.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::contract::Kind;
use super::graph::Graph;
use crate::store::sums::{SUMS, read, write};
use crate::{Error, Result, hash};

/// Folder of a run for what is derived.
pub(super) const DERIVED: &str = "analysis";

/// The sums of a run whose tables are being written.
pub(super) struct DerivedSums {
    folder: PathBuf,
    sums: BTreeMap<String, String>,
}

impl DerivedSums {
    /// Takes the sums of what is there out of the folder.
    pub(super) fn begin(run: &Path) -> Result<DerivedSums> {
        let folder = run.join(DERIVED);
        let file = folder.join(SUMS);
        // Sums that can't be read are none: every table that is written anew has its own again.
        let mut sums = read(&folder).unwrap_or_default();
        sums.retain(|name, _| !name.contains('/'));
        if file.is_file() {
            fs::remove_file(&file).map_err(Error::io("remove", &file))?;
        }
        Ok(DerivedSums { folder, sums })
    }

    /// Those of the tables that were `written` as well.
    pub(super) fn with<'a>(mut self, written: impl Iterator<Item = &'a str>) -> Result<DerivedSums> {
        for table in written {
            let name = file_name(table);
            let sum = hash::of_file(&self.folder.join(&name))?;
            self.sums.insert(name, sum);
        }
        Ok(self)
    }

    /// Those of all but a table that is refused: its file is removed.
    pub(super) fn without(mut self, table: &str) -> Result<DerivedSums> {
        let name = file_name(table);
        let file = self.folder.join(&name);
        if file.is_file() {
            fs::remove_file(&file).map_err(Error::io("remove", &file))?;
        }
        self.sums.remove(&name);
        Ok(self)
    }

    /// Those of the tables of `graph`; a table that no model makes any more is removed.
    pub(super) fn without_others(mut self, graph: &Graph) -> Result<DerivedSums> {
        for name in self.sums.keys().cloned().collect::<Vec<_>>() {
            if let Some(table) = name.strip_suffix(ENDING)
                && !tables(graph).any(|table| table == name)
            {
                self = self.without(table)?;
            }
        }
        Ok(self)
    }

    /// Puts them back into the folder.
    pub(super) fn write(self) -> Result<()> {
        if self.sums.is_empty() { Ok(()) } else { write(&self.folder, &self.sums) }
    }
}

/// What is wrong with the bytes of the derived tables of `run`; None where all have those of their sums.
pub(super) fn difference(run: &Path, graph: &Graph) -> Result<Option<String>> {
    let folder = run.join(DERIVED);
    let there: Vec<String> = tables(graph).filter(|name| folder.join(name).is_file()).collect();
    if !folder.join(SUMS).is_file() {
        let unended = format!("there is no {DERIVED}/{SUMS}: the analysis did not end{ANEW}");
        return Ok((!there.is_empty()).then_some(unended));
    }
    let sums = read(&folder)?;
    if let Some(missing) = sums.keys().find(|name| !folder.join(name).is_file()) {
        return Ok(Some(format!("{DERIVED}/{missing} is missing; {DERIVED}/{SUMS} has it{ANEW}")));
    }
    for name in there {
        match sums.get(&name) {
            None => return Ok(Some(format!("{DERIVED}/{name} has no line in {DERIVED}/{SUMS}{ANEW}"))),
            Some(sum) if hash::of_file(&folder.join(&name))? != *sum => {
                return Ok(Some(format!("{DERIVED}/{name} has other bytes than {DERIVED}/{SUMS} says{ANEW}")));
            }
            Some(_) => {}
        }
    }
    Ok(None)
}

/// What to do about it.
const ANEW: &str = "; `sago analyze RUN` writes it anew";

/// File names of the tables that models make.
fn tables(graph: &Graph) -> impl Iterator<Item = String> {
    graph.models().iter().filter(|model| model.contract.kind == Kind::Table).map(|model| file_name(&model.name))
}

/// Ending of their names.
const ENDING: &str = ".parquet";

fn file_name(table: &str) -> String {
    format!("{table}{ENDING}")
}
