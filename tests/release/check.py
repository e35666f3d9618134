"""Opens a release as its users do and compares it with its run: Croissant, card, citation, checksums, pandas, Polars, DuckDB.

usage: check.py SAGO [RUN]
SAGO is the program; without RUN a small run is made in a temporary directory. Exit code 1 where anything differs.
"""
import csv
import glob
import io
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile

import duckdb
import mlcroissant
import pandas as pd
import polars as pl
import yaml

sago = sys.argv[1]
faults = []


def expect(what, holds, found=""):
    print(f"{'same' if holds else 'FAULT':6}{what} {'' if holds else found}")
    if not holds:
        faults.append(what)


def small_run(folder):
    out = folder / "run"
    # A file in the layout of an official data set, which has to be cited.
    (folder / "alpaca.json").write_text(json.dumps([{"instruction": i, "input": "", "output": ""} for i in ("Say hello.", "Name a colour.")]))
    subprocess.run([sago, "run", "--model", "demo", "--dataset", f"alpaca={folder}/alpaca.json", "--dataset", "triviaqa", "-n", "2", "--subtypes",
                    "spacing,form", "--max-new-tokens", "8", "--out", out, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    return out


def in_sago(run, sql):
    out = subprocess.run([sago, "sql", run, "-c", sql, "--format", "csv"], check=True, capture_output=True, text=True)
    return list(csv.DictReader(io.StringIO(out.stdout)))


def sums_of(values):
    numbers = [float(v) for v in values if v is not None and not (isinstance(v, float) and math.isnan(v))]
    return len(numbers), sum(numbers)


def same(a, b):
    return a[0] == b[0] and math.isclose(a[1], b[1], rel_tol=1e-9, abs_tol=1e-9)


def tables(run, release):
    """Counts and sums of each table in three readers, beside those of the run."""
    index = json.loads((release / "release.json").read_text())
    for table in index["tables"]:
        name, files, key = table["name"], [str(release / f) for f in table["files"]], table["contract"]["unique"]
        if not files:
            continue
        frame = pl.read_parquet(files)
        numeric = [c for c, t in frame.schema.items() if t.is_numeric()]
        pandas = pd.concat([pd.read_parquet(f) for f in files])
        duck = duckdb.sql("select * from read_parquet([%s])" % ", ".join(f"'{f}'" for f in files))
        where = "where normalization = 'fixed'" if name == "normalized" else ""
        sql = ", ".join([f"count(*) as n"] + [f'count("{c}") as "n {c}", sum(cast("{c}" as double)) as "sum {c}"' for c in numeric])
        own = in_sago(run, f"select {sql} from {name} {where}")[0]
        found = [f"{r}: {n} rows, sago {own['n']}" for r, n in
                 [("polars", len(frame)), ("pandas", len(pandas)), ("duckdb", len(duck)), ("release.json", table["rows"])] if n != int(own["n"])]
        keys = frame.select(key)
        if keys.n_unique() != len(frame):
            found.append("keys are not unique")
        if key and keys.sort(key, nulls_last=False).rows() != keys.rows():
            found.append("not sorted by its key")
        by_duck = {c: duck.project(f'"{c}"').fetchall() for c in numeric}
        for c in numeric:
            expected = (int(own[f"n {c}"]), float(own[f"sum {c}"] or 0))
            for reader, values in [("polars", frame[c].to_list()), ("pandas", pandas[c].tolist()), ("duckdb", [v for (v,) in by_duck[c]])]:
                if not same(sums_of(values), expected):
                    found.append(f"{reader}: {c} {sums_of(values)}, sago {expected}")
        expect(f"{name:24}{len(frame):8} rows {len(numeric):3} numeric columns", not found, found)


def matrices(run, release):
    """Wide matrices, made long in pandas, are the run's deltas of V at repeat 0."""
    index = json.loads((release / "release.json").read_text())
    expect("there are matrices", bool(index["matrices"]))
    for matrix in index["matrices"]:
        wide = pd.read_parquet(release / matrix["file"])
        long = wide.melt(["dataset", "prompt_id"], var_name="variant_id", value_name="delta").dropna(subset=["delta"])
        table, column = ("deltas", "delta") if matrix["scale"] == "raw" else ("normalized_wide", "fixed")
        own = in_sago(run, f"""select dataset, prompt_id, variant_id, {column} as delta from {table}
            inner join measured_variants using (dataset, prompt_id, variant_id)
            where repeat = 0 and {column} is not null and model = '{matrix["model"]}' and axis = '{matrix["axis"]}'""")
        here = {(r.dataset, r.prompt_id, r.variant_id): r.delta for r in long.itertuples()}
        there = {(r["dataset"], r["prompt_id"], r["variant_id"]): float(r["delta"]) for r in own}
        ok = here == there and len(here) == matrix["values"]
        if not ok or matrix["axis"] == "ent":
            expect(matrix["file"], ok, f"{len(here)} cells, the run {len(there)}")
        if (file := release / matrix["file"].replace(".parquet", ".csv")).exists():
            with open(file, newline="") as opened:
                text = [[*row[:2], *(float(d) if d else None for d in row[2:])] for row in list(csv.reader(opened))[1:]]
            if text != [list(row) for row in pl.read_parquet(release / matrix["file"]).rows()]:
                expect(file.name, False, "differs from the Parquet file")


def card(release):
    text = (release / "README.md").read_text()
    expect("the card starts with YAML", text.startswith("---\n"))
    front = yaml.safe_load(text.split("---\n")[1])
    expect("license, pretty_name, tags", all(front.get(k) for k in ("license", "pretty_name", "tags")), front)
    files = [f for c in front["configs"] for g in c["data_files"] for f in glob.glob(str(release / g))]
    patterns = [g for c in front["configs"] for g in c["data_files"]]
    expect("each data_files matches files", all(glob.glob(str(release / g)) for g in patterns))
    expect("configs name every table's files", sorted(files) == sorted(str(f) for f in (release / "data").rglob("*.parquet")))
    expect("one config is the default", sum(bool(c.get("default")) for c in front["configs"]) == 1)
    for spdx in ("Apache-2.0", "CC-BY-4.0"):
        expect(f"the text of {spdx}", len((release / "LICENSES" / f"{spdx}.txt").read_text()) > 5000)


def citation(release):
    """CITATION.cff against the schema of the Citation File Format."""
    found = subprocess.run([pathlib.Path(sys.executable).with_name("cffconvert"), "--validate", "-i", release / "CITATION.cff"],
                           capture_output=True, text=True)
    expect(f"{release.name}: CITATION.cff is valid", found.returncode == 0, found.stdout + found.stderr)


def croissant(run, release):
    dataset = mlcroissant.Dataset(jsonld=str(release / "croissant.json"))
    issues = dataset.metadata.ctx.issues
    expect("croissant.json is valid", not issues.errors, issues.errors)
    expect("croissant.json lacks nothing that is asked for", not issues.warnings, issues.warnings)
    sets = {s.name for s in dataset.metadata.record_sets}
    for name in ["sgs_model", "deltas", "models", "generations"]:
        expect(f"Croissant has {name}", name in sets, sets)
        count = sum(1 for _ in dataset.records(name))
        expect(f"records of {name}", count == int(in_sago(run, f"select count(*) as n from {name}")[0]["n"]), count)
    first = {k.split("/")[-1]: v for k, v in next(iter(dataset.records("sgs_model"))).items()}
    own = in_sago(run, "select * from sgs_model order by model, axis, normalization limit 1")[0]
    text = first["axis"].decode() if isinstance(first["axis"], bytes) else first["axis"]
    expect("the first record", text == own["axis"] and math.isclose(first["sgs"], float(own["sgs"]), rel_tol=1e-12), first)


def every_byte_counts(release):
    """One bit of each file in turn: the check fails, and names the file."""
    unseen = []
    files = [file for file in release.rglob("*") if file.is_file()]
    for file in files:
        whole = file.read_bytes()
        damaged = bytearray(whole)
        damaged[len(damaged) // 2] ^= 1
        file.write_bytes(damaged)
        out = subprocess.run([sago, "verify", release], capture_output=True, text=True)
        named = any(line.startswith("FAILED") and (file.name in line or "SHA256SUMS" in line) for line in out.stdout.splitlines())
        if out.returncode != 3 or not named:
            unseen.append((file.name, out.returncode, out.stdout, out.stderr))
        file.write_bytes(whole)
    expect(f"damage to each of {len(files)} files is seen", not unseen, unseen)


def several(run, folder):
    """Two runs that draw on one official data set are one valid citation."""
    other = folder / "other"
    shutil.copytree(run, other)
    both = folder / "both"
    subprocess.run([sago, "release", run, other, "--out", both, "--quiet"], check=True)
    citation(both)


def main(run, folder):
    first, second = folder / "first", folder / "second"
    said = ["--author", "A. \"B\" C", "--author", "D", "--license", "CC-BY-4.0", "--url", "https://example.org/data"]
    for out in (first, second):
        subprocess.run([sago, "release", run, "--out", out, "--quiet", "--csv", *said], check=True)
    sums = subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=first, capture_output=True, text=True)
    expect("sha256sum --check", sums.returncode == 0, sums.stdout)
    files = {p.relative_to(first) for p in first.rglob("*") if p.is_file()}
    listed = {line.split("  ", 1)[1] for line in (first / "SHA256SUMS").read_text().splitlines()}
    expect("SHA256SUMS lists every other file", listed == {str(f) for f in files} - {"SHA256SUMS"})
    expect("two releases have the same bytes", files == {p.relative_to(second) for p in second.rglob("*") if p.is_file()}
           and all((first / f).read_bytes() == (second / f).read_bytes() for f in files))
    expect("sago verify", subprocess.run([sago, "verify", first], stdout=subprocess.DEVNULL).returncode == 0)
    every_byte_counts(first)
    card(first)
    citation(first)
    several(run, folder)
    tables(run, first)
    matrices(run, first)
    croissant(run, first)
    print(f"{len(faults)} faults" if faults else "all passed")
    return 1 if faults else 0


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    sys.exit(main(pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else small_run(folder), folder))
