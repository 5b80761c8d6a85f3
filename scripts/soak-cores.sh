#!/usr/bin/env bash
# Makes the cores of other machines that `make soak` damages, and their programs:
# test/soak/testdata/MACHINE.core.xz and MACHINE.elf, of crash.c there. A core
# differs from run to run in the process' id.
#
# qemu-user writes them, with a stack of 64 KiB; of riscv64 it writes none.
# Debian 12: qemu-user xz-utils gcc-{i686,aarch64,s390x,mips,powerpc64le}-linux-gnu gcc-arm-linux-gnueabihf
set -euo pipefail

out=$(cd "$(dirname "${BASH_SOURCE[0]}")/../test/soak/testdata" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# make_core QEMU CC
make_core() {
	local qemu=$1 cc=$2
	"$cc" -O2 -g -nostdlib -static -ffreestanding -fno-pie -no-pie "-ffile-prefix-map=$out=." "-ffile-prefix-map=$dir=." \
		-Wl,--build-id -Wl,-e,start "$out/crash.c" -o "$qemu.elf"
	{ (
		ulimit -c unlimited
		exec env -i "$(command -v "qemu-$qemu")" -s 65536 "./$qemu.elf"
	) || true; } 2>/dev/null
	mv qemu_*.core "$qemu.core"
	rm -f core core.* # of qemu itself
	xz -9e "$qemu.core"
	chmod 644 "$qemu.elf"
	mv "$qemu.core.xz" "$qemu.elf" "$out"
}

make_core aarch64 aarch64-linux-gnu-gcc
make_core arm arm-linux-gnueabihf-gcc
make_core i386 i686-linux-gnu-gcc
make_core mips mips-linux-gnu-gcc
make_core ppc64le powerpc64le-linux-gnu-gcc
make_core s390x s390x-linux-gnu-gcc
