//! `sago verify`.

use std::path::PathBuf;

use clap::Args;

use super::own_models::OwnModels;
use super::{Done, Limits, note_if_incomplete, print};
use crate::{Result, query};

/// Check that a run is whole and that its figures are those of its raw tables
#[derive(Debug, Args)]
#[command(after_help = "Example:
  sago verify runs/first

One line a check: bytes against the manifest, columns and types, keys, relations, counts, derived tables against
those that the raw tables give, contracts, baselines. Nothing is written to the run.
Exit code 3 where a check does not hold, 2 where the run can't be read.")]
pub struct Verify {
    /// Directory of the run
    run: PathBuf,
    #[command(flatten)]
    models: OwnModels,
    #[command(flatten)]
    limits: Limits,
}

impl Verify {
    pub fn carry_out(self) -> Result<Done> {
        note_if_incomplete(&self.run);
        let analysis = self.models.analysis()?.with_resources(self.limits.resources());
        let mut unprinted = None;
        let holds = query::verify(&analysis, &self.run, |check| {
            unprinted = unprinted.take().or(print(&format!("{check}\n")).err());
        })?;
        match unprinted {
            Some(error) => Err(error),
            None if holds => Ok(Done::All),
            None => Ok(Done::CheckFailed),
        }
    }
}
