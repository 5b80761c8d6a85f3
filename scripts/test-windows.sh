#!/usr/bin/env bash
# Runs tests of packages as a program of Windows, under wine. Left out are tests that need
# symbolic links, the go command, or more than wine 8 does when files are removed.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
server=$(command -v wineserver64 || echo /usr/lib/wine/wineserver64)
trap '"$server" -k || true; "$server" -w || true; rm -rf "$work"' EXIT
export WINEPREFIX="$work/wine" WINEDEBUG=-all
scripts/wineprefix.sh "$WINEPREFIX"

GOOS=windows GOARCH=amd64 CGO_ENABLED=0 go test -pgo=off -exec "$(command -v wine64 || echo /usr/lib/wine/wine64)" \
	./cfi ./sframe ./emit ./limits ./located ./check/diff ./check/lint ./check/report ./check/internal/... \
	./dump/internal/{files,frames,inlines,lines,naming,symbols,unwind,write} \
	./internal/{bounds,command,demangle,disasm,filename,inflate,mutant,page,par,printable,wire,worker} \
	./walk ./walk/internal/... ./walk/microdump ./walk/minidump/... ./walk/report ./walk/peers/...
