#!/bin/bash
# Rebuilds every file of sframe/testdata except src/: raw .sframe sections (.bin),
# relocatable objects (.o), what readelf prints for them (.txt), and the index
# with the recipe of each; dump/testdata/sframe: whole libraries; and
# check/testdata/sframe: libraries whose linker does not know SFrame.
#
#   scripts/fixtures-sframe.sh [WORKDIR]
#
# Producers, none of which is installed into the system:
#   v1  binutils 2.40, the system's own (Debian bookworm), native and cross
#   v2  binutils 2.44 from Debian trixie
#   v3  binutils 2.46 or later from Debian sid; its readelf reads v2 as well
#   e1  llvm-mc 22 from Debian sid: version 2, errata 1; linked by lld, which
#       does not know SFrame and concatenates
#   e2  llvm-mc 23
# and for the programs alone: lld 22 and 23, mold, wild (crates.io), and as and ld
# of the releases of binutils whose sources are below $BINUTILS, if that is set.
# trixie's and sid's packages are fetched by apt from the mirror that this
# machine is configured with, under a private configuration inside WORKDIR; the
# system's sources and lists stay as they are. They run through their own libc.
# WORKDIR/bin keeps a wrapper per tool, e.g. v3-s390x-as; the oracle tests find
# them, and zlib's source beside them, by SYMKIT_SFRAME_TOOLS=WORKDIR/bin.
# WORKDIR/programs has objects and programs of all assemblers and linkers, which
# the oracle tests read as well; of their results docs/sframe.md has a table
# (make sframe-tools).
#
# Needs: bookworm with apt, gcc and binutils for x86-64, aarch64 and s390x.
set -euo pipefail

repo=$(cd "$(dirname "$0")/.." && pwd)
src=$repo/sframe/testdata/src
out=$repo/sframe/testdata
work=${1:-$(mktemp -d)}
mkdir -p "$work/bin" "$work/tmp"
work=$(cd "$work" && pwd)
export LC_ALL=C

