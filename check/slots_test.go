package check

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"symkit/check/internal/checks"
	"symkit/check/report"
	"symkit/elfx"
	"symkit/test/mutant"
)

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
		rep := mustCheck(t, img, []byte(sym.String()), Options{Options: report.Options{Only: []string{checks.Publics}, Limit: 100}})
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
