package cfi

import (
	"debug/elf"
	"strings"
	"testing"
)

// rowsText turns an FDE over [0x1000, 0x1100) into lines.
func rowsText(arch *Arch, machine elf.Machine, ra Reg, cie, insns string) ([]string, Stats) {
	b := newBuild(DebugFrame)
	b.Machine = machine
	c := b.entry(^uint64(0), append([]byte{3, 0, 1, 0x78, byte(ra)}, asm(cie)...))
	b.fde(c, b.pcs(0x1000, 0x100), asm(insns))
	text := NewText(arch)
	for f, err := range b.FDEs() {
		if err != nil {
			panic(err)
		}
		text.Begin(f.CIE.RA)
		for row, err := range f.Rows() {
			if err != nil {
				panic(err)
			}
			text.Add(row)
		}
	}
	lines := linesOf(text, 0)
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "STACK CFI ")
	}
	return lines, text.Stats
}

const initX86 = "INIT 1000 100 .cfa: $rsp 8 + .ra: .cfa -8 + ^"

// The rules of docs/design.md, "STACK CFI", on x86-64: each instruction at
// 0x1004 and what its line says.
func TestTextRules(t *testing.T) {
	for _, c := range []struct{ name, insns, want string }{
		{"nothing changed", "advance_loc 4", ""},
		{"offset", "advance_loc 4; def_cfa_offset 16; offset 6 2", "1004 .cfa: $rsp 16 + $rbp: .cfa -16 + ^"},
		{"positive offset", "advance_loc 4; offset_extended_sf 3 -2", "1004 $rbx: .cfa 16 + ^"},
		{"offset 0", "advance_loc 4; def_cfa 6 0; offset 3 0", "1004 .cfa: $rbp 0 + $rbx: .cfa 0 + ^"},
		{"val_offset", "advance_loc 4; val_offset 3 2", "1004 $rbx: .cfa -16 +"},
		{"register", "advance_loc 4; register 3 0", "1004 $rbx: $rax"},
		{"same_value", "advance_loc 4; same_value 3", "1004 $rbx: $rbx"},
		{"undefined", "advance_loc 4; undefined 3", "1004 $rbx: .undef"},
		{"undefined return address", "advance_loc 4; undefined 16", "1004 .ra: 1"},
		{"return address in a register", "advance_loc 4; register 16 1", "1004 .ra: $rdx"},
		{"order by name", "advance_loc 4; offset 3 2; offset 15 3; offset 6 4; offset 12 5; offset 16 6",
			"1004 .ra: .cfa -48 + ^ $r12: .cfa -40 + ^ $r15: .cfa -24 + ^ $rbp: .cfa -32 + ^ $rbx: .cfa -16 + ^"},
		{"unnamed register", "advance_loc 4; offset_extended 56 2; offset_extended 500 2", ""},
		{"in an unnamed register", "advance_loc 4; register 3 56", "1004 $rbx: .undef"},
		{"expression", "advance_loc 4; expression 3 7608", "1004 $rbx: $rbp 8 + ^"},
		{"val_expression of the CFA", "advance_loc 4; val_expression 3 2308", "1004 $rbx: .cfa 8 +"},
		{"hopeless expression", "advance_loc 4; expression 3 ff", "1004 $rbx: .undef"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := rowsText(&x86_64, elf.EM_X86_64, 16, usualCIE, c.insns)
			if c.want == "" {
				wantLines(t, got, initX86)
			} else {
				wantLines(t, got, initX86, c.want)
			}
		})
	}
}

// reference: mozilla.md §3.2, breakpad.md §6.3 — no stale rule survives.
func TestTextRestored(t *testing.T) {
	got, _ := rowsText(&x86_64, elf.EM_X86_64, 16, usualCIE,
		"offset 3 2; advance_loc 4; restore 3; same_value 6; advance_loc 4; restore 6; offset_extended 7 2; advance_loc 4; restore 7")
	wantLines(t, got, initX86+" $rbx: .cfa -16 + ^", "1004 $rbp: $rbp $rbx: $rbx",
		"1008 $rsp: .cfa -16 + ^", "100c $rsp: .cfa 0 +")

	got, _ = rowsText(&arm64, elf.EM_AARCH64, 30, "def_cfa 31 0",
		"advance_loc 4; def_cfa_offset 32; offset 29 4; offset 30 3; advance_loc 4; GNU_window_save;"+
			"restore 29; restore 30; def_cfa_offset 0")
	wantLines(t, got, "INIT 1000 100 .cfa: sp 0 + .ra: x30",
		"1004 .cfa: sp 32 + .ra: .cfa -24 + ^ x29: .cfa -32 + ^", "1008 .cfa: sp 0 + .ra: x30 x29: x29")
}

