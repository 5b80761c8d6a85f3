#!/usr/bin/env bash
# Builds the ELF fixtures of testdata/elf from testdata/src.
#
#   fixtures.sh           builds all and replaces testdata/elf, MANIFEST included
#   fixtures.sh --check   builds them elsewhere and compares: exit code 1 when one
#                         differs although its tools have the recorded versions
#
# MANIFEST says how each fixture was made. Names have the form
# SOURCE-ARCH-COMPILER-OPTIMIZATION-DWARF[-VARIANT].KIND; files over 100 kB are
# xz-compressed. The tools are Debian 12's: the error message names the packages.
set -euo pipefail
export LC_ALL=C TZ=UTC0 SOURCE_DATE_EPOCH=0
unset CPATH LIBRARY_PATH GOFLAGS RUSTFLAGS

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
packages='gcc-12 g++-12 g++-12-{i686,aarch64,riscv64,s390x,mips,powerpc64le}-linux-gnu
g++-12-arm-linux-gnueabihf clang-14 lld-14 llvm-14 binutils dwz xz-utils; rustc and go'

die() {
	printf 'fixtures.sh: error: %s\n' "$*" >&2
	exit 1
}

# ---- Recording

# The version of a tool, with that of the assembler and linker it drives.
version_of() {
	local tool=$1 version
	case $tool in
	go) version=$(go version) ;;
	chance) version='differs from run to run, never compared' ;;
	dwz) version=$(dwz --version 2>&1 | sed -n 1p) ;;
	llvm-*) version=$("$tool" --version 2>&1 | sed -n 's/.*LLVM version/LLVM/p') ;;
	*) version=$("$tool" --version 2>&1 | sed -n 1p) ;;
	esac
	case $tool in
	*-linux-gnu*-g*-12) version+=", $("${tool%-g*-12}-ld" --version | sed -n 1p)" ;;
	clang*) version+=", $(x86_64-linux-gnu-ld --version | sed -n 1p)" ;;
	esac
	printf '%s\n' "$version"
}

# Starts a fixture's recipe.
begin() {
	tools=()
	commands=()
}

# Notes a tool that run does not see. The tool "chance" marks what no two runs
# make alike.
uses() { tools+=("$1"); }

# Runs and records one command of the recipe.
run() {
	command -v "$1" >/dev/null || die "$1 is not installed. Debian's packages: $packages"
	case $1 in
	cp | env) ;;
	*) uses "$1" ;;
	esac
	[[ " $* " != *' -fuse-ld=gold '* ]] || uses ld.gold
	[[ " $* " != *' -fuse-ld=lld '* ]] || uses ld.lld
	commands+=("${*//$PWD/\$PWD}")
	"$@" || die "failed: $*"
}

# keep FILE [NAME]: FILE is the fixture NAME, made by the recipe so far.
keep() {
	local file=$1 name=${2:-$1} recipe tool
	recipe=$(printf '; %s' "${commands[@]}")
	tools_of[$name]=$(printf '%s\n' "${tools[@]}" | sort -u | paste -s -d ,)
	for tool in "${tools[@]}"; do
		[[ -n ${versions[$tool]:-} ]] || versions[$tool]=$(version_of "$tool")
	done
	if [[ $(stat -c %s "$file") -gt 100000 ]]; then
		xz -9e -T1 -c "$file" >"$out/$name.xz"
	else
		cp "$file" "$out/$name"
	fi
	chmod 644 "$out/$name"*
	printf '%s\t%s\t%s\n' "$name" "${tools_of[$name]}" "${recipe:2}" >>"$out/MANIFEST.fixtures"
}

# ---- Programs

common=(-g -fasynchronous-unwind-tables "-ffile-prefix-map=\$PWD=/symkit")
link=(-nostdlib -static '-Wl,--build-id=sha1' '-Wl,-e,_start')

