#!/usr/bin/env bash
# Makes real crashes: programs of walk/testdata/src, and the core file of each.
#
#   cores.sh DIR [NATIVE|i386|CROSS...]
#
# NATIVE (x86_64) and i386 cores are the kernel's; where it writes none to the
# current directory (core_pattern, a hard limit of 0, as in some containers) gdb
# writes them, but for two of children. With SYMKIT_CORES_BY=gdb, gdb writes them always.
# The crosses are aarch64, arm, s390x and riscv64 under qemu-user.
# DIR/NAME/ then has the program, its core, and of the crosses gdb's backtrace.
#
# Debian: build-essential musl-tools clang rustc golang gdb gdb-multiarch qemu-user
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

# kernel_core COMMAND...: the kernel's core of a command that crashes.
kernel_core() {
	{ (
		ulimit -c unlimited
		exec "$@" >/dev/null 2>&1
	) || true; } 2>/dev/null
	local found
	found=$(compgen -G 'core*' | head -n 1) || return 1
	[[ $found == core ]] || mv "$found" core
}

# gdb_core COMMAND...: the core that gdb writes when one of FATAL is raised.
gdb_core() {
	gdb -batch -nx -iex 'set debuginfod enabled off' -ex 'handle all nostop noprint pass' \
		-ex "handle ${FATAL:-SIGSEGV SIGABRT SIGFPE SIGILL SIGBUS SIGTRAP} stop nopass" -ex 'set follow-fork-mode child' \
		-ex run -ex 'generate-core-file core' -ex kill --args "$@" >gdb.log 2>&1 </dev/null || true
	[[ -f core ]]
}

# maker prints who writes cores here.
maker() {
	local how=${SYMKIT_CORES_BY:-kernel}
	new .trial
	if [[ $how == kernel ]] && ! kernel_core sh -c 'kill -SEGV $$'; then
		how=gdb
		printf 'cores.sh: the kernel writes no core here (core_pattern %s, hard limit %s): gdb does\n' \
			"$(cat /proc/sys/kernel/core_pattern)" "$(ulimit -Hc)" >&2
	fi
	if [[ $how == gdb ]] && ! gdb_core sh -c 'kill -SEGV $$'; then
		cat gdb.log >&2
		die "neither the kernel nor gdb can write a core here"
	fi
	cd "$out"
	rm -rf "$out/.trial"
	printf '%s' "$how"
}

# crash ARGUMENTS...: runs ./prog and keeps its core.
crash() { "${by}_core" ./prog "$@" || die "$PWD: no core file"; }

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
	new "$prefix-handler" && build "$cc" handler.c "$@" && FATAL=SIGABRT crash
	new "$prefix-altstack" && build "$cc" handler.c "$@" && FATAL=SIGABRT crash alt
	new "$prefix-threads" && build "$cc" threads.cc -pthread "$@" && (ulimit -s 256 && crash ${THREADS:-})
	new "$prefix-overflow" && build "$cc" overflow.c "$@" && (ulimit -s 1024 && crash)
	new "$prefix-uncaught" && build "$cc" uncaught.cc "$@" && crash
	new "$prefix-odd" && build "$cc" odd.c "$@" && crash
	new "$prefix-null" && build "$cc" odd.c "$@" && crash null
}

# kinds CXX PREFIX FLAGS...: a crash of each kind that kinds.cc knows.
kinds() {
	local cxx=$1 prefix=$2 program=$out/.kinds-$2 kind
	shift 2
	"$cxx" -g -pthread "$@" "$src/kinds.cc" -o "$program" 2>/dev/null
	for kind in $("$program"); do
		[[ $by == gdb && $kind == @(cloned|vforked) ]] && continue
		new "$prefix-$kind" && ln "$program" prog && crash "$kind"
	done
	rm "$program"
}

native() {
	programs gcc x86_64
	kinds g++ x86_64-gcc -O2
	kinds clang++ x86_64-clang -O1 -static
	# The tests look for no debug files.
	new x86_64-stripped && build gcc inline.cc && crash
	new x86_64-avx && build gcc odd.c -mavx2 && crash
	new x86_64-nocfi && build gcc odd.c -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-omit-frame-pointer && crash
	new x86_64-rust && rustc -g -O -C panic=abort "$src/panic.rs" -o prog && crash
	gocrash x86_64 amd64
	# Without build ids, as linkers other than distributions' write none.
	new x86_64-noid-inline && build gcc inline.cc -Wl,--build-id=none && crash
	new x86_64-noid-static && build gcc odd.c -static -Wl,--build-id=none && crash
	gocrash x86_64-noid amd64 -ldflags=-B=none
	gocrash x86_64-nodwarf amd64 -ldflags=-w
	new x86_64-musl && build musl-gcc odd.c -Wl,--build-id && crash
	new x86_64-muslhandler && build musl-gcc handler.c && FATAL=SIGABRT crash
	new x86_64-musloverflow && build musl-gcc overflow.c && (ulimit -s 1024 && crash)
	new x86_64-musllean && build musl-gcc odd.c -fno-asynchronous-unwind-tables -fomit-frame-pointer && crash
	new x86_64-lean && build gcc odd.c -fno-asynchronous-unwind-tables -fomit-frame-pointer && crash
	new x86_64-muslnoid && build musl-gcc odd.c -Wl,--build-id=none && crash
	new x86_64-muslstatic && build musl-gcc odd.c -static -Wl,--build-id=none && crash
	# Without NT_FILE's pages: only the vdso tells its build id.
	new x86_64-nopages && build gcc handler.c && (echo 0x03 >/proc/self/coredump_filter && FATAL=SIGABRT crash)
}

