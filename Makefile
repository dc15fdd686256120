# One command each. `make run` is all a person needs; the rest is for working on Companion (see CONTRIBUTING.md).
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
BIN := .venv/bin
CODE := companion_assets companion_app tests benchmarks

export ANSWERER RUNTIME PYTHON VAULT QUESTIONS

GOLDEN := --questions tests/golden/demo_vault.jsonl --vault companion_app/demo/vault

.PHONY: help setup setup-dev run test check fix eval eval-answers bench doctor clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' Makefile | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

setup: ## install everything into .venv (ANSWERER=full|light|none, RUNTIME=auto|llama|xllamacpp|none)
	@bash .ci/setup

setup-dev:
	@DEV=1 bash .ci/setup

run: setup ## ask the demo vault, or your own: make run VAULT=~/Notes
	@if [ -z "$$VAULT" ]; then exec $(BIN)/companion demo; fi; \
	export COMPANION_VAULT__PATH="$$VAULT"; \
	[ -e "$${COMPANION_HOME:-$$HOME/.companion}/companion.yaml" ] || $(BIN)/companion init --vault "$$VAULT"; \
	$(BIN)/companion index; \
	if [ -t 1 ]; then exec $(BIN)/companion up; fi; \
	echo 'Next: $(BIN)/companion ask "…", or $(BIN)/companion up for the page'

check: setup-dev ## format, lint, types, imports, house rules
	@$(BIN)/ruff format --check $(CODE)
	@$(BIN)/ruff check $(CODE)
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/python -m pytest tests/house

test: check ## check, then every test
	@bash .ci/chromium
	@$(BIN)/python -m pytest

fix: setup-dev ## format and mend what can be mended
	@$(BIN)/ruff format $(CODE)
	@$(BIN)/ruff check --fix $(CODE)

eval: setup ## is it found? On the demo vault; then QUESTIONS=file.jsonl, on VAULT=folder or your index
	@$(BIN)/companion eval retrieval $(GOLDEN)
	@if [ -n "$$QUESTIONS" ]; then $(BIN)/companion eval retrieval --questions "$$QUESTIONS" $${VAULT:+--vault "$$VAULT"}; fi

eval-answers: setup ## the 40 questions of the demo vault: answered, and rightly cited?
	@$(BIN)/python -m benchmarks.demo_questions

bench: setup-dev ## speed on this machine
	@for file in $(filter-out benchmarks/demo_questions.py benchmarks/made_vault.py,$(wildcard benchmarks/[a-z]*.py)); do \
	$(BIN)/python -m benchmarks.$$(basename "$$file" .py); done

doctor: setup ## what is in force, and what is missing
	@$(BIN)/companion doctor

clean: ## remove .venv and caches; your data root and the joined weights stay
	@rm -rf .venv .cache build .mypy_cache .ruff_cache .import_linter_cache .hypothesis *.egg-info
	@find companion_assets companion_app tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
