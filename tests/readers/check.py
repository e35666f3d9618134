"""Opens every table of a run in pandas, Polars and DuckDB, without options, and compares rows and sums with each other and with `sago sql`.

usage: check.py SAGO [RUN]
SAGO is the program; without RUN a small run is made in a temporary directory. Exit code 1 where anything differs.
"""
import math
import pathlib
import subprocess
import sys
import tempfile

import duckdb
import pandas as pd
import polars as pl

sago = sys.argv[1]


def small_run(folder):
    out = folder / "run"
    subprocess.run([sago, "run", "--model", "demo", "--dataset", "alpaca", "--dataset", "triviaqa", "-n", "1", "--subtypes",
                    "spacing,form", "--max-new-tokens", "8", "--out", out, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    return out


def numbers(values):
    """Sum of all numbers in a column, those inside lists too."""
    total, count = 0.0, 0
    for v in values:
        if v is None or (isinstance(v, float) and math.isnan(v)):
            continue
        items = v if hasattr(v, "__iter__") and not isinstance(v, str) else [v]
        for x in items:
            if isinstance(x, str):
                total, count = total + len(x), count + 1
            elif x is not None:
                total, count = total + float(x), count + 1
    return total, count


def in_pandas(path):
    frame = pd.read_parquet(path)
    return {c: numbers(frame[c].tolist()) for c in frame.columns}, len(frame)


def in_polars(path):
    frame = pl.read_parquet(path)
    return {c: numbers(frame[c].to_list()) for c in frame.columns}, len(frame)


def in_duckdb(path):
    glob = f"{path}/**/*.parquet" if path.is_dir() else str(path)
    result = duckdb.sql(f"select * from read_parquet('{glob}')")
    rows = result.fetchall()
    return {c: numbers([r[i] for r in rows]) for i, c in enumerate(result.columns)}, len(rows)


def in_sago(run, table):
    out = subprocess.run([sago, "sql", run, "-c", f"select count(*) as n from {table}", "--format", "csv"], check=True, capture_output=True, text=True)
    return int(out.stdout.split()[1])


def main(run):
    tables = sorted(p for p in run.iterdir() if p.suffix == ".parquet" or (p.is_dir() and p.name not in ("analysis", "report")))
    tables += sorted((run / "analysis").glob("*.parquet"))
    passed = failed = 0
    for path in tables:
        name = path.stem if path.suffix else path.name
        by_reader = {"pandas": in_pandas(path), "polars": in_polars(path), "duckdb": in_duckdb(path)}
        sums, rows = by_reader["polars"]
        faults = [f"{r}: {n} rows, polars {rows}" for r, (_, n) in by_reader.items() if n != rows]
        if (n := in_sago(run, name)) != rows:
            faults.append(f"sago: {n} rows, polars {rows}")
        for reader, (other, _) in by_reader.items():
            if sorted(other) != sorted(sums):
                faults.append(f"{reader}: columns {sorted(other)}, polars {sorted(sums)}")
                continue
            for column, (total, count) in sums.items():
                total_here, count_here = other[column]
                if count != count_here or not math.isclose(total, total_here, rel_tol=1e-9, abs_tol=1e-9):
                    faults.append(f"{reader}: {column} sums to {total_here} over {count_here} values, polars {total} over {count}")
        print(f"{'FAULT' if faults else 'same':6}{name:24}{rows:8} rows{sum(c for _, c in sums.values()):12} values")
        for fault in faults:
            print("      ", fault)
        passed, failed = passed + (not faults), failed + bool(faults)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


with tempfile.TemporaryDirectory() as folder:
    sys.exit(main(pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else small_run(pathlib.Path(folder))))
