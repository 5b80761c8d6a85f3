# Only Go and make are needed, except where a target says otherwise.
GO ?= go
# One fuzzing target runs for this long in `make fuzz`.
FUZZTIME ?= 5m

.PHONY: all build test vet race oracle corpus fuzz bench fixtures

all: build test

build: ## the programs, into bin/
	$(GO) build -o bin/ ./cmd/...

test: vet ## everything that needs nothing but Go
	$(GO) test ./...

vet:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run gofmt on these"; exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags oracle ./...

race:
	$(GO) test -race ./...

# Compares with readelf, llvm-dwarfdump, cross compilers and debug/dwarf on
# packages that scripts/corpus.sh fetches: see CONTRIBUTING.md.
oracle:
	scripts/corpus.sh small
	$(GO) test -tags oracle -run Oracle -timeout 20m ./...

# The same on everything large: about 2 GB of Debian packages.
corpus:
	scripts/corpus.sh
	$(GO) test -tags oracle -run Corpus -timeout 60m -v ./dump

fuzz:
	scripts/fuzz.sh $(FUZZTIME)

bench:
	scripts/bench.sh

fixtures:
	scripts/fixtures.sh
	scripts/fixtures-sframe.sh
