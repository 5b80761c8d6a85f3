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

const (
	exidxAddr = 0x20000
	extabAddr = 0x30000
	codeEnd   = 0x9000
)

// exidxOf builds a table: for each function an address and the second word, or
// the words of its .ARM.extab entry.
type exidxFn struct {
	addr  uint32
	words []uint32
	inTab bool
}

func exidxOf(big bool, fns ...exidxFn) *Exidx {
	var order binary.AppendByteOrder = binary.LittleEndian
	if big {
		order = binary.BigEndian
	}
	x := &Exidx{IndexAddr: exidxAddr, TableAddr: extabAddr, End: codeEnd, BigEndian: big}
	for _, f := range fns {
		place := uint32(exidxAddr + len(x.Index))
		x.Index = order.AppendUint32(x.Index, (f.addr-place)&0x7fffffff)
		if !f.inTab {
			x.Index = order.AppendUint32(x.Index, f.words[0])
			continue
		}
		x.Index = order.AppendUint32(x.Index, (extabAddr+uint32(len(x.Table))-place-4)&0x7fffffff)
		for _, w := range f.words {
			x.Table = order.AppendUint32(x.Table, w)
		}
	}
	return x
}

// inline is compact model 0 with up to three instruction bytes.
func inline(ops ...byte) exidxFn {
	word := uint32(0x80b0b0b0)
	for i, op := range ops {
		shift := 16 - 8*i
		word = word&^(0xff<<shift) | uint32(op)<<shift
	}
	return exidxFn{addr: 0x8000, words: []uint32{word}}
}

// compact is compact model 1 with any number of bytes.
func compact(ops ...byte) exidxFn {
	for len(ops)%4 != 2 {
		ops = append(ops, 0xb0)
	}
	words := []uint32{0x81000000 | uint32(len(ops)-2)/4<<16 | uint32(ops[0])<<8 | uint32(ops[1])}
	for i := 2; i < len(ops); i += 4 {
		words = append(words, binary.BigEndian.Uint32(ops[i:]))
	}
	return exidxFn{addr: 0x8000, words: words, inTab: true}
}

// exidxText renders a row.
func exidxText(r *Row) string {
	var b strings.Builder
	show := func(x Rule) string {
		switch x.Kind {
		case KindReg:
			return fmt.Sprintf("r%d%+d", x.Reg, x.Off)
		case KindMemReg:
			return fmt.Sprintf("[r%d%+d]", x.Reg, x.Off)
		case KindMemCFA:
			return fmt.Sprintf("[cfa%+d]", x.Off)
		case KindUndefined:
			return "undefined"
		}
		return fmt.Sprintf("kind %d", x.Kind)
	}
	fmt.Fprintf(&b, "%x-%x cfa=%s", r.Begin, r.End, show(r.CFA))
	for _, g := range r.Regs {
		fmt.Fprintf(&b, " %s=%s", exidxRegName(g.Reg), show(g.Rule))
	}
	return b.String()
}

func exidxRegName(r Reg) string {
	switch {
	case r >= armD0:
		return fmt.Sprintf("d%d", r-armD0)
	case r >= armS0:
		return fmt.Sprintf("s%d", r-armS0)
	}
	return fmt.Sprintf("r%d", r)
}

// rowsOf renders all rows and errors.
func rowsOf(x *Exidx) string {
	var out []string
	for r, err := range x.Rows() {
		if err != nil {
			out = append(out, err.Error())
		} else {
			out = append(out, exidxText(r))
		}
	}
	return strings.Join(out, "; ")
}

