package dwarfinfo

import (
	"slices"
	"testing"

	"symkit/check/internal/naming"
	"symkit/check/internal/pcs"
	"symkit/internal/wire"
)

// TestAddress reads addresses of all forms (DWARF 5 §7.5.5, class address; LLVM's).
func TestAddress(t *testing.T) {
	block := func(b ...byte) []byte { return append([]byte{byte(len(b))}, b...) }
	for _, test := range []struct {
		name string
		form uint16
		data []byte
		want uint64 // 0: no address
	}{
		{"addr", formAddr, []byte{0, 0x10, 0, 0}, 0x1000},
		{"addrx", formAddrx, []byte{1}, 0x2000},
		{"index and offset", formAddrxOffset, []byte{1, 0x10, 0, 0, 0}, 0x2010},
		{"no such index", formAddrxOffset, []byte{9, 0x10, 0, 0, 0}, 0},
		{"indirect", formIndirect, []byte{formAddrx, 1}, 0x2000},
		{"indirect twice", formIndirect, []byte{formIndirect, formIndirect, formAddrx, 1}, 0x2000},
		{"DW_OP_addr", formExprloc, block(0x03, 0, 0x10, 0, 0), 0x1000},
		{"DW_OP_addrx, const4u, plus", formExprloc, block(0xa1, 1, 0x0c, 8, 0, 0, 0, 0x22), 0x2008},
		{"plus_uconst", formExprloc, block(0xfb, 0, 0x23, 7), 0x1007},
		{"const1s, plus", formExprloc, block(0xa1, 1, 0x09, 0xff, 0x22), 0x1fff},
		{"lit, minus", formExprloc, block(0xa1, 1, 0x31, 0x1c), 0x1fff},
		{"nothing", formExprloc, block(), 0},
		{"two values", formExprloc, block(0xa1, 1, 0xa1, 0), 0},
		{"nothing to add", formExprloc, block(0xa1, 1, 0x22), 0},
		{"a register", formExprloc, block(0x50), 0},
		{"cut", formExprloc, block(0x0c, 1), 0},
		{"a number", 0x06, []byte{0, 0x10, 0, 0}, 0},
	} {
		d := &Info{info: test.data, addr: []byte{0, 0x10, 0, 0, 0, 0x20, 0, 0}}
		u := &Unit{in: d, addrSize: 4, version: 5, end: len(test.data)}
		c := wire.New(".debug_info", d.info, false)
		v := u.read(&c, test.form, 0)
		got, ok := u.address(v)
		if ok != (test.want != 0) || ok && got != test.want || c.Err() != nil || c.Len() > 0 {
			t.Errorf("%s: %#x, %v, want %#x, %v", test.name, got, ok, test.want, c.Err())
		}
	}
}

// TestUnitKinds: a vendor's unit is skipped without an error, a reserved type is damage
// (DWARF 5 §7.5.1).
func TestUnitKinds(t *testing.T) {
	for kind, fails := range map[byte]bool{1: false, 0x80: false, 0xff: false} {
		d := &Info{info: []byte{9, 0, 0, 0, 5, 0, kind, 4, 0, 0, 0, 0, 0}}
		d.begin()
		c := wire.New(".debug_info", d.info, false)
		_, ok := d.header(&c)
		if ok != (kind == 1) || (c.Err() != nil) != fails {
			t.Errorf("type %#x: %v, %v", kind, ok, c.Err())
		}
	}
}

// TestPaddingUnits: a unit of version 0 is skipped if the unit has zeros alone, as Zig's linker writes it.
func TestPaddingUnits(t *testing.T) {
	for last, fails := range map[byte]bool{0: false, 1: true} {
		d := &Info{info: []byte{9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last}}
		d.begin()
		c := wire.New(".debug_info", d.info, false)
		_, ok := d.header(&c)
		if ok || (c.Err() != nil) != fails || c.Len() > 0 {
			t.Errorf("last byte %d: %v, %v", last, ok, c.Err())
		}
	}
}

// TestSetAddress: each set_address decides whether the rows after it are of discarded code
// (DWARF 5 §6.2.5.3).
func TestSetAddress(t *testing.T) {
	set := func(addr uint16) []byte { return []byte{0, 5, lneSetAddress, byte(addr), byte(addr >> 8), 0, 0} }
	advance := func(n byte) []byte { return []byte{lnsAdvancePC, n} }
	row, end := []byte{lnsCopy}, []byte{0, 1, lneEndSequence}
	for _, test := range []struct {
		name    string
		program [][]byte
		want    []pcs.Range
	}{
		{"rows at 0 before", [][]byte{row, set(0x1000), row, advance(4), end}, []pcs.Range{{Lo: 0x1000, Hi: 0x1004}}},
		{"code, discarded, code", [][]byte{set(0x1000), row, advance(4), set(0), row, advance(4), set(0x1100), row, advance(2), end},
			[]pcs.Range{{Lo: 0x1000, Hi: 0x1004}, {Lo: 0x1100, Hi: 0x1102}}},
		{"discarded", [][]byte{set(0), row, advance(8), end, set(0x1000), row, advance(1), end}, []pcs.Range{{Lo: 0x1000, Hi: 0x1001}}},
		{"to the end of code", [][]byte{set(0x1ff0), row, set(0x2000), end}, []pcs.Range{{Lo: 0x1ff0, Hi: 0x2000}}},
		{"within code", [][]byte{set(0x1000), row, set(0x1010), row, advance(1), end}, []pcs.Range{{Lo: 0x1000, Hi: 0x1010}, {Lo: 0x1010, Hi: 0x1011}}},
	} {
		header := &lineHeader{opcodeBase: 10, lineRange: 14, minInst: 1, maxOps: 1, left: 1 << 20, lengths: []byte{0, 1, 1, 1, 1, 0, 0, 0, 1}}
		p := lineProgram{lineHeader: header, c: wire.New(".debug_line", slices.Concat(test.program...), false),
			code: pcs.Set{{Lo: 0x1000, Hi: 0x2000}}, paths: naming.NewPaths()}
		err := p.run()
		var got []pcs.Range
		for _, r := range p.ordered() {
			got = append(got, r.Range)
		}
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: %#x, %v, want %#x", test.name, got, err, test.want)
		}
	}
}
