#!/usr/bin/env python3
"""Makes tests/golden/encoders/: tiny random encoders of every kind that BERTScore can use, with bert-score's values for them.

usage: golden_encoders.py
needs: bert-score 0.3.12, transformers 5, tokenizers, safetensors, torch.

A folder holds config.json, tokenizer.json and weights as the hub has them (prefixes, old names, half precision and shards
among them), `scores.jsonl` (of the pairs in texts.json, at each layer, with and without IDF) and `hidden.jsonl` (hidden
states of each layer, before they are scaled to length 1).
"""
import json
import shutil
from pathlib import Path

import torch
import transformers
from bert_score import BERTScorer
from bert_score import utils as bert_score_utils
from safetensors.torch import load_file, save_file
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HOME = Path(__file__).resolve().parent.parent / "tests" / "golden" / "encoders"
LIMIT = 40  # tokens of a text
MASK = AddedToken("<mask>", lstrip=True)  # RoBERTa's takes the space before it
BLOCKS = 3

CORPUS = """the cat sat on the mat and looked at the rain. Paris is the capital of France; London is not. Name three rivers of Europe, please.
It's 3.14, not 3,14! The committee's decision was wrong? I don't know what you mean. Could you summarise the following paragraph?
A sorted list has its smallest element first. Water boils at 100 degrees. Give me an example of a prime number greater than twenty.
She sells sea shells by the sea shore, and he walks quickly through the garden. naïve café Straße Ωmega 中文 日本語 привет мир.
Translate this sentence into German. How many people live in the city? Music, stones, rivers and seven blue birds in the morning light.""".splitlines()

PAIRS = [
    ("", ""), ("Paris", "Paris"), ("Paris", "London"), ("", "Paris"), (" \n", "the cat"), ("the cat sat", "the cat sat on the mat"),
    ("  leading and trailing  ", "leading and trailing"), ("line one\nline two", "line one line two"), ("\x1cthe cat\x1f", "the cat"),
    ("THE CAT SAT", "the cat sat"), ("naïve café", "naive cafe"), ("中文 日本語", "中文"), ("привет мир", "hello world"), ("😀 the 👩‍👩‍👧", "the 😀"),
    ("what [SEP] is [CLS] this", "what is this"), ("<s> a </s> <pad> b", "a b"), ("[PAD] of [MASK]", "of <mask> [UNK]"),
    ("It's 3.14, not 3,14!", "It is 3.14 , not 3.14 !"), ("Name three rivers of Europe, please.", "Could you name three rivers of Europe?"),
    ("A sorted list has its smallest element first.", "The first element of a sorted list is the smallest."),
    ("How many people live in the city?", "What is the number of people in this city?"), ("a", "a a a a a a a"), ("rain", "the rain looked at the rain, and the rain sat"),
    ("word " * 60, "word " * 20), ("the cat sat on the mat and looked at the rain. " * 5, "the rain"),
    ("She sells sea shells by the sea shore, and he walks quickly through the garden.", "He walks through the garden while she sells shells."),
]
IDF_CORPUS = [reference for reference, _ in PAIRS if reference.strip()] + ["the cat sat on the mat", "the rain"]
HIDDEN = ["Name three rivers of Europe, please.", "  the cat ", "naïve café 中文 <pad> [PAD]", ""]


def word_piece():
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(lowercase=True)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    t.train_from_iterator(CORPUS, trainers.WordPieceTrainer(vocab_size=300, special_tokens=special))
    t.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [(s, t.token_to_id(s)) for s in ("[CLS]", "[SEP]")])
    t.decoder = decoders.WordPiece()
    return t, dict(cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]", unk_token="[UNK]", mask_token="[MASK]")


def byte_level(special, post):
    t = Tokenizer(models.BPE(unk_token=None))
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=360, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    t.post_processor = post(t)
    t.decoder = decoders.ByteLevel()
    return t


def roberta_bpe():
    post = lambda t: processors.RobertaProcessing(("</s>", t.token_to_id("</s>")), ("<s>", t.token_to_id("<s>")), add_prefix_space=False)
    t = byte_level(["<s>", "<pad>", "</s>", "<unk>", MASK], post)
    return t, dict(cls_token="<s>", sep_token="</s>", pad_token="<pad>", unk_token="<unk>", mask_token=MASK, bos_token="<s>", eos_token="</s>")


