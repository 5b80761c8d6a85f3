#!/usr/bin/env bash
# Makes real crashes: programs of walk/testdata/src, and the core file of each.
#
#   cores.sh DIR [NATIVE|i386|CROSS...]
#
# NATIVE (x86_64) and i386 cores are the kernel's: core_pattern must be "core"
# or "core.%p". The crosses are aarch64, arm, s390x and riscv64 under qemu-user.
# DIR/NAME/ then has the program, its core, and of the crosses gdb's backtrace.
#
# Debian: build-essential rustc golang gdb gdb-multiarch qemu-user
# g++-{i686,aarch64,s390x,riscv64}-linux-gnu g++-arm-linux-gnueabihf
set -euo pipefail

die() {
	printf 'cores.sh: error: %s\n' "$*" >&2
	exit 1
}

(($# > 0)) || die "usage: cores.sh DIR [native] [i386] [aarch64] [arm] [s390x] [riscv64]"
src=$(cd "$(dirname "${BASH_SOURCE[0]}")/../walk/testdata/src" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
(($# > 0)) || set -- native i386 aarch64 arm s390x riscv64 ppc64 mips

# new NAME: an empty directory for one crash; the current directory after it.
new() {
	rm -rf "${out:?}/$1"
	mkdir -p "$out/$1"
	cd "$out/$1"
}

# crash ARGUMENTS...: runs ./prog and keeps its core.
crash() {
	{ (
		ulimit -c unlimited
		exec ./prog "$@" >/dev/null 2>&1
	) || true; } 2>/dev/null
	local found
	found=$(compgen -G 'core*' | head -n 1) || die "$PWD: no core file; is core_pattern \"core\"?"
	[[ $found == core ]] || mv "$found" core
}

# build CC SOURCE FLAGS...
build() {
	local cc=$1 source=$2
	shift 2
	[[ $source != *.cc ]] || cc=${cc/%gcc/g++}
	"$cc" -g -O2 "$@" "$src/$source" -o prog
}

# programs CC PREFIX FLAGS...: the C and C++ crashes of a machine that runs here.
programs() {
	local cc=$1 prefix=$2
	shift 2
	new "$prefix-inline" && build "$cc" inline.cc "$@" && crash
	new "$prefix-handler" && build "$cc" handler.c "$@" && crash
	new "$prefix-altstack" && build "$cc" handler.c "$@" && crash alt
	new "$prefix-threads" && build "$cc" threads.cc -pthread "$@" && (ulimit -s 256 && crash ${THREADS:-})
	new "$prefix-overflow" && build "$cc" overflow.c "$@" && (ulimit -s 1024 && crash)
	new "$prefix-uncaught" && build "$cc" uncaught.cc "$@" && crash
	new "$prefix-odd" && build "$cc" odd.c "$@" && crash
	new "$prefix-null" && build "$cc" odd.c "$@" && crash null
}

native() {
	programs gcc x86_64
	new x86_64-avx && build gcc odd.c -mavx2 && crash
	new x86_64-nocfi && build gcc odd.c -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-omit-frame-pointer && crash
	new x86_64-rust && rustc -g -O -C panic=abort "$src/panic.rs" -o prog && crash
	new x86_64-go && (cd "$src/gocrash" && go build -o "$out/x86_64-go/prog" main.go) && GOTRACEBACK=crash crash
	# Without NT_FILE's pages: only the vdso tells its build id.
	new x86_64-nopages && build gcc handler.c && (echo 0x03 >/proc/self/coredump_filter && crash)
}

# eu-stack needs a second for each thread of a static program.
i386() { THREADS=40 programs i686-linux-gnu-gcc i386 -static; }

# remote QEMU CC NAME SOURCE FLAGS...: qemu's own core of a crash (which has no
# NT_FILE and no floating-point registers; of riscv64 qemu writes none), and
# what gdb, looking at the same crash in qemu, shows (gdb.out) and has the tests
# make a better core of (dump.txt). RUN_ARGS are the program's.
remote() {
	local qemu=$1 cc=$2 name=$3 source=$4 port=$((20000 + RANDOM % 20000)) pid found
	shift 4
	new "$name"
	build "$cc" "$source" -static "$@"
	{ (
		ulimit -c unlimited
		exec "$qemu" ./prog ${RUN_ARGS:-} >/dev/null 2>&1
	) || true; } 2>/dev/null
	rm -f core core.* # of qemu itself
	found=$(compgen -G 'qemu_*.core' | head -n 1) && mv "$found" core
	"$qemu" -g "$port" ./prog ${RUN_ARGS:-} >/dev/null 2>&1 &
	pid=$!
	timeout 120 gdb-multiarch -batch -nx -ex 'set pagination off' -ex 'set backtrace past-main on' -ex 'set width 0' \
		-ex 'file prog' -ex "target remote :$port" -ex "handle SIGSEGV ${SIGSEGV:-stop} pass" -ex continue \
		-ex 'thread apply all -q bt -frame-arguments none' -ex "source $src/dump.gdb" -ex kill >gdb.out 2>&1 || true
	wait "$pid" 2>/dev/null || true
	rm -f core.* qemu_*.core
}

# cross QEMU CC PREFIX: the crashes of a machine that qemu-user runs.
cross() {
	local qemu=$1 cc=$2 prefix=$3
	remote "$qemu" "$cc" "$prefix-inline" inline.cc
	remote "$qemu" "$cc" "$prefix-odd" odd.c
	RUN_ARGS=null remote "$qemu" "$cc" "$prefix-null" odd.c
	SIGSEGV=nostop remote "$qemu" "$cc" "$prefix-handler" handler.c
	SIGSEGV=nostop RUN_ARGS=alt remote "$qemu" "$cc" "$prefix-altstack" handler.c
	remote "$qemu" "$cc" "$prefix-frames" odd.c -fno-asynchronous-unwind-tables -fno-omit-frame-pointer
}

for what in "$@"; do
	case $what in
	native) native ;;
	i386) i386 ;;
	# gdb 13 does not read signal frames of CPUs with SVE.
	aarch64) QEMU_CPU=cortex-a57 cross qemu-aarch64 aarch64-linux-gnu-gcc aarch64 ;;
	arm) cross qemu-arm arm-linux-gnueabihf-gcc arm ;;
	s390x) cross qemu-s390x s390x-linux-gnu-gcc s390x ;;
	riscv64) cross qemu-riscv64 riscv64-linux-gnu-gcc riscv64 ;;
	ppc64) cross qemu-ppc64le powerpc64le-linux-gnu-gcc ppc64 ;;
	mips) cross qemu-mips mips-linux-gnu-gcc mips ;;
	*) die "unknown machine $what" ;;
	esac
done