# compile CC SOURCE OBJECT FLAGS...
compile() {
	local cc=$1 source=$2 object=$3
	shift 3
	[[ $source != *.cc ]] || cc=$(cxx_of "$cc")
	run "$cc" "${common[@]//\$PWD/$PWD}" "$@" -c "src/$source" -o "$object"
}

cxx_of() {
	case $1 in
	clang*) printf '%s\n' "${1/clang/clang++}" ;;
	*) printf '%s\n' "${1/gcc/g++}" ;;
	esac
}

# run_time CC FLAGS...: the entry point, without debug information.
run_time() {
	local cc=$1
	shift
	run "$cc" -O2 -ffreestanding -fasynchronous-unwind-tables "$@" -c src/rt.c -o rt.o
}

# cxx NAME CC "COMPILER FLAGS" "LINKER FLAGS": the C++ program.
cxx() {
	local name=cxx-$1.elf cc=$2 cflags ldflags
	read -r -a cflags <<<"$3"
	read -r -a ldflags <<<"$4"
	begin
	compile "$cc" cxx.cc cxx.o "${cflags[@]}"
	compile "$cc" other.cc other.o "${cflags[@]}"
	run_time "$cc"
	run "$cc" "${link[@]}" "${ldflags[@]}" cxx.o other.o rt.o -lgcc -o "$name"
	keep "$name"
}

# lang NAME CC "COMPILER FLAGS" "LINKER FLAGS": the C program.
lang() {
	local name=lang-$1.elf cc=$2 cflags ldflags
	read -r -a cflags <<<"$3"
	read -r -a ldflags <<<"$4"
	begin
	compile "$cc" lang.c lang.o "${cflags[@]}"
	run_time "$cc"
	run "$cc" "${link[@]}" "${ldflags[@]}" lang.o rt.o -lgcc -o "$name"
	keep "$name"
}

# types NAME CC "COMPILER FLAGS" "LINKER FLAGS": the program of many types.
types() {
	local name=types-$1.elf cc=$2 cflags ldflags
	read -r -a cflags <<<"$3"
	read -r -a ldflags <<<"$4"
	begin
	compile "$cc" types.cc types.o "${cflags[@]}"
	run_time "$cc"
	run "$cc" "${link[@]}" "${ldflags[@]}" types.o rt.o -lgcc -o "$name"
	keep "$name"
}

# label NAME CC "COMPILER FLAGS": the functions that share an assembler label.
label() {
	local name=label-$1.elf cc=$2 cflags
	read -r -a cflags <<<"$3"
	begin
	compile "$cc" label.c label.o "${cflags[@]}"
	compile "$cc" label.c label-other.o "${cflags[@]}" -DOTHER
	run_time "$cc"
	run "$cc" "${link[@]}" -fuse-ld=bfd label.o label-other.o rt.o -lgcc -o "$name"
	keep "$name"
}

gcc=x86_64-linux-gnu-gcc-12
clang='clang-14'
base=cxx-x86_64-gcc12-O2-dw5.elf # what the derived fixtures are made of

# Optimization × DWARF version × offset size, linked with GNU ld.
compilers() {
	local level dwarf
	for level in O0 O2; do
		for dwarf in 2 3 4 5; do
			cxx "x86_64-gcc12-$level-dw$dwarf" $gcc "-$level -gdwarf-$dwarf" -fuse-ld=bfd
		done
		for dwarf in 4 5; do
			cxx "x86_64-clang14-$level-dw$dwarf" $clang "-$level -gdwarf-$dwarf" -fuse-ld=bfd
			cxx "x86_64-gcc12-$level-dw$dwarf-64" $gcc "-$level -gdwarf-$dwarf -gdwarf64" -fuse-ld=bfd
			cxx "x86_64-clang14-$level-dw$dwarf-64" $clang "-$level -gdwarf-$dwarf -gdwarf64" -fuse-ld=bfd
			lang "x86_64-gcc12-$level-dw$dwarf" $gcc "-$level -gdwarf-$dwarf" -fuse-ld=bfd
			lang "x86_64-clang14-$level-dw$dwarf" $clang "-$level -gdwarf-$dwarf" -fuse-ld=bfd
		done
	done
	lang x86_64-gcc12-O2-dw2 $gcc '-O2 -gdwarf-2 -gstrict-dwarf' -fuse-ld=bfd
	cxx x86_64-gcc12-O2-dw3-64 $gcc '-O2 -gdwarf-3 -gdwarf64' -fuse-ld=bfd
	label x86_64-gcc12-O2-dw5 $gcc '-O2 -gdwarf-5'
	label x86_64-clang14-O2-dw5 $clang '-O2 -gdwarf-5'
}

