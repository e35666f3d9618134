//! Query: SQL over the tables of a run, and over plain files.
//!
//! In: a run directory (raw tables), or Parquet, CSV, TSV and JSON files. Out: rows, and the derived tables under `analysis/`.
//! Every statistic of the method is a model in `sql/`; Rust gives SQL the functions it lacks, an order and a place to write.
//!
//! [`Session`] answers a query; [`analyze`] runs all models of a run; [`sgs_table`] is what a person reads at the end.

mod analysis;
mod catalog;
mod cell;
mod compare;
mod contract;
mod damage;
mod depth;
mod derived_sums;
mod dictionary;
mod fault;
mod files;
mod freshness;
mod function_page;
pub mod functions;
mod graph;
mod header;
mod inputs;
mod joins;
mod lazy;
mod making;
mod materialize;
mod memory;
mod models;
mod own_models;
mod place;
mod print;
mod promises;
mod raw;
mod released;
mod rows;
mod runs;
mod same_rows;
mod session;
mod side_by_side;
mod statement;
mod summary;
mod text_files;
mod types;
mod verify;
mod volatile;

pub(crate) use analysis::check_derived;
pub use analysis::{Analysis, Step, analyze, check_contracts, is_analyzed};
pub(crate) use analysis::{check_analyzed, check_is_run, is_run};
pub use catalog::{Catalog, ColumnDoc, FunctionLine, TableDoc};
pub(crate) use catalog::{sql_type, type_named};
pub use compare::{Comparison, Shared, Side, models_of};
pub use contract::{Column, Contract, Kind};
pub(crate) use damage::caught;
pub(crate) use dictionary::cell;
pub use dictionary::dictionary;
pub(crate) use fault::closest;
pub use graph::{Graph, Model};
pub(crate) use inputs::{baselines_missing, rows_without_relation};
pub use making::Materialized;
pub use memory::MemoryLimit;
pub(crate) use memory::size_in_bytes;
pub use models::{Source, built_in};
pub(crate) use print::plain_table;
pub use print::{Format, RowWriter, print};
pub use promises::{RowShown, Violation};
pub(crate) use promises::{columns, first_row, literal, named, quoted, texts};
pub(crate) use released::{Stored, broken_promises, open_released};
pub use rows::{Rows, Stop};
pub(crate) use runs::{RUN, names as run_names};
pub use session::{Resources, Session};
pub use statement::{Piece, Statement, is_whole, script};
pub(crate) use summary::sgs_markdown;
pub use summary::sgs_table;
pub(crate) use types::{plain, plain_schema};
pub use verify::{Check, verify};
pub(crate) use verify::{Checks, one_line, short};
