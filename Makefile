PYTHON ?= python3
BIN := .venv/bin
DEMO := indexes/demo

.PHONY: demo test check clean

demo: .venv/.demo  ## build indexes/demo, search it, and say why each hit is there
	$(BIN)/toolsearch index build $(DEMO)
	$(BIN)/toolsearch search "give the customer their money back" -i $(DEMO) -k 3
	$(BIN)/toolsearch search "which pods keep crashing" -i $(DEMO) -k 3
	$(BIN)/toolsearch search "createPullRequest" -i $(DEMO) -k 1
	$(BIN)/toolsearch explain "give the customer their money back" payments/refund_payment -i $(DEMO)
	$(BIN)/toolsearch explain "give the customer their money back" payments/void_payment -i $(DEMO)

test: .venv/.test check  ## lint, types, then every test
	$(BIN)/python -m pytest

check: .venv/.test  ## lint, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright --pythonpath $(BIN)/python

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("toolsearch needs Python 3.11 or later" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv

.venv/.demo: pyproject.toml | .venv/bin/python  ## the package in a virtual environment
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

.venv/.test: pyproject.toml | .venv/bin/python  ## the package and what its tests need
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@ .venv/.demo

clean:  ## remove what was built and installed
	rm -rf .venv dist build indexes/*/data
