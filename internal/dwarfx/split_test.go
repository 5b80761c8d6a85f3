package dwarfx

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"symkit/located"
)

const splitID = "0x1122334455667788" // what the assembler writes

// TestTypeUnits, DWARF 4 §7.5.1.2 and DWARF 5 §3.1.4: the name of a type that
// is in a unit of its own, and of one that is not there.
func TestTypeUnits(t *testing.T) {
	const types = "unit type\n TypeUnit\n  Namespace Name:string=ns\n   ClassType @type Name:string=T\n"
	const text = "unit\n CompileUnit\n  ClassType @1 Signature:ref_sig8=" + splitID + "\n  ClassType @2 Signature:ref_sig8=5\n" +
		"  ClassType @3 Signature:ref_sig8=" + splitID + " Name:string=own\n"
	for _, e := range encodings() {
		if e.version < 4 {
			continue
		}
		t.Run(e.String(), func(t *testing.T) {
			a := e.asm()
			if e.version == 5 {
				a.units(types)
			} else {
				b := e.asm()
				b.abbrev = a.abbrev
				b.units(types).sections()
				a.sec.Types = b.info
			}
			a.units(text)
			d := a.open(t)
			for label, want := range map[string]string{"@1": "T", "@2": "", "@3": "own"} {
				n, err := nameOf(d, Ref(a.labels[label]))
				if string(n.Name) != want || err != nil {
					t.Errorf("%s: %q, %v", label, n.Name, err)
				}
				// The scopes of the type are those in its unit.
				if scopes := scopesOf(t, &n); label != "@2" && scopes != "ns" || label == "@2" && scopes != "" {
					t.Errorf("%s: in %q", label, scopes)
				}
			}
		})
	}
}

// scopesOf names the DIEs that enclose a declaration but the root of its unit.
func scopesOf(t *testing.T, n *Naming) (scopes string) {
	t.Helper()
	err := n.Unit.data.Parents(n.Unit, []Ref{n.Decl}, nil, func(_ int, parents []Ref) {
		for _, p := range parents[1:] {
			scope, err := nameOf(n.Unit.data, p)
			if err != nil {
				t.Error(err)
			}
			scopes += string(scope.Name)
		}
	})
	if err != nil {
		t.Error(err)
	}
	return scopes
}

// TestTypeNowhere, DWARF 5 §7.5.1.3: a type_offset that leads to no DIE.
func TestTypeNowhere(t *testing.T) {
	a := le5.asm().units("unit\n CompileUnit\n  ClassType @1 Signature:ref_sig8=" + splitID + "\nunit type\n TypeUnit\n")
	d := a.open(t)
	_, err := nameOf(d, Ref(a.labels["@1"]))
	checkErr(t, err, ErrReference, ".debug_info", int(d.Units[1].Off))
}

// TestTypeUnitErrors, DWARF 4 §7.5.1.2: damage in .debug_types has an error of its own.
func TestTypeUnitErrors(t *testing.T) {
	l := func(body *buf) []byte { return le4.buf().length(body.b).b }
	tests := []struct {
		name  string
		types []byte
		err   error
		at    int
	}{
		{"length cut", []byte{1}, located.ErrTruncated, 0},
		{"version", l(le4.buf().uint(2, 1)), ErrVersion, 0},
		{"address size", l(le4.buf().uint(2, 4).uint(4, 0).bytes(3).uint(8, 0).uint(4, 0)), ErrAddrSize, 0},
		{"too short for the signature", l(le4.buf().uint(2, 4).uint(4, 0).bytes(8).uint(4, 0)), located.ErrTruncated, 11},
		{"no root", l(le4.buf().uint(2, 4).uint(4, 0).bytes(8).uint(8, 0).uint(4, 0)), located.ErrTruncated, 23},
	}
	for _, tt := range tests {
		t.Run("DWARF 4 §7.5.1.2 "+tt.name, func(t *testing.T) {
			a := le4.asm().units("unit\n CompileUnit\n")
			a.sec.Types = tt.types
			d, errs := Open(a.sections(), a.code)
			if len(errs) != 1 || len(d.Units) != 1 {
				t.Fatalf("%d units, %v", len(d.Units), errs)
			}
			checkErr(t, errs[0], tt.err, ".debug_types", tt.at)
		})
	}
}

