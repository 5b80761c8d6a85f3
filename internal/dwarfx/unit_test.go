package dwarfx

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"symkit/located"
)

// TestUnitHeaders, DWARF 5 §7.5.1.1: every kind of unit in every encoding, each
// followed by another, so that header and unit end where they should.
func TestUnitHeaders(t *testing.T) {
	for _, e := range encodings() {
		kinds := []string{"compile"}
		if e.version == 5 {
			kinds = []string{"compile", "type", "partial", "skeleton", "split_compile", "split_type"}
		}
		for _, kind := range kinds {
			t.Run(fmt.Sprintf("DWARF 5 §7.5.1.1 %s %v", kind, e), func(t *testing.T) {
				unit := "unit " + kind + "\n CompileUnit Name:string=a Language:data2=0x21\n"
				d := e.asm().units(unit + unit).open(t)
				if len(d.Units) != 2 {
					t.Fatalf("%d units", len(d.Units))
				}
				for i, u := range d.Units {
					name, err := u.String(u.Name)
					if string(name) != "a" || err != nil || u.Language != 0x21 {
						t.Errorf("unit %d: name %q, %v, language %#x", i, name, err, u.Language)
					}
					if int(u.Version) != e.version || int(u.AddrSize) != e.addr || u.Dwarf64 != e.d64 {
						t.Errorf("unit %d: %+v", i, u)
					}
					if u.IsType() != (kind == "type" || kind == "split_type") {
						t.Errorf("unit %d: IsType %v", i, u.IsType())
					}
				}
				if a, b := d.Units[0], d.Units[1]; a.Off != 0 || a.End != b.Off || b.End != d.size {
					t.Errorf("units [%#x, %#x) and [%#x, %#x) of %#x bytes", a.Off, a.End, b.Off, b.End, d.size)
				}
			})
		}
	}
}

// TestUnitHeaderErrors lists what a header can be rejected for. Where the
// length is good the next unit is read.
func TestUnitHeaderErrors(t *testing.T) {
	l := func(body *buf) []byte { return le5.buf().length(body.b).b }
	v5 := func(kind, addr byte) *buf { return le5.buf().uint(2, 5).bytes(kind, addr).uint(4, 0) }
	tests := []struct {
		name   string
		header []byte
		err    error
		at     int
		goesOn bool
	}{
		{"§7.2.2 reserved length", []byte{0xf0, 0xff, 0xff, 0xff}, located.ErrReserved, 0, false},
		{"§7.2.2 largest reserved length", []byte{0xfe, 0xff, 0xff, 0xff}, located.ErrReserved, 0, false},
		{"§7.4 length cut", []byte{1, 0, 0}, located.ErrTruncated, 0, false},
		{"§7.4 64-bit length cut", []byte{0xff, 0xff, 0xff, 0xff, 1, 0, 0}, located.ErrTruncated, 4, false},
		{"§7.4 longer than the section", []byte{9, 0, 0, 0, 5, 0, 1, 8}, located.ErrTruncated, 4, false},
		{"§7.4 longest length", []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, located.ErrTruncated, 12, false},
		{"§7.4 length 0", l(le5.buf()), located.ErrTruncated, 4, true},
		{"§7.5.1.1 too short for the version", l(le5.buf().bytes(5)), located.ErrTruncated, 4, true},
		{"§7.5.1.1 version 0", l(le5.buf().uint(2, 0).bytes(0, 0, 1)), ErrVersion, 0, true},
		{"§7.5.1.1 version 1", l(le5.buf().uint(2, 1)), ErrVersion, 0, true},
		{"§7.5.1.1 version 7", l(le5.buf().uint(2, 7)), ErrVersion, 0, true},
		{"§7.5.1.1 version of the other byte order", l(le5.buf().uint(2, 0x500)), ErrVersion, 0, true},
		{"§7.5.1 unit type 0", l(v5(0, 8)), ErrUnitType, 0, true},
		{"§7.5.1 unit type 7", l(v5(7, 8)), ErrUnitType, 0, true},
		{"§7.5.1 unit type 0x7f", l(v5(0x7f, 8)), ErrUnitType, 0, true},
		{"§7.5.1.1 address size 0", l(v5(1, 0)), ErrAddrSize, 0, true},
		{"§7.5.1.1 address size 3", l(v5(1, 3)), ErrAddrSize, 0, true},
		{"§7.5.1.1 address size 255", l(v5(1, 255)), ErrAddrSize, 0, true},
		{"§7.5.1.1 address size 0, DWARF 4", l(le4.buf().uint(2, 4).uint(4, 0).bytes(0)), ErrAddrSize, 0, true},
		{"§7.5.1.1 too short for the type", l(le5.buf().uint(2, 5)), located.ErrTruncated, 6, true},
		{"§7.5.1.1 too short for the offset", l(le5.buf().uint(2, 5).bytes(1, 8, 0)), located.ErrTruncated, 8, true},
		{"§7.5.1.1 too short for the address size, DWARF 4", l(le4.buf().uint(2, 4).uint(4, 0)), located.ErrTruncated, 10, true},
		{"§7.5.1.2 too short for the dwo_id", l(v5(4, 8).uint(4, 0)), located.ErrTruncated, 12, true},
		{"§7.5.1.3 too short for the signature", l(v5(2, 8).uint(4, 0)), located.ErrTruncated, 12, true},
		{"§7.5.1.3 too short for the type's offset", l(v5(6, 8).uint(8, 0).uint(2, 0)), located.ErrTruncated, 20, true},
		{"§7.5 no root", l(v5(1, 8)), located.ErrTruncated, 12, true},
	}
	for _, tt := range tests {
		t.Run("DWARF 5 "+tt.name, func(t *testing.T) {
			a := le5.asm()
			a.info = append(a.info, tt.header...)
			want := 0
			if tt.goesOn {
				a.units("unit\n CompileUnit\n")
				want = 1
			}
			d, errs := Open(a.sections(), nil)
			if len(errs) != 1 || len(d.Units) != want {
				t.Fatalf("%d units, errors %v", len(d.Units), errs)
			}
			checkErr(t, errs[0], tt.err, ".debug_info", tt.at)
		})
	}
}

