#!/usr/bin/env bash
# Measures speed and memory beside named peers, in the same run and on the same inputs.
# Part one, PART=job: the engine beside the published way on transformers, transformers batched and llama.cpp, a complete job at 24 and
# 82 variants of a prompt; how time grows with variants and prompts; a random model of 1.2 GB. About 12 minutes on two cores, once
# the peers are installed; writes docs/benchmarks.md and .json. Nothing else should run meanwhile.
# Part two: SGS and t over synthetic deltas, with sago, DuckDB and pandas; a whole analysis of a run of the study's size.
# Installs the peers in .venv-bench the first time: torch is several GB, and llama.cpp is compiled from its source on PyPI (needs a
# C++ compiler; 5 to 20 minutes on two cores). PART=analysis or PART=job does one part.
# Arguments go to benches/job.py: --quick --page FILE tries it.
set -euo pipefail
cd "$(dirname "$0")/.."
venv="${VENV:-.venv}-bench"
part="${PART:-all}"
if [ ! -x "$venv/bin/python" ]; then
  echo "bench: making $venv" >&2
  python3 -m venv "$venv"
fi
install() { "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$@"; }
cargo build --locked
sago="${CARGO_TARGET_DIR:-target}/debug/sago"
if [ "$part" != analysis ]; then
  echo "bench: installing torch and transformers" >&2
  install benches/requirements.txt
  "$venv/bin/python" -c "import llama_cpp" 2>/dev/null ||
    echo "bench: compiling llama.cpp for this processor (5 to 20 minutes on two cores, once)" >&2
  export CMAKE_ARGS="-DGGML_NATIVE=ON -DGGML_OPENMP=ON -DLLAVA_BUILD=OFF ${CMAKE_ARGS:-}"
  export CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}"
  install benches/requirements-llama.txt --no-binary llama-cpp-python ||
    echo "bench: llama.cpp could not be compiled here; its figures will be missing" >&2
  PYTHONPATH=benches "$venv/bin/python" -m unittest --quiet test_job
  "$venv/bin/python" benches/job.py "$sago" "$@"
fi
if [ "$part" != job ]; then
  echo "bench: installing DuckDB and pandas" >&2
  install benches/requirements-analysis.txt
  PYTHONPATH=benches "$venv/bin/python" -m unittest --quiet test_same
  "$venv/bin/python" benches/analysis.py "$sago" --rows "${ROWS:-1e6,1e7}"
fi