// TestOpenSplit, DWARF 5 §7.3.2: addresses are the skeleton's, strings and
// range lists the split file's.
func TestOpenSplit(t *testing.T) {
	for _, e := range encodings() {
		if e.version < 4 {
			continue
		}
		t.Run(e.String(), func(t *testing.T) {
			main, dwo := e.asm(), e.asm()
			main.addrs = []uint64{7, 0x1000, 0x2000}
			if e.version == 5 {
				base := e.lengthSize() + 4
				main.units(fmt.Sprintf("unit skeleton\n SkeletonUnit DwoName:string=x.dwo AddrBase:sec_offset=%d Lowpc:addr=0x3000\n", base))
				dwo.sec.RngLists = append(make([]byte, e.lengthSize()+8), join(e.buf().offset(uint64(e.offsetSize())).b, e.rnglist("startx_length 2 4\noffset_pair 1 2\nend"))...)
				dwo.units("unit split_type\n TypeUnit\nunit split_compile\n CompileUnit Language:data1=0x21\n" +
					"  Subprogram Name:strx1=f Lowpc:addrx=1 Highpc:data1=4\n  Subprogram Ranges:rnglistx=0\n")
			} else {
				main.units("unit\n CompileUnit 0x2130:string=x.dwo 0x2131:data8=" + splitID + " GNUAddrBase:sec_offset=0 0x2132:sec_offset=1 Lowpc:addr=0x3000 Language:data1=0x21\n")
				main.sec.Ranges = append(make([]byte, 3), e.pairs(1, 2, 0, 0)...)
				dwo.units("unit\n CompileUnit 0x2131:data8=" + splitID + "\n" +
					"  Subprogram Name:GNU_str_index=f Lowpc:GNU_addr_index=1 Highpc:data1=4\n  Subprogram Ranges:sec_offset=2\n")
			}
			d := main.open(t)
			u := d.Units[0]
			file, err := u.String(u.Split)
			if u.dwoID != number(splitID) || string(file) != "x.dwo" || err != nil {
				t.Fatalf("id %#x in %q, %v", u.dwoID, file, err)
			}
			split, errs := d.OpenSplit(u, dwo.sections())
			if split == nil || len(errs) > 0 {
				t.Fatalf("%+v, %v", split, errs)
			}
			var s Scan
			if err := split.data.ScanUnit(split, true, &s); err != nil {
				t.Fatal(err)
			}
			want := []Range{{Lo: 0x1000, Hi: 0x1004}, {Lo: 0x2000, Hi: 0x2004}, {Lo: 0x3001, Hi: 0x3002}}
			if e.version < 5 {
				want = []Range{{Lo: 0x1000, Hi: 0x1004}, {Lo: 0x3001, Hi: 0x3002}}
			}
			if !slices.Equal(s.Ranges, want) || split.Language != 0x21 {
				t.Errorf("ranges %#x, language %#x", s.Ranges, split.Language)
			}
			if name, err := split.String(s.Funcs[0].Name); string(name) != "f" || err != nil {
				t.Errorf("name %q, %v", name, err)
			}
			u.dwoID++
			split, errs = d.OpenSplit(u, dwo.sections())
			if split != nil || len(errs) != 1 {
				t.Fatalf("another id: %+v, %v", split, errs)
			}
			checkErr(t, errs[0], ErrSplitID, ".debug_info.dwo", 0)
		})
	}
}

// dwpIndex assembles .debug_cu_index (DWARF 5 §7.3.5.3).
func dwpIndex(e enc, version uint64, columns []uint64, ids []uint64, rows []uint64, offsets, sizes [][]uint64) *buf {
	w := e.buf()
	if version == 2 {
		w.uint(4, 2)
	} else {
		w.uint(2, version).uint(2, 0)
	}
	w.uint(4, uint64(len(columns))).uint(4, uint64(len(offsets))).uint(4, uint64(len(ids)))
	for _, id := range ids {
		w.uint(8, id)
	}
	for _, group := range append(append([][]uint64{rows, columns}, offsets...), sizes...) {
		for _, v := range group {
			w.uint(4, v)
		}
	}
	return w
}

