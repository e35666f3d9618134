"""The figures of the engine's bench as Markdown, put between the markers of a page.

usage: page.py RESULTS.json PAGE.md
"""
import json
import pathlib
import sys

BEGIN = "<!-- figures: written by `make bench`, not by hand -->"
END = "<!-- end of figures -->"


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def mib(run):
    return [f"{run['peak_mib']:,}", f"{run['anonymous_mib']:,}"]


def times(a, b):
    return f"{a / b:.1f} x"


def variants_of(results, key):
    """Seconds a variant by engine, at the full number of variants (`whole`) or at the smaller one (`fewer`)."""
    s, p, b = results["settings"], results["published"], results["batched"]
    count = s["variants"] if key == "whole" else s["fewer"]
    # Of the published way some variants are measured; the baseline's generation is spread over all.
    seconds = {"published": p["variant_seconds"] / p["variants"] + p["baseline_seconds"] / count}
    seconds["batched"] = (b[key]["variant_seconds"] + b[key]["baseline_seconds"]) / b[key]["variants"]
    for dtype in ("f32", "int8"):
        if "missing" not in results[dtype]:
            seconds[dtype] = results[dtype][key]["seconds"] / count
    return seconds


def job(results):
    s = results["settings"]
    parts = []
    for key, count in (("whole", s["variants"]), ("fewer", s["fewer"])):
        seconds, rows = variants_of(results, key), []
        runs = {"published": ("transformers, f32, batch 1: the published way", results["published"]),
                "batched": (f"transformers, f32, batch {results['batched'][key]['batch']}", results["batched"][key]),
                "f32": ("sago, f32", results["f32"].get(key)), "int8": ("sago, int8", results["int8"].get(key))}
        for name, (what, run) in runs.items():
            if name in seconds:
                ratios = [times(seconds[peer], seconds[name]) if name in ("f32", "int8") else "" for peer in ("published", "batched")]
                rows.append([what, f"{seconds[name]:.3f}", f"{seconds[name] * count:.1f}", *ratios, *(mib(run) if key == "whole" or name not in ("published",) else ["", ""])])
            else:
                rows.append([what, f"not measured: {results[name]['missing']}", "", "", "", "", ""])
        parts.append(f"{count} variants of one prompt, {s['new']} new tokens each:\n\n" + table(
            ["", "seconds a variant", "seconds in all", "against the published way", "against transformers batched", "peak MiB", "of it anonymous"], rows))
    tries = ", ".join(f"{t['batch']}: {t['seconds_per_variant']:.3f}" for t in results["batched"]["tries"])
    note = (f"The published way is measured on {results['published']['variants']} of the {s['variants']} variants, spread evenly, and its seconds in all are those of a variant "
            f"times their number. Batch sizes of transformers tried with {s['tried']} new tokens, seconds a variant: {tries}.\n")
    return "\n".join([*parts, note])


def generation(results):
    s, llama, rows = results["settings"], results["llama"], []
    count = s["variants"] + 1
    if "missing" in llama:
        rows.append(["llama.cpp", f"not measured: {llama['missing']}", ""])
        theirs = None
    else:
        whole = llama["whole"]
        theirs, share = whole["tokens_per_second"], 100 * whole["choosing_seconds"] / whole["seconds"]
        rows.append([f"llama.cpp, {whole['type']}, batch {whole['batch']}", f"{theirs:.0f}", ""])
        without = count * s["new"] / (whole["seconds"] - whole["choosing_seconds"])
    batched = results["batched"]["whole"]
    rows.append([f"transformers, f32, batch {batched['batch']}", f"{batched['generated'] / batched['split']['generation']:.0f}", ""])
    for dtype in ("f32", "int8"):
        ours = results[dtype]
        if "missing" in ours:
            rows.append([f"sago, {dtype}", f"not measured: {ours['missing']}", ""])
        else:
            rate = ours["generation"]["tokens_per_second"]
            rows.append([f"sago, {dtype}, with log-probabilities and entropies", f"{rate:.0f}", times(rate, theirs) if theirs else ""])
    text = table([f"{count} prompts, {s['new']} new tokens each", "tokens a second, prompts included", "against llama.cpp"], rows)
    if theirs:
        best = {}
        for t in llama["tries"]:
            if t["tokens_per_second"] > best.get(t["type"], {"tokens_per_second": 0})["tokens_per_second"]:
                best[t["type"]] = t
        tried = ", ".join(f"{kind} {t['tokens_per_second']:.0f} (batch {t['batch']})" for kind, t in sorted(best.items(), key=lambda kv: -kv[1]["tokens_per_second"]))
        text += (f"\nChoosing tokens takes {share:.0f} % of llama.cpp's time; without it, it would make {without:.0f} tokens a second. Tried with {s['tried']} new tokens, "
                 f"tokens a second: {tried}. Cache layout: {'one buffer for all sequences' if whole['unified'] else 'a stream a sequence'}, "
                 f"flash attention {'on' if whole['flash'] else 'off'} (the fastest of four).\n")
    return text


