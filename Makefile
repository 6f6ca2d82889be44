# SPDX-License-Identifier: Apache-2.0
# Builds, tests, measures and installs tutti: `make` lists what can be done. V=1 shows every command and its output.

PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# Options of `python -m report make`, or of ctest: make report REPORT_OPTIONS="--quick"
REPORT_OPTIONS ?=
CTEST_OPTIONS ?=

SHELL := /bin/bash
.SHELLFLAGS := -e -o pipefail -c
MAKEFLAGS += --no-print-directory
.NOTPARALLEL:
.DEFAULT_GOAL := help
export V
# Ninja's progress: done/total, seconds so far.
export NINJA_STATUS := [%f/%t %es] 
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)
export CTEST_PARALLEL_LEVEL := $(JOBS)

ifeq ($(V),1)
quiet = $(1)
else
Q := @
# Runs a command silently; shows what it said only if it fails.
quiet = log=$$(mktemp); ($(1)) >"$$log" 2>&1 || { status=$$?; cat "$$log" >&2; rm -f "$$log"; exit $$status; }; \
	rm -f "$$log"
endif
say = printf '==> %s: %s\n' '$@' $(1)

# need program,package: stops with the way out when the program is missing.
need = command -v $(1) >/dev/null || \
	{ printf 'make %s: error: %s is missing; install it with `make bootstrap`\n' '$@' '$(1)' >&2; exit 1; }

# The folders that hold C and C++ sources.
SOURCE_FOLDERS := $(wildcard include src cli bench vcode graph_apps command workloads kernel network preload sim tests examples hardware)

# For how many seconds `make test-all` fuzzes VCODE.
FUZZ_SECONDS ?= 600

.PHONY: help
help: ## list what can be done (the default)
	@printf 'tutti: synchronisation from core to cluster\n\n'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@printf '\nvariables: V=1 (verbose) JOBS=%s PREFIX=%s DESTDIR=%s\n' '$(JOBS)' '$(PREFIX)' '$(DESTDIR)'
	@printf '  REPORT_OPTIONS (of make report) CTEST_OPTIONS (of make test, test-all) FUZZ_SECONDS=%s (of make test-all)\n' '$(FUZZ_SECONDS)'

.PHONY: bootstrap
bootstrap: ## install what is missing: Debian packages, and .venv for the report
	$(Q)tools/bootstrap

build/build.ninja: CMakePresets.json
	$(Q)$(call need,cmake); $(call need,ninja); $(call need,g++)
	$(Q)tools/bootstrap --check-build || { printf 'make build: error: install them with `make bootstrap`\n' >&2; exit 1; }
	$(Q)printf '==> build: configuring the release preset\n'
	$(Q)$(call quiet,cmake --preset release)
	$(Q)touch $@

.PHONY: build
build: build/build.ninja ## only build: release; leaves the command at build/tutti
	$(Q)$(call say,'building with $(JOBS) jobs')
	$(Q)cmake --build --preset release
	$(Q)if [ -x build/tutti ]; then $(call say,'done: build/tutti'); fi

.PHONY: unoptimised
unoptimised: build ## build tutti-synthetic by -O0, for a column of table I of Berger and Stamatakis
	$(Q)$(call say,'building tutti-synthetic without optimisation')
	$(Q)$(call quiet,cmake --preset unoptimised)
	$(Q)cmake --build --preset unoptimised

.PHONY: report
report: bootstrap build $(if $(findstring --long,$(REPORT_OPTIONS)),unoptimised) ## measure this machine and write results/index.html (about 35 minutes)
	$(Q)$(call say,'measuring this machine')
	$(Q).venv/bin/python -m report make --tutti build/tutti --out results $(REPORT_OPTIONS)

.PHONY: test
test: bootstrap build ## run all quick tests (20 to 25 minutes on two cores)
	$(Q)$(call say,'running the quick tests with $(JOBS) jobs')
	$(Q)ctest --preset release $(CTEST_OPTIONS)

.PHONY: test-of
test-of: build/build.ninja ## build and run the tests of one file: FILE=include/tutti/barrier/ticket.hpp
	$(Q)tools/test-of $(FILE)

.PHONY: test-all
test-all: bootstrap build ## run every test in stages; goes on where it was cut (hours; tools/test-all --list)
	$(Q)FUZZ_SECONDS='$(FUZZ_SECONDS)' CTEST_OPTIONS='$(CTEST_OPTIONS)' tools/test-all

.PHONY: hardware
hardware: bootstrap ## lint, prove, mutate, simulate and synthesise the hardware units (three quarters of an hour on two cores)
	$(Q)$(call say,'checking and measuring the hardware units')
	$(Q)mkdir -p build/hardware
	$(Q).venv/bin/python -m hardware.flow --out build/hardware/results.jsonl
	$(Q).venv/bin/python -m hardware.flow.tables build/hardware/results.jsonl > build/hardware/tables.md
	$(Q)$(call say,'done: build/hardware/results.jsonl and tables.md')

.PHONY: kernel-image
kernel-image: build ## make build/kernel/tutti-kernel.iso, which boots the kernel on a real machine (needs GRUB)
	$(Q)$(call need,grub-mkrescue); $(call need,xorriso)
	$(Q)rm -rf build/kernel/image && mkdir -p build/kernel/image/boot/grub
	$(Q)cp build/kernel/kernel.elf build/kernel/image/boot/ && cp kernel/image/grub.cfg build/kernel/image/boot/grub/
	$(Q)$(call quiet,grub-mkrescue -o build/kernel/tutti-kernel.iso build/kernel/image)
	$(Q)$(call say,'done: build/kernel/tutti-kernel.iso')

.PHONY: install
install: build ## install under $(DESTDIR)$(PREFIX)
	$(Q)$(call say,'installing under $(DESTDIR)$(PREFIX)')
	$(Q)$(call quiet,DESTDIR='$(DESTDIR)' cmake --install build --prefix '$(PREFIX)')

.PHONY: package
package: build ## make the Debian packages in build/package/
	$(Q)$(call say,'packing with CPack')
	$(Q)rm -rf build/package
	$(Q)$(call quiet,cpack --config build/CPackConfig.cmake -B build/package)
	$(Q)ls -1 build/package/*.deb

.PHONY: wheel
wheel: bootstrap ## make the Python wheel with the command and what `tutti run` preloads, in dist/
	$(Q)tools/wheel

.PHONY: format
format: ## lay out all C and C++ sources with clang-format
	$(Q)$(call need,clang-format)
	$(Q)$(call say,'laying out the sources of $(SOURCE_FOLDERS)')
	$(Q)find $(SOURCE_FOLDERS) -name '*.[ch]' -o -name '*.[ch]pp' | xargs -r clang-format -i

.PHONY: lint
lint: build ## read all C++ sources with clang-tidy (minutes)
	$(Q)$(call need,run-clang-tidy)
	$(Q)$(call say,'reading the sources by clang-tidy with $(JOBS) jobs')
	$(Q)$(call quiet,run-clang-tidy -quiet -p build -j $(JOBS) -extra-arg=-Wno-unknown-warning-option \
		'$(CURDIR)/(src|cli|bench|vcode|graph_apps|command|workloads|hardware|tests|examples|build/tests/freestanding)/')

.PHONY: clean
clean: ## remove what was built (not .venv, results/ or dist/)
	$(Q)$(call say,'removing build/')
	$(Q)rm -rf build
