#!/usr/bin/env bash
# Runs the programs of other systems here, on all fixtures, and compares what they write
# with what this machine's programs write, byte by byte: dump_syms, symcheck, stackwalk.
#
#   scripts/everywhere.sh linux/386 linux/s390x windows/amd64     builds them first
#   scripts/everywhere.sh --dist DIR linux/arm64                  takes archives of a release
#
# Linux on other processors runs under qemu-user, Windows under wine, 386 on x86-64
# itself. EVERYWHERE=FILES limits the fixtures to names that match a pattern.
set -euo pipefail
cd "$(dirname "$0")/.."

dist=""
if [ "${1:-}" = --dist ]; then
	dist=$(cd "$2" && pwd)
	shift 2
fi
[ $# -gt 0 ] || { echo "usage: $0 [--dist DIR] OS/ARCH..." >&2; exit 2; }

work=$(mktemp -d)
server=$(command -v wineserver64 || echo /usr/lib/wine/wineserver64)
clean() {
	[ ! -d "$work/wine" ] || "$server" -k || true
	[ ! -d "$work/wine" ] || "$server" -w || true
	rm -rf "$work"
}
trap clean EXIT

# runner prints the command that runs programs of a target.
runner() {
	case $1 in
	"$(go env GOHOSTOS)/$(go env GOHOSTARCH)" | linux/386) ;;
	linux/arm) echo qemu-arm ;;
	linux/arm64) echo qemu-aarch64 ;;
	linux/*) echo "qemu-${1#*/}" ;;
	windows/amd64) command -v wine64 || echo /usr/lib/wine/wine64 ;;
	*) echo "$0: programs for $1 cannot be run here" >&2; return 1 ;;
	esac
}

# programs puts the programs of a target into a directory.
programs() {
	local target=$1 dir=$2 name
	mkdir -p "$dir"
	if [ -z "$dist" ]; then
		GOOS=${target%/*} GOARCH=${target#*/} CGO_ENABLED=0 go build -pgo=off -buildvcs=false -o "$dir/" ./cmd/...
		return
	fi
	name=${target/\//-}
	name=${name/%-arm/-armv7}
	case $target in
	windows/*) (cd "$work" && python3 -m zipfile -e "$dist"/symkit-*-"$name".zip "$dir.all") ;;
	*) mkdir "$dir.all" && tar xzf "$dist"/symkit-*-"$name".tar.gz -C "$dir.all" ;;
	esac
	cp "$dir.all"/*/bin/* "$dir/"
	chmod +x "$dir"/*
}

# The fixtures lie in one directory, so that all names in messages are relative.
mkdir "$work/fixtures"
for f in testdata/elf/* testdata/go/*.xz testdata/dwarf6/*.o testdata/clang23/*.o test/soak/testdata/*.{elf,xz,dmp} walk/minidump/testdata/*.dmp; do
	to="$work/fixtures/$(basename "$f")"
	case $f in
	*/MANIFEST | *.sym) ;;
	*.xz) xz -dc "$f" >"${to%.xz}" ;;
	*) cp "$f" "$to" ;;
	esac
done

cp -r cmd/stackwalk/testdata/breakpad/symbols "$work/windows-symbols"

# run writes the outputs of all programs into a directory, and how they ended: each fixture
# alone, all of them into a store, and crashes without symbols and with those of the store.
run() {
	local out=$1 dir=$2 exe=$3 f name code program
	shift 3
	mkdir -p "$out"
	cd "$work/fixtures"
	"$@" "$dir/dump_syms$exe" --inlines --no-generator -R -s "../$(basename "$out")/store" . 2>"$out/store.err"
	sort -o "$out/store.err" "$out/store.err"
	for f in ${EVERYWHERE:-*}; do
		name=$out/$f
		case $f in
		*.core | *.dmp)
			code=0
			"$@" "$dir/stackwalk$exe" --no-elf --format=json "$f" >"$name.json" 2>"$name.err" || code=$?
			echo "stackwalk $f: $code" >>"$out/codes"
			code=0
			program=${f%.core}.elf
			[ -f "$program" ] || program=cxx-x86_64-gcc12-O2-dw5.elf # not the crashed one: refused
			"$@" "$dir/stackwalk$exe" -s "../$(basename "$out")/store" -s ../windows-symbols --exe "$program" "$f" >"$name.txt" 2>>"$name.err" || code=$?
			echo "stackwalk $f, with symbols: $code" >>"$out/codes"
			;;
		*.dwo | *.dwp | *.alt) ;; # read with their programs
		*)
			[ -f "$f" ] || continue
			code=0
			"$@" "$dir/dump_syms$exe" --inlines --no-generator "$f" >"$name.sym" 2>"$name.err" || code=$?
			echo "dump_syms $f: $code" >>"$out/codes"
			code=0
			cp "$name.sym" "$work/now.sym"
			"$@" "$dir/symcheck$exe" ../now.sym "$f" >"$name.check" 2>>"$name.err" || code=$?
			echo "symcheck $f: $code" >>"$out/codes"
			;;
		esac
	done
	cd - >/dev/null
}

export LC_ALL=C WINEDEBUG=-all WINEPREFIX="$work/wine" DEBUGINFOD_URLS=
own=$(go env GOHOSTOS)/$(go env GOHOSTARCH)
dist="" programs "$own" "$work/own"
run "$work/want" "$work/own" ""
count=$(wc -l <"$work/want/codes")

failed=0
for target in "$@"; do
	began=$SECONDS
	command=$(runner "$target")
	case $target in windows/*) scripts/wineprefix.sh "$WINEPREFIX" ;; esac
	programs "$target" "$work/${target/\//-}"
	exe=""
	case $target in windows/*) exe=.exe ;; esac
	# shellcheck disable=SC2086
	run "$work/got-${target/\//-}" "$work/${target/\//-}" "$exe" $command
	if diff -r "$work/want" "$work/got-${target/\//-}" >"$work/diff"; then
		echo "$target: $count runs give the same bytes ($((SECONDS - began)) s)"
	else
		echo "$target: differs:"
		head -c 3000 "$work/diff"
		failed=1
	fi
done
exit $failed
