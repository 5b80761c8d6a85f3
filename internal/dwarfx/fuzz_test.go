package dwarfx

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"symkit/internal/wire"
	"symkit/located"
)

// frameSections packs sections into one fuzz input: flags, then every section after
// its length in two bytes. unframe takes what it finds.
func frameSections(s Sections) []byte {
	w := enc{version: 5, addr: 8}.buf()
	flags := byte(s.AddrSize)
	if s.BigEndian {
		flags |= 0x80
	}
	w.bytes(flags)
	for _, p := range sectionList(&s) {
		b := (*p.data)[:min(len(*p.data), 0xffff)]
		w.uint(2, uint64(len(b))).bytes(b...)
	}
	return w.b
}

type namedSection struct {
	name string
	data *[]byte
}

func sectionList(s *Sections) []namedSection {
	return []namedSection{{".debug_info", &s.Info}, {".debug_abbrev", &s.Abbrev}, {".debug_str", &s.Str}, {".debug_line_str", &s.LineStr},
		{".debug_str_offsets", &s.StrOffsets}, {".debug_addr", &s.Addr}, {".debug_ranges", &s.Ranges}, {".debug_rnglists", &s.RngLists},
		{".debug_line", &s.Line}, {".debug_types", &s.Types}}
}

func unframe(data []byte) (s Sections) {
	if len(data) == 0 {
		return s
	}
	s.BigEndian, s.AddrSize = data[0]&0x80 != 0, int(data[0]&15)
	c := wire.New("fuzz input", data[1:], false)
	for _, p := range sectionList(&s) {
		if n := uint64(c.U16()); n > 0 {
			*p.data = c.Bytes(min(n, uint64(c.Len())))
		}
	}
	return s
}

// fuzzCode is where code lies for the fuzz targets.
var fuzzCode = CodeMap{{Lo: 0, Hi: 0x100}, {Lo: 0x1000, Hi: 0x8000}, {Lo: 0x10000000, Hi: 0x20000000}}

// hasPlace checks that err has a section and an offset within that section.
func hasPlace(t *testing.T, s Sections, err error) {
	t.Helper()
	if err == nil {
		return
	}
	e, ok := errors.AsType[*located.Error](err)
	if !ok {
		t.Fatalf("error without a place: %v", err)
	}
	for _, p := range sectionList(&s) {
		if p.name == e.Section {
			if e.Offset < 0 || e.Offset > len(*p.data) {
				t.Fatalf("error outside of %d bytes: %v", len(*p.data), err)
			}
			return
		}
	}
	t.Fatalf("error in no section of the input: %v", err)
}

// seeds adds assembled units and, in front of them, nothing at all.
func seeds(f *testing.F) {
	f.Add([]byte{})
	const tree = `
	Namespace Name:string=n Sibling:ref4=next
	  Subprogram @decl Name:string=d LinkageName:string=_Zd Declaration:flag_present
	    FormalParameter Name:string=p
	Subprogram @fn Specification:ref4=@decl Lowpc:addr=0x1000 Highpc:data4=0x100 Name:indirect/string=i
	  InlinedSubroutine AbstractOrigin:ref4=@decl Lowpc:addr=0x1010 Highpc:data4=0x10 CallFile:data1=1 CallLine:implicit_const=5
	    LexDwarfBlock
	      InlinedSubroutine AbstractOrigin:ref_addr=@fn Ranges:RANGES
	ArrayType
	  SubrangeType Name:block1=xyz
	Subprogram AbstractOrigin:ref_udata=@fn Ranges:RANGES
`
	for _, e := range encodings() {
		a := e.asm()
		a.addrs = []uint64{0x1000, 0x2000}
		p := lineProg{enc: e, asm: a, dirs: []string{"/d"}, files: []lineFile{{"a", 0}, {"b", 1}},
			text: "set_address 0x1000; copy; special 30; advance_pc 4; set_file 2; copy; end_sequence; set_address 0; copy; end_sequence; set_address 0x1100; advance_line 5; copy; const_add_pc; end_sequence"}
		a.sec.Line = p.build()
		a.sec.Ranges = e.pairs(0x1000, 0x1004, ^uint64(0), 0x2000, 1, 2, 0, 0)
		a.sec.RngLists = e.rnglist("start_length 0x1000 4\nbase_address 0x2000\noffset_pair 1 2\nstartx_endx 0 1\nend")
		form := "data4=0"
		if e.version >= 4 {
			form = "sec_offset=0"
		}
		a.units("unit\n CompileUnit Language:data1=0x21 Lowpc:addr=0 StmtList:" + form + strings.NewReplacer("RANGES", form, "\t", "  ").Replace(tree))
		if e.version == 5 {
			a.units("unit type\n TypeUnit\n  ClassType @type Name:strp=T\nunit\n CompileUnit\n  ClassType Signature:ref_sig8=" + splitID + " Name:strx1=x\n")
		}
		f.Add(frameSections(a.sections()))
	}
	for _, path := range []string{"testdata/tomb.elf.xz", "../../testdata/elf/asm-x86_64-gas-dw5.elf", "../../testdata/elf/lang-mips-gcc12-O2-dw4.elf"} {
		if s, _, ok := elfSections(f, openELF(f, path)); ok {
			f.Add(frameSections(s))
		}
	}
}

