# Each target creates the environment that it needs from a locked, hashed requirement file, and again
# after that file changed. Nothing here chooses a package index: pip's own configuration does.

PYTHON       ?= python3
UV           ?= uv
JOBS         ?= 2
REMIT_AGENTS ?= .agents
FUZZ_SECONDS ?= 20
FUZZERS      := extractor formats frontmatter tags manifest bash_policy hook http_api

BIN     := .venv/bin

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
export REMIT_AGENTS := $(abspath $(REMIT_AGENTS))
# Without bytecode each of pytest's processes would compile its plugins again.
unexport PYTHONDONTWRITEBYTECODE
.PHONY: help setup warm agents agents-newest browser examples demo test test-all test-fast test-newest snapshots check lint types cover docs conformance bench torture kills io-errors writers survivors supervisors histories fakes denied-programs graphs bombs escapes leaks hostile cluster fuzz count lock wheels build clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: .venv/.ready ## create .venv with the package and everything that its checks need

warm: setup ## compile the tests once, so that not every process of pytest has to
	@$(BIN)/pytest --collect-only -q >/dev/null

agents: ## install the pinned harnesses that slow tests run, into .agents or REMIT_AGENTS (needs npm)
	@sh tools/agents.sh "$(REMIT_AGENTS)"

agents-newest: ## install the newest release of each harness, into .agents-newest
	@sh tools/agents.sh "$(REMIT_AGENTS)-newest" newest

browser: ## install the browser for tests of the dashboard, if the system allows it (Debian's chromium)
	@sh tools/browser.sh

examples: .venv-examples/.ready ## install the frameworks of examples/python_agents, for their tests

demo: .venv-demo/.ready ## run a task from research to done, with an agent that lies and one that hangs
	@.venv-demo/bin/python examples/demo.py .demo
	@echo "Look around with: . .venv-demo/bin/activate; cd .demo/project; remit show -; git show"

test: setup ## run all tests except those that only repeat others with more harnesses or longer waits
	@$(BIN)/pytest -n $(JOBS)

test-all: setup .wheels/.all ## run every test: more harnesses, longer waits, every kill instead of a sample
	@REMIT_TEST_ALL=1 $(BIN)/pytest -n $(JOBS) --timeout 1800

test-fast: setup ## run the quick tests, while you work
	@$(BIN)/pytest -n $(JOBS) -m "not slow" --hypothesis-profile=quick

snapshots: setup ## rewrite the snapshots of tests with what is printed now; TESTS=PATH for some
	@$(BIN)/pytest --inline-snapshot=create,fix $(or $(TESTS),$(shell grep -rl 'import snapshot$$' tests)) || true
	@git diff --stat tests

test-newest: setup agents-newest ## run the harness tests with the newest releases; reports failures, never fails
	@sh tools/newest.sh "$(REMIT_AGENTS)-newest" $(BIN)/pytest -n $(JOBS) tests/harnesses tests/runners/test_real_*.py

check: lint types cover ## everything that has to pass: lint, types, tests, coverage, import directions, public names

lint: setup ## ruff: rules and formatting; import-linter: which package may import which
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/lint-imports

types: setup ## mypy, strict
	@$(BIN)/mypy

cover: setup ## run the tests of `make test` and measure line and branch coverage; the minimum is in pyproject.toml
	@$(BIN)/pytest -n $(JOBS) --cov --cov-report=
	@$(BIN)/coverage report

docs: setup ## build the reference into docs/reference: commands, rules, settings, codes and schemas
	@$(BIN)/python -m tools.reference

conformance: setup ## write docs/conformance.md: the test or decision of each item of the standards
	@$(BIN)/python -m tools.conformance

bench: setup .venv-bench/.ready ## measure Remit and similar tools into docs/benchmarks.md; BENCH=--quick for a quick look
	@$(BIN)/python bench/all.py $(BENCH)

torture: setup ## run every test of docs/reliability.md at full size, for hours; one table at the end (ROWS=--missing continues)
	@$(BIN)/python torture/everything.py --jobs $(JOBS) $(ROWS)

kills: setup ## kill every command at every syscall and check the files that are left (needs strace)
	@$(BIN)/python torture/kill_points.py --jobs $(JOBS)

io-errors: setup ## fail every disk operation of every command (needs strace)
	@$(BIN)/python torture/io_errors.py --jobs $(JOBS)

writers: setup ## 32 processes that write 500 times each
	@$(BIN)/python torture/writers.py

survivors: setup ## 200 agents that leave processes behind in every way, ended in every way
	@$(BIN)/python torture/survivors.py

supervisors: setup ## kill the supervisor of 50 agents repeatedly: no run is lost or runs twice
	@$(BIN)/python torture/supervisors.py

