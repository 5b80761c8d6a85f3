package dwarfx

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// checkSkips checks that skipping DIEs finds what reading attribute by attribute does.
func checkSkips(d *Data, u *Unit) error {
	table, err := d.abbrevs(u)
	if err != nil {
		return nil
	}
	for _, inlines := range []bool{false, true} {
		var got, want Scan
		want.skips.of = table // but no skipOps in it
		err, wantErr := d.ScanUnit(u, inlines, &got), d.ScanUnit(u, inlines, &want)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			return fmt.Errorf("unit at %#x: %v, without skipOps %v", u.Off, err, wantErr)
		}
		if !slices.Equal(got.Funcs, want.Funcs) || !slices.Equal(got.Inlines, want.Inlines) || !slices.Equal(got.Origins, want.Origins) || !slices.Equal(got.Ranges, want.Ranges) {
			return fmt.Errorf("unit at %#x, inlined calls %v: %+v\nwithout skipOps %+v", u.Off, inlines, got, want)
		}
	}
	return nil
}

// TestSkips: on every fixture.
func TestSkips(t *testing.T) {
	units := 0
	for path, d := range eachFixture(t) {
		for i := range d.Units {
			if err := checkSkips(d, d.Units[i]); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			units++
		}
	}
	if units < 100 {
		t.Errorf("%d units", units)
	}
}

