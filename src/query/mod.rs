//! Query: SQL over the tables of a run.
