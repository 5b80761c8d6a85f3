package dwarfx

import (
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"symkit/located"
)

// TestNameOf, DWARF 5 §2.13 and §3.3.8: chains of origins.
func TestNameOf(t *testing.T) {
	const text = `
unit
  CompileUnit
    Subprogram @own Name:string=own LinkageName:string=_Zown
    Subprogram @mips MIPSLinkage:strp=_Zmips
    Subprogram @spec Specification:ref4=@decl
    ClassType
      Subprogram @decl Name:string=decl LinkageName:string=_Zdecl Declaration:flag_present
    Subprogram @abstract Specification:ref4=@decl Name:string=nearer
    Subprogram @concrete AbstractOrigin:ref_udata=@abstract
    Subprogram @other AbstractOrigin:ref_addr=@far
    Subprogram @both AbstractOrigin:ref4=@own Specification:ref4=@decl
    Subprogram @sig AbstractOrigin:ref_sig8=5 Specification:ref4=@decl
    Subprogram @alt AbstractOrigin:GNU_ref_alt=5
    Subprogram @none
unit
  CompileUnit
    Subprogram @far Name:string=far
`
	tests := []struct{ from, linkage, name, decl string }{
		{"@own", "_Zown", "own", "@own"},
		{"@mips", "_Zmips", "", "@mips"},
		{"@spec", "_Zdecl", "decl", "@decl"},
		{"@concrete", "_Zdecl", "nearer", "@decl"},
		{"@other", "", "far", "@far"},
		{"@both", "_Zown", "own", "@own"},
		{"@sig", "_Zdecl", "decl", "@decl"},
		{"@alt", "", "", "@alt"},
		{"@none", "", "", "@none"},
	}
	for _, e := range []enc{le5, {version: 5, addr: 4, d64: true, big: true}} {
		a := e.asm().units(text)
		d := a.open(t)
		for _, tt := range tests {
			t.Run("DWARF 5 §2.13 "+tt.from, func(t *testing.T) {
				n, err := nameOf(d, Ref(a.labels[tt.from]))
				if err != nil || string(n.Linkage) != tt.linkage || string(n.Name) != tt.name || n.Decl != Ref(a.labels[tt.decl]) {
					t.Errorf("linkage %q, name %q, decl %#x, %v", n.Linkage, n.Name, uint64(n.Decl), err)
				}
				if n.Unit != d.unitAt(n.Decl) {
					t.Errorf("unit %+v", n.Unit)
				}
			})
		}
	}
}

// TestNameOfCycles: chains without an end.
func TestNameOfCycles(t *testing.T) {
	a := le5.asm().units(`
unit
  CompileUnit
    Subprogram @self Name:string=self AbstractOrigin:ref4=@self
    Subprogram @a Specification:ref4=@b
    Subprogram @b Name:string=b AbstractOrigin:ref_addr=@a
`)
	d := a.open(t)
	for label, want := range map[string]string{"@self": "self", "@a": "b", "@b": "b"} {
		if n, err := nameOf(d, Ref(a.labels[label])); string(n.Name) != want || err != nil {
			t.Errorf("%s: %q, %v", label, n.Name, err)
		}
	}
}

// TestNameOfErrors: references to no DIE.
func TestNameOfErrors(t *testing.T) {
	a := le5.asm().units(`
unit
  CompileUnit @root
    Subprogram @header AbstractOrigin:ref_addr=5 Name:string=before
    Subprogram @outside AbstractOrigin:ref_addr=0xffff
    Subprogram @inside AbstractOrigin:ref4=@inside+1
    Subprogram @null AbstractOrigin:ref4=@null+5
    Subprogram @strp Name:strp=s
`)
	d := a.open(t)
	d.Str = nil
	tests := []struct {
		ref     Ref
		err     error
		section string
		at      int
	}{
		{Ref(a.labels["@header"]), ErrReference, ".debug_info", 5},
		{Ref(a.labels["@outside"]), ErrReference, ".debug_info", int(d.size)},
		{Ref(a.labels["@inside"]), ErrAbbrev, ".debug_info", int(a.labels["@inside"]) + 1},
		{Ref(a.labels["@strp"]), located.ErrOffset, ".debug_str", 0},
		{0, ErrReference, ".debug_info", 0},
		{Ref(d.size), ErrReference, ".debug_info", int(d.size)},
		{^Ref(0) &^ refAlt, ErrReference, ".debug_info", int(d.size)},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%#x", uint64(tt.ref)), func(t *testing.T) {
			_, err := nameOf(d, tt.ref)
			checkErr(t, err, tt.err, tt.section, tt.at)
		})
	}
	if n, err := nameOf(d, Ref(a.labels["@header"])); string(n.Name) != "before" || err == nil {
		t.Errorf("what is known before the error: %q, %v", n.Name, err)
	}
}

