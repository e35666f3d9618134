"""Tiny models of the families as GGUF: the third part of golden_families.py's output, made with llama.cpp's own converter.

In: the folder of llama.cpp that holds convert_hf_to_gguf.py (the source package llama-cpp-python on PyPI carries it as
vendor/llama.cpp; 0.3.36 was used), and families/ as golden_families.py and family_tokenizers.py left it.
Out: families/NAME/NAME.TYPE.gguf, and "gguf" in families.json.

What is done from outside, because a vocabulary of 320 can't have it:
- the converter knows a byte-level tokenizer by the hash of a text's ids; here it is told the name (PRE);
- a SentencePiece file (tokenizer.model) is written beside the model for the families that have one. Its pieces, scores and
  types say what tokenizer.json says. It is not kept.

The values of hidden.f32 and logits.f32 hold for these files too, up to f32 rounding, with these exceptions:
- mistral, gemma2, gemma3_1b, gemma3_4b: a GGUF of the llama architecture has no window, and of Gemma 2 and 3 no scale of the
  scores but the head size's (llama.cpp knows the 27B models by their layers). logits.gguf.f32 are the values without them.
- q8_0: the weights are rounded. qwen2/logits.q8_0.f32 are the reference's logits on the dequantized weights.
- phi3_longrope: which factors are used is the reader's choice; llama.cpp takes the long ones if its context is longer than the
  original one. The values are transformers': by the length of the text so far.
Token ids are those of tokenizers.json too ("tokenizer" in the index says whose), with two exceptions:
- mistral: its tokenizer.json puts the prefix only before a text that does not begin with a space, and not after a special
  token; a GGUF can only say that there is a prefix, and its readers put it always. The ids are then llama2's.
- qwen2, qwen3, qwen3_5: the file does not say that text is brought to NFC first (llama.cpp does not do it); a reader that
  knows it from tokenizer.ggml.pre gets the same ids.
llama.cpp itself (CPU) was run on all of these models, converted to f32 and with an f32 cache. Its ids of all texts are the same
but for NFC, and its logits are to 2e-5, for the Gemmas to 0.012 (its GELU is a table of 16-bit values), except that it leaves
out the window of phi3 and takes the long factors for all prompts of phi3_longrope.

What the converter changes on purpose, so that a reader must undo or expect it: rows of queries and keys are interleaved for
the llama architecture (Llama, Mistral, SmolLM 2 and 3); 1 is added to the norms of Gemma 1 to 3 and Qwen 3.5; A_log becomes
-exp(A_log), conv1d loses a dimension and value heads change their order (by key head to across key heads) in Qwen 3.5;
Llama 3's scaled frequencies become a tensor of divisors (rope_freqs), as do Phi-3's factors and Gemma 4's unrotated part
(divisor 1e30); Qwen 3.5's block_count counts its speculative layer (nextn_predict_layers).

    python scripts/family_gguf.py LLAMA_CPP_FOLDER tests/golden/families

Needs sentencepiece and protobuf beside what golden_families.py needs.
"""

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open
from sentencepiece import sentencepiece_model_pb2
from transformers import AutoModelForCausalLM

from family_tokenizers import OF_MODEL
from golden_families import reference

PRE = dict(llama3="llama-bpe", qwen2="qwen2", qwen3="qwen2", qwen3_5="qwen35", smollm2="smollm", smollm3="llama-bpe")
SENTENCEPIECE = dict(llama2=True, mistral=True, phi3=True, gemma=False, gemma3=False)
TYPES = {
    "llama3_1": ["f32"], "qwen2": ["bf16", "q8_0"], "llama2": ["f32"],
    "mistral": ["f16"],
}
# What a GGUF does not say, as the text configuration that its readers take: logits.gguf.f32 is the reference's with that.
UNSAID = {
    "mistral": dict(sliding_window=None), "gemma2": dict(query_pre_attn_scalar=16),
    "gemma3_1b": dict(query_pre_attn_scalar=16), "gemma3_4b": dict(query_pre_attn_scalar=16),
}


def write_sentencepiece(folder, prefix):
    """tokenizer.model as tokenizer.json has it; the later a piece was learned, the lower its score."""
    with open(os.path.join(folder, "tokenizer.json")) as f:
        tok = json.load(f)
    vocabulary = tok["model"]["vocab"]
    heads = {t["content"] for t in tok["added_tokens"]}
    kinds = sentencepiece_model_pb2.ModelProto.SentencePiece
    model = sentencepiece_model_pb2.ModelProto()
    first = None
    for piece, i in sorted(vocabulary.items(), key=lambda x: x[1]):
        score, kind = 0.0, kinds.NORMAL
        if piece == "<unk>":
            kind = kinds.UNKNOWN
        elif piece in heads:
            kind = kinds.CONTROL if piece in ("<s>", "</s>", "<pad>", "<bos>", "<eos>", "<mask>") else kinds.USER_DEFINED
        elif piece.startswith("<0x"):
            kind = kinds.BYTE
        else:
            first = i if first is None else first
            score = -float(i - first)
        model.pieces.add(piece=piece, score=score, type=kind)
    trainer, normalizer = model.trainer_spec, model.normalizer_spec
    trainer.model_type = sentencepiece_model_pb2.TrainerSpec.BPE
    trainer.byte_fallback = True
    trainer.vocab_size = len(vocabulary)
    bos, eos = ("<s>", "</s>") if "<s>" in vocabulary else ("<bos>", "<eos>")
    for name, piece in dict(unk="<unk>", bos=bos, eos=eos).items():
        setattr(trainer, f"{name}_id", vocabulary[piece])
        setattr(trainer, f"{name}_piece", piece)
    trainer.pad_id = vocabulary.get("<pad>", -1)
    normalizer.name = "identity"
    normalizer.add_dummy_prefix = prefix
    normalizer.remove_extra_whitespaces = False
    normalizer.escape_whitespaces = True
    with open(os.path.join(folder, "tokenizer.model"), "wb") as f:
        f.write(model.SerializeToString())


