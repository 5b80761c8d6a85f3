package check

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"symkit/check/report"
	"symkit/elfx"
	"symkit/test/mutant"
)

// TestSlotAt: slots as binutils 2.40 and lld 14 link them (for LoongArch those of its ABI), where they
// begin, the first slot of a section, which calls the dynamic linker, other code, and slots that are cut.
func TestSlotAt(t *testing.T) {
	for _, test := range []struct {
		name    string
		machine elf.Machine
		big     bool
		addr    uint64
		code    string
		at      int
		word    uint64 // 0: no slot
		begin   int
	}{
		{"arm64", elf.EM_AARCH64, false, 0x2e0, "10010090110640f910220091", 0, 0x20008, 0},
		{"arm64 with BTI", elf.EM_AARCH64, false, 0x2e0, "5f2403d510010090110640f9", 4, 0x20008, 0},
		{"arm64, a page below", elf.EM_AARCH64, false, 0x5000, "f0fffff0110640f9", 0, 0x4008, 0},
		{"arm64, the first slot", elf.EM_AARCH64, false, 0x2b0, "f07bbfa9f00000f011fe47f9", 0, 0, 0},
		{"ARM", elf.EM_ARM, false, 0x1a4, "00c68fe201ca8ce260febce5", 0, 0x200c, 0},
		{"ARM, called from Thumb", elf.EM_ARM, false, 0x1a0, "7847c04600c68fe201ca8ce260febce5", 4, 0x200c, 0},
		{"ARM, another instruction", elf.EM_ARM, false, 0x1a4, "00c68fe201ca8ce21eff2fe1", 0, 0, 0},
		{"RISC-V", elf.EM_RISCV, false, 0x2f0, "172e0000033e0ed267030e00", 0, 0x2010, 0},
		{"RISC-V with a landing pad", elf.EM_RISCV, false, 0x2ec, "17000000172e0000033e0ed2", 4, 0x2010, 0},
		{"RISC-V, 32 bits", elf.EM_RISCV, false, 0x2f0, "172e0000032e0ed2", 0, 0x2010, 0},
		{"RISC-V, the first slot", elf.EM_RISCV, false, 0x2d0, "972300003303c341", 0, 0, 0},
		{"s390x", elf.EM_S390, true, 0x2d0, "c01000000e98e3101000000407f1", 0, 0x2000, 0},
		{"s390x, the first slot", elf.EM_S390, true, 0x2b0, "e310f0380024c01000000e99", 0, 0, 0},
		{"LoongArch", elf.EM_LOONGARCH, false, 0x1000, "4f00001cefc1ff28", 0, 0x2ff0, 0},
		{"LoongArch, 32 bits", elf.EM_LOONGARCH, false, 0x1000, "4f00001cefc1bf28", 0, 0x2ff0, 0},
		{"LoongArch, other code", elf.EM_LOONGARCH, false, 0x1000, "4f00001c0000004c", 0, 0, 0},
	} {
		code, err := hex.DecodeString(test.code)
		if err != nil {
			t.Fatal(err)
		}
		f := &elfx.File{Header: elfx.Header{Machine: test.machine, BigEndian: test.big}}
		x := newSlotCode(f, &elfx.Section{Addr: test.addr}, code)
		word, begin, ok := x.slotAt(test.at)
		if ok != (test.word != 0) || ok && (word != test.word || begin != test.begin) {
			t.Errorf("%s: %#x from %d, %v, want %#x from %d", test.name, word, begin, ok, test.word, test.begin)
		}
		for n := range test.at + 8 {
			x.code = code[:n]
			if _, _, ok := x.slotAt(test.at); ok {
				t.Errorf("%s, cut to %d bytes: a slot", test.name, n)
			}
		}
	}
}

// linkageTable returns an arm64 program whose .plt, at address 0, has a head and two slots, of alpha
// and of beta.
func linkageTable(t *testing.T) *elfx.Image {
	le := binary.LittleEndian
	var rela []byte
	for i, word := range []uint64{0x20008, 0x20010} {
		rela = le.AppendUint64(le.AppendUint64(le.AppendUint64(rela, word), uint64(i+1)<<32|1026), 0) // R_AARCH64_JUMP_SLOT
	}
	plt, err := hex.DecodeString("f07bbfa9f00000f011fe47f91f2003d5" +
		"10010090110640f910220091" + "20021fd6" + "10010090110a40f910420091" + "20021fd6")
	if err != nil {
		t.Fatal(err)
	}
	symbols := functionTable(".dynsym", elf.SHT_DYNSYM, 4, testSymbol{"alpha", 0}, testSymbol{"beta", 0})
	for i := range 2 {
		clear(symbols[0].Data[24*(i+1)+6:][:18]) // undefined
	}
	data := mutant.Program(0x100, append(symbols,
		mutant.Section{Name: ".rela.plt", Kind: elf.SHT_RELA, Flags: elf.SHF_ALLOC, Data: rela, Link: 3, Entry: 24},
		mutant.Section{Name: ".plt", Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Data: plt})...)
	le.PutUint16(data[18:], uint16(elf.EM_AARCH64))
	f, err := elfx.NewFile("prog", data)
	if err != nil {
		t.Fatal(err)
	}
	return &elfx.Image{Main: f}
}

// TestSlotPublics: PUBLIC records of slots that are missing, moved or exchanged are found on machines
// other than x86.
func TestSlotPublics(t *testing.T) {
	img := linkageTable(t)
	for publics, wants := range map[string][]string{
		"0 .plt,10 alpha@plt,20 beta@plt": nil,
		"0 .plt,10 alpha@plt":             {"no PUBLIC for the PLT slot at 0x20: beta@plt"},
		"0 .plt,10 beta@plt,20 alpha@plt": {"no symbol of code is at 0x10", "no symbol of code is at 0x20"},
		"0 .plt,14 alpha@plt,20 beta@plt": {"no PUBLIC for the PLT slot at 0x10: alpha@plt", "no symbol of code is at 0x14"},
	} {
		var sym strings.Builder
		sym.WriteString("MODULE Linux arm64 0 prog\n")
		for p := range strings.SplitSeq(publics, ",") {
			addr, name, _ := strings.Cut(p, " ")
			sym.WriteString(fmt.Sprintf("PUBLIC %s 0 %s\n", addr, name))
		}
		rep := mustReplay(t, img, []byte(sym.String()), Options{Options: report.Options{Only: []string{report.CheckPublics}, Limit: 100}})
		var got []string
		for _, f := range rep.Findings {
			got = append(got, f.What)
		}
		slices.Sort(got)
		if !slices.Equal(got, wants) {
			t.Errorf("%s: got %q, want %q", publics, got, wants)
		}
	}
}