// TestTagAt, DWARF 5 §2.3: a null entry is no DIE.
func TestTagAt(t *testing.T) {
	a := le5.asm().units("unit\n CompileUnit {}\n  Namespace @n {}\n")
	d := a.open(t)
	var x Namer
	for at, want := range map[uint64]dwarf.Tag{d.Units[0].first: dwarf.TagCompileUnit, a.labels["@n"]: dwarf.TagNamespace, a.labels["@n"] + 1: 0, 0: 0} {
		if got := x.TagAt(d, Ref(at)); got != want {
			t.Errorf("%#x: %v, want %v", at, got, want)
		}
	}
}

// TestParents: every DIE of a tree, with and without siblings, one by one and
// all together, with and without tops.
func TestParents(t *testing.T) {
	const text = `
unit
  CompileUnit @0
    Namespace @01 Name:string=n Sibling:ref4=next
      ClassType @012 Name:string=c
        Subprogram @0123 Name:string=f
      Namespace @014 Sibling:ref4=next
        Subprogram @0145
          LexDwarfBlock @01456 {}
        Subprogram @0147
      Typedef @018
    ArrayType @09 Sibling:ref4=@0
      SubrangeType @09a
    ArrayType @0b
      SubrangeType @0bc
    Subprogram @0d
`
	for _, with := range []string{"siblings", "no siblings"} {
		t.Run(with, func(t *testing.T) {
			a := le5.asm().units(strings.ReplaceAll(text, " Sibling:ref4=next", map[string]string{"siblings": " Sibling:ref4=next"}[with]))
			d := a.open(t)
			u := d.Units[0]
			byAt := map[Ref]string{}
			for l, at := range a.labels {
				if !strings.HasPrefix(l, "@next ") {
					byAt[Ref(at)] = l
				}
			}
			var all []Ref
			for off := u.first; off < u.End; off++ {
				all = append(all, Ref(off)) // those within DIEs and null entries, too
			}
			var tops []Ref
			check := func(targets []Ref) (n int) {
				err := d.Parents(u, targets, tops, func(i int, parents []Ref) {
					n++
					label := byAt[targets[i]]
					if label == "" {
						t.Errorf("found at %#x, where no DIE begins", targets[i])
						return
					}
					var got strings.Builder
					got.WriteString("@")
					for _, p := range parents {
						got.WriteString(byAt[p][len(byAt[p])-1:])
					}
					if got.String() != label[:len(label)-1] {
						t.Errorf("parents of %s: %s", label, got.String())
					}
				})
				if err != nil {
					t.Error(err)
				}
				return n
			}
			for _, labels := range [][]string{nil, {"@01"}, {"@0b"}, {"@09", "@0d"}, {"@01", "@09", "@0b", "@0d"}} {
				tops = nil
				for _, label := range labels {
					tops = append(tops, Ref(a.labels[label]))
				}
				if n := check(all); n != len(byAt) {
					t.Errorf("%d found of %d", n, len(byAt))
				}
				for at := range byAt {
					if n := check([]Ref{at}); n != 1 {
						t.Errorf("%s: found %d times", byAt[at], n)
					}
				}
			}
			if n := check(nil); n != 0 {
				t.Error("found a function that was not searched for")
			}
			if n := check([]Ref{Ref(u.first), Ref(u.first)}); n != 2 {
				t.Errorf("a target twice: found %d times", n)
			}
		})
	}
}

// TestParentsErrors: targets that no DIE is at, and damage before them.
func TestParentsErrors(t *testing.T) {
	none := func(int, []Ref) { t.Error("found") }
	d := le5.asm().units("unit\n CompileUnit Name:string=x\n").open(t)
	u := d.Units[0]
	if err := d.Parents(u, []Ref{Ref(u.first) + 1}, nil, none); err != nil {
		t.Errorf("a root without children: %v", err)
	}
	a := le5.asm().units("unit\n CompileUnit\n  Namespace\n   Namespace @bad\n  Namespace @last\n")
	a.info[a.labels["@bad"]] = 9
	d = a.open(t)
	u = d.Units[0]
	checkErr(t, d.Parents(u, []Ref{Ref(a.labels["@last"])}, nil, none), ErrAbbrev, ".debug_info", int(a.labels["@bad"]))
	cut := *u
	cut.End, cut.bytes = a.labels["@bad"], u.bytes[:a.labels["@bad"]-u.Off]
	checkErr(t, d.Parents(&cut, []Ref{Ref(a.labels["@last"])}, nil, none), located.ErrTruncated, ".debug_info", int(cut.End))
}

