# AutoMem. `make help` lists the targets; Python 3.11 to 3.13 and make are all that is needed.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
DATA   ?=

.DEFAULT_GOAL := help
.PHONY: help install serve doctor test lint format docs bench clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
	  || { echo "Python 3.11, 3.12 or 3.13 is needed: make install PYTHON=python3.11"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' -c constraints.txt
	@touch $@

install: $(STAMP)  ## Install into .venv

serve: $(STAMP)  ## Start the service on http://127.0.0.1:8001
	@exec $(BIN)/automem serve

doctor: $(STAMP)  ## Check this machine, and say how to mend what is wrong
	@$(BIN)/automem doctor

test: lint  ## Check style and types, run all tests
	$(BIN)/pytest

lint: $(STAMP)  ## Check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(STAMP)  ## Rewrite the code in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(STAMP)  ## Make .env.example and the tables of docs/configuration.md anew
	$(BIN)/automem settings > .env.example
	@sed '/^<!-- settings -->/q' docs/configuration.md > docs/configuration.new
	@$(BIN)/automem settings --format markdown >> docs/configuration.new
	@mv docs/configuration.new docs/configuration.md

bench: $(STAMP)  ## Measure retrieval: make bench DATA=conversations.json
	@test -n "$(DATA)" || { echo "usage: make bench DATA=conversations.json"; exit 1; }
	$(BIN)/python benchmarks/retrieval.py $(DATA)

clean:  ## Remove .venv and caches
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache
