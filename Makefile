# Thin names over snakemake and pytest. `make demo` and `make test` set everything up by themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PYTEST_FLAGS ?= -n 2 --dist loadfile

.PHONY: help demo paper-figures test lint types unit bench lock clean

help:  ## show what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo: $(READY)  ## the whole embedded study, on any machine, without network or GPU
	$(BIN)/snakemake

paper-figures: $(READY)  ## Table 1 and Figures 3 and 7 from the published numbers, in seconds
	$(BIN)/snakemake paper_figures

test: lint types unit  ## every check: style, types, tests

lint: export PATH := $(CURDIR)/$(BIN):$(PATH)
lint: $(READY)  ## ruff, snakefmt, snakemake --lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/snakemake --lint

types: $(READY)  ## mypy, strict
	$(BIN)/mypy

unit: $(READY)  ## pytest
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest $(PYTEST_FLAGS)

bench: $(READY)  ## speed of generation, extraction, tokenisation and binarising beside their peers, into bench/results
	mkdir -p bench/results
	for name in generate extract tokenise binarise; do \
		OMP_NUM_THREADS=1 $(BIN)/python bench/$$name.py --out bench/results/$$name.json || exit 1; \
	done

# Installs once; again only when the pins or the package's own description change.
$(READY): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed: make PYTHON=python3.12 …")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

lock: $(READY)  ## write requirements.lock anew from what is installed and tested
	$(BIN)/python -m workflow_scripts.lock --lock requirements.lock --environment envs/xling.yaml

clean:  ## remove the environment and what the embedded study made
	rm -rf $(VENV) results/demo results/demo-full results/data/embedded
