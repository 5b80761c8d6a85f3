#!/usr/bin/env bash
# Makes the profiles that go builds dump_syms and symcheck with (default.pgo in cmd/dump_syms
# and cmd/symcheck), from the large files of the corpus (corpus.sh). dump_syms has both, for
# --check. Run it after large changes to the code that takes most of the time. It takes two
# minutes on two cores.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export SYMKIT_CORPUS=${SYMKIT_CORPUS:-${XDG_CACHE_HOME:-$HOME/.cache}/symkit/corpus}

temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

# profile PACKAGE RUNS: writes the profile of the package's BenchmarkCorpus to $temp/PACKAGE.pprof.
profile() {
	go test -tags oracle -run '^$' -bench '^BenchmarkCorpus$' -benchtime "$2x" -cpuprofile "$temp/$1.pprof" \
		-o "$temp/$1.test" "./$1"
}

profile dump 8
profile check 3
go tool pprof -proto "$temp/dump.pprof" "$temp/check.pprof" >"$temp/both.pprof"
cp "$temp/check.pprof" cmd/symcheck/default.pgo
cp "$temp/both.pprof" cmd/dump_syms/default.pgo
