#!/bin/bash
# Makes testdata/apk: libraries in an APK as Android's linker maps them, and the kernel's core file of a program that
# crashed in one of them. With --all, OUT also has what the oracle test reads: gdb's cores, the APK without debug
# information, a bundle, sets of APKs, an archive of debug files.
#
#   scripts/fixtures-apk.sh [--all] [OUT]
#
# Needs: gcc, zip, zipalign, aapt (Debian's packages of these names); for --all gdb, qemu-user, g++-aarch64-linux-gnu,
# g++-arm-linux-gnueabihf.
set -euo pipefail

all=
if [ "${1-}" = --all ]; then
	all=1
	shift
fi
repo=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$repo/testdata/apk}
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=/tmp/symkit-apk
rm -rf $work
mkdir -p $work/lib/x86_64 $work/full
cd $work
export LC_ALL=C SOURCE_DATE_EPOCH=0
map=-ffile-prefix-map=$repo/testdata/src=/symkit/src

gcc -O1 -g $map -o apkload "$repo/testdata/src/apkload.c"

# libraries PAGE DIR FLAG...: the two libraries, linked for pages of PAGE bytes.
libraries() {
	local version= name page=$1 dir=$2
	shift 2
	for name in one two; do
		${compiler-g++} -O1 -g $map -fPIC -shared -nostdlib -fvisibility=hidden -fno-exceptions -fno-stack-protector \
			-fomit-frame-pointer -Wl,-soname,lib$name.so -Wl,-e,enter -Wl,--build-id -Wl,-z,max-page-size=$page "$@" \
			-DNAME=$name $version -o $dir/lib$name.so "$repo/testdata/src/apklib.cc"
		version=-DVERSION=2
	done
}
libraries 16384 full -fcf-protection=none
cp full/* lib/x86_64/
touch -d @315532800 lib/x86_64/*
# pack APK: an aligned APK with the libraries as they are.
pack() {
	rm -f unaligned.apk
	aapt add -0 "" unaligned.apk lib/x86_64/libone.so lib/x86_64/libtwo.so >/dev/null
	zipalign -f -p 4 unaligned.apk $1
}
pack base.apk

# crash FILE ARGUMENT...: the core file of the loader.
crash() {
	local file=$1
	shift
	(ulimit -c unlimited && env -i setarch -R $work/apkload "$@") || true
	mv core $file
}
crash apk.core $work/base.apk\!/lib/x86_64/lib{one,two}.so
crash twin.core $work/full/lib{one,two}.so

cp apkload base.apk "$out/"
for f in apk.core twin.core; do xz -9e -T1 -c $f >"$out/$f.xz"; done
[ -n "$all" ] || exit 0

cp twin.core "$out/"
cp -r full "$out/"
xz -dk "$out/apk.core.xz"

# The libraries as they are shipped: without debug information, which the developer keeps.
mkdir -p "$out/stripped" "$out/bundle" "$out/sets" "$out/old" symbols/x86_64
for name in one two; do
	objcopy --only-keep-debug full/lib$name.so symbols/x86_64/lib$name.so.dbg
	strip lib/x86_64/lib$name.so
done
touch -d @315532800 lib/x86_64/*
pack "$out/stripped/base.apk"
cp "$out/stripped/base.apk" shipped.apk
crash "$out/stripped.core" $work/shipped.apk\!/lib/x86_64/lib{one,two}.so
(cd symbols && zip -q -r "$out/stripped/native-debug-symbols.zip" x86_64)

# A bundle compresses all of its members.
mkdir -p aab/base/lib aab/BUNDLE-METADATA/com.android.tools.build.debugsymbols
cp -r lib/x86_64 aab/base/lib/
cp -r symbols/x86_64 aab/BUNDLE-METADATA/com.android.tools.build.debugsymbols/
(cd aab && zip -q -r "$out/bundle/app.aab" base BUNDLE-METADATA)

# Sets of APKs: stored and compressed APKs in a zip file.
mkdir -p sets/splits
cp base.apk sets/splits/base-x86_64.apk
(cd sets && zip -q -0 -r "$out/sets/app.apks" splits)
cp base.apk sets/config.x86_64.apk
(cd sets && zip -q "$out/sets/app.xapk" config.x86_64.apk && rm "$out/sets/app.apks" && zip -q -0 -r "$out/sets/app.apks" splits)

# An APK with extractNativeLibs: its libraries are compressed, and run as files of their own.
mkdir -p compressed/lib
cp -r full compressed/lib/x86_64
(cd compressed && zip -q -r "$out/old/old.apk" lib)

# Libraries for pages of 4 KiB: their segments are adjacent.
mkdir -p small/full small/lib
libraries 4096 small/full -fcf-protection=none
cp -r small/full small/lib/x86_64
touch -d @315532800 small/lib/x86_64/*
(cd small && aapt add -0 "" unaligned.apk lib/x86_64/libone.so lib/x86_64/libtwo.so >/dev/null && zipalign -f -p 4 unaligned.apk base.apk)

# A core of gdb, from a process that has stopped at the signal.
gdb -batch -nx -ex run -ex "gcore $out/gcore.core" -ex kill --args ./apkload \
	$work/base.apk\!/lib/x86_64/lib{one,two}.so >/dev/null 2>&1

# The same on machines that qemu-user runs. qemu's cores lack NT_FILE: FILE.maps has the mappings.
cross() {
	local qemu=$1 prefix=$2 abi=$3 path
	mkdir -p "$out/$qemu/full" $qemu/lib/$abi
	cd $qemu
	cat >maps.c <<'C'
#include <stdio.h>
#include <unistd.h>
int keep_maps(int fd) /* when a library has been mapped */
{
    FILE *in = fopen("/proc/self/maps", "r"), *out = fopen("maps", "w");
    for (int c; (c = getc(in)) != EOF;)
        putc(c, out);
    fclose(in);
    fclose(out);
    return close(fd);
}
C
	$prefix-gcc -O1 -g $map -Dclose=keep_maps -c "$repo/testdata/src/apkload.c"
	$prefix-gcc -O1 -static -Wl,--build-id -o "$out/$qemu/apkload" apkload.o maps.c
	compiler=$prefix-g++ libraries 16384 "$out/$qemu/full" -funwind-tables -Wl,-z,separate-code
	cp "$out/$qemu"/full/* lib/$abi/
	touch -d @315532800 lib/$abi/*
	aapt add -0 "" unaligned.apk lib/$abi/libone.so lib/$abi/libtwo.so >/dev/null
	zipalign -f -p 4 unaligned.apk "$out/$qemu/base.apk"
	for name in apk twin; do
		path=$out/$qemu/full
		[ $name = twin ] || path=$out/$qemu/base.apk\!/lib/$abi
		(ulimit -c unlimited && qemu-$qemu "$out/$qemu/apkload" $path/libone.so $path/libtwo.so) || true
		mv maps "$out/$qemu/$name.maps"
		mv qemu_*.core "$out/$qemu/$name.core"
		rm -f core core.*
	done
	cd ..
}
cross aarch64 aarch64-linux-gnu arm64-v8a
cross arm arm-linux-gnueabihf armeabi-v7a
