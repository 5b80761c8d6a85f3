package dwarfx

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"symkit/located"
)

// localText returns a variable as text: function, name, line, offset, size, tag.
func localText(l *Local) string {
	shown := func(known bool, value any) string {
		if !known {
			return "?"
		}
		return fmt.Sprint(value)
	}
	return fmt.Sprintf("%s %s:%d %s %s %s", l.Func, l.Name, l.Decl.Line, shown(l.OnFrame, l.Offset), shown(l.HasSize, l.Size), shown(l.HasTag, l.Tag))
}

// localTree is a function with an inlined call, after types.
const localTree = `unit
 CompileUnit Language:data1=4
  BaseType @int ByteSize:data1=4
  ArrayType @array Type:ref4=@int
   SubrangeType UpperBound:data1=199
   SubrangeType Count:data1=2
   SubrangeType LowerBound:sdata=-1 UpperBound:sdata=1
  ArrayType @open Type:ref4=@int
   SubrangeType {}
  ArrayType @computed Type:ref4=@int
   SubrangeType UpperBound:exprloc=0x30
  PointerType @pointer Type:ref4=@array
  SubroutineType @call
  PtrToMemberType @method Type:ref4=@call
  PtrToMemberType @member Type:ref4=@int
  Typedef @typedef Type:ref4=@array
  ConstType @void
  Typedef @loop Type:ref4=@loop
  Subprogram @inner Name:string=inner
   FormalParameter @p Name:string=p Type:ref4=@int DeclFile:data1=1 DeclLine:data1=7
  Subprogram Name:string=f Lowpc:addr=0x1000 Highpc:data4=0x100 FrameBase:BASE
   FormalParameter Name:string=typedef Type:ref4=@typedef Location:exprloc=0x9170 0x3e03:udata=5
   LexDwarfBlock
    Variable Name:string=register Type:ref4=@pointer Location:exprloc=0x7670
   Variable Name:string=computed Type:ref4=@computed Location:exprloc=0x76709f
   Variable Name:string=open Type:ref4=@open Location:block1=\x91\x68\x06
   Variable Name:string=method Type:ref4=@method Location:LIST
   Variable Name:string=member Type:ref4=@member Location:exprloc=0x
   Variable Name:string=void Type:ref4=@void
   Variable Name:string=loop Type:ref4=@loop
   InlinedSubroutine AbstractOrigin:ref4=@inner Lowpc:addr=0x1010 Highpc:data4=0x10
    FormalParameter AbstractOrigin:ref4=@p Location:exprloc=0x7668
    FormalParameter AbstractOrigin:ref4=@p Location:exprloc=0x9168
  Subprogram Name:string=after Lowpc:addr=0x1100 Highpc:data4=0x100
   Variable Name:string=z
`

// TestLocals: the variables of a function, and of an inlined call alone, with places in the frame and sizes.
func TestLocals(t *testing.T) {
	const inlined = "inner p:7 ? 4 ?\ninner p:7 -24 4 ?\n"
	const all = "f typedef:0 -16 4800 5\nf register:0 -16 8 ?\nf computed:0 ? ? ?\nf open:0 -24 ? ?\nf method:0 -8 16 ?\nf member:0 ? 8 ?\n" +
		"f void:0 ? ? ?\nf loop:0 ? ? ?\n" + inlined
	for _, e := range []enc{le4, le5, {version: 3, addr: 8}, {version: 5, addr: 8, d64: true, big: true}} {
		list, base := "sec_offset=2", "exprloc=0x56"
		s := Locations{Loc: e.buf().bytes(0, 0).address(0).address(1).uint(2, 1).bytes(0x50).address(2).address(3).uint(2, 2).bytes(opFbreg, 0x78).address(0).address(0).b}
		switch e.version {
		case 3:
			list, base = "data4=2", "block1=\x56"
		case 5:
			list = "loclistx=1"
			s.LocLists = e.buf().length(e.buf().uint(2, 5).bytes(8, 0).uint(4, 2).offset(0).offset(uint64(2*e.offsetSize())).
				bytes(6).address(0x1000).bytes(8).address(0).uleb(3).uleb(1).bytes(0x50).bytes(1, 0, 4, 0, 1, 2, opFbreg, 0x78, 5, 1, 0x50, 0).b).b
		}
		a := e.asm().units(strings.NewReplacer("BASE", base, "LIST", list, `\x91\x68\x06`, "\x91\x68\x06").Replace(localTree))
		sections := a.sections()
		sections.Locations = func() (Locations, error) { return s, nil }
		d, errs := Open(sections, a.code)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		var scan Scan
		err := d.ScanUnit(d.Units[0], true, &scan)
		if err != nil {
			t.Fatal(err)
		}
		var x LocalReader
		for addr, want := range map[uint64]string{0x1000: all, 0x101f: inlined, 0x1020: all} {
			list, err := x.Read(nil, d.Units[0], scan.Funcs[0].DIE, addr)
			var got strings.Builder
			for i := range list {
				got.WriteString(localText(&list[i]) + "\n")
			}
			if err != nil || got.String() != want {
				t.Errorf("%v, %#x: %v\n%s, want\n%s", e, addr, err, got.String(), want)
			}
		}
	}
}

