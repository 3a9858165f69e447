PYTHON ?= python3
VENV ?= .venv
RUN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= auto

.PHONY: demo test check bench clean

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(RUN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[local,dev]'
	touch $@

demo: $(STAMP)  ## the main job, on a small mailbox
	$(RUN)/muniment demo

test: $(STAMP)  ## everything that must hold
	$(RUN)/ruff check --output-format concise .
	$(RUN)/ruff format --check --quiet .
	$(RUN)/mypy
	$(RUN)/lint-imports
	OPENBLAS_NUM_THREADS=1 $(RUN)/pytest -q -n $(WORKERS) --dist worksteal

bench: $(STAMP)  ## figures, beside their floors
	OPENBLAS_NUM_THREADS=1 $(RUN)/python -m benchmarks

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
