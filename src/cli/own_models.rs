//! `--sql DIR`: a user's own models, for every command that opens a run.

use std::path::PathBuf;

use clap::Args;

use crate::Result;
use crate::query::Analysis;

/// Where a user's own models are.
#[derive(Debug, Args)]
pub struct OwnModels {
    /// A folder of your own models, NAME.sql, each with its contract NAME.toml beside it or not. They join the built-in
    /// ones; one with the name of a built-in one takes its place. Without it: those that the run was last analyzed with
    #[arg(long = "sql", value_name = "DIR")]
    folder: Option<PathBuf>,
}

impl OwnModels {
    /// Whether a folder was given.
    pub fn is_given(&self) -> bool {
        self.folder.is_some()
    }

    /// An analysis with these models.
    ///
    /// # Errors
    /// The folder can't be read, or holds what is no model.
    pub fn analysis(&self) -> Result<Analysis> {
        match &self.folder {
            Some(folder) => Analysis::default().with_folder(folder),
            None => Ok(Analysis::default()),
        }
    }
}
