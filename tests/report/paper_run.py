"""A run of the published study's size, made up: 11 models, 6 data sets, 16 prompts each, 81 wordings each.

The last model is a chat API's: without log-probabilities of given tokens and without hidden states.

Usage: paper_run.py DIR. Out: DIR with raw tables as `sago run` writes them, for `sago analyze` and `sago report`. The same
every time. What it measures means nothing; sizes, types and keys are those of a real run.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

MODELS, PROMPTS, POSITIONS, LAYERS = 11, 16, 40, 8
DATASETS = ["truthfulqa", "natural_questions", "alpaca", "simpleqa_verified", "triviaqa", "hotpotqa"]
WORDS = (
    "the of and to in is that it was for on are as with his they at be this from have or by one had not but what all "
    "were when we there can an your which their said if do will each about how up out them then she many some so these "
    "would other into has more her two like him see time could no make than first been its who now people my made over "
    "did down only way find use may water long little very after words called just where most know"
).split()
GRID = (
    [("social_register", "politeness", place, str(level)) for place in ("prefix", "suffix", "global") for level in (-10, -8, -6, -4, -2, 2, 4, 6, 8, 10)]
    + [("surface_noise", kind, place, str(level))
       for kind, levels in (("spacing", (1, 5, 20, 50, 100)), ("punctuation", (1, 3, 5, 10, 20)), ("casing", (10, 25, 50, 75, 100)))
       for place in ("prefix", "suffix", "global") for level in levels]
    + [("structural_rewriting", "length", "global", level) for level in ("0.25", "0.5", "1.5", "2", "3")]
    + [("structural_rewriting", "form", "global", "imperative")]
)
random = np.random.default_rng(1)


def sentence(words):
    return " ".join(WORDS[i] for i in random.integers(0, len(WORDS), words)).capitalize() + "."


def changed(text, share):
    """The text with a share of its words replaced."""
    words = text.split(" ")
    return " ".join(WORDS[random.integers(len(WORDS))] if random.random() < share else word for word in words)


def write(path, columns):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path, compression="zstd")


def text(values):
    return pa.array(values, pa.string())


def doubles(values):
    return pa.array(values, pa.float64())


def floats(rows):
    return pa.array([np.asarray(row, np.float32) for row in rows], pa.list_(pa.float32()))


def main(run):
    run.mkdir(parents=True)
    plan = {"schema_version": 1, "made_up": True, "models": [f"model-{m:02}" for m in range(MODELS)]}
    (run / "plan.json").write_text(json.dumps(plan) + "\n")
    prompts = [(dataset, f"p{i:02}", sentence(12)[:-1] + "?") for dataset in DATASETS for i in range(PROMPTS)]
    n = len(prompts)
    write(run / "prompts.parquet", {
        "dataset": text([p[0] for p in prompts]), "prompt_id": text([p[1] for p in prompts]), "text": text([p[2] for p in prompts]),
        "answers": pa.array([[WORDS[random.integers(20)]] for _ in prompts], pa.list_(pa.string())), "category": text([None] * n),
        "source_row": pa.array(range(n), pa.int64()), "source_hash": text(["0"] * n),
    })
    rows = []
    for dataset, prompt_id, prompt in prompts:
        rows.append((dataset, prompt_id, "baseline", "baseline", "baseline", None, None, prompt))
        for family, subtype, place, level in GRID:
            rows.append((dataset, prompt_id, f"{subtype}/{place}/{level}", family, subtype, place, level, changed(prompt, 0.3)))
    n = len(rows)
    write(run / "variants.parquet", {
        "dataset": text([r[0] for r in rows]), "prompt_id": text([r[1] for r in rows]), "variant_id": text([r[2] for r in rows]),
        "family": text([r[3] for r in rows]), "subtype": text([r[4] for r in rows]), "place": text([r[5] for r in rows]),
        "strength": doubles([None if r[6] in (None, "imperative") else float(r[6]) for r in rows]), "level": text([r[6] for r in rows]),
        "is_baseline": pa.array([r[2] == "baseline" for r in rows]), "baseline_id": text(["baseline"] * n),
        "seed": pa.array([0] * n, pa.int64()), "text": text([r[7] for r in rows]), "rewriter": text([None] * n),
        "prompt_bertscore": doubles([None] * n), "scorer": text([None] * n), "is_valid": pa.array([True] * n), "invalid_reason": text([None] * n),
    })
    models = [f"model-{m:02}" for m in range(MODELS)]
    sizes = [(m + 1) * 10**9 for m in range(MODELS)]
    nothing = text([None] * MODELS)
    write(run / "models.parquet", {
        "model": text(models), "family": text(["made-up"] * MODELS), "parameters": pa.array(sizes, pa.int64()),
        "layers": pa.array([LAYERS - 1] * MODELS, pa.int32()), "width": pa.array([64] * MODELS, pa.int32()),
        "vocabulary": pa.array([32000] * MODELS, pa.int32()), "context": pa.array([4096] * MODELS, pa.int32()),
        "dtype": nothing, "backend": text(["made-up"] * MODELS), "weights_sha256": nothing, "tokenizer_sha256": nothing, "template_sha256": nothing,
    })
    for m, model in enumerate(models):
        for dataset in DATASETS:
            answers(run, f"model={model}/dataset={dataset}", [r for r in rows if r[0] == dataset], 0.1 + 0.04 * m, m < MODELS - 1)


def answers(run, part, rows, unrest, is_local):
    keys = {"prompt_id": text([r[1] for r in rows]), "variant_id": text([r[2] for r in rows]), "repeat": pa.array([0] * len(rows), pa.int32())}
    responses, shares = [], []
    for row in rows:
        if row[2] == "baseline":
            base = sentence(60)
            level = unrest * random.uniform(0.5, 1.5)
            responses.append(base)
            shares.append(0.0)
        else:
            share = min(level * random.uniform(0.2, 1.8), 1.0)
            responses.append(changed(base, share))
            shares.append(share)
    shares = np.array(shares)
    n = len(rows)
    ids = pa.array([np.arange(POSITIONS, dtype=np.int32)] * n, pa.list_(pa.int32()))
    moved = shares[:, None]
    logprobs = -random.gamma(1.0, 0.5, (n, POSITIONS)) * (1 + moved)
    entropies = random.gamma(2.0, 0.5, (n, POSITIONS)) * (1 + moved)
    write(run / "generations" / part / "part-00000.parquet", {
        **keys, "prompt_token_ids": ids, "response": text(responses), "response_token_ids": ids, "finish_reason": text(["stop"] * n),
        "logprobs": floats(logprobs), "entropies": floats(entropies), "error": text([None] * n),
        "truncated": pa.array([False] * n), "special_text": pa.array([False] * n),
    })
    if is_local:
        write(run / "forced" / part / "part-00000.parquet", {
            **keys, "target_token_ids": ids, "logprobs": floats(logprobs), "entropies": floats(entropies), "jsds": floats(random.gamma(1, 0.1, (n, POSITIONS)) * moved),
        })
    close = 1 - shares
    signature = text(["made-up"] * n)
    write(run / "similarities" / part / "part-00000.parquet", {
        **keys, "bleu": doubles(close), "bleu_effective_order": doubles(close), "chrf": doubles(close**0.7), "bleu_signature": signature,
        "bleu_effective_order_signature": signature, "chrf_signature": signature, "bertscore_p": doubles(close**0.5), "bertscore_r": doubles(close**0.5),
        "bertscore_f1": doubles(close**0.5), "bertscore_signature": signature, "bertscore_truncated": pa.array([False] * n),
    })
    judged = [i for i in range(n) if rows[i][2] != "baseline" and rows[i][4] != "form"]
    k = len(judged)
    write(run / "judgements" / part / "part-00000.parquet", {
        **{name: column.take(pa.array(judged)) for name, column in keys.items()}, "judge": text(["rules"] * k), "judge_repeat": pa.array([0] * k, pa.int32()),
        "template_id": text([None] * k), "rendered_prompt": text([None] * k), "raw_reply": text(["made-up"] * k),
        "mirrored": pa.array([bool(random.random() < shares[i]) for i in judged]), "method": text(["rule"] * k),
        "judge_model": text([None] * k), "temperature": doubles([None] * k),
    })
    if not is_local:
        return
    layers = np.tile(np.arange(LAYERS, dtype=np.int32), n)
    depth = (layers + 1) / LAYERS
    write(run / "drift" / part / "part-00000.parquet", {
        **{name: column.take(pa.array(np.repeat(np.arange(n), LAYERS))) for name, column in keys.items()}, "layer": pa.array(layers),
        "cosine": doubles(1 - np.repeat(shares, LAYERS) * depth * 0.2), "norm_ratio": doubles(np.ones(n * LAYERS)),
    })


if __name__ == "__main__":
    main(Path(sys.argv[1]))
