//! `sago` asks whether a language model behaves the same when the same request is worded differently.
//!
//! The modules stand in the order of the pipeline; data flows from top to bottom and never back:
//!
//! | module | in | out |
//! |---|---|---|
//! | [`plan`] | TOML and flags | a validated plan of what will be run |
//! | [`datasets`] | data set files and descriptors | sampled prompts |
//! | [`variants`] | prompts | meaning-preserving variants |
//! | [`model`] | weights, tokenizer, chat template | a batched decoder with scores and hidden states |
//! | [`backend`] | variants of one prompt | responses, scores, hidden states |
//! | [`measure`] | pairs of texts | similarity and mirroring |
//! | [`store`] | everything above | Parquet tables of a run |
//! | [`run`] | a plan | a complete run directory |
//! | [`import`] | other people's files | a run directory with the same tables |
//! | [`query`] | a run directory | derived tables, the Stability Generalization Score, SQL |
//! | [`report`] | analysed run directories | one page with charts, tables and texts |
//!
//! [`error`], [`hash`], [`draw`] (seeded draws) and `text_file` serve all of them; [`cli`] is the command line over the library.

#![warn(missing_docs)]

pub mod backend;
pub mod cli;
pub mod datasets;
pub mod draw;
pub mod error;
pub mod hash;
pub mod import;
pub mod measure;
pub mod model;
pub mod plan;
pub mod query;
pub mod report;
pub mod run;
pub mod store;
mod text_file;
pub mod variants;

pub use error::{Error, Result};
