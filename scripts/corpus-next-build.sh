#!/usr/bin/env bash
# Compiles testdata/src and small programs of other languages in the chroot of
# corpus-next.sh.
#
#   corpus-next-build.sh SRC OUT GCC CLANG
#
# GCC and CLANG are the compilers' version numbers. A combination that a compiler
# rejects is left out, and named.
set -uo pipefail
src=$1 out=$2 gcc=$3 clang=$4
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C HOME=/tmp GOFLAGS=-buildvcs=false GOTOOLCHAIN=local
mkdir -p "$out"
cd "$src" || exit 1

# try NAME COMMAND...: the command makes the file NAME.
try() {
	local name=$1
	shift
	if ! "$@" >/tmp/log 2>&1 || [[ ! -s $out/$name ]]; then
		printf 'left out: %s: %s\n' "$name" "$(head -c 300 /tmp/log)" >&2
	fi
}

cat >map.cc <<'END'
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <thread>
#include <vector>

struct Rec {
	std::string name;
	int n;
	bool operator<(const Rec &o) const { return n < o.n; }
};

int main(int argc, char **argv) {
	std::map<std::string, std::shared_ptr<Rec>> all;
	std::vector<Rec> list;
	for (int i = 0; i < argc; i++) {
		all[argv[i]] = std::make_shared<Rec>(Rec{argv[i], i});
		list.push_back({argv[i], -i});
	}
	std::sort(list.begin(), list.end());
	std::swap(list.front(), list.back());
	std::regex word("[a-z]+");
	std::thread t([&] {
		for (auto &[name, rec] : all)
			if (std::regex_search(name, word))
				std::cout << name << rec->n << '\n';
	});
	t.join();
}
END
cat >mod.f90 <<'END'
module shapes
contains
  recursive function fact(n) result(r)
    integer, intent(in) :: n
    integer :: r
    r = 1
    if (n > 1) r = n * fact(n - 1)
  end function
  subroutine fill(a)
    real, intent(inout) :: a(:, :)
    a = a * 2 + 1
  contains
    subroutine inner()
      a(1, 1) = 0
    end subroutine
  end subroutine
end module
program main
  use shapes
  real :: a(4, 4)
  a = fact(command_argument_count())
  call fill(a)
  print *, sum(a)
end program
END
cat >stacks.adb <<'END'
with Ada.Command_Line; with Ada.Text_IO;
procedure Stacks is
   generic
      type Item is private;
   package Stack is
      procedure Push (X : Item);
      function Depth return Natural;
   end Stack;
   package body Stack is
      Data : array (1 .. 100) of Item;
      Top  : Natural := 0;
      procedure Push (X : Item) is
      begin
         Top := Top + 1;
         Data (Top) := X;
      end Push;
      function Depth return Natural is (Top);
   end Stack;
   package Numbers is new Stack (Integer);
   package Letters is new Stack (Character);
   task type Worker;
   task body Worker is
   begin
      Letters.Push ('x');
   end Worker;
   W : Worker;
   pragma Unreferenced (W);
begin
   for I in 0 .. Ada.Command_Line.Argument_Count loop
      Numbers.Push (I);
   end loop;
   Ada.Text_IO.Put_Line (Numbers.Depth'Image & Letters.Depth'Image);
end Stacks;
END
cat >words.d <<'END'
import std.algorithm, std.array, std.stdio, std.string;
struct Pair(T) { T a, b; T sum()() { return a ~ b; } }
int main(string[] args) {
	auto w = args.map!(a => a.toUpper ~ a).filter!(a => a.length > 1).array;
	w.sort!((a, b) => a.length < b.length);
	void show(string s) { writeln(s, Pair!string(s, s).sum()); }
	foreach (s; w) show(s);
	return 0;
}
END

cat >words.rs <<'END'
use std::{collections::BTreeMap, sync::Arc, thread};
trait Shape { fn area(&self) -> f64; }
struct Square(f64);
impl Shape for Square { fn area(&self) -> f64 { self.0 * self.0 } }
fn total<'a>(all: impl Iterator<Item = &'a Box<dyn Shape + Send + Sync>>) -> f64 { all.map(|s| s.area()).sum() }
fn main() {
    let mut words = BTreeMap::new();
    for (i, w) in std::env::args().enumerate() {
        words.entry(w.to_uppercase()).or_insert_with(Vec::new).push(i);
    }
    let shapes: Arc<Vec<Box<dyn Shape + Send + Sync>>> = Arc::new(vec![Box::new(Square(2.0))]);
    let copy = shapes.clone();
    let t = thread::spawn(move || total(copy.iter()));
    println!("{words:?} {} {:?}", total(shapes.iter()), t.join());
}
END

