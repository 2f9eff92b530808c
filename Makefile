# The front door of Culebra. `make help` lists what there is.
#
# This is the only place that orders the native and the Java builds: emulator/ and kernels-cu/ write to their own
# build/ folders, Maven packs what is there.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
.DELETE_ON_ERROR:
MAKEFLAGS   += --no-print-directory

# A bare `make` uses all cores; `make -jN` is obeyed.
JOBS := $(shell nproc 2>/dev/null || echo 2)
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(JOBS)
endif

# Goals that touch no Java must work without a JDK.
JAVALESS := help clean emulator kernels generate image install-kernel-tools test-sanitized
ifneq ($(filter-out $(JAVALESS),$(or $(MAKECMDGOALS),build)),)
JDK := $(shell make/find-jdk.sh)
ifeq ($(JDK),)
$(error No JDK, see above)
endif
export JAVA_HOME := $(JDK)
# Maven's own libraries make JDK 24+ print four lines of warnings; the option to silence them exists since 23.
ifneq ($(shell $(JDK)/bin/java --sun-misc-unsafe-memory-access=allow -version >/dev/null 2>&1 && echo yes),)
export MAVEN_OPTS += --sun-misc-unsafe-memory-access=allow
endif
ifneq ($(shell make/need.sh mvn 'Apache Maven 3.8+, builds the Java modules' maven maven || echo missing),)
$(error No Maven, see above)
endif
endif
ifneq ($(filter-out help clean generate format check-format,$(or $(MAKECMDGOALS),build)),)
ifneq ($(shell make/need.sh g++ 'C++20, builds the emulator' g++ gcc-c++ || echo missing),)
$(error No g++, see above)
endif
endif

MVN := mvn -q -B -Dstyle.color=never

ARCHS ?= $(shell make/gpu-archs.sh)

.PHONY: build run test test-sanitized fuzz native emulator kernels image example install-kernel-tools generate bench \
        bench-compare report paper bench-full gpu-bundle format check-format clean help

build: build/java.stamp ## Build everything this machine can build (the default)

run: build ## Build, then predict next characters of a text on the device: the demo
	@bin/culebra demo

test: build ## Build, then run every test this machine can run
	@$(MAKE) -s -C emulator test
	@$(MAKE) -C kernels-cu test
	@make/own-kernels-test.sh
	@echo 'Java tests (whole log: build/test.log)'
	@mvn -B -fae -Dstyle.color=never package 2>&1 | tee build/test.log | awk -f make/test-report.awk

test-sanitized: ## The emulator and all kernels under the compilers' sanitizers (SHORT=1: what CI runs of it)
	@$(MAKE) -s -C emulator test-sanitized SHORT=$(SHORT)

fuzz: build ## Fuzz what reads foreign files: images, .npy, .safetensors, indexes, tables (FUZZ_SECONDS=60 for each)
	@make/fuzz.sh

native: emulator kernels

emulator: ## The CPU stand-in for libcuda, and its kernel images
	@$(MAKE) -s -C emulator

# nvcc is optional: where it is missing, this says so in one line and makes the index alone.
kernels: ## GPU images of the kernels: ARCHS='80 90a' or ARCHS=all (default: the device here, else 80 90a)
	@$(MAKE) -C kernels-cu gpu ARCHS='$(ARCHS)'

IMAGE_ARCHS = $(if $(filter file,$(origin ARCHS)),,$(addprefix --arch ,$(ARCHS)))
image: image-tools ## Kernels of your own: SOURCE='a.cu b.cu' OUT=folder [ARCHS=90a] (docs/your-own-kernels.md)
	@$(if $(and $(SOURCE),$(OUT)),bin/culebra-image -o '$(OUT)' --checked $(IMAGE_ARCHS) $(SOURCE),\
	  echo "usage: make image SOURCE='a.cu b.cu' OUT=folder [ARCHS='80 90a']"; exit 2)

.PHONY: image-tools
image-tools:
	@$(MAKE) -s -C emulator library
	@$(MAKE) -s -C emulator checked-image-tools

install-kernel-tools: image-tools ## What `make image` needs, and the emulator, for use without this source tree: PREFIX=folder
	@$(if $(PREFIX),make/install-kernel-tools.sh '$(PREFIX)',echo 'usage: make install-kernel-tools PREFIX=folder'; exit 2)

example: build ## Run kernels of a user's own on the emulator: examples/saxpy
	@bin/culebra-image -o build/saxpy --arch none examples/saxpy/saxpy.cu
	@CULEBRA_DRIVER=emulator/build/libculebra-emulator.so $(JAVA_HOME)/bin/java --enable-native-access=ALL-UNNAMED \
	  -cp 'cli/target/lib/*' examples/saxpy/Saxpy.java build/saxpy/emulator

