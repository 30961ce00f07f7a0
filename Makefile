# rtvoice, from a checkout. `make` alone lists what there is.
#
# Each environment is set up once and again when pyproject.toml changes; its stamp is touched last, so that an
# interrupted installation is taken up again. PYTHON=/path/to/python3.12 chooses the interpreter.

VENV ?= .venv
REFERENCE_VENV ?= .venv-reference
AGENTS_VENV ?= .venv-agents
HOST ?= 127.0.0.1
PORT ?= 8765
PIP = -m pip --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help run test test-reference test-agents lint format benchmark benchmark-engine benchmark-streaming benchmark-quality \
	benchmark-memory soak-page screenshots statistics clean

help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-20s %s\n", $$1, $$2 }' Makefile

run: $(VENV)/.rtvoice ## Set up, build the model, serve on http://127.0.0.1:8765 (HOST=, PORT= change it).
	@exec $(VENV)/bin/rtvoice serve --host $(HOST) --port $(PORT) --allow-unfitted

test: $(VENV)/.test ## Set up and run all tests but those against the reference.
	@scripts/test_tools.sh
	$(VENV)/bin/python -m pytest --ignore=tests/agents

test-reference: $(REFERENCE_VENV)/.reference ## Compare the network with PyTorch's, in an environment of its own.
	$(REFERENCE_VENV)/bin/python -m pytest -m reference tests/reference

test-agents: $(VENV)/.test $(AGENTS_VENV)/.agents ## Let LiveKit's and Pipecat's own clients speak with a server.
	RTVOICE_PYTHON=$(abspath $(VENV))/bin/python $(AGENTS_VENV)/bin/python -m pytest -m agents -W default tests/agents

lint: $(VENV)/.lint ## Check style, types, the order of imports, shell and Dockerfile.
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
	$(VENV)/bin/shellcheck scripts/*.sh .ci/run
	$(VENV)/bin/hadolint Dockerfile

format: $(VENV)/.lint ## Format the code and mend what can be mended.
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .

benchmark: ARGUMENTS ?= --quick
benchmark: $(VENV)/.report $(REFERENCE_VENV)/.benchmark ## Measure all there is, in ten minutes, and write docs/benchmarks.md.
	$(VENV)/bin/python -m benchmarks.report --reference-python $(REFERENCE_VENV)/bin/python $(ARGUMENTS)

benchmark-engine: $(VENV)/.rtvoice $(REFERENCE_VENV)/.benchmark ## Measure the engine beside PyTorch, ONNX Runtime, others.
	$(VENV)/bin/python -m benchmarks.engine --reference-python $(REFERENCE_VENV)/bin/python $(ARGUMENTS)

benchmark-streaming: $(VENV)/.rtvoice $(REFERENCE_VENV)/.benchmark ## Measure how soon a sentence is heard, beside others.
	$(VENV)/bin/python -m benchmarks.streaming --reference-python $(REFERENCE_VENV)/bin/python $(ARGUMENTS)

benchmark-quality: $(VENV)/.rtvoice $(REFERENCE_VENV)/.benchmark ## Compare speech in slices with the exact form.
	$(VENV)/bin/python -m benchmarks.quality --reference-python $(REFERENCE_VENV)/bin/python $(ARGUMENTS)

benchmark-memory: $(VENV)/.rtvoice ## Measure what a warm engine holds, and how soon a cancel frees it.
	$(VENV)/bin/python -m benchmarks.memory $(ARGUMENTS)

soak-page: $(VENV)/.test ## Speak for ten minutes in Chromium: nothing may run dry, Whisper must understand.
	@scripts/test_tools.sh
	$(VENV)/bin/python -m tests.web.soak $(ARGUMENTS)

screenshots: $(VENV)/.test ## Take the pictures of the page in docs/images anew, of the real model, in five minutes.
	@scripts/test_tools.sh
	$(VENV)/bin/python -m tests.web.screenshots docs/images

statistics: $(VENV)/.rtvoice ## Fit the packaged voices' maps of statistics anew, in half an hour.
	$(VENV)/bin/python scripts/fit_statistics.py

clean: ## Remove the environments and caches of this checkout.
	rm -rf $(VENV) $(REFERENCE_VENV) $(AGENTS_VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist

$(VENV)/.rtvoice: pyproject.toml
	@scripts/make_venv.sh $(VENV)
	@echo "Installing rtvoice and what it needs: about 1 GB, a minute or two."
	$(VENV)/bin/python $(PIP) install --quiet --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.rtvoice
	$(VENV)/bin/python $(PIP) install --quiet --group test
	@touch $@

$(VENV)/.report: $(VENV)/.rtvoice
	$(VENV)/bin/python $(PIP) install --quiet --group report
	@touch $@

$(VENV)/.lint: $(VENV)/.test
	$(VENV)/bin/python $(PIP) install --quiet --group lint
	@touch $@

$(AGENTS_VENV)/.agents: pyproject.toml
	@scripts/make_venv.sh $(AGENTS_VENV)
	@echo "Installing the frameworks of voice agents: 800 MB, two minutes."
	$(AGENTS_VENV)/bin/python $(PIP) install --quiet --group agents
	@touch $@

# torch goes in first: pip then need not look for one that suits the packages that come after it.
$(REFERENCE_VENV)/.reference: pyproject.toml
	@scripts/make_venv.sh $(REFERENCE_VENV)
	@echo "Installing PyTorch and the reference model: several GB, a few minutes."
	$(REFERENCE_VENV)/bin/python $(PIP) install --quiet torch==2.13.0
	$(REFERENCE_VENV)/bin/python $(PIP) install --quiet --editable '.[reference]' --group reference
	@touch $@

$(REFERENCE_VENV)/.benchmark: $(REFERENCE_VENV)/.reference
	$(REFERENCE_VENV)/bin/python $(PIP) install --quiet --group benchmark
	@touch $@
