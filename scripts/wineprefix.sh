#!/usr/bin/env bash
# Makes a wine prefix, for tests, in the directory that is given. Go's programs read
# random bytes from bcryptprimitives.dll, which wine has since version 9: an older wine
# gets one of 2 kB, made with clang and lld-link, that is for tests only.
set -euo pipefail
prefix=$1
wine=$(command -v wine64 || echo /usr/lib/wine/wine64)
WINEPREFIX=$prefix WINEDEBUG=-all "$wine" wineboot -i >/dev/null 2>&1

system=$prefix/drive_c/windows/system32
[ -e "$system/bcryptprimitives.dll" ] && exit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/prng.c" <<'C'
int ProcessPrng(unsigned char *p, unsigned long long n)
{
	unsigned long long v;

	for (; n > 0; n--) {
		while (!__builtin_ia32_rdrand64_step(&v)) {
		}
		*p++ = (unsigned char)v;
	}
	return 1;
}
C
clang --target=x86_64-windows-msvc -mrdrnd -O1 -ffreestanding -fno-stack-protector -c "$work/prng.c" -o "$work/prng.obj"
lld-link /dll /noentry /nodefaultlib /export:ProcessPrng "/out:$system/bcryptprimitives.dll" "$work/prng.obj"
