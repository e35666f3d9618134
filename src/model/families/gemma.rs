//! Gemma 1, 2, 3 and 4 (their text parts).
//!
//! In: facts. Out: descriptions, as departures from Llama's: scaled embeddings, GELU, norms around both parts of a block, soft
//! caps (2), windows (2 on), two rotations (3 on), layers that share keys and values and embeddings for each layer (4).

use super::super::decoder::attend::Heads;
use super::super::decoder::attention::Source;
use super::super::decoder::rows::Activation;
use super::description::{Description, InnerNorm};
use super::facts::{Facts, Key};
use super::llama::{WINDOW, checked, common};
use super::rotations::{Wanted, rotary};
use crate::Result;

const LAYER_TYPES: Key = ("layer_types", "attention.sliding_window_pattern");
/// What Gemma 3's configs leave out of their text part.
pub const GEMMA3: &[(&str, f32)] = &[
    ("num_attention_heads", 8.0),
    ("num_key_value_heads", 4.0),
    ("head_dim", 256.0),
    ("max_position_embeddings", 131_072.0),
    ("rms_norm_eps", 1e-6),
    ("query_pre_attn_scalar", 256.0),
    ("sliding_window", 4096.0),
];
const QUERY_SCALAR: Key = ("query_pre_attn_scalar", "");

/// What Gemma's generations have in common.
fn any(facts: &Facts<'_>) -> Result<Description> {
    let mut d = common(facts)?;
    d.activation = Activation::Gelu;
    d.embedding_scale = (d.width as f32).sqrt();
    d.logit_cap = facts.positive(("final_logit_softcapping", "final_logit_softcapping"))?;
    Ok(d)
}

/// Gemma 1.
pub fn gemma(facts: &Facts<'_>) -> Result<Description> {
    let mut d = any(facts)?;
    d.norm_shift = if facts.is_gguf() { 0.0 } else { 1.0 };
    Ok(d)
}

/// Gemma 2.
pub fn gemma2(facts: &Facts<'_>) -> Result<Description> {
    let mut d = gemma(facts)?;
    d.post_norms = true;
    d.inner_norm = InnerNorm::BeforeFeedForward;
    let slides = slides(facts, d.layers.len(), 2)?;
    let window = facts.count_if(WINDOW)?;
    let cap = facts.positive(("attn_logit_softcapping", "attn_logit_softcapping"))?;
    let scale = query_scale(facts, &d, 46)?;
    d.each_attention(|layer, attention| {
        attention.window = window.filter(|_| slides.get(layer) == Some(&true));
        attention.scoring.cap = cap;
        attention.scoring.scale = scale.unwrap_or(attention.scoring.scale);
    });
    Ok(d)
}

/// Gemma 3.
pub fn gemma3(facts: &Facts<'_>) -> Result<Description> {
    let mut d = gemma2(facts)?;
    let slides = slides(facts, d.layers.len(), 6)?;
    let window = facts.count_if(WINDOW)?;
    let scale = query_scale(facts, &d, 62)?;
    let head = head(&d);
    let (all, _) = rotary(facts, Wanted { base: 1_000_000.0, ..Wanted::full(head) })?;
    let (near, _) = rotary(facts, Wanted { kind: "sliding_attention", ..Wanted::full(head) })?;
    d.rotaries = vec![all, near];
    d.each_attention(|layer, attention| {
        let slides = slides.get(layer) == Some(&true) && window.is_some();
        attention.norms = true;
        attention.window = window.filter(|_| slides);
        attention.rotary = Some(usize::from(slides));
        attention.scoring.scale = scale.unwrap_or(attention.scoring.scale);
    });
    Ok(d)
}

