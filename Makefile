# Builds, runs and tests Ashlar. These work on a fresh Debian or Ubuntu:
#   make run     make test     make check
# They first install missing system packages (see .ci/prepare).

GO ?= $(or $(shell command -v go 2>/dev/null),$(wildcard /usr/local/go/bin/go),go)
export GO

# novulkan: Gio would try Vulkan before OpenGL. OpenGL starts sooner, is far quicker in
# software, and needs no Vulkan headers. nethttpomithttp2: HTTP/2 is not used.
#
# GOGC=off: the compiler and the linker take a quarter to a third less time if they collect
# no garbage below 1.5 GB. Hardly any package needs that much.
#
# make run, the tests, the linters and the packages that test-deb builds share compiled code:
# see assets/packaging/compile.go. Leaving out the tables for debuggers saves a tenth of the
# time.
TAGS = novulkan,nethttpomithttp2
export GOFLAGS := $(strip $(shell $(GO) env GOFLAGS 2>/dev/null) -tags=$(TAGS) -trimpath -gcflags=all=-dwarf=false -ldflags=-w '-toolexec=env GOGC=off GOMEMLIMIT=1500MiB')

# ./... does not include folders named testdata, so they are listed.
PACKAGES = ./... $(patsubst %/,./%/...,$(sort $(dir $(wildcard testdata/*/*.go))))

# The binary contains the commit, if git knows one.
BUILDVCS := $(shell git rev-parse HEAD >/dev/null 2>&1 || echo -buildvcs=false)

# The output of ashlar version: see .ci/version.
VERSION ?= $(or $(shell .ci/version 2>/dev/null),0.0.0-unknown)
LDFLAGS = -w -X $(shell $(GO) list -m)/app/desktop/version.number=$(VERSION)

# make install: for all users in PREFIX; for a package, below DESTDIR.
PREFIX ?= /usr/local
DESTDIR ?=

# make test, make check: TESTFLAGS='-run Fold -v' selects tests. make check: RACE= turns off
# the race detector, FUZZTIME=10m fuzzes each target for ten minutes instead of a second.
RACE ?= -race
TESTFLAGS ?=
ifneq ($(ASHLAR_SAMPLES),)
# Tests run in their packages' folders, so the path must be absolute.
override export ASHLAR_SAMPLES := $(shell cd '$(ASHLAR_SAMPLES)' && pwd)
endif

# make bench: BENCH='-row spall -runs 3' selects rows, BENCH='-quick' uses small recordings.
# Recordings are kept in $ASHLAR_BENCH_DIR, by default ~/.cache/ashlar/bench.
BENCH ?=
# make bench-micro: a regular expression for the benchmarks, and the time for each.
MICRO ?= .
BENCHTIME ?= 1s

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help run ahead build update install uninstall dist distcheck test-deb test-windows test check test-desktop bench bench-peers bench-page bench-large bench-micro lint generate clean prepare-build prepare-draw prepare-test prepare-desktop prepare-package prepare-peers prepare-all

help: ## list what make can do
	@echo 'make run                   open the built-in demo recording'
	@echo 'make run FILE=x.spaa       open that recording'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-21s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo 'SKIP_PACKAGES=1 leaves the system packages unchecked;'
	@echo 'ASHLAR_SAMPLES=DIR lets the tests open every recording in DIR too.'

# The file name is passed in the environment, so that it may contain any character.
run: export RUN_FILE := $(value FILE)
run: prepare-draw build
	@if [ -n "$$RUN_FILE" ]; then set -- "$$RUN_FILE"; else set -- --demo; fi; \
	case $$(uname -s) in Darwin|MINGW*|MSYS*) window=yes ;; *) window=$$DISPLAY$$WAYLAND_DISPLAY ;; esac; \
	if [ -n "$$window" ]; then \
		exec ./ashlar "$$@"; \
	else \
		EGL_PLATFORM=$${EGL_PLATFORM:-surfaceless} ./ashlar render "$$@" -o ashlar.png && \
		echo 'There is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set): the picture is in ashlar.png.'; \
	fi

build: prepare-build ## compile ./ashlar
	$(GO) build $(BUILDVCS) -ldflags '$(LDFLAGS)' -o ashlar ./app/ashlar

# Each test writes its own part. One package after the other, since the manual that one
# writes is compiled into the next.
update: export EGL_PLATFORM := surfaceless
update: export LIBGL_ALWAYS_SOFTWARE := 1
update: export LP_NUM_THREADS := 0
update: prepare-draw ## after a change, write the manual's tables, the list of texts, pictures
	$(GO) test -vet=off -p 1 -run '^Test(Words|MapOfPackages|TreeOfFolders|AddressFields|ManualHas|FieldComments)|Golden' ./app/core/manual ./app/command ./app/window/shell ./app/window/headless -update

install: build ## copy to PREFIX (/usr/local), with icons and file types
	./ashlar install --prefix '$(PREFIX)' $(if $(DESTDIR),--destdir '$(DESTDIR)')

uninstall: build ## take that back
	./ashlar uninstall --prefix '$(PREFIX)' $(if $(DESTDIR),--destdir '$(DESTDIR)')

# Files in packages have the time of the commit, so that every build of a version has the
# same bytes.
SOURCE_DATE_EPOCH ?= $(or $(shell git log -1 --format=%ct 2>/dev/null),0)

DISTFLAGS ?=
dist distcheck: export GOGC := 400
dist: prepare-build ## build the packages into dist: tar.gz, .deb, .rpm, Windows, checksums
	$(GO) run $(BUILDVCS) ./assets/packaging -version '$(VERSION)' -time $(SOURCE_DATE_EPOCH) $(DISTFLAGS) -o dist

distcheck: dist ## build them again from nothing, compare every byte, ask lintian
	@work=$$(mktemp -d) && trap 'chmod -R u+w "$$work"; rm -rf "$$work"' EXIT && \
	GOCACHE="$$work/cache" $(GO) run $(BUILDVCS) ./assets/packaging -version '$(VERSION)' -time $(SOURCE_DATE_EPOCH) -o "$$work/dist" && \
	diff -r dist "$$work/dist" && echo 'Both builds have the same bytes.'
	! command -v lintian >/dev/null || lintian --fail-on error dist/*.deb

# -own builds only for this machine, with the flags of the tests. All else is built for a
# release; for a change, the type check in lint and a limit for this size are enough.
test-deb: DISTFLAGS = -own
test-deb: prepare-package dist ## install the .deb in bare Debian 12 and 13, use it, purge it
	lintian --fail-on error dist/*.deb
	rpmlint -c assets/packaging/rpmlint.toml dist/*.rpm
	assets/packaging/test-deb.sh dist/*.deb
	assets/packaging/test-deb.sh dist/*.deb "$$(. /etc/os-release; [ "$$VERSION_CODENAME" = trixie ] && echo bookworm || echo trixie)" brief

# It draws with the root's own Mesa.
test-windows: prepare-desktop prepare-package ## run the Windows programs under Wine, in a Debian 13 that is kept
	assets/packaging/test-windows.sh $(TESTFLAGS)

test: prepare-test ## test everything but the programs: 7 minutes, then only what changed
	@.ci/test short $(TESTFLAGS) -- $(PACKAGES)

check: prepare-all ## what test leaves out: lint, race detector, fuzzing, windows, packages
	@RACE='$(RACE)' .ci/check $(TESTFLAGS) -- $(PACKAGES)

# Tests of the window with real drag sources, a window manager and a Wayland compositor.
test-desktop: export LIBGL_ALWAYS_SOFTWARE := 1
test-desktop: export LP_NUM_THREADS := 0
test-desktop: prepare-desktop ## drop files on the window from GTK and Qt programs, X11 and Wayland
	$(GO) test -vet=off -tags=$(TAGS),desktop -timeout 10m $(TESTFLAGS) -run '^TestDesktop' ./app/ashlar

bench: prepare-test ## measure speed and memory on large recordings (some GB, 15 minutes)
	$(GO) run ./testdata/bench -json bench.json $(BENCH)

bench-peers: prepare-peers ## and other programs on the same files (npm, chromium)
	$(GO) run ./testdata/bench -peers -json bench-peers.json $(BENCH)

bench-page: prepare-test prepare-peers ## all of both, written into the manual (FILES='NAME=PATH,…' too)
	$(GO) run ./testdata/bench -page assets/manual/performance.md -json bench.json -files '$(FILES)' -runs 3 $(BENCH)

bench-large: prepare-test ## formats at 1 GB beside their own tools, into the manual (LARGE='NAME=PATH,…')
	$(GO) run ./testdata/bench -page assets/manual/performance.md -row '^large/' -json bench-large.json -large '$(LARGE)' -runs 3 $(BENCH)

# -p 1: benchmarks of packages that run at the same time would disturb each other.
bench-micro: export EGL_PLATFORM := surfaceless
bench-micro: prepare-draw ## measure decoders and drawing apart (MICRO=regexp chooses)
	$(GO) test -run '^$$' -bench '$(MICRO)' -benchtime $(BENCHTIME) -benchmem -p 1 -timeout 60m $(PACKAGES)

# ahead compiles for .ci/run. Errors are ignored, because the tests show them again.
ahead:
	-$(GO) build ./ingest/... ./spaa/...
	-$(GO) build -race ./ingest/... ./spaa/...

lint: export GOGC := 400
# Files with the tag desktop add to the others. go tool staticcheck would compile it, and
# the standard library again, without the GOFLAGS above.
lint: GOFLAGS += -tags=$(TAGS),desktop
lint: prepare-build ## gofmt, go vet, staticcheck, types on other systems
	@unformatted=$$("$$($(GO) env GOROOT)/bin/gofmt" -l .) || exit 1; \
	[ -z "$$unformatted" ] || { echo "Not as gofmt would have it: $$unformatted"; exit 1; }
	$(GO) vet $(PACKAGES)
	$(GO) run honnef.co/go/tools/cmd/staticcheck $(PACKAGES)
	$(GO) run ./testdata/typecheck windows/arm64 darwin/arm64 -- ./...

generate: prepare-draw ## run go generate, draw the picture of the README
	$(GO) generate $(PACKAGES)
	$(MAKE) build
	EGL_PLATFORM=$${EGL_PLATFORM:-surfaceless} ./ashlar render --demo -o assets/ashlar.png --size 1280x800

clean: ## remove what make built (not the recordings of make bench)
	rm -f ashlar ashlar.png bench.json bench-peers.json bench-large.json

prepare-build prepare-draw prepare-test prepare-desktop prepare-package prepare-peers prepare-all:
	@.ci/prepare $(@:prepare-%=%)
