"""Makes tests/golden/tokenizers: a small tokenizer of each kind that the families have, as a Hugging Face folder and as
GGUF metadata, with texts and the token ids that the reference library gives them.

Reference: transformers' AutoTokenizer on the folder. The vocabularies are trained here on the texts themselves, so they
are small, and every piece of the families' own tokenizers is there: normalizers, cuts, begin tokens, added tokens with
their flags. The GGUF files have no tensors; their metadata are what llama.cpp's converter writes for such a tokenizer.
SentencePiece vocabularies come from the library of that name, and the script compares with what it gives itself.
Made with transformers 5.24, tokenizers 0.23, sentencepiece 0.2.3 and gguf 0.19.

    python scripts/golden_tokenizers.py tests/golden/tokenizers
"""

import io
import json
import os
import shutil
import sys

import gguf
import sentencepiece
from golden_tokens import PROMPTS
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer
from transformers.tokenization_utils_base import generate_merges

PLAIN = [user for user, _ in PROMPTS] + [
    "a  b   c    d",
    " one space",
    "  two\n\n\nlines  \n\n",
    "tab\tand\u3000wide",
    "ends with newline\n",
    "हिन्दी में कितने",
    "cafe\u0301 CAFÉ Straße ǅ ǆ",
    "HTTPServer camelCase 12345678",
]
CORPUS = PLAIN * 3 + ["The quick brown fox jumps over the lazy dog. What is the capital of France? The capital is Paris."] * 5
CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
LLAMA3 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN35 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
REST = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
TEKKEN = rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*|\p{{N}}" + REST
GPT4O = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{CONTRACTIONS}?|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{CONTRACTIONS}?"
    + r"|\p{N}{1,3}"
    + REST
)


def special(text, **flags):
    return AddedToken(text, special=True, normalized=False, **flags)


def added(text, **flags):
    return AddedToken(text, special=False, normalized=False, **flags)


def split(pattern):
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )


def byte_level(pre, tokens, normalizer=None, whole_first=False, first=()):
    """A byte-level tokenizer; `first` are the added tokens that lie before the vocabulary, `tokens` those after it."""
    tok = Tokenizer(models.BPE(ignore_merges=whole_first))
    tok.normalizer = normalizer
    tok.pre_tokenizer = pre
    tok.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=420,
        special_tokens=list(first),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tok.train_from_iterator(CORPUS, trainer)
    tok.add_tokens(list(tokens))
    return tok


def begins(tok, bos):
    tok.post_processor = processors.TemplateProcessing(
        single=f"{bos} $A", pair=f"{bos} $A $B", special_tokens=[(bos, tok.token_to_id(bos))]
    )
    return tok


def sentencepiece_model(size, **options):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS),
        model_writer=model,
        model_type="bpe",
        vocab_size=size,
        byte_fallback=True,
        character_coverage=0.98,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        allow_whitespace_only_pieces=True,
        split_digits=True,
        minloglevel=2,
        **options,
    )
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def pieces(sp):
    return [sp.id_to_piece(i) for i in range(sp.get_piece_size())]


def by_score(sp, tokens, scores, unk):
    """The vocabulary with merges as transformers derives them from the scores."""
    texts = pieces(sp)
    vocab = {text: i for i, text in enumerate(texts)}
    merges = generate_merges(vocab, dict(zip(texts, scores)))
    tok = Tokenizer(models.BPE(vocab=vocab, merges=merges, unk_token=unk, fuse_unk=True, byte_fallback=True))
    back = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    tok.decoder = decoders.Sequence(back)
    tok.add_tokens(list(tokens))
    return tok


def prefixed(tok):
    """A space before every stretch of text, as Llama 2's tokenizer.json has it."""
    tok.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    back = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    tok.decoder = decoders.Sequence(back)
    return tok


def prefixed_first(tok):
    """A space before the first stretch only, as transformers' LlamaTokenizer has it."""
    prefixed(tok).normalizer = None
    tok.pre_tokenizer = pre_tokenizers.Metaspace("▁", prepend_scheme="first", split=False)
    return tok


def escaped(tok):
    """Spaces escaped and nothing before them, as Gemma has it."""
    tok.normalizer = normalizers.Replace(" ", "▁")
    tok.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    return tok


def sp_scores(sp):
    return [sp.get_score(i) for i in range(sp.get_piece_size())]


