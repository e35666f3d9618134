//! The SQL layer: golden values, hand-computed rows, whole runs.

mod damage;
mod functions;
mod golden;
mod partitions;
mod plain_files;
mod published;
mod run;
mod slt;