# Maven decides poorly what is fresh, and takes seconds to do so. It is asked only when the state of its inputs, which
# is names, sizes and times of all files it reads, differs from the last good build.
JAVA_MODULES := generated bindings kernels-cu api io testkit cli benchmarks
build/java.inputs: native FORCE
	@mkdir -p build
	@find pom.xml .mvn $(wildcard $(addsuffix /pom.xml,$(JAVA_MODULES)) $(addsuffix /src,$(JAVA_MODULES)) kernels-cu/build/root) \
	  -type f -printf '%p %s %T@\n' | sort > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

build/java.stamp: build/java.inputs
	@echo 'Java modules with $(JAVA_HOME)'
	@mvn -B -Dstyle.color=never package -DskipTests > build/java.log 2>&1 || { awk -f make/build-report.awk build/java.log; exit 1; }
	@touch $@

generate: ## Run jextract again over cuda.h into generated/ (needs jextract and the CUDA headers)
	@generated/generate.sh

# The C side of the benchmarks: functions to call, loops to compare with, and a start without Java.
BENCH_C      := benchmarks/src/main/c
BENCH_NATIVE := $(addprefix build/bench/,libculebra-callees.so libculebra-loops.so libculebra-driver-loops.so cold-start)
# For the scripts: another JDK to measure.
export BENCH_JAVA_HOME
BENCH_CC      = @mkdir -p $(@D); $(CC) -std=c11 -O2 -Wall -Wextra -Werror $< -o $@
build/bench/libculebra-callees.so: $(BENCH_C)/callees.c; $(BENCH_CC) -fPIC -shared
build/bench/libculebra-loops.so: $(BENCH_C)/loops.c; $(BENCH_CC) -fPIC -shared
build/bench/libculebra-driver-loops.so: $(BENCH_C)/driver_loops.c; $(BENCH_CC) -fPIC -shared
build/bench/cold-start: $(BENCH_C)/cold_start.c; $(BENCH_CC) -ldl

bench: build $(BENCH_NATIVE) ## Measure calls and kernels, at most 5 minutes (BENCH='--only pairs,kernels'); without a GPU kernels in tiny sizes
	@make/bench.sh $(BENCH)

bench-full: build $(BENCH_NATIVE) ## The same with more rounds, types and shapes: at most 15 minutes, with a GPU 30
	@make/bench.sh --full $(BENCH)

RESULTS ?= $(filter-out %/missed-goals.json,$(wildcard docs/bench/*.json))
report: build ## Make docs/benchmarks.md and build/benchmarks.html from files of results (RESULTS='a.json b.json')
	@make/bench-java.sh dev.culebra.benchmarks.report.Report --html build/benchmarks.html --markdown docs/benchmarks.md $(RESULTS)

paper: build $(BENCH_NATIVE) ## The online softmax paper's benchmark: build/paper/ gets its figures, a page and the results
	@make/bench.sh --out build/paper/results.json --only ceilings,paper $(BENCH)
	@make/bench-java.sh dev.culebra.benchmarks.report.Paper --out build/paper build/paper/results.json

bench-compare: build ## Say what got slower between two files of results, beyond noise (OLD=a.json NEW=b.json TOLERANCE=5)
	@make/bench-java.sh dev.culebra.benchmarks.compare.Compare $(OLD) $(NEW) $(if $(TOLERANCE),--tolerance $(TOLERANCE))

BUNDLE_ARCHS = $(if $(filter file,$(origin ARCHS)),90a,$(ARCHS))
gpu-bundle: build $(BENCH_NATIVE) ## Pack what a machine with a GPU but no JDK needs to test and measure (ARCHS, default 90a)
	@$(MAKE) -C kernels-cu test-root runner ARCHS='$(BUNDLE_ARCHS)'
	@$(MAKE) -C emulator differential
	@make/gpu-bundle.sh '$(BUNDLE_ARCHS)'

# Hand-written C, C++ and CUDA. clang-format is not needed to build or to test, and is left out with a notice where missing.
CLANG_FORMAT ?= $(shell command -v clang-format)
CPP_SOURCES = $(shell git ls-files '*.h' '*.c' '*.cpp' '*.cu' '*.cuh')

format: ## Format Java, C++ and CUDA sources
	@$(MVN) spotless:apply
	@$(if $(CLANG_FORMAT),$(if $(CPP_SOURCES),$(CLANG_FORMAT) -i $(CPP_SOURCES)),echo 'clang-format not found: C++ and CUDA are left as they are.')

check-format: ## Fail if a source is not formatted
	@$(MVN) spotless:check
	@$(if $(CLANG_FORMAT),$(if $(CPP_SOURCES),$(CLANG_FORMAT) --dry-run -Werror $(CPP_SOURCES)),echo 'clang-format not found: C++ and CUDA are not checked.')

clean: ## Remove all that was built
	@rm -rf build target $(addsuffix /target,$(JAVA_MODULES) benchmarks/peers) $(addsuffix /build,emulator kernels-cu)

help: ## This list
	@echo 'usage: make [goal]'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 18

.PHONY: FORCE
FORCE:
