"""A safetensors model of 1.2 GB with random weights, a Llama shape with a tokenizer of its own: how fast it loads, in how much memory.

usage: random_model.py SAGO [--small] | random_model.py --write FOLDER TYPE LAYERS [--small]
The second form writes a model alone, in the layout of a hub snapshot; TYPE is F32 or BF16.
"""
import argparse
import json
import pathlib
import shutil
import sys

import ours
import process
import work

# Two types of weights, with as many layers as make 1.2 GB.
MODELS = {"BF16": 9, "F32": 4}
BYTES = {"F32": 4, "BF16": 2}
VARIANTS, NEW = 4, 16


def shape(layers, small):
    width = 64 if small else 2048
    return {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": width, "intermediate_size": 4 * width, "num_hidden_layers": layers,
        "num_attention_heads": width // 64 or 1, "num_key_value_heads": max(1, width // 256), "head_dim": 64, "vocab_size": 512 if small else 32000,
        "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "hidden_act": "silu", "tie_word_embeddings": True,
        "attention_bias": False, "mlp_bias": False, "bos_token_id": 0, "eos_token_id": 1,
    }


def tensors(config):
    width, inner = config["hidden_size"], config["intermediate_size"]
    queries, keys = config["num_attention_heads"] * config["head_dim"], config["num_key_value_heads"] * config["head_dim"]
    named = {"model.embed_tokens.weight": (config["vocab_size"], width), "model.norm.weight": (width,)}
    for layer in range(config["num_hidden_layers"]):
        for name, size in {"input_layernorm": (width,), "post_attention_layernorm": (width,), "self_attn.q_proj": (queries, width), "self_attn.k_proj": (keys, width),
                           "self_attn.v_proj": (keys, width), "self_attn.o_proj": (width, queries), "mlp.gate_proj": (inner, width), "mlp.up_proj": (inner, width),
                           "mlp.down_proj": (width, inner)}.items():
            named[f"model.layers.{layer}.{name}.weight"] = size
    return named


def write_weights(path, config, kind):
    """The file, a tensor at a time: eight bytes of header length, a JSON header, the numbers."""
    import numpy as np
    draw, header, at = np.random.default_rng(20260101), {"__metadata__": {"format": "pt"}}, 0
    for name, size in tensors(config).items():
        end = at + int(np.prod(size)) * BYTES[kind]
        header[name], at = {"dtype": kind, "shape": list(size), "data_offsets": [at, end]}, end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for size in tensors(config).values():
            # Norms of one, and weights small enough for logits to stay finite.
            numbers = np.ones(size, np.float32) if len(size) == 1 else draw.standard_normal(size, np.float32) * np.float32(0.02)
            # The upper half of an f32 is a bf16, rounded towards zero.
            file.write(numbers.tobytes() if kind == "F32" else (numbers.view(np.uint32) >> 16).astype(np.uint16).tobytes())
    return at


def write_tokenizer(folder, config):
    """Bytes, as byte-level BPE writes them, and words that no text has, up to the vocabulary's size."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    words = ["<s>", "</s>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    words += [f"<word {i}>" for i in range(config["vocab_size"] - len(words))]
    tokenizer = Tokenizer(models.BPE(vocab={word: i for i, word in enumerate(words)}, merges=[]))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in ("<s>", "</s>")])
    tokenizer.save(str(folder / "tokenizer.json"))
    template = "{{ bos_token }}{% for message in messages %}{{ message['content'] }}\n{% endfor %}"
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>", "chat_template": template, "model_max_length": 2048}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


def write(folder, kind, layers, small=False):
    """Writes the model; its size on disk, and its number of weights."""
    folder.mkdir(parents=True, exist_ok=True)
    config = shape(layers, small)
    (folder / "config.json").write_text(json.dumps({**config, "torch_dtype": {"F32": "float32", "BF16": "bfloat16"}[kind]}, indent=1))
    write_tokenizer(folder, config)
    size = write_weights(folder / "model.safetensors", config, kind)
    return {"bytes": size, "parameters": size // BYTES[kind], "cache_bytes": 2 * 4 * layers * config["num_key_value_heads"] * config["head_dim"]}


def measure(sago, folder, knows_dtype, small=False):
    found = []
    for kind, layers in MODELS.items():
        model = folder / f"random-{kind}"
        made = write(model, kind, layers, small)
        for dtype in ("f32", "bf16", "int8") if knows_dtype else ("f32",):
            row = {"stored": kind, "compute": dtype, **made}
            try:
                run = ours.run(sago, folder / "random", work.make(1, VARIANTS), NEW, dtype if knows_dtype else None, model=model)
                row |= {**run, **ours.expected(run, made["parameters"], made["cache_bytes"], dtype)}
            except process.Failed as why:
                row["missing"] = why.first_line()
            found.append(row)
        shutil.rmtree(model)
    return found


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("sago", type=pathlib.Path, nargs="?")
    arguments.add_argument("--write", nargs=3, metavar=("FOLDER", "TYPE", "LAYERS"))
    arguments.add_argument("--small", action="store_true")
    given = arguments.parse_args()
    if given.write:
        folder, kind, layers = given.write
        print(json.dumps(write(pathlib.Path(folder), kind, int(layers), given.small)))
    elif given.sago:
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(measure(given.sago, pathlib.Path(folder), ours.knows_dtype(given.sago), given.small), indent=1))
    else:
        sys.exit("say SAGO, or --write FOLDER TYPE LAYERS")


if __name__ == "__main__":
    main()
