package cfi

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"symkit/located"
)

// Every layout of DWARF 5 §6.4.1 and LSB 5.0 §10.6.1 gives the same row.
func TestSectionLayouts(t *testing.T) {
	for _, kind := range []SectionKind{EHFrame, DebugFrame} {
		for _, version := range []byte{1, 3, 4} {
			for _, addrSize := range []int{4, 8} {
				for _, flags := range []int{0, 1, 2, 3} {
					b := newBuild(kind)
					b.AddrSize, b.wide, b.BigEndian = addrSize, flags&1 != 0, flags&2 != 0
					c := b.cie(version, "", nil, usualCIE)
					b.fde(c, b.pcs(0x1000, 0x10), nil)
					name := fmt.Sprintf("%v version %d address %d flags %d", kind, version, addrSize, flags)
					t.Run(name, func(t *testing.T) {
						wantLines(t, dump(&b.Section), "1000-1010 r7+8 16=c-8")
					})
				}
			}
		}
	}
}

func TestTwoFDEsOneCIE(t *testing.T) {
	b := newBuild(EHFrame)
	c := b.cie(1, "", nil, usualCIE)
	b.fde(c, b.pcs(0x1000, 1), nil)
	b.fde(c, b.pcs(0x2000, 1), nil)
	var cies []*CIE
	for f, err := range b.FDEs() {
		if err != nil {
			t.Fatal(err)
		}
		cies = append(cies, f.CIE)
	}
	if len(cies) != 2 || cies[0] != cies[1] || cies[0].initial.CFA.Off != 8 || len(cies[0].initial.Regs) != 1 {
		t.Errorf("%v", cies)
	}
}

// A CIE may come after its FDE in .debug_frame.
func TestCIEAfterFDE(t *testing.T) {
	b := newBuild(DebugFrame)
	b.fde(24, b.pcs(0x1000, 1), nil)
	if at := b.cie(3, "", nil, usualCIE); at != 24 {
		t.Fatal(at)
	}
	wantLines(t, dump(&b.Section), "1000-1001 r7+8 16=c-8")
}

func TestSegmentSelector(t *testing.T) {
	b := newBuild(DebugFrame)
	c := b.entry(^uint64(0), append([]byte{4, 0, 8, 2, 1, 0x78, 16}, asm(usualCIE)...))
	b.fde(c, append([]byte{7, 7}, b.pcs(0x1000, 1)...), nil)
	wantLines(t, dump(&b.Section), "1000-1001 r7+8 16=c-8")
}

func TestOtherAddressSize(t *testing.T) {
	b := newBuild(DebugFrame)
	c := b.entry(^uint64(0), append([]byte{4, 0, 4, 0, 1, 0x78, 16}, asm(usualCIE)...))
	b.AddrSize = 4
	pcs := b.pcs(0x1000, 1)
	b.AddrSize = 8
	b.fde(c, pcs, nil)
	wantLines(t, dump(&b.Section), "1000-1001 r7+8 16=c-8")
}

// crtend.o's terminator, in the middle when it was not linked last.
func TestTerminatorInTheMiddle(t *testing.T) {
	b := newBuild(EHFrame)
	c := b.cie(1, "", nil, usualCIE)
	b.fde(c, b.pcs(0x1000, 1), nil)
	b.Data = append(b.Data, 0, 0, 0, 0, 0, 0, 0, 0)
	c = b.cie(1, "", nil, "def_cfa 7 16")
	b.fde(c, b.pcs(0x2000, 1), nil)
	b.Data = append(b.Data, 0, 0, 0, 0)
	wantLines(t, dump(&b.Section), "1000-1001 r7+8 16=c-8", "2000-2001 r7+16")
}

// Two lengths that cannot be trusted: what is before them is kept.
func TestFramingErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		tail []byte
		err  error
		at   int
	}{
		{"length beyond the section", []byte{9, 0, 0, 0, 1, 2, 3, 4}, located.ErrTruncated, 0},
		{"half a length", []byte{9, 0}, located.ErrTruncated, 0},
		{"half a 64-bit length", []byte{0xff, 0xff, 0xff, 0xff, 1, 0, 0}, located.ErrTruncated, 4},
		{"reserved length", []byte{0xf0, 0xff, 0xff, 0xff}, located.ErrReserved, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := oneFDE(usualCIE, "")
			at := len(b.Data)
			b.Data = append(b.Data, c.tail...)
			n, failed := 0, error(nil)
			for _, err := range b.FDEs() {
				n++
				failed = err
			}
			wantError(t, failed, c.err, at+c.at)
			if n != 2 {
				t.Errorf("%d entries, want the FDE and the error", n)
			}
		})
	}
}