def deberta_bpe():
    post = lambda t: processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [(s, t.token_to_id(s)) for s in ("[CLS]", "[SEP]")])
    t = byte_level(["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"], post)
    return t, dict(cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]", unk_token="[UNK]", mask_token="[MASK]")


def unigram(special, begin, end, unk, deberta):
    t = Tokenizer(models.Unigram())
    # SentencePiece's own table is this and little more, and 300 kB long.
    spaces = [normalizers.Replace("\n", " "), normalizers.Replace("\t", " ")] if deberta else []
    t.normalizer = normalizers.Sequence([*spaces, normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    metaspace = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    t.pre_tokenizer = metaspace if deberta else pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), metaspace])
    t.train_from_iterator(CORPUS, trainers.UnigramTrainer(vocab_size=300, special_tokens=special, unk_token=unk))
    t.post_processor = processors.TemplateProcessing(f"{begin} $A {end}", f"{begin} $A {end} $B {end}", [(s, t.token_to_id(s)) for s in (begin, end)])
    t.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    return t, dict(cls_token=begin, sep_token=end, pad_token=special[1 if begin == "<s>" else 0], unk_token=unk, mask_token=special[-1])


def xlm_unigram():
    return unigram(["<s>", "<pad>", "</s>", "<unk>", MASK], "<s>", "</s>", "<unk>", False)


def deberta_unigram():
    return unigram(["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"], "[CLS]", "[SEP]", "[UNK]", True)


SIZES = dict(hidden_size=32, num_hidden_layers=BLOCKS, num_attention_heads=2, intermediate_size=48)
DISENTANGLED = dict(relative_attention=True, position_biased_input=False, pos_att_type=["p2c", "c2p"], max_position_embeddings=LIMIT, type_vocab_size=0)

# folder, tokenizer, configuration, class to save, type of the weights' file, bytes of a shard
ENCODERS = [
    ("bert", word_piece, lambda n: transformers.BertConfig(vocab_size=n, max_position_embeddings=LIMIT, **SIZES), transformers.BertForMaskedLM, torch.float32, "1GB"),
    ("roberta", roberta_bpe, lambda n: transformers.RobertaConfig(vocab_size=n, max_position_embeddings=LIMIT + 2, type_vocab_size=1, layer_norm_eps=1e-5, **SIZES),
     transformers.RobertaForMaskedLM, torch.float32, "1GB"),
    ("xlm-roberta", xlm_unigram, lambda n: transformers.XLMRobertaConfig(vocab_size=n, max_position_embeddings=LIMIT + 2, type_vocab_size=1, layer_norm_eps=1e-5, **SIZES),
     transformers.XLMRobertaModel, torch.float16, "40KB"),
    ("distilbert", word_piece, lambda n: transformers.DistilBertConfig(vocab_size=n, max_position_embeddings=LIMIT, dim=32, n_layers=BLOCKS, n_heads=2, hidden_dim=48),
     transformers.DistilBertForMaskedLM, torch.float16, "1GB"),
    ("deberta", deberta_bpe, lambda n: transformers.DebertaConfig(vocab_size=n, layer_norm_eps=1e-7, **DISENTANGLED, **SIZES), transformers.DebertaModel, torch.bfloat16, "1GB"),
    # deberta-v2-xlarge: a convolution beside the first block, positions by the projections of the tokens.
    ("deberta-v2", deberta_unigram, lambda n: transformers.DebertaV2Config(vocab_size=n, layer_norm_eps=1e-7, position_buckets=8, norm_rel_ebd="layer_norm", share_att_key=True,
     conv_kernel_size=3, conv_act="gelu", **DISENTANGLED, **SIZES), transformers.DebertaV2Model, torch.bfloat16, "1GB"),
    # deberta-v3-base: as the last without the convolution; here with projections of the positions' own.
    ("deberta-v3", deberta_unigram, lambda n: transformers.DebertaV2Config(vocab_size=n, layer_norm_eps=1e-7, position_buckets=8, norm_rel_ebd="layer_norm", share_att_key=False,
     **DISENTANGLED, **SIZES), transformers.DebertaV2Model, torch.float32, "1GB"),
]


