package sframe

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"symkit/cfi"
	"symkit/located"

	"github.com/google/go-cmp/cmp"
)

// ruleText spells a rule for tests: r7+8, (r6-8), c-16, (c-16), undefined.
func ruleText(r cfi.Rule) string {
	switch r.Kind {
	case cfi.KindReg:
		return fmt.Sprintf("r%d%+d", r.Reg, r.Off)
	case cfi.KindMemReg:
		return fmt.Sprintf("(r%d%+d)", r.Reg, r.Off)
	case cfi.KindCFA:
		return fmt.Sprintf("c%+d", r.Off)
	case cfi.KindMemCFA:
		return fmt.Sprintf("(c%+d)", r.Off)
	case cfi.KindUndefined:
		return "undefined"
	case cfi.KindNone:
		return "none"
	}
	return fmt.Sprint(r)
}

// rowsText spells all rows of a section, one FDE per paragraph. A row ends in
// "mangled" and "topmost" where they hold.
func rowsText(t testing.TB, s *Section) string {
	t.Helper()
	var b strings.Builder
	for f, err := range s.FDEs() {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%#x+%d", f.Start, f.Size)
		for _, flag := range []struct {
			set  bool
			name string
		}{{f.PCMask, "mask"}, {f.KeyB, "keyb"}, {f.Signal, "signal"}, {f.Flex, "flex"}} {
			if flag.set {
				b.WriteString(" " + flag.name)
			}
		}
		b.WriteString("\n")
		for row, err := range f.Rows() {
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "  %#x-%#x cfa=%s", row.Begin, row.End, ruleText(row.CFA))
			for _, r := range row.Regs {
				fmt.Fprintf(&b, " r%d=%s", r.Reg, ruleText(r.Rule))
			}
			if row.RASigned {
				b.WriteString(" mangled")
			}
			if e := f.Current(); f.topmostOnly(&e) {
				b.WriteString(" topmost")
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

func parse(t testing.TB, data []byte, opts Options) *Section {
	t.Helper()
	s, err := Parse(data, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// trim takes the indentation of a raw string in a table off.
func trim(text string) string {
	return strings.TrimPrefix(strings.ReplaceAll(text, "\n\t\t\t", "\n"), "\n")
}

// TestWorkedDumps decodes sections byte by byte as producers have written them
// (two.s: .text at 0x1000, .sframe at 0x2050).
func TestWorkedDumps(t *testing.T) {
	const want = `0x1002+6
  0x1002-0x1003 cfa=r7+8 r16=(c-8)
  0x1003-0x1006 cfa=r7+16 r6=(c-16) r16=(c-8)
  0x1006-0x1007 cfa=r6+16 r6=(c-16) r16=(c-8)
  0x1007-0x1008 cfa=r7+8 r6=(c-16) r16=(c-8)
0x1009+15
  0x1009-0x1010 cfa=r7+8 r16=(c-8)
  0x1010-0x1017 cfa=r7+528 r16=(c-8)
  0x1017-0x1018 cfa=r7+8 r16=(c-8)
`
	const fres0, fres1 = " 000308 010510f0 040410f0 050508f0 ", " 000308 07231002 0e0308 "
	for name, dump := range map[string]string{
		"V1 §2.3": "e2de0101 0300f800 02000000 07000000 19000000 00000000 22000000" +
			"b2efffff 06000000 00000000 04000000 00" +
			"b9efffff 0f000000 0f000000 03000000 00" + fres0 + fres1,
		"V2 §2.3": "e2de0201 0300f800 02000000 07000000 19000000 00000000 28000000" +
			"b2efffff 06000000 00000000 04000000 00000000" +
			"b9efffff 0f000000 0f000000 03000000 00000000" + fres0 + fres1,
		"V2 errata 1 §2.3": "e2de0204 0300f800 02000000 07000000 19000000 00000000 28000000" +
			"96efffff 06000000 00000000 04000000 00000000" +
			"89efffff 0f000000 0f000000 03000000 00000000" + fres0 + fres1,
		"V2 neither flag": "e2de0200 0300f800 02000000 07000000 19000000 00000000 28000000" +
			"96efffff 06000000 00000000 04000000 00000000" +
			"89efffff 0f000000 0f000000 03000000 00000000" + fres0 + fres1,
		"V3 §2.3": "e2de0305 0300f800 02000000 07000000 23000000 00000000 20000000" +
			"96efffffffffffff 06000000 00000000" +
			"8defffffffffffff 0f000000 14000000" + "0400000000" + fres0 + "0300000000" + fres1,
	} {
		t.Run(name, func(t *testing.T) {
			data, err := hex.DecodeString(strings.ReplaceAll(dump, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, rowsText(t, parse(t, data, Options{Addr: 0x2050, ABI: AMD64}))); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// TestRelocatable: the flags do not matter, fields count from themselves.
func TestRelocatable(t *testing.T) {
	for _, head := range []string{"chunk v1 amd64\n", "chunk v2 amd64\n", "chunk v2 amd64 pcrel\n", "chunk v3 amd64 pcrel\n"} {
		s := parse(t, assemble(t, head+good), Options{Addr: 0x10000, Relocatable: true})
		f, err := s.Chunks[0].FDE(0)
		if err != nil || f.Start != 0x1201c {
			t.Errorf("%q: start %#x, %v; want 0x1201c", head, f.Start, err)
		}
	}
}

// TestRows holds the rows that the sections assembled from text stand for.
func TestRows(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"§2.3.2 repeating blocks, the last one short", `
			chunk v3 amd64 sorted pcrel
			fde 0 40 addr1 mask 16
			fre 0 sp 8
			fre 11 sp 16`, `
			0x401c+40 mask
			  0x401c-0x4027 cfa=r7+8 r16=(c-8)
			  0x4027-0x402c cfa=r7+16 r16=(c-8)
			  0x402c-0x4037 cfa=r7+8 r16=(c-8)
			  0x4037-0x403c cfa=r7+16 r16=(c-8)
			  0x403c-0x4044 cfa=r7+8 r16=(c-8)
			`},
		{"V1 repeating blocks are of 16", `
			chunk v1 amd64 sorted
			fde 0 32 addr1 mask 0
			fre 0 sp 8`, `
			0x4000+32 mask
			  0x4000-0x4010 cfa=r7+8 r16=(c-8)
			  0x4010-0x4020 cfa=r7+8 r16=(c-8)
			`},
		{"a block longer than the function", `
			chunk v2 amd64 sorted
			fde 0 8 addr1 mask 16
			fre 0 sp 8
			fre 11 sp 16`, `
			0x4000+8 mask
			  0x4000-0x4008 cfa=r7+8 r16=(c-8)
			`},
		{"§2.4 equal starts, the last wins; start at the end is dropped", `
			chunk v2 amd64 sorted
			fde 0 8 addr1
			fre 0 sp 8
			fre 4 sp 16
			fre 4 sp 24
			fre 8 sp 32`, `
			0x4000+8
			  0x4000-0x4004 cfa=r7+8 r16=(c-8)
			  0x4004-0x4008 cfa=r7+24 r16=(c-8)
			`},
		{"§2.4 PCs before the first FRE have no row", `
			chunk v2 amd64 sorted
			fde 0 8 addr4
			fre 4 sp 8`, `
			0x4000+8
			  0x4004-0x4008 cfa=r7+8 r16=(c-8)
			`},
		{"functions without PCs, without rows", `
			chunk v3 amd64 sorted pcrel
			fde 0 0 addr1
			fre 0 sp 8
			fde 0 10 addr1 signal`, `
			0x401c+0
			0x402c+10 signal
			`},
		{"§3.1.1 AMD64, FP and RA fixed", handMade["V3 fixed FP"], `
			0x401c+64
			  0x401c-0x4020 cfa=r7+8 r6=(c-16) r16=(c-8)
			  0x4020-0x4024 cfa=r7+16 r6=(c-16) r16=(c-8)
			  0x4024-0x405c cfa=none r16=undefined
			0x4090+64 flex
			  0x4090-0x4094 cfa=r7+8 r6=(c-16) r16=(c-8)
			  0x4094-0x40d0 cfa=r7+8 r6=(r3+4) r16=(c-8)
			`},
		{"§3.1.2 AArch64", handMade["V2 aarch64, repeating"], `
			0x401c+100 mask keyb
			  0x401c-0x4020 cfa=r31+0
			  0x4020-0x4024 cfa=r31+16 r30=(c-8) mangled
			  0x4024-0x402c cfa=r31+16 r29=(c-16) r30=(c-8) mangled
			  0x402c-0x4030 cfa=r31+0
			  0x4030-0x4034 cfa=r31+16 r30=(c-8) mangled
			  0x4034-0x403c cfa=r31+16 r29=(c-16) r30=(c-8) mangled
			  0x403c-0x4040 cfa=r31+0
			  0x4040-0x4044 cfa=r31+16 r30=(c-8) mangled
			  0x4044-0x404c cfa=r31+16 r29=(c-16) r30=(c-8) mangled
			  0x404c-0x4050 cfa=r31+0
			  0x4050-0x4054 cfa=r31+16 r30=(c-8) mangled
			  0x4054-0x405c cfa=r31+16 r29=(c-16) r30=(c-8) mangled
			  0x405c-0x4060 cfa=r31+0
			  0x4060-0x4064 cfa=r31+16 r30=(c-8) mangled
			  0x4064-0x406c cfa=r31+16 r29=(c-16) r30=(c-8) mangled
			  0x406c-0x4070 cfa=r31+0
			  0x4070-0x4074 cfa=r31+16 r30=(c-8) mangled
			  0x4074-0x407c cfa=r31+16 r29=(c-16) r30=(c-8) mangled
			  0x407c-0x4080 cfa=r31+0
			`},
		{"§3.1.2 AArch64, RA padding", handMade["V3 aarch64, padding"], `
			0x401c+64
			  0x401c-0x4020 cfa=r31+16 r29=(c-16)
			  0x4020-0x405c cfa=r31+16
			`},
		{"§3.1.3 s390x", handMade["V3 s390x, default"], `
			0x401c+64
			  0x401c-0x4020 cfa=r15+160 r15=c-160 topmost
			  0x4020-0x4024 cfa=r15+160 r11=(c-72) r14=(c-48) r15=c-160
			  0x4024-0x4028 cfa=r11+336 r11=(c-72) r15=c-160 topmost
			  0x4028-0x402c cfa=r15+8160 r14=(c-1001) r15=c-160
			  0x402c-0x405c cfa=none r14=undefined
			`},
		{"V2 errata 2 §3.1.3 s390x, registers in words", handMade["V2 s390x, registers in words"], `
			0x401c+64
			  0x401c-0x4020 cfa=r15+160 r15=c-160 topmost
			  0x4020-0x4024 cfa=r15+160 r14=r16+0 r15=c-160 topmost
			  0x4024-0x4028 cfa=r15+160 r11=r17+0 r14=r16+0 r15=c-160 topmost
			  0x4028-0x402c cfa=r15+160 r11=r17+0 r15=c-160 topmost
			  0x402c-0x4030 cfa=r15+168 r11=r17+0 r14=(c-48) r15=c-160 topmost
			  0x4030-0x405c cfa=none r14=undefined
			`},
		{"§3.2 flexible s390x", handMade["V3 s390x, flexible"], `
			0x401c+64 signal flex
			  0x401c-0x4020 cfa=r15+160 r15=c-160 topmost
			  0x4020-0x4024 cfa=r15+168 r14=r16+0 r15=c-160 topmost
			  0x4024-0x4028 cfa=r11+0 r11=r17+0 r14=r16+0 r15=c-160 topmost
			  0x4028-0x405c cfa=r10+160 r11=(r17+8) r15=c-160 topmost
			`},
		{"§3.2 flexible AMD64", handMade["V3 flexible, RA and FP from registers and memory"] + "\nfre 8 reg 0x39 8 8 -16", `
			0x401c+64 flex
			  0x401c-0x401d cfa=r7+8 r16=(c-8)
			  0x401d-0x401e cfa=r7+8 r16=(c-8)
			  0x401e-0x401f cfa=r7+16 r16=(c-16)
			  0x401f-0x4020 cfa=(r6-8) r6=(r6+0) r16=(c-8)
			  0x4020-0x4021 cfa=r10+0 r6=(r3+24) r16=r2+0
			  0x4021-0x4022 cfa=r130+1000 r6=(c-16) r16=(r2-300)
			  0x4022-0x4023 cfa=r130+100000 r6=(c-70000) r16=(r2-300000)
			  0x4023-0x4024 cfa=none r16=undefined
			  0x4024-0x405c cfa=r7+8 r16=c-16
			`},
		{"an auxiliary header, two chunks, padding", `
			chunk v3 amd64 sorted pcrel aux 8
			fde 0 8 addr1
			fre 0 sp 8
			zeros 3
			chunk v2 amd64 sorted
			fde 0 8 addr1
			fre 0 sp 8
			zeros 40`, `
			0x4024+8
			  0x4024-0x402c cfa=r7+8 r16=(c-8)
			0x403f+8
			  0x403f-0x4047 cfa=r7+8 r16=(c-8)
			`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := parse(t, assemble(t, c.text), Options{Addr: 0x4000})
			if d := cmp.Diff(trim(c.want), rowsText(t, s)); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			for f := range s.FDEs() {
				for e, err := range f.FREs() {
					if _, ok, _ := f.Find(f.Start + uint64(e.Start)); err != nil || !ok && e.Start < f.Size {
						t.Errorf("FRE %+v: %v, found %v", e, err, ok)
					}
				}
			}
		})
	}
}

// TestEmpty: nothing, and nothing but padding, is a section without chunks.
func TestEmpty(t *testing.T) {
	if s := parse(t, nil, Options{}); len(s.Chunks) != 0 {
		t.Error("chunks in an empty section")
	}
	if s := parse(t, assemble(t, "chunk v3 amd64"), Options{}); len(s.Chunks) != 1 || s.Chunks[0].NumFDEs != 0 {
		t.Error("a header alone")
	}
}

// TestHeader: what a row does not show.
func TestHeader(t *testing.T) {
	s := parse(t, assemble(t, "chunk v2 amd64 sorted fp aux 2 fixedfp -16\npatch 2 28 0x201"), Options{})
	c := &s.Chunks[0]
	want := Header{Version: 2, Flags: fdeSorted | framePointer, ABI: AMD64, FixedFP: -16, FixedRA: -8, AuxLen: 2}
	if d := cmp.Diff(want, c.Header); d != "" {
		t.Error(d)
	}
	if aux := c.aux(); string(aux) != "\x01\x02" {
		t.Errorf("auxiliary header %x", aux)
	}
}

// TestIndex: functions out of order, over two chunks, overlapping, damaged.
func TestIndex(t *testing.T) {
	s := parse(t, assemble(t, `
		chunk v2 amd64 sorted
		fde 0x300 16 addr1
		fre 0 sp 8
		fde 0x100 0x20 addr1
		fre 0 sp 8
		fde 0x110 8 addr1
		fre 0 sp 8
		fde 0x400 0 addr1
		fde 0x400 8 addr1 mask 0
		chunk v3 amd64 pcrel
		fde 0 16 addr1
		fre 0 sp 8`), Options{Addr: 0x1000})
	x, errs := NewIndex(s)
	if len(errs) != 1 || errs[0].(*located.Error).Offset != 28+4*20+17 {
		t.Errorf("errors %v", errs)
	}
	if x.Overlaps != 1 {
		t.Errorf("%d overlaps", x.Overlaps)
	}
	for pc, want := range map[uint64]uint64{
		0x0: 0, 0x1300: 0x1300, 0x130f: 0x1300, 0x1310: 0, 0x1100: 0x1100, 0x110f: 0x1100,
		0x1110: 0x1110, 0x1117: 0x1110, 0x1118: 0, 0x1400: 0, ^uint64(0): 0,
		s.opts.Addr + uint64(s.Chunks[1].Offset) + headerSize: s.opts.Addr + uint64(s.Chunks[1].Offset) + headerSize,
	} {
		if f, ok := x.Find(pc); f.Start != want || ok != (want != 0) {
			t.Errorf("Find(%#x) = %#x, %v; want %#x", pc, f.Start, ok, want)
		}
	}
	if x, errs := NewIndex(parse(t, nil, Options{})); len(errs) != 0 || x.Overlaps != 0 {
		t.Error("empty section")
	}
}

// TestRowsAllocs: iterating costs one allocation, for the FDE, whatever the
// number of rows.
func TestRowsAllocs(t *testing.T) {
	s := parse(t, benchSection(), Options{})
	if n := testing.AllocsPerRun(10, func() { countRows(t, s) }); n > 1 {
		t.Errorf("%v allocations", n)
	}
}