// TestPackage, DWARF 5 §7.3.5: a unit's parts of the sections.
func TestPackage(t *testing.T) {
	sec := Sections{Info: []byte("iiIII"), Abbrev: []byte("aaaA"), StrOffsets: []byte("sS"), RngLists: []byte("rrRR"), Str: []byte("all")}
	for _, big := range []bool{false, true} {
		for _, version := range []uint64{2, 5} {
			t.Run(fmt.Sprintf("DWARF 5 §7.3.5.3 version %d, big endian %v", version, big), func(t *testing.T) {
				s, e := sec, le5
				s.BigEndian, e.big = big, big
				index := dwpIndex(e, version, []uint64{6, 1, 8, 3, 4}, []uint64{0, 77, 0, 78}, []uint64{0, 2, 0, 1},
					[][]uint64{{0, 0, 0, 0, 9}, {1, 2, 2, 3, 9}}, [][]uint64{{1, 2, 2, 3, 9}, {1, 3, 2, 1, 9}})
				p, err := OpenPackage(s, index.b, nil)
				if err != nil {
					t.Fatal(err)
				}
				for id, want := range map[uint64][4]string{78: {"ii", "aaa", "s", "rr"}, 77: {"III", "A", "S", "RR"}} {
					row, ok := p.units[id]
					got := p.part(row)
					if version == 2 {
						want[3] = "" // section 8 is another one there
					}
					if !ok || [4]string{string(got.Info), string(got.Abbrev), string(got.StrOffsets), string(got.RngLists)} != want || string(got.Str) != "all" {
						t.Errorf("unit %d: %+v, %v", id, got, ok)
					}
				}
				if _, ok := p.units[79]; ok {
					t.Error("a unit that is not there")
				}
			})
		}
	}
	t.Run("DWARF 5 §7.3.5.3 extents outside of their sections", func(t *testing.T) {
		index := dwpIndex(le5, 5, []uint64{1, 3}, []uint64{7, 8, 9}, []uint64{1, 2, 3}, [][]uint64{{3, 99}, {0xffffffff, 0}}, [][]uint64{{99, 1}, {0xffffffff, 0}})
		p, err := OpenPackage(sec, index.b, nil)
		if err != nil {
			t.Fatal(err)
		}
		if s := p.part(p.units[7]); string(s.Info) != "II" || len(s.Abbrev) > 0 {
			t.Errorf("%+v", s)
		}
		if s, ok := p.units[8]; !ok || len(p.part(s).Info) > 0 {
			t.Errorf("%+v, %v", s, ok)
		}
		if _, ok := p.units[9]; ok {
			t.Error("a row that is not there")
		}
	})
}

