package symbols

import "testing"

// TestDescriptors, 64-bit PowerPC ELF ABI §3.2.1: the first word of three.
func TestDescriptors(t *testing.T) {
	x := descriptors{addr: 0x1000, bigEndian: true, data: []byte{
		0, 0, 0, 0, 0, 0, 0x12, 0x34, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0x56, 0x78,
	}}
	for addr, want := range map[uint64]uint64{
		0x1000: 0x1234, 0x1018: 0x5678,
		0xfff: 0xfff, 0x1019: 0x1019, 0x1020: 0x1020, 0: 0, 1<<64 - 1: 1<<64 - 1,
	} {
		if got := x.code(addr); got != want {
			t.Errorf("%#x: %#x, want %#x", addr, got, want)
		}
	}
	if got := (descriptors{}).code(7); got != 7 {
		t.Errorf("without .opd: %#x", got)
	}
}
