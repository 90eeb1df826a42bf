# The front door. Everything real is in meson.build; here are the words people type.
#
#   make            build build/patchbay and the library
#   make run        build, then start the main job and print where it is
#   make test       build, then run every test; ends with "N passed, N failed"
#   make install    put it below PREFIX (/usr/local)
#   make deb        Debian packages: the program, the library, the library's header; make dist: the source tarball
#   make static     the program as one file for any Linux of this architecture
#   make interop    build, then real clients and servers in Python, Go and Rust; longer, needs their toolchains
#
# Each target first sees to its Debian packages (tools/deps): installed as root or through sudo,
# or the one line to run is printed.

BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
PORT    ?= 7332
JOBS    ?= $(shell nproc)

# What people install.
VERSION  := $(shell sed -n "s/^  version: '\(.*\)',$$/\1/p" meson.build)
PACKAGES ?= $(BUILD)-packages
TARBALL   = $(PACKAGES)/patchbay-$(VERSION).tar.xz
STATIC    = $(PACKAGES)/patchbay-$(VERSION)-linux-$(shell uname -m)

.PHONY: all run test lint format bench fuzz soak conformance interop coverage tsan valgrind screenshots install \
	dist deb static test-packages docs clean help

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) -j $(JOBS) --quiet
	@echo "built $(BUILD)/patchbay"

# Where Debian's tools look for libraries meson knows only from dpkg-dev; the compiler knows it, too.
$(BUILD)/build.ninja:
	@tools/deps build
	@multiarch=$$(gcc -print-multiarch); meson setup $(BUILD) --prefix=$(PREFIX) --buildtype=debugoptimized \
		$${multiarch:+--libdir=lib/$$multiarch} >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log

run: all
	@$(BUILD)/patchbay serve --port $(PORT) --no-socket --mcp-client "example:$(abspath $(BUILD))/patchbay-example-server"

test:
	@tools/deps build test
	@BUILD=$(BUILD) JOBS=$(JOBS) tools/test

lint:
	@tools/deps build lint
	@tools/lint --all

format:
	@tools/deps lint
	@git ls-files '*.c' '*.h' | xargs clang-format -i

bench: all
	@tools/deps test
	@BUILD=$(BUILD) tests/bench/run
	@BUILD=$(BUILD) tests/bench/console
	@tools/interop-deps && BUILD=$(BUILD) tests/bench/first

fuzz:
	@tools/deps build fuzz
	@tests/fuzz/run

# Ten minutes of the storm with a seed of its own, two thousand killed servers, the crowd, and a
# thousand pages that listen.
soak: all
	@tools/deps test
	@ninja -C $(BUILD) --quiet tests/stress/test_stress tests/stress/stress_server tests/e2e/test_e2e_kills \
		tests/e2e/test_e2e_crowd tests/e2e/mob_server
	@BUILD_DIR=$(abspath $(BUILD)) SEED=$${SEED:-$$(date +%s)} SECONDS=$${SOAK_S:-600} SERVERS=40 CLIENTS=40 $(BUILD)/tests/stress/test_stress
	@BUILD_DIR=$(abspath $(BUILD)) TAP_TIMEOUT_S=600 KILLS=2000 $(BUILD)/tests/e2e/test_e2e_kills
	@BUILD_DIR=$(abspath $(BUILD)) $(BUILD)/tests/e2e/test_e2e_crowd
	@BUILD=$(BUILD) tests/bench/streams

conformance: all
	@tools/deps test
	@BUILD=$(BUILD) tests/conformance/run

# Clients and servers of other languages (python, go, rust): takes minutes, and fetches their packages once.
interop: $(BUILD)/build.ninja
	@ninja -C $(BUILD) -j $(JOBS) --quiet patchbay
	@BUILD=$(BUILD) tests/interop/run

coverage:
	@tools/deps build test
	@tools/coverage

tsan:
	@tools/deps build test
	@tools/test-under thread

valgrind:
	@tools/deps build test valgrind
	@tools/test-under valgrind

# The pictures of the console that the README shows.
screenshots: all
	@tools/deps test
	@BUILD=$(BUILD) tools/screenshots

# The directory may have been configured for another prefix, which is in the files that are installed.
install: $(BUILD)/build.ninja
	@meson introspect $(BUILD) --buildoptions | grep -q '"name": "prefix", "value": "$(PREFIX)"' || \
		meson configure $(BUILD) -Dprefix=$(PREFIX)
	@ninja -C $(BUILD) -j $(JOBS) --quiet
	@DESTDIR=$(DESTDIR) meson install -C $(BUILD) --no-rebuild --quiet --strip
	@echo "installed below $(DESTDIR)$(PREFIX)"

# What is committed, and what building it would need Node for.
dist: $(BUILD)/build.ninja
	@tools/deps package
	@ninja -C $(BUILD) --quiet build.ninja >/dev/null
	@meson dist -C $(BUILD) --no-tests --formats xztar >$(BUILD)/dist.log 2>&1 || { cat $(BUILD)/dist.log; exit 1; }
	@grep WARNING $(BUILD)/dist.log || true
	@mkdir -p $(PACKAGES) && cp $(BUILD)/meson-dist/patchbay-$(VERSION).tar.xz $(TARBALL)
	@echo "made $(TARBALL)"

deb: dist
	@JOBS=$(JOBS) tools/deb $(TARBALL) $(PACKAGES)
	@ls $(PACKAGES)/*_$(VERSION)_*.deb | sed 's/^/made /'

static:
	@tools/deps build static
	@JOBS=$(JOBS) tools/static $(BUILD)-static $(STATIC)
	@echo "made $(STATIC)"

# All three, tried on a Debian that is made for it; needs root, and takes minutes.
test-packages:
	@tools/deps build test package static
	@tests/packages/run
	@$(MAKE) --no-print-directory all deb static
	@JOBS=$(JOBS) tests/packages/run $(PACKAGES) $(STATIC) $(BUILD)

docs: $(BUILD)/build.ninja
	@tools/docs include/patchbay.h >$(BUILD)/reference.html
	@echo "wrote $(BUILD)/reference.html"

clean:
	@rm -rf $(BUILD) $(BUILD)-* node_modules

help:
	@sed -n '3,13s/^# \{0,1\}//p' Makefile
