#!/usr/bin/env python3
"""Makes tests/golden/bleu_odd.jsonl and tests/golden/bertscore_minilm_odd.jsonl: pairs of odd texts with the reference libraries' values.

usage: golden_similarity.py ENCODER_DIR      (the folder all-minilm-l6-v2 that scripts/fetch-models.sh fills)
needs: sacrebleu 2.6.0, bert-score 0.3.12, transformers, torch. Values of sacrebleu are 0..100, of bert-score as it gives them.
"""
import json
import os
import random
import sys
import tempfile
from pathlib import Path

import transformers
from bert_score import BERTScorer
from sacrebleu import BLEU, CHRF

GOLDEN = Path(__file__).resolve().parent.parent / "tests" / "golden"

# Pieces that tokenizers disagree about: stops and commas beside digits, entities, marks, spaces of all kinds, scripts.
PIECES = [
    "the", "the", "a", "cat", "sat", "on", "mat", "Paris", "it's", "don't", "rock'n'roll", "state-of-the-art", "x-", "-y", "--",
    "3.14", "1,000,000.50", "5..6", "7,", ".8", ",9", "10-12", "2-", "-3", "4.-5", "v1.2.3,", "a.b", "a,b", "1.a", "a.1", "...", "....",
    "?!", "!!!", "¿", "¡", "(see", "[1]", "{x}", "a/b", "a\\b", "~", "`code`", "^", "_", "|", "@", "#tag", "$5", "50%", "&", "&&", "*", "+", "=",
    "&amp;", "&quot;", "&lt;b&gt;", "&amp;lt;", "&amp;amp;", "&apos;", "&nbsp;", "&#39;", "&quot", "<skipped>", "<skip<skipped>ped>", "<b>",
    "“quoted”", "‘single’", "—", "–", "…", "«", "»", "naïve", "cafe\u0301", "Straße", "İstanbul", "ﬁn", "Ω", "ЖУК", "ελλάδα",
    "中文", "没有空格的句子。", "日本語、テスト", "한국어", "مرحبا", "١٢٣", "٣.١٤", "नमस्ते", "ไทย", "עברית",
    "😀", "👩‍👩‍👧", "🇫🇷", "\u200b", "\ufeff", "\u00ad", "a\u200db",
]
SPACES = [" ", " ", " ", " ", " ", "  ", "\t", "\n", "\n\n", "\r\n", "\u00a0", "\u3000", "\u2003", "\u2028", "\u0085", "\x1c", "\x1f", "\x0b", "\x0c", "-\n", "", ""]

BY_HAND = [
    ("", ""), (" ", " "), ("\n", "\n"), ("\x1c", "\x1d"), ("\u200b", "\u200b"), (".", "."), (".", ""), ("a", "a"), ("a", "b"),
    ("a b", "a b"), ("a b c", "a b c"), ("a b c d", "a b c d"), ("a b c d e", "a b c d"), ("a b c d", "a b c d e"),
    ("a b c d", "d c b a"), ("a a a a", "a"), ("a", "a a a a"), ("the the the the", "the"), ("1.2.3", "1.2.3"), ("5..6", "5. .6"),
    ("a-\nb c d e", "ab c d e"), ("a -\n b c d e", "a  b c d e"), ("end -\n", "end"), ("trailing  \n\t ", "trailing"),
    ("one\ntwo\nthree\nfour", "one two three four"), ("one\r\ntwo three four", "one two three four"),
    ("a\u00a0b\u00a0c\u00a0d", "a b c d"), ("a\u3000b\u3000c\u3000d", "a b c d"), ("a\x1cb\x1dc\x1ed\x1fe", "a b c d e"),
    ("a\u0085b c d", "a b c d"), ("a\u2028b\u2029c d", "a b c d"), ("a\u200bb c d e", "ab c d e"),
    ("&quot;a&quot; b c d", '"a" b c d'), ("&amp;lt; b c d", "< b c d"), ("&amp;amp; b c d", "& b c d"), ("AT&T b c d", "AT & T b c d"),
    ("<skipped> a b c d", "a b c d"), ("<skip<skipped>ped> a b c d", "a b c d"), ("a<skipped>b c d e", "ab c d e"),
    ("It's 3.14, not 3,14.", "It's 3.14 , not 3,14 ."), ("1,234.5", "1 , 234 . 5"), ("$1,000.00 is 10%", "$ 1,000.00 is 10 %"),
    ("10-12 days or more", "10 - 12 days or more"), ("a-b-c d e f", "a - b - c d e f"), ("No. 5-", "No. 5 -"),
    ("中文没有空格", "中文没有空格"), ("我喜欢巴黎。", "我喜欢伦敦。"), ("مرحبا بالعالم كيف حالك", "مرحبا بالعالم كيف الحال"),
    ("٣.١٤ is pi, roughly so", "3.14 is pi, roughly so"), ("😀 😀 😀 😀", "😀 😀 😀 😀"), ("👩‍👩‍👧 a b c", "👩 a b c"), ("é a b c", "e\u0301 a b c"),
    ("HELLO WORLD AGAIN NOW", "hello world again now"), ("{a} [b] (c) <d>", "{ a } [ b ] ( c ) < d >"),
    ("a/b\\c|d~e^f_g`h", "a / b \\ c | d ~ e ^ f _ g ` h"), ("http://a.b/c?d=e&f=g#h", "http : //a.b/c ? d=e & f=g#h"),
    ("x" * 2000, "x" * 1999), ("word " * 700, "word " * 650), ("!?" * 300, "?!" * 300), ("a " * 5 + "b " * 5, "b " * 5 + "a " * 5),
]


