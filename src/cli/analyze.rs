//! `sago analyze`.

use std::path::PathBuf;

use clap::Args;

use super::own_models::OwnModels;
use super::progress::Tables;
use super::{Done, Limits, note_if_incomplete, print};
use crate::store::check::check_parts;
use crate::{Result, query};

/// Compute deltas, instability, SGS and tests of a run
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sago analyze runs/first                    writes runs/first/analysis/*.parquet and prints the SGS table
  sago analyze runs/first --sql my-models    your own .sql files as well, or in place of built-in ones
  sago analyze runs/first --only my_scores   one table, and what it needs
  sago analyze runs/first --memory-limit 2GiB

Models given with --sql are kept in RUN/analysis/models: `sago sql`, `sago verify` and the next `sago analyze` on
this run use them without being told. To go back to the built-in models, delete that folder.")]
pub struct Analyze {
    /// Directory of the run
    run: PathBuf,
    #[command(flatten)]
    models: OwnModels,
    /// Only these tables, and what they need where that is not there yet; separated by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Only the SGS table, not what was written
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    limits: Limits,
}

impl Analyze {
    pub fn carry_out(self) -> Result<Done> {
        check_parts(&self.run)?;
        note_if_incomplete(&self.run);
        let analysis = self.models.analysis()?.with_only(self.only.clone()).with_resources(self.limits.resources());
        let mut progress = Tables::new(self.quiet);
        analysis.run_with(&self.run, |step| progress.tell(step))?;
        drop(progress);
        if self.only.is_empty() {
            print(&query::sgs_table(&self.run)?)?;
        }
        super::checks(&analysis, &self.run)
    }
}
