//! The Llama family: which metadata and tensors of a GGUF file make its decoder.
//!
//! In: an open [`Gguf`] of architecture `llama`. Out: a [`Decoder`] in f32.
//! Blocks of RMS norm, grouped-query attention with rotary positions, RMS norm, and a gated SiLU feed-forward part, without
//! biases (Touvron et al., 2023, <https://arxiv.org/abs/2302.13971>).

use rayon::prelude::*;

use super::attention::Heads;
use super::decoder::{Block, Decoder, Shape};
use super::gguf::{Gguf, Value};
use super::matrix::Matrix;
use super::simd::LANES;
use crate::{Error, Result};

/// Name of the architecture in `general.architecture`.
pub const ARCHITECTURE: &str = "llama";

/// Loads the decoder.
///
/// # Errors
/// [`Error::Input`] where metadata or tensors are missing, of a wrong shape, or ask for something this family has not;
/// [`Error::Io`] where the file can't be read.
pub fn load(gguf: &Gguf, vocabulary: usize) -> Result<Decoder> {
    let shape = shape(gguf, vocabulary)?;
    let layers = gguf.count("llama.block_count")?;
    refuse_unknown(gguf, layers)?;
    let frequencies = frequencies(gguf, shape.heads.head)?;
    let (width, vocabulary) = (shape.width, shape.vocabulary);
    let embedding = Matrix::of_f32(width, &[&gguf.tensor("token_embd.weight", &[vocabulary, width])?]);
    let output = match gguf.tensors.contains_key("output.weight") {
        true => Some(Matrix::of_f32(width, &[&gguf.tensor("output.weight", &[vocabulary, width])?])),
        false => None,
    };
    let blocks = (0..layers).into_par_iter().map(|layer| block(gguf, &shape, layer)).collect::<Result<Vec<_>>>()?;
    let final_norm = gguf.tensor("output_norm.weight", &[width])?;
    Ok(Decoder { shape, embedding, output, blocks, final_norm, frequencies })
}

fn shape(gguf: &Gguf, vocabulary: usize) -> Result<Shape> {
    let width = gguf.count("llama.embedding_length")?;
    let heads = gguf.count("llama.attention.head_count")?;
    let kv_heads = match gguf.metadata.contains_key("llama.attention.head_count_kv") {
        true => gguf.count("llama.attention.head_count_kv")?,
        false => heads,
    };
    let head = match gguf.metadata.contains_key("llama.attention.key_length") {
        true => gguf.count("llama.attention.key_length")?,
        false => width / heads,
    };
    let unusable = |key: &str, expected: String| gguf.bad(key, gguf.metadata.get(key), &expected);
    if heads % kv_heads != 0 {
        return Err(unusable("llama.attention.head_count_kv", format!("a divisor of {heads} heads")));
    }
    if head == 0 || head % LANES != 0 {
        let expected = format!("heads of a multiple of {LANES} values (found {head})");
        return Err(unusable("llama.attention.head_count", expected));
    }
    for key in ["llama.rope.dimension_count", "llama.attention.value_length"] {
        if gguf.metadata.contains_key(key) && gguf.count(key)? != head {
            return Err(unusable(key, format!("{head}, the length of a head")));
        }
    }
    let epsilon = "llama.attention.layer_norm_rms_epsilon";
    let epsilon = gguf.positive(epsilon)?.ok_or_else(|| unusable(epsilon, "a finite number above 0".into()))?;
    let inner = gguf.count("llama.feed_forward_length")?;
    Ok(Shape { width, inner, heads: Heads { heads, kv_heads, head }, vocabulary, epsilon })
}