# fetch SUITE PACKAGE...: unpacks the packages of a Debian suite into WORKDIR/SUITE.
fetch() {
	local suite=$1 root=$work/apt-$1 mirror
	shift
	[ -e "$work/$suite/.done" ] && return
	mkdir -p "$root"/{lists,cache,sources.d,debs} "$work/$suite"
	mirror=$(apt-get indextargets --format '$(SITE)' 'Codename: bookworm' | head -1)
	printf '%s [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' \
		deb "$mirror" "$suite" deb-src "$mirror" "$suite" >"$root/sources.list"
	: >"$root/status"
	cat >"$root/apt.conf" <<-END
		Dir::Etc::sourcelist "$root/sources.list";
		Dir::Etc::sourceparts "$root/sources.d";
		Dir::Etc::preferencesparts "$root/sources.d";
		Dir::State::lists "$root/lists";
		Dir::State::status "$root/status";
		Dir::Cache "$root/cache";
		Acquire::Languages "none";
	END
	(
		export APT_CONFIG=$root/apt.conf
		cd "$root/debs"
		apt-get -q update
		apt-get -q download "$@"
	) >&2
	for deb in "$root"/debs/*.deb; do dpkg-deb -x "$deb" "$work/$suite"; done
	touch "$work/$suite/.done"
}

# sources SUITE PACKAGE: unpacks a source package's tarball into WORKDIR/PACKAGE, C
# code for the oracle tests to compile.
sources() {
	local root=$work/apt-$1
	[ -e "$work/$2/.done" ] && return
	(
		export APT_CONFIG=$root/apt.conf
		cd "$root/debs"
		apt-get -q update
		apt-get -q source --tar-only --download-only "$2"
	) >&2
	mkdir -p "$work/$2"
	tar -xf "$root"/debs/"$2"_*.orig.tar.* -C "$work/$2" --strip-components=1
	touch "$work/$2/.done"
}

# wrap NAME SUITE PROGRAM: WORKDIR/bin/NAME runs the unpacked program.
wrap() {
	local lib=$work/$2/usr/lib
	cat >"$work/bin/$1" <<-END
		#!/bin/sh
		exec $work/$2/usr/lib64/ld-linux-x86-64.so.2 --library-path $lib/x86_64-linux-gnu $work/$2/usr/$3 "\$@"
	END
	chmod +x "$work/bin/$1"
}

tools() {
	local common="binutils-common binutils-x86-64-linux-gnu binutils-aarch64-linux-gnu binutils-s390x-linux-gnu
		libbinutils libctf0 libctf-nobfd0 libjansson4 libzstd1 zlib1g libc6"
	fetch trixie $common libsframe1
	fetch sid $common libsframe3 libgcc-s1 libstdc++6 libedit2 libffi8 libtinfo6 libxml2-16 libz3-4 \
		libbsd0 libmd0 libllvm22 llvm-22 lld-22 libllvm23 llvm-23 lld-23 mold libmimalloc3
	sources sid zlib
	local gnu t
	for gnu in x86_64 aarch64 s390x; do
		for t in as ld readelf; do
			ln -sf "$(command -v $gnu-linux-gnu-$t)" "$work/bin/v1-$gnu-$t"
			wrap v2-$gnu-$t trixie bin/$gnu-linux-gnu-$t
			wrap v3-$gnu-$t sid bin/$gnu-linux-gnu-$t
		done
	done
	# Any of them reads every machine.
	ln -sf "$(command -v readelf)" "$work/bin/v1-readelf"
	ln -sf v3-x86_64-readelf "$work/bin/v2-readelf"
	ln -sf v3-x86_64-readelf "$work/bin/v3-readelf"
	ln -sf v3-x86_64-readelf "$work/bin/e1-readelf"
	wrap e1-mc sid lib/llvm-22/bin/llvm-mc
	wrap e1-readobj sid lib/llvm-22/bin/llvm-readobj
	ln -sf v3-x86_64-readelf "$work/bin/e2-readelf"
	wrap e2-mc sid lib/llvm-23/bin/llvm-mc
	wrap e2-readobj sid lib/llvm-23/bin/llvm-readobj
	wrap lld22 sid lib/llvm-22/bin/lld
	wrap lld23 sid lib/llvm-23/bin/lld
	wrap mold sid bin/mold
}

# releases: builds as, ld and readelf of the releases of binutils whose sources are below $BINUTILS, a directory for each,
# as WORKDIR/bin/r2.45-x86_64-as. Debian has 2.44 and the newest one alone; GNU's servers have all.
releases() {
	local source version m build
	for source in "${BINUTILS:-/nowhere}"/*/; do
		[ -x "$source/gas/configure" ] || continue
		version=$(sed -n "s/^m4_define(\[BFD_VERSION\], \[\([0-9]*\.[0-9]*\).*/\1/p" "$source/bfd/version.m4")
		for m in x86_64 aarch64 s390x; do
			build=$work/r$version/$m
			if [ ! -e "$build/.done" ]; then
				mkdir -p "$build"
				(
					cd "$build"
					"$source/configure" --target=$m-linux-gnu --disable-nls --disable-werror --disable-gdb --disable-gprofng \
						--disable-gprof --disable-libctf --without-zstd --disable-shared MAKEINFO=true
					make -s MAKEINFO=true -j"$(nproc)" all-gas all-ld all-binutils
				) >"$build/log" 2>&1
				touch "$build/.done"
			fi
			ln -sf "$build/gas/as-new" "$work/bin/r$version-$m-as"
			ln -sf "$build/ld/ld-new" "$work/bin/r$version-$m-ld"
			ln -sf "$build/binutils/readelf" "$work/bin/r$version-$m-readelf"
		done
		gnus+=("r$version")
	done
}

