#!/usr/bin/env bash
# Measures one complete job (24 wordings of one prompt, 64 new tokens: generation, teacher forcing, hidden states)
# with sago and, on the same prompts and weights, the published way on transformers (batch 1 and batched).
# Installs torch and transformers in .venv-bench the first time (several GB). Prints seconds a wording and the ratios.
set -euo pipefail
cd "$(dirname "$0")/.."
venv="${VENV:-.venv}-bench"
if [ ! -x "$venv/bin/python" ]; then
  echo "bench: installing torch and transformers in $venv" >&2
  python3 -m venv "$venv"
fi
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r benches/requirements.txt
cargo build --locked
exec "$venv/bin/python" benches/job.py "${CARGO_TARGET_DIR:-target}/debug/sago"