// A damaged FDE or CIE is lost alone: the FDE after it comes. Offsets count
// from the damaged entry.
func TestDamagedEntries(t *testing.T) {
	const id, body = 4, 8
	cieOf := func(kind SectionKind, bytes ...byte) func(b *build) {
		return func(b *build) {
			id := ^uint64(0)
			if kind == EHFrame {
				id = 0
			}
			c := b.entry(id, bytes)
			b.fde(c, b.pcs(0x1000, 1), nil)
		}
	}
	for _, c := range []struct {
		name string
		kind SectionKind
		make func(b *build)
		err  error
		cie  int // offset of the inner error from the CIE, or
		fde  int // of the error from the FDE
	}{
		{"CIE version 2", EHFrame, cieOf(EHFrame, 2, 0, 1, 1, 16), errVersion, body, 0},
		{"CIE version 5", DebugFrame, cieOf(DebugFrame, 5, 0, 1, 1, 16), errVersion, body, 0},
		{"CIE empty", EHFrame, cieOf(EHFrame), located.ErrTruncated, body, 0},
		{"augmentation unterminated", EHFrame, cieOf(EHFrame, 1, 'z', 'R'), located.ErrUnterminated, body + 1, 0},
		{"augmentation unknown", EHFrame, cieOf(EHFrame, 1, 'q', 0, 1, 1, 16), errAugmentation, body + 1, 0},
		{"R after an unknown letter", EHFrame, cieOf(EHFrame, 1, 'z', 'q', 'R', 0, 1, 1, 16, 2, 0, 0), errAugmentation, body + 1, 0},
		{"augmentation half known", EHFrame, cieOf(EHFrame, 1, 'S', 'q', 0, 1, 1, 16), errAugmentation, body + 1, 0},
		{"augmentation data beyond", EHFrame, cieOf(EHFrame, 1, 'z', 'R', 0, 1, 1, 16, 9, 0), located.ErrTruncated, body + 8, 0},
		{"augmentation data too short", EHFrame, cieOf(EHFrame, 1, 'z', 'R', 0, 1, 1, 16, 0), located.ErrTruncated, body + 8, 0},
		{"address size", DebugFrame, cieOf(DebugFrame, 4, 0, 3, 0, 1, 1, 16), errAddrSize, body + 2, 0},
		{"FDE encoding without meaning", EHFrame, cieOf(EHFrame, 1, 'z', 'R', 0, 1, 1, 16, 1, 0x05), errEncoding, body + 8, 0},
		{"FDE encoding omit", EHFrame, cieOf(EHFrame, 1, 'z', 'R', 0, 1, 1, 16, 1, 0xff), errEncoding, body + 8, 0},
		{"FDE encoding of base 6", EHFrame, cieOf(EHFrame, 1, 'z', 'R', 0, 1, 1, 16, 1, 0x6b), errEncoding, body + 8, 0},
		{"LSDA encoding aligned data4", EHFrame, cieOf(EHFrame, 1, 'z', 'L', 0, 1, 1, 16, 1, 0x5b), errEncoding, body + 8, 0},
		{"personality cut off", EHFrame, cieOf(EHFrame, 1, 'z', 'P', 0, 1, 1, 16, 2, 0x0b, 1), located.ErrTruncated, body + 9, 0},
		{"column too large", EHFrame, cieOf(EHFrame, 3, 0, 1, 1, 0xff, 0xff, 0xff, 0xff, 0x7f), errRegister, body + 4, 0},
		{"restore in a CIE", EHFrame, cieOf(EHFrame, 1, 0, 1, 1, 16, opRestore|3), errInCIE, body + 5, 0},
		{"advance in a CIE", EHFrame, cieOf(EHFrame, 1, 0, 1, 1, 16, 0, opAdvanceLoc|3), errInCIE, body + 6, 0},
		{"set_loc in a CIE", EHFrame, cieOf(EHFrame, 1, 0, 1, 1, 16, 1, 0, 0, 0, 0, 0, 0, 0, 0), errInCIE, body + 5, 0},
		{"CIE pointer before the section", EHFrame, func(b *build) { b.entry(0x1000, nil) }, errCIEPointer, 0, id},
		{"CIE pointer to itself", EHFrame, func(b *build) { b.entry(4, b.pcs(1, 1)) }, errCIEPointer, 0, 0},
		{"CIE pointer beyond", DebugFrame, func(b *build) { b.entry(0x1000, nil) }, errCIEPointer, 0, id},
		{"CIE pointer to an FDE", DebugFrame, func(b *build) { b.entry(0, b.pcs(1, 1)) }, errCIEPointer, 0, 0},
		{"no space for the id", EHFrame, func(b *build) { b.Data = append(b.Data, 2, 0, 0, 0, 9, 9) }, located.ErrTruncated, 0, id},
		{"FDE cut off", EHFrame, func(b *build) { b.fde(b.cie(1, "", nil, ""), make([]byte, 15), nil) }, located.ErrTruncated, 0, body + 8},
		{"range wraps", EHFrame, func(b *build) { b.fde(b.cie(1, "", nil, ""), b.pcs(^uint64(0), 2), nil) }, errRange, 0, body},
		{"FDE augmentation beyond", EHFrame, func(b *build) {
			b.fde(b.cie(1, "zR", []byte{0}, ""), append(b.pcs(1, 2), 1), nil)
		}, located.ErrTruncated, 0, body + 17},
		{"LSDA cut off", EHFrame, func(b *build) {
			b.fde(b.cie(1, "zL", []byte{3}, ""), append(b.pcs(1, 2), 2, 1, 1), nil)
		}, located.ErrTruncated, 0, body + 17},
		{"indirect without reader", EHFrame, func(b *build) {
			b.fde(b.cie(1, "zR", []byte{0x80}, ""), append(b.pcs(1, 2), 0), nil)
		}, errIndirect, 0, body},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBuild(c.kind)
			c.make(b)
			from := len(b.Data)
			good := b.cie(1, "", nil, usualCIE)
			b.fde(good, b.pcs(0x2000, 1), nil)
			var failed []error
			for f, err := range b.FDEs() {
				if err != nil {
					failed = append(failed, err)
				} else if f.Begin != 0x2000 {
					t.Errorf("FDE %#x came", f.Begin)
				}
			}
			if len(failed) != 1 {
				t.Fatalf("errors %v", failed)
			}
			checkDamage(t, b, failed[0], c.err, c.cie, c.fde, from)
		})
	}
}

