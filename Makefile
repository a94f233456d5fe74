# Everything a fresh machine needs: python3 (3.11+) with venv, make, git.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: help matrix dialects publish install test lint bench docs clean lock lab-smoke

help:
	@echo "make matrix   install, replay every recording and the reference endpoint, print the matrix"
	@echo "make dialects replay every server in every dialect over the parser chapter, print that matrix"
	@echo "make test     install what the tests need, run them"
	@echo "make install  only make the environment"
	@echo "make publish  refresh the committed reports: matrix.json and .md, dialects.json and .md"
	@echo "make lint     ruff, mypy, import law"
	@echo "make bench    how fast long streams and recordings are judged, next to what merely parses them"
	@echo "make docs     refresh the generated files under docs/"
	@echo "make lab-smoke  bring up a real llama.cpp with the scripted model, compare it with its recording"
	@echo "make lock     pin the dependencies anew (needs uv)"

matrix: install
	$(BIN)/conformance run --out reports/latest

# The second matrix judges what parsers make of calls, text and reasoning; the first has all else.
DIALECTS := $(BIN)/conformance run --config dialects.yaml --cassettes cassettes-dialects --scenario 'parser.*' \
	--rule 'parser.*' --rule 'parity.*' --rule '*-leak' --rule 'chat.response.tool-call-arguments-*' --rule 'chat.stream.tool-arguments-*' \
	--rule 'chat.*.finish-*' --out reports/latest/dialects

dialects: install
	$(DIALECTS)

# The bytes behind each cell are in the cassettes, so that the published documents go without them.
WITHOUT_BYTES := $(BIN)/python -c 'import json, sys; m = json.load(open(sys.argv[1])); \
	[c.update(evidence=[]) for c in m["cells"]]; json.dump(m, open(sys.argv[2], "w"), ensure_ascii=False)'

publish: install
	@# A matrix with violations is worth publishing, one with cells that could not be judged is not.
	$(BIN)/conformance run -n 2 --out reports/latest || test $$? -eq 1
	cp reports/latest/matrix.md reports/
	$(WITHOUT_BYTES) reports/latest/matrix.json reports/matrix.json
	$(DIALECTS) || test $$? -eq 1
	cp reports/latest/dialects/dialects.md reports/
	$(WITHOUT_BYTES) reports/latest/dialects/matrix.json reports/dialects.json

install: $(VENV)/.run

$(VENV)/.run: requirements/run.txt pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --require-hashes --requirement requirements/run.txt
	$(PIP) install --no-deps --no-build-isolation --no-index --editable .
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.run
	$(PIP) install --require-hashes --requirement requirements/dev.txt
	@touch $@

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/conformance docs docs --check

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/stream.py
	$(BIN)/python benchmarks/grade.py

docs: install
	$(BIN)/conformance docs docs

# Says with 1 that the server no longer answers as its cassettes say.
lab-smoke: $(VENV)/.dev
	$(BIN)/conformance lab record llamacpp --endpoint llamacpp --check \
	  --scenario 'chat.*' --scenario 'tools.*' --scenario 'stream.*' --scenario 'errors.*'

# The universal lock carries versions and hashes, and no download addresses.
COMPILE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header --no-annotate --group build
lock:
	$(COMPILE) pyproject.toml --output-file requirements/run.txt
	$(COMPILE) pyproject.toml --group test --group lint --output-file requirements/dev.txt

clean:
	rm -rf $(VENV) reports/latest build dist .mypy_cache .ruff_cache .pytest_cache
