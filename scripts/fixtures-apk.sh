#!/bin/bash
# Makes testdata/apk: libraries in an APK as Android's linker maps them, and the kernel's core file of a program that
# crashed in one of them.
#
#   scripts/fixtures-apk.sh [OUT]
#
# Needs: gcc, zip, zipalign (Debian's package of that name).
set -euo pipefail

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
for name in one two; do
	g++ -O1 -g $map -fPIC -shared -nostdlib -fvisibility=hidden -fno-exceptions -fcf-protection=none -fno-stack-protector \
		-fomit-frame-pointer -Wl,-soname,lib$name.so -Wl,-e,enter -Wl,--build-id -Wl,-z,max-page-size=16384 \
		-DNAME=$name -o full/lib$name.so "$repo/testdata/src/apklib.cc"
	cp full/lib$name.so lib/x86_64/
done
touch -d @315532800 lib/x86_64/*
zip -q -X -0 unaligned.apk lib/x86_64/libone.so lib/x86_64/libtwo.so
zipalign -p 4 unaligned.apk base.apk

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
