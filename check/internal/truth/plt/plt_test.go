package plt

import (
	"debug/elf"
	"slices"
	"testing"

	"symkit/elfx"
)

// TestPushedSlots checks that where indirect branches are tracked, the slots of .plt push the
// number of their relocation (x86-64 psABI §5.2, i386 its offset) and jump to the head.
func TestPushedSlots(t *testing.T) {
	tracked := func(n byte) []byte {
		return []byte{0xf3, 0x0f, 0x1e, 0xfa, 0x68, n, 0, 0, 0, 0xf2, 0xe9, 0, 0, 0, 0, 0x90}
	}
	short := func(n byte) []byte {
		return []byte{0xf3, 0x0f, 0x1e, 0xfb, 0x68, n, 0, 0, 0, 0xe9, 0, 0, 0, 0, 0x66, 0x90}
	}
	for _, test := range []struct {
		machine elf.Machine
		code    []byte
		want    []uint32
	}{
		{elf.EM_X86_64, tracked(1), []uint32{11, 12}},
		{elf.EM_X86_64, tracked(2), nil}, // without a symbol
		{elf.EM_X86_64, tracked(3), nil}, // without a relocation
		{elf.EM_386, short(8), []uint32{11, 12}},
		{elf.EM_386, short(0), []uint32{10}},
		{elf.EM_X86_64, []byte{0x68, 0, 0, 0, 0, 0xc3}, nil},
	} {
		const addr = 0x1020
		s := Stubs{file: &elfx.File{Header: elfx.Header{Machine: test.machine}}, slots: map[uint64][]uint32{}, calls: [][]uint32{{10}, {11, 12}, nil}}
		s.decodePush(addr, append(make([]byte, 16), test.code...))
		if got := s.slots[addr+16]; !slices.Equal(got, test.want) || len(s.slots) > 1 {
			t.Errorf("%v, % x: %v, want %v", test.machine, test.code, s.slots, test.want)
		}
	}
}
