//! Weights of a model, as they lie in its files.

#[cfg_attr(not(test), expect(dead_code, reason = "weights are still read by `gguf`"))]
pub mod stored;
