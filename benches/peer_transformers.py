"""The job on transformers, f32, one JSON object on standard output.

usage: peer_transformers.py GGUF WORK.json --batch N [--new 64] [--of K]
Batch 1 is the published pipeline's way: per variant one generation, the baseline's response scored after the baseline and after
the variant, the hidden states of both prompts. Larger batches take the variants of a prompt together, shortest first so that
little is padded, and ask of the baseline only once a batch. --of K does K variants, spread evenly, of each prompt.
The clock starts when the model is loaded; end tokens are ignored.
"""
import argparse
import json
import os
import time

import torch
import torch.nn.functional as F
from transformers import AutoModelForCausalLM, AutoTokenizer

arguments = argparse.ArgumentParser()
arguments.add_argument("gguf")
arguments.add_argument("work")
arguments.add_argument("--batch", type=int, required=True)
arguments.add_argument("--new", type=int, default=64)
arguments.add_argument("--of", type=int)
given = arguments.parse_args()

torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
folder, file = os.path.split(os.path.abspath(given.gguf))
tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=file, padding_side="left")
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, dtype=torch.float32).eval()
# Without one, generation never stops early, and bars no token either.
model.generation_config.eos_token_id = None
seconds = {"generation": 0.0, "forced": 0.0, "hidden": 0.0}


def encode(texts):
    chats = [tokenizer.apply_chat_template([{"role": "user", "content": t}], add_generation_prompt=True, tokenize=False) for t in texts]
    return tokenizer(chats, return_tensors="pt", padding=True, add_special_tokens=False)


def timed(kind, work, *inputs):
    start = time.perf_counter()
    made = work(*inputs)
    seconds[kind] += time.perf_counter() - start
    return made


def generate(texts):
    x = encode(texts)
    return model.generate(**x, max_new_tokens=given.new, do_sample=False, pad_token_id=tokenizer.pad_token_id)[:, x.input_ids.shape[1]:]


def forced(texts, response):
    x, n = encode(texts), len(response)
    ids = torch.cat([x.input_ids, response.expand(len(texts), n)], 1)
    mask = torch.cat([x.attention_mask, torch.ones(len(texts), n, dtype=torch.long)], 1)
    logprobs = F.log_softmax(model(input_ids=ids, attention_mask=mask).logits[:, -n - 1 : -1], -1)
    return logprobs.gather(2, response.expand(len(texts), n)[..., None]).sum((1, 2)), -(logprobs.exp() * logprobs).sum(-1).mean(1)


def hidden(texts):
    return [h[:, -1] for h in model(**encode(texts), output_hidden_states=True).hidden_states]


def spread(texts):
    k = min(given.of or len(texts), len(texts))
    return [texts[i * len(texts) // k] for i in range(k)]


results, baseline_seconds, variant_seconds = [], 0.0, 0.0
with torch.no_grad():
    for prompt in json.load(open(given.work)):
        start = time.perf_counter()
        response = timed("generation", generate, [prompt["prompt"]])[0]
        baseline_seconds += time.perf_counter() - start
        results.append({"text": prompt["prompt"], "response": response.tolist(), "ids": encode([prompt["prompt"]]).input_ids[0].tolist()})
        texts = spread(prompt["variants"])
        if given.batch > 1:
            texts.sort(key=lambda text: encode([text]).input_ids.shape[1])
        start = time.perf_counter()
        for i in range(0, len(texts), given.batch):
            some = texts[i : i + given.batch]
            responses = timed("generation", generate, some)
            timed("forced", forced, [prompt["prompt"]], response)
            logprobs, entropies = timed("forced", forced, some, response)
            base, states = timed("hidden", hidden, [prompt["prompt"]]), timed("hidden", hidden, some)
            cosines = torch.stack([F.cosine_similarity(a, b, dim=1) for a, b in zip(base, states)]).mean(0)
            for row, text in enumerate(some):
                results.append({"text": text, "response": responses[row].tolist(), "ids": encode([text]).input_ids[0].tolist(),
                                "forced_logprob": logprobs[row].item(), "forced_entropy": entropies[row].item(), "cosine": cosines[row].item()})
        variant_seconds += time.perf_counter() - start
variants = sum("cosine" in r for r in results)
print(json.dumps({"batch": given.batch, "variants": variants, "new": given.new, "baseline_seconds": baseline_seconds, "variant_seconds": variant_seconds,
                  "generated": sum(len(r["response"]) for r in results), "split": seconds, "results": results}))
