"""Makes tests/golden/families: tiny random models of every family and what the reference library computes on them.

Reference: transformers in f32, eager attention, one prompt at a time, on the files written here. The weights are random but
large enough that everything in the architecture shows in the logits: the script refuses a model in which a tensor, or a
feature of the configuration, could be left out unseen. They are rounded to the type they are stored in (bf16, for one model
f16 and for one f32) before the reference runs, so a reader that computes in f32 has no rounding to excuse.

For each model NAME a folder families/NAME with config.json, generation_config.json, safetensors and two files of
little-endian f32 values, prompts one after the other in the order of the index:
    hidden.f32   [layers + 1, positions, width]: the embeddings, after each layer but the last, and after the final norm
    logits.f32   [positions, vocabulary]
and in families/families.json, per model: the files, the sizes, and for each prompt its ids, and for greedy continuation the
tokens, their log-probabilities and entropies (nats, from raw logits), and the smallest lead of a best logit over the second.

The continuation goes on past an end token. In phi3_longrope a batch would give the short prompts the long factors, because
the library chooses them by the longest text of a batch; each prompt alone is the reference here as everywhere.

Made with transformers 5.24 and torch 2.15 (CPU). family_tokenizers.py and family_gguf.py add to what this script leaves, and
are to be run after it, in this order.

    python scripts/golden_families.py tests/golden/families [NAME ...]
"""

import copy
import json
import os
import sys

import numpy as np
import torch
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.utils import logging

from family_models import MODELS

NEW = 12
LEAD = 2e-3
SEEN = 2e-2
VARIED = 6
ZERO_CENTRED = {"gemma", "gemma2", "gemma3", "gemma3_text", "qwen3_5", "qwen3_5_text"}


def text_config(config):
    """The configuration of the text model alone, as transformers reads it from the file's."""
    config = AutoConfig.for_model(**copy.deepcopy(config)).get_text_config()
    config._attn_implementation = "eager"
    return config


def draw(name, shape, model_type, rng):
    """A random tensor for its place in the model."""
    normal = lambda scale: torch.randn(shape, generator=rng) * scale
    uniform = lambda low, high: torch.rand(shape, generator=rng) * (high - low) + low
    if name.endswith("layer_scalar"):
        return uniform(0.4, 0.8)
    if name.endswith("A_log"):
        return uniform(0.05, 1.0).log()
    if name.endswith("dt_bias") or name.endswith(".bias"):
        return normal(0.5)
    if name.endswith("conv1d.weight"):
        return normal(0.6)
    gemma = model_type.startswith("gemma")
    if gemma and name == "model.norm.weight":
        return uniform(1.0, 3.0)
    if "norm" in name:
        if model_type in ZERO_CENTRED and "linear_attn" not in name:
            return uniform(-0.5, 0.5)
        # Gemma 4 does not divide the scores by a root of the head size.
        small = model_type.startswith("gemma4") and name.endswith(("q_norm.weight", "k_norm.weight"))
        return uniform(0.3, 0.9) if small else uniform(0.5, 1.5)
    if "embed_tokens_per_layer" in name:
        return normal(0.25)
    if "embed_tokens" in name or "lm_head" in name:
        # Gemma multiplies its embeddings by the root of the width, and has a large final norm instead.
        return normal((0.7 if gemma else 2.0) / shape[1] ** 0.5)
    if name.endswith(("o_proj.weight", "down_proj.weight")):
        # What the layers add must outweigh the embedding, or a model with tied output rows only repeats its last token.
        return normal(2.5 / shape[-1] ** 0.5)
    gain = 1.3 if "q_proj" in name or "k_proj" in name or "qkv" in name else 1.0
    return normal(gain / shape[-1] ** 0.5)


def tensors(tiny, seed):
    """The text model's tensors under its own names, rounded to the stored type."""
    config = text_config(tiny.config)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    rng = torch.Generator().manual_seed(seed)
    out = {}
    for name, value in model.state_dict().items():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        out[name] = draw(name, value.shape, config.model_type, rng).to(getattr(torch, tiny.dtype))
        if name.endswith("A_log"):
            out[name] = out[name].float()
    return out