func TestTextReturnAddress(t *testing.T) {
	for _, c := range []struct {
		arch       *Arch
		ra         Reg
		cie, insns string
		want       string
	}{
		{&arm, 14, "def_cfa 13 0", "", ".cfa: sp 0 + .ra: lr"},
		{&riscv64, 1, "def_cfa_register 2", "", ".cfa: sp 0 + .ra: ra"},
		{&mips, 31, "def_cfa 29 0", "", ".cfa: $sp 0 + .ra: $ra"},
		{&mips64, 31, "def_cfa 29 0; undefined 31", "", ".cfa: $sp 0 + .ra: 16"},
		{&ppc64, 65, "def_cfa 1 0", "register 65 0", ".cfa: r1 0 + .ra: r0"},
		{&ppc64, 65, "def_cfa 1 0", "offset_extended 70 1", ".cfa: r1 0 + .ra: lr"},
		{&loongarch64, 1, "def_cfa 3 0", "same_value 1", ".cfa: sp 0 + .ra: ra"},
		{&s390x, 14, "def_cfa 15 160", "", ".cfa: r15 160 + .ra: r14 r15: .cfa -160 +"},
		{&s390x, 14, "def_cfa 15 160", "register 14 16; register 11 17", ".cfa: r15 160 + .ra: f0 r11: f2 r15: .cfa -160 +"},
		{&s390x, 14, "def_cfa 15 160", "offset 15 5", ".cfa: r15 160 + .ra: r14 r15: .cfa -40 + ^"},
		{&sparcv9, 15, "def_cfa 14 2047", "register 15 31", ".cfa: o6 2047 + .ra: i7"},
		{&x86, 8, "def_cfa 4 4; offset 8 1", "", ".cfa: $esp 4 + .ra: .cfa -8 + ^"},
	} {
		got, _ := rowsText(c.arch, elf.EM_NONE, c.ra, c.cie, c.insns)
		wantLines(t, got, "INIT 1000 100 "+c.want)
	}
	got, _ := rowsText(&s390x, elf.EM_S390, 14, "def_cfa 15 160", "advance_loc 4; offset 15 5; advance_loc 4; restore 15")
	wantLines(t, got, "INIT 1000 100 .cfa: r15 160 + .ra: r14 r15: .cfa -160 +", "1004 r15: .cfa -40 + ^",
		"1008 r15: .cfa -160 +")
}

// No record covers rows that cannot be expressed, and INIT starts anew
// after them.
func TestTextGaps(t *testing.T) {
	for _, c := range []struct {
		name, gap string
		why       Reason
	}{
		{"CFA", "def_cfa_expression ff", cfaInexpressible},
		{"CFA in an unnamed register", "def_cfa 56 8", cfaInexpressible},
		{"return address", "expression 16 ff", returnAddressInexpressible},
		{"return address in an unnamed register", "register 16 56", returnAddressInexpressible},
		{"no return address", "same_value 16", noReturnAddress},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, stats := rowsText(&x86_64, elf.EM_X86_64, 16, usualCIE, "advance_loc 4; offset 3 2; advance_loc 4;"+
				"remember_state;"+c.gap+"; advance_loc 4; restore_state; advance_loc 4; restore 3")
			wantLines(t, got, "INIT 1000 8 .cfa: $rsp 8 + .ra: .cfa -8 + ^", "1004 $rbx: .cfa -16 + ^",
				"INIT 100c f4 .cfa: $rsp 8 + .ra: .cfa -8 + ^ $rbx: .cfa -16 + ^", "1010 $rbx: $rbx")
			if stats[c.why] != 1 || c.why.String() == "" {
				t.Errorf("stats %v", stats)
			}
		})
	}
	got, stats := rowsText(&x86_64, elf.EM_X86_64, 16, "offset 16 1", "advance_loc 4; def_cfa 7 8")
	wantLines(t, got, "INIT 1004 fc .cfa: $rsp 8 + .ra: .cfa -8 + ^")
	if stats[noCFA] != 1 {
		t.Errorf("stats %v", stats)
	}
}

// The return address's column has no name: nothing can be expressed.
func TestTextUnnamedReturnAddress(t *testing.T) {
	got, stats := rowsText(&arm, elf.EM_ARM, 30, "def_cfa 13 0", "")
	if wantLines(t, got); stats[returnAddressInexpressible] != 1 {
		t.Errorf("stats %v", stats)
	}
}

// What package sframe yields: rows with KindMemReg, gaps, and a change of
// source.
func TestTextForeignRows(t *testing.T) {
	row := func(begin, end uint64, off int64) *Row {
		return &Row{Begin: begin, End: end, CFA: Rule{Kind: KindReg, Reg: 7, Off: off},
			Regs: []RegRule{{16, Rule{Kind: KindMemCFA, Off: -8}}}}
	}
	text := NewText(&x86_64)
	text.Add(row(0x10, 0x20, 8))
	text.Add(row(0x20, 0x20, 24)) // no PCs
	text.Add(row(0x20, 0x30, 16))
	text.Add(row(0x40, 0x50, 16)) // a gap
	text.Begin(16)
	text.Add(row(0x50, 0x60, 16))
	flex := row(0x60, 0x70, 0)
	flex.CFA = Rule{Kind: KindMemReg, Reg: 6, Off: -8}
	flex.Regs = []RegRule{{6, Rule{Kind: KindMemReg, Reg: 6}}, {16, Rule{Kind: KindReg, Reg: 10, Off: 8}}}
	if !text.Expressible(16, flex) || text.Expressible(6, &Row{CFA: Rule{Kind: KindExpr}, Exprs: []byte{0}}) || text.Len() != 4 {
		t.Error("Expressible")
	}
	text.Add(flex)
	wantLines(t, linesOf(text, 0),
		"STACK CFI INIT 10 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^", "STACK CFI 20 .cfa: $rsp 16 +",
		"STACK CFI INIT 40 10 .cfa: $rsp 16 + .ra: .cfa -8 + ^",
		"STACK CFI INIT 50 20 .cfa: $rsp 16 + .ra: .cfa -8 + ^",
		"STACK CFI 60 .cfa: $rbp -8 + ^ .ra: $r10 8 + $rbp: $rbp 0 + ^")
}