def kinds():
    """name, tokenizer, tokenizer_config, config, GGUF metadata (or None), SentencePiece model (or None)."""
    llama3 = [special("<|begin_of_text|>"), special("<|end_of_text|>"), special("<|eot_id|>"), special("<|head|>")]
    tok = byte_level(split(LLAMA3), llama3, whole_first=True)
    yield (
        "llama3",
        begins(tok, "<|begin_of_text|>"),
        {"bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>", "tokenizer_class": "PreTrainedTokenizerFast"},
        {"model_type": "llama", "eos_token_id": [421, 422]},
        {"arch": "llama", "model": "gpt2", "pre": "llama-bpe"},
        None,
    )
    chat = [special("<|endoftext|>"), special("<|im_start|>"), special("<|im_end|>"), added("<think>"), added("</think>")]
    qwen = {"bos_token": None, "eos_token": {"content": "<|im_end|>", "__type": "AddedToken"}, "add_bos_token": False}
    qwen |= {"pad_token": "<|endoftext|>", "unk_token": None}
    yield (
        "qwen2",
        byte_level(split(QWEN2), chat, normalizers.NFC()),
        qwen | {"tokenizer_class": "Qwen2Tokenizer"},
        {"model_type": "qwen3", "eos_token_id": 422},
        {"arch": "qwen3", "model": "gpt2", "pre": "qwen2", "add_bos": False},
        None,
    )
    yield (
        "qwen35",
        byte_level(split(QWEN35), chat, normalizers.NFC()),
        qwen | {"tokenizer_class": "Qwen2Tokenizer"},
        {"model_type": "qwen3_5", "text_config": {"model_type": "qwen3_5_text", "eos_token_id": 420}},
        {"arch": "qwen35", "model": "gpt2", "pre": "qwen35", "add_bos": False},
        None,
    )
    digits = pre_tokenizers.Sequence([pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    first = [special("<|endoftext|>"), special("<|im_start|>"), special("<|im_end|>")]
    yield (
        "smollm",
        byte_level(digits, [], first=first),
        {"bos_token": "<|im_start|>", "eos_token": "<|im_end|>", "tokenizer_class": "PreTrainedTokenizerFast"},
        {"model_type": "llama", "eos_token_id": 2},
        {"arch": "llama", "model": "gpt2", "pre": "smollm", "add_bos": False},
        None,
    )
    yield (
        "gpt2",
        byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False), [special("<|endoftext|>")]),
        {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>", "tokenizer_class": "GPT2Tokenizer"},
        {"model_type": "gpt2"},
        {"arch": "gpt2", "model": "gpt2", "pre": "gpt-2", "add_bos": False},
        None,
    )
    first = [special("<unk>"), special("<s>"), special("</s>"), special("[INST]"), special("[/INST]")]
    yield (
        "tekken",
        begins(byte_level(split(TEKKEN), [], whole_first=True, first=first), "<s>"),
        {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "tokenizer_class": "PreTrainedTokenizerFast"},
        {"model_type": "mistral", "eos_token_id": 2},
        {"arch": "llama", "model": "gpt2", "pre": "tekken"},
        None,
    )
    yield (
        "gpt4o",
        byte_level(split(GPT4O), [special("<|endoftext|>"), special("<|end|>", rstrip=False)]),
        {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>", "tokenizer_class": "PreTrainedTokenizerFast"},
        {"model_type": "phi3", "eos_token_id": [420, 421]},
        {"arch": "llama", "model": "gpt2", "pre": "gpt-4o", "add_bos": False},
        None,
    )
    sp = sentencepiece_model(560)
    control = [special("<unk>"), special("<s>"), special("</s>")]
    names = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    names = {name: {"__type": "AddedToken", "content": text} for name, text in names.items()}
    llama = prefixed(by_score(sp, control, sp_scores(sp), "<unk>"))
    yield (
        "llama2",
        begins(llama, "<s>"),
        names | {"tokenizer_class": "PreTrainedTokenizerFast"},
        {"model_type": "llama", "eos_token_id": 2},
        {"arch": "llama", "model": "llama", "scores": sp_scores(sp)},
        sp,
    )
    first = prefixed_first(by_score(sp, control, sp_scores(sp), "<unk>"))
    yield (
        "llama2_first",
        begins(first, "<s>"),
        names | {"tokenizer_class": "LlamaTokenizer", "legacy": False, "add_bos_token": True},
        {"model_type": "llama", "eos_token_id": 2},
        None,
        sp,
    )
    turns = ["<|endoftext|>", "<|user|>", "<|end|>", "<|assistant|>"]
    phi = [special("<unk>"), special("<s>"), added("</s>", rstrip=True), special("<|endoftext|>")]
    phi += [special(t, rstrip=True) for t in turns[1:]]
    yield (
        "phi3",
        prefixed(by_score(sp, phi, sp_scores(sp), "<unk>")),
        {"bos_token": "<s>", "eos_token": "<|endoftext|>", "unk_token": "<unk>", "add_bos_token": False},
        {"model_type": "phi3", "eos_token_id": 560},
        {"arch": "phi3", "model": "llama", "scores": sp_scores(sp) + [-1000.0] * 4, "add_bos": False},
        None,
    )
    symbols = ["<start_of_turn>", "<end_of_turn>", "<unused0>"] + ["\n" * n for n in range(2, 5)]
    symbols += ["▁" * n for n in range(2, 6)] + ["<table>"]
    sp = sentencepiece_model(
        600, pad_id=0, eos_id=1, bos_id=2, unk_id=3, pad_piece="<pad>", bos_piece="<bos>", eos_piece="<eos>",
        user_defined_symbols=symbols, add_dummy_prefix=False,
    )
    turn = ["<start_of_turn>", "<end_of_turn>"]
    gemma = [special(t) for t in ["<pad>", "<eos>", "<bos>", "<unk>"] + turn] + [added(t) for t in symbols if t not in turn]
    order = [-float(i) for i in range(sp.get_piece_size())]
    names = {"bos_token": "<bos>", "eos_token": "<eos>", "unk_token": "<unk>", "pad_token": "<pad>"}
    yield (
        "gemma",
        begins(escaped(by_score(sp, gemma, order, "<unk>")), "<bos>"),
        names | {"tokenizer_class": "GemmaTokenizer", "add_bos_token": True},
        {"model_type": "gemma2", "eos_token_id": 1},
        {"arch": "gemma2", "model": "llama", "scores": sp_scores(sp), "add_space_prefix": False},
        None,
    )
    yield (
        "gemma4",
        begins(escaped(by_score(sp, gemma, order, "<unk>")), "<bos>"),
        names | {"tokenizer_class": "GemmaTokenizer"},
        {"model_type": "gemma4", "text_config": {"eos_token_id": [1, 5]}},
        {"arch": "gemma4", "model": "gemma4", "add_space_prefix": False},
        None,
    )


def write_gguf(path, tok, config, facts):
    """The metadata that llama.cpp's converter writes for this tokenizer."""
    saved = json.loads(tok.to_str())
    vocab = tok.get_vocab(with_added_tokens=True)
    texts = [text for text, _ in sorted(vocab.items(), key=lambda item: item[1])]
    flags = {t["id"]: t["special"] for t in saved["added_tokens"]}
    types = []
    for i, text in enumerate(texts):
        if i in flags and not flags[i]:
            # The converter writes the spaces of user-defined tokens as spaces.
            texts[i] = text.replace("▁", " ") if facts["model"] != "gemma4" else text
            types.append(gguf.TokenType.USER_DEFINED)
        elif i in flags:
            types.append(gguf.TokenType.CONTROL)
        elif len(text) == 6 and text.startswith("<0x"):
            types.append(gguf.TokenType.BYTE)
        else:
            types.append(gguf.TokenType.NORMAL)
    writer = gguf.GGUFWriter(path, facts["arch"])
    writer.add_tokenizer_model(facts["model"])
    if "pre" in facts or facts["model"] == "llama":
        writer.add_tokenizer_pre(facts.get("pre", "default"))
    writer.add_token_list(texts)
    writer.add_token_types(types)
    if facts["model"] != "gpt2":
        writer.add_token_scores(facts.get("scores", [-1000.0] * len(texts)))
    if facts["model"] != "llama":
        writer.add_token_merges([" ".join(merge) for merge in saved["model"]["merges"]])
    adders = {"bos": writer.add_bos_token_id, "eos": writer.add_eos_token_id, "unk": writer.add_unk_token_id}
    for name, add in (adders | {"pad": writer.add_pad_token_id}).items():
        token = config.get(f"{name}_token")
        if token is not None:
            add(vocab[token["content"] if isinstance(token, dict) else token])
    if "add_bos" in facts:
        writer.add_add_bos_token(facts["add_bos"])
    if "add_space_prefix" in facts:
        writer.add_add_space_prefix(facts["add_space_prefix"])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def main():
    out = sys.argv[1]
    shutil.rmtree(out, ignore_errors=True)
    for name, tok, config, model, facts, sp in kinds():
        folder = os.path.join(out, name)
        os.makedirs(folder)
        tok.save(os.path.join(folder, "tokenizer.json"), pretty=False)
        for file, content in (("tokenizer_config.json", config), ("config.json", model)):
            with open(os.path.join(folder, file), "w") as f:
                json.dump(content, f, indent=1)
        if facts:
            write_gguf(os.path.join(folder, "model.gguf"), tok, config, facts)
        reference = AutoTokenizer.from_pretrained(folder)
        saved = json.loads(tok.to_str())
        marks = [t["content"] for t in saved["added_tokens"] if t["special"]]
        saved["added_tokens"] = [t for t in saved["added_tokens"] if not t["special"]]
        unmarked = Tokenizer.from_str(json.dumps(saved))
        tokens = [t.content for t in tok.get_added_tokens_decoder().values()]
        texts = PLAIN + [f"x{t}y" for t in tokens] + [f"a {t} b{t}\n {t}" for t in tokens] + tokens[:2]
        agree = 0
        with open(os.path.join(folder, "texts.jsonl"), "w") as f:
            for text in texts:
                ids = reference(text, add_special_tokens=False)["input_ids"]
                if sp is not None and not any(m in text for m in marks):
                    agree += sp.encode(text) == ids
                row = {"text": text, "ids": ids, "special": any(m in text for m in marks)}
                if row["special"]:
                    row["escaped"] = unmarked.encode(text, add_special_tokens=False).ids
                row["decoded"] = reference.decode(ids, skip_special_tokens=True)
                f.write(json.dumps(row, ensure_ascii=True) + "\n")
        begin = reference("")["input_ids"]
        with open(os.path.join(folder, "facts.json"), "w") as f:
            json.dump({"begin": begin, "vocabulary": tok.get_vocab_size(), "class": type(reference).__name__}, f)
        print(name, type(reference).__name__, tok.get_vocab_size(), begin, f"sentencepiece agrees on {agree}" if sp else "")


if __name__ == "__main__":
    main()