# Each linker has its own tombstones for what it leaves out.
linkers() {
	local linker dwarf
	for dwarf in 4 5; do
		cxx "x86_64-gcc12-O2-dw$dwarf-gc" $gcc "-O2 -gdwarf-$dwarf -ffunction-sections" '-fuse-ld=bfd -Wl,--gc-sections'
		cxx "x86_64-clang14-O2-dw$dwarf-gc" $clang "-O2 -gdwarf-$dwarf -ffunction-sections" '-fuse-ld=bfd -Wl,--gc-sections'
		for linker in gold lld; do
			cxx "x86_64-gcc12-O2-dw$dwarf-$linker" $gcc "-O2 -gdwarf-$dwarf" "-fuse-ld=$linker"
			cxx "x86_64-gcc12-O2-dw$dwarf-$linker-gc" $gcc "-O2 -gdwarf-$dwarf -ffunction-sections" "-fuse-ld=$linker -Wl,--gc-sections"
			cxx "x86_64-clang14-O2-dw$dwarf-$linker-gc" $clang "-O2 -gdwarf-$dwarf -ffunction-sections" "-fuse-ld=$linker -Wl,--gc-sections"
		done
	done
}

# The other machines.
machines() {
	local dwarf
	for dwarf in 4 5; do
		machine i686 i686-linux-gnu $dwarf
		machine arm arm-linux-gnueabihf $dwarf '-marm -fno-reorder-blocks-and-partition'
		machine thumb arm-linux-gnueabihf $dwarf '-mthumb -fno-reorder-blocks-and-partition'
		machine aarch64 aarch64-linux-gnu $dwarf
		machine aarch64pac aarch64-linux-gnu $dwarf -mbranch-protection=standard
		machine riscv64 riscv64-linux-gnu $dwarf
		machine s390x s390x-linux-gnu $dwarf
		machine ppc64le powerpc64le-linux-gnu $dwarf
		machine mips mips-linux-gnu $dwarf
	done
}

# machine ARCH TRIPLE DWARF [FLAGS]: hot and cold parts are GCC's default on x86
# only, and with exceptions not to be had on arm.
machine() {
	cxx "$1-gcc12-O2-dw$3" "$2-gcc-12" "-O2 -gdwarf-$3 -freorder-blocks-and-partition ${4:-}" -fuse-ld=bfd
	lang "$1-gcc12-O2-dw$3" "$2-gcc-12" "-O2 -gdwarf-$3 ${4:-}" -fuse-ld=bfd
}

# ---- Other shapes of the C++ program

# A discarded line sequence that sets its address twice. GNU ld relocates against
# the kept copy of a function unless its size differs, which the alignment sees to.
tombstones() {
	local name=cxx-x86_64-gcc12-O2-dw5-tomb.elf
	begin
	compile $gcc cxx.cc cxx.o -O2 -gdwarf-5
	compile $gcc other.cc other.o -O2 -gdwarf-5 -falign-labels=64 -DRESET_VIEW
	run_time $gcc
	run $gcc "${link[@]}" cxx.o other.o rt.o -lgcc -o $name
	keep $name
}

