#!/usr/bin/env bash
# Tests the pages of the programs in headless Chromium: their content against the
# JSON of the same runs, search, folds, sorting, zoom, keyboard and clipboard,
# hostile names, axe-core's rules in both colour schemes, and the time to open
# large pages.
#
#   pages.sh [FLAG...]     flags of go test, as -run TestCrash -v
#
# Debian: chromium g++ clang rustc gdb npm, and the corpus of scripts/corpus.sh.
# AXE names axe.min.js of axe-core, if npm is not to fetch it. SYMKIT_CORES names
# the cores of scripts/cores.sh, if they are not to be made.
set -euo pipefail
cd "$(dirname "$0")/.."

cache=${XDG_CACHE_HOME:-$HOME/.cache}/symkit
axe=axe-core-4.14.1
if [[ -z ${AXE:-} ]]; then
	AXE=$cache/$axe/package/axe.min.js
	if [[ ! -f $AXE ]]; then
		mkdir -p "$cache/$axe"
		(cd "$cache/$axe" && npm pack --silent "${axe%-*}@${axe##*-}" >/dev/null && tar -xzf "$axe.tgz")
	fi
fi

CGO_ENABLED=0 go build -pgo=off -o bin/ ./cmd/...
if [[ -z ${SYMKIT_CORES:-} ]]; then
	SYMKIT_CORES=$PWD/bin/cores
	[[ -d $SYMKIT_CORES/x86_64-uncaught ]] || scripts/cores.sh "$SYMKIT_CORES" native
fi

# The page of the largest module at hand.
corpus=${SYMKIT_CORPUS:-$cache/corpus}
elf=$corpus/ceph-osd/usr/bin/ceph-osd
debug=$corpus/ceph-osd-dbg
if [[ ! -f $elf || ! -d $debug ]]; then
	elf=$(find "$corpus/libc6/" -name libc.so.6 -type f | head -n 1)
	debug=$corpus/libc6-dbg
	printf 'pages.sh: the corpus has no ceph-osd (scripts/corpus.sh all fetches it): %s is the large module\n' "$elf" >&2
fi
bin/dump_syms --inlines --debug-dir "$debug/usr/lib/debug" -o bin/large.sym "$elf"
bin/symcheck --format=html --debug-dir "$debug/usr/lib/debug" bin/large.sym "$elf" >bin/large.html

export AXE SYMKIT_CORES PROGRAMS=$PWD/bin LARGE_PAGE=$PWD/bin/large.html
cd scripts/pages
go vet ./...
go test -count=1 -timeout 30m "$@" ./...
