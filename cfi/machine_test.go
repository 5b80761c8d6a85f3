package cfi

import (
	"debug/elf"
	"fmt"
	"strings"
	"testing"

	"symkit/located"
)

// The return address is column 8, held in r1; r1 to r3 are scratch, r4 to r6
// preserved, r7 is the stack pointer, whose caller's value is the CFA; the
// frame has 12 bytes.
func TestRowsDWARF5AppendixD6(t *testing.T) {
	b := newBuild(DebugFrame)
	b.AddrSize = 4
	c := b.entry(^uint64(0), append([]byte{4, 0, 4, 0, 4, 0x7c, 8}, asm(
		"def_cfa 7 0; same_value 0; undefined 1; undefined 2; undefined 3; same_value 4;"+
			"same_value 5; same_value 6; val_offset 7 0; register 8 1")...))
	b.fde(c, b.pcs(0x100, 84), asm("advance_loc 1; def_cfa_offset 12; advance_loc 1; offset 8 1;"+
		"advance_loc 1; offset 6 2; advance_loc 1; def_cfa_register 6; advance_loc 1; offset 4 3;"+
		"advance_loc 11; restore 4; advance_loc 1; restore 6; def_cfa_register 7;"+
		"advance_loc 1; restore 8; advance_loc 1; def_cfa_offset 0"))
	const low, r7 = " 0=s 1=u 2=u 3=u", " 7=v+0"
	wantLines(t, dump(&b.Section),
		"100-104 r7+0"+low+" 4=s 5=s 6=s"+r7+" 8=r1+0",
		"104-108 r7+12"+low+" 4=s 5=s 6=s"+r7+" 8=r1+0",
		"108-10c r7+12"+low+" 4=s 5=s 6=s"+r7+" 8=c-4",
		"10c-110 r7+12"+low+" 4=s 5=s 6=c-8"+r7+" 8=c-4",
		"110-114 r6+12"+low+" 4=s 5=s 6=c-8"+r7+" 8=c-4",
		"114-140 r6+12"+low+" 4=c-12 5=s 6=c-8"+r7+" 8=c-4",
		"140-144 r6+12"+low+" 4=s 5=s 6=c-8"+r7+" 8=c-4",
		"144-148 r7+12"+low+" 4=s 5=s 6=s"+r7+" 8=c-4",
		"148-14c r7+12"+low+" 4=s 5=s 6=s"+r7+" 8=r1+0",
		"14c-154 r7+0"+low+" 4=s 5=s 6=s"+r7+" 8=r1+0")
}