def convert(folder, out, outtype, kind, conversion, gguf):
    """One file by the converter's own classes."""
    types = dict(
        f32=gguf.LlamaFileType.ALL_F32, f16=gguf.LlamaFileType.MOSTLY_F16, bf16=gguf.LlamaFileType.MOSTLY_BF16,
        q8_0=gguf.LlamaFileType.MOSTLY_Q8_0,
    )
    folder = Path(folder)
    with torch.inference_mode():
        params = conversion.ModelBase.load_hparams(folder, False)
        architecture = conversion.get_model_architecture(params, conversion.ModelType.TEXT)
        made = conversion.get_model_class(architecture, mmproj=False)
        conversion.TextModel.get_vocab_base_pre = lambda self, tokenizer: PRE[kind]
        if hasattr(made, "no_mtp"):
            made.no_mtp = not any(name.startswith("mtp.") for name in names_of(folder))
        made(folder, types[outtype], Path(out), model_name=folder.name).write()


def names_of(folder):
    for file in sorted(Path(folder).glob("*.safetensors")):
        with safe_open(file, "pt") as f:
            yield from f.keys()


def loaded(folder):
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()


def changed(folder, change):
    """The model of a folder that is thrown away, with another text configuration."""
    path = os.path.join(folder, "config.json")
    with open(path) as f:
        config = json.load(f)
    config.get("text_config", config).update(change)
    with open(path, "w") as f:
        json.dump(config, f)
    return loaded(folder)


def write_logits(model, prompts, path):
    np.concatenate([reference(model, p["ids"])[1].ravel() for p in prompts]).astype("<f4").tofile(path)


def dequantized(folder, path, gguf):
    """The model with a GGUF's weights, where the converter only renames tensors."""
    theirs = dict(
        attn_norm="input_layernorm", ffn_norm="post_attention_layernorm", attn_q="self_attn.q_proj", attn_k="self_attn.k_proj",
        attn_v="self_attn.v_proj", attn_output="self_attn.o_proj", ffn_gate="mlp.gate_proj", ffn_up="mlp.up_proj",
        ffn_down="mlp.down_proj", token_embd="embed_tokens", output_norm="norm",
    )
    model = loaded(folder)
    own = model.state_dict()
    for tensor in gguf.GGUFReader(path).tensors:
        *layer, name, end = tensor.name.split(".")
        name = ".".join(["model"] + (["layers", layer[1]] if layer else []) + [theirs[name], end])
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        own[name].copy_(torch.from_numpy(np.array(values, dtype=np.float32)).view(own[name].shape))
    return model


def main():
    llama_cpp, out = os.path.abspath(sys.argv[1]), sys.argv[2]
    sys.path[:0] = [os.path.join(llama_cpp, "gguf-py"), llama_cpp]
    import conversion
    import gguf

    index = os.path.join(out, "families.json")
    with open(index) as f:
        entries = json.load(f)["models"]
    with open(os.path.join(out, "tokenizers.json")) as f:
        tokenizers = json.load(f)["of"]
    for entry in entries:
        name, kind = entry["folder"], OF_MODEL[entry["folder"]]
        folder = os.path.join(out, name)
        entry["gguf"] = []
        with tempfile.TemporaryDirectory() as place:
            copy = os.path.join(place, name)
            shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("*.gguf", "*.f32"))
            if kind in SENTENCEPIECE:
                write_sentencepiece(copy, SENTENCEPIECE[kind])
            for outtype in TYPES.get(name, ["bf16"]):
                file = f"{name}.{outtype}.gguf"
                convert(copy, os.path.join(folder, file), outtype, kind, conversion, gguf)
                row = dict(file=file, logits="logits.f32", tokenizer="llama2" if name == "mistral" else tokenizers[name])
                if name in UNSAID:
                    row["logits"] = "logits.gguf.f32"
                    model = changed(copy, UNSAID[name])
                    write_logits(model, entry["prompts"], os.path.join(folder, row["logits"]))
                if outtype == "q8_0":
                    row["logits"] = "logits.q8_0.f32"
                    model = dequantized(folder, os.path.join(folder, file), gguf)
                    write_logits(model, entry["prompts"], os.path.join(folder, row["logits"]))
                entry["gguf"].append(row)
    lines = ",\n".join(map(json.dumps, entries))
    with open(index, "w") as f:
        f.write('{"models": [\n' + lines + "\n]}\n")


if __name__ == "__main__":
    main()
