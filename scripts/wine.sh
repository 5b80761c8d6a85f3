#!/usr/bin/env bash
# Runs the programs for Windows under wine where Windows differs from other systems:
# drive letters, backslashes, long paths, reserved names, read-only files, files in use
# (scripts/hold), the width of a console, Ctrl-C (scripts/ctrlc.py). scripts/everywhere.sh
# compares the outputs for all fixtures.
#
#   scripts/wine.sh [DIR]     DIR has the programs; without DIR they are built
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
server=$(command -v wineserver64 || echo /usr/lib/wine/wineserver64)
trap '"$server" -k || true; "$server" -w || true; rm -rf "$work"' EXIT
export WINEPREFIX="$work/wine" WINEDEBUG=-all DEBUGINFOD_URLS=
scripts/wineprefix.sh "$WINEPREFIX"
wine=$(command -v wine64 || echo /usr/lib/wine/wine64)
bin=${1:-$work/bin}
[ $# -gt 0 ] || GOOS=windows GOARCH=amd64 CGO_ENABLED=0 go build -pgo=off -trimpath -buildvcs=false -o "$bin/" ./cmd/...
bin=$(cd "$bin" && pwd)
GOOS=windows GOARCH=amd64 CGO_ENABLED=0 go build -pgo=off -o "$work/hold.exe" ./scripts/hold
go build -pgo=off -o "$work/native/" ./cmd/...
fixtures=$PWD/testdata/elf scripts=$PWD/scripts
hello=$fixtures/hello-x86_64-gcc12-O2-dw5.elf
"$work/native/dump_syms" --no-generator "$hello" >"$work/want"

mkdir -p "$work/c/sub dir"
cd "$work/c"
cp "$hello" hello
cp "$hello" 'sub dir/hello.elf'
win() { # PROGRAM ARGS...
	local program=$1
	shift
	"$wine" "$bin/$program.exe" "$@"
}
z="Z:$(pwd | tr / '\\')"
failed=0
check() { # TITLE: after a command whose status is in $code
	if [ "$1" = 0 ]; then echo "ok    $2"; else echo "FAIL  $2"; failed=1; fi
}
same() { cmp -s "$1" "$work/want"; }

# "MODULE ... NAME" is the last part of the path.
code=0; win dump_syms --no-generator -n "$(basename "$hello")" "$z\\sub dir\\hello.elf" >out && same out || code=1
check $code "drive letter and backslashes"
code=0; win dump_syms --no-generator -n "$(basename "$hello")" 'sub dir\hello.elf' >out && same out || code=1
check $code "relative path with a backslash"
code=0; win dump_syms --no-generator 'sub dir\hello.elf' >out && head -1 out | grep -q ' hello.elf$' || code=1
check $code "the module is named after the last part of the path"
code=0; win dump_syms --no-generator -n "$(basename "$hello")" -o "$z\\sub dir\\out.sym" hello && same 'sub dir/out.sym' || code=1
check $code "output with a drive letter"

long=$(printf '%0100d' 1)
code=0; win dump_syms -s "store\\$long\\$long\\$long" hello && [ -n "$(find store -name 'hello.sym')" ] || code=1
check $code "a store at a path of more than 260 characters"
code=0; win dump_syms -n 'nul' -s reserved hello && [ -n "$(find reserved -name 'nul_.sym')" ] || code=1
check $code "a module named like a device"

echo old >keep.sym
chmod a-w keep.sym
code=0; win dump_syms --no-generator -n "$(basename "$hello")" -o keep.sym hello 2>err || code=$?
if [ $code = 0 ]; then same keep.sym || code=9; else grep -q 'keep.sym' err && [ "$(cat keep.sym)" = old ] && code=0; fi
check $code "a read-only output is replaced whole or left alone, with an error"
chmod u+w keep.sym

# Another program has the file open, and lets others do nothing with the file, or read it.
hold() { "$wine" "$work/hold.exe" "$@"; }
win dump_syms -s used hello
stored=$(find used -name hello.sym)
cp "$stored" stored.sym
for share in none read; do
	code=0; hold $share keep.sym "$bin/dump_syms.exe" -o keep.sym hello 2>err && code=1
	grep -q '^dump_syms: error: replace keep.sym: .*; close the program that has the file open' err && [ "$(find . -name '.*.tmp')" = "" ] || code=1
	check $code "an output that another program has open is left alone ($share)"
	code=0; hold $share "$stored" "$bin/dump_syms.exe" --force -s used hello 2>err && code=1
	cmp -s "$stored" stored.sym && [ "$(find used -type f)" = "$stored" ] || code=1
	check $code "a file of a store that another program has open is left alone ($share)"
done
code=0; hold read hello "$bin/dump_syms.exe" --no-generator -n "$(basename "$hello")" -o free.sym hello 2>err && same free.sym || code=1
check $code "an input that another program reads, or runs"
code=0; hold none hello "$bin/dump_syms.exe" hello >out 2>err && code=1
grep -q '^dump_syms: error: hello: .*close the program that has the file open$' err || code=1
check $code "an input that no other program may read is named"
code=0; hold none keep.sym >held &
until grep -q held held || ! kill -0 $! 2>/dev/null; do sleep 0.01; done
win dump_syms --no-generator -n "$(basename "$hello")" -o keep.sym hello && same keep.sym || code=1
wait $!
check $code "an output that another program has open for a moment is replaced"

# Lines of --help fit into the console: none is cut in two. Examples are as they are.
code=0
"$scripts/console.py" 60 "$wine" "$bin/stackwalk.exe" --help | sed -n '/^Flags:/,$p' >help
COLUMNS=60 "$work/native/stackwalk" --help | sed -n '/^Flags:/,$p' | cmp - help || code=1
check $code "the width of the console"

code=0; win dump_syms -o HELLO hello 2>err || grep -q hello err || code=1
[ $code = 0 ] && [ -z "$(cmp hello "$hello" 2>&1)" ] || code=1
check $code "an output that is the input in another case is refused or is another file"
code=0; win dump_syms --files-from nosuch -s store 2>err && code=1; grep -q 'nosuch' err || code=1
check $code "a missing file is named"

code=0; win symcheck --name "$(basename "$hello")" 'sub dir\out.sym' hello >/dev/null 2>err || code=$?
check $code "symcheck"

# Ctrl-C comes while the program downloads or reads; a manifest says what is in the store.
mkdir "$work/c/interrupted"
cd "$work/c/interrupted"
cp "$fixtures/cxx-x86_64-gcc12-O2-dw5-stripped.elf" stripped.elf
xz -dc "$fixtures/crash-x86_64-gcc12-O2-dw5.core.xz" >core
ctrlc() { # PROGRAM ARGS...
	local program=$1
	shift
	# On a machine with other work a single process may have to wait for a processor.
	for _ in 1 2 3; do
		rm -rf PIPE cache
		DEBUGINFOD_URLS=URL DEBUGINFOD_CACHE_PATH=cache "$scripts/ctrlc.py" stripped.elf,core,m.json "$wine" "$bin/$program.exe" "$@" 2>"$work/err" && return
		[[ $(tail -1 "$work/err") =~ ^slow ]] || return 1
	done
	return 1
}
code=0; ctrlc dump_syms -o out.sym stripped.elf || code=1
check $code "Ctrl-C ends dump_syms: $(tail -1 "$work/err")"
code=0; ctrlc dump_syms -s store --manifest m.json stripped.elf || code=1
check $code "Ctrl-C ends dump_syms -s: $(tail -1 "$work/err")"
code=0; ctrlc stackwalk -s URL --cache cache -o out.txt core || code=1
check $code "Ctrl-C ends stackwalk: $(tail -1 "$work/err")"
code=0; ctrlc stackwalk -s URL --cache cache --out results core || code=1
check $code "Ctrl-C ends stackwalk --out: $(tail -1 "$work/err")"
code=0; ctrlc symcheck lint PIPE || code=1
check $code "Ctrl-C ends symcheck: $(tail -1 "$work/err")"
exit $failed
