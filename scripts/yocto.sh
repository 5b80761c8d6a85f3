#!/usr/bin/env bash
# Runs packaging/yocto with bitbake: fetches the programs of a release, dumps a recipe's
# program with symkit.bbclass, and runs a recipe without a program and one whose program is
# damaged.
#
#   scripts/yocto.sh DIST OE-CORE BITBAKE
#
# DIST has the files of a release; OE-CORE and BITBAKE are checkouts of Yocto's repositories
# of these names. Needs what OE-CORE needs (gcc, chrpath, diffstat, gawk, lz4, zstd, cpio,
# file, wget, the locale en_US.UTF-8), python3, and a user that is not root. Nothing but the
# release is fetched: the recipes take this machine's compiler, and patch and pseudo are
# not needed.
set -euo pipefail
dist=$(cd "$1" && pwd)
core=$(cd "$2" && pwd)
bitbake=$(cd "$3" && pwd)
cd "$(dirname "$0")/.."
packaging=$PWD/packaging/yocto
[ "$(id -u)" != 0 ] || { echo "$0: bitbake refuses to be run by root" >&2; exit 2; }

version=$(basename "$dist"/symkit-*-oci.tar -oci.tar)
version=${version#symkit-}
case $(uname -m) in x86_64) processor=amd64 ;; aarch64) processor=arm64 ;; *) processor=$(uname -m) ;; esac
archive=symkit-$version-linux-$processor.tar.gz
sum=$(awk -v name="$archive" '$2 == name { print $1 }' "$dist/SHA256SUMS")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The layer: the files of packaging/yocto and three recipes.
layer=$work/layer
mkdir -p "$layer/conf" "$layer/classes" "$layer/recipes/symkit" "$work/build/conf"
cp "$packaging/symkit.bbclass" "$layer/classes/"
cp "$packaging/symkit-native.bb" "$layer/recipes/symkit/"
cat >"$layer/conf/layer.conf" <<CONF
BBPATH .= ":\${LAYERDIR}"
BBFILES += "\${LAYERDIR}/recipes/*/*.bb"
BBFILE_COLLECTIONS += "symkit"
BBFILE_PATTERN_symkit = "^\${LAYERDIR}/"
LAYERSERIES_COMPAT_symkit = $(sed -n 's/^LAYERSERIES_CORENAMES *= *//p' "$core/meta/conf/layer.conf")
CONF

recipe() { # NAME INSTALL: a recipe whose do_install has these lines
	cat >"$layer/recipes/symkit/$1.bb" <<RECIPE
SUMMARY = "A recipe"
LICENSE = "MIT"
LIC_FILES_CHKSUM = "file://\${COMMON_LICENSE_DIR}/MIT;md5=0835ade698e0bcf8506ecda2f7b4f302"
PV = "1.0"
S = "\${@d.getVar('UNPACKDIR') or d.getVar('WORKDIR')}"
INHIBIT_DEFAULT_DEPS = "1"
do_compile() {
	printf 'int main(void) { return 0; }\\n' >\${S}/app.c
	/usr/bin/gcc -g -O1 -Wl,--build-id \${S}/app.c -o \${B}/app
}
do_install() {
	install -d \${D}\${bindir}
$2
}
python () {
    d.delVarFlag("do_install", "fakeroot")
}
RECIPE
}
recipe app '	install -m 0755 ${B}/app ${D}${bindir}/'
recipe script "	printf '#!/bin/sh\\\\n' >\${D}\${bindir}/script"
recipe half '	head -c 3000 ${B}/app >${D}${bindir}/half'

cat >"$work/build/conf/bblayers.conf" <<CONF
BBPATH = "\${TOPDIR}"
BBLAYERS = "$core/meta $layer"
CONF
cat >"$work/build/conf/local.conf" <<CONF
MACHINE = "qemux86-64"
CONNECTIVITY_CHECK_URIS = ""
INHERIT += "symkit"
INHERIT:remove = "uninative create-spdx"
ASSUME_PROVIDED += "quilt-native virtual/fakeroot-native pseudo-native patch-replacement-native"
SYMKIT_URL = "file://$dist"
SYMKIT_VERSION = "$version"
SYMKIT_SHA256 = "$sum"
SYMKIT_STORE = "$work/symbols"
CONF

# Tools of pyenv and the like are no tools of the host.
export PATH="$core/scripts:$bitbake/bin:/usr/bin:/bin:/usr/sbin:/sbin" BBPATH="$work/build" LANG=en_US.UTF-8
cd "$work/build"
run() { bitbake "$1" -c symkit >"$work/log" 2>&1; }

run app || { cat "$work/log"; exit 1; }
sym=$(find "$work/symbols" -name app.sym)
grep -q '^FUNC .* main$' "$sym"
grep -q '^FILE 0 /usr/src/debug/app/1.0/app.c$' "$sym"
echo "ok    a program: $(wc -l <"$sym") records"

run script || { cat "$work/log"; exit 1; }
[ "$(find "$work/symbols" -name '*.sym' | wc -l)" = 1 ]
echo "ok    a recipe without a program"

if run half; then cat "$work/log"; exit 1; fi
grep -q 'dump_syms: .*half: .*truncated' "$work/log"
echo "ok    a damaged program fails the build, with its message"