// TestVendorUnits: a unit of a vendor's type is skipped (DWARF 5 §7.5.1).
func TestVendorUnits(t *testing.T) {
	for _, kind := range []byte{0x80, 0xff} {
		a := le5.asm()
		a.info = append(a.info, le5.buf().length(le5.buf().uint(2, 5).bytes(kind, 0).uint(4, 0x7777).bytes(1, 2, 3).b).b...)
		a.units("unit\n CompileUnit\n")
		d, errs := Open(a.sections(), nil)
		if len(errs) != 0 || len(d.Units) != 1 {
			t.Errorf("type %#x: %d units, errors %v", kind, len(d.Units), errs)
		}
	}
}

// TestPaddingUnits: a unit of zeros fills a gap, as Zig's linker writes it.
func TestPaddingUnits(t *testing.T) {
	for _, n := range []int{2, 3, 0x877} {
		for _, dwarf64 := range []bool{false, true} {
			a := le5.asm()
			padding := le5.buf().length(make([]byte, n))
			if dwarf64 {
				padding = le5.buf().uint(4, 0xffffffff).uint(8, uint64(n)).bytes(make([]byte, n)...)
			}
			a.info = append(a.info, padding.b...)
			a.units("unit\n CompileUnit\n")
			d, errs := Open(a.sections(), nil)
			if len(errs) != 0 || len(d.Units) != 1 {
				t.Errorf("%d bytes: %d units, errors %v", n, len(d.Units), errs)
			}
		}
	}
}

