#!/bin/sh
# Makes the images of this directory with squashfs-tools 4.5 (Debian 12): files that begin as ELF files, one of
# several blocks with zeros in between, hard links, fragments, a directory of more entries than follow one header.
set -eu
cd "$(dirname "$0")"
t=$(mktemp -d)
trap 'rm -rf "$t"' EXIT
mkdir -p "$t/usr/bin" "$t/usr/lib/deep" "$t/usr/share"
printf '\177ELFapp' >"$t/usr/bin/app"
ln "$t/usr/bin/app" "$t/usr/lib/deep/also"
{ printf '\177ELF'; yes library | head -c 6000; head -c 9000 /dev/zero; yes end | head -c 3000; } >"$t/usr/lib/libapp.so"
{ printf '\177ELF'; yes whole | head -c 8188; } >"$t/usr/lib/whole.so"
: >"$t/usr/lib/empty"
ln -s libapp.so "$t/usr/lib/link.so"
i=0
while [ $i -lt 300 ]; do
	echo text >"$t/usr/share/file$i"
	i=$((i + 1))
done
for how in gzip xz zstd lz4 lzo; do
	rm -f $how.squashfs
	mksquashfs "$t" $how.squashfs -comp $how -b 4096 -nopad -all-root -all-time 0 -mkfs-time 0 -no-xattrs -no-exports \
		-no-progress -quiet
done
