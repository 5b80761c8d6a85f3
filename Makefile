# Only Go and make are needed, except where a target says otherwise.
GO ?= go
# One fuzzing target runs for this long in `make fuzz`.
FUZZTIME ?= 5m

.PHONY: all build test vet race oracle corpus sframe-tools fuzz soak bench pgo fixtures

all: build test

build: ## the programs, into bin/
	CGO_ENABLED=0 $(GO) build -o bin/ ./cmd/...

# Tests do without the profile: else all packages would be compiled twice.
test: vet ## everything that needs nothing but Go
	$(GO) test -pgo=off ./...

vet:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run gofmt on these"; exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags oracle ./...

race:
	$(GO) test -pgo=off -race ./...

# The oracle tests read these. The ordinary ones would fail where nothing was fetched.
oracle corpus: export SYMKIT_CORPUS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/symkit/corpus
oracle corpus: export SYMKIT_EXPECTED ?= $(CURDIR)/../shared/expected
oracle corpus: export SYMKIT_CRASHDUMPS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/symkit/crashdumps

# Compares with readelf, c++filt, debug/dwarf, cross compilers and Breakpad on
# fixtures and on packages that scripts/corpus.sh fetches: see CONTRIBUTING.md.
oracle:
	scripts/corpus.sh small
	scripts/crashdumps.sh
	$(GO) test -pgo=off -tags oracle -run '^TestOracle' -timeout 25m ./...

# The same on everything large: about 2 GB of Debian packages.
corpus:
	scripts/corpus.sh
	$(GO) test -tags oracle -run '^TestCorpus' -timeout 90m -v ./...

# SFrame against the readelf of three binutils releases, fetched from Debian.
sframe-tools:
	scripts/fixtures-sframe.sh $(CURDIR)/bin/sframe
	SYMKIT_SFRAME_TOOLS=$(CURDIR)/bin/sframe/bin $(GO) test -tags oracle -run '^TestTools' -v ./sframe

fuzz:
	scripts/fuzz.sh $(FUZZTIME)

# The programs on bombs and 100,000 damaged files, under limits of time and memory
# (Linux): see docs/robustness.md. SOAKFLAGS='-n 1000 -seed NAME' makes it short.
soak: build
	$(GO) run ./internal/soak -bin bin $(SOAKFLAGS)

bench:
	scripts/bench.sh

# The profile that dump_syms is built with: docs/performance.md.
pgo:
	scripts/pgo.sh

fixtures:
	scripts/fixtures.sh
	scripts/fixtures-sframe.sh
