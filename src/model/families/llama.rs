//! Llama and its likes: Llama 2 and 3, SmolLM 2 and 3, Mistral.
//!
//! In: facts. Out: descriptions.
//! Blocks of RMS norm, grouped-query attention with rotary positions, RMS norm, and a gated SiLU feed-forward part (Touvron et
//! al., 2023, <https://arxiv.org/abs/2302.13971>). [`common`] is what every other family departs from.

use super::super::decoder::attend::{Heads, Scoring};
use super::super::decoder::attention::Source;
use super::super::decoder::rows::Activation;
use super::super::simd::LANES;
use super::description::{Attention, Description, InnerNorm, Layer, Mixer};
use super::facts::{Facts, Key};
use super::rotations::{Wanted, rotary};
use crate::Result;

const LAYERS: Key = ("num_hidden_layers", "block_count");
/// More than any model has: a damaged number of layers would take the memory that it asks for.
const MOST_LAYERS: usize = 4096;
const HEADS: Key = ("num_attention_heads", "attention.head_count");
const KEY_HEADS: Key = ("num_key_value_heads", "attention.head_count_kv");
const HEAD: Key = ("head_dim", "attention.key_length");
const INNER: Key = ("intermediate_size", "feed_forward_length");
const ACTIVATION: Key = ("hidden_act", "");
/// Positions that a layer with a window sees.
pub const WINDOW: Key = ("sliding_window", "attention.sliding_window");

/// Llama 2, 3, 3.1, 3.2, SmolLM2 and others of this shape.
pub fn llama(facts: &Facts<'_>) -> Result<Description> {
    let mut d = common(facts)?;
    d.paired = facts.is_gguf();
    let bias = facts.flag(("attention_bias", ""))?;
    d.each_attention(|_, attention| attention.bias = bias);
    Ok(d)
}

/// Mistral: a window for all layers, where there is one.
pub fn mistral(facts: &Facts<'_>) -> Result<Description> {
    let mut d = common(facts)?;
    let window = facts.count_if(WINDOW)?;
    d.each_attention(|_, attention| attention.window = window);
    Ok(d)
}

/// SmolLM3: every fourth layer without positions.
pub fn smollm3(facts: &Facts<'_>) -> Result<Description> {
    let mut d = llama(facts)?;
    let layers = d.layers.len();
    const LIST: Key = ("no_rope_layers", "");
    let turned = match facts {
        Facts::Config(config, _) => {
            config.numbers(LIST.0)?.map(|list| list.into_iter().map(|x| x != 0).collect::<Vec<bool>>())
        }
        Facts::Gguf(..) => None,
    };
    let turned = match turned {
        Some(list) if list.len() == layers => list,
        Some(_) => return Err(facts.bad(LIST, &format!("a list of {layers} layers"))),
        None => {
            let every = facts.count_if(("no_rope_layer_interval", ""))?.unwrap_or(4);
            (1..=layers).map(|layer| layer % every != 0).collect()
        }
    };
    let slides = windows(facts, layers)?;
    d.each_attention(|layer, attention| {
        attention.rotary = attention.rotary.filter(|_| turned.get(layer) == Some(&true));
        attention.window = slides.get(layer).copied().flatten();
    });
    Ok(d)
}

/// What families have in common: sizes, rotation, attention over everything in all layers.
///
/// # Errors
/// [`crate::Error::Input`] where a size is missing or they do not fit each other.
pub fn common(facts: &Facts<'_>) -> Result<Description> {
    let width = facts.count(("hidden_size", "embedding_length"))?;
    let spare = facts.count_if(("", "nextn_predict_layers"))?.unwrap_or(0);
    let all = facts.count(LAYERS)?;
    facts.refuse(LAYERS, all > MOST_LAYERS, &format!("at most {MOST_LAYERS} layers"))?;
    let layers = all.checked_sub(spare).filter(|&layers| layers > 0);
    let layers =
        layers.ok_or_else(|| facts.bad(LAYERS, &format!("more than {spare}, the blocks that predict further")))?;
    let heads = heads(facts, width, all)?;
    let (rotary, most) = rotary(facts, Wanted::full(heads.head))?;
    let context = facts.count(("max_position_embeddings", "context_length"))?;
    let epsilon = facts.must_be_positive(("rms_norm_eps", "attention.layer_norm_rms_epsilon"))?;
    let inner = facts.counts(INNER, all)?;
    let attention = Attention {
        heads,
        rotary: Some(0),
        window: None,
        scoring: Scoring { scale: 1.0 / (heads.head as f32).sqrt(), cap: None },
        bias: false,
        norms: false,
        value_norm: false,
        gated: false,
        source: Source::Own,
    };
    let layer = |inner| Layer { mixer: Mixer::Attention(attention.clone()), inner };
    Ok(Description {
        width,
        context: most.map_or(context, |most| context.min(most)),
        epsilon,
        layers: inner.into_iter().take(layers).map(layer).collect(),
        spare,
        rotaries: vec![rotary],
        activation: activation(facts)?,
        embedding_scale: 1.0,
        logit_cap: None,
        tied: match facts {
            Facts::Config(config, _) => config.flag("tie_word_embeddings")?,
            Facts::Gguf(..) => None,
        },
        norm_shift: 0.0,
        post_norms: false,
        fused: false,
        paired: false,
        per_layer: None,
        layer_scales: false,
        inner_norm: InnerNorm::AfterAttention,
    })
}