// The example of Breakpad's format document, in our spelling: the document
// writes `$sp` for `$sp 0 +`, `.cfa ^` for `.cfa 0 + ^` and `.cfa 4 - ^` for
// `.cfa -4 + ^`; TestPostfixSpellings shows that they are equal.
func TestTextFormatDocument(t *testing.T) {
	arch := &Arch{WordSize: 4, SP: 1, RA: 2, lists: []string{"$r0 $sp $pc"}}
	cfa := func(off int64) Rule { return Rule{Kind: KindReg, Reg: 1, Off: off} }
	ra := RegRule{2, Rule{Kind: KindMemCFA}}
	saved := RegRule{0, Rule{Kind: KindMemCFA, Off: -4}}
	text := NewText(arch)
	for _, r := range []Row{
		{Begin: 0x1000, End: 0x1001, CFA: cfa(0), Regs: []RegRule{ra}},
		{Begin: 0x1001, End: 0x1002, CFA: cfa(16), Regs: []RegRule{ra}},
		{Begin: 0x1002, End: 0x100b, CFA: cfa(16), Regs: []RegRule{saved, ra}},
		{Begin: 0x100b, End: 0x1015, CFA: cfa(20), Regs: []RegRule{saved, ra}},
		{Begin: 0x1015, End: 0x1016, CFA: cfa(20), Regs: []RegRule{ra}},
		{Begin: 0x1016, End: 0x1017, CFA: cfa(0), Regs: []RegRule{ra}},
	} {
		text.Add(&r)
	}
	wantLines(t, linesOf(text, 0), "STACK CFI INIT 1000 17 .cfa: $sp 0 + .ra: .cfa 0 + ^",
		"STACK CFI 1001 .cfa: $sp 16 +", "STACK CFI 1002 $r0: .cfa -4 + ^", "STACK CFI 100b .cfa: $sp 20 +",
		"STACK CFI 1015 $r0: $r0", "STACK CFI 1016 .cfa: $sp 0 +")
}

// TestTextReturnColumn: a row of 32-bit ARM that restores pc and lr returns to pc. The first
// table is glibc's of sigreturn, with fewer registers.
func TestTextReturnColumn(t *testing.T) {
	for _, test := range []struct {
		name       string
		arch       *Arch
		machine    elf.Machine
		ra         Reg
		cie, insns string
		want       string
	}{
		{
			"signal frame", &arm, elf.EM_ARM, 14, "def_cfa 13 0; offset_extended_sf 0 -4; offset_extended_sf 14 -11; offset_extended_sf 15 -12", "",
			"INIT 1000 100 .cfa: sp 0 + .ra: .cfa 96 + ^ lr: .cfa 88 + ^ r0: .cfa 32 + ^",
		},
		{
			"pc from some row on", &arm, elf.EM_ARM, 14, "def_cfa 13 0; offset_extended_sf 14 -1", "advance_loc 4; offset_extended_sf 15 -2; advance_loc 4; restore 15",
			"INIT 1000 4 .cfa: sp 0 + .ra: .cfa 8 + ^\n" +
				"INIT 1004 4 .cfa: sp 0 + .ra: .cfa 16 + ^ lr: .cfa 8 + ^\n" +
				"INIT 1008 f8 .cfa: sp 0 + .ra: .cfa 8 + ^",
		},
		{"lr alone", &arm, elf.EM_ARM, 14, "def_cfa 13 0; offset_extended_sf 14 -1", "", "INIT 1000 100 .cfa: sp 0 + .ra: .cfa 8 + ^"},
		{"undefined pc", &arm, elf.EM_ARM, 14, "def_cfa 13 0; offset_extended_sf 14 -1; undefined 15", "", "INIT 1000 100 .cfa: sp 0 + .ra: .cfa 8 + ^ pc: .undef"},
		{"no register for pc", &arm64, elf.EM_AARCH64, 30, "def_cfa 31 0; offset_extended_sf 30 -1", "", "INIT 1000 100 .cfa: sp 0 + .ra: .cfa 8 + ^"},
		{"pc is the column", &x86_64, elf.EM_X86_64, 16, usualCIE, "", initX86},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, _ := rowsText(test.arch, test.machine, test.ra, test.cie, test.insns)
			if text := strings.Join(got, "\n"); text != test.want {
				t.Errorf("got\n%s\nwant\n%s", text, test.want)
			}
		})
	}
}