def odd_text(draw, length):
    return "".join(draw.choice(PIECES) + draw.choice(SPACES) for _ in range(length))


def edited(draw, text):
    """The text with some words dropped, doubled, replaced, put elsewhere or shouted."""
    words = text.split(" ")
    for _ in range(draw.randint(0, 4)):
        if not words:
            break
        at = draw.randrange(len(words))
        how = draw.randrange(5)
        if how == 0:
            del words[at]
        elif how == 1:
            words.insert(at, words[at])
        elif how == 2:
            words[at] = draw.choice(PIECES)
        elif how == 3:
            words.insert(draw.randrange(len(words)), words.pop(at))
        else:
            words[at] = words[at].upper()
    return draw.choice([" ", " ", " ", "  ", "\n"]).join(words)


def pairs():
    draw = random.Random(13)
    out = list(BY_HAND)
    while len(out) < 320:
        reference = odd_text(draw, draw.choice([1, 2, 3, 4, 5, 6, 8, 12, 20, 40, 80]))
        candidate = edited(draw, reference) if draw.random() < 0.8 else odd_text(draw, draw.randint(1, 30))
        out.append((reference, candidate))
    return out


def write(name, rows):
    with open(GOLDEN / name, "w", encoding="utf-8") as f:
        for row in rows:
            f.write(json.dumps(row) + "\n")
    print(f"{name}: {len(rows)} rows", file=sys.stderr)


def bleu_rows():
    plain, effective, chrf = BLEU(), BLEU(effective_order=True), CHRF()
    of = lambda metric, reference, candidate: metric.corpus_score([candidate], [[reference]]).score
    return [
        {"reference": r, "candidate": c, "bleu": of(plain, r, c), "bleu_effective_order": of(effective, r, c), "chrf": of(chrf, r, c)}
        for r, c in pairs()
    ]


def bertscore_rows(encoder):
    # The folder has no tokenizer_config.json, without which transformers knows no limit; and transformers 5 dropped
    # a method that bert-score calls for empty texts.
    transformers.BertTokenizer.build_inputs_with_special_tokens = lambda self, ids: [self.cls_token_id, *ids, self.sep_token_id]
    draw = random.Random(17)
    long = " ".join(draw.choice(["river", "stone", "music", "seven", "garden", "quickly", "blue", "remember", "the", "of"]) for _ in range(900))
    extra = [(long, long), (long, long + " and a tail beyond the limit"), ("short text", long), (long, long[:2500]),
             ("what [SEP] is [CLS] this", "what is this"), ("[MASK] of Paris", "capital of Paris"), ("A", "a"), ("  a b ", "a b"), ("\u200b", "a")]
    chosen = [(r, c) for r, c in pairs() if len(r) < 1500 and len(c) < 1500][::4] + extra
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for file in Path(encoder).resolve().iterdir():
            os.symlink(file, Path(folder) / file.name)
        limit = {"tokenizer_class": "BertTokenizer", "model_max_length": 512, "do_lower_case": True}
        (Path(folder) / "tokenizer_config.json").write_text(json.dumps(limit))
        for layer in (1, 5, 6):
            scorer = BERTScorer(model_type=folder, num_layers=layer, device="cpu")
            # One pair at a time: beside longer texts bert-score's padding would turn negative cosines into 0.
            for r, c in chosen:
                precision, recall, f1 = (values.item() for values in scorer.score([c], [r]))
                rows.append({"reference": r, "candidate": c, "num_layers": layer, "precision": precision, "recall": recall, "f1": f1})
    return rows


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write("bleu_odd.jsonl", bleu_rows())
    write("bertscore_minilm_odd.jsonl", bertscore_rows(sys.argv[1]))