// TestPackageTypes, DWARF 5 §7.3.5.3: a class that a unit of the package has the
// signature of is in another unit of it; before DWARF 5 in another section.
func TestPackageTypes(t *testing.T) {
	const types = "unit split_type\n TypeUnit\n  Namespace Name:string=ns\n   ClassType @type Name:string=T\n"
	for _, e := range encodings() {
		if e.version < 4 || e.d64 {
			continue
		}
		t.Run(e.String(), func(t *testing.T) {
			main, dwo := e.asm(), e.asm()
			id, version, section := " 0x2131:data8="+splitID, uint64(2), uint64(2)
			if e.version == 5 {
				id, version, section = "", 5, 1
			}
			compile, skeleton, typeUnit := "unit split_compile\n", "unit skeleton\n", types
			if e.version == 4 {
				compile, skeleton, typeUnit = "unit\n", "unit\n", strings.Replace(types, "split_type", "type", 1)
			}
			dwo.units(compile + " CompileUnit" + id + "\n  ClassType @1 Signature:ref_sig8=" + splitID + "\n  ClassType @2 Signature:ref_sig8=6\n")
			unit := uint64(len(dwo.info))
			typeAt := unit
			if e.version == 5 {
				dwo.units(typeUnit)
			} else {
				b := e.asm()
				b.abbrev = dwo.abbrev
				b.units(typeUnit).sections()
				dwo.sec.Types, typeAt = b.info, 0
			}
			s := dwo.sections()
			typeSize := uint64(len(s.Types))
			if e.version == 5 {
				typeSize = uint64(len(s.Info)) - unit
			}
			abbrev := uint64(len(s.Abbrev))
			cus := dwpIndex(e, version, []uint64{1, 3}, []uint64{number(splitID)}, []uint64{1}, [][]uint64{{0, 0}}, [][]uint64{{unit, abbrev}})
			tus := dwpIndex(e, version, []uint64{section, 3}, []uint64{number(splitID), 6}, []uint64{1, 2},
				[][]uint64{{typeAt, 0}, {0, 0}}, [][]uint64{{typeSize, abbrev}, {1, 0}})
			p, err := OpenPackage(s, cus.b, tus.b)
			if err != nil {
				t.Fatal(err)
			}
			d := main.units(skeleton + " SkeletonUnit DwoName:string=x.dwo" + id + "\n").open(t)
			split, found, errs := p.OpenSplit(d.Units[0])
			if split == nil || !found || len(errs) > 0 {
				t.Fatalf("%+v, %v, %v", split, found, errs)
			}
			for label, want := range map[string]string{"@1": "ns::T", "@2": "::"} {
				n, err := nameOf(split.data, Ref(dwo.labels[label]))
				if err != nil {
					t.Fatal(err)
				}
				if got := scopesOf(t, &n) + "::" + string(n.Name); got != want {
					t.Errorf("%s: %q, want %q", label, got, want)
				}
			}
			d.Units[0].dwoID++
			if split, found, _ := p.OpenSplit(d.Units[0]); split != nil || found {
				t.Errorf("another id: %+v", split)
			}
		})
	}
}

// TestPackageErrors: what an index is rejected for. Its numbers must not
// make it larger than it is.
func TestPackageErrors(t *testing.T) {
	good := dwpIndex(le5, 5, []uint64{1, 3}, []uint64{7}, []uint64{1}, [][]uint64{{0, 0}}, [][]uint64{{1, 1}}).b
	header := func(version, columns, units, slots uint64) []byte {
		return le5.buf().uint(4, version).uint(4, columns).uint(4, units).uint(4, slots).b
	}
	tests := []struct {
		name  string
		index []byte
		err   error
		at    int
	}{
		{"empty", nil, located.ErrTruncated, 0},
		{"version 1", header(1, 0, 0, 0), ErrVersion, 0},
		{"version 7", header(7, 0, 0, 0), ErrVersion, 0},
		{"header cut", good[:15], located.ErrTruncated, 12},
		{"ids cut", good[:23], located.ErrTruncated, 16},
		{"rows cut", good[:27], located.ErrTruncated, 24},
		{"columns cut", good[:35], located.ErrTruncated, 28},
		{"offsets cut", good[:43], located.ErrTruncated, 36},
		{"sizes cut", good[:51], located.ErrTruncated, 44},
		{"most slots", header(5, 1, 1, 0xffffffff), located.ErrTruncated, 16},
		{"most columns", header(5, 0xffffffff, 1, 0), located.ErrTruncated, 16},
		{"most of all", header(5, 0xffffffff, 0xffffffff, 0xffffffff), located.ErrTruncated, 16},
		{"units without columns", header(5, 0, 0x10000, 0), ErrTooMany, 4},
	}
	for _, tt := range tests {
		t.Run("DWARF 5 §7.3.5.3 "+tt.name, func(t *testing.T) {
			p, err := OpenPackage(Sections{}, tt.index, nil)
			if err == nil {
				t.Fatalf("no error: %+v", p)
			}
			checkErr(t, err, tt.err, ".debug_cu_index", tt.at)
			if len(tt.index) == 0 {
				return // a package need not have type units
			}
			p, err = OpenPackage(Sections{}, good, tt.index)
			if err == nil {
				t.Fatalf("no error: %+v", p)
			}
			checkErr(t, err, tt.err, ".debug_tu_index", tt.at)
		})
	}
}