// TestSkipSteps: how the DIEs of an abbreviation are skipped in modeOutside, modeInside and
// modeSkip. J is a jump, m a skip program, b one by one, c an inlined call, v a visit,
// + children; a number is the bytes skipped.
func TestSkipSteps(t *testing.T) {
	tests := []struct{ name, die, want string }{
		{"§3.9 block", "LexDwarfBlock {}", "0+ 0+ 0+"},
		{"§3.9 block, sibling", "LexDwarfBlock Sibling:ref4=next {}", "4+ 4+ J0"},
		{"§3.9 block without children", "LexDwarfBlock Sibling:ref4=@x Lowpc:addr=0", "12 12 12"},
		{"§4.1 parameter", "FormalParameter Type:ref4=0 DeclLine:data2=0 Artificial:flag_present ConstValue:implicit_const=1", "6 6 6"},
		{"§4.1 parameter of variable size", "FormalParameter Name:string=s Location:exprloc=xy DeclLine:udata=1", "m m m"},
		{"§4.1 variable with a form that is rare", "Variable ConstValue:block2=xy", "v v v"},
		{"§5.5 array", "ArrayType Name:strp=a Sibling:ref4=next Type:ref4=0 {}", "J4 J4 J4"},
		{"§5.5 array without sibling", "ArrayType Type:ref4=0 {}", "b4 b4 4+"},
		{"§5.5 array of variable size", "ArrayType Name:string=a Sibling:ref4=next {}", "J. J. J."},
		{"§5.5 array of variable size, sibling not last", "ArrayType Name:string=a Sibling:ref4=next Type:ref4=0 {}", "v v v"},
		{"§5.5 array of variable size without sibling", "ArrayType Name:string=a {}", "v v m+"},
		{"§2.3 sibling of another form", "ArrayType Sibling:ref8=next {}", "v v v"},
		{"§3.3 declaration", "Subprogram Declaration:flag_present Name:strp=f Sibling:ref4=next {}", "J4 v J4"},
		{"§3.3 declaration of variable size", "Subprogram Name:string=f Declaration:flag_present Sibling:ref4=next {}", "J. v J."},
		{"§3.3 declaration without sibling", "Subprogram Declaration:flag_present {}", "0+ v 0+"},
		{"§3.3 function without code", "Subprogram Name:strp=f Sibling:ref4=next {}", "8+ v J4"},
		{"§3.3 entry without end", "EntryPoint Lowpc:addr=0", "8 v 8"},
		{"§3.3 function", "Subprogram Lowpc:addr=0 Highpc:data8=0 Sibling:ref4=next {}", "v v J16"},
		{"§3.3 function of ranges", "Subprogram Ranges:sec_offset=0", "v v 4"},
		{"§3.3.8.2 call", "InlinedSubroutine AbstractOrigin:ref4=0 Lowpc:addr=0 Highpc:data8=0 CallFile:implicit_const=1 CallLine:data2=0", "22 c 22"},
		{"§3.3.8.2 call of ranges", "InlinedSubroutine AbstractOrigin:ref4=0 Entrypc:addr=0 Ranges:sec_offset=0 Sibling:ref4=next {}", "J16 c J16"},
		{"§3.3.8.2 call with a constant below 0", "InlinedSubroutine AbstractOrigin:ref4=0 Ranges:sec_offset=0 CallLine:implicit_const=-1", "8 v 8"},
		{"§3.3.8.2 call of variable size", "InlinedSubroutine AbstractOrigin:ref4=0 Ranges:rnglistx=0", "m v m"},
		{"§3.3.8.2 call that ends at an address", "InlinedSubroutine AbstractOrigin:ref4=0 Lowpc:addr=0 Highpc:addr=0", "20 v 20"},
		{"§3.3.8.2 call without origin", "InlinedSubroutine Ranges:sec_offset=0", "4 v 4"},
		{"§3.3.8.2 call of another unit's", "InlinedSubroutine AbstractOrigin:ref_addr=0 Ranges:sec_offset=0", "8 v 8"},
	}
	for _, tt := range tests {
		t.Run("DWARF 5 "+tt.name, func(t *testing.T) {
			d := le5.asm().units("unit\n CompileUnit @x Language:data1=0x21\n  " + tt.die + "\n").open(t)
			table, err := d.abbrevs(d.Units[0])
			if err != nil {
				t.Fatal(err)
			}
			var h skipTable
			h.reset(table)
			var got []string
			for m := range numModes {
				got = append(got, renderSkip(h.skips[m][2]))
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func renderSkip(h skipOp) string {
	text := map[step]string{
		stepPass: fmt.Sprint(h.size), stepJump: fmt.Sprintf("J%d", h.n), stepProgram: "m", stepProgramJump: "J.",
		stepBelow: fmt.Sprintf("b%d", h.size), stepCall: "c", stepVisit: "v",
	}[h.step]
	if h.opens > 0 {
		text += "+"
	}
	return text
}

// TestTop: which functions are children of the unit's root, beside, in and after
// scopes and functions with and without code.
func TestTop(t *testing.T) {
	a, d, scans := le5.scan(t, `
unit
  CompileUnit Language:data1=0x21
    Subprogram @top1 Lowpc:addr=0x1000 Highpc:data1=1
      LexDwarfBlock
        Subprogram @in1 Lowpc:addr=0x1001 Highpc:data1=1
    Namespace
      Subprogram @in2 Lowpc:addr=0x1002 Highpc:data1=1
      ClassType
        Subprogram @in3 Lowpc:addr=0x1003 Highpc:data1=1
    Subprogram Name:string=abstract
      Subprogram @in4 Lowpc:addr=0x1004 Highpc:data1=1
    Subprogram @top2 Lowpc:addr=0x1005 Highpc:data1=1
`)
	var slow Scan
	slow.skips.of, _ = d.abbrevs(d.Units[0]) // but no skipOps in it
	if err := d.ScanUnit(d.Units[0], true, &slow); err != nil {
		t.Fatal(err)
	}
	want := []Ref{Ref(a.labels["@top1"]), Ref(a.labels["@top2"])}
	for _, s := range []*Scan{&scans[0], &slow} {
		if got := Tops(s.Funcs); len(s.Funcs) != 6 || !slices.Equal(got, want) {
			t.Errorf("%d functions, children of the root %#x, want %#x", len(s.Funcs), got, want)
		}
	}
}
