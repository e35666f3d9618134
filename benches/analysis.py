"""SGS and t over synthetic deltas: sago, DuckDB running the same SQL, and pandas doing the study's steps.

usage: analysis.py SAGO [--rows 1e6,1e7,1e8] [--memory-limit 2GiB] [--keep DIR]
Every engine runs in a process of its own, reads the same Parquet files and writes the same two results (SGS by model
and axis; t of every model, data set and axis), which are compared: where they differ it exits with 1. Seconds are wall time with start and reading; memory
is the process's peak resident set. Also a whole analysis, resampling included, of a run of the study's size.
"""
import argparse
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from same import same

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS, DATASETS = [f"model-{i:02}" for i in range(11)], ["alpaca", "hotpotqa", "natural_questions", "simpleqa", "triviaqa", "truthfulqa"]
AXES = ["cos", "bleu", "bert", "prob", "ent", "mirror"]
GRID = [(s, p, k) for s, ks in (("politeness", [-10, -8, -6, -4, -2, 2, 4, 6, 8, 10]), ("spacing", [1, 5, 20, 50, 100]),
        ("punctuation", [1, 3, 5, 10, 20]), ("casing", [10, 25, 50, 75, 100])) for p in ("prefix", "suffix", "global") for k in ks]
GRID += [("length", "global", k) for k in (0.25, 0.5, 1.5, 2.0, 3.0)] + [("form", "global", "imperative")]
FAMILY = {"politeness": "social_register", "length": "structural_rewriting", "form": "structural_rewriting"}
WORDINGS = ["baseline"] + [f"{s}/{p}/{k:g}" if s != "form" else f"{s}/{p}/{k}" for s, p, k in GRID]
ROWS_A_PROMPT = len(MODELS) * len(DATASETS) * len(WORDINGS) * len(AXES)
# s under the study's divisors, as sql/stability/instability.sql has it for all normalizations at once.
INSTABILITY = """with s_of_prompts as (
    select d.model, d.dataset, d.prompt_id, d.axis, sqrt(avg(d.delta / a.r_fixed * (d.delta / a.r_fixed))) as s
    from axes as a
    inner join (
        select x.* from measured_variants as v
        inner join deltas as x on v.dataset = x.dataset and v.prompt_id = x.prompt_id and v.variant_id = x.variant_id
        where x.repeat = 0
    ) as d on d.axis = a.axis
    group by d.model, d.dataset, d.prompt_id, d.axis
)
"""
SGS = INSTABILITY + "select model, axis, avg(s) as sgs, count(*) as n_prompts from s_of_prompts group by model, axis order by model, axis"
# The statistic alone: a p-value needs functions that other engines lack.
T = INSTABILITY + """select model, dataset, axis, (avg(s) - 0.05) / (stddev_samp(s) / sqrt(count(s))) as t, count(s) as n
from s_of_prompts group by model, dataset, axis order by model, dataset, axis"""


def names(values, times, tiles):
    """A dictionary column: every value `times` times, the whole `tiles` times."""
    codes = np.tile(np.repeat(np.arange(len(values), dtype=np.int32), times), tiles)
    return pa.DictionaryArray.from_arrays(codes, pa.array(values))


