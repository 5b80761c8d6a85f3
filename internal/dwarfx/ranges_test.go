package dwarfx

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"symkit/located"
)

// rleKinds are the kinds of range list entries (DWARF 5 §7.25) with their
// operands: x an index or length, a an address.
var rleKinds = map[string]struct {
	code byte
	args string
}{
	"end": {rleEnd, ""}, "base_addressx": {rleBaseAddressx, "x"}, "startx_endx": {rleStartxEndx, "xx"},
	"startx_length": {rleStartxLength, "xx"}, "offset_pair": {rleOffsetPair, "xx"}, "base_address": {rleBaseAddress, "a"},
	"start_end": {rleStartEnd, "aa"}, "start_length": {rleStartLength, "ax"}, "unknown": {8, ""},
}

// rnglist assembles a list of .debug_rnglists, an entry a line.
func (e enc) rnglist(text string) []byte {
	w := e.buf()
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		kind := rleKinds[words[0]]
		w.bytes(kind.code)
		for i, arg := range kind.args[:len(words)-1] {
			if arg == 'a' {
				w.address(number(words[1+i]))
			} else {
				w.uleb(number(words[1+i]))
			}
		}
	}
	return w.b
}

// pairs assembles a list of .debug_ranges.
func (e enc) pairs(v ...uint64) []byte {
	w := e.buf()
	for _, n := range v {
		w.address(n)
	}
	return w.b
}

// TestRngLists, DWARF 5 §2.17.3 and §7.25.
func TestRngLists(t *testing.T) {
	addrs := []uint64{0x1000, 0x2000, 0x2010, 0, ^uint64(0), ^uint64(0) - 1}
	const base = "0x3000" // of the unit
	code := CodeMap{{Lo: 0x1000, Hi: 0x4000}}
	tests := []struct {
		name, text string
		want       []Range
	}{
		{"empty list", "end", nil},
		{"start_end", "start_end 0x1000 0x1010\nstart_end 0x2000 0x2001\nend", []Range{{Lo: 0x1000, Hi: 0x1010}, {Lo: 0x2000, Hi: 0x2001}}},
		{"start_length", "start_length 0x1000 300\nend", []Range{{Lo: 0x1000, Hi: 0x112c}}},
		{"startx_endx", "startx_endx 1 2\nend", []Range{{Lo: 0x2000, Hi: 0x2010}}},
		{"startx_length", "startx_length 2 7\nend", []Range{{Lo: 0x2010, Hi: 0x2017}}},
		{"offset_pair, the unit's base", "offset_pair 1 0x10\nend", []Range{{Lo: 0x3001, Hi: 0x3010}}},
		{"offset_pair, base_address", "base_address 0x2000\noffset_pair 1 0x10\noffset_pair 0x20 0x30\nend", []Range{{Lo: 0x2001, Hi: 0x2010}, {Lo: 0x2020, Hi: 0x2030}}},
		{"offset_pair, base_addressx", "base_addressx 1\noffset_pair 1 0x10\nend", []Range{{Lo: 0x2001, Hi: 0x2010}}},
		{"what stands by itself has no base", "base_address 0x2000\nstart_end 0x1000 0x1010\nstart_length 0x1000 1\nend", []Range{{Lo: 0x1000, Hi: 0x1010}, {Lo: 0x1000, Hi: 0x1001}}},
		{"empty ranges", "start_end 0x1000 0x1000\nstart_length 0x1000 0\noffset_pair 5 5\nstartx_endx 1 1\nstart_end 0x1001 0x1000\nend", nil},
		{"outside of code", "start_end 0xfff 0x1010\nstart_length 0x4000 1\noffset_pair 0x1000 0x1001\nend", nil},
		{"from code to the outside", "start_end 0x3fff 0x4010\nend", []Range{{Lo: 0x3fff, Hi: 0x4010}}},
		{"tombstone 0", "start_end 0 0x1010\nstart_length 0 0x1010\nstartx_length 3 0x1010\nend", nil},
		{"tombstone -1", "start_length -1 0x1010\nstartx_length 4 0x1010\nstartx_endx 4 1\nend", nil},
		{"tombstone -2", "start_length -2 0x1010\nstartx_length 5 0x1010\nend", nil},
		{"base 0 is dead", "base_address 0\noffset_pair 0x1000 0x1010\nend", nil},
		{"base -1 is dead", "base_address -1\noffset_pair 0x1001 0x1010\nend", nil},
		{"base -2 is dead", "base_address -2\noffset_pair 0x1002 0x1010\nend", nil},
		{"base_addressx 0 is dead", "base_addressx 3\noffset_pair 0x1001 0x1010\nend", nil},
		{"base_addressx -1 is dead", "base_addressx 4\noffset_pair 0x1001 0x1010\nend", nil},
		{"until the next base", "base_address -1\noffset_pair 0x1001 0x1010\nstart_length 0x1000 1\nbase_address 0x2000\noffset_pair 1 2\nend", []Range{{Lo: 0x1000, Hi: 0x1001}, {Lo: 0x2001, Hi: 0x2002}}},
	}
	for _, tt := range tests {
		for _, e := range encodings() {
			if e.version != 5 {
				continue
			}
			t.Run(fmt.Sprintf("DWARF 5 §7.25 %s, %v", tt.name, e), func(t *testing.T) {
				a := e.asm()
				a.addrs, a.code = addrs, code
				a.sec.RngLists = append(make([]byte, 5), e.rnglist(tt.text)...)
				_, scans := a.units("unit\n CompileUnit Lowpc:addr=" + base + "\n  Subprogram Ranges:sec_offset=5\n").scan(t)
				if got := scans[0].Ranges; !slices.Equal(got, tt.want) {
					t.Errorf("got %#x", got)
				}
			})
		}
	}
	t.Run("DWARF 5 §7.25 base 0 where code lies at 0", func(t *testing.T) {
		a := le5.asm()
		a.code = CodeMap{{Lo: 0, Hi: 0x4000}}
		a.sec.RngLists = le5.rnglist("base_address 0\noffset_pair 0 0x10\nend")
		_, scans := a.units("unit\n CompileUnit\n  Subprogram Ranges:sec_offset=0\n").scan(t)
		if got := scans[0].Ranges; !slices.Equal(got, []Range{{Lo: 0, Hi: 0x10}}) {
			t.Errorf("got %#x", got)
		}
	})
	t.Run("DWARF 5 §2.17.3 the unit's base is dead", func(t *testing.T) {
		for _, low := range []string{"-1", "-2"} {
			a := le5.asm()
			a.sec.RngLists = le5.rnglist("offset_pair 0x1002 0x1010\nend")
			_, scans := a.units("unit\n CompileUnit Lowpc:addr=" + low + "\n  Subprogram Ranges:sec_offset=0\n").scan(t)
			if got := scans[0].Ranges; len(got) > 0 {
				t.Errorf("low_pc %s: %#x", low, got)
			}
		}
	})
}

