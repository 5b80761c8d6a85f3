# Only Go and make are needed, except where a target says otherwise.
GO ?= go
# One fuzzing target runs for this long in `make fuzz`.
FUZZTIME ?= 5m

.PHONY: all help build share install uninstall test vet race staticcheck oracle corpus corpus-next cluster oracle-peers sframe-tools pages fuzz soak bench pgo fixtures release fix-check test-386 test-s390x test-windows

all: build test ## build and test, what make does without a target

help: ## the targets, one a line
	@awk -F ':.*## ' '/^[a-z][a-z0-9-]*:.* ## / { printf "%-14s%s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# The linker writes a program through a mapping. A copy, which is written from beginning to
# end, starts 0.4 ms faster: docs/performance-notes.md.
build: ## the programs, into bin/
	CGO_ENABLED=0 $(GO) build -o bin/linked/ ./cmd/...
	cp bin/linked/* bin/

# The pages and completions are made of what the programs print, so programs for this system are
# built if others are asked for.
share: ## manual pages and completions of the programs, into bin/share/
	GOOS= GOARCH= GOARM= CGO_ENABLED=0 $(GO) build -o bin/host/ ./cmd/... ./internal/usage/write
	rm -rf bin/share
	bin/host/write bin/host bin/share

PREFIX ?= /usr/local
MANDIR ?= $(PREFIX)/share/man
BASHDIR ?= $(PREFIX)/share/bash-completion/completions

# Debian's zsh looks for the completions of packages in a directory of its own. A fish in /usr
# looks in /etc, and not in /usr/local unless XDG_DATA_DIRS says so.
ZSHDIR ?= $(PREFIX)/share/zsh/$(if $(and $(filter /usr,$(PREFIX)),$(wildcard /etc/debian_version)),vendor-completions,site-functions)
FISHDIR ?= $(if $(and $(filter /usr/local,$(PREFIX)),$(wildcard /etc/fish)),/etc/fish/completions,$(PREFIX)/share/fish/vendor_completions.d)

# A directory of bin/share and where its files are installed, separated by a colon.
SHARED = man/man1:$(MANDIR)/man1 bash-completion/completions:$(BASHDIR) zsh/site-functions:$(ZSHDIR) \
	fish/vendor_completions.d:$(FISHDIR)

# The PATH of root often lacks Go: then `sudo make install` installs what `make build share` made.
BUILT = $(if $(shell command -v $(firstword $(GO))),build share,built)

built:
	@test -d bin/share || { echo "$(GO) was not found: run make build share first, or give GO=/path/to/go"; exit 1; }

# packaging/links has the names of other programs that stackwalk and symaddr take the place of.
install: $(BUILT) ## programs, links named like the programs of others, manual pages, completions, below $(PREFIX)
	install -d "$(DESTDIR)$(PREFIX)/bin"
	install -m 755 bin/dump_syms bin/symcheck bin/stackwalk bin/symaddr bin/symserve "$(DESTDIR)$(PREFIX)/bin"
	sed 's/#.*//' packaging/links | while read -r name program; do \
		case "$$name" in \
		"") ;; \
		*/*) install -d "$(DESTDIR)$(PREFIX)/$${name%/*}" && ln -sf "$$(echo "$${name%/*}/" | sed 's|[^/]*/|../|g')bin/$$program" "$(DESTDIR)$(PREFIX)/$$name" ;; \
		*) ln -sf "$$program" "$(DESTDIR)$(PREFIX)/bin/$$name" ;; \
		esac || exit 1; \
	done
	for pair in $(SHARED); do \
		to="$(DESTDIR)$${pair#*:}"; \
		install -d "$$to" && install -m 644 bin/share/"$${pair%%:*}"/* "$$to" || exit 1; \
	done

uninstall: $(BUILT) ## removes what install installed, with the same variables
	cd "$(DESTDIR)$(PREFIX)/bin" && rm -f dump_syms symcheck stackwalk symaddr symserve $$(sed 's/#.*//; s/ .*//; s|^lib/|../lib/|' "$(CURDIR)/packaging/links")
	for pair in $(SHARED); do \
		for file in bin/share/"$${pair%%:*}"/*; do rm -f "$(DESTDIR)$${pair#*:}/$${file##*/}"; done; \
	done

# Tests and analysers do not use the profiles of the programs: with a profile, all packages
# are compiled again for each program.
test: vet ## everything that needs nothing but Go
	$(GO) test -pgo=off ./...

vet: ## go vet and gofmt, a part of test
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run gofmt on these"; exit 1; }
	$(GO) vet -pgo=off ./...
	$(GO) vet -pgo=off -tags oracle ./...

race: ## the tests under the race detector (needs a C compiler)
	$(GO) test -pgo=off -race ./...

# The analyser is not in go.mod; go run fetches this version.
STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2

staticcheck: ## staticcheck, without and with the oracle tests (fetches it)
	GOFLAGS=-pgo=off $(GO) run $(STATICCHECK) ./...
	GOFLAGS=-pgo=off $(GO) run $(STATICCHECK) -tags oracle ./...

# The programs keep to the idioms of their version of Go.
fix-check: ## go fix finds nothing to modernize
	@GOFLAGS=-pgo=off $(GO) fix -diff ./... >$(or $(TMPDIR),/tmp)/symkit-fix.diff || true
	@test ! -s $(or $(TMPDIR),/tmp)/symkit-fix.diff || { cat $(or $(TMPDIR),/tmp)/symkit-fix.diff; echo "run go fix ./... on these"; exit 1; }