func TestExidxInstructions(t *testing.T) {
	for _, test := range []struct {
		name string
		ops  []byte
		want string
	}{
		{"EHABI32 §10.3 finish", nil, "cfa=r13+0"},
		{"§10.3 00xxxxxx", []byte{0x00}, "cfa=r13+4"},
		{"§10.3 00xxxxxx, largest", []byte{0x3f}, "cfa=r13+256"},
		{"§10.3 01xxxxxx", []byte{0x41}, "cfa=r13-8"},
		{"§10.3 10000000 00000000 refuse", []byte{0x80, 0x00}, "cfa=r13+0 r14=undefined"},
		{"§10.3 1000iiii iiiiiiii", []byte{0x84, 0x09}, "cfa=r13+12 r4=[cfa-12] r7=[cfa-8] r14=[cfa-4]"},
		{"§10.3 pop {pc}", []byte{0x88, 0x01}, "cfa=r13+8 r4=[cfa-8] r14=[cfa-4]"},
		{"§10.3 pop {lr, pc}", []byte{0x8c, 0x00}, "cfa=r13+8 r14=[cfa-4]"},
		{"§10.3 pop {r4, sp, lr}", []byte{0x86, 0x01}, "cfa=[r13+4] r4=[r13+0] r14=[r13+8]"},
		{"§10.3 1001nnnn", []byte{0x9b, 0x40, 0xa8}, "cfa=r11+4 r4=[cfa-8] r14=[cfa-4]"},
		{"§10.3 1001nnnn of a restored register", []byte{0x80, 0x08, 0x97}, "cfa=[r13+0] r7=[r13+0]"},
		{"two bases", []byte{0xa0, 0x97, 0xa8}, "cfa=r7+8 r4=[cfa-8] r14=[cfa-4]"},
		{"two bases, a register of the first", []byte{0xb1, 0x01, 0x97, 0xa8}, "cfa=r7+8 r0=[r13+0] r4=[cfa-8] r14=[cfa-4]"},
		{"§10.3 10100nnn", []byte{0xa2}, "cfa=r13+12 r4=[cfa-12] r5=[cfa-8] r6=[cfa-4]"},
		{"§10.3 10101nnn", []byte{0xaf}, "cfa=r13+36 r4=[cfa-36] r5=[cfa-32] r6=[cfa-28] r7=[cfa-24] r8=[cfa-20] r9=[cfa-16] r10=[cfa-12] r11=[cfa-8] r14=[cfa-4]"},
		{"§10.3 10110001 0000iiii", []byte{0xb1, 0x0a}, "cfa=r13+8 r1=[cfa-8] r3=[cfa-4]"},
		{"§10.3 10110010 uleb128", []byte{0xb2, 0x81, 0x01}, "cfa=r13+1032"},
		{"§10.3 10110011 FSTMFDX", []byte{0xb3, 0x81}, "cfa=r13+20 s16=[cfa-20] s17=[cfa-16] s18=[cfa-12] s19=[cfa-8]"},
		{"§10.3 10110100 authentication code", []byte{0xb5, 0xb4}, "cfa=r13+4"},
		{"§10.3 10111nnn FSTMFDX", []byte{0xb8}, "cfa=r13+12 s16=[cfa-12] s17=[cfa-8]"},
		{"§10.3 11000110 iWMMX", []byte{0xc6, 0x01}, "cfa=r13+16"},
		{"§10.3 11000nnn iWMMX", []byte{0xc1}, "cfa=r13+16"},
		{"§10.3 11000111 iWMMX control", []byte{0xc7, 0x05}, "cfa=r13+8"},
		{"§10.3 11001000 VPUSH", []byte{0xc8, 0x01}, "cfa=r13+16 d16=[cfa-16] d17=[cfa-8]"},
		{"§10.3 11001001 VPUSH", []byte{0xc9, 0x80}, "cfa=r13+8 s16=[cfa-8] s17=[cfa-4]"},
		{"§10.3 11010nnn VPUSH", []byte{0xd1}, "cfa=r13+16 s16=[cfa-16] s17=[cfa-12] s18=[cfa-8] s19=[cfa-4]"},
	} {
		want := "8000-9000 " + test.want
		for _, big := range []bool{false, true} {
			if big && strings.Contains(want, "s16") {
				continue // see TestExidxHalves
			}
			if len(test.ops) <= 3 {
				if got := rowsOf(exidxOf(big, inline(test.ops...))); got != want {
					t.Errorf("%s: %s, want %s", test.name, got, want)
				}
			}
			if got := rowsOf(exidxOf(big, compact(test.ops...))); got != want {
				t.Errorf("%s in .ARM.extab: %s, want %s", test.name, got, want)
			}
		}
	}
}

