//! Tensors' names in folders of safetensors and in GGUF files.
//!
//! In: a part of a decoder. Out: its tensor's name.
//! Safetensors hold the reference library's names, below a prefix where a checkpoint wraps the language model.

use super::super::weights::Weights;
use super::description::InnerNorm;

/// Where the language model's tensors lie among a checkpoint's: alone, or inside a wrapper of one form or another.
const PREFIXES: [&str; 4] = ["model.", "model.language_model.", "language_model.model.", ""];

/// How tensors are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// As the reference library does, below this prefix.
    Reference(&'static str),
    /// As GGUF does.
    Gguf,
}

/// A tensor of a block: its names after the layer's, in the reference library and in GGUF.
pub type Part = (&'static str, &'static str);

/// Tensors of blocks.
pub mod block {
    use super::Part;

    pub const MIXER_NORM: Part = ("input_layernorm.weight", "attn_norm.weight");
    pub const QUERY: Part = ("self_attn.q_proj.weight", "attn_q.weight");
    pub const KEY: Part = ("self_attn.k_proj.weight", "attn_k.weight");
    pub const VALUE: Part = ("self_attn.v_proj.weight", "attn_v.weight");
    pub const QUERY_BIAS: Part = ("self_attn.q_proj.bias", "attn_q.bias");
    pub const KEY_BIAS: Part = ("self_attn.k_proj.bias", "attn_k.bias");
    pub const VALUE_BIAS: Part = ("self_attn.v_proj.bias", "attn_v.bias");
    pub const QUERY_KEY_VALUE: Part = ("self_attn.qkv_proj.weight", "attn_qkv.weight");
    pub const QUERY_NORM: Part = ("self_attn.q_norm.weight", "attn_q_norm.weight");
    pub const KEY_NORM: Part = ("self_attn.k_norm.weight", "attn_k_norm.weight");
    pub const ATTENTION_OUT: Part = ("self_attn.o_proj.weight", "attn_output.weight");
    pub const MIXER_POST_NORM: Part = ("post_attention_layernorm.weight", "post_attention_norm.weight");
    pub const GATE: Part = ("mlp.gate_proj.weight", "ffn_gate.weight");
    pub const UP: Part = ("mlp.up_proj.weight", "ffn_up.weight");
    pub const GATE_UP: Part = ("mlp.gate_up_proj.weight", "ffn_up.weight");
    pub const DOWN: Part = ("mlp.down_proj.weight", "ffn_down.weight");
    pub const INNER_POST_NORM: Part = ("post_feedforward_layernorm.weight", "post_ffw_norm.weight");
    pub const PER_LAYER_GATE: Part = ("per_layer_input_gate.weight", "inp_gate.weight");
    pub const PER_LAYER_PROJECTION: Part = ("per_layer_projection.weight", "proj.weight");
    pub const PER_LAYER_NORM: Part = ("post_per_layer_input_norm.weight", "post_norm.weight");
    pub const SCALE: Part = ("layer_scalar", "layer_output_scale.weight");
    pub const NET_INPUT: Part = ("linear_attn.in_proj_qkv.weight", "attn_qkv.weight");
    pub const NET_GATE: Part = ("linear_attn.in_proj_z.weight", "attn_gate.weight");
    pub const NET_CORRECTION: Part = ("linear_attn.in_proj_b.weight", "ssm_beta.weight");
    pub const NET_FADING: Part = ("linear_attn.in_proj_a.weight", "ssm_alpha.weight");
    pub const NET_TAPS: Part = ("linear_attn.conv1d.weight", "ssm_conv1d.weight");
    pub const NET_RATES: Part = ("linear_attn.A_log", "ssm_a");
    pub const NET_STEP_BIAS: Part = ("linear_attn.dt_bias", "ssm_dt.bias");
    pub const NET_NORM: Part = ("linear_attn.norm.weight", "ssm_norm.weight");
    pub const NET_OUT: Part = ("linear_attn.out_proj.weight", "ssm_out.weight");
}

/// Tensors of the model.
pub mod whole {
    use super::Part;