// Each instruction of DWARF 5 §6.4.2, in an FDE over [0x1000, 0x1100) whose
// CIE says CFA r7+8, r16 at CFA-8; code factor 1, data factor -8.
func TestInstructions(t *testing.T) {
	const start = "1000-1004 r7+8 16=c-8"
	for _, c := range []struct {
		name, insns string
		want        []string
	}{
		{"none", "", []string{"1000-1100 r7+8 16=c-8"}},
		{"nop", "nop;nop", []string{"1000-1100 r7+8 16=c-8"}},
		{"advance_loc", "advance_loc 4", []string{start, "1004-1100 r7+8 16=c-8"}},
		{"advance_loc1", "advance_loc1 0x84", []string{"1000-1084 r7+8 16=c-8", "1084-1100 r7+8 16=c-8"}},
		{"advance_loc2", "advance_loc2 4", []string{start, "1004-1100 r7+8 16=c-8"}},
		{"advance_loc4", "advance_loc4 4", []string{start, "1004-1100 r7+8 16=c-8"}},
		{"MIPS_advance_loc8", "MIPS_advance_loc8 4", []string{start, "1004-1100 r7+8 16=c-8"}},
		{"set_loc", "set_loc 0x1004", []string{start, "1004-1100 r7+8 16=c-8"}},
		{"same address", "advance_loc 4; def_cfa_offset 1; advance_loc 0; def_cfa_offset 2; set_loc 0x1004",
			[]string{start, "1004-1100 r7+2 16=c-8"}},
		{"def_cfa", "def_cfa 6 300", []string{"1000-1100 r6+300 16=c-8"}},
		{"def_cfa_sf", "def_cfa_sf 6 -2", []string{"1000-1100 r6+16 16=c-8"}},
		{"def_cfa_register", "def_cfa_register 6", []string{"1000-1100 r6+8 16=c-8"}},
		{"def_cfa_offset", "def_cfa_offset 0x80", []string{"1000-1100 r7+128 16=c-8"}},
		{"def_cfa_offset_sf", "def_cfa_offset_sf 3", []string{"1000-1100 r7-24 16=c-8"}},
		{"def_cfa_expression", "def_cfa_expression 7708", []string{"1000-1100 e:7708 16=c-8"}},
		{"def_cfa_register after an expression (libgcrypt)", "def_cfa_offset 56; def_cfa_expression 7708; advance_loc 4; def_cfa_register 6",
			[]string{"1000-1004 e:7708 16=c-8", "1004-1100 r6+56 16=c-8"}},
		{"def_cfa_offset under an expression", "def_cfa_expression 7708; def_cfa_offset 24; advance_loc 4; def_cfa_register 7",
			[]string{"1000-1004 e:7708 16=c-8", "1004-1100 r7+24 16=c-8"}},
		{"a second expression", "def_cfa_expression 7708; def_cfa_expression 7608; advance_loc 4; def_cfa_register 7",
			[]string{"1000-1004 e:7608 16=c-8", "1004-1100 r7+8 16=c-8"}},
		{"offsets of remembered expressions", "def_cfa_expression 7708; remember_state; def_cfa_offset 24; advance_loc 4; restore_state; def_cfa_register 7",
			[]string{"1000-1004 e:7708 16=c-8", "1004-1100 r7+8 16=c-8"}},
		{"undefined", "undefined 16", []string{"1000-1100 r7+8 16=u"}},
		{"same_value", "same_value 3", []string{"1000-1100 r7+8 3=s 16=c-8"}},
		{"offset", "offset 3 2", []string{"1000-1100 r7+8 3=c-16 16=c-8"}},
		{"offset_extended", "offset_extended 300 2", []string{"1000-1100 r7+8 16=c-8 300=c-16"}},
		{"offset_extended_sf", "offset_extended_sf 3 -2", []string{"1000-1100 r7+8 3=c+16 16=c-8"}},
		{"GNU_negative_offset_extended", "GNU_negative_offset_extended 3 2", []string{"1000-1100 r7+8 3=c+16 16=c-8"}},
		{"val_offset", "val_offset 3 2", []string{"1000-1100 r7+8 3=v-16 16=c-8"}},
		{"val_offset_sf", "val_offset_sf 3 -2", []string{"1000-1100 r7+8 3=v+16 16=c-8"}},
		{"register", "register 3 5", []string{"1000-1100 r7+8 3=r5+0 16=c-8"}},
		{"expression", "expression 3 7608", []string{"1000-1100 r7+8 3=[e:7608] 16=c-8"}},
		{"val_expression", "val_expression 3 7608", []string{"1000-1100 r7+8 3=e:7608 16=c-8"}},
		{"restore to the CIE's rule", "undefined 16; advance_loc 4; restore 16",
			[]string{"1000-1004 r7+8 16=u", "1004-1100 r7+8 16=c-8"}},
		{"restore to none", "offset 3 2; advance_loc 4; restore 3", []string{"1000-1004 r7+8 3=c-16 16=c-8", "1004-1100 r7+8 16=c-8"}},
		{"restore_extended", "offset_extended 70 2; restore_extended 70; restore_extended 71", []string{"1000-1100 r7+8 16=c-8"}},
		{"GNU_args_size", "GNU_args_size 16", []string{"1000-1100 r7+8 16=c-8"}},
		{"remember_state and restore_state", "remember_state; def_cfa 6 16; offset 3 2; advance_loc 4; restore_state",
			[]string{"1000-1004 r6+16 3=c-16 16=c-8", "1004-1100 r7+8 16=c-8"}},
		{"nested states", "remember_state; offset 3 2; remember_state; offset 4 3; advance_loc 4; restore_state;" +
			"advance_loc 4; restore_state", []string{"1000-1004 r7+8 3=c-16 4=c-24 16=c-8",
			"1004-1008 r7+8 3=c-16 16=c-8", "1008-1100 r7+8 16=c-8"}},
		// GNU as closes a function with CFI after its last instruction.
		{"advance to the end", "advance_loc4 0x100; def_cfa_offset 16", []string{"1000-1100 r7+8 16=c-8"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantLines(t, dump(&oneFDE(usualCIE, c.insns).Section), c.want...)
		})
	}
}

// GNU as starts every RISC-V CIE with def_cfa_register.
func TestDefCFARegisterFirst(t *testing.T) {
	wantLines(t, dump(&oneFDE("def_cfa_register 2", "advance_loc 2; def_cfa_offset 16").Section),
		"1000-1002 r2+0", "1002-1100 r2+16")
}

