//! The SQL layer: golden values, hand-computed rows, whole runs.

mod damage;
mod golden;
mod imports;
mod partitions;
mod plain_files;
mod published;
mod run;
mod slt;