# A shared library, the same without section headers, a partial link, no build
# id, type units, link-time optimization (references between units).
shapes() {
	local name=cxx-x86_64-gcc12-O2-dw5
	begin
	compile $gcc cxx.cc cxx.o -O2 -gdwarf-5 -fPIC
	compile $gcc other.cc other.o -O2 -gdwarf-5 -fPIC
	run $gcc -nostdlib -shared -Wl,--build-id=sha1 -Wl,-soname,libshop.so.1 cxx.o other.o -o $name.so
	keep $name.so
	run llvm-objcopy-14 --strip-sections $name.so $name-nosections.so
	keep $name-nosections.so

	begin
	compile $gcc cxx.cc cxx.o -O2 -gdwarf-5 -ffunction-sections
	compile $gcc other.cc other.o -O2 -gdwarf-5 -ffunction-sections
	keep cxx.o $name.o
	run x86_64-linux-gnu-ld -r cxx.o other.o -o $name-partial.o
	keep $name-partial.o

	cxx x86_64-gcc12-O2-dw5-nobuildid $gcc '-O2 -gdwarf-5' '-fuse-ld=bfd -Wl,--build-id=none'
	cxx x86_64-gcc12-O2-dw4-types $gcc '-O2 -gdwarf-4 -fdebug-types-section' -fuse-ld=bfd
	cxx x86_64-gcc12-O2-dw5-types $gcc '-O2 -gdwarf-5 -fdebug-types-section' -fuse-ld=bfd
	cxx x86_64-clang14-O2-dw5-types $clang '-O2 -gdwarf-5 -fdebug-types-section' -fuse-ld=lld
	types x86_64-gcc12-O2-dw5 $gcc '-O2 -gdwarf-5' -fuse-ld=bfd
	types x86_64-gcc12-O2-dw5-types $gcc '-O2 -gdwarf-5 -fdebug-types-section' -fuse-ld=bfd
	cxx x86_64-gcc12-O2-dw5-lto $gcc '-O2 -gdwarf-5 -flto -frandom-seed=1' "-g -O2 -fuse-ld=bfd -flto -save-temps -flto-partition=none -ffile-prefix-map=$PWD=/symkit"
	cxx x86_64-clang14-O2-dw5-lto $clang '-O2 -gdwarf-5 -flto' '-O2 -fuse-ld=lld -flto'
}

# Debug information elsewhere: debug link, mini debug info, dwz, split DWARF.
companions() {
	local name=${base%.elf} dwarf
	begin
	run x86_64-linux-gnu-objcopy --only-keep-debug $base "$name-stripped.debug"
	keep "$name-stripped.debug"
	run x86_64-linux-gnu-objcopy --strip-all "--add-gnu-debuglink=$name-stripped.debug" $base "$name-stripped.elf"
	keep "$name-stripped.elf"

	begin
	run x86_64-linux-gnu-objcopy --only-keep-debug $base mini.debug
	run x86_64-linux-gnu-objcopy --strip-debug mini.debug mini
	run xz -T1 -f mini
	run x86_64-linux-gnu-objcopy --strip-all --add-section .gnu_debugdata=mini.xz $base "$name-mini.elf"
	keep "$name-mini.elf"

	begin
	run cp $base "$name-dwz.elf"
	run cp "${base/.elf/-nobuildid.elf}" twin.elf
	run dwz -m "$name-dwz.alt" -M "$name-dwz.alt" "$name-dwz.elf" twin.elf
	keep "$name-dwz.elf"
	keep "$name-dwz.alt"

	begin
	uses chance # the checksum is another in every run of dwz
	run cp $base "$name-sup.elf"
	run cp "${base/.elf/-nobuildid.elf}" twin.elf
	run dwz -5 -m "$name-sup.alt" -M "$name-sup.alt" "$name-sup.elf" twin.elf
	keep "$name-sup.elf"
	keep "$name-sup.alt"

	for dwarf in 4 5; do
		split "cxx-x86_64-gcc12-O2-dw$dwarf-split" $gcc "$dwarf"
		split "cxx-x86_64-clang14-O2-dw$dwarf-split" $clang "$dwarf"
	done
}