// checkDamage looks for the error of a CIE inside that of its FDE.
func checkDamage(t *testing.T, b *build, err, is error, cie, fde, from int) {
	t.Helper()
	outer, _ := errors.AsType[*located.Error](err)
	if outer == nil || outer.Offset > from {
		t.Fatalf("error %v outside the damaged entry", err)
	}
	if inner, ok := errors.AsType[*located.Error](outer.Err); ok {
		wantError(t, inner, is, cie)
		return
	}
	last := 0
	if n := len(b.pos); n > 3 { // a CIE before it, and the two good ones
		last = b.pos[n-3]
	}
	wantError(t, err, is, last+fde)
}

// CIE pointers into the middle of entries would make each CIE cost the rest of
// the section.
func TestOverlappingCIEs(t *testing.T) {
	b := newBuild(DebugFrame)
	// A CIE whose instructions hold another whole CIE, as an expression.
	inner := newBuild(DebugFrame)
	inner.cie(1, "", nil, usualCIE+strings.Repeat(";nop", 40))
	block := append([]byte{opDefCFAExpression, byte(len(inner.Data))}, inner.Data...)
	outer := b.entry(^uint64(0), append([]byte{1, 0, 1, 0x78, 16}, block...))
	b.fde(outer, b.pcs(0x1000, 1), nil)
	b.fde(outer+15, b.pcs(0x2000, 1), nil)
	got := dump(&b.Section)
	if len(got) != 2 || !strings.HasSuffix(got[1], errCIEPointer.Error()) {
		t.Errorf("%q", got)
	}
}