# gocrash PREFIX GOARCH FLAGS...: the Go program. Its runtime turns SIGSEGV into a panic.
gocrash() {
	local prefix=$1 arch=$2
	shift 2
	new "$prefix-go"
	(cd "$src/gocrash" && CGO_ENABLED=0 GOARCH=$arch go build "$@" -o "$out/$prefix-go/prog" main.go)
	GOTRACEBACK=crash FATAL=SIGABRT crash
}

# gocross QEMU GOARCH PREFIX FLAGS...: the Go program on a machine that qemu-user runs: qemu's core, and
# the traceback that the program writes.
gocross() {
	local qemu=$1 arch=$2 prefix=$3 found
	shift 3
	new "$prefix-go"
	(cd "$src/gocrash" && CGO_ENABLED=0 GOARCH=$arch go build "$@" -o "$out/$prefix-go/prog" main.go)
	{ (
		ulimit -c unlimited
		GOTRACEBACK=crash exec "$qemu" ./prog >traceback 2>&1
	) || true; } 2>/dev/null
	rm -f core core.* # of qemu itself
	found=$(compgen -G 'qemu_*.core' | head -n 1) && mv "$found" core
}

i386() {
	local libs=/usr/i686-linux-gnu/lib
	programs i686-linux-gnu-gcc i386 -static
	kinds i686-linux-gnu-g++ i386-gcc -O2 -static
	gocrash i386 386
	new i386-stripped && build i686-linux-gnu-gcc inline.cc -Wl,--dynamic-linker="$libs/ld-linux.so.2" &&
		LD_LIBRARY_PATH=$libs crash
}

# remote QEMU NAME BUILD...: builds prog with the command BUILD, and keeps
# qemu's own core of its crash (which has no NT_FILE and no floating-point
# registers; of riscv64 qemu writes none), and of the same crash in qemu, seen
# by gdb, the stacks (gdb.out) and what tests need to make a better core
# (dump.txt). RUN_ARGS are the program's.
remote() {
	local qemu=$1 name=$2 port=$((20000 + RANDOM % 20000)) pid found
	shift 2
	new "$name"
	"$@"
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
	remote "$qemu" "$prefix-inline" build "$cc" inline.cc -static
	remote "$qemu" "$prefix-odd" build "$cc" odd.c -static
	RUN_ARGS=null remote "$qemu" "$prefix-null" build "$cc" odd.c -static
	SIGSEGV=nostop remote "$qemu" "$prefix-handler" build "$cc" handler.c -static
	SIGSEGV=nostop RUN_ARGS=alt remote "$qemu" "$prefix-altstack" build "$cc" handler.c -static
	remote "$qemu" "$prefix-frames" build "$cc" odd.c -static -fno-asynchronous-unwind-tables -fno-omit-frame-pointer
	remote "$qemu" "$prefix-uncaught" build "$cc" uncaught.cc -static
	(ulimit -s 1024 && remote "$qemu" "$prefix-overflow" build "$cc" overflow.c -static)
}

by=$(maker)
for what in "$@"; do
	case $what in
	native) native ;;
	i386) i386 ;;
	# gdb 13 does not read signal frames of CPUs with SVE.
	aarch64) QEMU_CPU=cortex-a57 cross qemu-aarch64 aarch64-linux-gnu-gcc aarch64 && gocross qemu-aarch64 arm64 aarch64 &&
		gocross qemu-aarch64 arm64 aarch64-nodwarf -ldflags=-w ;;
	arm) cross qemu-arm arm-linux-gnueabihf-gcc arm && gocross qemu-arm arm arm &&
		gocross qemu-arm arm arm-nodwarf -ldflags=-w ;;
	s390x) cross qemu-s390x s390x-linux-gnu-gcc s390x && gocross qemu-s390x s390x s390x ;;
	riscv64) cross qemu-riscv64 riscv64-linux-gnu-gcc riscv64 ;;
	ppc64) cross qemu-ppc64le powerpc64le-linux-gnu-gcc ppc64 && gocross qemu-ppc64le ppc64le ppc64 ;;
	mips) cross qemu-mips mips-linux-gnu-gcc mips && gocross qemu-mips mips mips ;;
	*) die "unknown machine $what" ;;
	esac
done
