"""Tiny tokenizers of the families' true kinds, and golden token ids: a second part of golden_families.py's output.

Byte-level BPE with the family's way of splitting, or SentencePiece BPE with byte fallback, trained on the text below; special
tokens as the family has them. Into each model's folder go tokenizer.json, tokenizer_config.json and, for some families,
chat_template.jinja; into families/tokenizers.json the ids that the texts and conversations below get:
    texts                   what is encoded
    of                      from a folder's name to the NAME whose tokenizer it has
    models.NAME.plain       their ids without, and .special with, what the tokenizer adds to a text
    models.NAME.decoded     the plain ids as text, special tokens included
    models.NAME.chats       messages (their place in "conversations"), options and the text, with its ids, or the refusal
Reference: the tokenizers library on tokenizer.json and transformers' apply_chat_template. Where AutoTokenizer rebuilds the
tokenizer in another way than the file says, the script prints for which texts, and the file's way is the golden one.

    python scripts/family_tokenizers.py tests/golden/families
"""

import json
import os
import sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer, PreTrainedTokenizerFast
from transformers.utils import logging

from family_models import MODELS
from family_templates import OPTIONS, TEMPLATES

TRAINING = """The river runs from the hills to the sea. There are three towns on the river, and the oldest of them is at the
mouth. In the morning the boats go out, and in the evening they come home. What is the name of the river? It is the Tern.
Tell me more about the town: who lives there, what do they do, and how long have they been there? The answer is not known.
Some say that the first house was built there in 1204; others say that it was later. Is it true that the water is salt? It
is not, but near the sea it is. I'm sure you're right, they've told me and we'll see. The weather there is good. A red
boat, a green boat and an old one lie at the shore. No one is there in the winter, so the houses are cold and still.
"""
TEXTS = [
    "The river runs to the sea.",
    "",
    " ",
    "  two spaces before, and after  ",
    "a  b   c    d     e        f",
    "line one\nline two\n\nline four\n\n\n\nline eight\r\nand\ttabs\t\t.",
    "\n",
    "\n\n \n",
    "1 12 123 1234 12345 1,204.50 2026-11-30",
    "I'm sure you're right, they've told me: we'll see. DON'T! IT'S",
    "Äpfel, œuvre, naïve; Straße",
    "A\u0301ngstro\u0308m e\u0301",
    "ما هي عاصمة مصر؟",
    "中国的首都是什么？ 東京です。",
    "คำถาม नमस्ते दुनिया",
    "😀👩‍👩‍👧 🏳️‍🌈!",
    "def add(a, b):\n    return a + b  # sum\n\n\tx = {'k': [1, 2]}",
    "<|im_start|>user\nhello<|im_end|> <s>[INST] x [/INST]</s><bos><eos>",
    "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nhi<|eot_id|>",
    "<start_of_turn>user\nhi<end_of_turn>\n<|turn>user\nhi<turn|> <|user|> hi <|end|>",
    "<think>\nwell\n</think>\n\nyes",
    "▁under▁score ▁ low",
    "half<|im_en d|> <0x41> <unk>",
    "\u00a0\u2003\u200bzero\ufeffwidth\u0000nul",
    "?!?!...---===~~~ (x) [y] {z} \"q\" `c` #1 @a %5 ^6 &7 *8",
    "UPPER lower MiXeD camelCase snake_case",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa therethere",
    " leading and trailing ",
]
CONVERSATIONS = [
    [dict(role="user", content="What is the name of the river?")],
    [dict(role="system", content="  Answer in one word. "), dict(role="user", content=" Is it the Tern?\n")],
    [
        dict(role="user", content="Hello"),
        dict(role="assistant", content="<think>\nshort\n</think>\n\nGood morning."),
        dict(role="user", content="Übung 12: <|im_end|> { } ' \" \\ & <b>"),
    ],
    [dict(role="user", content="")],
    [dict(role="assistant", content="I begin."), dict(role="user", content="Why?")],
]

