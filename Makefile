PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test check build clean

.venv/.installed: pyproject.toml  ## a virtual environment with the package and what the tests need
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

test: .venv/.installed  ## lint, types, then every test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/python -m pytest

clean:  ## what was built
	rm -rf .venv dist build indexes/*/data
