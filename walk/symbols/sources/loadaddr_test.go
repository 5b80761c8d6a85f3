package sources

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"symkit/elfx"
	"symkit/walk"
)

func TestLaterPart(t *testing.T) {
	load := func(addr, size uint64) elfx.Segment {
		return elfx.Segment{Type: elf.PT_LOAD, Vaddr: addr, Filesz: size, Memsz: size}
	}
	code := func(addr, size uint64) elfx.Segment {
		return elfx.Segment{Type: elf.PT_LOAD, Flags: elf.PF_X, Vaddr: addr, Filesz: size, Memsz: size}
	}
	apart := []elfx.Segment{load(0, 0x16f4), {Type: elf.PT_NOTE, Vaddr: 1}, code(0x10700, 0x1900), load(0x30000, 0x208), load(0x40000, 0x2041)}
	for _, test := range []struct {
		name     string
		segments []elfx.Segment
		size     uint64
		want     uint64
		ok       bool
	}{
		{"the code", apart, 0x2000, 0x10000, true},
		{"data", apart, 0x1000, 0, false},
		{"all of it", apart, 0x43000, 0, false},
		{"from the code on", apart, 0x33000, 0x10000, true},
		{"no part", apart, 0x5000, 0, false},
		{"two parts", append(apart, code(0x60000, 0x2000)), 0x2000, 0, false},
		{"without a gap", []elfx.Segment{load(0, 0x1000), code(0x1000, 0x2000)}, 0x2000, 0, false},
		{"no segments", nil, 0x1000, 0, false},
	} {
		if got, ok := laterPart(test.segments, test.size); got != test.want || ok != test.ok {
			t.Errorf("%s: %#x %v, want %#x %v", test.name, got, ok, test.want, test.ok)
		}
	}
}

// gapFile is a program with a build id whose segments lie apart.
func gapFile(t *testing.T) []byte {
	var out bytes.Buffer
	load := func(flags elf.ProgFlag, off, addr, size uint64) elf.Prog64 {
		return elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(flags), Off: off, Vaddr: addr, Filesz: size, Memsz: size, Align: 0x10000}
	}
	for _, v := range []any{
		elf.Header64{Ident: [16]byte{0x7f, 'E', 'L', 'F', 2, 1, 1}, Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: 1,
			Entry: 0x10000, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 4},
		load(elf.PF_R, 0, 0, 0x200),
		elf.Prog64{Type: uint32(elf.PT_NOTE), Flags: uint32(elf.PF_R), Off: 288, Vaddr: 288, Filesz: 24, Memsz: 24, Align: 4},
		load(elf.PF_R|elf.PF_X, 0x1000, 0x10000, 0x20),
		load(elf.PF_R|elf.PF_W, 0x2000, 0x30000, 8),
		[]uint32{4, 8, 3}, []byte("GNU\x0012345678"),
	} {
		if err := binary.Write(&out, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	return append(out.Bytes(), make([]byte, 0x2008-out.Len())...)
}

// TestLoadAddresses: a file whose code is 64 KiB above its beginning.
func TestLoadAddresses(t *testing.T) {
	gap := filepath.Join(t.TempDir(), "gap")
	if err := os.WriteFile(gap, gapFile(t), 0o666); err != nil {
		t.Fatal(err)
	}
	file, err := elfx.Open(gap)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, test := range []struct {
		name          string
		base, size    uint64
		other, wanted uint64
	}{
		{"the code alone", 0x7f0000010000, 0x1000, 0, 0x7f0000000000},
		{"the code alone, another module before", 0x7f0000010000, 0x1000, 0x7f0000008000, 0x7f0000010000},
		{"all of it", 0x7f0000000000, 0x31000, 0, 0x7f0000000000},
	} {
		p := &walk.Process{Modules: []*walk.Module{{Path: "/gap", Base: test.base, Bias: test.base, End: test.base + test.size, BuildID: file.BuildID()}}}
		if test.other != 0 {
			p.Modules = append(p.Modules, &walk.Module{Path: "/other", Base: test.other, End: test.other + 0x1000, Foreign: true})
			p.SortModules()
		}
		files := &Files{Exe: gap}
		files.LoadAddresses(p)
		m := p.Modules[len(p.Modules)-1]
		if m.Base != test.wanted || m.Bias != test.wanted {
			t.Errorf("%s: %#x, %#x, want %#x", test.name, m.Base, m.Bias, test.wanted)
		}
		files.Close()
	}
}
