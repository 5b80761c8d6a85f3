package dwarfx

import (
	"errors"
	"slices"
	"testing"

	"symkit/internal/limitof"
	"symkit/limits"
	"symkit/located"
)

// abbrevText writes one abbreviation without children; nums are attributes and
// forms by turns, the ending zeros left to the caller.
func abbrevText(code, tag uint64, nums ...uint64) []byte {
	w := le5.buf().uleb(code).uleb(tag).bytes(0)
	for _, n := range nums {
		w.uleb(n)
	}
	return w.b
}

func join(parts ...[]byte) (all []byte) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// TestAbbrevCodes, DWARF 5 §7.5.3: codes in any order, with gaps, of any size,
// alike in the root's own search and in the compiled table.
func TestAbbrevCodes(t *testing.T) {
	tests := []struct {
		name              string
		root, first, last string // "#code "
	}{
		{"1, 2, 3", "", "", ""},
		{"descending", "#3 ", "#2 ", "#1 "},
		{"gap at the start", "#2 ", "#3 ", "#4 "},
		{"gap in the middle", "#1 ", "#2 ", "#9 "},
		{"two bytes", "#128 ", "#300 ", "#129 "},
		{"largest", "#1 ", "#0xffffffffffffffff ", "#0x8000000000000000 "},
	}
	for _, tt := range tests {
		t.Run("DWARF 5 §7.5.3 "+tt.name, func(t *testing.T) {
			_, _, scans := le5.scan(t, "unit\n "+tt.root+"CompileUnit Name:string=c\n"+
				"  "+tt.first+"Subprogram Name:string=f Lowpc:addr=0x1000 Highpc:data1=1\n"+
				"  "+tt.last+"Subprogram Name:string=g Lowpc:addr=0x2000 Highpc:data2=1\n"+
				"  "+tt.first+"Subprogram Name:string=h Lowpc:addr=0x3000 Highpc:data1=1\n")
			if len(scans[0].Funcs) != 3 {
				t.Errorf("functions %+v", scans[0].Funcs)
			}
		})
	}
}

// TestAbbrevErrors lists what a table can be rejected for, beyond what the
// root needs of it: the unit opens and its scan fails.
func TestAbbrevErrors(t *testing.T) {
	root := abbrevText(1, 0x11, 0, 0)
	at := len(root)
	tests := []struct {
		name string
		rest []byte
		err  error
		at   int
	}{
		{"§7.5.3 table without an end", nil, located.ErrTruncated, 0},
		{"§7.5.3 tag cut", []byte{2}, located.ErrTruncated, 1},
		{"§7.5.3 children cut", []byte{2, 0x2e}, located.ErrTruncated, 2},
		{"§7.5.3 specifications cut", []byte{2, 0x2e, 0}, located.ErrTruncated, 3},
		{"§7.5.3 form cut", []byte{2, 0x2e, 0, 3}, located.ErrTruncated, 4},
		{"§7.5.3 specifications without an end", abbrevText(2, 0x2e, 3, 8, 0), located.ErrTruncated, 6},
		{"§7.5.3 implicit_const cut", abbrevText(2, 0x2e, 3, formImplicitConst), located.ErrTruncated, 5},
		{"§7.5.3 code of 65 bits", []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0}, located.ErrOverflow, 0},
		{"§7.5.3 tag of 17 bits", abbrevText(2, 0x10000, 0, 0), nil, 0},
		{"§7.5.3 code twice", join(abbrevText(2, 0x2e, 0, 0), abbrevText(2, 0x2e, 0, 0), []byte{0}), nil, 5},
		{"§7.5.3 the root's code twice", abbrevText(1, 0x2e, 0, 0), nil, 0},
		{"§7.5.3 sparse code twice", join(abbrevText(7, 0x2e, 0, 0), abbrevText(7, 0x2e, 0, 0), []byte{0}), nil, 5},
		{"§7.5.3 code of the dense part twice", join(abbrevText(7, 0x2e, 0, 0), abbrevText(1, 0x2e, 0, 0)), nil, 5},
		{"§7.5.6 form 2", abbrevText(2, 0x2e, 3, 2), ErrForm, 3},
		{"§7.5.6 form 0 with an attribute", abbrevText(2, 0x2e, 3, 0), ErrForm, 3},
		{"§7.5.6 attribute 0 with an unknown form", abbrevText(2, 0x2e, 0, 0x2d), ErrForm, 3},
		{"§7.5.6 form of 17 bits", abbrevText(2, 0x2e, 3, 0x10008), ErrForm, 3},
		{"§7.5.6 unknown form after a good one", abbrevText(2, 0x2e, 3, 8, 0x11, 0x3f), ErrForm, 5},
	}
	for _, tt := range tests {
		t.Run("DWARF 5 "+tt.name, func(t *testing.T) {
			a := le5.asm().units("unit\n CompileUnit\n")
			a.abbrev.b = append(root[:at:at], tt.rest...)
			d := a.open(t)
			var s Scan
			checkErr(t, d.ScanUnit(d.Units[0], true, &s), tt.err, ".debug_abbrev", at+tt.at)
			checkErr(t, d.Parents(d.Units[0], []Ref{12}, nil, nil), tt.err, ".debug_abbrev", at+tt.at)
			_, err := nameOf(d, 12)
			checkErr(t, err, tt.err, ".debug_abbrev", at+tt.at)
		})
	}
}