fn activation(facts: &Facts<'_>) -> Result<Activation> {
    const NAMES: [Key; 2] = [("hidden_activation", ""), ACTIVATION];
    for key in NAMES {
        match facts.text(key)? {
            Some("silu" | "swish") => return Ok(Activation::Silu),
            // Gemma's first configs say gelu and mean its tanh form.
            Some("gelu_pytorch_tanh" | "gelu") => return Ok(Activation::Gelu),
            Some(_) => return Err(facts.bad(key, "silu or gelu_pytorch_tanh")),
            None => {}
        }
    }
    Ok(Activation::Silu)
}

/// The heads, checked: a head is a multiple of [`LANES`], and key heads divide the heads.
fn heads(facts: &Facts<'_>, width: usize, layers: usize) -> Result<Heads> {
    let heads = facts.count(HEADS)?;
    let kv_heads = if facts.has(KEY_HEADS) { of_first_layer(facts, KEY_HEADS, layers)? } else { heads };
    let head = facts.count_if(HEAD)?.unwrap_or(width / heads);
    checked(facts, Heads { heads, kv_heads, head })
}

/// A count that is one for all layers, or a list of which the first counts here.
fn of_first_layer(facts: &Facts<'_>, key: Key, layers: usize) -> Result<usize> {
    match facts.counts(key, layers)?.first() {
        Some(&count) => Ok(count),
        None => Err(facts.bad(key, "a number from 1")),
    }
}

/// Heads that attention can be computed with.
///
/// # Errors
/// [`crate::Error::Input`] where key heads do not divide the heads, or a head has an odd length.
pub fn checked(facts: &Facts<'_>, heads: Heads) -> Result<Heads> {
    if !heads.heads.is_multiple_of(heads.kv_heads) {
        return Err(facts.bad(KEY_HEADS, &format!("a divisor of {} heads", heads.heads)));
    }
    if heads.head == 0 || !heads.head.is_multiple_of(LANES) {
        return Err(facts.bad(HEAD, &format!("a multiple of {LANES} (it comes to {})", heads.head)));
    }
    Ok(heads)
}

/// The window of each layer by the config's list of layer types; all None where no layer has one.
///
/// # Errors
/// [`crate::Error::Input`] where the list has another length.
pub fn windows(facts: &Facts<'_>, layers: usize) -> Result<Vec<Option<usize>>> {
    let window = facts.count_if(WINDOW)?;
    let on = facts.flag(("use_sliding_window", ""))?;
    let slides = match facts.marked(("layer_types", ""), "sliding_attention", layers)? {
        Some(slides) => slides,
        None if on => {
            let from = facts.count_if(("max_window_layers", ""))?.unwrap_or(0);
            (0..layers).map(|layer| layer >= from).collect()
        }
        None => vec![false; layers],
    };
    Ok(slides.into_iter().map(|slides| window.filter(|_| slides && on)).collect())
}

impl Description {
    /// Changes each attention layer; `change` gets the layer's number.
    pub fn each_attention(&mut self, mut change: impl FnMut(usize, &mut Attention)) {
        for (number, layer) in self.layers.iter_mut().enumerate() {
            if let Mixer::Attention(attention) = &mut layer.mixer {
                change(number, attention);
            }
        }
    }
}
