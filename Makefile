# make demo   a workspace with the sample corpus, from nothing to a cited answer
# make test   everything the continuous integration runs
# make check  its static part
# make bench  install what the benchmarks need, and list them
# make lab    real models from packages, in a workspace under .cache/lab (1.3 GB to fetch)
# make clean  remove whatever make has made

.DEFAULT_GOAL := help
.PHONY: help demo test check types style compiled bench lab clean

VENV := .venv
BIN := $(VENV)/bin
DEMO := .cache/demo

# llama.cpp compiles beside what pip installs; the tests are read beside the checks.
MAKEFLAGS += --jobs=2
# Bytecode is kept whatever the shell says: hundreds of processes would compile what they import.
export PYTHONDONTWRITEBYTECODE =

# The first interpreter that is new enough; `make demo PYTHON=/path/to/python3` names another.
CANDIDATES := python3 python3.14 python3.13 python3.12 python3.11
NEW_ENOUGH := 'import sys; sys.exit(sys.version_info < (3, 11))'
PYTHON ?= $(shell for p in $(CANDIDATES); do \
	$$p -c $(NEW_ENOUGH) 2>/dev/null && echo $$p && break; done)

# llama-cpp-python has to be compiled (two minutes): its wheel is kept outside the working tree, for
# every checkout of this user, beside the vocabulary and the template that its source holds.
LLAMA := $(shell sed -n 's/^llama_cpp_python==/llama_cpp_python-/p' constraints.txt)
WHEELS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/localrag/$(LLAMA)
export LOCALRAG_TEST_VOCABULARY ?= $(WHEELS)/vocabulary

# Twice quiet: warnings are left out, errors are not.
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
PINNED := --constraint constraints.txt --build-constraint constraints.txt
# pip compiles the packages: in a test their own warnings (invalid escapes) would be errors.
INSTALL := $(PIP) install $(PINNED)

help:
	@sed -n 's/^# make/make/p' Makefile

$(VENV)/made:
	@$(or $(PYTHON),false) -c $(NEW_ENOUGH) 2>/dev/null || { \
		echo "localrag needs Python 3.11 or newer; found: $$(python3 --version 2>&1)." >&2; \
		echo "Install one, or name it: make demo PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install "$$(grep '^pip==' constraints.txt)"
	@touch $@

$(VENV)/base: $(VENV)/made pyproject.toml constraints.txt
	@echo "installing localrag into $(VENV)"
	@$(INSTALL) --editable .
	@touch $@

# Without the parts nobody loads (vision, command-line tools), and without instructions that
# another processor may lack.
$(WHEELS)/made: | $(VENV)/made
	@command -v c++ >/dev/null || { echo "make test needs a C++ compiler, for llama.cpp" >&2; exit 1; }
	@echo "compiling $(LLAMA) into $(WHEELS), once"
	@rm -rf $(WHEELS) $(WHEELS).new && mkdir -p $(WHEELS).new
	@$(PIP) download $(PINNED) --no-deps --no-binary llama-cpp-python \
		--dest $(WHEELS).new llama-cpp-python
	@cd $(WHEELS).new && tar --extract --gzip --file $(LLAMA).tar.gz --one-top-level=vocabulary \
		--strip-components=4 --wildcards '*/vendor/llama.cpp/models/ggml-vocab-qwen2.gguf' && \
		tar --extract --gzip --file $(LLAMA).tar.gz --one-top-level=vocabulary --strip-components=5 \
		--wildcards '*/vendor/llama.cpp/models/templates/Qwen-Qwen3-0.6B.jinja'
	@echo 'set(LLAMA_BUILD_COMMON OFF)' > $(WHEELS).new/without-common.cmake
	@CMAKE_ARGS="-DLLAVA_BUILD=OFF -DGGML_NATIVE=OFF \
		-DCMAKE_PROJECT_llama_cpp_INCLUDE=$(WHEELS).new/without-common.cmake" \
		$(PIP) wheel $(PINNED) --no-deps --wheel-dir $(WHEELS).new $(WHEELS).new/$(LLAMA).tar.gz
	@rm $(WHEELS).new/$(LLAMA).tar.gz && mv $(WHEELS).new $(WHEELS)
	@touch $@

EXTRAS := averitec,bundle,dense,docs,eval,hub,jemhopqa,mcp,ocr,office,optimize,sentence-transformers,serve,watch,wikipedia

$(VENV)/tools: $(VENV)/base
	@echo "installing the tools of the tests"
	@$(INSTALL) --editable '.[$(EXTRAS)]' --group dev
	@touch $@

$(VENV)/dev: $(VENV)/tools $(WHEELS)/made
	@$(INSTALL) --find-links $(WHEELS) --group llama-cpp
	@touch $@

localrag = printf '\n$$ localrag %s\n\n' "$(1)" && LOCALRAG_HOME=$(DEMO) $(BIN)/localrag $(1)

demo: $(VENV)/base
	@rm -rf $(DEMO)
	@$(call localrag,init)
	@$(call localrag,add --sample)
	@$(call localrag,index)
	@$(call localrag,show 渡し舟法8条)
	@$(call localrag,search --explain -k 3 渡し守の資格)
	@$(call localrag,ask 渡し舟を運航してはならない水位の基準は何か。)

check: types style

types: $(VENV)/dev
	@$(BIN)/mypy

style: $(VENV)/dev
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python scripts/prose.py --check

# The bytecode of the tests and of what they import: three workers would each make it.
compiled: $(VENV)/dev
	@$(BIN)/pytest --collect-only --quiet --numprocesses 0 >/dev/null || true # The run tells why.

# Three workers on two cores, for the tests of the workbench wait half of their time; those of a file
# stay together, for they share what is slow to make. A run that has not ended by itself
# (tests/ending.py) is interrupted, and says what it knows.
test: check compiled
	@timeout --foreground --signal=INT --kill-after=2m 45m $(BIN)/pytest --numprocesses 3 --dist loadfile

bench: $(VENV)/dev
	@for script in $$(grep -l '__main__' scripts/bench/*.py); do \
		printf '%-36s %s\n' "$$script" "$$(sed -n '1s/"""//gp' $$script)"; done
	@echo "Run one with $(BIN)/python; --help shows what it takes. They need public data (README.md)."

lab: $(VENV)/dev
	@PYTHONPATH=scripts $(BIN)/python -m lab

clean:
	@rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
