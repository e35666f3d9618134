"""The tiny models of tests/golden/families: for each a configuration as the family's published files have it.

In: nothing. Out: MODELS, from a folder's name to a Tiny. Sizes are tiny, the features are the true ones: grouped queries,
biases, soft caps, windows shorter than the prompts, scaled and partial rotary embeddings, tied and untied output rows.
Keys are those of the published config.json files (so the older families have rope_theta and rope_scaling, as their files do,
and the youngest have rope_parameters), and keys that a published file leaves to their default are left out here too.
"""

from dataclasses import dataclass, field

# The tokenizers have 300 byte-level or 280 SentencePiece tokens, with the special ones as the family has them.
VOCABULARY = 320


@dataclass
class Tiny:
    config: dict
    dtype: str = "bfloat16"
    # How many files the weights are spread over.
    shards: int = 1
    lengths: tuple = (3, 9, 17)
    # Where the text model's tensors are in a checkpoint that holds other towers too: what takes the place of "model.".
    prefix: str = "model."
    # Tensors of the other towers, to be left alone by a reader of the text model: name and shape.
    others: dict = field(default_factory=dict)
    # Changes of the text configuration, each of which must change the logits: else the model would not show the feature.
    without: list = field(default_factory=list)
    seed: int = 1

    def text(self):
        return self.config.get("text_config", self.config)


def sizes(width=32, layers=3, heads=4, kv=2, inner=48, head=16, vocabulary=VOCABULARY):
    out = dict(hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads, num_key_value_heads=kv)
    return out | dict(intermediate_size=inner, head_dim=head, vocab_size=vocabulary)


def derived_head(**changes):
    """Sizes where the head's is the width over the heads and has no key of its own."""
    return {k: v for k, v in sizes(**changes).items() if k != "head_dim"}


def family(model_type, architecture, dtype="bfloat16"):
    return dict(architectures=[architecture], model_type=model_type, torch_dtype=dtype)


LLAMA = family("llama", "LlamaForCausalLM") | dict(
    attention_bias=False, attention_dropout=0.0, hidden_act="silu", initializer_range=0.02, mlp_bias=False,
    pretraining_tp=1, rms_norm_eps=1e-05, use_cache=True,
)
LLAMA3_SCALING = dict(
    factor=8.0, high_freq_factor=4.0, low_freq_factor=1.0, original_max_position_embeddings=32, rope_type="llama3"
)
GEMMA = dict(
    attention_bias=False, attention_dropout=0.0, bos_token_id=2, eos_token_id=1, pad_token_id=0, initializer_range=0.02,
    rms_norm_eps=1e-06, use_cache=True,
)
GEMMA4_TEXT = GEMMA | sizes(layers=4, kv=1) | dict(
    model_type="gemma4_text", dtype="bfloat16", hidden_activation="gelu_pytorch_tanh", max_position_embeddings=512,
    tie_word_embeddings=True, sliding_window=6, final_logit_softcapping=4.0, use_bidirectional_attention=None,
    layer_types=["sliding_attention", "full_attention", "sliding_attention", "full_attention"],
    rope_parameters=dict(
        full_attention=dict(partial_rotary_factor=0.25, rope_theta=1000000.0, rope_type="proportional"),
        sliding_attention=dict(rope_theta=10000.0, rope_type="default"),
    ),
    global_head_dim=32, num_global_key_value_heads=None, attention_k_eq_v=False, num_kv_shared_layers=2,
    hidden_size_per_layer_input=16, vocab_size_per_layer_input=VOCABULARY, use_double_wide_mlp=False,
    enable_moe_block=False, num_experts=None, top_k_experts=None, moe_intermediate_size=None,
)
GEMMA4_WITHOUT = [
    dict(sliding_window=64),
    dict(final_logit_softcapping=None),
    dict(rope_parameters=GEMMA4_TEXT["rope_parameters"] | dict(full_attention=dict(rope_theta=1e6, rope_type="default"))),
]
QWEN3_5_TEXT = sizes(layers=4, head=32, heads=2, kv=1) | dict(
    model_type="qwen3_5_text", dtype="bfloat16", attention_bias=False, attention_dropout=0.0, attn_output_gate=True,
    eos_token_id=300, full_attention_interval=4, hidden_act="silu", initializer_range=0.02,
    layer_types=["linear_attention", "linear_attention", "linear_attention", "full_attention"],
    linear_conv_kernel_dim=4, linear_key_head_dim=16, linear_num_key_heads=2, linear_num_value_heads=4,
    linear_value_head_dim=16, max_position_embeddings=512, mtp_num_hidden_layers=1, rms_norm_eps=1e-06, use_cache=True,
    tie_word_embeddings=True,
    rope_parameters=dict(
        mrope_interleaved=True, mrope_section=[2, 1, 1], rope_type="default", rope_theta=10000000, partial_rotary_factor=0.25
    ),
)
# The layer with which Qwen 3.5 guesses the token after the next, which a checkpoint keeps beside the model.
QWEN3_5_MTP = {f"mtp.{name}.weight": shape for name, shape in {
    "fc": (32, 64), "norm": (32,), "pre_fc_norm_embedding": (32,), "pre_fc_norm_hidden": (32,),
    "layers.0.input_layernorm": (32,), "layers.0.post_attention_layernorm": (32,),
    "layers.0.self_attn.q_norm": (32,), "layers.0.self_attn.k_norm": (32,),
    "layers.0.self_attn.q_proj": (128, 32), "layers.0.self_attn.k_proj": (32, 32), "layers.0.self_attn.v_proj": (32, 32),
    "layers.0.self_attn.o_proj": (32, 64), "layers.0.mlp.gate_proj": (48, 32), "layers.0.mlp.up_proj": (48, 32),
    "layers.0.mlp.down_proj": (32, 48),
}.items()}
PHI3 = family("phi3", "Phi3ForCausalLM") | derived_head(heads=2, kv=1) | dict(
    attention_bias=False, attention_dropout=0.0, bos_token_id=1, eos_token_id=310, pad_token_id=310, embd_pdrop=0.0,
    resid_pdrop=0.0, hidden_act="silu", initializer_range=0.02, rms_norm_eps=1e-05, rope_theta=10000.0,
    tie_word_embeddings=False, use_cache=True,
)