// Restore goes to the CIE's rule whatever its kind, and nothing is lost when
// the rule never changed.
func TestRestoreEveryRule(t *testing.T) {
	for insn, want := range map[string]string{
		"undefined 3": "3=u", "same_value 3": "3=s", "offset 3 1": "3=c-8", "val_offset 3 1": "3=v-8",
		"register 3 4": "3=r4+0", "expression 3 7100": "3=[e:7100]", "val_expression 3 7100": "3=e:7100",
	} {
		b := oneFDE("def_cfa 7 8; "+insn, "advance_loc 1; restore 3; advance_loc 1; val_offset 3 9; advance_loc 1; restore 3")
		wantLines(t, dump(&b.Section), "1000-1001 r7+8 "+want, "1001-1002 r7+8 "+want,
			"1002-1003 r7+8 3=v-72", "1003-1100 r7+8 "+want)
	}
}

func TestVendorInstructions(t *testing.T) {
	b := oneFDE(usualCIE, "advance_loc 4; GNU_window_save; advance_loc 4; remember_state;"+
		"AARCH64_negate_ra_state_with_pc; advance_loc 4; restore_state")
	b.Machine = elf.EM_AARCH64
	wantLines(t, dump(&b.Section), "1000-1004 r7+8 16=c-8", "1004-1008 r7+8 16=c-8 signed",
		"1008-100c r7+8 16=c-8", "100c-1100 r7+8 16=c-8 signed")

	b = oneFDE("def_cfa 7 8", "val_expression 34 31; advance_loc 4; restore_extended 34; advance_loc 4; offset 34 1")
	b.Machine = elf.EM_AARCH64
	wantLines(t, dump(&b.Section), "1000-1004 r7+8 signed", "1004-1008 r7+8", "1008-1100 r7+8")

	b = oneFDE("def_cfa 7 8", "AARCH64_set_ra_state 1 0; advance_loc 4; AARCH64_set_ra_state 2 -8; advance_loc 4;"+
		"AARCH64_set_ra_state 0 -4")
	b.Machine = elf.EM_AARCH64
	wantLines(t, dump(&b.Section), "1000-1004 r7+8 signed", "1004-1008 r7+8 signed", "1008-1100 r7+8")

	b = oneFDE("def_cfa 30 0", "GNU_window_save")
	b.Machine = elf.EM_SPARCV9
	var want strings.Builder
	want.WriteString("1000-1100 r30+0")
	for r := 8; r < 16; r++ {
		want.WriteString(fmt.Sprintf(" %d=r%d+0", r, r+16))
	}
	for r := 16; r < 32; r++ {
		want.WriteString(fmt.Sprintf(" %d=c%+d", r, 8*(r-16)))
	}
	wantLines(t, dump(&b.Section), want.String())
}

// Offsets of 32-bit files are 32-bit numbers.
func TestOffsetsFold(t *testing.T) {
	b := newBuild(DebugFrame)
	b.AddrSize = 4
	c := b.cie(1, "", nil, "def_cfa 4 0xfffffff8")
	b.fde(c, b.pcs(0xfffff000, 0x1000), asm("offset 3 0x20000001"))
	wantLines(t, dump(&b.Section), "fffff000-100000000 r4-8 3=c-8")
}

func TestInstructionErrors(t *testing.T) {
	const first = "1000-1004 r7+8 16=c-8"
	for _, c := range []struct {
		name, insns string
		raw         string // hex, after insns
		err         error
		at          int // from the first instruction
		rows        []string
	}{
		{"unknown", "advance_loc 4", "3f", errOpcode, 1, []string{first}},
		{"window_save on x86-64", "", "2d", errOpcode, 0, nil},
		{"set_ra_state on x86-64", "", "2b0100", errOpcode, 0, nil},
		{"truncated operand", "advance_loc 4", "02", located.ErrTruncated, 2, []string{first}},
		{"truncated block", "", "0f05", located.ErrTruncated, 2, nil},
		{"register", "", "07ffffffffff0f", errRegister, 1, nil},
		{"beyond", "advance_loc 4; advance_loc4 0xfd", "", errBeyond, 1, []string{first, "1004-1100 r7+8 16=c-8"}},
		{"wrap", "MIPS_advance_loc8 -1", "", errBeyond, 0, []string{"1000-1100 r7+8 16=c-8"}},
		{"backwards", "advance_loc 4; set_loc 0x1003", "", errBackwards, 1, []string{first}},
		{"set_loc beyond", "set_loc 0x1101", "", errBeyond, 0, []string{"1000-1100 r7+8 16=c-8"}},
		{"empty state stack", "advance_loc 4; restore_state", "", errStateStack, 1, []string{first}},
		{"full state stack", strings.Repeat("remember_state;", maxSaved+1), "", errStateStack, maxSaved, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBuild(DebugFrame)
			cie := b.cie(1, "", nil, usualCIE)
			insns := append(asm(c.insns), hexBytes(c.raw)...)
			b.fde(cie, b.pcs(0x1000, 0x100), insns)
			var rows []string
			var failed error
			for f, err := range b.FDEs() {
				if err != nil {
					t.Fatal(err)
				}
				for row, err := range f.Rows() {
					if err != nil {
						failed = err
					} else {
						rows = append(rows, dumpRow(row))
					}
				}
			}
			wantError(t, failed, c.err, len(b.Data)-len(insns)+c.at)
			wantLines(t, rows, c.rows...)
		})
	}
}