// FuzzScan reads everything of units in sections of any contents.
func FuzzScan(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		s := unframe(data)
		d, errs := Open(s, fuzzCode)
		for _, err := range errs {
			hasPlace(t, s, err)
		}
		if len(d.Units)+len(errs) > len(data) {
			t.Fatalf("%d units and %d errors of %d bytes", len(d.Units), len(errs), len(data))
		}
		end := uint64(0)
		var scan Scan
		for i := range d.Units {
			u := d.Units[i]
			if u.Off < end || u.first < u.Off || u.first > u.End || u.End > uint64(len(s.Info)) {
				t.Fatalf("unit %+v after %#x", u, end)
			}
			end = u.End
			hasPlace(t, s, d.ScanUnit(u, true, &scan))
			if err := checkScan(d, u, &scan); err != nil {
				t.Fatal(err)
			}

			hasPlace(t, s, d.ScanUnit(u, false, &scan))
			if len(scan.Inlines) > 0 {
				t.Fatalf("inlined calls that were not requested")
			}
			if err := checkSkips(d, u); err != nil {
				t.Fatal(err)
			}
			if _, err := checkParts(d, u, 1, 4); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// checkScan checks what Scan promises.
func checkScan(d *Data, u *Unit, s *Scan) error {
	size := int(u.End - u.Off)
	if len(s.Funcs)+len(s.Inlines) > size || len(s.Ranges) > 2*size+1024 {
		return fmt.Errorf("%d functions, %d calls, %d ranges of %d bytes", len(s.Funcs), len(s.Inlines), len(s.Ranges), size)
	}
	for _, r := range s.Ranges {
		if r.Lo >= r.Hi || !d.code.Contains(r.Lo) {
			return fmt.Errorf("range %#x", r)
		}
	}
	span := func(sp Span, n int) bool { return sp.From <= sp.To && int(sp.To) <= n }
	calls, last := uint32(0), Ref(0)
	for i, f := range s.Funcs {
		if !span(f.Ranges, len(s.Ranges)) || f.Ranges.From == f.Ranges.To || !span(f.Inlines, len(s.Inlines)) || f.Inlines.From != calls {
			return fmt.Errorf("function %d: %+v", i, f)
		}
		if uint64(f.DIE) < u.first || uint64(f.DIE) >= u.End || f.DIE <= last {
			return fmt.Errorf("function at %#x after %#x", f.DIE, last)
		}
		calls, last = f.Inlines.To, f.DIE
		depth := uint32(0)
		for _, call := range s.Inlines[f.Inlines.From:f.Inlines.To] {
			if !span(call.Ranges, len(s.Ranges)) || call.Ranges.From == call.Ranges.To || call.Depth > depth || s.Origins[call.Origin] == 0 {
				return fmt.Errorf("call %+v at depth %d", call, depth)
			}
			depth = call.Depth + 1
		}
	}
	if int(calls) != len(s.Inlines) {
		return fmt.Errorf("%d of %d calls are some function's", calls, len(s.Inlines))
	}
	return nil
}

// FuzzAbbrev compiles a table of any contents and finds in it what findSpecs finds,
// and the same when all of it was read before.
func FuzzAbbrev(f *testing.F) {
	f.Add(join(abbrevText(1, 0x11, 0, 0), []byte{0}))
	f.Add(join(abbrevText(7, 0x2e, 3, 8, 0x11, 1, 0x12, formImplicitConst, 5, 0, 0), abbrevText(1, 0x1d, 0x58, formData1, 0, 0), []byte{0}))
	a := le5.asm().units("unit\n CompileUnit\n  Subprogram Name:strx1=f Sibling:ref4=next\n   InlinedSubroutine CallLine:data16=1\n")
	f.Add(a.abbrev.b)
	if s, _, ok := elfSections(f, openELF(f, "testdata/tomb.elf.xz")); ok {
		f.Add(s.Abbrev)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		u := &Unit{Version: 5, AddrSize: 8}
		d := New(Sections{Abbrev: data}, 0, nil)
		d.abbrevBytes = 1 << 30
		table, err := d.abbrevs(u)
		hasPlace(t, d.Sections, err)
		if err != nil {
			return
		}
		if n := len(table.abbrevs) + len(table.ops) + len(table.consts); n > len(data) {
			t.Fatalf("%d items of %d bytes", n, len(data))
		}
		clear(d.tables)
		again, err := d.abbrevs(u) // from the set that knows them all
		if err != nil {
			t.Fatal(err)
		}
		check := func(code uint64) {
			a, b := table.lookup(code), again.lookup(code)
			specs, err := d.findSpecs(u, code)
			if err != nil || code == 0 || !slices.Equal(specsAt(d, specs), specsAt(d, a.specs)) {
				t.Fatalf("code %d: %+v, specifications at %#x, %v", code, a, specs, err)
			}
			if a.tag != b.tag || a.children != b.children || !slices.Equal(table.ops[a.ops:][:a.nops], again.ops[b.ops:][:b.nops]) {
				t.Fatalf("code %d: %+v, then %+v", code, a, b)
			}
			slots := map[slot]bool{}
			for _, o := range table.ops[a.ops:][:a.nops] {
				switch o.kind {
				case opValue, opValue4, opValue8, opConst:
					if slots[o.slot] || o.slot >= scanSlots {
						t.Fatalf("code %d: slot %d", code, o.slot)
					}
					slots[o.slot] = true
				}
			}
		}
		for code := range table.sparse {
			check(code)
		}
		for i := range table.codes {
			check(uint64(i) + 1)
		}
		if table.lookup(0) != nil {
			t.Fatal("code 0")
		}
	})
}

// specsAt returns the attribute specifications at an offset of .debug_abbrev.
func specsAt(d *Data, off uint32) (all []spec) {
	c := d.cursor(".debug_abbrev", d.Abbrev)
	c.Seek(uint64(off))
	for s, ok := readSpec(&c); ok; s, ok = readSpec(&c) {
		all = append(all, s)
	}
	return all
}

// FuzzRanges reads a list of either kind in either byte order and address size.
func FuzzRanges(f *testing.F) {
	for _, e := range encodings() {
		list := e.pairs(0x1000, 0x1004, ^uint64(0), 0x2000, 1, 2, 0, 0)
		if e.version == 5 {
			list = e.rnglist("start_length 0x1000 4\nbase_address 0x2000\noffset_pair 1 2\nstartx_endx 0 1\nstartx_length 1 2\nbase_addressx 0\noffset_pair 3 4\nend")
		}
		f.Add(uint8(e.version), uint8(e.addr), e.big, uint64(0x1000), list)
	}
	f.Fuzz(func(t *testing.T, version, addr uint8, big bool, low uint64, list []byte) {
		e := enc{version: 5, addr: []int{1, 2, 4, 8}[addr%4], big: big}
		u := &Unit{Version: uint16(2 + version%4), AddrSize: uint8(e.addr), LowPC: low & (^uint64(0) >> (64 - 8*e.addr)), End: 1 << 20}
		s := Sections{Ranges: list, RngLists: list, Addr: e.pairs(0x1000, 0x2000, ^uint64(0)), BigEndian: big}
		d := &Data{Sections: s, code: fuzzCode}
		budget := d.maxEntries(u.Whole())
		got, err := d.appendRanges(nil, u, value{form: formSecOffset}, &budget)
		hasPlace(t, s, err)
		if len(got) > len(list) {
			t.Fatalf("%d ranges of %d bytes", len(got), len(list))
		}
		for _, r := range got {
			if r.Lo >= r.Hi || !fuzzCode.Contains(r.Lo) || r.Hi>>(8*e.addr-1)>>1 != 0 {
				t.Fatalf("range %#x", r)
			}
		}
		budget = 3
		few, _ := d.appendRanges(nil, u, value{form: formSecOffset}, &budget)
		if len(few) > 3 || !slices.Equal(few, got[:min(len(few), len(got))]) {
			t.Fatalf("%#x with a budget of 3, %#x", few, got)
		}
	})
}

// FuzzLines reads a line table of any contents.
func FuzzLines(f *testing.F) {
	for _, e := range encodings() {
		p := lineProg{enc: e, asm: e.asm(), dirs: []string{"/d"}, files: []lineFile{{"a", 0}, {"b", 1}},
			text: "set_address 0x1000; copy; special 30; advance_pc 4; set_file 2; copy; end_sequence; set_address 0; copy; end_sequence; set_address 0x1100; advance_line 5; copy; const_add_pc; end_sequence"}
		f.Add(e.addr == 8, e.big, p.build())
		p.minInst, p.maxOps, p.columns, p.pathForm = 4, 3, "pdms", "line_strp"
		f.Add(e.addr == 8, e.big, p.build())
	}
	if s, _, ok := elfSections(f, openELF(f, "testdata/tomb.elf.xz")); ok {
		f.Add(true, false, s.Line)
	}
	f.Fuzz(func(t *testing.T, wide, big bool, line []byte) {
		s := Sections{Line: line, Str: []byte("a\x00b\x00"), LineStr: []byte("c\x00d"), StrOffsets: make([]byte, 32), BigEndian: big}
		d := &Data{Sections: s, code: fuzzCode}
		u := &Unit{data: d, Version: 5, AddrSize: 4, HasLines: true}
		if wide {
			u.AddrSize = 8
		}
		var table LineTable
		err := d.ReadLines(u, &table)
		hasPlace(t, s, err)
		if err := checkRows(table.Rows); err != nil {
			t.Fatal(err)
		}
		if n := len(table.Rows) + len(table.h.files) + len(table.h.dirs); n > 2*len(line)+2 {
			t.Fatalf("%d rows, %d files, %d directories of %d bytes", len(table.Rows), len(table.h.files), len(table.h.dirs), len(line))
		}
		for i := range len(table.h.files) + 1 {
			if _, _, ok := table.File(uint32(i)); ok && i == len(table.h.files) {
				t.Fatalf("file %d", i)
			}
		}
		// A table that was used before gives the same.
		rows := slices.Clone(table.Rows)
		again := d.ReadLines(u, &table)
		if !slices.Equal(rows, table.Rows) || fmt.Sprint(again) != fmt.Sprint(err) {
			t.Fatalf("read again: %v, %v, before %v, %v", renderRows(table.Rows), again, renderRows(rows), err)
		}
		if err := checkFast(d, u); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzNames names the DIEs at any places, and finds their parents.
func FuzzNames(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		s := unframe(data)
		d, _ := Open(s, fuzzCode)
		for i := range min(len(d.Units), 20) {
			u := d.Units[i]
			var targets []Ref
			step := max((u.End-u.first)/64, 1)
			for off := u.first; off < u.End; off += step {
				targets = append(targets, Ref(off))
				n, err := nameOf(d, Ref(off))
				hasPlace(t, s, err)
				if err == nil && n.Decl != 0 && n.Unit == nil {
					t.Fatalf("no unit: %+v", n)
				}
			}
			if err := checkFindAll(d, u, targets); err != nil {
				t.Fatal(err)
			}
			var scan Scan
			_ = d.ScanUnit(u, false, &scan) // what damage leaves of it
			last := -1
			hasPlace(t, s, d.Parents(u, targets, Tops(scan.Funcs), func(i int, parents []Ref) {
				if i <= last {
					t.Fatalf("target %d after %d", i, last)
				}
				last = i
				for j, p := range parents {
					if p >= targets[i] || j > 0 && p <= parents[j-1] || uint64(p) < u.first {
						t.Fatalf("parents of %#x: %#x", targets[i], parents)
					}
				}
			}))
		}
	})
}

// FuzzPackage reads the index of a .dwp file of any contents.
func FuzzPackage(f *testing.F) {
	for _, big := range []bool{false, true} {
		e := le5
		e.big = big
		for _, version := range []uint64{2, 5} {
			f.Add(big, dwpIndex(e, version, []uint64{6, 1, 8, 3}, []uint64{0, 77}, []uint64{0, 1}, [][]uint64{{0, 0, 0, 0}}, [][]uint64{{1, 2, 2, 3}}).b)
		}
	}
	f.Fuzz(func(t *testing.T, big bool, index []byte) {
		p, err := OpenPackage(Sections{BigEndian: big, Info: []byte("info")}, index, index)
		if err != nil {
			e, ok := errors.AsType[*located.Error](err)
			if !ok || e.Offset < 0 || e.Offset > len(index) {
				t.Fatalf("error without a place: %v", err)
			}
			return
		}
		if len(p.units) > len(index)/12 {
			t.Fatalf("%d units of %d bytes", len(p.units), len(index))
		}
		for id := range p.units {
			if s := p.part(p.units[id]); len(s.Info) > 4 {
				t.Fatalf("unit %#x: %q", id, s.Info)
			}
		}
	})
}
