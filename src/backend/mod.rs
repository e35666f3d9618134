//! Backends: who answers.