// A CIE may leave the CFA to its FDEs, but an offset needs a register.
func TestNoCFA(t *testing.T) {
	for _, insns := range []string{"def_cfa_offset 8", "def_cfa_offset_sf 8"} {
		b := oneFDE("offset 16 1", insns)
		for f, err := range b.FDEs() {
			if err != nil {
				t.Fatal(err)
			}
			for row, err := range f.Rows() {
				wantError(t, err, errNoCFA, f.from)
				if row != nil {
					t.Errorf("%s: a row", insns)
				}
			}
		}
	}
	b := oneFDE("def_cfa_expression 7708", "def_cfa_register 6")
	wantLines(t, dump(&b.Section), "1000-1100 r6+0")

	// A rule may follow the offset, if no row needs a rule before.
	b = oneFDE("offset 16 1", "def_cfa_offset 24; def_cfa_register 6")
	wantLines(t, dump(&b.Section), "1000-1100 r6+24 16=c-8")
	b = oneFDE("def_cfa_offset 24", "def_cfa_expression 7708; advance_loc 4; def_cfa_register 6")
	wantLines(t, dump(&b.Section), "1000-1004 e:7708", "1004-1100 r6+24")
	b = oneFDE("offset 16 1", "def_cfa_offset 24; advance_loc 4; def_cfa_register 6")
	if got := dump(&b.Section); len(got) != 1 || !strings.HasSuffix(got[0], errNoCFA.Error()) {
		t.Errorf("%q", got)
	}
}

func TestTooManyRules(t *testing.T) {
	var src strings.Builder
	for r := range maxRules {
		fmt.Fprintf(&src, "same_value %d;", r+17)
	}
	b := oneFDE(usualCIE, src.String())
	got := dump(&b.Section)
	if len(got) != 1 || !strings.HasSuffix(got[0], errTooManyRules.Error()) {
		t.Errorf("%.200q", got)
	}
}

// A consumer may stop anywhere.
func TestBreak(t *testing.T) {
	s := synthetic()
	rows := 0
	for f := range s.FDEs() {
		for range f.Rows() {
			rows++
			break
		}
		if f.Offset > 0 {
			break
		}
	}
	b := newBuild(EHFrame)
	b.entry(0x1000, nil)
	b.entry(0x1000, nil)
	for range b.FDEs() {
		rows++
		break
	}
	b.Data = append([]byte{2, 0, 0, 0, 9, 9}, b.Data...)
	for range b.FDEs() {
		rows++
		break
	}
	if rows != 3 {
		t.Errorf("%d rows", rows)
	}
}

// BenchmarkRowsSynthetic: a push-heavy function as GCC lays it out.
func BenchmarkRowsSynthetic(b *testing.B) { benchRows(b, synthetic()) }
func BenchmarkTextSynthetic(b *testing.B) { benchText(b, synthetic()) }

func synthetic() *Section {
	b := newBuild(EHFrame)
	c := b.cie(1, "zR", []byte{0x1b}, usualCIE)
	for i := range 1000 {
		fields := appendInt(nil, uint64(i), 4, false)
		fields = append(appendInt(fields, 200, 4, false), 0)
		b.fde(c, fields, asm("advance_loc 2; def_cfa_offset 16; offset 15 2; advance_loc 2; def_cfa_offset 24;"+
			"offset 14 3; advance_loc 1; def_cfa_offset 32; offset 6 4; advance_loc 1; def_cfa_offset 40; offset 3 5;"+
			"advance_loc 4; def_cfa_offset 64; advance_loc1 100; remember_state; def_cfa_offset 40; advance_loc 1;"+
			"def_cfa_offset 32; advance_loc 1; def_cfa_offset 24; advance_loc 2; def_cfa_offset 16; advance_loc 2;"+
			"def_cfa_offset 8; advance_loc 1; restore_state"))
	}
	return &b.Section
}

