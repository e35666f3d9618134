//! The SQL layer: golden values, hand-computed rows, whole runs.

mod compare;
mod damage;
mod dictionary;
mod effect_sizes;
mod functions;
mod golden;
mod imports;
mod own_models;
mod partitions;
mod plain_files;
mod published;
mod run;
mod slt;
mod verify;