LETTERS, NUMBERS = r"\p{L}", r"\p{N}"
GPT4 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?%s+|\p{N}%s| ?[^\s%s\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
SPLITS = {
    "llama3": GPT4 % (LETTERS, "{1,3}", LETTERS),
    "qwen2": GPT4 % (LETTERS, "", LETTERS),
    "qwen35": GPT4 % (r"[\p{L}\p{M}]", "", r"\p{L}\p{M}"),
}


def special(text, **flags):
    return AddedToken(text, special=True, normalized=False, **flags)


def byte_level(split, tail, head=(), opening=None, normalizer=None, ignore_merges=False, plain=()):
    """Byte-level BPE of 300 tokens, `head` first, then `tail` (special) and `plain` (added but not special)."""
    tok = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    tok.normalizer = normalizer
    if split == "digits":
        parts = [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)]
    else:
        parts = [
            pre_tokenizers.Split(Regex(SPLITS[split]), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    tok.pre_tokenizer = pre_tokenizers.Sequence(parts)
    tok.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300, initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()), special_tokens=list(map(special, head)),
        show_progress=False,
    )
    tok.train_from_iterator([TRAINING], trainer)
    tok.add_special_tokens(list(map(special, tail)))
    tok.add_tokens([AddedToken(t, special=False, normalized=False) for t in plain])
    parts = [processors.ByteLevel(trim_offsets=False)]
    if opening:
        parts.append(opens_with(tok, opening))
    tok.post_processor = processors.Sequence(parts)
    return tok


def opens_with(tok, token):
    return processors.TemplateProcessing(
        single=f"{token} $A", pair=f"{token} $A {token} $B", special_tokens=[(token, tok.token_to_id(token))]
    )


def sentencepiece(head, size, tail=(), runs=(), opening=None, prefix=None, tail_flags={}):
    """SentencePiece BPE: `head`, the bytes, pieces up to `size`, then `tail`. The prefix is put before every part of a text
    ("parts"), only at its beginning ("first"), or not at all."""
    learner = Tokenizer(models.BPE(fuse_unk=True, unk_token="<unk>"))
    learner.normalizer = normalizers.Replace(" ", "▁")
    learner.pre_tokenizer = pre_tokenizers.Split(Regex("▁?[^▁]+"), behavior="isolated")
    text = TRAINING.replace("\n", " ")
    # The commonest letters; the others are for the byte fallback. (The trainer's own limit breaks ties at random.)
    letters = sorted(set(text.replace(" ", "▁")), key=lambda c: (-text.replace(" ", "▁").count(c), c))[:30]
    trainer = trainers.BpeTrainer(
        vocab_size=size - len(head) - 256 - len(runs) + 1, initial_alphabet=letters, limit_alphabet=len(letters),
        special_tokens=["<unk>"], show_progress=False,
    )
    learner.train_from_iterator([text], trainer)
    learned = sorted(learner.get_vocab().items(), key=lambda x: x[1])
    # Pieces by the order they were learned in, single characters last, as the library's own trainer lays them out.
    pieces = [p for p, _ in learned if p != "<unk>"]
    pieces = list(runs) + [p for p in pieces if len(p) > 1] + [p for p in pieces if len(p) == 1]
    names = list(head) + [f"<0x{b:02X}>" for b in range(256)] + pieces
    ids = {p: i for i, p in enumerate(names)}
    merges = []
    for piece in pieces:
        ways = [(piece[:i], piece[i:]) for i in range(1, len(piece))]
        merges += sorted((w for w in ways if w[0] in ids and w[1] in ids), key=lambda w: (ids[w[0]], ids[w[1]]))
    tok = Tokenizer(models.BPE(vocab=ids, merges=merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    undo = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    if prefix == "parts":
        tok.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    elif prefix == "first":
        tok.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="first", split=False)
    else:
        tok.normalizer = normalizers.Replace(" ", "▁")
        tok.pre_tokenizer = pre_tokenizers.Split(" ", behavior="merged_with_previous")
    tok.decoder = decoders.Sequence(undo + ([decoders.Strip(" ", 1, 0)] if prefix else []))
    tok.add_special_tokens(list(map(special, head)))
    tok.add_special_tokens([special(t, **tail_flags) for t in tail])
    if opening:
        tok.post_processor = opens_with(tok, opening)
    return tok


LLAMA3 = ["<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|eom_id|>"]
QWEN = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
THOUGHTS = ["<think>", "</think>"]
RUNS = ["\n\n", "▁▁", "▁▁▁▁", "\n"]
GEMMA = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "<start_of_turn>", "<end_of_turn>"]
GEMMA4 = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "<|turn>", "<turn|>", "<|channel>", "<channel|>", "<|think|>"]
PHI3_TAIL = ["<|endoftext|>", "<|assistant|>", "<|system|>", "<|end|>", "<|user|>"]