def split(results):
    kinds = ["prefill", "decoding", "teacher forcing", "variants' check", "writing", "everything else"]
    rows = []
    for dtype in ("f32", "int8"):
        if "missing" in results[dtype]:
            continue
        run = results[dtype]["whole"]
        known = run["split"]
        for kind in kinds:
            tokens = run["tokens"].get(kind)
            rate = f"{tokens / known[kind]:,.0f}" if tokens and known[kind] else ""
            rows.append([f"{dtype}: {kind}", f"{known[kind]:.2f}", f"{100 * known[kind] / run['seconds']:.0f} %", f"{tokens:,}" if tokens else "", rate])
    return table(["", "seconds", "share", "tokens", "tokens a second"], rows)


def growth(results):
    s, parts = results["settings"], []
    measured = [dtype for dtype in ("f32", "int8") if "missing" not in results[dtype]]
    heads = [f"{dtype}: {what}" for dtype in measured for what in ("seconds", "a variant", "a wording")]
    rows = []
    for i, n in enumerate(s["sweep"]):
        seconds = [results[dtype]["sweep"][i]["seconds"] for dtype in measured]
        rows.append([n, *(cell for x in seconds for cell in (f"{x:.2f}", f"{x / n:.3f}", f"{x / (n + 1):.3f}"))])
    parts.append(f"One prompt, more variants (a wording is a variant or the baseline):\n\n" + table(["variants", *heads], rows))
    heads = [f"{dtype}: {what}" for dtype in measured for what in ("seconds", "a prompt")]
    rows = []
    for i, n in enumerate(s["prompts"]):
        seconds = [results[dtype]["prompts"][i]["seconds"] for dtype in measured]
        rows.append([n, *(cell for x in seconds for cell in (f"{x:.2f}", f"{x / n:.2f}"))])
    parts.append(f"More prompts, {s['per_prompt']} variants each:\n\n" + table(["prompts", *heads], rows))
    return "\n".join(parts)


HELD = ["peak MiB", "of it anonymous", "weights in the compute type", "cache at most", "beyond these"]


def held(run):
    beyond = run["anonymous_mib"] - run["weights_mib"] - run["cache_mib"]
    return [*mib(run), f"{run['weights_mib']:,.0f}", f"{run['cache_mib']:,.0f}", f"{max(0, beyond):,.0f}"]


def memory(results):
    s, rows = results["settings"], []
    for dtype in ("f32", "int8"):
        if "missing" not in results[dtype]:
            rows += [[f"{dtype}, {n} variants", *held(results[dtype][key])] for key, n in (("whole", s["variants"]), ("fewer", s["fewer"]))]
    return table(["sago, the demo model", *HELD], rows)


def random(results):
    rows = []
    for r in results["random"]:
        what = [r["stored"], f"{r['bytes'] / 1e9:.2f}", r["compute"]]
        if "missing" in r:
            rows.append([*what, f"not measured: {r['missing']}", "", "", "", "", ""])
        else:
            rows.append([*what, f"{r['split']['loading']:.2f}", *held(r)])
    return table(["stored", "GB on disk", "compute type", "loading, s", *HELD], rows)


def same(results):
    a, lines = results["agreement"], []
    for name, what in (("published", "batch 1"), ("batched", "batched")):
        p = a[name]
        lines.append(f"- transformers, {what}, and sago in f32: {p['equal_prompts']} of {p['prompts']} prompts have the same token ids, {p['equal_responses']} of {p['prompts']} "
                     f"responses are equal in all tokens. Largest differences: log-probability of the baseline's response {p['forced_logprob']:.1e} nats, its mean entropy "
                     f"{p['forced_entropy']:.1e}, cosine of the hidden states {p['cosine']:.1e}.")
    if "llama" in a:
        lines.append(f"- llama.cpp with F32 weights and sago in f32: {a['llama']['equal_responses']} of {a['llama']['prompts']} responses are equal in their first {a['llama']['tokens']} tokens "
                     "(llama.cpp keeps its cache in f16).")
    lines.append(f"- New tokens of every response, every engine: {', '.join(map(str, a['new_tokens']))}.")
    return "\n".join(lines) + "\n"


def machine(results):
    m = results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in m["versions"].items() if version)
    lines = [f"- {m['cpu']} ({m['family']}), {m['cores']} cores, {m['memory_gib']:.0f} GiB, {m['kernel']}; {', '.join(m['flags'])}",
             f"- {results['threads']} threads for every engine; one process at a time; load before the start {m['load']:.2f}",
             f"- sago {m['sago']}, {m['rustc']}; Python {m['python']}, {versions}"]
    if "missing" not in results["llama"]:
        lines.append(f"- llama.cpp as llama-cpp-python has it, compiled here: {' '.join(results['llama']['whole']['system'].split())}")
    lines.append(f"- the whole bench took {results['seconds'] / 60:.0f} minutes")
    return "\n".join(lines) + "\n"


def figures(results):
    sections = [("The job", job), ("Generation alone", generation), ("Where sago's time goes", split), ("More variants, more prompts", growth), ("Memory", memory),
                ("A model of 1.2 GB", random), ("The same work", same), ("The machine", machine)]
    return "\n".join(f"## {title}\n\n{make(results)}" for title, make in sections)


def write(path, text):
    """Puts the figures between the page's markers; a page that is not there is made of them alone."""
    whole = path.read_text() if path.exists() else f"{BEGIN}\n{END}\n"
    before, rest = whole.split(BEGIN)
    path.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[2]), figures(json.loads(pathlib.Path(sys.argv[1]).read_text())))
