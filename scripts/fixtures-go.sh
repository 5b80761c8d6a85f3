#!/usr/bin/env bash
# Rebuilds testdata/go: for each Go release the program testdata/src/goreleases,
# stripped (-s -w) and reduced (scripts/gofixture), and, as NAME.sym, the functions
# of package main from the DWARF of the same program.
#
#   scripts/fixtures-go.sh
#
# Needs: Go, which fetches the other releases as modules (GOTOOLCHAIN), awk, xz.
set -euo pipefail
export LC_ALL=C GOENV=off GOFLAGS= GOWORK=off CGO_ENABLED=0 GOOS=linux GOARCH=amd64 GOAMD64=v1
export GOPROXY=https://proxy.golang.org,direct

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=$root/testdata/go
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

releases='1.16.15 1.17.13 1.18.10 1.19.13 1.20.14 1.21.13 1.22.12 1.23.12 1.24.11 1.25.5 1.26.8 1.27.1'

cd "$root"
go build -o "$work/dump_syms" ./cmd/dump_syms
go build -o "$work/gofixture" ./scripts/gofixture
rm -rf "$out"
mkdir -p "$out"
cd testdata/src/goreleases
for release in $releases; do
	export GOTOOLCHAIN=go$release
	go build -trimpath -ldflags=-buildid= -o "$work/twin" main.go
	go build -trimpath -ldflags='-buildid= -s -w' -o "$work/program" main.go
	"$work/gofixture" "$work/program" | xz -9e -T1 >"$out/go$release.elf.xz"
	"$work/dump_syms" --inlines --name prog "$work/twin" >"$work/twin.sym" 2>/dev/null
	# The functions of package main, and the files and origins that they name.
	awk '
		/^FUNC / { keep = $5 ~ /^main\./ }
		/^(PUBLIC|STACK|INFO) / { keep = 0 }
		NR == FNR {
			if (keep && /^INLINE /) { file[$4]; origin[$5] }
			if (keep && /^[0-9a-f]/) file[$4]
			next
		}
		/^MODULE / || /^FILE / && $2 in file || /^INLINE_ORIGIN / && $2 in origin || !/^(FILE|INLINE_ORIGIN) / && keep
	' "$work/twin.sym" "$work/twin.sym" >"$out/go$release.sym"
done