// TestSkeletons: DW_AT_dwo_name makes a skeleton of a unit only if its type says so (DWARF 5
// §7.5.1) or, before DWARF 5, it has addresses: clang's modules (-gmodules) name a .pcm file.
func TestSkeletons(t *testing.T) {
	for _, test := range []struct {
		e    enc
		unit string
		want string
	}{
		{le5, "unit skeleton\n SkeletonUnit DwoName:string=x.dwo Lowpc:addr=0x1000\n", "x.dwo"},
		{le5, "unit skeleton\n SkeletonUnit DwoName:string=x.dwo\n", "x.dwo"},
		{le5, "unit\n CompileUnit DwoName:string=x.pcm\n", ""},
		{le5, "unit\n CompileUnit DwoName:string=x.pcm Lowpc:addr=0x1000\n", ""},
		{le5, "unit split_compile\n CompileUnit DwoName:string=x.dwo\n", ""},
		{le4, "unit\n CompileUnit 0x2130:string=x.pcm 0x2131:data8=1\n", ""},
		{le4, "unit\n CompileUnit 0x2130:string=x.dwo Lowpc:addr=0x1000\n", "x.dwo"},
		{le4, "unit\n CompileUnit 0x2130:string=x.dwo Ranges:sec_offset=0\n", "x.dwo"},
		{le4, "unit\n CompileUnit 0x2130:string=x.dwo GNUAddrBase:sec_offset=0\n", "x.dwo"},
	} {
		d := test.e.asm().units(test.unit).open(t)
		got, err := d.Units[0].String(d.Units[0].Split)
		if string(got) != test.want || err != nil {
			t.Errorf("DWARF %d %s: %q, %v", test.e.version, test.unit, got, err)
		}
	}
}

// TestRootErrors: damage in a root costs its unit alone.
func TestRootErrors(t *testing.T) {
	const bad = "unit\n CompileUnit Name:string=x\n"
	body := le5.lengthSize() + 8 // where the root begins
	tests := []struct {
		name    string
		damage  func(a *asm)
		err     error
		section string
		at      int
	}{
		{"§7.5.3 table outside of the section", func(a *asm) { a.info[8] = 0xff }, located.ErrOffset, ".debug_abbrev", 0},
		{"§7.5.3 code not in the table", func(a *asm) { a.info[body] = 2 }, ErrAbbrev, ".debug_abbrev", 7},
		{"§7.5.3 table cut", func(a *asm) { a.info[8] = 7; a.abbrev.b = a.abbrev.b[:7] }, located.ErrTruncated, ".debug_abbrev", 7},
		{"§7.5.3 specifications cut", func(a *asm) { a.abbrev.b = a.abbrev.b[:4] }, located.ErrTruncated, ".debug_abbrev", 4},
		{"§7.5.5 value cut", func(a *asm) { a.info[body+2] = 'y' }, located.ErrUnterminated, ".debug_info", body + 1},
		{"§7.5.6 unknown form", func(a *asm) { a.abbrev.b[4] = 0x7f }, ErrForm, ".debug_info", body + 1},
		{"§7.5.6 form 0", func(a *asm) { a.abbrev.b[4] = 0 }, ErrForm, ".debug_info", body + 1},
	}
	for _, tt := range tests {
		t.Run("DWARF 5 "+tt.name, func(t *testing.T) {
			a := le5.asm().units(bad)
			tt.damage(a)
			d, errs := Open(a.sections(), nil)
			if len(errs) != 1 || len(d.Units) != 0 {
				t.Fatalf("%d units, errors %v", len(d.Units), errs)
			}
			checkErr(t, errs[0], tt.err, tt.section, tt.at)
		})
	}
	t.Run("DWARF 5 §7.5.2 the next unit", func(t *testing.T) {
		a := le5.asm().units(bad + "unit\n CompileUnit Language:data1=0x1c\n")
		a.info[body] = 9
		d, errs := Open(a.sections(), nil)
		if len(d.Units) != 1 || len(errs) != 1 || d.Units[0].Language != 0x1c {
			t.Errorf("units %+v, errors %v", d.Units, errs)
		}
	})
	t.Run("DWARF 5 §7.5.2 null root", func(t *testing.T) {
		a := le5.asm().units("unit\n CompileUnit\n")
		a.info[body] = 0
		if d := a.open(t); len(d.Units) != 1 || d.Units[0].HasLines || d.Units[0].Name != 0 {
			t.Errorf("units %+v", d.Units)
		}
	})
}