// FuzzRows: whatever the instructions, rows are adjacent, inside the FDE and
// sorted; one error at most, last, inside the section.
func FuzzRows(f *testing.F) {
	f.Add(asm(usualCIE), asm("advance_loc 4; def_cfa_offset 16; offset 3 2; remember_state; advance_loc1 9; restore_state"), uint16(62))
	f.Add(asm("def_cfa_register 2"), asm("set_loc 0x1004; val_expression 34 31; GNU_window_save"), uint16(183))
	f.Add([]byte{}, asm("GNU_window_save; undefined 3; MIPS_advance_loc8 5"), uint16(43))
	f.Fuzz(func(t *testing.T, cie, insns []byte, machine uint16) {
		b := newBuild(DebugFrame)
		b.Machine = elf.Machine(machine)
		c := b.entry(^uint64(0), append([]byte{1, 0, 1, 0x78, 16}, cie...))
		b.fde(c, b.pcs(0x1000, 0x100), insns)
		checkSection(t, &b.Section)
	})
}

// checkSection asserts what holds for every section.
func checkSection(t *testing.T, s *Section) {
	arch := ArchOf(s.Machine, elf.ELFCLASS64)
	if arch == nil {
		arch = &x86_64
	}
	text, slow := NewText(arch), forgetful(arch)
	checkErr := func(err error) {
		e, ok := err.(*located.Error)
		if !ok || e.Offset < 0 || e.Offset > len(s.Data) {
			t.Fatalf("error without a place: %v", err)
		}
	}
	r := s.NewReader()
	for f, err := range s.FDEs() {
		if err != nil {
			checkErr(err)
			continue
		}
		if again, err := r.FDE(f.Offset); err != nil || again.Begin != f.Begin || again.End != f.End {
			t.Fatalf("FDE(%#x) differs: %v", f.Offset, err)
		}
		for _, x := range []*Text{text, slow} {
			x.Reset()
			x.Begin(f.CIE.RA)
		}
		last, failed := f.Begin, false
		for row, err := range f.Rows() {
			if failed {
				t.Fatal("a row after the error")
			}
			if err != nil {
				checkErr(err)
				failed = true
				continue
			}
			checkRow(t, row, last, f.End)
			last = row.End
			text.Add(row)
			slow.Add(row)
		}
		if !failed && last != f.End {
			t.Fatalf("rows end at %#x, FDE at %#x", last, f.End)
		}
		checkText(t, text, f.Begin, f.End)
		wantLines(t, linesOf(text, 0), linesOf(slow, 0)...)
		if text.Stats != slow.Stats {
			t.Fatalf("%v with a ruleCache, %v without", text.Stats, slow.Stats)
		}
	}
}

func checkRow(t *testing.T, row *Row, begin, end uint64) {
	if row.Begin != begin || row.End <= row.Begin || row.End > end {
		t.Fatalf("row %#x–%#x after %#x in an FDE to %#x", row.Begin, row.End, begin, end)
	}
	for i, r := range row.Regs {
		if r.Kind == KindNone || i > 0 && row.Regs[i-1].Reg >= r.Reg {
			t.Fatalf("row %#x: registers %v", row.Begin, row.Regs)
		}
	}
}

// checkText: the first record is an INIT, later rows lie in its range, INITs do
// not overlap and have a CFA and a return address.
func checkText(t *testing.T, text *Text, begin, end uint64) {
	at, upto := begin, begin
	for i := range text.Len() {
		r := text.Record(i)
		rules := string(r.Rules)
		if r.Init() {
			if r.Addr < upto || r.Addr+r.Size > end || !strings.HasPrefix(rules, ".cfa: ") || !strings.Contains(rules, " .ra: ") {
				t.Fatalf("INIT %#x+%#x %s after %#x", r.Addr, r.Size, rules, upto)
			}
			upto = r.Addr + r.Size
		} else if r.Addr <= at || r.Addr >= upto || rules == "" {
			t.Fatalf("record %#x %q in %#x–%#x", r.Addr, rules, at, upto)
		}
		at = r.Addr
		if strings.Contains(rules, "  ") || strings.HasSuffix(rules, " ") || strings.Contains(rules, ".ra: .ra") {
			t.Fatalf("record %#x %q", r.Addr, rules)
		}
	}
}
