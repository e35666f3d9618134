//! Phi-3: Llama with query, key and value, and gate and up, stored as one matrix each.
//!
//! In: facts. Out: its description.

use super::description::Description;
use super::facts::Facts;
use super::llama::{WINDOW, common};
use crate::Result;

/// Phi-3 and Phi-3.5 mini and medium, Phi-4 mini.
pub fn phi3(facts: &Facts<'_>) -> Result<Description> {
    let mut d = common(facts)?;
    d.fused = true;
    let window = facts.count_if(WINDOW)?;
    d.each_attention(|_, attention| attention.window = window);
    Ok(d)
}
