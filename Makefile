# Verbs of the project. `make` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.ONESHELL:

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for name in python3.11 python3.12 python3.13 python3; do \
	"$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$name"; break; }; done)
RUNTIME := $(VENV)/.eviflow-runtime
DEV := $(VENV)/.eviflow-dev
# of pip's output: the names of the packages, as they come
NAMES := sed -un -E 's/^(Collecting|Building wheels?|Installing collected packages).*(: | )([A-Za-z0-9_.-]+).*/  \1 \3/p'
MLFLOW_PORT ?= 5000
PREFECT_PORT ?= 4200

.PHONY: help
help: ## list the verbs
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 16

.PHONY: demo
demo: $(RUNTIME) ## set everything up and run the whole chain; a second time, only what has changed
	@$(BIN)/eviflow run

.PHONY: test
test: check ## set everything up, check style, types and import rules, and run the tests
	@start=$$SECONDS
	echo "== tests (some minutes; they start every server that they need) =="
	$(BIN)/python -m pytest
	echo "== tests passed in $$((SECONDS - start)) s; try \`make demo\` next =="

.PHONY: check
check: $(DEV) ## style, types and import rules, without the tests
	@start=$$SECONDS
	echo "== style =="
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	echo "== types =="
	$(BIN)/mypy
	echo "== import rules =="
	$(BIN)/lint-imports
	echo "== checked in $$((SECONDS - start)) s =="

.PHONY: format
format: $(DEV) ## mend the style where a tool can
	@$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: ui
ui: $(RUNTIME) ## open MLflow and Prefect on this machine's ports 5000 and 4200, until Ctrl-C
	@trap 'kill $$(jobs -p) 2>/dev/null || true' EXIT INT TERM
	echo "MLflow:  http://127.0.0.1:$(MLFLOW_PORT)   (answers after about 20 s)"
	echo "Prefect: http://127.0.0.1:$(PREFECT_PORT)   (Ctrl-C ends both)"
	export MLFLOW_DISABLE_TELEMETRY=true DO_NOT_TRACK=1 PREFECT_SERVER_ANALYTICS_ENABLED=false
	$(BIN)/mlflow server --backend-store-uri sqlite:///mlflow.db --default-artifact-root mlartifacts \
		--host 127.0.0.1 --port $(MLFLOW_PORT) --workers 1 &
	PREFECT_HOME=$(CURDIR)/.eviflow/prefect $(BIN)/prefect server start --host 127.0.0.1 --port $(PREFECT_PORT) &
	wait

.PHONY: lock
lock: ## resolve the dependencies anew and write requirements.lock
	@folder=$$(mktemp -d)
	trap 'rm -rf "$$folder"' EXIT
	$(PYTHON) -m venv "$$folder"
	"$$folder/bin/pip" install --quiet --upgrade pip
	"$$folder/bin/pip" install --quiet -e . --group dev
	{ sed -n '/^#/p' requirements.lock
	"$$folder/bin/pip" freeze --exclude-editable | grep -viE '^(torch|triton|nvidia[-_a-z0-9]*|cuda[-_a-z0-9]*)=='
	} > "$$folder/requirements.lock"
	cp "$$folder/requirements.lock" requirements.lock

.PHONY: clean
clean: ## remove everything that runs have made, and keep the virtual environment
	@rm -rf data models reports mlartifacts mlruns mlflow.db* .eviflow .dvc/cache .dvc/tmp
	find . -name __pycache__ -not -path './$(VENV)/*' -type d -exec rm -rf {} +
	rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	echo "removed data, models, reports, MLflow's store, caches; \`make demo\` makes them again"

$(BIN)/python:
	@if [ -z "$(PYTHON)" ]; then
		echo "no Python 3.11 or newer found; install one, or name it: make PYTHON=/path/to/python3.11 ..." >&2
		exit 3
	fi
	echo "== virtual environment in $(VENV), with $$($(PYTHON) --version) =="
	$(PYTHON) -m venv $(VENV) || { echo "$(PYTHON) cannot make one; on Debian install python3-venv" >&2; exit 3; }
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'

# Two stamps: what a run needs, and what the tests need besides. Both follow the lock.
$(RUNTIME): pyproject.toml requirements.lock | $(BIN)/python
	@start=$$SECONDS
	echo "== installing what a run needs (2 to 10 minutes the first time, mostly torch) =="
	$(BIN)/python -m pip install --disable-pip-version-check -c requirements.lock -e . | $(NAMES)
	touch $@
	echo "== installed in $$((SECONDS - start)) s =="

$(DEV): pyproject.toml requirements.lock | $(BIN)/python
	@start=$$SECONDS
	echo "== installing what the tests need (2 to 10 minutes the first time, mostly torch) =="
	$(BIN)/python -m pip install --disable-pip-version-check -c requirements.lock -e . --group dev | $(NAMES)
	touch $@ $(RUNTIME)
	echo "== installed in $$((SECONDS - start)) s =="