// TestRoot, DWARF 5 §3.1.1: the attributes of the root that concern the unit. Bases may follow the
// attributes that need them.
func TestRoot(t *testing.T) {
	for _, e := range encodings() {
		t.Run(e.String(), func(t *testing.T) {
			a := e.asm()
			text := "unit\n CompileUnit Name:strp=n CompDir:string=/c StmtList:data4=7 Lowpc:addr=0x1234\n"
			if e.version == 5 {
				a.addrs = []uint64{0, 0x1234}
				base := e.lengthSize() + 4
				text = fmt.Sprintf("unit\n CompileUnit Name:strx1=n CompDir:line_strp=/c StmtList:sec_offset=7 Lowpc:addrx=1 "+
					"StrOffsetsBase:sec_offset=%d AddrBase:sec_offset=%d RnglistsBase:sec_offset=77\n", base, base)
			}
			d := a.units(text).open(t)
			u := d.Units[0]
			name, err1 := u.String(u.Name)
			dir, err2 := u.String(u.CompDir)
			if err := errors.Join(err1, err2); err != nil || string(name) != "n" || string(dir) != "/c" {
				t.Errorf("name %q, comp_dir %q, %v", name, dir, err)
			}
			if !u.HasLines || u.LineOff != 7 || u.LowPC != 0x1234 {
				t.Errorf("%+v", u)
			}
			if e.version == 5 && u.rngListsBase != 77 {
				t.Errorf("rnglists_base %d", u.rngListsBase)
			}
		})
	}
}

// TestDefaultBases, DWARF 5 §7.26 to §7.28: without DW_AT_*_base the tables
// begin after the first header; before DWARF 5 there are no headers, and
// DW_AT_GNU_addr_base has the base.
func TestDefaultBases(t *testing.T) {
	for _, e := range encodings() {
		t.Run(e.String(), func(t *testing.T) {
			a := e.asm()
			a.addrs = []uint64{0x10, 0x20}
			want := [3]uint64{0, 0, 0}
			text := "unit\n CompileUnit Name:GNU_str_index=n Lowpc:GNU_addr_index=1\n"
			if e.version == 5 {
				want = [3]uint64{8, 8, 12}
				if e.d64 {
					want = [3]uint64{16, 16, 20}
				}
				text = "unit\n CompileUnit Name:strx=n Lowpc:addrx=1\n"
			}
			d := a.units(text).open(t)
			u := d.Units[0]
			if got := [3]uint64{u.strOffsetsBase, u.addrBase, u.rngListsBase}; got != want {
				t.Errorf("bases %d, want %d", got, want)
			}
			if name, err := u.String(u.Name); string(name) != "n" || err != nil || u.LowPC != 0x20 {
				t.Errorf("name %q, %v; low_pc %#x", name, err, u.LowPC)
			}
		})
	}
	t.Run("GNU_addr_base", func(t *testing.T) {
		a := le4.asm()
		a.addrs = []uint64{0x10, 0x20}
		if d := a.units("unit\n CompileUnit Lowpc:GNU_addr_index=0 GNUAddrBase:sec_offset=8\n").open(t); d.Units[0].LowPC != 0x20 {
			t.Errorf("low_pc %#x", d.Units[0].LowPC)
		}
	})
}

// TestUnitAt: the bytes of headers, and what lies between units, are no DIEs.
func TestUnitAt(t *testing.T) {
	a := le5.asm().units("unit\n CompileUnit @a\nunit type\n CompileUnit @b\n")
	damaged := le5.buf().length(le5.buf().uint(2, 9).b).b
	a.info = append(a.info, damaged...)
	a.units("unit\n CompileUnit @c\n")
	d, errs := Open(a.sections(), nil)
	if len(errs) != 1 || len(d.Units) != 3 {
		t.Fatalf("%d units, errors %v", len(d.Units), errs)
	}
	for off := range Ref(d.size + 2) {
		var want *Unit
		for i := range d.Units {
			if u := d.Units[i]; uint64(off) >= u.first && uint64(off) < u.End {
				want = u
			}
		}
		if got := d.unitAt(off); got != want {
			t.Errorf("unitAt(%#x) = %+v, want %+v", off, got, want)
		}
	}
	for i, label := range []string{"@a", "@b", "@c"} {
		if tag := new(Namer).TagAt(d, Ref(a.labels[label])); tag != 0x11 || d.unitAt(Ref(a.labels[label])) != d.Units[i] {
			t.Errorf("%s: tag %v", label, tag)
		}
	}
	if tag := new(Namer).TagAt(d, 0); tag != 0 {
		t.Errorf("tag %v in a header", tag)
	}
}

