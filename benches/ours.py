"""The job with sago: the same prompts and variants as own paraphrases, end tokens ignored."""
import csv
import io
import json
import re
import shutil
import subprocess

import process


# Bytes of a weight; of int8 the scales come on top.
BYTES = {"f32": 4, "bf16": 2, "f16": 2, "int8": 1}
# Weights of the demo model, and bytes of a position in its cache: keys and values of 3 heads of 64 in 30 layers, f32.
DEMO = 134_515_008, 2 * 30 * 3 * 64 * 4


def expected(run, parameters, cache_bytes, dtype):
    """MiB of the weights in the compute type, and of the cache if every token that was asked for had a position of its own at once."""
    return {"weights_mib": parameters * BYTES[dtype] / 2**20, "cache_mib": cache_bytes * sum(run["tokens"].values()) / 2**20}


def knows_dtype(sago):
    return "--dtype" in subprocess.run([sago, "run", "--help"], check=True, capture_output=True, text=True).stdout


def study(folder, work, new, repeats, model):
    """Writes the study of `work` to `folder`."""
    with open(folder / "prompts.csv", "w", newline="") as file:
        csv.writer(file).writerows([["id", "prompt"], *([i, w["prompt"]] for i, w in enumerate(work))])
    with open(folder / "variants.csv", "w", newline="") as file:
        csv.writer(file).writerows([["prompt_id", "text"], *([i, v] for i, w in enumerate(work) for v in w["variants"])])
    (folder / "study.toml").write_text(f"""prompts = {len(work)}
[generation]
max_new_tokens = {new}
ignore_end = true
repeats = {repeats}
[variants]
built_in = false
paraphrases = "variants.csv"
[measure]
encoder = "none"
[[model]]
path = "{model}"
[[dataset]]
name = "bench"
path = "prompts.csv"
prompt = "prompt"
id = "id"
""")
    return folder / "study.toml"


def run(sago, folder, work, new, dtype=None, repeats=1, model="demo"):
    """One run. Seconds are from the first prompt to the last table written: loading, which no engine's clock has, is taken off."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    command = [sago, "run", study(folder, work, new, repeats, model), "--out", folder / "run"]
    # Memory and time of the job end with the line that gives them; what follows is the analysis.
    done = process.run(command + (["--dtype", dtype] if dtype else []), until=r"^time [\d.]+ s:")
    number = lambda pattern: float(re.search(pattern, done["err"], re.M).group(1))
    split = {what: number(rf"^  {what} +([\d.]+) s") for what in ("loading", "prefill", "decoding", "teacher forcing", "variants' check", "writing", "everything else")}
    tokens = {what: int(number(rf"^  {what} +[\d.]+ s +(\d+) tokens")) for what in ("prefill", "decoding", "teacher forcing")}
    return {"seconds": number(r"^time ([\d.]+) s") - split["loading"], "split": split, "tokens": tokens, "process_seconds": done["seconds"],
            "peak_mib": done["peak_mib"], "anonymous_mib": done["anonymous_mib"]}


def results(sago, folder):
    """What a run holds of each text of its first prompt: token ids, scores of the baseline's response, cosine of the hidden states."""
    query = """select v.text, v.is_baseline, g.prompt_token_ids as ids, g.response_token_ids as response, f.logprobs, f.entropies, d.cos
from variants as v
join generations as g on g.prompt_id = v.prompt_id and g.variant_id = v.variant_id
left join forced as f on f.prompt_id = v.prompt_id and f.variant_id = v.variant_id
left join (select prompt_id, variant_id, value as cos from deltas where axis = 'cos') as d on d.prompt_id = v.prompt_id and d.variant_id = v.variant_id
where v.prompt_id = '0' and g.repeat = 0
order by v.variant_id"""
    out = subprocess.run([sago, "sql", folder / "run", "-c", query, "--format", "ndjson"], check=True, capture_output=True, text=True).stdout
    rows = [json.loads(line) for line in io.StringIO(out)]
    return {row["text"]: row for row in rows}
