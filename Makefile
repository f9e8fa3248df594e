# make demo   run the GEMM tutorial and write a page that opens in any browser
# make test   every test, the notebooks among them
# make fuzz   thousands of generated programs and garbled texts, COUNT and TEXTS of them
# make mutations  every barrier of the examples and of PROGRAMS generated programs deleted and put back
# make lab    JupyterLab with the kit in it; LAB_FLAGS are its own, as root --allow-root
# make lint   ruff and pyright
# make notebooks   run the notebooks again and save their outputs
#
# Everything is installed into ./.venv and written below ./build.

PYTHON ?= python3
VENV   ?= .venv
JOBS   ?= 2
COUNT  ?= 2000
TEXTS  ?= 100000
PROGRAMS ?= 200

ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif

# With an NVIDIA driver: CuPy of the CUDA major version that the driver runs. Without: NVRTC alone.
CUDA_MAJOR := $(shell nvidia-smi 2>/dev/null | sed -n 's/.*CUDA Version: \([0-9]*\).*/\1/p')
ifeq ($(CUDA_MAJOR),)
BACKEND := nvrtc
else ifeq ($(shell test $(CUDA_MAJOR) -ge 13 && echo yes),yes)
BACKEND := cu13
else
BACKEND := cu12
endif
EXTRAS ?= test,sass,$(BACKEND)

comma := ,
INSTALLED := $(VENV)/.installed-$(subst $(comma),-,$(EXTRAS))

.PHONY: install demo test fuzz mutations lab lint notebooks clean

install: $(INSTALLED)

$(INSTALLED): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info < (3, 14) else "phobos_nb needs Python 3.11 to 3.13: make PYTHON=python3.12 ...")'
	@echo "installing phobos_nb[$(EXTRAS)] into $(VENV)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -e ".[$(EXTRAS)]"
	@rm -f $(VENV)/.installed-* && touch $@

demo: install
	@$(BIN)/python tools/demo.py

test: install
	@$(BIN)/python -m pytest -q -n $(JOBS) --dist loadscope --nbval --nbval-current-env --nbval-sanitize-with tests/nbval.cfg \
		$(PYTEST_FLAGS) tests notebooks

fuzz: install
	@$(BIN)/python -m tests.fuzz.run --count $(COUNT) --workers $(JOBS) --nvrtc --upstream 20
	@$(BIN)/python -m tests.fuzz.text --count $(TEXTS) --workers $(JOBS)

mutations: install
	@mkdir -p build
	@$(BIN)/python -m tests.simulate.mutations build/mutations.txt --workers $(JOBS)
	@$(BIN)/python -m tests.fuzz.barriers build/mutations_generated.txt --count $(PROGRAMS) --workers $(JOBS)

lab: install
	@$(BIN)/python -m jupyterlab --notebook-dir=notebooks $(LAB_FLAGS)

notebooks: install
	@$(BIN)/python tools/notebooks.py notebooks/*.ipynb

lint: install
	@$(BIN)/ruff check --quiet . && $(BIN)/ruff format --quiet --check . && $(BIN)/pyright --pythonpath $(BIN)/python

clean:
	rm -rf build .pytest_cache .ruff_cache
