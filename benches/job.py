"""The engine beside its peers, in one run: the same prompts, weights, numbers of tokens and threads.

usage: job.py SAGO [--page docs/benchmarks.md] [--quick]
Measures sago (f32 and int8), the published pipeline's way on transformers (batch 1), transformers batched, and llama.cpp's batched
decoding (generation alone); checks that they did the same work; writes the raw numbers beside the page and the figures into it. A peer
that is not installed is left out and said so. --quick does a tiny job, to try the script itself. Exit code 1 where engines disagree.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import machine
import ours
import page
import process
import random_model
import work

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
CACHE = os.environ.get("SAGO_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "sago")
GGUF = pathlib.Path(CACHE) / "models/smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf"
FULL = {"new": 64, "variants": 82, "fewer": 24, "published": 6, "tried": 16, "runs": 3, "sweep": [1, 3, 9, 27, 82], "prompts": [1, 2, 4, 8], "per_prompt": 12}
# Seconds under which a run is repeated.
SHORT = 20
QUICK = {"new": 6, "variants": 6, "fewer": 3, "published": 2, "tried": 3, "runs": 1, "sweep": [1, 3], "prompts": [1, 2], "per_prompt": 3}


class Bench:
    def __init__(self, sago, folder, settings, results):
        self.sago, self.folder, self.settings, self.results = sago, folder, settings, results
        self.start = time.perf_counter()
        self.knows_dtype = ours.knows_dtype(sago)

    def say(self, what):
        print(f"bench: {time.perf_counter() - self.start:5.0f} s  {what}", file=sys.stderr, flush=True)

    def ours(self, dtype, prompts, variants, repeats=1, name="run"):
        # A program without the flag has one compute type: f32.
        flag = dtype if self.knows_dtype else None
        run = ours.run(self.sago, self.folder / name, work.make(prompts, variants), self.settings["new"], flag, repeats)
        wanted = prompts * (variants + 1) * repeats * self.settings["new"]
        if run["tokens"]["decoding"] != wanted:
            sys.exit(f"sago made {run['tokens']['decoding']} new tokens where {wanted} were asked for")
        return {**run, **ours.expected(run, *ours.DEMO, dtype)}

    def often(self, run):
        """Short runs are repeated."""
        first = run()
        return [first, *(run() for _ in range(self.settings["runs"] - 1 if first["seconds"] < SHORT else 0))]

    def all_of_ours(self, dtype):
        """Everything that is measured of sago in one compute type; or why it can't be."""
        s = self.settings
        if dtype != "f32" and not self.knows_dtype:
            return {"missing": "this sago has no `--dtype`"}
        try:
            self.say(f"sago, {dtype}: {s['variants']} variants")
            runs = self.often(lambda: self.ours(dtype, 1, s["variants"], name=dtype))
        except process.Failed as why:
            return {"missing": f"this sago does not run `--dtype {dtype}`: {why.first_line()}"}
        whole = median(runs)
        # The second and third repeat of a greedy job only generate: no response is forced, no hidden state kept.
        self.say(f"sago, {dtype}: generation alone")
        more = self.ours(dtype, 1, s["variants"], repeats=3)
        seconds = (more["seconds"] - whole["seconds"]) / 2
        generation = {"seconds": seconds, "tokens_per_second": (s["variants"] + 1) * s["new"] / seconds}
        self.say(f"sago, {dtype}: {s['fewer']} variants, then {s['sweep']} variants and {s['prompts']} prompts")
        fewer = median(self.often(lambda: self.ours(dtype, 1, s["fewer"])))
        sweep = [{"variants": n, **(whole if n == s["variants"] else median(self.often(lambda: self.ours(dtype, 1, n))))} for n in s["sweep"]]
        prompts = [{"prompts": n, **self.ours(dtype, n, s["per_prompt"])} for n in s["prompts"]]
        return {"whole": whole, "all": [run["seconds"] for run in runs], "generation": generation, "fewer": fewer, "sweep": sweep, "prompts": prompts}

    def python(self, script, *rest):
        done = process.run([sys.executable, HERE / script, GGUF, *rest])
        return {**json.loads(done["out"]), "peak_mib": done["peak_mib"], "anonymous_mib": done["anonymous_mib"]}

    def transformers(self, variants, batch, new, of=None):
        file = self.folder / f"work-{variants}.json"
        file.write_text(json.dumps(work.make(1, variants)))
        return self.python("peer_transformers.py", file, "--batch", batch, "--new", new, *(["--of", of] if of else []))

    def published(self):
        s = self.settings
        self.say(f"transformers, the published way, {s['published']} of the variants")
        return self.transformers(s["variants"], 1, s["new"], s["published"])

    def batched(self):
        """The best of several batch sizes, tried with few tokens."""
        s = self.settings
        sizes = sorted({math.ceil(s["variants"] / k) for k in (1, 2, 3, 6)})
        self.say(f"transformers, batched: trying {sizes}")
        tries = {size: self.transformers(s["variants"], size, s["tried"], size) for size in sizes}
        tries = [{"batch": size, "seconds_per_variant": t["variant_seconds"] / t["variants"]} for size, t in tries.items()]
        best = min(tries, key=lambda t: t["seconds_per_variant"])["batch"]
        self.say(f"transformers, batch {best}")
        whole = self.transformers(s["variants"], best, s["new"])
        fewer = self.transformers(s["fewer"], min(best, s["fewer"]), s["new"])
        return {"tries": tries, "whole": whole, "fewer": fewer}

    def llama(self, ids):
        try:
            import llama_cpp  # noqa: F401
        except ImportError:
            return {"missing": "llama-cpp-python is not installed"}
        s = self.settings
        (self.folder / "llama").mkdir()
        (self.folder / "ids.json").write_text(json.dumps(ids))
        self.say("llama.cpp: trying weight types, batch sizes and layouts of the cache")
        tried = self.python("peer_llama.py", self.folder / "ids.json", self.folder / "llama", "--try", s["tried"])
        best = tried["best"]
        self.say(f"llama.cpp: {best['type']}, batch {best['batch']}")
        whole = self.python("peer_llama.py", self.folder / "ids.json", self.folder / "llama", "--best", json.dumps(best), "--new", s["new"], "--runs", s["runs"])
        return {"tries": tried["tries"], "f32_responses": tried["f32_responses"], "whole": whole}


