//! Frequencies of rotary positions, scaled as configs say.
//!
//! In: facts. Out: a [`Rotary`]. The scalings are those of the reference library: linear, llama3, yarn, longrope, proportional.
//! Whatever depends on a sequence's own length (longrope beyond the original context, dynamic) has no place in a cache that
//! sequences share: longrope is held to the original context, dynamic is refused.

use std::f32::consts::PI;

use super::super::decoder::rotary::Rotary;
use super::facts::{Facts, Key};
use crate::Result;

/// Base of the frequencies in GGUF, and in configs without parts.
const BASE: Key = ("rope_theta", "rope.freq_base");

/// Where a config holds the parameters of one kind of layer.
fn places(kind: &str) -> [String; 3] {
    [format!("rope_parameters.{kind}"), "rope_parameters".to_string(), "rope_scaling".to_string()]
}

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// Length of a head.
    pub head: usize,
    /// Kind of layer, as configs name it.
    pub kind: &'static str,
    /// Base where nothing is said.
    pub base: f32,
    /// Share of a head's elements that turns, where nothing is said.
    pub share: f32,
}

impl Wanted {
    /// Of full attention with the usual base, over the whole head.
    pub fn full(head: usize) -> Wanted {
        Wanted { head, kind: "full_attention", base: 10_000.0, share: 1.0 }
    }
}

/// The rotation of one kind of layer, and the most positions that it is good for where that is less than the context.
///
/// # Errors
/// [`crate::Error::Input`] where the file asks for a scaling that is not known, or its numbers are out of range.
pub fn rotary(facts: &Facts<'_>, wanted: Wanted) -> Result<(Rotary, Option<usize>)> {
    match facts {
        Facts::Config(..) => of_config(facts, wanted),
        Facts::Gguf(..) => of_gguf(facts, wanted),
    }
}

/// base^(-2i/n) for n turned elements.
fn plain(base: f32, turned: usize, head: usize) -> Vec<f32> {
    (0..turned / 2).map(|i| 1.0 / base.powf((2 * i) as f32 / head as f32)).collect()
}

/// Elements of a head that turn.
fn turned(facts: &Facts<'_>, head: usize, share: f32) -> Result<usize> {
    let turned = (head as f32 * share) as usize;
    if turned > head || turned == 0 || !turned.is_multiple_of(2) {
        let expected = format!("a share of the head's {head} elements that is an even number of them");
        return Err(facts.bad(("partial_rotary_factor", "rope.dimension_count"), &expected));
    }
    Ok(turned)
}

