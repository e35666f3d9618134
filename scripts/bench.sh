#!/usr/bin/env bash
# Measures speed and memory beside named peers, in the same run and on the same inputs.
# Part one: one complete job (24 wordings of one prompt, 64 new tokens: generation, teacher forcing, hidden states) with
# sago and, on the same prompts and weights, the published way on transformers (batch 1 and batched).
# Part two: SGS and t over synthetic deltas, with sago, DuckDB and pandas; a whole analysis of a run of the study's size.
# Installs what the peers need in .venv-bench the first time (torch: several GB). PART=analysis or PART=job does one part.
set -euo pipefail
cd "$(dirname "$0")/.."
venv="${VENV:-.venv}-bench"
part="${PART:-all}"
if [ ! -x "$venv/bin/python" ]; then
  echo "bench: making $venv" >&2
  python3 -m venv "$venv"
fi
install() { "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$1"; }
cargo build --locked
sago="${CARGO_TARGET_DIR:-target}/debug/sago"
if [ "$part" != analysis ]; then
  echo "bench: installing torch and transformers" >&2
  install benches/requirements.txt
  "$venv/bin/python" benches/job.py "$sago"
fi
if [ "$part" != job ]; then
  echo "bench: installing DuckDB and pandas" >&2
  install benches/requirements-analysis.txt
  PYTHONPATH=benches "$venv/bin/python" -m unittest --quiet test_same
  "$venv/bin/python" benches/analysis.py "$sago" --rows "${ROWS:-1e6,1e7}"
fi