func TestAugmentations(t *testing.T) {
	data := func(s string) []byte { return hexBytes(s) }
	for _, c := range []struct {
		aug   string
		data  string
		check func(*CIE) bool
	}{
		{"z", "", func(c *CIE) bool { return c.LSDAEncoding == 0xff && !c.Personality.Valid }},
		{"zR", "00", func(c *CIE) bool { return c.FDEEncoding == 0 }},
		{"zRS", "00", func(c *CIE) bool { return c.Signal }},
		{"zSR", "00", func(c *CIE) bool { return c.Signal }},
		{"zRB", "00", func(c *CIE) bool { return c.BKey && !c.MTE }},
		{"zRBG", "00", func(c *CIE) bool { return c.BKey && c.MTE }},
		{"zPLR", "0345230100" + "03" + "00", func(c *CIE) bool {
			return c.Personality == Pointer{Addr: 0x12345, Valid: true} && c.LSDAEncoding == 3
		}},
		// Indirect, relative to its own place at 0x10011.
		{"zP", "9b00010000", func(c *CIE) bool {
			return c.Personality == Pointer{Addr: 0x10011 + 0x100, Indirect: true, Valid: true}
		}},
		{"zP", "9b00000000", func(c *CIE) bool { return !c.Personality.Valid }},
		{"zqS", "0102030405", func(c *CIE) bool { return c.Signal }},
		{"zRq", "000203", func(c *CIE) bool { return c.FDEEncoding == 0 }},
		{"armcc+", "", func(c *CIE) bool { return true }},
		// gas, in .debug_frame: letters without data need no 'z'.
		{"S", "", func(c *CIE) bool { return c.Signal && !c.BKey }},
		{"B", "", func(c *CIE) bool { return c.BKey && !c.Signal }},
		{"SBG", "", func(c *CIE) bool { return c.Signal && c.BKey && c.MTE }},
	} {
		t.Run(c.aug, func(t *testing.T) {
			b := newBuild(EHFrame)
			cie := b.cie(1, c.aug, data(c.data), usualCIE)
			fields := b.pcs(0x1000, 1)
			if c.aug[0] == 'z' {
				fields = append(fields, 4, 0, 0, 0, 0)
			}
			b.fde(cie, fields, nil)
			wantLines(t, dump(&b.Section), "1000-1001 r7+8 16=c-8")
			for f := range b.FDEs() {
				if !c.check(f.CIE) || f.CIE.Augmentation != c.aug {
					t.Errorf("%+v", f.CIE)
				}
			}
		})
	}
	t.Run("eh", func(t *testing.T) { // GCC 2
		b := newBuild(EHFrame)
		body := append([]byte("\x01eh\x00"), 1, 2, 3, 4, 5, 6, 7, 8, 1, 0x78, 16)
		b.fde(b.entry(0, append(body, asm(usualCIE)...)), b.pcs(0x1000, 1), nil)
		wantLines(t, dump(&b.Section), "1000-1001 r7+8 16=c-8")
	})
}

// Every format and base of DW_EH_PE gives the PC 0x12340 (LSB 5.0 §10.5.1).
func TestPointerEncodings(t *testing.T) {
	const pc, text, got = 0x12340, 0x11000, 0x13000
	formats := map[byte]func(uint64) []byte{
		0x00: func(v uint64) []byte { return appendInt(nil, v, 8, false) },
		0x01: func(v uint64) []byte { return binary.AppendUvarint(nil, v) },
		0x02: func(v uint64) []byte { return appendInt(nil, v, 2, false) },
		0x03: func(v uint64) []byte { return appendInt(nil, v, 4, false) },
		0x04: func(v uint64) []byte { return appendInt(nil, v, 8, false) },
		0x08: func(v uint64) []byte { return appendInt(nil, v, 8, false) },
		0x09: func(v uint64) []byte { return appendSLEB(nil, int64(v)) },
		0x0a: func(v uint64) []byte { return appendInt(nil, v, 2, false) },
		0x0b: func(v uint64) []byte { return appendInt(nil, v, 4, false) },
		0x0c: func(v uint64) []byte { return appendInt(nil, v, 8, false) },
	}
	for format, put := range formats {
		for base, from := range map[byte]uint64{0: 0, 0x10: 1, 0x20: text, 0x30: got, 0x40: 0} {
			b := newBuild(EHFrame)
			b.TextBase, b.DataBase = text, got
			enc := base | format
			c := b.cie(1, "zR", []byte{enc}, usualCIE)
			if from == 1 {
				from = b.Addr + uint64(len(b.Data)) + 8
			}
			v := pc - from
			want := uint64(pc)
			switch { // what does not fit
			case format == 0x02:
				want = from + v&0xffff
			case format == 0x0a:
				want = from + uint64(int64(int16(v)))
			case format == 0x03 && int64(v) < 0:
				want = from + v&0xffffffff
			}
			fields := append(put(v), put(0x10)...)
			b.fde(c, append(fields, 0), nil)
			wantLines(t, dump(&b.Section), fmt.Sprintf("%x-%x r7+8 16=c-8", want, want+0x10))
		}
	}
}

// set_loc counts in the FDE's encoding.
func TestSetLocEncoded(t *testing.T) {
	b := newBuild(EHFrame)
	c := b.cie(1, "zR", []byte{0x4b}, usualCIE) // relative to the function
	b.fde(c, hexBytes("00200000"+"10000000"+"00"), append([]byte{opSetLoc, 4, 0, 0, 0}, asm("def_cfa_offset 16")...))
	wantLines(t, dump(&b.Section), "2000-2004 r7+8 16=c-8", "2004-2010 r7+16 16=c-8")
	if b.Name = "moved"; (&b.Section).name() != "moved" {
		t.Error(b.Name)
	}
}