def sent_encode(tokenizer, text):
    """As bert-score's own, which for empty texts calls a method that transformers 5 has dropped."""
    return tokenizer.encode(text.strip(), add_special_tokens=True, max_length=tokenizer.model_max_length, truncation=True)


def randomise(model, seed):
    """Weights large enough that every part of the architecture shows in the result."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "LayerNorm" in name or "layer_norm" in name:
                weight.copy_(torch.randn_like(weight) * 0.3 + (1.0 if name.endswith("weight") else 0.0))
            elif weight.dim() == 1:
                weight.copy_(torch.randn_like(weight) * 0.2)
            else:
                weight.copy_(torch.randn_like(weight) * (1.0 if "embeddings" in name else 0.25))


def save(name, make_tokenizer, config, kind, dtype, shard, seed):
    folder = HOME / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tokenizer, tokens = make_tokenizer()
    config = config(tokenizer.get_vocab_size())
    model = kind(config).eval()
    randomise(model, seed)
    model.to(dtype).save_pretrained(folder, max_shard_size=shard)
    for extra in folder.glob("generation_config.json"):
        extra.unlink()
    # A file of the hub holds these settings too, and padding, which must be turned off.
    tokenizer.enable_padding(pad_id=tokenizer.token_to_id(tokens["pad_token"]), pad_token=tokens["pad_token"], length=8)
    tokenizer.save(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    if name == "bert":
        # Names of the first BERT files.
        path = folder / "model.safetensors"
        old = {k.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): v for k, v in load_file(path).items()}
        save_file(old, path)
    return folder, transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=LIMIT, **tokens)


def expect(folder, tokenizer):
    # BERT's old names are read by no AutoModel of transformers 5.
    def get_model(path, layers, all_layers=None):
        model = transformers.AutoModel.from_pretrained(path, dtype=torch.float32, key_mapping={"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"})
        blocks = model.transformer if hasattr(model, "transformer") else model.encoder
        blocks.layer = blocks.layer[:layers]
        return model.eval()

    import bert_score.scorer as scorer

    scorer.get_model, scorer.get_tokenizer = get_model, lambda *_: tokenizer
    bert_score_utils.sent_encode = sent_encode
    # bert-score fills up a batch to its longest text with cosines of 0, which win over negative ones; with a text as long as
    # the encoder allows in the batch this is so for every pair.
    filler = ("word " * 60, "word " * 60)
    references, candidates = zip(*PAIRS, filler)
    with open(folder / "scores.jsonl", "w", encoding="utf-8") as out:
        for layer in range(1, BLOCKS + 1):
            for idf in (False, True):
                by = BERTScorer(model_type=str(folder), num_layers=layer, device="cpu", idf=idf, idf_sents=IDF_CORPUS if idf else None, nthreads=0)
                # Without any weight (no token but begin and end tokens, or only such as are in every text) it gives NaN.
                values = torch.stack(by.score(list(candidates), list(references)), dim=1)[: len(PAIRS)].nan_to_num(0.0)
                rows = [[float(f"{x:.7g}") for x in row] for row in values.tolist()]
                out.write(json.dumps({"layer": layer, "idf": idf, "precision_recall_f1": rows}) + "\n")
    model = get_model(folder, BLOCKS)
    with open(folder / "hidden.jsonl", "w", encoding="utf-8") as out, torch.no_grad():
        for text in HIDDEN:
            ids = sent_encode(tokenizer, text)
            states = model(torch.tensor([ids]), output_hidden_states=True).hidden_states
            for layer in range(1, BLOCKS + 1):
                rounded = [[float(f"{x:.6g}") for x in row] for row in states[layer][0].tolist()]
                out.write(json.dumps({"text": text, "ids": ids, "layer": layer, "states": rounded}) + "\n")


if __name__ == "__main__":
    HOME.mkdir(parents=True, exist_ok=True)
    (HOME / "texts.json").write_text(json.dumps({"pairs": PAIRS, "idf_corpus": IDF_CORPUS}, indent=0))
    for seed, encoder in enumerate(ENCODERS):
        folder, tokenizer = save(*encoder, seed)
        expect(folder, tokenizer)
        for file in folder.iterdir():
            file.chmod(0o644)
        print(folder.name, sum(f.stat().st_size for f in folder.iterdir()))
