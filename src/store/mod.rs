//! Store: the Parquet tables of a run, written as work completes.
//!
//! In: rows of the tables in [`schema`]. Out: a run directory whose every file is whole.
//! Files appear by write-to-temporary, fsync, rename; a reader never sees half a file.

pub mod begun;
pub mod check;
pub mod files;
pub mod folder_name;
pub mod manifest;
pub mod part;
pub mod read;
pub mod rows;
pub mod run_dir;
pub mod schema;
pub mod sums;
