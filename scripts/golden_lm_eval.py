"""Makes tests/golden/lm_eval: logs of lm-evaluation-harness for three wordings of three documents, and for a choice.

The documents and responses are written here by hand; how a log is laid out is the harness's own doing: its
EvaluationTracker writes the files, from samples as its evaluator hands them over.

Made with lm_eval 0.4.13; its libraries for data sets and the hub are not needed for this and may be missing.

    python scripts/golden_lm_eval.py tests/golden/lm_eval
"""

import json
import sys
from pathlib import Path
from unittest.mock import MagicMock

for unused in ["datasets", "datasets.utils", "datasets.utils.metadata", "huggingface_hub", "huggingface_hub.utils"]:
    sys.modules.setdefault(unused, MagicMock())

from lm_eval.loggers.evaluation_tracker import EvaluationTracker  # noqa: E402
from lm_eval.utils import hash_string  # noqa: E402

MODEL = "acme__tiny-1b"
DATE = "2026-01-31T12-00-00.000000"
DOCUMENTS = [
    {"question": "What is the capital of France?", "answers": ["Paris"]},
    {"question": "Which planet is known as the Red Planet?", "answers": ["Mars", "the planet Mars"]},
    {"question": "Who wrote the novel Dracula?", "answers": ["Bram Stoker"]},
]
SETTINGS = {"until": ["\n"], "do_sample": False, "max_gen_toks": 32}
# Wording, how a question becomes a prompt, and the responses (of each document a list: repeats).
WORDINGS = [
    (
        "plain",
        "Q: {}\nA:",
        [
            [" The capital of France is Paris.", " The capital of France is Paris."],
            [" Mars is known as the Red Planet."],
            [" The novel was written by Bram Stoker in 1897."],
        ],
    ),
    (
        "rude",
        "Answer me, you useless machine. {}\nA:",
        [
            [" The capital of France is Paris.", " Paris, you rude person."],
            [" Venus is known as the Red Planet."],
            [" I will not answer that."],
        ],
    ),
    (
        "spaced",
        "Q:     {}   \nA:",
        [
            [" The capital of France is the city of Paris.", " Paris."],
            [" Mars is known as the Red Planet."],
            [" Mary Shelley wrote it."],
        ],
    ),
]


def common(doc_id, doc, target, requests):
    text = json.dumps(doc, indent=2, ensure_ascii=False)
    return {
        "doc_id": doc_id,
        "doc": doc,
        "target": target,
        "arguments": requests,
        "doc_hash": hash_string(text),
        "prompt_hash": hash_string(requests[0][0]),
        "target_hash": hash_string(str(target)),
    }


def generation(prompt, responses):
    """One line a document and filter, as a task with two filters logs them."""
    for filter_name, filtered in [("strict", lambda text: text.strip().rstrip(".").split()[-1]), ("none", str)]:
        for doc_id, (doc, repeats) in enumerate(zip(DOCUMENTS, responses, strict=True)):
            sample = common(doc_id, doc, doc["answers"], [(prompt.format(doc["question"]), dict(SETTINGS))])
            kept = filtered(repeats[0])
            right = float(kept in doc["answers"])
            yield sample | {
                "resps": [list(repeats)],
                "filtered_resps": [kept],
                "filter": filter_name,
                "metrics": ["exact_match"],
                "exact_match": right,
            }


def choice(prompt, likelihoods):
    """One line a document of a task that compares continuations."""
    doc = {"question": "Is the sky blue?", "choices": ["yes", "no", "green"], "label": 0}
    requests = [(prompt.format(doc["question"]), " " + text) for text in doc["choices"]]
    answered = [[(x, False)] for x in likelihoods]
    yield common(0, doc, doc["label"], requests) | {
        "resps": answered,
        "filtered_resps": [one for [one] in answered],
        "filter": "none",
        "metrics": ["acc"],
        "acc": float(max(range(3), key=likelihoods.__getitem__) == 0),
    }


def main(out):
    for wording, prompt, responses in WORDINGS:
        for old in Path(out, wording).rglob("*.jsonl"):
            old.unlink()
        tracker = EvaluationTracker(output_path=str(Path(out, wording)))
        tracker.general_config_tracker.model_name_sanitized = MODEL
        tracker.date_id = DATE
        tracker.save_results_samples("capitals", list(generation(prompt, responses)))
        likelihoods = [-1.25, -3.5, -9.0] if wording != "rude" else [-4.0, -2.5, -9.0]
        tracker.save_results_samples("sky", list(choice(prompt, likelihoods)))


if __name__ == "__main__":
    main(sys.argv[1])
