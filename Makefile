# Thin names over snakemake and pytest. `make demo` and `make test` set everything up by themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
ALIGNER := $(VENV)/.aligner
# Files with the longest tests come first (testpaths in pyproject.toml); xdist would begin with those of most tests.
PYTEST_FLAGS ?= -n 2 --dist loadfile --no-loadscope-reorder

# Snakemake with one line per stage; failures are shown in full, and what was made comes last.
WATCHED := $(BIN)/python -m workflow_scripts.watch
VERDICTS := $(BIN)/python -m xling.report.claims.show

.PHONY: help demo demo-full run paper-figures plan calibrate slurm-check aligner test test-slurm lint types unit coverage bench lock clean

help:  ## show what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo: $(READY) aligner  ## the whole embedded study, on any machine: no GPU, and no network after set-up
	$(WATCHED)
	@$(VERDICTS) --claims results/demo/claims.json --report results/demo/report.html

demo-full: $(READY) aligner  ## the same with all 38 models and five times the tokens
	$(WATCHED) --configfile presets/demo-full.yaml
	@$(VERDICTS) --claims results/demo-full/claims.json --report results/demo-full/report.html

run: $(READY)  ## any study: make run PRESET=presets/mini.yaml TARGET=table1 FLAGS="--resources gpu=8"
	@$(WATCHED) $(TARGET) $(if $(PRESET),--configfile $(PRESET)) -- $(FLAGS)

paper-figures: $(READY)  ## Table 1 and Figures 3 and 7 from the published numbers, in seconds
	$(BIN)/snakemake paper_figures

plan: $(READY)  ## what a study will cost, and has cost: make plan PRESET=presets/paper.yaml TARGET=table1 RATES=h200
	@$(BIN)/python -m workflow_scripts.plan $(TARGET) --rates "$(RATES)" $(if $(ASSUMPTIONS),--assumptions) $(if $(PRESET),--configfile $(PRESET))

calibrate: $(READY)  ## measure this machine for a minute: rates for make plan, into results/rates.yaml
	$(BIN)/python -m bench.calibrate --out results/rates.yaml

slurm-check: $(READY)  ## is the cluster as profiles/slurm expects?
	@$(BIN)/python -m workflow_scripts.slurm_check

test: lint types unit  ## every check: style, types, tests

lint: export PATH := $(CURDIR)/$(BIN):$(PATH)
lint: $(READY)  ## ruff, snakefmt, snakemake --lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/snakemake --lint

types: $(READY)  ## mypy, strict
	$(BIN)/mypy

unit: $(READY) aligner  ## pytest
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest $(PYTEST_FLAGS) $(COVERAGE)

coverage: COVERAGE := --cov --cov-report=term
coverage: unit  ## pytest with a check that it runs nine lines of ten of the package; takes half as long again

test-slurm: $(READY)  ## a study, and everything that goes wrong, on a real SLURM cluster started for it (root, Debian)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/slurm

bench: $(READY)  ## speed of generation, extraction, tokenisation and binarising beside their peers, into bench/results
	mkdir -p bench/results
	for name in generate extract tokenise binarise; do \
		OMP_NUM_THREADS=1 $(BIN)/python bench/$$name.py --out bench/results/$$name.json || exit 1; \
	done

# Installs once; again only when the pins or the package's own description change.
$(READY): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info < (3, 14) else "Python 3.11 to 3.13 is needed: make PYTHON=python3.12 …")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	echo "$(CURDIR)/workflow_scripts/plugins" >"$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/progress.pth"
	touch $@

# eflomal is built from source. Where that fails the reason is told; a study then stops at Figures 5 and 8.
aligner: $(ALIGNER)  ## install eflomal (GPL-3), which links the words of Figures 5 and 8
$(ALIGNER): envs/eflomal.txt $(wildcard envs/eflomal/*.h) | $(READY)
	-$(BIN)/python -m workflow_scripts.install_aligner && touch $@

# Versions without what a build adds to them (as +cpu); eflomal has pins of its own: envs/eflomal.txt.
lock: $(READY)  ## write requirements.lock anew from what is installed; a test names pins of envs/ that differ
	$(BIN)/python -m pip freeze --all --exclude-editable --exclude pip --exclude xling --exclude eflomal >$(VENV)/freeze
	{ head -n 2 requirements.lock; tr A-Z a-z <$(VENV)/freeze \
		| sed -E -e 's/\+.*//' -e ':a' -e 's/^([^=]*)[._]/\1-/' -e 'ta' | LC_ALL=C sort -t = -k 1,1; } >$(VENV)/lock
	mv $(VENV)/lock requirements.lock

clean:  ## remove the environment and what the embedded study made
	rm -rf $(VENV) results/demo results/demo-full results/data/embedded results/data/embedded-full
