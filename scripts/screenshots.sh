#!/usr/bin/env bash
# Makes the pictures of the pages in docs/images from real data: a crash of a
# program with threads, symbol files of Debian's C library, a batch of packages.
#
#   screenshots.sh [DIR]     docs/images by default
#
# Debian: chromium g++ gdb python3, and the corpus of scripts/corpus.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(mkdir -p "${1:-docs/images}" && cd "${1:-docs/images}" && pwd)
corpus=${SYMKIT_CORPUS:-${XDG_CACHE_HOME:-$HOME/.cache}/symkit/corpus}
cores=${SYMKIT_CORES:-$PWD/bin/cores}
dumps=${SYMKIT_CRASHDUMPS:-${XDG_CACHE_HOME:-$HOME/.cache}/symkit/crashdumps}
minidumps=$PWD/walk/minidump/testdata
CGO_ENABLED=0 go build -pgo=off -o bin/ ./cmd/...
bin=$PWD/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# shot NAME PAGE HEIGHT [dark]: a picture of the top of a page.
shot() {
	local dark=()
	[[ ${4:-} != dark ]] || dark=(--blink-settings=preferredColorScheme=0)
	chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
		--disable-component-update --disable-sync --hide-scrollbars --user-data-dir="$work/profile" "${dark[@]}" \
		--window-size="1180,$3" --screenshot="$out/$1.png" "file://$work/$2" 2>/dev/null
	local size
	size=$(stat -c %s "$out/$1.png")
	((size < 200000)) || {
		printf 'screenshots.sh: error: %s.png has %d bytes\n' "$1" "$size" >&2
		exit 1
	}
}

# A crash with threads, and the crashes of Breakpad's tests.
"$bin/stackwalk" --format=html --source-link 'https://example.org/app/{path}#L{line}' "$cores/x86_64-gcc-threads/core" >crash.html
mkdir crashes
find "$dumps" "$minidumps" -name '*.dmp' -not -name 'microdump*' -size -4M -exec cp {} crashes/ \;
for core in "$cores"/x86_64-*/core; do
	name=${core%/core}
	ln -s "$core" "crashes/${name##*/}"
done
"$bin/stackwalk" --format=html --out results crashes/* >/dev/null 2>&1 || true

# The C library, and a symbol file of it as a careless tool could write it.
cp "$(find "$corpus/libc6/" -name libc.so.6 -type f | head -n 1)" libc.so.6
debug=$corpus/libc6-dbg/usr/lib/debug
"$bin/dump_syms" --inlines --debug-dir "$debug" -o libc.sym libc.so.6
awk '
/^FUNC / { n++; lost = n % 23 == 0; plain = n % 31 == 0; if (n % 41 == 0) $5 = $5 "_renamed" }
/^(PUBLIC|STACK)/ { lost = plain = 0 }
/^STACK CFI INIT/ { rules++; norules = rules % 50 == 0 }
/^STACK/ && norules { next }
lost { next }
/^[0-9a-f]+ / && plain { next }
/^[0-9a-f]+ / && ++l % 700 == 0 { $3 += 7 }
{ print }' libc.sym >other.sym
"$bin/symcheck" --format=html --debug-dir "$debug" other.sym libc.so.6 >check.html || true
"$bin/symcheck" diff --format=html libc.sym other.sym >diff.html || true

# A batch of packages with one damaged file.
mkdir build
for package in libc6 libstdc++6 sqlite3 python3.11-minimal coreutils; do
	cp -r "$corpus/$package" "$corpus/$package"-*dbg "$corpus/$package-dbg" build/ 2>/dev/null || true
done
head -c 3000 libc.so.6 >build/half.so
"$bin/dump_syms" --inlines -R --store symbols --debug-dir build/libc6-dbg/usr/lib/debug --report batch.html build >/dev/null 2>&1 || true

shot crash crash.html 1000
shot crash-dark crash.html 1000 dark
shot check check.html 1280
shot diff diff.html 800
shot index results/index.html 800
shot batch batch.html 900