def make_run(folder, prompts):
    """A run that knows deltas only, as an import makes it; numbers from a fixed seed."""
    (folder / "given").mkdir(parents=True)
    (folder / "plan.json").write_text("{}")
    n = len(MODELS)
    pq.write_table(pa.table({"model": MODELS, "family": ["synthetic"] * n, "parameters": [10**9 * (i + 1) for i in range(n)],
                             "vocabulary": pa.array([32000] * n, pa.int32()), "backend": ["synthetic"] * n}), folder / "models.parquet")
    ids = [f"{i:06}" for i in range(prompts)]
    w, total = len(WORDINGS), len(DATASETS) * prompts * len(WORDINGS)
    of_wording = lambda values, kind: pa.array(list(values) * (total // w), kind)
    grid = [("baseline", None, None)] + GRID
    number = lambda k: float(k) if isinstance(k, (int, float)) else None
    pq.write_table(pa.table({
        "dataset": names(DATASETS, prompts * w, 1), "prompt_id": names(ids, w, len(DATASETS)), "variant_id": names(WORDINGS, 1, total // w),
        "family": of_wording(["baseline"] + [FAMILY.get(s, "surface_noise") for s, _, _ in GRID], pa.string()),
        "subtype": of_wording([s for s, _, _ in grid], pa.string()), "place": of_wording([p for _, p, _ in grid], pa.string()),
        "strength": of_wording([number(k) for _, _, k in grid], pa.float64()),
        "level": of_wording([None] + [v.rsplit("/", 1)[1] for v in WORDINGS[1:]], pa.string()),
        "is_baseline": of_wording([True] + [False] * (w - 1), pa.bool_()), "baseline_id": of_wording(["baseline"] * w, pa.string()),
        "seed": of_wording([0] * w, pa.int64()), "text": of_wording([""] * w, pa.string()), "is_valid": of_wording([True] * w, pa.bool_()),
    }), folder / "variants.parquet", store_schema=False)
    draw = np.random.default_rng(20260101)
    scale = {"cos": 0.05, "bleu": 0.5, "bert": 0.1, "prob": 20.0, "ent": 0.5, "mirror": 1.0}
    writer, block = None, w * len(AXES)
    for model in MODELS:
        for dataset in DATASETS:
            for first in range(0, prompts, 2000):
                some = ids[first : first + 2000]
                rows = len(some) * block
                per_axis = np.array([scale[a] for a in AXES])
                frail = draw.lognormal(-0.5, 0.6, (len(some), 1, 1))
                delta = -per_axis * np.minimum(frail * draw.beta(0.6, 2.0, (len(some), w, len(AXES))), 1.0)
                delta[:, :, 5] = (delta[:, :, 5] < -0.5).astype(float)
                delta[:, 0, :] = 0.0
                table = pa.table({"model": names([model], rows, 1), "dataset": names([dataset], rows, 1), "prompt_id": names(some, block, 1),
                                  "variant_id": names(WORDINGS, len(AXES), len(some)), "repeat": pa.array(np.zeros(rows, np.int32)),
                                  "axis": names(AXES, 1, rows // len(AXES)), "value": pa.nulls(rows, pa.float64()), "delta": delta.reshape(-1)})
                writer = writer or pq.ParquetWriter(folder / "given/deltas.parquet", table.schema, compression="zstd", store_schema=False)
                writer.write_table(table)
    writer.close()


def timed(command):
    """Output, seconds and peak MiB of a process; None where it failed."""
    start = time.perf_counter()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, stdout=out, stderr=err)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        out.seek(0), err.seek(0)
        if status:
            print(f"  failed ({status}): {' '.join(map(str, command[:3]))}: {err.read().decode()[-300:]}", file=sys.stderr)
            return None
        return out.read().decode(), seconds, used.ru_maxrss / 1024


def with_duckdb(run, limit):
    import duckdb
    db = duckdb.connect(config={"threads": os.cpu_count(), **({"memory_limit": limit} if limit else {})})
    db.sql(f"create view deltas as select * from '{run}/given/deltas.parquet'")
    for name in ("models", "variants"):
        db.sql(f"create view {name} as select * from '{run}/{name}.parquet'")
    for model in ("constants/axes", "staging/measured_variants"):
        db.sql(f"create view {model.split('/')[1]} as {(ROOT / 'sql' / f'{model}.sql').read_text()}")
    return "\n".join(db.sql(q).df().to_csv(index=False) for q in (SGS, T))


def with_pandas(run):
    """The study's steps: divide, square, mean over wordings, root, mean over prompts; one scipy test a cell."""
    import pandas as pd
    from scipy import stats
    deltas = pd.read_parquet(f"{run}/given/deltas.parquet")
    deltas = deltas[deltas.variant_id != "baseline"]
    r = {"cos": 2.0, "bleu": 1.0, "bert": 1.0, "prob": 250.0, "ent": 10.0, "mirror": 1.0}
    deltas["squared"] = (deltas.delta / deltas.axis.map(r).astype(float)) ** 2
    s = deltas.groupby(["model", "dataset", "prompt_id", "axis"], observed=True).squared.mean().pow(0.5).rename("s").reset_index()
    sgs = s.groupby(["model", "axis"], observed=True).s.agg(sgs="mean", n_prompts="count").reset_index().astype({"model": str, "axis": str})
    cells = s.groupby(["model", "dataset", "axis"], observed=True).s
    t = cells.agg(t=lambda x: stats.ttest_1samp(x, 0.05, alternative="greater").statistic, n="count").reset_index().astype({"model": str, "dataset": str, "axis": str})
    return "\n".join([sgs.sort_values(["model", "axis"]).to_csv(index=False), t.sort_values(["model", "dataset", "axis"]).to_csv(index=False)])


def compare(sago, folder, rows, limit):
    prompts = max(1, round(rows / ROWS_A_PROMPT))
    run = folder / f"rows-{rows:.0e}"
    print(f"making {prompts * ROWS_A_PROMPT:,} rows ...", file=sys.stderr)
    make_run(run, prompts)
    query = folder / "query.sql"
    query.write_text(f"{SGS};\n{T};\n")
    ask = [sago, "sql", run, "-f", query, "--format", "csv"]
    me = [sys.executable, __file__, sago, "--only"]
    results = {"sago": timed(ask), f"sago, {limit}": timed([*ask, "--memory-limit", limit]), "DuckDB": timed([*me, "duckdb", "--run", run]),
               f"DuckDB, {limit}": timed([*me, "duckdb", "--run", run, "--memory-limit", limit])}
    if rows <= 2e7:
        results["pandas, the study's steps"] = timed([*me, "pandas", "--run", run])
    print(f"\n{prompts * ROWS_A_PROMPT:,} deltas ({(run / 'given/deltas.parquet').stat().st_size / 2**20:.0f} MiB of Parquet)")
    ours, differ = results["sago"], False
    for name, result in results.items():
        if result is None:
            print(f"  {name:28} failed")
            continue
        text, seconds, mib = result
        agrees = "" if ours is None or same(text, ours[0]) else "   RESULTS DIFFER"
        differ |= agrees != ""
        print(f"  {name:28}{seconds:8.2f} s{mib:8.0f} MiB{seconds / ours[1] if ours else float('nan'):8.2f} x sago{agrees}")
    shutil.rmtree(run)
    return {name: result and {"seconds": result[1], "peak_mib": result[2]} for name, result in results.items()}, differ


def whole_analysis(sago, folder):
    """Every model, resampling included, on a run of the study's size."""
    run = folder / "paper"
    make_run(run, 16)
    result = timed([sago, "analyze", run, "--quiet"])
    shutil.rmtree(run)
    if result is None:
        return None
    print(f"\nwhole analysis, 11 models x 6 data sets x 16 prompts x 81 variants x 6 axes: {result[1]:.1f} s, {result[2]:.0f} MiB")
    return {"seconds": result[1], "peak_mib": result[2]}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("sago")
    arguments.add_argument("--rows", default="1e6,1e7")
    arguments.add_argument("--memory-limit", default="2GiB")
    arguments.add_argument("--only", choices=["duckdb", "pandas"], help=argparse.SUPPRESS)
    arguments.add_argument("--run", type=pathlib.Path, help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.only:
        limited = "--memory-limit" in sys.argv
        print(with_pandas(given.run) if given.only == "pandas" else with_duckdb(given.run, given.memory_limit if limited else None))
        return
    cpu = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), platform.machine())
    print(f"machine: {cpu}, {os.cpu_count()} cores, {os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') >> 30} GiB")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        all_results, differ = {"analysis": whole_analysis(given.sago, folder)}, False
        for rows in given.rows.split(","):
            all_results[rows], differs = compare(given.sago, folder, float(rows), given.memory_limit)
            differ |= differs
    print("\n" + json.dumps(all_results))
    sys.exit(int(differ))


if __name__ == "__main__":
    main()