/// The text part of Gemma 4 without experts.
pub fn gemma4(facts: &Facts<'_>) -> Result<Description> {
    facts.refuse(
        ("enable_moe_block", ""),
        facts.flag(("enable_moe_block", ""))?,
        "false: experts are not supported",
    )?;
    let experts = ("num_experts", "expert_count");
    facts.refuse(experts, facts.count_if(experts)?.is_some(), "none: experts are not supported")?;
    let both = ("use_bidirectional_attention", "");
    facts.refuse(both, facts.text(both)? == Some("all"), "null: attention must be causal")?;
    let mut d = any(facts)?;
    let layers = d.layers.len();
    d.post_norms = true;
    d.inner_norm = InnerNorm::BeforeFeedForward;
    d.layer_scales = true;
    d.per_layer = facts.count_if(("hidden_size_per_layer_input", "embedding_length_per_layer_input"))?;
    let mut slides = slides(facts, layers, 6)?;
    if let Some(last) = slides.last_mut() {
        *last = false;
    }
    let (near, far) = heads(facts, &d, &slides)?;
    let wanted = Wanted { base: 1_000_000.0, share: 1.0, ..Wanted::full(far.head) };
    let (all, _) = rotary(facts, wanted)?;
    let (close, _) = rotary(facts, Wanted { kind: "sliding_attention", ..Wanted::full(near.head) })?;
    d.rotaries = vec![all, close];
    let window = facts.count_if(WINDOW)?;
    let shared = facts.count_if(("num_kv_shared_layers", "attention.shared_kv_layers"))?.unwrap_or(0);
    let own = layers.saturating_sub(shared);
    let one_projection = facts.flag(("attention_k_eq_v", ""))?;
    let last_of = |kind: bool| (0..own).rev().find(|&layer| slides.get(layer) == Some(&kind));
    let sources = (last_of(true), last_of(false));
    let mut wanting = false;
    d.each_attention(|layer, attention| {
        let slides = slides.get(layer) == Some(&true);
        attention.heads = if slides { near } else { far };
        attention.norms = true;
        attention.value_norm = true;
        attention.scoring.scale = 1.0;
        attention.window = window.filter(|_| slides);
        attention.rotary = Some(usize::from(slides));
        attention.source = match if slides { sources.0 } else { sources.1 } {
            _ if layer < own && one_projection && !slides => Source::KeysAreValues,
            _ if layer < own => Source::Own,
            Some(source) => Source::Layer(source),
            None => {
                wanting = true;
                Source::Own
            }
        };
    });
    let key = ("num_kv_shared_layers", "attention.shared_kv_layers");
    facts.refuse(key, wanting, "fewer: a kind of layer has none to share with")?;
    if !facts.is_gguf() && facts.flag(("use_double_wide_mlp", ""))? {
        d.layers.iter_mut().skip(own).for_each(|layer| layer.inner *= 2);
    }
    Ok(d)
}

/// Heads of Gemma 4's layers with a window, and of the others.
fn heads(facts: &Facts<'_>, d: &Description, slides: &[bool]) -> Result<(Heads, Heads)> {
    let mut near = Heads { heads: 1, kv_heads: 1, head: 0 };
    if let Some(super::description::Mixer::Attention(attention)) = d.layers.first().map(|layer| &layer.mixer) {
        near = attention.heads;
    }
    let mut far = near;
    match facts {
        Facts::Config(config, _) => {
            // Written as one number, or for each layer by the library's newer versions.
            let full = slides.iter().position(|slides| !slides).unwrap_or(0);
            let of = |name: &str, whole: &str| match config.contains(whole) {
                true => config.count(whole).map(Some),
                false if config.contains(&format!("per_layer_config.{full}.{name}")) => {
                    config.count(&format!("per_layer_config.{full}.{name}")).map(Some)
                }
                false => Ok(None),
            };
            far.head = of("head_dim", "global_head_dim")?.unwrap_or(512);
            far.kv_heads = of("num_key_value_heads", "num_global_key_value_heads")?.unwrap_or(near.kv_heads);
        }
        Facts::Gguf(..) => {
            near.head = facts.count(("", "attention.key_length_swa"))?;
            let kv = facts.counts(("", "attention.head_count_kv"), slides.len())?;
            let of = |kind: bool| slides.iter().zip(&kv).find(|(slides, _)| **slides == kind).map(|(_, kv)| *kv);
            near.kv_heads = of(true).unwrap_or(near.kv_heads);
            far.kv_heads = of(false).unwrap_or(near.kv_heads);
        }
    }
    Ok((checked(facts, near)?, checked(facts, far)?))
}

fn head(d: &Description) -> usize {
    match d.layers.first().map(|layer| &layer.mixer) {
        Some(super::description::Mixer::Attention(attention)) => attention.heads.head,
        _ => super::super::simd::LANES,
    }
}

/// Which layers have a window: all but every `every`-th where nothing is said.
fn slides(facts: &Facts<'_>, layers: usize, every: usize) -> Result<Vec<bool>> {
    if let Some(slides) = facts.marked(LAYER_TYPES, "sliding_attention", layers)? {
        return Ok(slides);
    }
    let every = facts.count_if(("sliding_window_pattern", ""))?.unwrap_or(every);
    Ok((1..=layers).map(|layer| layer % every != 0).collect())
}

/// The scale of scores, where it is not the head's. GGUF has no key for it: only the largest model of a generation, known
/// by its number of layers, departs from the head's.
fn query_scale(facts: &Facts<'_>, d: &Description, largest: usize) -> Result<Option<f32>> {
    let scalar = facts.positive(QUERY_SCALAR)?;
    if facts.is_gguf() && d.layers.len() == largest {
        let heads = facts.count(("num_attention_heads", "attention.head_count"))?;
        return Ok(Some(1.0 / ((d.width / heads) as f32).sqrt()));
    }
    Ok(scalar.map(|scalar| 1.0 / scalar.sqrt()))
}