# Packages that read bytes, and what is made of them: where the size of int or the order
# of bytes could matter. Left out are tests that run programs or take long under qemu.
ELSEWHERE = ./cfi ./sframe ./emit ./elfx/... ./internal/wire ./internal/inflate ./internal/demangle ./limits \
	./dump/store ./dump/internal/... ./check/lint ./check/diff ./walk/corefile ./walk/minidump ./walk/internal/...

test-386: ## tests as a 32-bit program (needs an x86-64 processor)
	GOARCH=386 CGO_ENABLED=0 $(GO) test -pgo=off $(ELSEWHERE)

# The tests that are left out truncate a file that is mapped into memory: qemu-user 7.2 exchanges
# the halves of the address of the fault if the program is big-endian.
test-s390x: ## tests on a big-endian processor (needs qemu-user)
	GOARCH=s390x CGO_ENABLED=0 $(GO) test -pgo=off -exec qemu-s390x -skip '^(TestShrunk|TestStreamsChanged)$$' ./cfi ./sframe ./emit ./elfx ./internal/wire ./walk/corefile ./walk/internal/mdmp ./walk/minidump

test-windows: ## tests as a program of Windows (needs wine64, clang, lld)
	scripts/test-windows.sh

# Only the oracle tests read these: ordinary tests would fail if nothing was fetched.
oracle oracle-peers corpus: export SYMKIT_CORPUS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/symkit/corpus
oracle: export SYMKIT_EXPECTED ?= $(CURDIR)/../shared/expected
oracle oracle-peers corpus: export SYMKIT_CRASHDUMPS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/symkit/crashdumps
oracle oracle-peers corpus: export SYMKIT_PEERS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/symkit/peers

# Compares with readelf, c++filt, debug/dwarf, cross compilers and Breakpad on
# fixtures and on packages that scripts/corpus.sh fetches: see CONTRIBUTING.md.
oracle: ## compares with other programs on fixtures and a small corpus (see CONTRIBUTING.md)
	scripts/corpus.sh small
	scripts/crashdumps.sh
	scripts/peers.sh
	$(GO) test -pgo=off -tags oracle -run '^TestOracle' -timeout 25m ./...

oracle-peers: ## installs Mozilla's and rust-minidump's programs, compares with them and with Breakpad's
	scripts/crashdumps.sh
	scripts/peers.sh
	$(GO) test -pgo=off -tags oracle -run '^TestOracle' -timeout 25m ./cmd/stackwalk
	$(GO) test -pgo=off -tags oracle -run '^TestOraclePeer' -timeout 25m ./cmd/dump_syms ./test/oracle/symbolicate

# The same comparisons on everything large: about 2 GB of Debian packages.
corpus: ## the comparisons of oracle on everything large: about 2 GB of Debian packages
	scripts/corpus.sh
	$(GO) test -tags oracle -run '^TestCorpus' -timeout 90m -v ./...

# symcheck on our output for newer toolchains, foreign machines, and other packagers
# than Debian: about 1 GB of packages, wheels and npm packages. SYMKIT_CORPUS_NEXT
# names the directory.
corpus-next: export SYMKIT_CORPUS_NEXT ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/symkit/corpus-next
corpus-next: ## symcheck on our output for newer toolchains and other packagers: about 1 GB
	scripts/corpus-next.sh
	$(GO) test -pgo=off -tags oracle -run '^TestNext' -timeout 180m -v ./check

# Needs root and the programs that scripts/cluster.sh lists. The S3 server is built from test/cluster/go.mod.
cluster: ## the programs on Slurm, Spark and S3 servers; packages of all kinds; the recipes of docs/clusters.md
	scripts/cluster.sh

# SFrame against the readelf of three binutils releases, fetched from Debian.
sframe-tools: ## SFrame against the readelf of three binutils releases (fetches them)
	scripts/fixtures-sframe.sh $(CURDIR)/bin/sframe
	SYMKIT_SFRAME_TOOLS=$(CURDIR)/bin/sframe/bin $(GO) test -tags oracle -run '^(TestTools|TestSFrameTools)' -v ./sframe ./check

# Chromium, npm and the packages of scripts/pages.sh are needed.
pages: ## the pages in headless Chromium: content, keyboard, hostile names, accessibility, size
	scripts/pages.sh

fuzz: ## every fuzz target in turn, FUZZTIME=5m each
	scripts/fuzz.sh $(FUZZTIME)

# Runs the programs on bombs and 100,000 damaged files, with limits of time and memory
# (Linux): see docs/robustness.md. For a short run: SOAKFLAGS='-n 1000 -seed NAME'.
soak: build ## the programs on bombs and 100,000 damaged files (Linux)
	$(GO) run ./test/soak -bin bin $(SOAKFLAGS)

bench: ## times and memory of whole programs, and of the peers that are installed
	scripts/bench.sh

# The profiles that dump_syms and symcheck are built with; see docs/performance-notes.md.
pgo: ## makes new profiles for the builds of dump_syms and symcheck
	scripts/pgo.sh

fixtures: ## makes testdata again (needs compilers)
	scripts/fixtures.sh
	scripts/fixtures-sframe.sh

# The files depend on the commit and the version of Go alone: see docs/releases.md. One
# system only: RELEASEFLAGS='--target linux/amd64'.
RELEASEFLAGS ?= $(if $(RELEASE_URL),--url $(RELEASE_URL))

release: ## the files of a release, for all systems, into dist/ (fetches modules)
	cd scripts/release && $(GO) run . --root ../.. --out ../../dist $(RELEASEFLAGS)
