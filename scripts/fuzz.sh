#!/usr/bin/env bash
# Runs every fuzz target in turn, each for the given time, or count as in 100000x.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-5m}
only=${2:-.} # a regular expression on "package target"

grep -rEl --include='*_test.go' '^func Fuzz' . | while read -r file; do
	dirname "$file"
done | sort -u | while read -r dir; do
	grep -hoE '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go | sed 's/^func //' | sort -u | while read -r target; do
		grep -qE "$only" <<<"$dir $target" || continue
		echo "== $dir $target for $time"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 20x "$dir"
	done
done