# wild: the linker of crates.io, if there is cargo.
wild() {
	[ -x "$work/wild/bin/wild" ] || cargo install -q --locked --version 0.10.0 --root "$work/wild" wild-linker >&2 || return 0
	ln -sf "$work/wild/bin/wild" "$work/bin/wild"
}

# programs: WORKDIR/programs/LINKER-ASSEMBLER-MACHINE-KIND, of zlib and basic.c, the objects
# ASSEMBLER-MACHINE-SOURCE.o, an empty file NAME.refused for each that the linker does not make, and the list of
# versions. The assembler "mixed" is the newest GNU as for a half of the sources, and LLVM's for the others.
programs() {
	local m flags s name v g out=$work/programs half
	rm -rf "$out" && mkdir -p "$out/s"
	for m in x86_64 aarch64 s390x; do
		flags= half=
		[ $m = aarch64 ] && flags=-mbranch-protection=pac-ret
		for s in "$src/basic.c" "$work"/zlib/{adler32,crc32,deflate,inflate,trees,compress}.c; do
			name=$(basename "$s" .c)
			$m-linux-gnu-gcc -O2 -fPIC -w $flags -S -o "$out/s/$m-$name.s" "$s"
			for v in "${gnus[@]}"; do
				[ $v$m = v2s390x ] || "$work/bin/$v-$m-as" --gsframe -o "$out/$v-$m-$name.o" "$out/s/$m-$name.s"
			done
			[ $m = x86_64 ] || continue
			for v in e1 e2; do
				"$work/bin/$v-mc" --triple=x86_64-linux-gnu --gsframe --filetype=obj -o "$out/$v-$m-$name.o" "$out/s/$m-$name.s"
			done
			[ "$half" = v3 ] && half=e2 || half=v3
			ln -s "$half-$m-$name.o" "$out/mixed-$m-$name.o"
		done
		for v in "${gnus[@]}" e1 e2 mixed; do
			[ -e "$out/$v-$m-basic.o" ] || continue
			for g in "${gnus[@]}"; do program $g "$work/bin/$g-$m-ld"; done
			program lld22 "$work/bin/lld22" -flavor gnu
			program lld23 "$work/bin/lld23" -flavor gnu
			program mold "$work/bin/mold"
			# wild takes the machine from its flags, and drops code without an entry point by default.
			case $m in
			x86_64) program wild "$work/bin/wild" -m elf_x86_64 --no-gc-sections ;;
			aarch64) program wild "$work/bin/wild" -m aarch64linux --no-gc-sections ;;
			esac
		done
	done
	rm -f "$out"/mixed-*.o && rm -rf "$out/s"
	{
		for v in "${gnus[@]}"; do echo "$v GNU $(version $v x86_64)"; done
		echo "e1 LLVM $("$work/bin/e1-mc" --version | sed -n 's/.*version //p')"
		echo "e2 LLVM $("$work/bin/e2-mc" --version | sed -n 's/.*version //p')"
		echo "lld22 $("$work/bin/lld22" -flavor gnu --version | sed 's/.*LLD /LLD /; s/ (.*//')"
		echo "lld23 $("$work/bin/lld23" -flavor gnu --version | sed 's/.*LLD /LLD /; s/ (.*//')"
		"$work/bin/mold" --version | sed 's/\(mold [0-9.]*\).*/mold \1/'
		[ ! -x "$work/bin/wild" ] || "$work/bin/wild" --version | sed -n "1s/^Wild \\([0-9.]*\\).*/wild wild \\1/p"
	} >"$work/versions"
}

# program NAME LINKER...: links the objects of $v and $m.
program() {
	local name=$1 kind
	shift
	[ -x "$1" ] || return 0
	for kind in shared pie static; do
		flags="-$kind --unresolved-symbols=ignore-all -e 0"
		[ $kind = pie ] && flags="$flags --no-dynamic-linker"
		"$@" $flags -o "$out/$name-$v-$m-$kind" "$out/$v-$m-"*.o 2>"$out/s/refused" && continue
		rm -f "$out/$name-$v-$m-$kind"
		cp "$out/s/refused" "$out/$name-$v-$m-$kind.refused"
	done
}

