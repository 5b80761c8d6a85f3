#!/usr/bin/env bash
# Writes a large symbol file to standard output, shaped as those of browsers and
# Java machines are: lines 70 %, INLINE 13 %, FUNC 6 %, STACK CFI 9 % of the
# bytes. It serves to measure how fast stackwalk gets at one function of it.
#
#   bigsym.sh ID NAME [MEGABYTES]
#
# ID and NAME are those of the MODULE record; 1000 megabytes by default.
set -euo pipefail
(($# >= 2)) || {
	printf 'usage: bigsym.sh ID NAME [MEGABYTES]\n' >&2
	exit 80
}
awk -v id="$1" -v name="$2" -v size="${3:-1000}" 'BEGIN {
	print "MODULE Linux x86_64 " id " " name
	for (i = 0; i < 20000; i++) print "FILE " i " /build/source/module" i % 100 "/directory/file" i ".cpp"
	for (i = 0; i < 50000; i++) print "INLINE_ORIGIN " i " mozilla::Vector<Type" i ", 0ul>::method(unsigned long) const"
	end = size * 1000000
	for (n = 0; bytes < end; n++) {
		base = 4096 + n * 512
		text = sprintf("FUNC %x 1f0 0 mozilla::dom::Class%d::Method(nsTArray<unsigned char> const&, unsigned int)\n", base, n)
		for (i = 0; i < 4; i++)
			text = text sprintf("INLINE %d %d %d %d %x 10 %x 8\n", i % 2, n % 5000, n % 20000, (n + i) % 50000, base + 64 * i, base + 64 * i + 24)
		for (i = 0; i < 31; i++)
			text = text sprintf("%x 10 %d %d\n", base + 16 * i, (n + 7 * i) % 10000, n % 20000)
		printf "%s", text
		bytes += length(text) + 170
	}
	for (i = 0; i < n; i++) {
		base = 4096 + i * 512
		printf "STACK CFI INIT %x 1f0 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI %x .cfa: $rsp 16 + $rbp: .cfa -16 + ^\nSTACK CFI %x .cfa: $rbp 16 +\n", base, base + 1, base + 4
	}
}'