def built(config, weights):
    """The text model with these weights, in f32."""
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager", dtype=torch.float32).eval()
    missing, unexpected = model.load_state_dict({k: v.float() for k, v in weights.items()}, strict=False)
    assert not unexpected and set(missing) <= {"lm_head.weight"}, (missing, unexpected)
    model.tie_weights()
    return model


def check_that_all_shows(name, tiny, weights, ids):
    """Every tensor and every feature must move the logits of the longest prompt."""

    def logits(config, weights):
        with torch.no_grad():
            return built(config, weights)(torch.tensor([ids])).logits

    config = text_config(tiny.config)
    base = logits(config, weights)
    last = f".{config.num_hidden_layers - 1}.layer_scalar"
    for tensor, value in weights.items():
        # The last layer's factor goes away in the final norm.
        if tensor.endswith(last):
            continue
        moved = value * 1.5 if value.numel() == 1 else value.roll(1, 0)
        change = float((logits(config, weights | {tensor: moved}) - base).abs().max())
        assert change > SEEN, f"{name}: {tensor} shows by {change} only"
    for change in tiny.without:
        config = copy.deepcopy(tiny.config)
        (config["text_config"] if "text_config" in config else config).update(copy.deepcopy(change))
        moved = float((logits(text_config(config), weights) - base).abs().max())
        print(f"  {name}: without {change}: {moved:.3f}", file=sys.stderr)
        assert moved > SEEN, f"{name}: {change} shows by {moved} only"


def write_model(folder, tiny, weights, rng):
    os.makedirs(folder, exist_ok=True)
    text = tiny.text()
    with open(os.path.join(folder, "config.json"), "w") as f:
        json.dump(tiny.config, f, indent=1)
        f.write("\n")
    generation = {k: text.get(k) for k in ("bos_token_id", "eos_token_id", "pad_token_id") if text.get(k) is not None}
    with open(os.path.join(folder, "generation_config.json"), "w") as f:
        json.dump(generation | dict(do_sample=True, temperature=0.6, top_p=0.9), f, indent=1)
        f.write("\n")
    stored = {tiny.prefix + k[len("model.") :] if k.startswith("model.") else k: v for k, v in weights.items()}
    for name, shape in tiny.others.items():
        stored[name] = torch.randn(shape, generator=rng).to(getattr(torch, tiny.dtype))
    if tiny.shards == 1:
        save_file(stored, os.path.join(folder, "model.safetensors"), metadata={"format": "pt"})
        return ["model.safetensors"]
    files, place = [], {}
    names = list(stored)
    for i in range(tiny.shards):
        files.append(f"model-{i + 1:05}-of-{tiny.shards:05}.safetensors")
        part = names[i :: tiny.shards]
        save_file({k: stored[k] for k in part}, os.path.join(folder, files[-1]), metadata={"format": "pt"})
        place.update({k: files[-1] for k in part})
    total = sum(v.numel() * v.element_size() for v in stored.values())
    with open(os.path.join(folder, "model.safetensors.index.json"), "w") as f:
        json.dump(dict(metadata=dict(total_size=total), weight_map=place), f, indent=1, sort_keys=True)
        f.write("\n")
    return files + ["model.safetensors.index.json"]


def prompts_of(tiny, rng):
    """Random ids of the tokenizer's range, opened as the family opens a text."""
    opening = tiny.text().get("bos_token_id")
    out = []
    for length in tiny.lengths:
        ids = torch.randint(3, 300, (length,), generator=rng).tolist()
        out.append(ids if opening is None else [opening] + ids[1:])
    return out


def reference(model, ids):
    """Hidden states, logits and the greedy continuation of one prompt."""
    with torch.no_grad():
        first = model(torch.tensor([ids]), output_hidden_states=True, use_cache=True)
        hidden = torch.stack([h[0] for h in first.hidden_states])
        past, logits = first.cache, first.logits[0, -1]
        tokens, logprobs, entropies, leads = [], [], [], []
        while True:
            lp = torch.log_softmax(logits.double(), dim=-1)
            best = torch.topk(logits, 2).values
            tokens.append(int(logits.argmax()))
            logprobs.append(float(lp[tokens[-1]]))
            entropies.append(float(-(lp.exp() * lp).sum()))
            leads.append(float(best[0] - best[1]))
            if len(tokens) == NEW:
                break
            step = model(torch.tensor([[tokens[-1]]]), cache=past, use_cache=True)
            past, logits = step.cache, step.logits[0, -1]
    rounded = lambda xs: [float(f"{x:.8g}") for x in xs]
    row = dict(ids=ids, tokens=tokens, logprobs=rounded(logprobs), entropies=rounded(entropies), lead=min(leads))
    return hidden.numpy(), first.logits[0].numpy(), row


