# make run    opens the app on its sample data         make test   proves it: lint, types, tests, browser
# make help   lists the rest

PYTHON ?= python3
VENV   := .venv
PIP     = -m pip --disable-pip-version-check --quiet
PY      = $(VENV)/bin/python
MIN     = .venv-min/bin/python
JOBS   ?= 2

.DEFAULT_GOAL := help
.PHONY: help run test check format slow test-min bench lock clean

help:  ## what there is
	@sed -n -E 's/^([a-z-]+):.*## (.*)/make \1\t\2/p' Makefile | expand -t 16

run: $(VENV)/installed  ## the app, in the browser, on its sample data
	$(PY) -m streamlit run app.py

test: check  ## lint, types and every test but the slow ones; the browser too
	$(PY) -m pytest -n $(JOBS)

check: $(VENV)/installed  ## lint, layout and types
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

format: $(VENV)/installed  ## lays the code out and sorts its imports
	$(VENV)/bin/ruff check --fix-only .
	$(VENV)/bin/ruff format .

slow: $(VENV)/installed  ## the tests marked slow
	$(PY) -m pytest -m "slow and not bench"

test-min: .venv-min/installed  ## every test on the oldest versions that requirements.txt allows
	$(MIN) -m pytest -n $(JOBS)

bench: $(VENV)/benched  ## speed and memory against other tools; TREC_EVAL=path names C trec_eval
	$(PY) -m pytest -m bench -s -p no:cacheprovider -W default tests/benchmarks

lock: .venv-lock/installed  ## requirements.lock anew, at the newest versions (needs Python 3.11)
	.venv-lock/bin/pip-compile --quiet --upgrade --extra=dev --unsafe-package=ragdash --strip-extras --no-emit-index-url \
	  --no-emit-find-links --no-emit-trusted-host --output-file=requirements.lock pyproject.toml

clean:  ## environments and caches away
	rm -rf .venv .venv-min .venv-lock build dist ragdash.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/installed: requirements.lock pyproject.toml setup.py
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer, please: make PYTHON=…")'
	$(PYTHON) -m venv $(VENV)
	$(PY) $(PIP) install -r requirements.lock
	$(PY) $(PIP) install --no-deps --editable .
	touch $@

# The lower bounds as pins; everything else as in the lock.
.venv-min/installed: requirements.txt requirements.lock pyproject.toml setup.py
	$(PYTHON) -m venv .venv-min
	sed -E 's/>=([^,]+),.*/==\1/' requirements.txt > .venv-min/pins.txt
	grep -v -E "^($$(sed -E 's/>=.*//' requirements.txt | paste -s -d '|'))==" requirements.lock >> .venv-min/pins.txt
	$(MIN) $(PIP) install --constraint .venv-min/pins.txt --editable '.[test]'
	touch $@

$(VENV)/benched: $(VENV)/installed
	$(PY) $(PIP) install --constraint requirements.lock --editable '.[bench]'
	touch $@

.venv-lock/installed:
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python $(PIP) install pip-tools
	touch $@