histories: setup ## compare 10,000 random histories of runs with a model
	@$(BIN)/python torture/histories.py --jobs $(JOBS)

fakes: setup ## false returns: none is accepted
	@$(BIN)/python torture/fakes.py

denied-programs: setup ## spellings of denied programs, run under the launcher and its judge: none starts one but those listed
	@$(BIN)/python torture/denied_programs.py --jobs $(JOBS)

graphs: setup ## every call graph of five agents: three in a chain, never four, never a cycle
	@$(BIN)/python torture/graphs.py

bombs: setup ## files that hang, crash or fill a reader: each is handled within 2 s and 200 MB
	@$(BIN)/python torture/bombs.py

escapes: setup ## paths that lead out of the workspace, and 10,000 swaps between check and use
	@$(BIN)/python torture/escapes.py

leaks: setup ## agents that print every form of secret, and everything that is stored or shown
	@$(BIN)/python torture/leaks.py

hostile: setup ## read a repository full of traps: nothing in it is executed (needs strace)
	@$(BIN)/python torture/hostile.py

cluster: setup ## machines that die and freeze, databases and networks that fail: nothing is lost, doubled or forged
	@$(BIN)/python torture/cluster.py

fuzz: $(FUZZERS:%=fuzz-%) ## fuzz for FUZZ_SECONDS (20) each

$(FUZZERS:%=fuzz-%): fuzz-%: .venv-fuzz/.ready
	@PYTHONPATH=src .venv-fuzz/bin/python fuzz/watch.py $* -max_total_time=$(FUZZ_SECONDS)

count: setup ## a million cases for each fuzz target
	@$(BIN)/python fuzz/count.py --jobs $(JOBS)

lock: ## compile requirements/*.in into the locked files (needs uv; LOCK_FLAGS=--upgrade for newer versions)
	@for source in requirements/*.in; do \
	  $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	    --custom-compile-command "make lock" $(LOCK_FLAGS) "$$source" -o "$${source%.in}.txt" || exit; \
	done

wheels: .wheels/.ready ## download what the tests of the locks install into .wheels, so that they need no network

build: setup ## build the wheel and the source archive into dist/
	@$(BIN)/hatchling build

clean: ## remove environments, caches and builds
	rm -rf .venv .venv-demo .venv-bench .venv-fuzz .venv-examples .wheels .demo .fuzz .hypothesis .mypy_cache .pytest_cache .ruff_cache .screens .torture .coverage .coverage.* build dist docs/reference
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.ready: requirements/dev.txt pyproject.toml
	$(call environment,.venv,$<)
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -q src
	@touch $@

# Remit is put on the path as it is: an editable install would need the build backend, with six packages more.
.venv-demo/.ready: requirements/core.txt
	$(call environment,.venv-demo,$<)
	@for packages in .venv-demo/lib/python3*/site-packages; do echo "$(abspath src)" > "$$packages/remit.pth"; done
	@printf '#!/bin/sh\nexec "%s" -m remit "$$@"\n' "$(abspath .venv-demo/bin/python)" > .venv-demo/bin/remit
	@chmod +x .venv-demo/bin/remit
	@touch $@

.venv-bench/.ready .venv-fuzz/.ready .venv-examples/.ready: .venv-%/.ready: requirements/%.txt
	$(call environment,.venv-$*,$<)
	@touch $@

# Each lock by itself: two of them pin different versions of pip. The large ones are for `make test-all`.
.wheels/.ready: $(patsubst %,requirements/%.txt,dev installers installers-oldest)
.wheels/.all: .wheels/.ready $(patsubst %,requirements/%.txt,bench examples fuzz)
.wheels/.ready .wheels/.all: .venv/.ready
	@echo "Downloading the wheels of $(filter %.txt,$^) into .wheels ..."
	@[ $@ = .wheels/.all ] || rm -rf .wheels
	@for lock in $(filter %.txt,$^); do \
	  $(BIN)/pip download --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: --dest .wheels -r $$lock || exit; \
	done
	@cat $(filter %.txt,$^) > $@

# $(call environment,FOLDER,REQUIREMENTS): a virtual environment with the locked packages.
define environment
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
  { echo "Remit needs Python 3.11 or newer as '$(PYTHON)'; name another with: make PYTHON=python3.12" >&2; exit 1; }
@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
  { echo "'$(PYTHON)' cannot make virtual environments; install its venv package (python3-venv on Debian and Ubuntu)." >&2; exit 1; }
@echo "Installing $$(grep -c '^[a-z0-9].*==' $(2)) packages from $(2) into $(1) ..."
@$(PYTHON) -m venv $(1)
@$(1)/bin/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $(2)
@found=$$($(1)/bin/pip check --disable-pip-version-check 2>&1) || \
  { echo "$(2) does not fit together: $$found" >&2; exit 1; }
endef
