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
    /// Threads, and parts that a query is cut into; by default as many as the machine has
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[command(flatten)]
    limits: Limits,
}

impl Verify {
    pub fn carry_out(self) -> Result<Done> {
        note_if_incomplete(&self.run);
        let mut analysis = self.models.analysis()?.with_memory_limit(self.limits.memory_limit);
        if let Some(threads) = self.threads {
            analysis = analysis.with_threads(threads.into());
        }
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
