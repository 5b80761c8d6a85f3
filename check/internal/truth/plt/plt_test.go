package plt

import (
	"debug/elf"
	"encoding/hex"
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
		{elf.EM_X86_64, []byte{0xe9, 0, 0, 0, 0, 0x68, 1, 0, 0, 0, 0xe9}, nil}, // the end of a slot with a retpoline
	} {
		const addr = 0x1020
		s := Stubs{file: &elfx.File{Header: elfx.Header{Machine: test.machine}}, slots: map[uint64][]uint32{}, calls: [][]uint32{{10}, {11, 12}, nil}}
		s.decodePush(addr, append(make([]byte, 16), test.code...))
		if got := s.slots[addr+16]; !slices.Equal(got, test.want) || len(s.slots) > 1 {
			t.Errorf("%v, % x: %v, want %v", test.machine, test.code, s.slots, test.want)
		}
	}
}

// TestWords: the instructions of x86 that jump through a word of the GOT, or load the word for a retpoline (lld,
// -z retpolineplt). i386's are relative to %ebx, whose value the word of the pushed number tells: with GNU ld the address
// of .got.plt, here 0x4000, with lld 8 the end of .got.
func TestWords(t *testing.T) {
	for _, test := range []struct {
		name    string
		machine elf.Machine
		code    string
		base    uint64 // 0: the code tells none
		want    uint64
	}{
		{"x86-64", elf.EM_X86_64, "ff25ea2f00006800000000e900000000", 0, 0x4000},
		{"x86-64, retpoline", elf.EM_X86_64, "4c8b1de92f0000e8e4ffffff", 0, 0x4000},
		{"i386", elf.EM_386, "ff2500400000", 0, 0x4000},
		{"i386, position-independent", elf.EM_386, "ffa30c0000006800000000e900000000", 0x4000, 0x400c},
		{"i386, lld 8", elf.EM_386, "ffa3fcedffff6800000000e900000000", 0x5210, 0x400c},
		{"i386, retpoline", elf.EM_386, "50a100400000e8e5ffffff", 0, 0x4000},
		{"another instruction", elf.EM_X86_64, "ff35ea2f0000", 0, 0},
		{"cut", elf.EM_X86_64, "ff25ea2f00", 0, 0},
	} {
		code, err := hex.DecodeString(test.code)
		if err != nil {
			t.Fatal(err)
		}
		s := Stubs{file: &elfx.File{Header: elfx.Header{Machine: test.machine}}, words: []uint64{0x400c}}
		base := s.base(code)
		word := s.word(0x1010, code, 0, base)
		if base != test.base || word != test.want {
			t.Errorf("%s: %#x from %#x, want %#x from %#x", test.name, word, base, test.want, test.base)
		}
	}
}
