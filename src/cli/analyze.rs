//! `sago analyze`.

use std::path::PathBuf;

use clap::Args;

use super::{Done, Limits, note_if_incomplete, print, say};
use crate::query::Analysis;
use crate::store::manifest::check_parts;
use crate::{Result, query};

/// Compute deltas, instability, SGS and tests of a run
#[derive(Debug, Args)]
#[command(after_help = "Example:
  sago analyze runs/first        writes runs/first/analysis/*.parquet and prints the SGS table
  sago analyze runs/first --memory-limit 2GiB")]
pub struct Analyze {
    /// Directory of the run
    run: PathBuf,
    /// Only the SGS table, not what was written
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    limits: Limits,
}

impl Analyze {
    pub fn carry_out(self) -> Result<Done> {
        note_if_incomplete(&self.run);
        check_parts(&self.run)?;
        for made in Analysis::default().with_memory_limit(self.limits.memory_limit).run(&self.run)? {
            if !self.quiet {
                say(&format!("{:28} {:9} rows {:7.2} s", made.name, made.rows, made.seconds));
            }
        }
        print(&query::sgs_table(&self.run)?)?;
        super::checks(&self.run)
    }
}