// TestReadUnits: units read bit by bit, as the bytes of .debug_info come, are
// those that Open reads, damaged ones and all. What lies before the unit that is
// next need not be there any more.
func TestReadUnits(t *testing.T) {
	for _, e := range []enc{le5, {version: 4, addr: 4, d64: true, big: true}} {
		a := e.asm().units("unit\n CompileUnit Name:string=a\nunit\n CompileUnit Language:data1=4\n")
		a.info = append(a.info, e.buf().length(e.buf().uint(2, 9).b).b...) // a version to come
		a.info = append(a.info, e.buf().length(nil).b...)                  // too short for a version
		a.units("unit\n CompileUnit Name:string=b\n")
		for _, tail := range [][]byte{nil, {1, 2, 3}, {0xff, 0xff, 0xff, 0xf0, 0, 0, 0, 0, 0, 0, 0, 0, 0}} {
			s := a.sections()
			s.Info = append(slices.Clip(s.Info), tail...)
			want, wantErrs := Open(s, nil)
			for step := 1; step <= len(s.Info); step += 1 + len(s.Info)/30 {
				for keep := range 3 {
					d, errs := readInSteps(t, s, step, keep)
					if fmt.Sprint(errs) != fmt.Sprint(wantErrs) || len(d.Units) != len(want.Units) {
						t.Fatalf("%v in steps of %d: %d units, %v; at once %d, %v", e, step, len(d.Units), errs, len(want.Units), wantErrs)
					}
					for i := range d.Units {
						got := *d.Units[i]
						if got.Data() != d {
							t.Errorf("unit %d: another file's", i)
						}
						if got.data = want; !reflect.DeepEqual(&got, want.Units[i]) {
							t.Errorf("unit %d: %+v, want %+v", i, got, *want.Units[i])
						}
					}
				}
			}
		}
	}
}

// readInSteps reads the units of s as so many bytes come at a time. They are in
// segments, each of which begins a few bytes before the unit that is the next, with keep
// 0; with keep 1 it begins there, and with 2 there is one segment.
func readInSteps(t *testing.T, s Sections, step, keep int) (d *Data, errs []error) {
	d = New(s, len(s.Info), nil)
	segment, whole := 0, 0
	for upto := 0; ; upto = min(upto+step, len(s.Info)) {
		last := upto == len(s.Info)
		data := slices.Clone(s.Info[segment:upto]) // what is to come is not there
		errs = append(errs, d.ReadUnits(data, segment, last)...)
		if n := len(d.Units); n > 0 && d.Units[n-1].End > uint64(upto) {
			t.Fatalf("unit %+v read at %#x", d.Units[n-1], upto)
		}
		if last {
			return d, errs
		}
		end, _ := Whole(s.Info[whole:upto], s.BigEndian)
		if whole += end; d.read != uint64(whole) && d.read != d.size {
			t.Fatalf("read up to %#x, not %#x", d.read, whole)
		}
		switch keep {
		case 0:
			segment = max(0, whole-5)
		case 1:
			segment = whole
		}
	}
}

