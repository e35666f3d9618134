//! Qwen 2.5, Qwen 3 and Qwen 3.5.
//!
//! In: facts. Out: descriptions, as departures from Llama's: biases (2), norms of queries and keys (3), gated delta nets in three
//! layers of four and gated attention in the fourth (3.5).

use super::super::decoder::delta_net::MOST_VALUES;
use super::super::simd::LANES;
use super::description::{DeltaNet, Description, InnerNorm, Mixer};
use super::facts::{Facts, Key};
use super::llama::{common, windows};
use super::rotations::{Wanted, rotary};
use crate::Result;

/// Qwen 2 and 2.5.
pub fn qwen2(facts: &Facts<'_>) -> Result<Description> {
    let mut d = common(facts)?;
    let windows = windows(facts, d.layers.len())?;
    d.each_attention(|layer, attention| {
        attention.bias = true;
        attention.window = windows.get(layer).copied().flatten();
    });
    Ok(d)
}

/// Qwen 3.
pub fn qwen3(facts: &Facts<'_>) -> Result<Description> {
    let mut d = common(facts)?;
    let windows = windows(facts, d.layers.len())?;
    let bias = facts.flag(("attention_bias", ""))?;
    d.each_attention(|layer, attention| {
        attention.norms = true;
        attention.bias = bias;
        attention.window = windows.get(layer).copied().flatten();
    });
    Ok(d)
}

/// The text part of Qwen 3.5.
pub fn qwen3_5(facts: &Facts<'_>) -> Result<Description> {
    let mut d = common(facts)?;
    let layers = d.layers.len();
    let head = head(&d);
    let (turned, _) = rotary(facts, Wanted { share: 0.25, ..Wanted::full(head) })?;
    d.rotaries = vec![turned];
    d.norm_shift = if facts.is_gguf() { 0.0 } else { 1.0 };
    d.inner_norm = InnerNorm::AfterAttentionInBoth;
    let bias = facts.flag(("attention_bias", ""))?;
    d.each_attention(|_, attention| {
        attention.norms = true;
        attention.gated = true;
        attention.bias = bias;
    });
    let linear =
        match facts.marked(("layer_types", "attention.recurrent_layers"), "linear_attention", layers + d.spare)? {
            Some(linear) => linear,
            None => {
                let every = facts.count_if(("full_attention_interval", "full_attention_interval"))?.unwrap_or(4);
                (1..=layers).map(|layer| layer % every != 0).collect()
            }
        };
    let net = delta_net(facts)?;
    for (layer, _) in d.layers.iter_mut().zip(linear).filter(|(_, linear)| *linear) {
        layer.mixer = Mixer::DeltaNet(net.clone());
    }
    Ok(d)
}

/// Length of a head of the first attention layer.
fn head(d: &Description) -> usize {
    let heads =
        d.layers.iter().find_map(|layer| if let Mixer::Attention(a) = &layer.mixer { Some(a.heads) } else { None });
    heads.map_or(LANES, |heads| heads.head)
}

fn delta_net(facts: &Facts<'_>) -> Result<DeltaNet> {
    const KEY_HEADS: Key = ("linear_num_key_heads", "ssm.group_count");
    const VALUE_HEADS: Key = ("linear_num_value_heads", "ssm.time_step_rank");
    const VALUE: Key = ("linear_value_head_dim", "ssm.inner_size");
    const TAPS: Key = ("linear_conv_kernel_dim", "ssm.conv_kernel");
    let key_heads = facts.count(KEY_HEADS)?;
    let value_heads = facts.count(VALUE_HEADS)?;
    if !value_heads.is_multiple_of(key_heads) {
        return Err(facts.bad(VALUE_HEADS, &format!("a multiple of {key_heads} key heads")));
    }
    // GGUF gives the values' length over all heads.
    let value = facts.count(VALUE)? / if facts.is_gguf() { value_heads } else { 1 };
    if !(1..=MOST_VALUES).contains(&value) {
        return Err(facts.bad(VALUE, &format!("values of 1 to {MOST_VALUES} floats a head")));
    }
    let taps = facts.count(TAPS)?;
    if taps < 2 {
        return Err(facts.bad(TAPS, "a number from 2"));
    }
    let key = facts.count(("linear_key_head_dim", "ssm.state_size"))?;
    Ok(DeltaNet {
        key_heads: (key_heads, key),
        value_heads: (value_heads, value),
        taps,
        in_turns: facts.is_gguf(),
        plain_rates: facts.is_gguf(),
    })
}