    pub const EMBEDDING: Part = ("embed_tokens.weight", "token_embd.weight");
    pub const FINAL_NORM: Part = ("norm.weight", "output_norm.weight");
    pub const OUTPUT: Part = ("lm_head.weight", "output.weight");
    pub const PER_LAYER_TABLE: Part = ("embed_tokens_per_layer.weight", "per_layer_token_embd.weight");
    pub const PER_LAYER_PROJECTION: Part = ("per_layer_model_projection.weight", "per_layer_model_proj.weight");
    pub const PER_LAYER_NORM: Part = ("per_layer_projection_norm.weight", "per_layer_proj_norm.weight");
}

impl Names {
    /// How a model's tensors are named: by where its embedding is found.
    pub fn of(weights: &Weights) -> Names {
        if weights.contains(whole::EMBEDDING.1) {
            return Names::Gguf;
        }
        let has = |prefix: &&str| weights.contains(&format!("{prefix}{}", whole::EMBEDDING.0));
        Names::Reference(PREFIXES.into_iter().find(has).unwrap_or(PREFIXES[0]))
    }

    /// A tensor of the model.
    pub fn whole(self, part: Part) -> String {
        match self {
            Names::Gguf => part.1.to_string(),
            // The output matrix stands beside the decoder, not in it.
            Names::Reference(prefix) if part == whole::OUTPUT => {
                let outer = prefix.strip_suffix("model.").filter(|outer| !outer.ends_with("language_"));
                format!("{}{}", outer.unwrap_or_default(), part.0)
            }
            Names::Reference(prefix) => format!("{prefix}{}", part.0),
        }
    }

    /// A tensor of a block.
    pub fn block(self, layer: usize, part: Part) -> String {
        match self {
            Names::Gguf => format!("blk.{layer}.{}", part.1),
            Names::Reference(prefix) => format!("{prefix}layers.{layer}.{}", part.0),
        }
    }

    /// The norm before a block's feed-forward part.
    pub fn inner_norm(kind: InnerNorm) -> Part {
        match kind {
            InnerNorm::AfterAttention => ("post_attention_layernorm.weight", "ffn_norm.weight"),
            InnerNorm::BeforeFeedForward => ("pre_feedforward_layernorm.weight", "ffn_norm.weight"),
            InnerNorm::AfterAttentionInBoth => block::MIXER_POST_NORM,
        }
    }

    /// Whether a tensor is part of the decoder, or of something beside it that text does not need: a vision tower, heads that
    /// predict further tokens, frequencies that are computed anew, factors of rotation that are read elsewhere.
    pub fn is_decoders(self, name: &str) -> bool {
        match self {
            Names::Gguf => !name.starts_with("rope_f"),
            Names::Reference("") => true,
            Names::Reference(prefix) => {
                let beside = ["model.vision", "model.audio", "model.embed_vision", "model.embed_audio", "model.visual"];
                name.starts_with(prefix)
                    && !name.ends_with("rotary_emb.inv_freq")
                    && !beside.iter().any(|part| name.starts_with(part))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_below_the_prefixes_of_wrappers() {
        assert_eq!(Names::Reference("model.").whole(whole::OUTPUT), "lm_head.weight");
        assert_eq!(Names::Reference("model.language_model.").whole(whole::OUTPUT), "lm_head.weight");
        assert_eq!(Names::Reference("language_model.model.").whole(whole::OUTPUT), "language_model.lm_head.weight");
        assert_eq!(
            Names::Reference("language_model.model.").whole(whole::FINAL_NORM),
            "language_model.model.norm.weight"
        );
        assert_eq!(Names::Gguf.block(3, block::DOWN), "blk.3.ffn_down.weight");
        assert!(!Names::Reference("model.").is_decoders("model.layers.0.self_attn.rotary_emb.inv_freq"));
        assert!(!Names::Reference("model.language_model.").is_decoders("model.visual.blocks.0.norm1.weight"));
        assert!(Names::Reference("model.").is_decoders("model.layers.0.mlp.experts.3.up_proj.weight"));
    }
}
