"""Prints what tests/official_files.rs expects of the official data set files, read with Python's own readers.

One line a file: rows, answers, and the SHA-256 of the rows' source hashes (hexadecimal, joined) in file order.

    python scripts/official_digests.py DIRECTORY
"""

import ast
import csv
import hashlib
import json
import sys
from pathlib import Path

root = Path(sys.argv[1])


def source_hash(text, answers):
    digest = hashlib.sha256()
    for part in [text, *answers]:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def show(file, rows):
    hashes, count = [], 0
    for text, answers in rows:
        answers = list(dict.fromkeys(a.strip() for a in answers if a.strip()))
        hashes.append(source_hash(text, answers))
        count += len(answers)
    print(file, len(hashes), count, hashlib.sha256("".join(hashes).encode()).hexdigest())


def table(file, **options):
    with open(root / file, encoding="utf-8-sig", newline="") as lines:
        return list(csv.DictReader(lines, **options))


def document(file):
    return json.loads((root / file).read_text(encoding="utf-8"))


def joined(text):
    return text.rstrip().removesuffix(";").split("; ")


for file in ["truthfulqa/TruthfulQA.csv", "truthfulqa/TruthfulQA_2025-01.csv"]:
    show(file, [(r["Question"], [r["Best Answer"], *joined(r["Correct Answers"])]) for r in table(file)])
file = "natural_questions/NQ-open.dev.jsonl"
lines = (root / file).read_text(encoding="utf-8").split("\n")
show(file, [(r["question"], r["answer"]) for r in map(json.loads, filter(None, lines))])
for file in ["simpleqa/simple_qa_test_set.csv", "simpleqa_verified/simpleqa_verified_first48.csv"]:
    show(file, [(r["problem"], [r["answer"]]) for r in table(file)])
for file in ["alpaca/alpaca_data_1k.json", "alpaca/alpaca_tiny.json"]:
    rows = document(file)
    show(file, [("\n\n".join([r["instruction"]] + ([r["input"]] if r["input"].strip() else [])), [r["output"]]) for r in rows])
file = "triviaqa/topics.dpr.trivia.dev.txt"
rows = table(file, delimiter="\t", fieldnames=["question", "answers"])
show(file, [(r["question"], ast.literal_eval(r["answers"])) for r in rows])
file = "triviaqa/triviaqa_sample.json"
show(file, [(r["Question"], [r["Answer"]["Value"], *r["Answer"]["Aliases"]]) for r in document(file)["Data"]])
file = "hotpotqa/hotpot_dev_v1_simplified.json"
show(file, [(r["question"], [r["answer"]]) for r in document(file)])