// TestAlt, DWARF 5 §7.3.6 (dwz): names and origins in the supplementary file.
func TestAlt(t *testing.T) {
	alt := le5.asm().units("unit partial\n PartialUnit\n  Subprogram @f Name:strp=shared LinkageName:strp=_Zshared\n")
	a := le5.asm().units(fmt.Sprintf("unit\n CompileUnit\n  Subprogram @1 AbstractOrigin:GNU_ref_alt=%d Lowpc:addr=0x1000 Highpc:data1=1\n"+
		"  Subprogram @2 Name:GNU_strp_alt=x\n  Subprogram @3 AbstractOrigin:ref_sup4=%[1]d\n  Subprogram @4 Name:strp_sup=x\n  Subprogram @5 AbstractOrigin:GNU_ref_alt=0x7fffffff\n", alt.labels["@f"]))
	d := a.open(t)
	name := func(label string) string {
		n, err := nameOf(d, Ref(a.labels[label]))
		if err != nil {
			return err.Error()
		}
		return string(n.Linkage) + " " + string(n.Name)
	}
	for _, label := range []string{"@1", "@2", "@3", "@4", "@5"} {
		if got := name(label); got != " " {
			t.Errorf("%s without the supplementary file: %q", label, got)
		}
	}
	d.SetAlt(alt.open(t))
	for label, want := range map[string]string{"@1": "_Zshared shared", "@2": " shared", "@3": "_Zshared shared", "@4": " shared"} {
		if got := name(label); got != want {
			t.Errorf("%s: %q", label, got)
		}
	}
	_, err := nameOf(d, Ref(a.labels["@5"]))
	checkErr(t, err, ErrReference, ".debug_info", int(d.alt.size))
	var s Scan
	if err := d.ScanUnit(d.Units[0], true, &s); err != nil || len(s.Funcs) != 1 || s.Funcs[0].Origin != refAlt|Ref(alt.labels["@f"]) {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestSelfContained: a unit with a form that can lead into another one is not;
// what was scanned can be forgotten, and is then an error.
func TestSelfContained(t *testing.T) {
	for form, want := range map[string]bool{
		"ref4=@x": true, "ref_udata=@x": true, "GNU_ref_alt=5": true,
		"ref_addr=@x": false, "ref_sig8=5": false, "indirect/ref4=@x": false,
	} {
		a := le5.asm().units(`
unit
  CompileUnit
    Subprogram @x Name:string=f AbstractOrigin:` + form + "\n")
		d := a.open(t)
		if err := d.ScanUnit(d.Units[0], true, new(Scan)); err != nil {
			t.Fatal(err)
		}
		if got := SelfContained(d.Abbrev); got != want || d.Units[0].SelfContained() != want {
			t.Errorf("%s: %v, its unit %v", form, got, d.Units[0].SelfContained())
		}
		name, err := nameOf(d, Ref(a.labels["@x"]))
		if d.Forget(); err != nil || string(name.Name) != "f" {
			t.Errorf("%s: %q, %v", form, name.Name, err)
		}
		if _, err := nameOf(d, Ref(a.labels["@x"])); !errors.Is(err, located.ErrOffset) && !errors.Is(err, located.ErrTruncated) {
			t.Errorf("%s: forgotten: %v", form, err)
		}
		if err := d.ScanUnit(d.Units[0], true, new(Scan)); err == nil {
			t.Errorf("%s: forgotten, and scanned", form)
		}
	}
}

// TestConfine: a confined namer reads the names of its unit while others are
// added, and of another unit none.
func TestConfine(t *testing.T) {
	var text strings.Builder
	for i := range 50 {
		text.WriteString(fmt.Sprintf("unit\n  CompileUnit\n    Subprogram @f%d Name:string=f%d\n    Subprogram @g%d Specification:ref4=@f%d\n", i, i, i, i))
	}
	a := le5.asm().units(text.String())
	sections := a.sections()
	info := sections.Info
	d := New(sections, len(info), a.code)
	first, _ := Whole(info[:maxInitialLength+binary.LittleEndian.Uint32(info)], false)
	if errs := d.ReadUnits(info[:first], 0, false); errs != nil || len(d.Units) != 1 {
		t.Fatal(len(d.Units), errs)
	}
	u, done := d.Units[0], make(chan []error)
	go func() {
		var errs []error
		segment := 0 // where it begins
		for upto := int(u.End); upto <= len(info); upto++ {
			if n := len(d.Units); upto%100 == 0 { // the next segment begins in the middle of a unit's bytes or before
				segment = int(d.Units[n-1].End) - upto%3
			}
			errs = append(errs, d.ReadUnits(info[segment:upto], segment, upto == len(info))...)
		}
		done <- errs
	}()
	var x Namer
	if err := x.Confine(u); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		n, err := x.NameOf(d, Ref(a.labels["@g0"]))
		if err != nil || string(n.Name) != "f0" || n.Unit != u || n.Decl != Ref(a.labels["@f0"]) {
			t.Fatalf("%q of unit %v, %v", n.Name, n.Unit, err)
		}
		if n, err := x.NameOf(d, Ref(a.labels["@f1"])); !errors.Is(err, ErrReference) {
			t.Fatalf("of another unit: %q, %v", n.Name, err)
		}
	}
	if errs := <-done; errs != nil || len(d.Units) != 50 {
		t.Fatal(len(d.Units), errs)
	}
	if err := x.Confine(d.Units[1]); err != nil {
		t.Fatal(err)
	}
	if n, err := x.NameOf(d, Ref(a.labels["@g1"])); err != nil || string(n.Name) != "f1" {
		t.Errorf("then %q, %v", n.Name, err)
	}
}

// TestNameAt: the offset of a linkage name, or else of a plain name, is known if the name is in the
// file's own .debug_str, and a missing string is detected without being read.
func TestNameAt(t *testing.T) {
	alt := le5.asm().units("unit partial\n PartialUnit\n  Subprogram @f LinkageName:strp=_Zshared\n")
	a := le5.asm().units(fmt.Sprintf(`
unit
  CompileUnit Name:strp=first
    Subprogram @own LinkageName:strp=_Zown
    Subprogram @spec Specification:ref4=@own Name:strp=f
    Subprogram @inline LinkageName:string=_Zinline
    Subprogram @line LinkageName:line_strp=_Zline
    Subprogram @alt AbstractOrigin:GNU_ref_alt=%d
    Subprogram @none Name:strp=g
`, alt.labels["@f"]))
	d := a.open(t)
	d.SetAlt(alt.open(t))
	var x Namer
	var found [1]Found
	own, plain := uint32(strings.Index(string(d.Str), "_Zown")), uint32(strings.Index(string(d.Str), "\x00g\x00")+1)
	for label, want := range map[string]bool{"@own": true, "@spec": true, "@inline": false, "@line": false, "@alt": false, "@none": false} {
		x.FindAll(d.Units[0], []Ref{Ref(a.labels[label])}, found[:])
		err := found[0].Err()
		if off := found[0].NameAt(d, false); (off != 0) != want || want && off != own || err != nil {
			t.Errorf("%s: %#x, %v", label, off, err)
		}
		if off := found[0].NameAt(d, true); label == "@none" && off != plain || label != "@none" && off != found[0].NameAt(d, false) {
			t.Errorf("%s: %#x with plain names", label, off)
		}
	}
	d.Str = append(d.Str, "no end"...)
	u := d.Units[0]
	for sec := secNone; sec <= secAltStr; sec++ {
		for off := range uint64(len(d.Str) + 3) {
			s := makeStr(sec, off)
			if _, want := u.String(s); sec != secInfo && sec != secUnit && fmt.Sprint(u.check(s)) != fmt.Sprint(want) {
				t.Errorf("%d %#x: %v, want %v", sec, off, u.check(s), want)
			}
		}
	}
}

// TestFindAll: FindAll has the names and errors that NameOf has, one by one.
func TestFindAll(t *testing.T) {
	a := le5.asm().units(`
unit
  CompileUnit
    Subprogram @f Name:string=f LinkageName:string=_Zf
    Subprogram @spec Specification:ref4=@f
    Subprogram @inline AbstractOrigin:ref4=@spec Name:string=own
    Subprogram @far AbstractOrigin:ref_addr=@there
    Subprogram @cycle AbstractOrigin:ref4=@cycle
    Subprogram @alt AbstractOrigin:GNU_ref_alt=12
unit
  CompileUnit
    Subprogram @there Name:string=g
`)
	d := a.open(t)
	refs := []Ref{0, Ref(d.size), Ref(d.size) - 1, 5 | refAlt, ^Ref(0)}
	for _, label := range []string{"@f", "@spec", "@inline", "@far", "@cycle", "@alt", "@there"} {
		refs = append(refs, Ref(a.labels[label]))
	}
	for _, u := range append(d.Units, &Unit{data: d}) {
		if err := checkFindAll(d, u, refs); err != nil {
			t.Error(err)
		}
	}
}

// checkFindAll checks that FindAll has the names and errors of NameOf, also when it has
// been used before.
func checkFindAll(d *Data, u *Unit, refs []Ref) error {
	var x, one Namer
	found := make([]Found, len(refs))
	for range 2 {
		x.FindAll(u, refs, found)
		for i, ref := range refs {
			want, wantErr := one.NameOf(d, ref)
			got, gotErr := found[i].Naming(), found[i].Err()
			if fmt.Sprint(got) != fmt.Sprint(want) || fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
				return fmt.Errorf("%#x: %+v, %v; NameOf: %+v, %v", ref, got, gotErr, want, wantErr)
			}
		}
	}
	return nil
}
