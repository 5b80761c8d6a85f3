#!/usr/bin/env bash
# Runs every fuzz target in turn, each for the given time, or count as in 100000x.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-5m}
only=${2:-.} # a regular expression on "package target"

temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
cache=$(go env GOCACHE)/fuzz

grep -rEl --include='*_test.go' '^func Fuzz' . | while read -r file; do
	dirname "$file"
done | sort -u | while read -r dir; do
	targets=$(grep -hoE '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go | sed "s|^func |$dir |" | sort -u | grep -E "$only" || true)
	[ -n "$targets" ] || continue
	go test -c -fuzz . -o "$temp/test" "$dir"
	while read -r _ target; do
		echo "== $dir $target for $time"
		(cd "$dir" && "$temp/test" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$time" \
			-test.fuzzminimizetime 20x -test.fuzzcachedir "$cache/symkit/${dir#./}")
	done <<<"$targets"
done