// TestLocalsDamaged: what comes before damage is read, and the damage has its place.
func TestLocalsDamaged(t *testing.T) {
	for _, tt := range []struct {
		what, die string
		lists     []byte
		want      error
		section   string
	}{
		{"reference", "Variable Type:ref4=1", nil, ErrReference, ".debug_info"},
		{"list", "Variable Location:sec_offset=0", []byte{9, 1, 1, 77}, ErrLocKind, ".debug_loclists"},
		{"list without an end", "Variable Location:sec_offset=0", []byte{5, 1}, located.ErrTruncated, ".debug_loclists"},
		{"list without a base", "Variable Location:loclistx=9", []byte{0}, located.ErrOffset, ".debug_loclists"},
	} {
		a := le5.asm().units("unit\n CompileUnit\n  Subprogram Name:string=f Lowpc:addr=0x1000 Highpc:data4=0x100\n   Variable Name:string=a\n   " + tt.die + "\n")
		s := a.sections()
		s.Locations = func() (Locations, error) { return Locations{LocLists: tt.lists}, nil }
		d, _ := Open(s, a.code)
		var scan Scan
		err := d.ScanUnit(d.Units[0], true, &scan)
		if err != nil {
			t.Fatal(err)
		}
		var x LocalReader
		list, err := x.Read(nil, d.Units[0], scan.Funcs[0].DIE, 0x1000)
		e, ok := errors.AsType[*located.Error](err)
		if !errors.Is(err, tt.want) || !ok || e.Section != tt.section || len(list) != 1 {
			t.Errorf("%s: %d variables, %v", tt.what, len(list), err)
		}
	}
}

// FuzzLocals reads the variables of all functions of any sections: twice the same, and damage has a place.
func FuzzLocals(f *testing.F) {
	for _, e := range []enc{le4, le5} {
		a := e.asm().units(strings.NewReplacer("BASE", "exprloc=0x56", "LIST", "sec_offset=0").Replace(localTree))
		f.Add(frameSections(a.sections()), []byte{8, 0, 16, 0, 0, 0, 0, 0, 0, 1, 2, opFbreg, 0x78, 0})
	}
	f.Fuzz(func(t *testing.T, data, lists []byte) {
		s := unframe(data)
		s.Locations = func() (Locations, error) { return Locations{lists, lists}, nil }
		d, _ := Open(s, fuzzCode)
		var scan Scan
		var x, y LocalReader
		for _, u := range d.Units {
			_ = d.ScanUnit(u, true, &scan)
			for i := range scan.Funcs[:min(len(scan.Funcs), 8)] {
				fn, addr := scan.Funcs[i].DIE, scan.Ranges[scan.Funcs[i].Ranges.From].Lo
				list, err := x.Read(nil, u, fn, addr)
				e, ok := errors.AsType[*located.Error](err)
				switch {
				case ok && strings.HasPrefix(e.Section, ".debug_loc"):
					if e.Offset < 0 || e.Offset > len(lists) {
						t.Fatalf("error outside of %d bytes: %v", len(lists), err)
					}
				default:
					hasPlace(t, s, err)
				}
				if uint64(len(list)) > u.End-u.Off {
					t.Fatalf("%d variables in %d bytes", len(list), u.End-u.Off)
				}
				again, _ := y.Read(nil, u, fn, addr)
				if !slices.EqualFunc(list, again, func(a, b Local) bool { return localText(&a) == localText(&b) }) {
					t.Fatalf("%v, then %v", list, again)
				}
			}
		}
	})
}