# split NAME CC DWARF: the program, its .dwo files and the .dwp made of them.
split() {
	local name=$1 cc=$2 flags=(-O2 "-gdwarf-$3" -gsplit-dwarf)
	begin
	[[ $cc == clang* ]] || uses chance # GCC hashes addresses into DW_AT_GNU_dwo_id
	compile "$cc" cxx.cc "$name-cxx.o" "${flags[@]}"
	compile "$cc" other.cc "$name-other.o" "${flags[@]}"
	keep "$name-cxx.dwo"
	keep "$name-other.dwo"
	run_time "$cc"
	run "$cc" "${link[@]}" "$name-cxx.o" "$name-other.o" rt.o -lgcc -o "$name.elf"
	keep "$name.elf"
	run llvm-dwp-14 "$name-cxx.dwo" "$name-other.dwo" -o "$name.dwp"
	keep "$name.dwp"
}

# Compressed debug sections.
compressed() {
	local kind
	for kind in zlib zstd zlib-gnu; do
		begin
		run x86_64-linux-gnu-objcopy "--compress-debug-sections=$kind" $base "${base/.elf/-$kind.elf}"
		keep "${base/.elf/-$kind.elf}"
	done
	begin
	run s390x-linux-gnu-objcopy --compress-debug-sections=zlib cxx-s390x-gcc12-O2-dw5.elf cxx-s390x-gcc12-O2-dw5-zlib.elf
	keep cxx-s390x-gcc12-O2-dw5-zlib.elf
}

# ---- The other sources

assembly() {
	local dwarf name
	for dwarf in 3 5; do
		name=asm-x86_64-gas-dw$dwarf.elf
		begin
		run x86_64-linux-gnu-as "-gdwarf-$dwarf" --debug-prefix-map "$PWD=/symkit" src/asm-x86_64.s -o asm.o
		run x86_64-linux-gnu-as "-gdwarf-$dwarf" --debug-prefix-map "$PWD=/symkit" src/asm-x86_64-other.s -o asm-other.o
		run_time $gcc
		run $gcc "${link[@]}" asm.o asm-other.o rt.o -o "$name"
		keep "$name"
	done
}

# More than 65 280 sections.
sections() {
	begin
	compile $gcc sections.c sections.o -O2 -gdwarf-5
	keep sections.o sections-x86_64-gcc12-O2-dw5.o
}

# The program of README.md, compiled and linked as it says there.
hello() {
	begin
	run cp src/hello.c hello.c
	run $gcc -g -O2 "-ffile-prefix-map=$PWD=/home/me" -o hello hello.c
	keep hello hello-x86_64-gcc12-O2-dw5.elf
}

# A program that crashes in a signal handler, and its core file. The core file
# holds process and register state of one run and is never compared.
core() {
	local name=crash-x86_64-gcc12-O2-dw5 place=/tmp/symkit-crash
	begin
	compile $gcc crash.c crash.o -O2 -gdwarf-5 -fno-pie
	run $gcc "${link[@]}" -no-pie crash.o -o $name.elf
	keep $name.elf
	[[ $mode == build ]] || return 0
	[[ $(</proc/sys/kernel/core_pattern) == core ]] || die "the core file needs /proc/sys/kernel/core_pattern to be 'core'"
	mkdir $place || die "$place exists already"
	cp $name.elf $place/crash
	uses chance
	commands+=("(cd $place && ulimit -c unlimited && env -i setarch -R $place/crash)")
	(
		cd $place
		ulimit -c unlimited
		env -i setarch -R $place/crash || true
	) 2>/dev/null
	mv $place/core* $name.core
	rm -r $place
	keep $name.core
}

rust() {
	local dwarf name
	for dwarf in 4 5; do
		name=rust-x86_64-rustc-O-dw$dwarf.so
		begin
		run rustc --edition 2021 --crate-type cdylib -g -O -C panic=abort -C "dwarf-version=$dwarf" \
			-C symbol-mangling-version=v0 --remap-path-prefix "$PWD=/symkit" \
			-C linker=$gcc -C link-arg=-nostdlib -C link-arg=-Wl,--build-id=sha1 src/rust.rs -o "$name"
		keep "$name"
	done
}

