//! Store: the Parquet tables of a run, written as work completes.

pub mod schema;
