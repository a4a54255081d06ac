# Each target does all its own set-up: an environment in .venv, installed once per change of pyproject.toml.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-all lint docs bench clean

.venv/%: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	touch $@

demo: .venv/plot
	$(BIN)/seminaive demo

test: .venv/test
	$(BIN)/python -m pytest --quiet -m "not slow"

test-all: .venv/test
	$(BIN)/python -m pytest --quiet

docs: .venv/docs
	$(BIN)/sphinx-build -W --keep-going --quiet --fresh-env --write-all -b html docs docs/_build/html
	@echo docs/_build/html/index.html

bench: .venv/bench
	$(BIN)/python benchmarks/run.py

lint: .venv/test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:
	rm -rf .venv build dist docs/_build