# note NAME ADDRESS RECIPE: a line of the index.
note() { echo "$1 0x${2#"${2%%[!0]*}"} $3" | sed 's/  */ /g; s/ $//; s/ 0x / 0x0 /' >>"$out/index.txt"; }

# keep NAME PRODUCER FILE RECIPE: stores the section, its address and its text.
keep() {
	local name=$1 v=$2 file=$3 addr
	addr=$(readelf -SW "$file" 2>/dev/null | sed -n 's/^ *\[ *[0-9]*\] \.sframe  *[^ ]*  *\([0-9a-f]*\) .*/\1/p')
	case $file in
	*.o)
		cp "$file" "$out/$name.o"
		objcopy --strip-unneeded "$out/$name.o" 2>/dev/null || true
		"$work/bin/$v-readelf" --sframe "$out/$name.o" >"$out/$name.txt"
		;;
	*)
		objcopy -O binary --only-section=.sframe "$file" "$out/$name.bin"
		"$work/bin/$v-readelf" --sframe "$file" >"$out/$name.txt"
		;;
	esac
	note "$name" "$addr" "$4"
}

# gnu PRODUCER ABI CASE SOURCE [LDFLAGS]: assembles, links and keeps.
gnu() {
	local v=$1 abi=$2 name=$1-$2-$3 source=$4 m=$2 as= ld=-shared
	case $abi in
	amd64) m=x86_64 ;;
	aarch64be) m=aarch64 as=-EB ld='-shared -EB -maarch64linuxb' ;;
	esac
	ld="$ld ${5:-}"
	"$work/bin/$v-$m-as" $as --gsframe -o "$work/tmp/$name.o" "$source"
	"$work/bin/$v-$m-ld" $ld -o "$work/tmp/$name.so" "$work/tmp/$name.o"
	keep "$name" "$v" "$work/tmp/$name.so" "$(version "$v" $m): as $as --gsframe ${source##*/}; ld $ld"
}

version() { "$work/bin/$1-$2-as" --version | sed -n '1s/.* /binutils /p'; }

# compile ABI: basic.c as assembly.
compile() {
	local m=$1 flags=
	case $1 in
	amd64) m=x86_64 ;;
	aarch64) flags='-mbranch-protection=pac-ret' ;;
	aarch64be) m=aarch64 flags='-mbig-endian -mbranch-protection=pac-ret+b-key' ;;
	s390x) flags='-march=z13' ;;
	esac
	$m-linux-gnu-gcc -O2 -fPIC -fno-stack-protector $flags -S -o "$work/tmp/basic-$1.s" "$src/basic.c"
}