fn of_config(facts: &Facts<'_>, wanted: Wanted) -> Result<(Rotary, Option<usize>)> {
    let Facts::Config(config, _) = facts else { return Ok((Rotary { frequencies: Vec::new(), factor: 1.0 }, None)) };
    let places = places(wanted.kind);
    // A parameter by name, from the first place that has it.
    let key = |name: &str| places.iter().map(|place| format!("{place}.{name}")).find(|key| config.contains(key));
    let number = |name: &str| key(name).map_or(Ok(None), |key| config.positive(&key));
    let must =
        |name: &str| number(name)?.ok_or_else(|| config.bad(&format!("rope_parameters.{name}"), "a number above 0"));
    let base = match number("rope_theta")? {
        Some(base) => base,
        None if wanted.kind == "sliding_attention" => config.positive("rope_local_base_freq")?.unwrap_or(wanted.base),
        None => config.positive("rope_theta")?.unwrap_or(wanted.base),
    };
    let share = match number("partial_rotary_factor")? {
        Some(share) => share,
        None => config.positive("partial_rotary_factor")?.unwrap_or(wanted.share),
    };
    let scaling = match key("rope_type").or_else(|| key("type")) {
        // In configs of the older form the one scaling is that of full attention.
        Some(key) if wanted.kind == "sliding_attention" && key.starts_with("rope_scaling") => "default",
        Some(key) => config.text(&key)?,
        None => "default",
    };
    let head = wanted.head;
    if scaling == "proportional" {
        // Frequencies of the whole head; those beyond the share do not turn.
        let some = (share * head as f32 / 2.0) as usize;
        let factor = number("factor")?.unwrap_or(1.0);
        let mut frequencies = plain(base, 2 * some, head);
        frequencies.iter_mut().for_each(|f| *f /= factor);
        frequencies.resize(head / 2, 0.0);
        return Ok((Rotary { frequencies, factor: 1.0 }, None));
    }
    let turned = turned(facts, head, share)?;
    let mut frequencies = plain(base, turned, turned);
    let mut factor = 1.0;
    let mut most = None;
    match scaling {
        "default" | "mrope" => {}
        "linear" => {
            let by = must("factor")?;
            frequencies.iter_mut().for_each(|f| *f /= by);
        }
        "llama3" => {
            let original = must("original_max_position_embeddings")?;
            let (by, low, high) = (must("factor")?, must("low_freq_factor")?, must("high_freq_factor")?);
            frequencies.iter_mut().for_each(|f| *f = llama3(*f, by, low, high, original));
        }
        "yarn" => {
            let by = must("factor")?;
            let original = match number("original_max_position_embeddings")? {
                Some(original) => original,
                None => config.count("max_position_embeddings")? as f32,
            };
            let beta = (number("beta_fast")?.unwrap_or(32.0), number("beta_slow")?.unwrap_or(1.0));
            frequencies = yarn(&frequencies, base, turned, by, original, beta);
            factor = number("attention_factor")?.unwrap_or(if by <= 1.0 { 1.0 } else { 0.1 * by.ln() + 1.0 });
        }
        "longrope" | "su" => {
            let original = match config.positive("original_max_position_embeddings")? {
                Some(original) => original,
                None => must("original_max_position_embeddings")?,
            };
            let context = config.count("max_position_embeddings")? as f32;
            let by = number("factor")?.unwrap_or(context / original);
            let list = key("short_factor").unwrap_or_else(|| "rope_parameters.short_factor".to_string());
            let factors = config.get(&list).and_then(serde_json::Value::as_array);
            let factors: Option<Vec<f32>> =
                factors.and_then(|all| all.iter().map(|x| x.as_f64().map(|x| x as f32)).collect());
            let Some(factors) = factors.filter(|all| all.len() == turned / 2) else {
                return Err(config.bad(&list, &format!("a list of {} numbers", turned / 2)));
            };
            frequencies = short(base, &factors);
            factor = number("attention_factor")?.unwrap_or_else(|| longrope_factor(by, original));
            most = Some(original as usize);
        }
        _ => {
            let key = key("rope_type").or_else(|| key("type")).unwrap_or_default();
            return Err(config.bad(&key, "default, linear, llama3, yarn, longrope or proportional"));
        }
    }
    Ok((Rotary { frequencies, factor }, most))
}