def gemma(names, template, **more):
    return dict(
        make=lambda: sentencepiece(names, 320, runs=RUNS, opening="<bos>"),
        config=dict(tokenizer_class="GemmaTokenizer", bos_token="<bos>", eos_token="<eos>", pad_token="<pad>", unk_token="<unk>",
                    mask_token="<mask>", add_bos_token=True, add_eos_token=False) | more,
        template=template,
    )


def llama_like(prefix, template, cls="LlamaTokenizer", **more):
    return dict(
        make=lambda: sentencepiece(["<unk>", "<s>", "</s>"], 320, opening="<s>", prefix=prefix),
        config=dict(tokenizer_class=cls, bos_token="<s>", eos_token="</s>", unk_token="<unk>", add_bos_token=True,
                    add_eos_token=False, legacy=False) | more,
        template=template,
    )


def qwen(split, template, more=(), plain=(), cls="Qwen2Tokenizer"):
    return dict(
        make=lambda: byte_level(split, QWEN + list(more), normalizer=normalizers.NFC(), plain=plain),
        config=dict(tokenizer_class=cls, bos_token=None, eos_token="<|im_end|>", pad_token="<|endoftext|>", unk_token=None,
                    add_bos_token=False, add_prefix_space=False, errors="replace"),
        template=template,
    )


KINDS = {
    "llama3": dict(
        make=lambda: byte_level("llama3", LLAMA3, opening="<|begin_of_text|>", ignore_merges=True),
        config=dict(tokenizer_class="PreTrainedTokenizerFast", bos_token="<|begin_of_text|>", eos_token="<|eot_id|>"),
        template="llama3",
    ),
    "llama2": llama_like("parts", "llama2"),
    "mistral": llama_like("first", "mistral", add_prefix_space=True),
    "qwen2": qwen("qwen2", "qwen2"),
    "qwen3": qwen("qwen2", "qwen3", plain=THOUGHTS),
    "qwen3_5": qwen("qwen35", "qwen3_5", more=["<|vision_start|>", "<|vision_end|>"], plain=THOUGHTS),
    "smollm2": dict(
        make=lambda: byte_level("digits", [], head=QWEN),
        config=dict(tokenizer_class="GPT2Tokenizer", bos_token="<|im_start|>", eos_token="<|im_end|>", pad_token="<|im_end|>",
                    unk_token="<|endoftext|>", add_prefix_space=False),
        template="smollm2",
    ),
    "smollm3": dict(
        make=lambda: byte_level("llama3", ["<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>",
                                           "<|im_start|>", "<|im_end|>"], ignore_merges=True, plain=THOUGHTS),
        config=dict(tokenizer_class="PreTrainedTokenizerFast", bos_token=None, eos_token="<|im_end|>", pad_token="<|im_end|>"),
        template="smollm3",
    ),
    "gemma": gemma(GEMMA, "gemma"),
    "gemma3": gemma(GEMMA, "gemma3"),
    "gemma4": gemma(GEMMA4, "gemma4", extra_special_tokens=dict(
        sot_token="<|turn>", eot_token="<turn|>", soc_token="<|channel>", eoc_token="<channel|>", think_token="<|think|>"
    )),
    "phi3": dict(
        make=lambda: sentencepiece(
            ["<unk>", "<s>", "</s>"], 310, tail=PHI3_TAIL, prefix="parts", tail_flags=dict(rstrip=True)
        ),
        config=dict(tokenizer_class="LlamaTokenizer", bos_token="<s>", eos_token="<|endoftext|>", pad_token="<|endoftext|>",
                    unk_token="<unk>", add_bos_token=False, add_eos_token=False, legacy=False),
        template="phi3",
    ),
}
OF_MODEL = dict(
    llama3_1="llama3", llama3_2="llama3", qwen2="qwen2", gemma="gemma", gemma4_e4b="gemma4", gemma4_e2b="gemma4",
    qwen3_5="qwen3_5", qwen3_5_text="qwen3_5", llama2="llama2", mistral="mistral", smollm2="smollm2", smollm3="smollm3",
    qwen3="qwen3", gemma2="gemma", gemma3_1b="gemma3", gemma3_4b="gemma3", phi3="phi3", phi3_longrope="phi3",
)
# Families whose repositories hold the template in a file of its own.
TEMPLATE_FILES = {"gemma4", "qwen3_5", "smollm3"}