def median(runs):
    """The run of the median time, with the most memory of any."""
    chosen = sorted(runs, key=lambda run: run["seconds"])[(len(runs) - 1) // 2]
    return {**chosen, **{name: max(run[name] for run in runs) for name in ("peak_mib", "anonymous_mib")}}


def agreement(rows, published, batched, llama):
    """Whether the engines did the same: prompts, greedy tokens, scores. `rows` are ours in f32."""
    found = {}
    for name, peer in (("published", published), ("batched", batched["whole"])):
        pairs = [(rows[r["text"]], r) for r in peer["results"]]
        scored = [(a, b) for a, b in pairs if "cosine" in b]
        mean = lambda numbers: sum(numbers) / len(numbers)
        found[name] = {
            "prompts": len(pairs), "equal_prompts": sum(a["ids"] == b["ids"] for a, b in pairs), "equal_responses": sum(a["response"] == b["response"] for a, b in pairs),
            "forced_logprob": max(abs(sum(a["logprobs"]) - b["forced_logprob"]) for a, b in scored),
            "forced_entropy": max(abs(mean(a["entropies"]) - b["forced_entropy"]) for a, b in scored),
            "cosine": max(abs(a["cos"] - b["cosine"]) for a, b in scored),
        }
    if "missing" not in llama:
        ours, theirs = [row["response"] for row in rows.values()], llama["f32_responses"]
        found["llama"] = {"prompts": len(theirs), "equal_responses": sum(a[: len(b)] == b for a, b in zip(ours, theirs)), "tokens": len(theirs[0])}
    new = {len(row["response"]) for row in rows.values()} | {len(r["response"]) for r in published["results"] + batched["whole"]["results"]}
    new |= {len(r) for r in llama["whole"]["responses"]} if "missing" not in llama else set()
    found["new_tokens"] = sorted(new)
    p = found["published"]
    # Two roundings of f32 may choose differently where two tokens are as likely; most responses must be equal.
    sound = len(new) == 1 and p["equal_prompts"] == p["prompts"] and p["equal_responses"] * 10 >= p["prompts"] * 8
    return {**found, "sound": sound and p["cosine"] < 1e-4}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("sago", type=pathlib.Path)
    arguments.add_argument("--page", type=pathlib.Path, default=ROOT / "docs/benchmarks.md")
    arguments.add_argument("--quick", action="store_true")
    given = arguments.parse_args()
    settings = QUICK if given.quick else FULL
    raw = given.page.with_suffix(".json")
    results = {"settings": settings, "threads": process.THREADS, "machine": machine.describe(ROOT)}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(given.sago.resolve(), pathlib.Path(folder), settings, results)
        if results["machine"]["load"] > 0.5:
            bench.say(f"this machine is busy (load {results['machine']['load']}): the figures will be off")
        results["f32"] = bench.all_of_ours("f32")
        rows = ours.results(bench.sago, bench.folder / "f32")
        results["published"] = bench.published()
        results["batched"] = bench.batched()
        results["llama"] = bench.llama([row["ids"] for row in rows.values()])
        results["agreement"] = agreement(rows, results["published"], results["batched"], results["llama"])
        results["int8"] = bench.all_of_ours("int8")
        bench.say("a random model of 1.2 GB")
        results["random"] = random_model.measure(bench.sago, bench.folder, bench.knows_dtype, small=given.quick)
    results["seconds"] = time.perf_counter() - bench.start
    for peer in (results["published"], results["batched"]["whole"], results["batched"]["fewer"]):
        peer.pop("results")
    if "missing" not in results["llama"]:
        results["llama"].pop("f32_responses")
        results["llama"]["whole"].pop("responses")
    raw.write_text(json.dumps(results, indent=1) + "\n")
    figures = page.figures(results)
    page.write(given.page, figures)
    print(figures)
    if not results["agreement"]["sound"]:
        sys.exit("the engines did not do the same work; see the end of the page")


if __name__ == "__main__":
    main()
