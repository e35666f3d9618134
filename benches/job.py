"""One complete job, timed with sago and with transformers on the same prompts, weights and machine.

usage: job.py SAGO
The job: 24 wordings of one prompt, up to 64 new tokens each (both stop at the end token); the baseline's response scored
after every wording; the hidden state of the last prompt token at all layers. Models load outside the clock.
"""
import csv
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import time

import torch
import torch.nn.functional as F
from transformers import AutoModelForCausalLM, AutoTokenizer

SAGO = sys.argv[1]
NEW = 64
CACHE = os.environ.get("SAGO_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "sago")
GGUF = pathlib.Path(CACHE) / "models/smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf"
PROMPT = "Explain in a few sentences how a lighthouse helps ships at night."
WORDINGS = [PROMPT + "!" * k for k in range(1, 7)] + [" " * k + PROMPT for k in range(1, 7)] + \
           [PROMPT[: 5 * k].upper() + PROMPT[5 * k :] for k in range(1, 7)] + \
           ["Please. " * k + PROMPT for k in range(1, 6)]


def ours(folder):
    """Runs the job as own paraphrases; returns seconds (loading left out), peak MiB and sago's own split."""
    (folder / "p.csv").write_text(f"id,q\n0,{PROMPT}\n")
    with open(folder / "own.csv", "w", newline="") as f:
        rows = csv.writer(f)
        rows.writerow(["prompt_id", "text"])
        rows.writerows(["0", w] for w in WORDINGS)
    (folder / "s.toml").write_text(
        f'prompts = 1\n[generation]\nmax_new_tokens = {NEW}\n[variants]\nbuilt_in = false\nparaphrases = "own.csv"\n'
        '[measure]\nencoder = "none"\n[[model]]\npath = "demo"\n[[dataset]]\nname = "job"\npath = "p.csv"\nprompt = "q"\nid = "id"\n')
    out = subprocess.run([SAGO, "run", folder / "s.toml", "--out", folder / "run"], check=True, capture_output=True, text=True).stderr
    number = lambda pattern: float(re.search(pattern, out).group(1))
    return number(r"time ([\d.]+) s") - number(r"loading +([\d.]+) s"), number(r"peak memory (\d+) MiB"), out


def peer(batch):
    """The published pipeline's steps; batch 1 as published, larger batches with left padding."""
    tokenizer = AutoTokenizer.from_pretrained(GGUF.parent, gguf_file=GGUF.name, padding_side="left")
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    model = AutoModelForCausalLM.from_pretrained(GGUF.parent, gguf_file=GGUF.name, dtype=torch.float32).eval()

    def encode(texts):
        chats = [tokenizer.apply_chat_template([{"role": "user", "content": t}], add_generation_prompt=True, tokenize=False) for t in texts]
        return tokenizer(chats, return_tensors="pt", padding=True, add_special_tokens=False)

    def generate(texts):
        x = encode(texts)
        return model.generate(**x, max_new_tokens=NEW, do_sample=False, pad_token_id=tokenizer.pad_token_id)[:, x.input_ids.shape[1]:]

    def forced(texts, target):
        x, n = encode(texts), len(target)
        ids = torch.cat([x.input_ids, target.expand(len(texts), n)], 1)
        mask = torch.cat([x.attention_mask, torch.ones(len(texts), n, dtype=torch.long)], 1)
        logprobs = F.log_softmax(model(input_ids=ids, attention_mask=mask).logits[:, -n - 1 : -1], -1)
        logprobs.gather(2, target.expand(len(texts), n)[..., None]).sum()
        (logprobs.exp() * logprobs).sum(-1).mean(1)

    def hidden(texts):
        return [h[:, -1] for h in model(**encode(texts), output_hidden_states=True).hidden_states]

    with torch.no_grad():
        start = time.perf_counter()
        target = generate([PROMPT])[0]
        for i in range(0, len(WORDINGS), batch):
            texts = WORDINGS[i : i + batch]
            generate(texts)
            for group in ([PROMPT] * (len(texts) if batch == 1 else 1), texts):
                forced(group, target)
                hidden(group)
        return time.perf_counter() - start


with tempfile.TemporaryDirectory() as folder:
    seconds, mib, split = ours(pathlib.Path(folder))
n = len(WORDINGS) + 1
rows = [("sago, f32", seconds)] + [(f"transformers, f32, batch {b}", peer(b)) for b in (1, 8, 24)]
cpu = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), platform.machine())
print(f"machine: {cpu}, {os.cpu_count()} cores; SmolLM2-135M, {n} wordings of one prompt, up to {NEW} new tokens\n")
for name, s in rows:
    print(f"{name:30}{s:8.1f} s{s / n:8.3f} s a wording{s / seconds:8.2f} x sago")
print(f"\nsago's peak memory {mib:.0f} MiB; its own split:\n{split}")
print(json.dumps({"wordings": n, "new_tokens": NEW, "seconds": dict(rows), "sago_peak_mib": mib}))