def write_tokenizer(folder, kind):
    tok = kind["make"]()
    with open(os.path.join(folder, "tokenizer.json"), "w") as f:
        f.write(json.dumps(json.loads(tok.to_str()), ensure_ascii=False) + "\n")
    added = json.loads(tok.to_str())["added_tokens"]
    config = dict(
        added_tokens_decoder={str(t["id"]): {k: v for k, v in t.items() if k != "id"} for t in added},
        clean_up_tokenization_spaces=False, model_max_length=512,
    )
    config |= kind["config"]
    template = TEMPLATES[kind["template"]]
    if kind["template"] in TEMPLATE_FILES:
        with open(os.path.join(folder, "chat_template.jinja"), "w") as f:
            f.write(template)
    else:
        config["chat_template"] = template
    with open(os.path.join(folder, "tokenizer_config.json"), "w") as f:
        json.dump(config, f, indent=0, ensure_ascii=False)
        f.write("\n")


def golden(folder, kind):
    tok = PreTrainedTokenizerFast.from_pretrained(folder)
    bare = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
    auto = AutoTokenizer.from_pretrained(folder)
    plain = [bare.encode(t, add_special_tokens=False).ids for t in TEXTS]
    whole = [bare.encode(t).ids for t in TEXTS]
    assert plain == [tok.encode(t, add_special_tokens=False) for t in TEXTS], folder
    for text, a, b in zip(TEXTS, plain, whole):
        theirs = auto.encode(text, add_special_tokens=False), auto.encode(text)
        if (a, b) != theirs:
            print(f"  {folder}: {type(auto).__name__} differs on {text!r}:\n    {a}\n    {theirs[0]}\n    {b[:3]} {theirs[1][:3]}", file=sys.stderr)
    chats = []
    for which, turns in enumerate(CONVERSATIONS):
        for options in OPTIONS.get(kind["template"], [{}]):
            for prompt in (True, False):
                row = dict(conversation=which, options=options, add_generation_prompt=prompt)
                try:
                    text = tok.apply_chat_template(turns, tokenize=False, add_generation_prompt=prompt, **options)
                    row |= dict(text=text, ids=bare.encode(text, add_special_tokens=False).ids)
                except Exception as e:
                    row |= dict(refused=str(e))
                chats.append(row)
    decoded = [bare.decode(ids, skip_special_tokens=False) for ids in plain]
    return dict(plain=plain, special=whole, decoded=decoded, chats=chats)


def main():
    out = sys.argv[1]
    logging.set_verbosity_error()
    made, of = {}, {}
    for name in MODELS:
        kind = KINDS[OF_MODEL[name]]
        write_tokenizer(os.path.join(out, name), kind)
        values = golden(os.path.join(out, name), kind)
        same = [other for other, (whose, _) in made.items() if whose == OF_MODEL[name]]
        if same:
            assert made[same[0]][1] == values, name
        else:
            made[name] = OF_MODEL[name], values
        of[name] = same[0] if same else name
    with open(os.path.join(out, "tokenizers.json"), "w") as f:
        lines = ",\n".join(f"{json.dumps(n)}: {json.dumps(v)}" for n, (_, v) in made.items())
        f.write(f'{{"of": {json.dumps(of)},\n"texts": {json.dumps(TEXTS)},\n"conversations": {json.dumps(CONVERSATIONS)},\n"models": {{\n{lines}\n}}}}\n')


if __name__ == "__main__":
    main()