// TestAbbrevShared: units that share a table share its compiled form, unless
// it depends on what differs between them.
func TestAbbrevShared(t *testing.T) {
	a := le5.asm().units("unit\n CompileUnit Language:data1=0x21\nunit\n CompileUnit Language:data1=0x21\n" +
		"unit\n CompileUnit Language:data1=0x1d\n")
	d := a.open(t)
	for i := range d.Units {
		d.Units[i].abbrevOff = 0
	}
	var tables [3]*abbrevTable
	for i := range d.Units {
		table, err := d.abbrevs(d.Units[i])
		if err != nil {
			t.Fatal(err)
		}
		tables[i] = table
	}
	if tables[0] != tables[1] || tables[0] == tables[2] {
		t.Errorf("tables %p", tables)
	}
}

// TestImplicitConst, DWARF 5 §7.5.3: values in the abbreviation, signed, in
// attributes that are wanted and in those that are not.
func TestImplicitConst(t *testing.T) {
	_, _, scans := le5.scan(t, `
unit
  CompileUnit Language:implicit_const=0x21 Name:string=c
    Subprogram Lowpc:addr=0x1000 DeclLine:implicit_const=-1 Highpc:implicit_const=0x100
      InlinedSubroutine AbstractOrigin:ref4=13 Lowpc:addr=0x1010 Highpc:data1=1 CallLine:implicit_const=70 CallFile:implicit_const=3
      InlinedSubroutine AbstractOrigin:ref4=13 Lowpc:addr=0x1020 Highpc:data1=1 CallLine:implicit_const=71 CallFile:implicit_const=4
`)
	s := scans[0]
	if len(s.Funcs) != 1 || s.Ranges[0] != (Range{Lo: 0x1000, Hi: 0x1100}) {
		t.Fatalf("%+v", s)
	}
	for i, want := range [][2]uint32{{3, 70}, {4, 71}} {
		if got := s.Inlines[i]; got.CallFile != want[0] || got.CallLine != want[1] {
			t.Errorf("call %d: %+v", i, got)
		}
	}
}

// TestAttributeTwice, DWARF 5 §2.2 allows an attribute once; two must not
// double the work per DIE, however many constants the abbreviation holds.
func TestAttributeTwice(t *testing.T) {
	a := le5.asm().units("unit\n CompileUnit\n")
	nums := []uint64{}
	for range 1000 {
		nums = append(nums, 0x3c, formFlagPresent, 0x59, formImplicitConst, 1, 0x3, formImplicitConst, 1)
	}
	a.abbrev.b = join(abbrevText(1, 0x11, 0, 0), abbrevText(2, 0x2e, append(nums, 0, 0)...), []byte{0})
	d := a.open(t)
	table, err := d.abbrevs(d.Units[0])
	if err != nil {
		return // refusing is right, too
	}
	if n := table.lookup(2).nops; n > uint32(scanSlots) {
		t.Errorf("%d operations for a DIE of one byte", n)
	}
}

