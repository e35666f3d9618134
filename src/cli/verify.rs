//! `sago verify`.

use std::path::PathBuf;

use clap::Args;

use super::own_models::OwnModels;
use super::{Done, Limits, note_if_incomplete, print};
use crate::{Error, Result, query, release};

/// Check that a run or a release is whole, and that its figures follow from its tables
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sago verify runs/first
  sago verify releases/first

One line a check. Of a run: bytes against the manifest, columns and types, keys, relations, counts, derived tables against
those that the raw tables give, contracts, baselines. Of a release: checksums (each file that is missing, changed or too
many), counts, columns, keys, relations, the contracts it was made with, baselines, the fixed scale and SGS computed anew
from the deltas, wide matrices against the long tables. Nothing is written to either.
Exit code 3 where a check does not hold, 2 where it can't be read.")]
pub struct Verify {
    /// Directory of a run, or of a release
    run: PathBuf,
    #[command(flatten)]
    models: OwnModels,
    #[command(flatten)]
    limits: Limits,
}

impl Verify {
    pub fn carry_out(self) -> Result<Done> {
        let is_release = release::is_release(&self.run);
        if !is_release && !query::is_run(&self.run) {
            let found = if self.run.is_dir() { "a folder without plan.json or release.json" } else { "no such folder" };
            return Err(Error::input(format!("{} is neither a run nor a release", self.run.display()))
                .found(found)
                .expected("the output folder of `sago run`, `sago import` or `sago release`")
                .into());
        }
        if is_release && self.models.is_given() {
            let error = Error::input("--sql needs a run: a release is checked by its own tables");
            return Err(error.found(self.run.display().to_string()).fix("leave --sql out").into());
        }
        if !is_release {
            note_if_incomplete(&self.run);
        }
        let analysis = self.models.analysis()?.with_resources(self.limits.resources());
        let mut unprinted = None;
        let tell = |check: &query::Check| unprinted = unprinted.take().or(print(&format!("{check}\n")).err());
        let holds = match is_release {
            true => release::verify(&analysis, &self.run, tell)?,
            false => query::verify(&analysis, &self.run, tell)?,
        };
        match unprinted {
            Some(error) => Err(error),
            None if holds => Ok(Done::All),
            None => Ok(Done::CheckFailed),
        }
    }
}
