# Every target prepares what it needs: `make test` in a fresh clone is enough.

BIN := .venv/bin
PIP := python -m pip --disable-pip-version-check --quiet
# Older pips would build pyspark with whatever setuptools is around.
export PIP_USE_PEP517 := 1

.PHONY: help setup run test test-long test-kafka test-cluster check format bench lock clean

help:  ## this list (the default)
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' Makefile | expand -t 20

setup: .venv/.ready  ## .venv with the locked dependencies and fyke itself, editable

run: .venv/.ready  ## the pipeline: a million events, 100,000 subscriptions (ARGS=--quick: a glance)
	@$(BIN)/fyke pipeline run $(ARGS)

test: .venv/.ready  ## the tests (ARGS=tests/filters: those of one package)
	@$(BIN)/python -m pytest $(or $(ARGS),-n 2 tests)

# FYKE_SEED draws the examples of an earlier run again, FYKE_EXAMPLES=50 is for a night.
test-long: .venv/.ready  ## those that take long, and the properties with other and more examples
	@export FYKE_SEED=$${FYKE_SEED:-$$(date +%s)} FYKE_EXAMPLES=$${FYKE_EXAMPLES:-3}; \
		echo "test-long: FYKE_SEED=$$FYKE_SEED FYKE_EXAMPLES=$$FYKE_EXAMPLES"; \
		$(BIN)/python -m pytest -n 2 -m 'long or property' tests
	@$(MAKE) --no-print-directory test-cluster

test-kafka: .venv/.ready  ## streams from and to a real Kafka, brought from Maven Central (54 MB, once)
	@$(BIN)/python -m tests_kafka.jars
	@$(BIN)/python -m pytest tests_kafka

test-cluster: .venv/.ready  ## Spark on a cluster whose machines share nothing, on this machine (Linux)
	@$(BIN)/python -m pytest --timeout 1800 tests_cluster

check: .venv/.ready  ## lint, format, types, and which package imports which
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy src
	$(BIN)/lint-imports --no-logo

format: .venv/.ready  ## rewrite the code in the house format
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

bench: .venv/.ready  ## the benchmarks, long (ARGS=--quick: a glance; ARGS='--only live': a topic)
	@$(BIN)/python -m benchmarks $(ARGS)

clean:  ## remove .venv and whatever else is generated
	rm -rf .venv build dist .*_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# ---- the environment -------------------------------------------------------------------------

# Some of the locked libraries have no wheels for newer Pythons yet.
FIND_PYTHON := for python in $(PYTHON) python3 python3.13 python3.12 python3.11 none; do \
	$$python -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null && break; done; \
	test $$python != none || { echo 'Python 3.11 to 3.14 is needed: make PYTHON=... names one' >&2; exit 1; }

# Two stamps, so that an edit of pyproject.toml does not install everything again.
.venv/.ready: .venv/.locked pyproject.toml
	@echo 'setup: installing fyke, editable'
	@$(BIN)/$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

# A .venv without its stamp is what an interrupted install left: start again.
# Debian ships a venv module that cannot bring pip along; there the pip outside lends a hand.
.venv/.locked: requirements.lock
	@test -e $@ || { rm -rf .venv; $(FIND_PYTHON); echo "setup: creating .venv with $$($$python --version)"; \
		$$python -m venv .venv >/dev/null || { $$python -m venv --without-pip .venv && \
		$$python -m pip --python $(BIN)/python --quiet install pip; }; }
	@rm -f $@
	@echo 'setup: installing the locked dependencies (a few minutes the first time)'
	@$(BIN)/$(PIP) install --require-hashes -r requirements.lock
	@touch $@

# Pins that still fit stay; UPGRADE=1 moves all of them to the newest version.
lock: .venv/.locked  ## pin the dependencies of pyproject.toml again (UPGRADE=1: all at their newest)
	@$(BIN)/$(PIP) install --upgrade --target build/uv uv
	@build/uv/bin/uv pip compile --quiet --universal --python-version 3.11 --all-extras --generate-hashes \
		--no-annotate --no-header --no-emit-index-url $(if $(UPGRADE),--upgrade) pyproject.toml -o requirements.lock
	@{ echo '# For CPython 3.11 to 3.14 on Linux, Windows and macOS (Apple silicon). Made by: make lock'; \
		cat requirements.lock; } > build/lock && mv build/lock requirements.lock
