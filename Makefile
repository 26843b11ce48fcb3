# Everything that one does here. A machine with Python 3.11 or newer and make is enough;
# each target brings what it needs into .venv, pinned by constraints.txt.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory --no-builtin-rules
.PHONY: help release demo test test-shuffled test-wire check check-types check-rest format bench bench-peers docs docs-site clean

VENV := .venv
STAMPS := $(VENV)/.stamps
PYTHON := $(VENV)/bin/python
INSTALL := $(PYTHON) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
WIRE := .venv-wire
WIRE_INSTALL := $(WIRE)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints-wire.txt
SITE := .venv-site
OUT := theodolite-demo
ARGS :=

# Where nobody keeps byte code, each process that a test starts compiles all of it again.
unexport PYTHONDONTWRITEBYTECODE

help: ## Show what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

demo: $(STAMPS)/package ## Run the two shipped studies; writes theodolite-demo/report.html and results.json
	@$(VENV)/bin/theodolite demo --out $(OUT)

test: $(STAMPS)/test ## Run all tests; brings Chromium and PostgreSQL where they are missing (ARGS="-k rate")
	@sh tools/system_packages.sh
	@$(PYTHON) -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder $(ARGS)

test-shuffled: $(STAMPS)/test ## Run all tests twice: other order, hash seed, clock and time zone (ARGS="--rounds 5 tests/unit")
	@sh tools/system_packages.sh
	@$(PYTHON) tools/shuffled_tests.py --numprocesses auto --dist loadfile --no-loadscope-reorder $(ARGS)

test-wire: $(WIRE)/.stamp ## Run the tests against software that nobody here wrote; compiles a model server the first time (ARGS="-k eliza")
	@$(WIRE)/bin/python -m pytest tests/wire $(ARGS)

# Types take as long as all the rest, so they are checked beside it.
check: $(STAMPS)/check ## Check style, types, import contracts, migrations and documents
	@$(MAKE) --jobs=2 --output-sync=target check-types check-rest

check-types:
	$(VENV)/bin/mypy
	$(VENV)/bin/mypy typing_tests

# Of migrations: Django would warn that there is no database to look at; the check needs none.
check-rest:
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/lint-imports
	$(PYTHON) -W ignore::RuntimeWarning -m django makemigrations --check --dry-run --settings theodolite.bootstrap.settings
	$(PYTHON) tools/cli_reference.py --check
	$(PYTHON) tools/api_reference.py --check
	$(PYTHON) tools/json_reference.py --check
	$(PYTHON) tools/check_docs.py

format: $(STAMPS)/check ## Format the code
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .

bench: $(STAMPS)/test ## Measure speed on this machine; writes benchmarks/RESULTS.md
	@for file in benchmarks/bench_*.py; do echo "$$file"; $(PYTHON) "$$file" || exit 1; done

bench-peers: ## Install other tools for `make bench` to race against, each in an environment of its own
	@sh benchmarks/race/peers/install.sh

docs: $(STAMPS)/test ## Make the generated pages and the schemas of study files anew
	$(PYTHON) tools/cli_reference.py
	$(PYTHON) tools/api_reference.py
	$(PYTHON) tools/json_reference.py
	$(PYTHON) tools/notebook.py
	$(VENV)/bin/theodolite schemas src/theodolite/resources/schemas

docs-site: $(SITE)/.stamp ## Build the documentation as a site with search; writes build/site/index.html
	@$(SITE)/bin/python tools/docs_site.py
	@$(SITE)/bin/zensical build --clean --strict

release: $(STAMPS)/test ## Build wheel and sdist with an SBOM and checksums; KEY=release.pem signs them; writes dist/
	@rm -rf dist
	@$(PYTHON) -m hatchling build -d dist
	@$(PYTHON) tools/release_files.py dist $(if $(KEY),--key $(KEY))

clean: ## Remove what the other targets made
	rm -rf $(VENV) $(WIRE) $(SITE) $(OUT) mkdocs.yml build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

# Stamps say what .venv holds; a change of the lists brings it up to date.

$(STAMPS)/venv: tools/find_python.sh
	@python="$$(sh tools/find_python.sh)" && echo "making $(VENV) with $$python" && "$$python" -m venv --clear $(VENV)
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/package: $(STAMPS)/venv pyproject.toml constraints.txt
	@echo "installing theodolite"
	@$(INSTALL) hatchling editables
	@$(INSTALL) --no-build-isolation --editable ".[postgres]"
	@touch $@

$(STAMPS)/test: $(STAMPS)/package tools/dependency_group.py
	@echo "installing what the tests need"
	@$(PYTHON) tools/dependency_group.py test > $(STAMPS)/test.txt
	@$(INSTALL) --requirement $(STAMPS)/test.txt
	@touch $@

$(STAMPS)/check: $(STAMPS)/test
	@echo "installing what the checks need"
	@$(PYTHON) tools/dependency_group.py check > $(STAMPS)/check.txt
	@$(INSTALL) --requirement $(STAMPS)/check.txt
	@touch $@

# Large packages and a compiler's work, so it stands apart from .venv. With pins of its own:
# what these packages need beside them contradicts some of ours.

$(WIRE)/.stamp: tools/find_python.sh tools/dependency_group.py pyproject.toml constraints-wire.txt
	@python="$$(sh tools/find_python.sh)" && echo "making $(WIRE) with $$python; the model server takes minutes" && "$$python" -m venv --clear $(WIRE)
	@$(WIRE)/bin/python tools/dependency_group.py test > $(WIRE)/requirements.txt
	@$(WIRE)/bin/python tools/dependency_group.py wire >> $(WIRE)/requirements.txt
	@$(WIRE_INSTALL) hatchling editables
	@$(WIRE_INSTALL) --requirement $(WIRE)/requirements.txt
	@$(WIRE_INSTALL) --no-build-isolation --editable ".[inspect]"
	@touch $@

# The site generator is no part of .venv: nothing else needs it.

$(SITE)/.stamp: tools/find_python.sh constraints-site.txt
	@python="$$(sh tools/find_python.sh)" && echo "making $(SITE) with $$python" && "$$python" -m venv --clear $(SITE)
	@$(SITE)/bin/python -m pip install --quiet --disable-pip-version-check --requirement constraints-site.txt
	@touch $@
