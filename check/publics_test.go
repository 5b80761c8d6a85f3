package check

import (
	"bytes"
	"debug/elf"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/check/report"
	"symkit/elfx"
)

// TestInnerLabels checks that labels have PUBLIC records, except labels inside functions, whose
// code is the function's.
func TestInnerLabels(t *testing.T) {
	data := readTest(t, filepath.Join("..", "testdata", "elf", "asm-x86_64-gas-dw5.elf"))
	data = bytes.Replace(data, []byte("\x00.debug_info\x00"), []byte("\x00.xebug_info\x00"), 1)
	f, err := elfx.NewFile("asm", data)
	if err != nil {
		t.Fatal(err)
	}
	sym := "MODULE Linux x86_64 0 asm\nINFO GENERATOR symkit dump_syms 1\n"
	rep := mustReplay(t, &elfx.Image{Main: f}, []byte(sym), Options{Options: report.Options{Only: []string{report.CheckPublics}, Limit: 100}})
	got := text(t, rep)
	for label, want := range map[string]bool{"no_type": true, "framed": true, "framed_zero": false} {
		if has := strings.Contains(got, ": "+label+" ["); has != want {
			t.Errorf("%s missing: %v, want %v\n%s", label, has, want, got)
		}
	}
}

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
		s := stubs{slots: map[uint64][]uint32{}, calls: [][]uint32{{10}, {11, 12}, nil}}
		s.r = &replay{img: &elfx.Image{Main: &elfx.File{Header: elfx.Header{Machine: test.machine}}}}
		s.decodePush(addr, append(make([]byte, 16), test.code...))
		if got := s.slots[addr+16]; !slices.Equal(got, test.want) || len(s.slots) > 1 {
			t.Errorf("%v, % x: %v, want %v", test.machine, test.code, s.slots, test.want)
		}
	}
}