// In big-endian memory the high half of a double-precision register comes
// first.
func TestExidxHalves(t *testing.T) {
	const want = "8000-9000 cfa=r13+8 s16=[cfa-4] s17=[cfa-8]"
	for _, f := range []exidxFn{inline(0xd0), compact(0xd0)} {
		if got := rowsOf(exidxOf(true, f)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestExidxEntries(t *testing.T) {
	at := func(addr uint32, f exidxFn) exidxFn { f.addr = addr; return f }
	words := func(w ...uint32) exidxFn { return exidxFn{0x8000, w, true} }
	for _, test := range []struct {
		name string
		x    *Exidx
		want string
	}{
		{"none", exidxOf(false), ""},
		{"EHABI32 §6 EXIDX_CANTUNWIND", exidxOf(false, exidxFn{0x8000, []uint32{1}, false}), "8000-9000 cfa=r13+0 r14=undefined"},
		{"§6 two functions, the first in Thumb", exidxOf(false, at(0x8001, inline(0x00)), at(0x8011, inline(0x01))), "8000-8010 cfa=r13+4; 8010-9000 cfa=r13+8"},
		{"two entries for one address", exidxOf(false, at(0x8000, inline(0x00)), at(0x8000, inline(0x01))), "8000-9000 cfa=r13+8"},
		{"a function after the end of the code", exidxOf(false, inline(0x00), at(codeEnd, inline(0x01))), "8000-9000 cfa=r13+4"},
		{"§7.3 compact model 0 in .ARM.extab", exidxOf(false, words(0x80a8b0b0)), "8000-9000 cfa=r13+8 r4=[cfa-8] r14=[cfa-4]"},
		{"§7.3 compact model 2", exidxOf(true, words(0x8201a800, 0x01b0b0b0)), "8000-9000 cfa=r13+20 r4=[cfa-20] r14=[cfa-16]"},
		{"§7.2 generic model", exidxOf(false, words(0x7fff0000, 0x00a8b0b0, 0x12345678)), "8000-9000 cfa=r13+8 r4=[cfa-8] r14=[cfa-4]"},
		{"§7.2 generic model, more words", exidxOf(true, words(0x100, 0x01a80000, 0x00b0b0b0)), "8000-9000 cfa=r13+20 r4=[cfa-20] r14=[cfa-16]"},
	} {
		if got := rowsOf(test.x); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
	for e, err := range exidxOf(false, words(0x100, 0x00a8b0b0)).entries() {
		if err != nil || e.Personality != extabAddr+0x100 || e.CantUnwind {
			t.Errorf("%+v, %v", e, err)
		}
	}
	for range exidxOf(false, inline(), inline()).entries() {
		break
	}
	if !ExidxMachine(elf.EM_ARM, elf.ELFCLASS32) || ExidxMachine(elf.EM_AARCH64, elf.ELFCLASS64) {
		t.Error("machine")
	}
}

func TestExidxErrors(t *testing.T) {
	words := func(w ...uint32) exidxFn { return exidxFn{0x8000, w, true} }
	raw := func(change func(*Exidx)) *Exidx {
		x := exidxOf(false, inline(0x00), exidxFn{0x8100, []uint32{0x80b0b0b0}, false}, compact(0xa8, 0xb0, 0xb0))
		change(x)
		return x
	}
	set := func(x *Exidx, at int, word uint32) { binary.LittleEndian.PutUint32(x.Index[at:], word) }
	for _, test := range []struct {
		name    string
		x       *Exidx
		err     error
		section string
		at      int
		rows    int
	}{
		{"EHABI32 §6 half an entry", raw(func(x *Exidx) { x.Index = x.Index[:12] }), located.ErrTruncated, exidxName, 12, 1},
		{"bit 31 of the first word", raw(func(x *Exidx) { set(x, 8, 1<<31); x.Index = x.Index[:16] }), errExidxEntry, exidxName, 8, 0},
		{"out of order", raw(func(x *Exidx) { x.Index = x.Index[:16]; set(x, 8, (0x7000-exidxAddr-8)&0x7fffffff) }), errExidxOrder, exidxName, 8, 0},
		{"out of order after a damaged one", raw(func(x *Exidx) {
			set(x, 8, (0x8200-exidxAddr-8)&0x7fffffff)
			set(x, 12, 0x81000000)
			set(x, 16, (0x8100-exidxAddr-16)&0x7fffffff)
		}), errExidxOrder, exidxName, 16, 1},
		{"second word with other high bits", exidxOf(false, exidxFn{0x8000, []uint32{0x81000000}, false}), errExidxEntry, exidxName, 4, 0},
		{"outside .ARM.extab", exidxOf(false, exidxFn{0x8000, []uint32{0x100}, false}), errExtab, exidxName, 4, 0},
		{"§7.3 compact model 3", exidxOf(false, words(0x83b0b0b0)), errPersonality, extabName, 0, 0},
		{"§7.3 other high bits", exidxOf(false, words(0x91b0b0b0)), errPersonality, extabName, 0, 0},
		{"§7.3 words cut", exidxOf(false, words(0x8102b0b0, 0)), located.ErrTruncated, extabName, 0, 0},
		{"§7.2 words cut", exidxOf(false, words(0x100)), located.ErrTruncated, extabName, 4, 0},
		{"§10.3 10011101", exidxOf(false, inline(0x9d)), errUnwindOpcode, exidxName, 4, 0},
		{"§10.3 10011111", exidxOf(false, inline(0x9f)), errUnwindOpcode, exidxName, 4, 0},
		{"§10.3 10110001 00000000", exidxOf(false, inline(0xb1, 0)), errUnwindOpcode, exidxName, 4, 0},
		{"§10.3 10110001 xxxxyyyy", exidxOf(false, inline(0xb1, 0x10)), errUnwindOpcode, exidxName, 4, 0},
		{"§10.3 101101nn", exidxOf(false, inline(0xb6)), errUnwindOpcode, exidxName, 4, 0},
		{"§10.3 11000111 00000000", exidxOf(false, inline(0xc7, 0)), errUnwindOpcode, exidxName, 4, 0},
		{"§10.3 11001yyy", exidxOf(false, inline(0xca)), errUnwindOpcode, exidxName, 4, 0},
		{"§10.3 11xxxyyy", exidxOf(false, compact(0xb0, 0xb0)), nil, "", 0, 1},
		{"§10.3 11xxxyyy, spare", exidxOf(false, compact(0x00, 0x01, 0xff)), errUnwindOpcode, extabName, 4, 0},
		{"§10.3 D32", exidxOf(false, inline(0xc8, 0xf1)), errUnwindOpcode, exidxName, 4, 0},
		{"operand missing", exidxOf(false, inline(0x00, 0x00, 0x84)), located.ErrTruncated, exidxName, 4, 0},
		{"uleb128 missing", exidxOf(false, inline(0x00, 0xb2, 0x80)), located.ErrTruncated, exidxName, 4, 0},
		{"uleb128 of more than 32 bits", exidxOf(false, compact(0xb2, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01)), located.ErrOverflow, extabName, 4, 0},
		{"beyond the address space", exidxOf(false, compact(0xb2, 0xff, 0xff, 0xff, 0xff, 0x0f)), errUnwindState, extabName, 4, 0},
		{"pop after the stack pointer", exidxOf(false, compact(0x82, 0x00, 0xa8)), errUnwindState, extabName, 4, 0},
		{"move after the stack pointer", exidxOf(false, inline(0x82, 0x00, 0x00)), errUnwindState, exidxName, 4, 0},
	} {
		rows, failed := 0, error(nil)
		for _, err := range test.x.Rows() {
			if err != nil {
				failed = err
			} else {
				rows++
			}
		}
		if rows != test.rows {
			t.Errorf("%s: %d rows, want %d", test.name, rows, test.rows)
		}
		wantErr(t, test.name, failed, test.err, test.section, test.at)
	}
}

func TestExidxAllocs(t *testing.T) {
	fns := make([]exidxFn, 200)
	for i := range fns {
		fns[i] = compact(0x9b, 0x40, 0xaf, 0xd3)
		fns[i].addr = 0x8000 + uint32(i)*8
	}
	x := exidxOf(false, fns...)
	n := 0
	if got := testing.AllocsPerRun(10, func() {
		for range x.Rows() {
			n++
		}
	}); got > 3 {
		t.Errorf("%v allocations for 200 rows", got)
	}
}

func FuzzExidx(f *testing.F) {
	for _, fn := range []exidxFn{inline(0x84, 0x08), compact(0x9b, 0x40, 0xa8, 0xc9, 0x80), {0x8000, []uint32{0x100, 0x01a80000, 0x00b0b0b0}, true}} {
		x := exidxOf(false, fn, exidxFn{0x8100, []uint32{1}, false})
		f.Add(x.Index, x.Table, false)
	}
	f.Fuzz(func(t *testing.T, index, table []byte, big bool) {
		x := &Exidx{Index: index, IndexAddr: exidxAddr, Table: table, TableAddr: extabAddr, End: codeEnd, BigEndian: big}
		var end uint64
		n := 0
		for r, err := range x.Rows() {
			if n++; n > len(index)/8+1 {
				t.Fatal("more rows than entries")
			}
			if err != nil {
				e, ok := err.(*located.Error)
				if !ok || e.Section == exidxName && e.Offset > len(index) || e.Section == extabName && e.Offset > len(table) {
					t.Fatalf("error without a place: %v", err)
				}
				continue
			}
			if r.Begin < end || r.Begin >= r.End || r.Begin&1 != 0 {
				t.Fatalf("row [%#x, %#x) after %#x", r.Begin, r.End, end)
			}
			end = r.End
			for i := range r.Regs {
				if i > 0 && r.Regs[i].Reg <= r.Regs[i-1].Reg {
					t.Fatalf("registers out of order: %s", exidxText(r))
				}
			}
			text := NewText(&arm)
			text.Begin(armLR)
			text.Add(r)
			if text.Len() != 1 {
				t.Fatalf("row that text cannot say: %s", exidxText(r))
			}
		}
	})
}

func BenchmarkExidx(b *testing.B) {
	fns := make([]exidxFn, 1000)
	for i := range fns {
		fns[i] = compact(0x9b, 0x40, 0xaf, 0xd3)
		fns[i].addr = 0x8000 + uint32(i)
	}
	x := exidxOf(false, fns...)
	b.ReportAllocs()
	for b.Loop() {
		for range x.Rows() {
		}
	}
}

// wantErr compares an error's sentinel, section and offset; with no sentinel
// there must be none.
func wantErr(t *testing.T, name string, err, sentinel error, section string, at int) {
	t.Helper()
	if sentinel == nil && err == nil {
		return
	}
	e, ok := errors.AsType[*located.Error](err)
	if !ok || !errors.Is(err, sentinel) || e.Section != section || e.Offset != at {
		t.Errorf("%s: error %v, want %s+%#x: %v", name, err, section, at, sentinel)
	}
}