// TestManySpecs: attributes of no size, in numbers that no compiler writes,
// would cost time for every DIE, the root too.
func TestManySpecs(t *testing.T) {
	nums := make([]uint64, 0, 2*(limits.Limits{}).Int(limitof.AbbrevAttributes)+6)
	for range (limits.Limits{}).Int(limitof.AbbrevAttributes) + 2 {
		nums = append(nums, 0x3c, formFlagPresent)
	}
	a := le5.asm().units("unit\n CompileUnit\n")
	root := abbrevText(1, 0x11, 0, 0)
	a.abbrev.b = join(root, abbrevText(2, 0x2e, append(nums, 0, 0)...), []byte{0})
	d := a.open(t)
	var s Scan
	checkErr(t, d.ScanUnit(d.Units[0], true, &s), ErrTooMany, ".debug_abbrev", len(root)+3+2*((limits.Limits{}).Int(limitof.AbbrevAttributes)+1))

	a.abbrev.b = join(abbrevText(1, 0x11, append(nums, 0, 0)...), []byte{0})
	if _, errs := Open(a.sections(), nil); len(errs) != 1 {
		t.Errorf("a root of %d attributes: %v", (limits.Limits{}).Int(limitof.AbbrevAttributes)+2, errs)
	} else {
		checkErr(t, errs[0], ErrTooMany, ".debug_abbrev", 3+2*((limits.Limits{}).Int(limitof.AbbrevAttributes)+1))
	}
}

// TestOverlappingTables: many units that each have the rest of one long section
// for their table must not make the work quadratic.
func TestOverlappingTables(t *testing.T) {
	const n, units = 20_000, 200
	var table, info []byte
	var starts []uint64
	for code := range uint64(n) {
		starts = append(starts, uint64(len(table)))
		table = append(table, abbrevText(code+1, 0x11, 0, 0)...)
	}
	table = append(table, 0)
	unit := func(off, code uint64) {
		body := le5.buf().uint(2, 5).bytes(1, 8).offset(off).uleb(code)
		info = append(info, le5.buf().length(body.b).b...)
	}
	isTooMany := func(err error) bool { return errors.Is(err, ErrTooMany) }
	for range units { // every root is the last one, which is found once
		unit(0, n)
	}
	if d, errs := Open(Sections{Info: info, Abbrev: table}, nil); len(d.Units) != units {
		t.Errorf("%d units, %v", len(d.Units), errs)
	}
	info = nil
	for i := range uint64(units) { // every root is another one of the last
		unit(0, n-i)
	}
	if d, errs := Open(Sections{Info: info, Abbrev: table}, nil); len(d.Units) == units || !slices.ContainsFunc(errs, isTooMany) {
		t.Errorf("%d units, %d errors", len(d.Units), len(errs))
	}
	info = nil
	for i := range uint64(units) { // every table begins a little later
		unit(starts[i], i+1)
	}
	d, errs := Open(Sections{Info: info, Abbrev: table, FileSize: 1 << 30}, nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var s Scan
	errs = nil
	for i := range d.Units {
		errs = append(errs, d.ScanUnit(d.Units[i], true, &s))
	}
	if errs[0] != nil || !slices.ContainsFunc(errs, isTooMany) || len(d.tables) > units/2 {
		t.Errorf("%d tables kept, first error %v", len(d.tables), errs[0])
	}
	for i, err := range errs {
		if err != nil {
			checkErr(t, err, ErrTooMany, ".debug_abbrev", int(starts[i]))
		}
	}
}

// TestLongSkip: runs of fixed size beyond what one operation holds.
func TestLongSkip(t *testing.T) {
	a := le5.asm().units("unit\n CompileUnit {}\n")
	nums := []uint64{}
	for range 5000 {
		nums = append(nums, 0x2300, 0x1e) // an attribute of a user, data16
	}
	a.abbrev.b = join([]byte{1, 0x11, 1, 0, 0}, abbrevText(2, 0x34, append(nums, 0, 0)...), abbrevText(3, 0x2e, 0x11, formAddr, 0x12, formData1, 0, 0), []byte{0})
	die := le5.buf().uleb(1).uleb(2).bytes(make([]byte, 16*5000)...).uleb(3).address(0x1000).bytes(9, 0)
	a.info = le5.buf().length(append(a.info[4:12:12], die.b...)).b
	if _, scans := a.scan(t); len(scans[0].Ranges) != 1 || scans[0].Ranges[0] != (Range{Lo: 0x1000, Hi: 0x1009}) {
		t.Errorf("%+v", scans[0])
	}
}