gnus=(v2 v3)
tools
releases
wild
programs
rm -f "$out"/*.bin "$out"/*.o "$out"/*.txt "$out"/*.sym
for abi in amd64 aarch64 aarch64be s390x; do compile $abi; done

for v in v1 v2 v3; do
	for abi in amd64 aarch64 aarch64be s390x; do
		[ $abi = s390x ] && [ $v != v3 ] && continue # only later gas has it
		gnu $v $abi basic "$work/tmp/basic-$abi.s"
		gnu $v $abi sizes "$src/sizes.s"
		gnu $v $abi special "$src/special-${abi%be}.s"
		gnu $v $abi many "$src/many.s"
	done
	gnu $v amd64 two "$src/two.s"
	gnu $v amd64 ibt "$work/tmp/basic-amd64.s" '-z ibtplt'
done
gnu v3 amd64 edge "$src/edge.s" # 2.40 and 2.44 abort on their own output
gnu v3 amd64 apx "$src/apx.s"
# Further than 2 GiB from the code.
gnu v3 amd64 far "$src/two.s" '-no-pie -e foo -Ttext=0x7f0000000 --section-start=.sframe=0x402000'

# Relocatable files. gas 2.44's flagless ones are beyond readelf.
cp "$work/tmp/v3-amd64-special.o" "$work/tmp/rel.o"
keep v3-amd64-rel v3 "$work/tmp/rel.o" "$(version v3 x86_64): as --gsframe special-amd64.s"
cp "$work/tmp/v3-s390x-special.o" "$work/tmp/rel.o"
keep v3-s390x-rel v3 "$work/tmp/rel.o" "$(version v3 s390x): as --gsframe special-s390x.s"

# llvm-mc, alone and concatenated by lld.
for s in two special-amd64 sizes many; do
	"$work/bin/e1-mc" --triple=x86_64-linux-gnu --filetype=obj -o "$work/tmp/e1-$s.o" "$src/$s.s" 2>/dev/null
	"$work/bin/lld22" -flavor gnu -shared -o "$work/tmp/e1.so" "$work/tmp/e1-$s.o"
	keep "e1-amd64-${s%-amd64}" e1 "$work/tmp/e1.so" "llvm-mc 22: --triple=x86_64-linux-gnu $s.s; ld.lld -shared"
done
keep e1-amd64-rel e1 "$work/tmp/e1-two.o" "llvm-mc 22: --triple=x86_64-linux-gnu two.s"
for v in v2 v3; do
	so=$work/tmp/$v-concat.so
	"$work/bin/lld22" -flavor gnu -shared -o "$so" "$work/tmp/$v-amd64-"{two,special,many}.o
	keep $v-amd64-concat $v "$so" "$(version $v x86_64): as --gsframe {two,special-amd64,many}.s; ld.lld 22 -shared"
	# readelf prints the first chunk only, and takes the start addresses of 2.44
	# for section-relative, which they are not here: the symbols tell.
	nm -n -S "$so" | sed -n 's/^\([0-9a-f]* [0-9a-f]*\) [tT] .*/\1/p' >"$out/$v-amd64-concat.sym"
done
rm "$out/v2-amd64-concat.txt"

# whole PRODUCER ABI CASE ASSEMBLY [noeh]: a library with .eh_frame and .sframe,
# or with .sframe alone.
libs=$repo/dump/testdata/sframe
rm -rf "$libs" && mkdir -p "$libs"
whole() {
	local v=$1 m=$2 so=$libs/$1-$2-$3.so be=
	case $m in
	amd64) m=x86_64 ;;
	aarch64be) m=aarch64 be=-EB ;;
	esac
	"$work/bin/$v-$m-as" --gsframe $be -o "$work/tmp/whole.o" "$4"
	"$work/bin/$v-$m-ld" $be -shared -z max-page-size=4096 --build-id -o "$so" "$work/tmp/whole.o"
	if [ "${5-}" ]; then
		$m-linux-gnu-objcopy -R .eh_frame -R .eh_frame_hdr "$so" "${so%.so}-noeh.so"
	fi
}
for v in v1 v2 v3; do
	for abi in amd64 aarch64; do
		whole $v $abi basic "$work/tmp/basic-$abi.s" noeh
		whole $v $abi special "$src/special-$abi.s"
	done
done
whole v3 aarch64be basic "$work/tmp/basic-aarch64be.s"
whole v3 s390x basic "$work/tmp/basic-s390x.s" noeh
whole v3 s390x special "$src/special-s390x.s"

# Libraries of lld, which concatenates: of version 2 without flags, 3, and 3 beside 2.
joined=$repo/check/testdata/sframe
rm -rf "$joined" && mkdir -p "$joined"
join() {
	local so=$joined/$1
	shift
	"$work/bin/lld22" -flavor gnu -shared -z max-page-size=4096 --build-id -o "$so" "$@"
}
join v2-lld.so "$work/tmp/v2-amd64-"{two,many}.o
join v3-lld.so "$work/tmp/v3-amd64-"{two,many}.o
join mixed-lld.so "$work/tmp/v3-amd64-two.o" "$work/tmp/e1-many.o"
rm -rf "$work/tmp"
echo "tools: $work/bin" >&2