fn of_gguf(facts: &Facts<'_>, wanted: Wanted) -> Result<(Rotary, Option<usize>)> {
    let Facts::Gguf(gguf, _) = facts else { return Ok((Rotary { frequencies: Vec::new(), factor: 1.0 }, None)) };
    let sliding = wanted.kind == "sliding_attention";
    let base = match (sliding, facts.positive(("", "rope.freq_base_swa"))?) {
        (true, Some(base)) => base,
        (true, None) => wanted.base,
        (false, _) => facts.positive(BASE)?.unwrap_or(wanted.base),
    };
    let dimensions = ("", if sliding { "rope.dimension_count_swa" } else { "rope.dimension_count" });
    let turned = match facts.count_if(dimensions)? {
        Some(turned) if turned <= wanted.head && turned.is_multiple_of(2) => turned,
        Some(turned) if !sliding || turned <= wanted.head => {
            let expected = format!("an even number of at most {}, the length of a head", wanted.head);
            return Err(facts.bad(dimensions, &expected));
        }
        _ => turned(facts, wanted.head, wanted.share)?,
    };
    let mut frequencies = plain(base, turned, turned);
    let scaling = ("", "rope.scaling.type");
    let mut factor = 1.0;
    match facts.text(scaling)? {
        None | Some("none" | "longrope") => {}
        // Layers with a window are never scaled.
        Some("linear") if sliding => {}
        Some("linear") => {
            let by = facts.must_be_positive(("", "rope.scaling.factor"))?;
            frequencies.iter_mut().for_each(|f| *f /= by);
        }
        Some("yarn") => {
            let by = facts.must_be_positive(("", "rope.scaling.factor"))?;
            let original = facts.must_be_positive(("", "rope.scaling.original_context_length"))?;
            frequencies = yarn(&frequencies, base, turned, by, original, (32.0, 1.0));
            factor = if by <= 1.0 { 1.0 } else { 0.1 * by.ln() + 1.0 };
        }
        Some(_) => return Err(facts.bad(scaling, "none, linear, yarn or longrope")),
    }
    // Llama 3's scaling, and that only a part of a head turns, stand in the file as factors.
    if !sliding && gguf.weights.contains("rope_freqs.weight") {
        let factors = gguf.weights.vector("rope_freqs.weight", &[turned / 2])?;
        frequencies.iter_mut().zip(factors).for_each(|(f, factor)| *f /= factor);
    }
    let mut most = None;
    if gguf.weights.contains("rope_factors_short.weight") {
        let factors = gguf.weights.vector("rope_factors_short.weight", &[turned / 2])?;
        let original = facts.must_be_positive(("", "rope.scaling.original_context_length"))?;
        frequencies = short(base, &factors);
        let by = facts.must_be_positive(("", "context_length"))? / original;
        factor = facts.positive(("", "rope.scaling.attn_factor"))?.unwrap_or_else(|| longrope_factor(by, original));
        most = Some(original as usize);
    }
    Ok((Rotary { frequencies, factor }, most))
}

/// Frequencies divided by factors of their own, as longrope has them.
fn short(base: f32, factors: &[f32]) -> Vec<f32> {
    let exponent = |i: usize| (2 * i) as f32 / (2 * factors.len()) as f32;
    factors.iter().enumerate().map(|(i, factor)| 1.0 / (factor * base.powf(exponent(i)))).collect()
}

fn longrope_factor(by: f32, original: f32) -> f32 {
    if by <= 1.0 { 1.0 } else { (1.0 + by.ln() / original.ln()).sqrt() }
}

/// Llama 3.1's scaling: long waves are slowed by the factor, short ones stay, those between are mixed.
fn llama3(frequency: f32, factor: f32, low: f32, high: f32, original: f32) -> f32 {
    let wave = 2.0 * PI / frequency;
    if wave < original / high {
        return frequency;
    }
    if wave > original / low {
        return frequency / factor;
    }
    let smooth = (original / wave - low) / (high - low);
    (1.0 - smooth) * frequency / factor + smooth * frequency
}

/// YaRN's scaling (Peng et al., 2023, <https://arxiv.org/abs/2309.00071>), section 3.2.
fn yarn(plain: &[f32], base: f32, turned: usize, factor: f32, original: f32, beta: (f32, f32)) -> Vec<f32> {
    let place = |turns: f32| turned as f32 * (original / (turns * 2.0 * PI)).ln() / (2.0 * base.ln());
    let low = place(beta.0).floor().max(0.0);
    let high = place(beta.1).ceil().min(turned as f32 - 1.0);
    let high = if high == low { high + 0.001 } else { high };
    let mixed = |(i, &frequency): (usize, &f32)| {
        let stretched = ((i as f32 - low) / (high - low)).clamp(0.0, 1.0);
        frequency / factor * stretched + frequency * (1.0 - stretched)
    };
    plain.iter().enumerate().map(mixed).collect()
}
