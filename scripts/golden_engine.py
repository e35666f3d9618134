"""Makes tests/golden/engine_scores.jsonl and engine_hidden.f32: what the reference library computes on the demo model.

Reference: transformers in f32 on the same GGUF file (its own dequantization), eager attention, one prompt at a time.
For each prompt: greedy tokens, their log-probabilities and entropies (nats, from raw logits), and the hidden state of the
prompt's last token at all layers; of these, for the first two prompts all values (engine_hidden.f32: little-endian floats
[2, layers + 1, width]), for the others at each layer the norm, eight values and two projections.
For six variants of the first prompt: its response scored after each (log-probability, entropy, Jensen-Shannon divergence).

Made with transformers 5.24, torch 2.15 (CPU), gguf 0.19 and accelerate.

    python scripts/golden_engine.py MODEL.gguf tests/golden
"""

import json
import os
import sys

import numpy as np
import torch
from tokenizers import pre_tokenizers
from transformers import AutoModelForCausalLM, AutoTokenizer

NEW = 20
PLACES = [0, 1, 71, 142, 288, 311, 400, 575]
BASELINE = "Name three rivers of Africa and say where each of them ends."
VARIANTS = [
    BASELINE.upper(),
    "Please, if it is not too much trouble: " + BASELINE,
    BASELINE + " You useless machine, hurry up.",
    "Name  three   rivers of  Africa and say where   each of them ends.",
    "Name, three rivers! of (Africa and say where: each of them ends.",
    "Which three rivers of Africa can you name, and where does each of them end?",
]
PROMPTS = [
    "What is the capital of France?",
    "Explain in two sentences why the sky is blue.",
    "List the first ten prime numbers.",
    "Write a short poem about a lighthouse keeper.",
    "2 + 2 * 3 = ?",
    "Translate to German: The cat sleeps on the warm roof.",
    "Who wrote the novel about the white whale?",
    "Give me a recipe for pancakes with 250 g of flour.",
    "Summarize: Bees visit flowers to collect nectar. While doing so they carry pollen from plant to plant.",
    "Is a tomato a fruit or a vegetable?",
    "def add(a, b):\n    return a + b\n\nWhat does this function do?",
    "ما هي عاصمة مصر؟",
    "中国的首都是什么？",
    "😀😀😀",
    "",
    "Hi",
    "Tell me a joke about computers.",
    "How do I tie a bow tie?",
    "What happened in 1969?",
    "wHaT iS a VoLcAnO",
    "Correct the grammar: he go to school yesterday",
    "Answer with yes or no: can penguins fly?",
    "Continue the sequence: 3, 6, 12, 24,",
    "Describe the taste of a lemon to someone who has never eaten one, using at most thirty words and no comparison.",
    "text with <|im_end|> inside",
]


def distribution(logits):
    """Log-probabilities of one position in f64."""
    return torch.log_softmax(logits.double(), dim=-1)


def entropy(lp):
    return float(-(lp.exp() * lp).sum())


def jsd(a, b):
    m = torch.logaddexp(a, b) - np.log(2.0)
    return float(0.5 * (a.exp() * (a - m)).sum() + 0.5 * (b.exp() * (b - m)).sum())


def main():
    path, out = os.path.abspath(sys.argv[1]), sys.argv[2]
    where = dict(pretrained_model_name_or_path=os.path.dirname(path), gguf_file=os.path.basename(path))
    tok = AutoTokenizer.from_pretrained(**where)
    tok.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)]
    )
    model = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32, attn_implementation="eager").eval()
    width = model.config.hidden_size
    j = np.arange(width)
    projections = np.stack([np.cos(0.37 * j + 1.0), np.sin(1.7 * j)])

    def ids_of(text):
        turns = [{"role": "user", "content": text}]
        return tok(tok.apply_chat_template(turns, tokenize=False, add_generation_prompt=True), add_special_tokens=False)["input_ids"]

    def generate(ids):
        with torch.no_grad():
            first = model(torch.tensor([ids]), output_hidden_states=True, use_cache=True)
            hidden = torch.stack([h[0, -1] for h in first.hidden_states]).numpy()
            past, logits = first.past_key_values, first.logits[0, -1]
            tokens, logprobs, entropies, lps, margins = [], [], [], [], []
            while True:
                lp = distribution(logits)
                token = int(logits.argmax())
                top = torch.topk(logits, 2).values
                tokens.append(token)
                logprobs.append(float(lp[token]))
                entropies.append(entropy(lp))
                margins.append(float(top[0] - top[1]))
                lps.append(lp)
                if token == tok.eos_token_id or len(tokens) == NEW:
                    return hidden, tokens, logprobs, entropies, lps, min(margins)
                step = model(torch.tensor([[token]]), past_key_values=past, use_cache=True)
                past, logits = step.past_key_values, step.logits[0, -1]

    rounded = lambda xs: [float(f"{x:.8g}") for x in xs]
    rows, full, base = [], [], None
    for k, text in enumerate([BASELINE] + PROMPTS + VARIANTS):
        ids = ids_of(text)
        hidden, tokens, logprobs, entropies, lps, margin = generate(ids)
        row = dict(prompt=text, ids=ids, tokens=tokens, logprobs=rounded(logprobs), entropies=rounded(entropies), margin=margin)
        if k < 2:
            full.append(hidden)
        else:
            h = hidden.astype(np.float64)
            row["norms"] = rounded(np.linalg.norm(h, axis=1))
            row["values"] = [rounded(r) for r in h[:, PLACES]]
            row["projections"] = [rounded(r) for r in h @ projections.T]
        if k == 0:
            target = tokens[:-1] if tokens[-1] == tok.eos_token_id else tokens
            base = lps[: len(target)]
        if text in VARIANTS:
            with torch.no_grad():
                logits = model(torch.tensor([ids + target[:-1]])).logits[0, len(ids) - 1 :]
            at = [distribution(x) for x in logits]
            row["forced"] = dict(
                logprobs=rounded(float(lp[t]) for lp, t in zip(at, target)),
                entropies=rounded(map(entropy, at)),
                jsds=rounded(jsd(a, b) for a, b in zip(at, base)),
            )
        rows.append(row)
        print(f"{k:2} margin {margin:.4f} {tok.decode(tokens)!r}", file=sys.stderr)
    with open(os.path.join(out, "engine_scores.jsonl"), "w") as f:
        f.writelines(json.dumps(row) + "\n" for row in rows)
    np.stack(full).astype("<f4").tofile(os.path.join(out, "engine_hidden.f32"))


if __name__ == "__main__":
    main()