// TestWhole, DWARF 5 §7.4: how many bytes are units that are complete, and how long
// the next one is at most.
func TestWhole(t *testing.T) {
	for _, e := range []enc{{}, {big: true}, {d64: true}, {d64: true, big: true}} {
		unit := func(n int) []byte { return e.buf().length(make([]byte, n)).b }
		head := e.lengthSize()
		two := join(unit(20), unit(30))
		more := uint64(maxInitialLength)
		cut := func(n int) []byte { return join(two, unit(1000)[:n]) }
		reserved := e.buf().uint(4, 0xfffffff0).bytes(make([]byte, 30)...).b
		longest := e.buf().uint(4, 0xffffffff).uint(8, ^uint64(0)).bytes(make([]byte, 30)...).b
		tests := []struct {
			name string
			data []byte
			end  int
			next uint64
		}{
			{"nothing", nil, 0, 0},
			{"two units", two, len(two), 0},
			{"and a byte", cut(1), len(two), 0},
			{"and the most that does not tell a length", cut(maxInitialLength - 1), len(two), 0},
			{"and the least that does", cut(maxInitialLength), len(two), 1000 + more},
			{"and all but a byte", cut(999 + head), len(two), 1000 + more},
			{"and all", cut(1000 + head), len(two) + 1000 + head, 0},
			{"the first cut", unit(20)[:maxInitialLength+1], 0, 20 + more},
			{"units shorter than the longer form of a length", join(two, unit(0), unit(3), unit(0)), len(two) + 3*head + 3, 0},
			{"a reserved length, after which nothing is a unit", join(two, reserved), len(two) + len(reserved), 0},
			{"the longest length", join(two, longest), len(two), ^uint64(0)},
		}
		for _, tt := range tests {
			t.Run(fmt.Sprintf("DWARF 5 §7.4 %s, %+v", tt.name, e), func(t *testing.T) {
				if end, next := Whole(tt.data, e.big); end != tt.end || next != tt.next {
					t.Errorf("%d and %d, want %d and %d", end, next, tt.end, tt.next)
				}
			})
		}
	}
}

// TestDrop: a unit whose bytes are gone has no DIEs, and again those that it had when
// they are given back. The values of its root stay.
func TestDrop(t *testing.T) {
	a := le5.asm().units(`
unit skeleton
  CompileUnit Name:string=first CompDir:string=/d DwoName:string=x.dwo StmtList:sec_offset=7
    Subprogram @f Name:string=f Lowpc:addr=0x1000 Highpc:udata=1
unit
  CompileUnit Name:strp=second CompDir:line_strp=/e
    Subprogram @g Name:string=g Lowpc:addr=0x1000 Highpc:udata=1
`)
	s := a.sections()
	info := slices.Clone(s.Info)
	d, errs := Open(s, a.code)
	if len(errs) > 0 || len(d.Units) != 2 {
		t.Fatal(len(d.Units), errs)
	}
	read := func(u *Unit, label string) (string, error) {
		var scan Scan
		if err := d.ScanUnit(u, true, &scan); err != nil {
			return "", err
		}
		name, err := u.String(scan.Funcs[0].Name)
		if n, err := nameOf(d, Ref(a.labels[label])); err != nil || string(n.Name) != string(name) {
			t.Errorf("%s: %q, %v, and %q by its scan", label, n.Name, err, name)
		}
		return string(name), err
	}
	first, second := d.Units[0], d.Units[1]
	for round := range 3 {
		for i, label := range []string{"@f", "@g"} {
			if name, err := read(d.Units[i], label); name != label[1:] || err != nil || d.Units[i].bytes == nil {
				t.Fatalf("round %d: %s: %q, %v", round, label, name, err)
			}
		}
		first.Drop()
		clear(s.Info[:first.End]) // somebody else's
		if first.bytes != nil || second.bytes == nil {
			t.Error("not dropped, or the other one is")
		}
		if _, err := read(first, "@f"); err == nil {
			t.Error("dropped, and scanned")
		}
		if n, err := nameOf(d, Ref(a.labels["@f"])); err == nil {
			t.Errorf("dropped, and named %q", n.Name)
		}
		if name, err := read(second, "@g"); name != "g" || err != nil {
			t.Errorf("the other one: %q, %v", name, err)
		}
		for i, want := range []map[Str]string{
			{first.Name: "first", first.CompDir: "/d", first.Split: "x.dwo"}, {second.Name: "second", second.CompDir: "/e", second.Split: ""},
		} {
			for s, want := range want {
				if got, err := d.Units[i].String(s); string(got) != want || err != nil {
					t.Errorf("unit %d: %q, %v, want %q", i, got, err, want)
				}
			}
		}
		first.bytes = info[:first.End]
		if !first.HasLines || first.LineOff != 7 {
			t.Errorf("lines at %#x, %v", first.LineOff, first.HasLines)
		}
	}
	if d.Forget(); first.bytes != nil || second.bytes != nil {
		t.Error("forgotten, and there")
	}
}