for cc in gcc clang; do
	version=${!cc}
	if [[ $cc == gcc ]]; then cxx=g++; else cxx=clang++; fi
	for o in 0 2 s 3; do
		for dwarf in 3 4 5; do
			try "map-$cc-O$o-dw$dwarf" "$cxx-$version" -g -gdwarf-$dwarf "-O$o" -o "$out/map-$cc-O$o-dw$dwarf" map.cc
			try "lang-$cc-O$o-dw$dwarf.o" "$cc-$version" -g -gdwarf-$dwarf "-O$o" -c -o "$out/lang-$cc-O$o-dw$dwarf.o" lang.c
		done
	done
	for flags in -flto -gdwarf64 -fdebug-types-section -ffunction-sections '-fPIC -shared' '-static' -fcf-protection=full -fomit-frame-pointer \
		'-fuse-ld=mold' '-gz' '-gz=zstd' '-std=c++26' '-fno-exceptions -fno-asynchronous-unwind-tables -DNO' '-m32'; do
		name=map-$cc${flags// /}
		try "$name" "$cxx-$version" -g -O2 $flags -o "$out/$name" map.cc
	done
	for flags in '-O2 -fsplit-stack' '-O1 -fpatchable-function-entry=4' '-O2 -fstack-clash-protection' '-O2 -mno-red-zone' '-O3 -march=x86-64-v4' \
		'-O2 -fsanitize=address,undefined' '-Og -gno-column-info' '-O2 -g1' '-O2 -gsplit-dwarf'; do
		name=lang-$cc${flags// /}.o
		try "$name" "$cc-$version" -g $flags -c -o "$out/$name" lang.c
	done
done
for flags in -flto=thin -fuse-ld=lld -gsimple-template-names '-fbasic-block-sections=all -fuse-ld=lld' -fsplit-machine-functions \
	-fdebug-info-for-profiling '-mllvm -enable-machine-outliner' -gkey-instructions '-fuse-ld=lld -Wl,--icf=all -ffunction-sections' \
	'-fuse-ld=lld -Wl,-z,separate-loadable-segments -Wl,--pack-dyn-relocs=android+relr'; do
	name=map-clang${flags// /}
	try "$name" "clang++-$clang" -g -O2 $flags -o "$out/$name" map.cc
done
for flags in -Wa,--gsframe -gas-loc-support -gno-as-locview-support -ginline-points -gstatement-frontiers '-gno-strict-dwarf -gdwarf-5' -gbtf -fcondition-coverage; do
	name=map-gcc${flags// /}
	try "$name" "g++-$gcc" -g -O2 $flags -o "$out/$name" map.cc
done
for o in 0 2; do
	try fortran-gcc-O$o "gfortran-$gcc" -g -O$o -o "$out/fortran-gcc-O$o" mod.f90
	try fortran-flang-O$o "flang-$clang" -g -O$o -o "$out/fortran-flang-O$o" mod.f90
	try ada-O$o "gnatmake-$gcc" -q -f -g -O$o -o "$out/ada-O$o" stacks.adb
	try d-gdc-O$o "gdc-$gcc" -g -O$o -o "$out/d-gdc-O$o" words.d
	try d-ldc-O$o ldc2 -g -O$o --of="$out/d-ldc-O$o" words.d
	try rust-O$o rustc --edition 2021 -g -C opt-level=$o -o "$out/rust-O$o" words.rs
done
try go sh -c "cd go && go build -o $out/go hello.go"
try go-stripped sh -c "cd go && go build -ldflags='-s -w' -o $out/go-stripped hello.go"
for arch in 386 arm arm64 loong64 mips mips64le ppc64 ppc64le riscv64 s390x; do
	try go-$arch-stripped env GOARCH=$arch sh -c "cd go && go build -ldflags='-s -w' -o $out/go-$arch-stripped hello.go"
done
try map-gcc-dwz sh -c "dwz -o $out/map-gcc-dwz $out/map-gcc-O2-dw5"
printf '%s, %s, %s, %s\n' "$("g++-$gcc" --version | head -n 1)" "$("clang-$clang" --version | head -n 1)" "$(rustc --version)" "$(go version)" >"$out/versions"