go_program() {
	begin
	run env -C src/go GO111MODULE=off GOOS=linux GOARCH=amd64 CGO_ENABLED=0 GOAMD64=v1 \
		go build -trimpath -ldflags=-buildid= -o ../../go.elf hello.go
	uses go
	keep go.elf go-x86_64-gc.elf
}

# ---- Comparing

recorded_version() {
	awk -F '\t' -v tool="$1" '$1 == "tool" && $2 == tool { print $3 }' "$root/testdata/elf/MANIFEST"
}

# The bytes of fixture $2 in directory $1.
bytes() {
	if [[ -f $1/$2.xz ]]; then
		xz -dc "$1/$2.xz"
	else
		cat "$1/$2"
	fi
}

# Prints why fixture $1 cannot be compared: a tool of another version.
other_tool() {
	local tool list
	IFS=, read -r -a list <<<"${tools_of[$1]}"
	for tool in "${list[@]}"; do
		if [[ $tool == chance ]]; then
			printf '%s\n' "${versions[$tool]}"
			return
		fi
		if [[ ${versions[$tool]} != "$(recorded_version "$tool")" ]]; then
			printf '%s: here %s, recorded %s\n' "$tool" "${versions[$tool]}" "$(recorded_version "$tool")"
			return
		fi
	done
}

compare() {
	local name reason same=0 different=0 skipped=0
	for name in "${!tools_of[@]}"; do
		reason=$(other_tool "$name")
		if [[ -n $reason ]]; then
			printf '%s: not compared (%s)\n' "$name" "$reason"
			skipped=$((skipped + 1))
		elif [[ ! -f $root/testdata/elf/$name && ! -f $root/testdata/elf/$name.xz ]]; then
			printf '%s: not in testdata/elf\n' "$name"
			different=$((different + 1))
		elif ! cmp -s <(bytes "$out" "$name") <(bytes "$root/testdata/elf" "$name"); then
			printf '%s: differs\n' "$name"
			different=$((different + 1))
		else
			same=$((same + 1))
		fi
	done
	printf '%d the same, %d not compared, %d different or missing\n' $same $skipped $different
	[[ $different == 0 ]]
}

# The manifest: tools with their versions, then the fixtures.
write_manifest() {
	local tool
	{
		printf '# Made by scripts/fixtures.sh. Tab-separated: "tool", name, version; and\n'
		printf '# fixture, tools, commands in a directory that holds src/.\n'
		for tool in "${!versions[@]}"; do
			printf 'tool\t%s\t%s\n' "$tool" "${versions[$tool]}"
		done | sort
		sort "$out/MANIFEST.fixtures"
	} >"$out/MANIFEST"
	rm "$out/MANIFEST.fixtures"
}

# Replaces the fixtures the old manifest lists; other files there stay.
install_fixtures() {
	local name
	mkdir -p "$root/testdata/elf"
	if [[ -f $root/testdata/elf/MANIFEST ]]; then
		while IFS=$'\t' read -r name _; do
			[[ $name == tool || $name == '#'* ]] || rm -f "$root/testdata/elf/$name" "$root/testdata/elf/$name.xz"
		done <"$root/testdata/elf/MANIFEST"
	fi
	cp "$out"/* "$root/testdata/elf/"
	du -ch "$out"/* | tail -n 1
}

main() {
	mode=build
	case ${1:-} in
	'') ;;
	--check) mode=check ;;
	*) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 1 ;;
	esac
	declare -gA versions=() tools_of=()
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	out=$work/out
	mkdir "$out" "$work/build"
	cp -r "$root/testdata/src" "$work/build/src"
	cd "$work/build"

	compilers
	linkers
	machines
	tombstones
	shapes
	companions
	compressed
	assembly
	sections
	hello
	core
	rust
	go_program

	write_manifest
	if [[ $mode == check ]]; then
		compare
	else
		install_fixtures
	fi
}

main "$@"