/// base^(-2i/head), each divided by the file's own factor where it has them (Llama 3.1 and later).
fn frequencies(gguf: &Gguf, head: usize) -> Result<Vec<f32>> {
    let scaling = "llama.rope.scaling.type";
    if let Some(value) = gguf.metadata.get(scaling)
        && *value != Value::Text("none".into())
    {
        return Err(gguf.bad(scaling, Some(value), "none: scaled rotary positions are not supported"));
    }
    let base = gguf.positive("llama.rope.freq_base")?.unwrap_or(10_000.0);
    let factors = match gguf.tensors.contains_key("rope_freqs.weight") {
        true => gguf.tensor("rope_freqs.weight", &[head / 2])?,
        false => vec![1.0; head / 2],
    };
    let exponent = |i: usize| (2 * i) as f32 / head as f32;
    Ok(factors.iter().enumerate().map(|(i, factor)| 1.0 / base.powf(exponent(i)) / factor).collect())
}

fn block(gguf: &Gguf, shape: &Shape, layer: usize) -> Result<Block> {
    let Shape { width, inner, heads: Heads { heads, kv_heads, head }, .. } = *shape;
    let load = |name: &str, shape: &[usize]| gguf.tensor(&format!("blk.{layer}.{name}.weight"), shape);
    let query = halves(load("attn_q", &[heads * head, width])?, head, width);
    let key = halves(load("attn_k", &[kv_heads * head, width])?, head, width);
    let value = load("attn_v", &[kv_heads * head, width])?;
    Ok(Block {
        attention_norm: load("attn_norm", &[width])?,
        query_key_value: Matrix::of_f32(width, &[&query, &key, &value]),
        attention_out: Matrix::of_f32(heads * head, &[&load("attn_output", &[width, heads * head])?]),
        inner_norm: load("ffn_norm", &[width])?,
        gate_up: Matrix::of_f32(width, &[&load("ffn_gate", &[inner, width])?, &load("ffn_up", &[inner, width])?]),
        down: Matrix::of_f32(inner, &[&load("ffn_down", &[width, inner])?]),
    })
}

/// Rows of each head from interleaved pairs (0, 1), (2, 3), ... to halves: all first elements, then all second ones.
///
/// Files of this family hold query and key rows so that rotation pairs neighbours; [`super::rows::rotate`] pairs
/// element i with element i + head / 2. Attention scores are the same, as queries and keys are reordered alike.
fn halves(rows: Vec<f32>, head: usize, width: usize) -> Vec<f32> {
    let mut out = Vec::with_capacity(rows.len());
    for rows in rows.chunks_exact(head * width) {
        for part in [0, 1] {
            for row in rows.chunks_exact(width).skip(part).step_by(2) {
                out.extend_from_slice(row);
            }
        }
    }
    out
}

/// Tensors that nothing would read (biases, experts) mean that the model is not what this description computes.
fn refuse_unknown(gguf: &Gguf, layers: usize) -> Result<()> {
    const OF_BLOCK: [&str; 9] =
        ["attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate", "ffn_up", "ffn_down"];
    const OF_MODEL: [&str; 4] = ["token_embd.weight", "output.weight", "output_norm.weight", "rope_freqs.weight"];
    let known = |name: &str| {
        let mut parts = name.splitn(3, '.');
        match (parts.next(), parts.next().map(str::parse::<usize>), parts.next()) {
            (Some("blk"), Some(Ok(layer)), Some(rest)) if layer < layers => {
                rest.strip_suffix(".weight").is_some_and(|rest| OF_BLOCK.contains(&rest))
            }
            _ => OF_MODEL.contains(&name),
        }
    };
    match gguf.tensors.keys().find(|name| !known(name)) {
        None => Ok(()),
        Some(name) => {
            Err(Error::input(format!("the model has a tensor that the family \"llama\" does not use: {name}"))
                .file(gguf.path())
                .expected("a plain Llama model, without biases, experts or adapters")
                .into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_takes_even_rows_then_odd_rows_of_each_head() {
        let rows: Vec<f32> = (0..8).map(|i| i as f32).collect();
        assert_eq!(halves(rows.clone(), 4, 1), [0.0, 2.0, 1.0, 3.0, 4.0, 6.0, 5.0, 7.0]);
        assert_eq!(halves(rows, 2, 2), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    }
}