def check_batch(model, prompts, logits):
    """All prompts as one batch, padded on the left: the largest difference from each alone."""
    longest = max(map(len, prompts))
    pad = [longest - len(p) for p in prompts]
    ids = torch.tensor([[0] * n + p for n, p in zip(pad, prompts)])
    mask = torch.tensor([[0] * n + [1] * len(p) for n, p in zip(pad, prompts)])
    places = (mask.cumsum(-1) - 1).clamp(min=0)
    with torch.no_grad():
        out = model(ids, attention_mask=mask, position_ids=places).logits.numpy()
    return max(float(np.abs(out[i, n:] - logits[i]).max()) for i, n in enumerate(pad))


def check_recomputed(model, row):
    """The continuation scored in one pass must have the log-probabilities that generating it gave."""
    ids = row["ids"] + row["tokens"]
    with torch.no_grad():
        lp = torch.log_softmax(model(torch.tensor([ids])).logits[0].double(), dim=-1)
    start = len(row["ids"])
    return max(abs(float(lp[start - 1 + i, t]) - p) for i, (t, p) in enumerate(zip(row["tokens"], row["logprobs"])))


def make(name, tiny, out):
    for seed in range(tiny.seed, tiny.seed + 100):
        weights = tensors(tiny, seed)
        rng = torch.Generator().manual_seed(1000 + seed)
        prompts = prompts_of(tiny, rng)
        model = built(text_config(tiny.config), weights)
        rows = [reference(model, ids)[2] for ids in prompts]
        if all(r["lead"] > LEAD and len(set(r["tokens"])) >= VARIED for r in rows):
            break
    else:
        raise ValueError(f"{name}: no seed gives continuations with a clear lead")
    check_that_all_shows(name, tiny, weights, max(prompts, key=len))
    folder = os.path.join(out, name)
    files = write_model(folder, tiny, weights, rng)
    # From here on what counts is the files, read as a user of the library reads them.
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    for file in files:
        os.chmod(os.path.join(folder, file), 0o644)
    hidden, logits, rows = zip(*(reference(model, ids) for ids in prompts))
    alone = built(text_config(tiny.config), weights)
    assert all(np.array_equal(reference(alone, ids)[1], l) for ids, l in zip(prompts, logits)), name
    np.concatenate([h.ravel() for h in hidden]).astype("<f4").tofile(os.path.join(folder, "hidden.f32"))
    np.concatenate([l.ravel() for l in logits]).astype("<f4").tofile(os.path.join(folder, "logits.f32"))
    spread = [float(np.std(l)) for l in logits]
    assert all(0.7 < s < 3.5 for s in spread), (name, spread)
    print(
        f"{name}: {type(model).__name__} seed {seed}, {sum(v.numel() for v in weights.values())} weights, logits std "
        f"{min(spread):.2f} to {max(spread):.2f}, lead {min(r['lead'] for r in rows):.4f}, batch differs by "
        f"{check_batch(alone, prompts, logits):.1e}, one pass by {max(check_recomputed(alone, r) for r in rows):.1e}",
        file=sys.stderr,
    )
    layers, width = hidden[0].shape[0] - 1, hidden[0].shape[2]
    sizes = dict(layers=layers, width=width, vocabulary=logits[0].shape[1])
    return dict(folder=name, model_type=tiny.config["model_type"], dtype=tiny.dtype, files=files, **sizes, prompts=rows)


def main():
    out, names = sys.argv[1], sys.argv[2:] or list(MODELS)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    index = os.path.join(out, "families.json")
    made = {}
    if os.path.exists(index):
        with open(index) as f:
            made = {m["folder"]: m for m in json.load(f)["models"]}
    for name in names:
        made[name] = make(name, MODELS[name], out)
    lines = ",\n".join(json.dumps(made[name]) for name in MODELS if name in made)
    with open(index, "w") as f:
        f.write('{"models": [\n' + lines + "\n]}\n")


if __name__ == "__main__":
    main()
