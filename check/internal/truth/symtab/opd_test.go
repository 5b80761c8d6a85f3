package symtab

import (
	"encoding/binary"
	"testing"
)

// TestDescriptors: with the first ABI of 64-bit PowerPC a symbol's address is that of a descriptor,
// whose first word is the address of the code (64-bit PowerPC ELF ABI §3.2.1).
func TestDescriptors(t *testing.T) {
	x := opd{0x2000, []byte{0, 0, 0, 0, 0, 0, 0x10, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, binary.BigEndian}
	for value, want := range map[uint64]uint64{0x2000: 0x1020, 0x1fff: 0x1fff, 0x200b: 0x200b, 0x2012: 0x2012, 0: 0} {
		if got := x.entry(value); got != want {
			t.Errorf("%#x: %#x, want %#x", value, got, want)
		}
	}
}
