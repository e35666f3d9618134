# The two commands that matter: `make demo` and `make test`. Both set up what they need and say so.
CARGO  ?= cargo
OUT    ?= runs/demo
VENV   ?= .venv
# Written into manifests.
export SAGO_COMMIT := $(shell git rev-parse --short=12 HEAD 2>/dev/null)
# Official data set files, for `make test-data`; the tests pass without them.
DATA   ?=

.PHONY: demo install test test-data test-readers test-release test-report test-guide test-full-disk guide bench docs dictionary check setup models help

help:
	@echo "make demo            run the whole job on a small real model (minutes on two cores)"
	@echo "make install         put sago on your PATH"
	@echo "make test            run the tests"
	@echo "make docs            build the API documentation"
	@echo "make dictionary      write docs/tables.md, functions.md and wordings.md from the sources"
	@echo "make bench           measure speed and memory beside transformers, llama.cpp, DuckDB and pandas (installs them in $(VENV)-bench)"
	@echo "make check           format, clippy and documentation, as CI runs them"
	@echo "make test-data DATA=DIR    test the loaders on the official data set files"
	@echo "make test-readers    open a run in pandas, Polars and DuckDB (installs them in $(VENV))"
	@echo "make test-release    open a release in mlcroissant, pandas, Polars and DuckDB (installs them in $(VENV))"
	@echo "make test-guide      run the code of README.md and docs/ and compare its outputs (installs pandas and others in $(VENV))"
	@echo "make guide           the same, and write the outputs anew"
	@echo "make test-report     open report pages in headless Chromium (needs chromium, npm; installs Playwright in $(VENV))"
	@echo "make test-full-disk  fill a small file system (needs root)"

setup:
	@scripts/setup.sh

models: setup
	@scripts/fetch-models.sh

demo: models
	@echo "demo: compiling (minutes the first time), then running the quick preset into $(OUT)" >&2
	@$(CARGO) build --locked
	@$(CARGO) run --locked --quiet -- run --preset quick --out $(OUT)
	@echo "demo: the tables are in $(OUT); try: cargo run -q -- sql $(OUT) -c \"select * from sgs_model\"" >&2

install: setup
	$(CARGO) install --debug --locked --path .

test: models
	$(CARGO) test --locked

test-data: models
	@test -n "$(DATA)" || { echo "say DATA=DIR, the folder of the official files" >&2; exit 2; }
	SAGO_DATA_DIR="$(abspath $(DATA))" $(CARGO) test --locked --test official_files -- --ignored

test-readers: models
	@test -x $(VENV)/bin/python || { echo "readers: installing pandas, Polars and DuckDB in $(VENV)" >&2; python3 -m venv $(VENV); }
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r tests/readers/requirements.txt
	@$(CARGO) build --locked
	$(VENV)/bin/python tests/readers/check.py "$$($(CARGO) run --locked --quiet -- --version >/dev/null && echo $${CARGO_TARGET_DIR:-target}/debug/sago)"

test-release: models
	@test -x $(VENV)/bin/python || { echo "release: installing mlcroissant, pandas, Polars and DuckDB in $(VENV)" >&2; python3 -m venv $(VENV); }
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r tests/release/requirements.txt
	@$(CARGO) build --locked
	$(VENV)/bin/python tests/release/check.py "$${CARGO_TARGET_DIR:-target}/debug/sago"

test-full-disk: models
	@$(CARGO) build --locked
	scripts/full-disk.sh "$${CARGO_TARGET_DIR:-target}/debug/sago"

test-report: models
	@command -v chromium >/dev/null && command -v npm >/dev/null || { echo "report: install chromium and npm first (Debian: apt-get install chromium npm)" >&2; exit 2; }
	@test -x $(VENV)/bin/python || python3 -m venv $(VENV)
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r tests/report/requirements.txt
	@$(CARGO) build --locked
	@scripts/fetch-report-assets.sh --check
	@work=$$(mktemp -d) && sago="$${CARGO_TARGET_DIR:-target}/debug/sago" && "$$sago" run --preset quick --out "$$work/run" >/dev/null && \
	$(VENV)/bin/python tests/report/check.py "$$sago" "$$work/run" "$$work/pages" && rm -rf "$$work" || \
	{ echo "report: pages and screenshots are in $$work/pages" >&2; exit 1; }

# `make guide` writes what `make test-guide` compares.
test-guide guide: models
	@test -x $(VENV)/bin/python || python3 -m venv $(VENV)
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r tests/readers/requirements.txt -r docs/requirements.txt
	@$(CARGO) build --locked
	@$(VENV)/bin/python scripts/guide.py "$${CARGO_TARGET_DIR:-target}/debug/sago" $(if $(filter guide,$@),--write)

bench: models
	@scripts/bench.sh

docs:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --no-deps

dictionary:
	$(CARGO) run --locked --example dictionary

check: docs
	$(CARGO) fmt --all -- --check
	$(CARGO) clippy --locked --all-targets -- -D warnings
