#!/bin/bash
# Makes testdata/runtimes: files of the shapes that compilers of other languages write for Android and Linux.
#
#   scripts/fixtures-runtimes.sh [OUT]
#
# base.odex, base-mini.odex  dex2oat's: oatdata and oatexec in .dynsym, methods in .symtab or in .gnu_debugdata. Made by
#                            hand: no registry has the compiler.
# aot.so, aot.so.dbg         .NET's NativeAOT: the library is joined to the debug file by .gnu_debuglink. Made by hand of C++;
#                            the oracle test has libraries of the real compiler, whose debug files nobody publishes.
# libapp.so, app.symbols     Dart's: snapshots and the file of --split-debug-info, with one build id. Made by hand; the
#                            oracle test has real ones.
# kotlin.xz                  a program of Kotlin/Native, not made here: org.jetbrains.kotlin:kotlin-native-prebuilt:2.2.0 of
#                            Maven Central with clang 22, lld 14 and the libraries of Debian 12:
#                            konanc -g -opt -target linux_x64 -produce program -entry shop.main shop.kt (testdata/src)
#
# Needs: gcc, binutils, xz.
set -euo pipefail
repo=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$repo/testdata/runtimes}
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export LC_ALL=C

# Methods have the names of their signatures. oatexec covers all of the code.
cat >oat.s <<'S'
	.section .rodata
	.globl oatdata
	.type oatdata, @object
oatdata: .ascii "oat\n183\0"
	.size oatdata, . - oatdata
	.text
	.globl oatexec
	.type oatexec, @object
oatexec:
	.macro method name, size
	.type "\name", @function
"\name":	.cfi_startproc
	sub $24, %rsp
	.cfi_adjust_cfa_offset 24
	.rept \size
	nop
	.endr
	add $24, %rsp
	.cfi_adjust_cfa_offset -24
	ret
	.cfi_endproc
	.size "\name", . - "\name"
	.balign 16
	.endm
	method "void com.example.shop.Main.pay(int)", 20
	method "int com.example.shop.Item.<clinit>()", 40
	method "java.lang.String com.example.shop.Item.name(java.util.List, boolean[])", 8
	.size oatexec, . - oatexec
	.globl oatlastword
	.set oatlastword, . - 4
	.type oatlastword, @object
	.section .note.GNU-stack, "", @progbits
S
gcc -shared -nostdlib -Wl,--build-id=0x0123456789abcdef0123456789abcdef -Wl,-soname,base.odex -o base.odex oat.s
cp base.odex "$out/"
objcopy --only-keep-debug base.odex mini
xz -9e mini
strip --strip-all base.odex
objcopy --add-section .gnu_debugdata=mini.xz base.odex "$out/base-mini.odex"

cat >aot.cc <<'C'
// The linkage names of NativeAOT: Namespace_Class__Method.
extern "C" {
__attribute__((noinline)) int Shop_Shop_Item__Total(int price, int n) asm("Shop_Shop_Item__Total");
int Shop_Shop_Item__Total(int price, int n) { return price * n + 1; }
__attribute__((visibility("default"))) int shop_pay(int n) { return Shop_Shop_Item__Total(n, 4) + 1; }
}
C
g++ -O1 -g -ffile-prefix-map="$work"=/_/src -fPIC -shared -nostdlib -fvisibility=hidden -Wl,--build-id=sha1 -Wl,-soname,aot.so -o aot.so aot.cc
objcopy --only-keep-debug aot.so aot.so.dbg
strip --strip-unneeded aot.so
objcopy --add-gnu-debuglink=aot.so.dbg aot.so
cp aot.so aot.so.dbg "$out/"

# The snapshots of libapp.so are objects; the methods and the line table are in the other file.
cat >dart.cc <<'C'
asm(".text\n.p2align 4\n.globl _kDartIsolateSnapshotInstructions\n.type _kDartIsolateSnapshotInstructions, @object\n"
    ".size _kDartIsolateSnapshotInstructions, 64\n_kDartIsolateSnapshotInstructions:\n");
extern "C" int shop_Item_total(int price, int n) { return price * n + 1; }
extern "C" int main_entry(int n) { return shop_Item_total(n, 4) + 1; }
C
gcc -O1 -g -ffile-prefix-map="$work"=org-dartlang-app: -fPIC -c dart.cc
echo '{ global: _kDart*; local: *; };' >exported
gcc -shared -nostdlib -Wl,--build-id=md5 -Wl,-soname,libapp.so \
	-Wl,--version-script=exported -o app.symbols dart.o
strip -o "$out/libapp.so" app.symbols
objcopy --only-keep-debug app.symbols "$out/app.symbols"
ls -l "$out"