// TestRnglistx, DWARF 5 §7.28: lists by their number.
func TestRnglistx(t *testing.T) {
	for _, e := range encodings() {
		if e.version != 5 {
			continue
		}
		for _, with := range []string{"", fmt.Sprintf(" RnglistsBase:sec_offset=%d", e.lengthSize()+8)} {
			t.Run(fmt.Sprintf("DWARF 5 §7.28 %v%s", e, with), func(t *testing.T) {
				a := e.asm()
				lists := [][]byte{e.rnglist("start_length 0x1000 1\nend"), e.rnglist("start_length 0x2000 1\nend")}
				size := e.offsetSize()
				body := e.buf().uint(2, 5).bytes(byte(e.addr), 0).uint(4, 2)
				body.offset(uint64(2 * size)).offset(uint64(2*size + len(lists[0]))).bytes(join(lists...)...)
				a.sec.RngLists = e.buf().length(body.b).b
				_, scans := a.units("unit\n CompileUnit" + with + "\n  Subprogram Ranges:rnglistx=1\n  Subprogram Ranges:rnglistx=0\n").scan(t)
				if got := scans[0].Ranges; !slices.Equal(got, []Range{{Lo: 0x2000, Hi: 0x2001}, {Lo: 0x1000, Hi: 0x1001}}) {
					t.Errorf("got %#x", got)
				}
			})
		}
	}
}

// TestRngListErrors: what a list is rejected for, and where.
func TestRngListErrors(t *testing.T) {
	tests := []struct {
		name, text string
		err        error
		at         int
		n          int // ranges before it
	}{
		{"no entry", "", located.ErrTruncated, 0, 0},
		{"no end", "start_length 0x1000 1", located.ErrTruncated, 10, 1},
		{"address cut", "start_end 0x1000 0x1001\nstart_end 0x1000", located.ErrTruncated, 26, 1},
		{"length cut", "start_length 0x1000", located.ErrTruncated, 9, 0},
		{"base cut", "base_address", located.ErrTruncated, 1, 0},
		{"pair cut", "offset_pair 1", located.ErrTruncated, 2, 0},
		{"index cut", "startx_length", located.ErrTruncated, 1, 0},
		{"unknown kind", "start_length 0x1000 1\nunknown", ErrRangeKind, 10, 1},
		{"base_addressx outside", "base_addressx 2\nend", located.ErrOffset, 1, 0},
		{"startx_endx start outside", "startx_endx 2 0\nend", located.ErrOffset, 1, 0},
		{"startx_endx end outside", "startx_endx 0 300\nend", located.ErrOffset, 2, 0},
		{"startx_length outside", "startx_length 0xffffffffffffffff 1\nend", located.ErrOffset, 1, 0},
	}
	for _, tt := range tests {
		t.Run("DWARF 5 §7.25 "+tt.name, func(t *testing.T) {
			a := le5.asm()
			a.addrs = []uint64{0x1000, 0x1001}
			a.sec.RngLists = append([]byte{9}, le5.rnglist(tt.text)...)
			d := a.units("unit\n CompileUnit\n  Subprogram Ranges:sec_offset=1\n").open(t)
			var s Scan
			checkErr(t, d.ScanUnit(d.Units[0], true, &s), tt.err, ".debug_rnglists", 1+tt.at)
			if len(s.Ranges) != tt.n {
				t.Errorf("ranges %#x", s.Ranges)
			}
		})
	}
	for _, attr := range []string{"rnglistx=0", "rnglistx=0xffffffffffffffff", "sec_offset=0xff"} {
		t.Run("DWARF 5 §7.28 "+attr, func(t *testing.T) {
			a := le5.asm()
			a.sec.RngLists = make([]byte, 15)
			d := a.units("unit\n CompileUnit\n  Subprogram Ranges:" + attr + "\n").open(t)
			at := 12
			if attr == "sec_offset=0xff" {
				at = 0
			}
			var s Scan
			checkErr(t, d.ScanUnit(d.Units[0], true, &s), located.ErrOffset, ".debug_rnglists", at)
		})
	}
}

