//! The SQL layer: golden values, hand-computed rows, whole runs.

mod damage;
mod effect_sizes;
mod golden;
mod partitions;
mod plain_files;
mod published;
mod run;
mod slt;