// A Reader of a damaged FDE.
func TestReaderDamaged(t *testing.T) {
	b := newBuild(EHFrame)
	b.Data = append(b.Data, 2, 0, 0, 0, 9, 9)
	_, err := b.NewReader().FDE(0)
	wantError(t, err, located.ErrTruncated, 4)
}

func TestAlignedAndIndirectPointers(t *testing.T) {
	b := newBuild(EHFrame)
	b.Addr = 0x10003
	c := b.cie(1, "zR", []byte{peAligned}, usualCIE)
	pad := int(-(b.Addr + uint64(len(b.Data)) + 8) & 7)
	b.fde(c, append(append(make([]byte, pad), b.pcs(0x1000, 0x10)...), 0), nil)
	wantLines(t, dump(&b.Section), "1000-1010 r7+8 16=c-8")

	b = newBuild(EHFrame)
	b.Deref = func(addr uint64) (uint64, bool) { return 0x1000, addr == 0x5000 }
	c = b.cie(1, "zR", []byte{peIndirect | peUdata4}, usualCIE)
	b.fde(c, append(hexBytes("00500000"), hexBytes("1000000000")...), nil)
	b.fde(c, append(hexBytes("00600000"), hexBytes("1000000000")...), nil)
	got := dump(&b.Section)
	if len(got) != 2 || got[0] != "1000-1010 r7+8 16=c-8" || !strings.HasSuffix(got[1], errIndirect.Error()) {
		t.Errorf("%q", got)
	}
}

// Tombstones are the caller's to judge.
func TestRawBeginAndLSDA(t *testing.T) {
	b := newBuild(EHFrame)
	c := b.cie(1, "zRL", []byte{0x1b, 0x1b}, usualCIE)
	at := b.fde(c, hexBytes("00000000"+"10000000"+"04"+"20000000"), nil)
	for f, err := range b.FDEs() {
		pc := b.Addr + uint64(at) + 8
		if err != nil || f.RawBegin != 0 || f.Begin != pc || f.End != pc+16 ||
			f.LSDA != (Pointer{Addr: pc + 9 + 0x20, Valid: true}) {
			t.Errorf("%+v, %v", f, err)
		}
	}
}

func TestAddressesOf32Bits(t *testing.T) {
	b := newBuild(EHFrame)
	b.AddrSize, b.Addr, b.Machine = 4, 0xfffff000, elf.EM_386
	c := b.cie(1, "zR", []byte{0x1b}, usualCIE)
	b.fde(c, hexBytes("00200000"+"10000000"+"00"), nil)
	pc := uint32(b.Addr) + uint32(len(b.Data)-9) + 0x2000
	wantLines(t, dump(&b.Section), fmt.Sprintf("%x-%x r7+8 16=c-8", pc, pc+16))
}

func TestReaderErrors(t *testing.T) {
	b := oneFDE(usualCIE, "")
	for off, want := range map[uint64]error{0: errNoFDE, 1 << 40: located.ErrOffset, uint64(len(b.Data)): located.ErrTruncated} {
		if _, err := b.NewReader().FDE(off); !errors.Is(err, want) {
			t.Errorf("FDE(%#x): %v, want %v", off, err, want)
		}
	}
	b.AddrSize = 3
	_, err := b.NewReader().FDE(0)
	wantError(t, err, errAddrSize, 0)
	for _, err := range b.FDEs() {
		wantError(t, err, errAddrSize, 0)
	}
}

func TestEmptySection(t *testing.T) {
	for f, err := range (&Section{AddrSize: 8}).FDEs() {
		t.Error(f, err)
	}
}

// FuzzSection: no input makes FDEs or rows misbehave; see checkSection.
func FuzzSection(f *testing.F) {
	f.Add(synthetic().Data[:200], uint8(0), uint8(62))
	f.Add(oneFDE(usualCIE, "advance_loc 4; def_cfa_offset 16").Data, uint8(1), uint8(62))
	b := newBuild(EHFrame)
	b.cie(1, "zPLRSBG", hexBytes("9b000100001b1b"), usualCIE)
	b.fde(0, hexBytes("0000000010000000"+"04"+"20000000"), asm("GNU_window_save"))
	f.Add(b.Data, uint8(0), uint8(183))
	f.Fuzz(func(t *testing.T, data []byte, flags, machine uint8) {
		s := &Section{Kind: SectionKind(flags & 1), Data: data, Addr: 0x1000, AddrSize: 8,
			BigEndian: flags&2 != 0, Machine: elf.Machine(machine)}
		if flags&4 != 0 {
			s.AddrSize = 4
		}
		checkSection(t, s)
	})
}
