"""Writes tests/golden/answers.jsonl: exact match and token F1 of the SQuAD evaluation, from torchmetrics.

Run: python scripts/golden_answers.py > tests/golden/answers.jsonl   (torchmetrics 1.9.0)
"""

import json
import random
import string

import torch
from torchmetrics.functional.text import squad

torch.set_default_dtype(torch.float64)

WORDS = (
    "a an the A The AN Paris paris Lyon New York U.S.A. 1,000 1000 it's its 'tis théâtre Ünder STRASSE straße "
    "another Theatre anthem king-of-hearts king of hearts — – the–end “The” 北京 Δ ǅ İstanbul 5% $5 x_y ... ?"
).split()
SPACES = [" ", "  ", "\t", "\n", "\u00a0", "\u3000", "\u2003"]


def phrase(draw, most):
    words = [draw.choice(WORDS) for _ in range(draw.randint(0, most))]
    if draw.random() < 0.3:
        words = [w + draw.choice(string.punctuation) for w in words]
    return draw.choice(SPACES).join(words)


def rows():
    draw = random.Random(11)
    yield "", [""]
    yield "the", ["a"]
    yield "", ["Paris"]
    yield "It is Paris.", ["Paris", "City of Light"]
    for _ in range(200):
        answers = [phrase(draw, 4) for _ in range(draw.randint(1, 4))]
        response = phrase(draw, 8) if draw.random() < 0.6 else draw.choice(SPACES) + draw.choice(answers).upper() + "."
        yield response, answers


for response, answers in rows():
    scores = squad(
        [{"prediction_text": response, "id": "1"}],
        [{"answers": {"text": answers, "answer_start": [0] * len(answers)}, "id": "1"}],
    )
    row = {"response": response, "answers": answers}
    row |= {"exact": float(scores["exact_match"]) / 100, "f1": float(scores["f1"]) / 100}
    print(json.dumps(row, ensure_ascii=False))
