#!/usr/bin/env bash
# Makes the profile that go builds dump_syms with (cmd/dump_syms/default.pgo), from the
# large files of the corpus (corpus.sh). Run it after large changes to the code that takes
# most of the time. It takes a minute on two cores.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export SYMKIT_CORPUS=${SYMKIT_CORPUS:-${XDG_CACHE_HOME:-$HOME/.cache}/symkit/corpus}

temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
go test -tags oracle -run '^$' -bench '^BenchmarkCorpus$' -benchtime 8x -cpuprofile "$temp/cpu.pprof" -o "$temp/dump.test" ./dump
cp "$temp/cpu.pprof" cmd/dump_syms/default.pgo
