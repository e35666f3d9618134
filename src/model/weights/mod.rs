//! Weights of a model, as they lie in its files.

#[allow(dead_code, reason = "weights are still read by `gguf`")]
pub mod stored;
