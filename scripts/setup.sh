#!/usr/bin/env bash
# Checks for what building and fetching need, and installs missing system packages where it may.
set -euo pipefail
missing=()
command -v cc >/dev/null || missing+=(build-essential)
command -v python3 >/dev/null || missing+=(python3)
python3 -m pip --version >/dev/null 2>&1 || missing+=(python3-pip)
python3 -c 'import ensurepip' >/dev/null 2>&1 || missing+=(python3-venv)
command -v sha256sum >/dev/null || missing+=(coreutils)
if [ ${#missing[@]} -gt 0 ]; then
  if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    echo "setup: installing ${missing[*]}" >&2
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" >/dev/null
  else
    echo "setup: please install: ${missing[*]}" >&2
    exit 2
  fi
fi
command -v cargo >/dev/null || { echo "setup: Rust is missing; install it from https://rustup.rs (the version is in rust-toolchain.toml)" >&2; exit 2; }