// TestRanges, DWARF 4 §2.17.3.
func TestRanges(t *testing.T) {
	const m1, m2 = ^uint64(0), ^uint64(0) - 1
	tests := []struct {
		name string
		v    []uint64
		want []Range
	}{
		{"empty list", []uint64{0, 0}, nil},
		{"the unit's base", []uint64{0x10, 0x20, 0x30, 0x31, 0, 0}, []Range{{Lo: 0x1010, Hi: 0x1020}, {Lo: 0x1030, Hi: 0x1031}}},
		{"base address selection", []uint64{m1, 0x2000, 1, 2, m1, 0x3000, 1, 2, 0, 0}, []Range{{Lo: 0x2001, Hi: 0x2002}, {Lo: 0x3001, Hi: 0x3002}}},
		{"empty and backward ranges", []uint64{5, 5, 6, 5, 0, 0}, nil},
		{"outside of code", []uint64{0x3000, 0x3001, 0, 0}, nil},
		{"tombstone 1 (GNU ld)", []uint64{m1, 0, 1, 1, 1, 0x2000, 0x2000, 0x2001, 0, 0}, []Range{{Lo: 0x2000, Hi: 0x2001}}},
		{"tombstone -2 (lld)", []uint64{m1, 0, m2, m2, m2, 0x2000, 0, 0}, nil},
		{"base 1 is dead", []uint64{m1, 1, 0x2000, 0x2001, m1, 0x2000, 0, 1, 0, 0}, []Range{{Lo: 0x2000, Hi: 0x2001}}},
		{"base -1 is dead", []uint64{m1, m1, 0x2001, 0x2002, 0, 0}, nil},
		{"base -2 is dead", []uint64{m1, m2, 0x2002, 0x2003, 0, 0}, nil},
		{"base 0", []uint64{m1, 0, 0x2000, 0x2001, 0, 0}, []Range{{Lo: 0x2000, Hi: 0x2001}}},
		{"addresses wrap in their size", []uint64{m1, 0x2000, m2, 4, 0, 0}, []Range{{Lo: 0x1ffe, Hi: 0x2004}}},
		{"not after the end", []uint64{0, 0, 1, 2, 0, 0}, nil},
	}
	for _, tt := range tests {
		for _, e := range encodings() {
			if e.version == 5 {
				continue
			}
			t.Run(fmt.Sprintf("DWARF 4 §2.17.3 %s, %v", tt.name, e), func(t *testing.T) {
				form := "sec_offset"
				if e.version < 4 {
					form = "data4"
				}
				a := e.asm()
				a.code = CodeMap{{Lo: 0x1000, Hi: 0x4000}}
				a.sec.Ranges = append([]byte{9}, e.pairs(tt.v...)...)
				_, scans := a.units("unit\n CompileUnit Lowpc:addr=0x1000\n  Subprogram Ranges:" + form + "=1\n").scan(t)
				if got := scans[0].Ranges; !slices.Equal(got, tt.want) {
					t.Errorf("got %#x", got)
				}
			})
		}
	}
	errs := []struct {
		name string
		list []byte
		err  error
		at   int
	}{
		{"nothing", nil, located.ErrTruncated, 1},
		{"cut", le4.pairs(0, 0)[:15], located.ErrTruncated, 9},
		{"no end", le4.pairs(0x1000, 0x1001), located.ErrTruncated, 17},
	}
	for _, tt := range errs {
		t.Run("DWARF 4 §2.17.3 "+tt.name, func(t *testing.T) {
			a := le4.asm()
			a.sec.Ranges = append([]byte{9}, tt.list...)
			d := a.units("unit\n CompileUnit\n  Subprogram Ranges:sec_offset=1\n").open(t)
			var s Scan
			checkErr(t, d.ScanUnit(d.Units[0], true, &s), tt.err, ".debug_ranges", tt.at)
		})
	}
	t.Run("DWARF 4 §2.17.3 outside of the section", func(t *testing.T) {
		a := le4.asm()
		a.sec.Ranges = []byte{9}
		d := a.units("unit\n CompileUnit\n  Subprogram Ranges:sec_offset=2\n").open(t)
		var s Scan
		checkErr(t, d.ScanUnit(d.Units[0], true, &s), located.ErrOffset, ".debug_ranges", 0)
	})
}
