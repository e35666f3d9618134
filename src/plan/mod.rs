//! Plan: TOML and flags become what will be run.