MODELS = {
    # Llama 3.1: untied output rows, grouped queries, scaled rotary embedding.
    "llama3_1": Tiny(
        LLAMA | sizes() | dict(
            bos_token_id=300, eos_token_id=[301, 305, 304], max_position_embeddings=512, rope_theta=10000.0,
            rope_scaling=LLAMA3_SCALING, tie_word_embeddings=False,
        ),
        without=[dict(rope_scaling=None)],
    ),
    # Llama 3.2: tied, another factor; the configuration as transformers 5 writes it (rope_parameters).
    "llama3_2": Tiny(
        LLAMA | sizes(layers=2, heads=8, kv=2) | dict(
            bos_token_id=300, eos_token_id=[301, 305, 304], max_position_embeddings=512,
            rope_parameters=LLAMA3_SCALING | dict(factor=32.0, rope_theta=10000.0), tie_word_embeddings=True,
        ),
        without=[dict(rope_parameters=dict(rope_theta=10000.0, rope_type="default"))],
    ),
    # Qwen 2.5: biases of the queries, keys and values; more rows than tokens; two files and their index.
    "qwen2": Tiny(
        family("qwen2", "Qwen2ForCausalLM") | derived_head(vocabulary=328, heads=2, kv=1) | dict(
            attention_dropout=0.0, bos_token_id=300, eos_token_id=302, hidden_act="silu", initializer_range=0.02,
            max_position_embeddings=512, max_window_layers=2, rms_norm_eps=1e-06, rope_theta=1000000.0, sliding_window=6,
            tie_word_embeddings=True, use_cache=True, use_sliding_window=False,
        ),
        shards=2,
    ),
    "gemma": Tiny(
        family("gemma", "GemmaForCausalLM") | GEMMA | sizes(heads=2, kv=1, head=32) | dict(
            hidden_act="gelu_pytorch_tanh", max_position_embeddings=512, rope_theta=10000.0,
        ),
    ),
    # Gemma 4 E4B in the layout of its checkpoints: the text model beside other towers.
    "gemma4_e4b": Tiny(
        family("gemma4", "Gemma4ForConditionalGeneration") | dict(
            audio_config=None, audio_token_id=311, boa_token_id=312, boi_token_id=313, dtype="bfloat16",
            eoa_token_index=314, eoi_token_id=315, eos_token_id=[1, 6], image_token_id=316, initializer_range=0.02,
            video_token_id=317, tie_word_embeddings=True, text_config=GEMMA4_TEXT,
            vision_config=dict(
                model_type="gemma4_vision", hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=1,
                num_key_value_heads=1, head_dim=16, patch_size=2, position_embedding_size=8,
            ),
        ),
        prefix="model.language_model.",
        # The checkpoints keep keys and values of the layers that take theirs from others.
        others={"model.vision_tower.patch_embedder.input_proj.weight": (16, 12)}
        | {f"model.language_model.layers.{i}.self_attn.{x}_proj.weight": (16 * (i - 1), 32) for i in (2, 3) for x in "kv"}
        | {f"model.language_model.layers.{i}.self_attn.k_norm.weight": (16 * (i - 1),) for i in (2, 3)},
        without=GEMMA4_WITHOUT,
    ),
    # Gemma 4 as E2B: a wider MLP in the layers that share keys and values; the text model alone.
    "gemma4_e2b": Tiny(
        GEMMA4_TEXT | family("gemma4_text", "Gemma4ForCausalLM") | dict(use_double_wide_mlp=True, layer_types=[
            "full_attention", "sliding_attention", "full_attention", "sliding_attention", "full_attention",
        ], num_hidden_layers=5, num_kv_shared_layers=2, global_head_dim=48, num_attention_heads=2),
        without=GEMMA4_WITHOUT,
    ),
    # Qwen 3.5 in the layout of its checkpoints: beside a vision tower and a head for speculative decoding.
    "qwen3_5": Tiny(
        family("qwen3_5", "Qwen3_5ForConditionalGeneration") | dict(
            image_token_id=310, video_token_id=311, vision_start_token_id=312, vision_end_token_id=313,
            tie_word_embeddings=True, text_config=QWEN3_5_TEXT,
            vision_config=dict(model_type="qwen3_5", depth=1, hidden_size=16, intermediate_size=16, num_heads=1, out_hidden_size=32),
        ),
        prefix="model.language_model.",
        others={"model.visual.blocks.0.attn.proj.bias": (16,)} | QWEN3_5_MTP,
        without=[dict(rope_parameters=QWEN3_5_TEXT["rope_parameters"] | dict(partial_rotary_factor=1.0))],
    ),
    # Qwen 3.5, text alone, untied, as many key as value heads.
    "qwen3_5_text": Tiny(
        QWEN3_5_TEXT | family("qwen3_5_text", "Qwen3_5ForCausalLM") | dict(
            tie_word_embeddings=False, linear_num_key_heads=2, linear_num_value_heads=2, num_attention_heads=4,
            num_key_value_heads=2, num_hidden_layers=3, full_attention_interval=2,
            layer_types=["linear_attention", "full_attention", "linear_attention"],
        ),
    ),
    # Llama 2: as many key as query heads, untied, stored in f32, no head_dim key.
    "llama2": Tiny(
        LLAMA | derived_head(heads=2, kv=2) | dict(
            bos_token_id=1, eos_token_id=2, max_position_embeddings=512, rope_scaling=None, tie_word_embeddings=False,
            torch_dtype="float32",
        ),
        dtype="float32",
    ),
    # Mistral: a window on every layer; stored in f16.
    "mistral": Tiny(
        family("mistral", "MistralForCausalLM", "float16") | derived_head(heads=2, kv=1) | dict(
            attention_dropout=0.0, bos_token_id=1, eos_token_id=2, hidden_act="silu", initializer_range=0.02,
            max_position_embeddings=512, rms_norm_eps=1e-05, rope_theta=10000.0, sliding_window=6,
            tie_word_embeddings=False, use_cache=True,
        ),
        dtype="float16",
        without=[dict(sliding_window=None)],
    ),
    "smollm2": Tiny(
        LLAMA | derived_head(width=48, heads=3, kv=1) | dict(
            bos_token_id=1, eos_token_id=2, pad_token_id=2, is_llama_config=True, max_position_embeddings=512,
            rope_interleaved=False, rope_scaling=None, rope_theta=130000, tie_word_embeddings=True,
        ),
    ),
    # SmolLM 3: every fourth layer has no positions.
    "smollm3": Tiny(
        family("smollm3", "SmolLM3ForCausalLM") | derived_head(layers=4, heads=2, kv=1) | dict(
            attention_bias=False, attention_dropout=0.0, bos_token_id=300, eos_token_id=305, pad_token_id=301,
            hidden_act="silu", initializer_range=0.02, layer_types=["full_attention"] * 4, max_position_embeddings=512,
            max_window_layers=28, mlp_bias=False, no_rope_layer_interval=4, no_rope_layers=[1, 1, 1, 0], pretraining_tp=2,
            rms_norm_eps=1e-06, rope_scaling=None, rope_theta=5000000.0, sliding_window=None, use_cache=True,
            use_sliding_window=False,
        ),
        without=[dict(no_rope_layers=[1, 1, 1, 1])],
    ),
    "qwen3": Tiny(
        family("qwen3", "Qwen3ForCausalLM") | sizes(vocabulary=328) | dict(
            attention_bias=False, attention_dropout=0.0, bos_token_id=300, eos_token_id=302, hidden_act="silu",
            initializer_range=0.02, max_position_embeddings=512, max_window_layers=3, rms_norm_eps=1e-06, rope_scaling=None,
            rope_theta=1000000, sliding_window=None, tie_word_embeddings=True, use_cache=True, use_sliding_window=False,
        ),
    ),
    # Gemma 2: caps on scores and logits, a window on every other layer, scores divided by another root than the head size's.
    "gemma2": Tiny(
        family("gemma2", "Gemma2ForCausalLM") | GEMMA | sizes(heads=4, kv=2) | dict(
            attn_logit_softcapping=2.0, cache_implementation="hybrid", final_logit_softcapping=4.0,
            hidden_act="gelu_pytorch_tanh", hidden_activation="gelu_pytorch_tanh", max_position_embeddings=512,
            query_pre_attn_scalar=24, rope_theta=10000.0, sliding_window=6,
        ),
        without=[
            dict(attn_logit_softcapping=None),
            dict(final_logit_softcapping=None),
            dict(query_pre_attn_scalar=16),
            dict(sliding_window=64),
        ],
    ),
    # Gemma 3 1B: norms of queries and keys, two rotary bases, five layers with a window to one without.
    "gemma3_1b": Tiny(
        family("gemma3_text", "Gemma3ForCausalLM") | GEMMA | sizes(layers=6, heads=2, kv=1) | dict(
            attn_logit_softcapping=None, cache_implementation="hybrid", eos_token_id=[1, 6],
            final_logit_softcapping=None, hidden_activation="gelu_pytorch_tanh", max_position_embeddings=512,
            query_pre_attn_scalar=24, rope_local_base_freq=10000, rope_scaling=None, rope_theta=1000000, sliding_window=6,
            sliding_window_pattern=6,
        ),
        without=[dict(query_pre_attn_scalar=16), dict(sliding_window=64), dict(rope_local_base_freq=1000000)],
    ),
    # Gemma 3 4B in the layout of its checkpoints, whose text_config leaves most to the defaults.
    "gemma3_4b": Tiny(
        family("gemma3", "Gemma3ForConditionalGeneration") | dict(
            boi_token_index=316, eoi_token_index=317, eos_token_id=[1, 6], image_token_index=318, initializer_range=0.02,
            mm_tokens_per_image=4,
            text_config=sizes(layers=6, heads=2, kv=1) | dict(
                model_type="gemma3_text", rope_scaling=dict(factor=8.0, rope_type="linear"), sliding_window=6
            ),
            vision_config=dict(
                hidden_size=16, image_size=8, intermediate_size=16, model_type="siglip_vision_model", num_attention_heads=1,
                num_hidden_layers=1, patch_size=4, vision_use_head=False,
            ),
        ),
        prefix="language_model.model.",
        others={
            "multi_modal_projector.mm_soft_emb_norm.weight": (16,),
            "vision_tower.vision_model.embeddings.patch_embedding.bias": (16,),
        },
        without=[dict(rope_scaling=None), dict(query_pre_attn_scalar=16)],
    ),
    # Phi-3 mini 4k: queries, keys and values in one matrix, gate and up in one, a window.
    "phi3": Tiny(
        PHI3 | dict(max_position_embeddings=512, original_max_position_embeddings=512, rope_scaling=None, sliding_window=6,
                    num_key_value_heads=2),
        without=[dict(sliding_window=None)],
    ),
    # Phi-4 mini: a part of each head turned, factors per frequency for short and for long contexts, tied, grouped queries.
    # The long prompt is in the long range from its first token, the others stay in the short one.
    "phi3_longrope": Tiny(
        PHI3 | dict(
            max_position_embeddings=96, original_max_position_embeddings=24, partial_rotary_factor=0.75, sliding_window=262144,
            rope_scaling=dict(
                long_factor=[1.0, 1.2, 1.9, 3.5, 8.0, 21.0], short_factor=[1.0, 1.05, 1.2, 1.5, 2.0, 2.4], type="longrope"
            ),
            tie_word_embeddings=True,
        ),
        lengths=(3, 9, 30),
        without=[dict(partial_rotary_factor=1.0, rope_scaling=None), dict(original_max_position_embeddings=64)],
    ),
}
