# Each target does all its own set-up: an environment in .venv with both packages of this repository, installed once
# per change of a pyproject.toml.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-oldest test-slow smoke test-all lint docs pictures bench board clean

.venv/%: pyproject.toml packages/experiments/pyproject.toml
	@echo "Installing seminaive, seminaive-experiments and what they need into .venv: once, a minute or two."
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --disable-pip-version-check --editable '.[$*]' --editable packages/experiments
	touch $@

demo: .venv/plot
	$(BIN)/seminaive demo

# Tests run in a new order each time, by the seed that the printed command shows; SEED=... repeats it.
SEED ?= $(shell date +%s)
test: .venv/test
	$(BIN)/python -m pytest --quiet --numprocesses auto --dist worksteal --randomly-seed $(SEED) --durations 30 \
	    -m "not slow"

# Slow tests as far as MINUTES reach by tests/slow_seconds.csv, the shortest first; it prints which ones.
MINUTES ?= 5
test-slow: .venv/test
	$(BIN)/python -m pytest --slow-minutes $(MINUTES) -p no:randomly tests packages/experiments/tests

# The lower bounds of pyproject.toml, in an environment of their own, and the tests that touch every dependency. What these
# old releases call of still newer ones (typer of click, matplotlib of pyparsing) may be deprecated there: no error of ours.
test-oldest: .venv-oldest/done
	NUMBA_CACHE_DIR=.venv-oldest/numba .venv-oldest/bin/python -m pytest --quiet -m "not slow" -k "not polars and not library_of_the_table" \
	    -W default::DeprecationWarning -W default::PendingDeprecationWarning \
	    tests/test_cli.py tests/encode tests/evaluate/test_metrics.py packages/experiments/tests/test_report.py \
	    tests/models/test_naive_bayes.py tests/models/test_semi_naive.py tests/models/test_files.py

.venv-oldest/done: pyproject.toml packages/experiments/pyproject.toml
	$(PYTHON) -m venv .venv-oldest
	$(PYTHON) .ci/oldest.py > .venv-oldest/constraints.txt
	.venv-oldest/bin/python -m pip install --disable-pip-version-check --editable '.[plot,test]' --editable packages/experiments \
	    --constraint .venv-oldest/constraints.txt
	touch $@

# The wheels and sdists of both packages, each installed where nothing else is, and a first use of them.
smoke: .venv/test
	$(PYTHON) .ci/smoke.py

test-all: .venv/test
	$(BIN)/python -m pytest --quiet --numprocesses auto --dist worksteal

docs: .venv/docs
	$(BIN)/sphinx-build -W --keep-going --quiet --fresh-env --write-all -b html docs docs/_build/html
	@echo docs/_build/html/index.html

# Every display on six tables of SEMINAIVE_DATA, light and dark, on one page to scroll through.
pictures: .venv/plot
	$(BIN)/python benchmarks/pictures.py

# Ours and their rivals on tables by OpenML number; ARGUMENTS="--folder DIR" takes the files of a folder.
board: .venv/bench
	$(BIN)/python benchmarks/accuracy/open_board.py $(ARGUMENTS)

bench: .venv/bench
	$(BIN)/python benchmarks/run.py

lint: .venv/test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/bug.yml .github/ISSUE_TEMPLATE/wish.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	$(BIN)/python .ci/house.py

clean:
	rm -rf .venv .venv-oldest build dist docs/_build
