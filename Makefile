# Needs Python 3.11 or later and make; everything else goes into .venv.
PYTHON ?= python3
BIN := .venv/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check

# uv takes a fifth of pip's time; pip is there where uv is not, and knows groups since 25.1
INSTALL = { $(PIP) uv && $(BIN)/uv pip install --quiet --python $(BIN)/python $(WANTED); } || \
  { $(PIP) 'pip>=25.1' && $(PIP) $(WANTED); }

APART = --ignore=tests/studio --ignore=tests/torch --ignore=tests/targets
# byte code is kept wherever Python is told not to: the imports of the many processes take half as long with it
PYTEST = PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 $(BIN)/pytest
SUITE = $(PYTEST) -n auto --dist worksteal $(APART)

.PHONY: demo test laws replay test-thorough test-targets test-torch quick lint fmt type imports pages browser docs dist clean

demo: .venv/.demo
	@mkdir -p demo
	$(BIN)/armdyn torque puma560 examples/puma560_pick.csv -o demo/torques.csv --plot demo/torques.png
	@echo "open the studio with: $(BIN)/armdyn studio puma560"

test: lint imports browser
	$(SUITE) -m "not thorough"
	$(MAKE) -j 2 type pages

# every law with the robots that it sees
laws: .venv/.test
	@$(BIN)/pytest -q --laws $(APART)

# what the working tree computes otherwise than a commit; ALL=1 for every part of every robot
BASE ?= HEAD
replay: .venv/.test
	$(BIN)/python benchmarks/replay.py $(BASE) $(if $(ALL),--all)

# what `make test` leaves out, and fifty fresh robots for every law; SEED=123 repeats those of a run
test-thorough: .venv/.test
	$(SUITE) -m thorough
	$(SUITE) -m law --fresh-robots 50 $(if $(SEED),--robots-seed $(SEED))
	$(PYTEST) tests/studio -m thorough

pages: .venv/.test
	$(PYTEST) tests/studio -m "not thorough"

# PyTorch brings gigabytes, so it gets an environment of its own
test-torch: build/.torch
	build/torch/bin/python -m pytest tests/torch

# exported code in Octave, C++, TeX and on processors in an emulator: docs/targets.md has what it printed
PACKAGES := cmake g++ libeigen3-dev octave-dev qemu-system-arm qemu-user gcc-arm-none-eabi \
  libnewlib-arm-none-eabi gcc-aarch64-linux-gnu libc6-dev-arm64-cross texlive-latex-base
test-targets: .venv/.test
	@dpkg -s $(PACKAGES) >/dev/null 2>&1 || { apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(PACKAGES); } || { \
	  echo "test-targets needs Debian's packages $(PACKAGES), and could not install them" >&2; exit 1; }
	$(BIN)/pytest -v -rP tests/targets

# what a change is tried with, within a minute: laws wait for `make test`, and files that are slow as a whole
# are not read
QUICK = $(shell grep -rL --include='test_*.py' '^pytestmark = .*slow' tests/architecture tests/unit) \
  tests/studio/test_archive.py tests/studio/test_window.py
quick: lint imports
	$(PYTEST) -q -n 2 --dist worksteal \
	  -m "not slow and not law and not thorough" $(QUICK)

lint: .venv/.test
	$(BIN)/ruff check src tests examples benchmarks docs/conf.py docs/site docs/images
	$(BIN)/ruff format --check src tests examples benchmarks docs/conf.py docs/site docs/images

fmt: .venv/.test
	$(BIN)/ruff check --fix src tests examples benchmarks docs/conf.py docs/site docs/images
	$(BIN)/ruff format src tests examples benchmarks docs/conf.py docs/site docs/images

type: .venv/.test
	$(BIN)/mypy

imports: .venv/.test
	$(BIN)/lint-imports

# pages are tested in a real browser, which is installed where it is not and Debian's can be
browser:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && ( timeout 120 apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive timeout 300 apt-get install -y -qq --no-install-recommends chromium \
	  ) >/dev/null 2>&1; } || echo "no browser: the tests of the studio's pages will be skipped"

# the documentation as a site; a warning, as of a link that leads nowhere, is an error
docs: .venv/.test
	$(BIN)/sphinx-build --quiet --fail-on-warning docs build/site
	@echo "open build/site/index.html"

# a wheel and an sdist, and a torque by the wheel in a fresh environment
dist: .venv/.dist
	rm -rf dist build/fresh
	$(BIN)/python -m build --outdir dist .
	$(PYTHON) -m venv build/fresh
	build/fresh/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	cd build/fresh && bin/armdyn torque puma560 ../../examples/puma560_pick.csv -o torques.csv && bin/armdyn robots

clean:
	rm -rf .venv demo dist build

.venv/.python:
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else f"armdyn needs Python 3.11 or later; $(PYTHON) is {sys.version.split()[0]}. Try: make PYTHON=python3.12 demo")'
	$(PYTHON) -m venv .venv
	@touch $@

.venv/.demo: WANTED = -e '.[plot,studio]'
.venv/.demo: .venv/.python pyproject.toml
	$(INSTALL)
	@touch $@

.venv/.test: WANTED = -e '.[plot,mjcf,design,parquet,studio]' --group test --group lint
.venv/.test: .venv/.python pyproject.toml
	$(INSTALL)
	@touch $@

build/.torch: pyproject.toml
	$(PYTHON) -m venv build/torch
	build/torch/bin/python -m pip install --quiet --disable-pip-version-check -e '.[torch]' 'pytest>=8.0' pytest-timeout 'hypothesis>=6.100'
	@touch $@

.venv/.dist: WANTED = --group dist
.venv/.dist: .venv/.python pyproject.toml
	$(INSTALL)
	@touch $@
