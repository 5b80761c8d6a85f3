package dwarfx

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"symkit/internal/limitof"
	"symkit/limits"
	"symkit/located"
)

// render writes what a scan found, one function or call a line, with its
// origin's label.
func (a *asm) render(u *Unit, s *Scan) string {
	label := func(r Ref) string {
		if r == 0 {
			return ""
		}
		for l, at := range a.labels {
			if at == uint64(r) && !strings.HasPrefix(l, "@next ") {
				return " of " + l
			}
		}
		return fmt.Sprintf(" of %#x", uint64(r))
	}
	ranges := func(sp Span) (b string) {
		for _, r := range s.Ranges[sp.From:sp.To] {
			b += fmt.Sprintf(" %x-%x", r.Lo, r.Hi)
		}
		return b
	}
	var b strings.Builder
	for _, f := range s.Funcs {
		name, _ := u.String(f.Name)
		if f.Linkage != 0 {
			name, _ = u.String(f.Linkage)
		}
		fmt.Fprintf(&b, "%s%s%s\n", name, label(f.Origin), ranges(f.Ranges))
		for _, i := range s.Inlines[f.Inlines.From:f.Inlines.To] {
			file := ""
			if i.CallFile != NoFile {
				file = fmt.Sprintf(" %d:%d", i.CallFile, i.CallLine)
			}
			fmt.Fprintf(&b, "%scall%s%s%s\n", strings.Repeat(" ", 1+int(i.Depth)), file, label(s.Origins[i.Origin]), ranges(i.Ranges))
		}
	}
	return b.String()
}

// TestScan: trees of DIEs and what is found in them. $ stands for low_pc and
// high_pc of [N, N+16).
func TestScan(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"§3.3 functions", `
unit
  CompileUnit Language:data1=0x21
    Subprogram Name:string=f $1000
    Subprogram Name:string=g LinkageName:string=_Zg $1010
    Subprogram Name:string=h MIPSLinkage:string=_Zh $1020
    Subprogram Name:string=none
    Subprogram Name:string=low Lowpc:addr=0x1000
    Subprogram Name:string=high Highpc:data1=1
    Subprogram Name:string=empty Lowpc:addr=0x1000 Highpc:data1=0
    Subprogram Name:string=dead Lowpc:addr=0 Highpc:data1=9
    EntryPoint Name:string=e $1030
`, "f 1000-1010\n_Zg 1010-1020\n_Zh 1020-1030\ne 1030-1040\n"},
		{"§2.17.2 high_pc as address and as length of any form", `
unit
  CompileUnit
    Subprogram Lowpc:addr=0x1000 Highpc:addr=0x1001
    Subprogram Lowpc:addr=0x1000 Highpc:data1=2
    Subprogram Lowpc:addr=0x1000 Highpc:data2=3
    Subprogram Lowpc:addr=0x1000 Highpc:data4=4
    Subprogram Lowpc:addr=0x1000 Highpc:data8=5
    Subprogram Lowpc:addr=0x1000 Highpc:udata=6
    Subprogram Lowpc:addr=0x1000 Highpc:sdata=7
    Subprogram Lowpc:addr=0x1000 Highpc:implicit_const=8
    Subprogram Lowpc:addr=0x1000 Highpc:addr=0xfff
    Subprogram Lowpc:addr=0x1000 Highpc:sdata=-8
`, " 1000-1001\n 1000-1002\n 1000-1003\n 1000-1004\n 1000-1005\n 1000-1006\n 1000-1007\n 1000-1008\n"},
		{"§3.2.2 §3.5 §5.7 functions in scopes", `
unit
  CompileUnit Language:data1=0x04
    Namespace Name:string=n
      Module Name:string=m
        Subprogram Name:string=f1 $1000
      ClassType
        StructType
          Subprogram Name:string=f2 $1010
        UnionType
          Subprogram Name:string=f3 $1020
        InterfaceType
          Subprogram Name:string=f4 $1030
    Subprogram Name:string=f5 $1040
      LexDwarfBlock
        TryDwarfBlock
          CatchDwarfBlock
            WithStmt
              Subprogram Name:string=f6 $1050
      ClassType
        Subprogram Name:string=f7 $1060
`, "f1 1000-1010\nf2 1010-1020\nf3 1020-1030\nf4 1030-1040\nf5 1040-1050\nf6 1050-1060\nf7 1060-1070\n"},
		{"§7.12 C has no functions in types", `
unit
  CompileUnit Language:data1=0x1d
    StructType
      Subprogram Name:string=f1 $1000
    EnumerationType
      Subprogram Name:string=f2 $1010
    Subprogram Name:string=f3 $1020
`, "f3 1020-1030\n"},
		{"§7.12 C++ has none in enumerations", `
unit
  CompileUnit Language:data1=0x21
    StructType
      Subprogram Name:string=f1 $1000
    EnumerationType
      Subprogram Name:string=f2 $1010
    Subprogram Name:string=f3 $1020
`, "f1 1000-1010\nf3 1020-1030\n"},
		{"§7.12 other languages, and none told, may have them anywhere", `
unit
  CompileUnit
    EnumerationType
      Subprogram Name:string=f1 $1000
      VariantPart
        Variant
          StructType
            Subprogram Name:string=f2 $1010
    Typedef {}
      Subprogram Name:string=f3 $1020
`, "f1 1000-1010\nf2 1010-1020\n"},
		{"§2.3 uninteresting subtrees without siblings", `
unit
  CompileUnit
    ArrayType
      SubrangeType
      ArrayType {}
      SubroutineType
        FormalParameter
          Subprogram Name:string=no $1000
    Subprogram Name:string=f $1010
`, "f 1010-1020\n"},
		{"§2.3 siblings of every form", `
unit
  CompileUnit
    ArrayType Sibling:ref1=next
      SubrangeType Name:string=a
    ArrayType Sibling:ref2=next
      SubrangeType Name:string=a
    ArrayType Sibling:ref4=next Name:string=behind
      SubrangeType Name:string=a
    ArrayType Sibling:ref8=next
      SubrangeType Name:string=a
    ArrayType Sibling:ref_udata=next
      SubrangeType Name:string=a
    ArrayType Sibling:ref_addr=next
      SubrangeType Name:string=a
    ArrayType Sibling:indirect/ref4=next
      SubrangeType Name:string=a
    Subprogram Name:string=f Sibling:ref4=next $1010
      ArrayType
        SubrangeType
      Subprogram Name:string=nested $1020
    Subprogram Name:string=decl Declaration:flag_present Sibling:ref4=next
      FormalParameter
      Subprogram Name:string=no $1030
    Subprogram Name:string=g $1040
`, "f 1010-1020\nnested 1020-1030\ng 1040-1050\n"},
		{"§2.3 siblings that lead nowhere are ignored", `
unit
  CompileUnit @root
    ArrayType Sibling:ref4=0
      SubrangeType
    ArrayType Sibling:ref4=@root
      SubrangeType
    ArrayType @self Sibling:ref4=@self
      SubrangeType
    ArrayType Sibling:ref4=0x7fffffff
      SubrangeType
    ArrayType Sibling:ref8=0xffffffffffffffff
      SubrangeType
    ArrayType Sibling:ref_udata=0xfffffffffffffff0
      SubrangeType
    ArrayType Sibling:ref4=@end
      SubrangeType
    Subprogram Name:string=f $1010
unit
  CompileUnit @end
`, "f 1010-1020\n"},
		{"§2.3 sibling without children", `
unit
  CompileUnit
    ArrayType Sibling:ref4=@far
    Subprogram Name:string=f $1010
    Subprogram @far Name:string=g $1020
`, "f 1010-1020\ng 1020-1030\n"},
		{"§2.13.2 §3.3.8.1 origins, forward and backward", `
unit
  CompileUnit
    Subprogram Specification:ref4=@later $1000
    Subprogram AbstractOrigin:ref_addr=@other $1010
    Subprogram @later Name:string=d Declaration:flag_present
      FormalParameter
    Subprogram AbstractOrigin:ref_udata=@later Specification:ref4=12 $1020
    Subprogram Name:string=own AbstractOrigin:ref1=@later $1030
unit
  CompileUnit
    Subprogram @other Name:string=o
`, " of @later 1000-1010\n of @other 1010-1020\n of @later 1020-1030\nown of @later 1030-1040\n"},
		{"§3.3.8.2 inlined calls", `
unit
  CompileUnit
    Subprogram @a Name:string=a
    Subprogram @b Name:string=b
      InlinedSubroutine AbstractOrigin:ref4=@a $1000
    Subprogram Name:string=f $1000
      InlinedSubroutine AbstractOrigin:ref4=@a CallFile:data1=1 CallLine:data2=300 $1000
        FormalParameter
        LexDwarfBlock $1000
          InlinedSubroutine AbstractOrigin:ref4=@b CallFile:data1=2 CallLine:data1=7 $1004
            InlinedSubroutine AbstractOrigin:ref4=@a CallFile:udata=3 CallLine:udata=0x1ffffffff $1006
          InlinedSubroutine AbstractOrigin:ref4=@b $1008
      LexDwarfBlock
        InlinedSubroutine AbstractOrigin:ref4=@b $1009
    Subprogram Name:string=g $1010
    Subprogram Name:string=h $1020
      InlinedSubroutine AbstractOrigin:ref4=@b $1020
`, "f 1000-1010\n call 1:300 of @a 1000-1010\n  call 2:7 of @b 1004-1014\n   call 3:4294967295 of @a 1006-1016\n" +
			"  call of @b 1008-1018\n call of @b 1009-1019\ng 1010-1020\nh 1020-1030\n call of @b 1020-1030\n"},
		{"§3.3.8.2 calls that say nothing do not add depth", `
unit
  CompileUnit
    Subprogram @a Name:string=a
    Subprogram Name:string=f $1000
      InlinedSubroutine $1000
        InlinedSubroutine AbstractOrigin:ref4=@a $1001
      InlinedSubroutine AbstractOrigin:ref4=@a
        InlinedSubroutine AbstractOrigin:ref4=@a $1002
      InlinedSubroutine AbstractOrigin:ref4=@a Lowpc:addr=0x1000 Highpc:data1=0
        InlinedSubroutine AbstractOrigin:ref4=@a $1003
      InlinedSubroutine AbstractOrigin:ref_sig8=7 $1000
        InlinedSubroutine AbstractOrigin:ref4=@a $1004
`, "f 1000-1010\n call of @a 1001-1011\n call of @a 1002-1012\n call of @a 1003-1013\n call of @a 1004-1014\n"},
		{"§3.3.8 calls around a nested function", `
unit
  CompileUnit
    Subprogram @a Name:string=a
    Subprogram Name:string=f $1000
      InlinedSubroutine AbstractOrigin:ref4=@a $1001
        Subprogram Name:string=g $1100
          InlinedSubroutine AbstractOrigin:ref4=@a $1101
          Subprogram Name:string=h $1200
            InlinedSubroutine AbstractOrigin:ref4=@a $1201
          InlinedSubroutine AbstractOrigin:ref4=@a $1102
        InlinedSubroutine AbstractOrigin:ref4=@a $1002
      InlinedSubroutine AbstractOrigin:ref4=@a $1003
`, "f 1000-1010\n call of @a 1001-1011\n  call of @a 1002-1012\n call of @a 1003-1013\n" +
			"g 1100-1110\n call of @a 1101-1111\n call of @a 1102-1112\nh 1200-1210\n call of @a 1201-1211\n"},
		{"§3.3.8 calls around a function in one without code", `
unit
  CompileUnit
    Subprogram @a Name:string=a
    Subprogram Name:string=f $1000
      Subprogram Name:string=abstract
        InlinedSubroutine AbstractOrigin:ref4=@a $1001
        Subprogram Name:string=g $1100
          InlinedSubroutine AbstractOrigin:ref4=@a $1101
      InlinedSubroutine AbstractOrigin:ref4=@a $1002
`, "f 1000-1010\n call of @a 1002-1012\ng 1100-1110\n call of @a 1101-1111\n"},
		{"§3.1.1 partial units have functions, too", "\nunit partial\n  PartialUnit\n    Subprogram Name:string=f $1000\n", "f 1000-1010\n"},
		{"§3.1.2 skeleton units", "\nunit skeleton\n  SkeletonUnit\n    Subprogram Name:string=f $1000\n", "f 1000-1010\n"},
		{"§3.1.3 split units", "\nunit split_compile\n  CompileUnit\n    Subprogram Name:string=f $1000\n", "f 1000-1010\n"},
		{"§3.1.4 type units have none", "\nunit type\n  TypeUnit\n    Subprogram Name:string=f $1000\n", ""},
		{"§3.1.4 split type units have none", "\nunit split_type\n  CompileUnit\n    Subprogram Name:string=f $1000\n", ""},
		{"§3.1.1 root without children", "\nunit\n  CompileUnit\n", ""},
		{"§3.1.1 root that is a function", "\nunit\n  Subprogram Name:string=f $1000\n", "f 1000-1010\n"},
	}
	for _, tt := range tests {
		for _, order := range []bool{false, true} {
			t.Run(fmt.Sprintf("DWARF 5 %s, big endian %v", tt.name, order), func(t *testing.T) {
				words := strings.SplitAfter(tt.text, " ")
				for i, w := range words {
					if strings.HasPrefix(w, "$") {
						words[i] = "Lowpc:addr=0x" + w[1:5] + " Highpc:data1=0x10" + w[5:]
					}
				}
				text := strings.Join(words, "")
				e := le5
				e.big = order
				a, d, scans := e.scan(t, text)
				if got := a.render(d.Units[0], &scans[0]); got != tt.want {
					t.Errorf("found\n%swant\n%s", got, tt.want)
				}
				calls, funcs := slices.Clone(scans[0].Inlines), len(scans[0].Funcs)
				if err := d.ScanUnit(d.Units[0], false, &scans[0]); err != nil || len(scans[0].Inlines) != 0 || len(scans[0].Funcs) > funcs {
					t.Errorf("without inlined calls (%d with): %+v, %v", len(calls), scans[0], err)
				}
			})
		}
	}
}

// TestScanErrors: damage ends the unit with a located error; what came before
// it is there.
func TestScanErrors(t *testing.T) {
	const text = `
unit
  CompileUnit
    Subprogram Name:string=f Lowpc:addr=0x1000 Highpc:data1=0x10
      Variable @v Name:string=v
    Subprogram @g Name:string=g Lowpc:addr=0x1010 Highpc:data1=0x10
unit
  CompileUnit
`
	type site func(a *asm) int // damages a, and returns where the error is
	set := func(label string, plus int, b byte) site {
		return func(a *asm) int {
			at := int(a.labels[label]) + plus
			a.info[at] = b
			return at
		}
	}
	tests := []struct {
		name   string
		damage site
		err    error
		funcs  int
	}{
		{"§7.5.3 code not in the table, among what is skipped", set("@v", 0, 9), ErrAbbrev, 1},
		{"§7.5.3 code not in the table", set("@g", 0, 9), ErrAbbrev, 1},
		{"§7.5.3 code of 65 bits", func(a *asm) int {
			at := int(a.labels["@g"])
			copy(a.info[at:], "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f")
			return at
		}, located.ErrOverflow, 1},
		{"§2.3 children without an end", func(a *asm) int {
			at := int(a.labels["@g"]) + 1 + 2 + 8 + 1
			a.info = slices.Delete(a.info, at, at+1)
			a.info[0]--
			return at
		}, located.ErrTruncated, 2},
		{"§2.3 skipped children without an end", func(a *asm) int {
			at := int(a.labels["@v"])
			a.info = a.info[:at+3]
			a.info[0] = byte(len(a.info) - 4)
			return at + 3
		}, located.ErrTruncated, 1},
		{"§7.5.5 value cut", func(a *asm) int {
			at := int(a.labels["@g"]) + 3
			a.info = a.info[:at+7]
			a.info[0] = byte(len(a.info) - 4)
			return at
		}, located.ErrTruncated, 1},
	}
	for _, tt := range tests {
		t.Run("DWARF 5 "+tt.name, func(t *testing.T) {
			a := le5.asm().units(text)
			at := tt.damage(a)
			d, _ := Open(a.sections(), a.code)
			var s Scan
			err := d.ScanUnit(d.Units[0], true, &s)
			checkErr(t, err, tt.err, ".debug_info", at)
			if len(s.Funcs) != tt.funcs {
				t.Errorf("functions %+v", s.Funcs)
			}
		})
	}
	t.Run("DWARF 5 §2.17.3 a bad range list costs its function", func(t *testing.T) {
		a := le5.asm().units("unit\n CompileUnit\n  Subprogram Ranges:sec_offset=0x99\n" +
			"  Subprogram Ranges:rnglistx=5\n  Subprogram Lowpc:addr=0x1000 Highpc:data1=1\n")
		d := a.open(t)
		var s Scan
		checkErr(t, d.ScanUnit(d.Units[0], true, &s), located.ErrOffset, ".debug_rnglists", 0)
		if len(s.Funcs) != 1 {
			t.Errorf("functions %+v", s.Funcs)
		}
	})
}

// TestScanDeep: what is skipped may be as deep as the input wants, without
// recursion; parents that may hold code are bounded.
func TestScanDeep(t *testing.T) {
	most := (limits.Limits{}).Int(limitof.DIEDepth)
	a := le5.asm().units("unit\n CompileUnit\n  Namespace\n   ArrayType {}\n   Subprogram Lowpc:addr=0x1000 Highpc:data1=1\n")
	head := a.info[4:12]
	for _, tt := range []struct {
		name         string
		code         byte
		depth, funcs int
		err          error
	}{{"scopes", 2, most - 1, 1, nil}, {"scopes too deep", 2, most, 0, limits.ErrExceeded}, {"skipped", 3, 200_000, 0, nil}} {
		t.Run(tt.name, func(t *testing.T) {
			w := le5.buf().bytes(head...).bytes(1)
			for range tt.depth {
				w.bytes(tt.code)
			}
			w.bytes(4).address(0x1000).bytes(1)
			w.bytes(make([]byte, tt.depth+1)...)
			a.info = le5.buf().length(w.b).b
			d := a.open(t)
			var s Scan
			if err := d.ScanUnit(d.Units[0], true, &s); tt.err != nil {
				checkErr(t, err, tt.err, ".debug_info", 4+len(head)+most)
			} else if err != nil {
				t.Error(err)
			}
			if len(s.Funcs) != tt.funcs {
				t.Errorf("%d functions", len(s.Funcs))
			}
		})
	}
}

// TestScanSharedRanges: a long range list that every DIE names must not make
// more of the input than there is.
func TestScanSharedRanges(t *testing.T) {
	const n = 3000
	a := le5.asm()
	a.sec.RngLists = le5.rnglist(strings.Repeat("start_length 0x1000 1\n", n) + "end")
	a.units("unit\n CompileUnit\n" + strings.Repeat("  Subprogram Ranges:sec_offset=0\n", n))
	d := a.open(t)
	var s Scan
	err := d.ScanUnit(d.Units[0], true, &s)
	sum := 0
	for _, f := range s.Funcs {
		sum += int(f.Ranges.To - f.Ranges.From)
	}
	if most := d.maxEntries(d.Units[0].Whole()); sum > most || sum < most-n {
		t.Errorf("%d ranges of %d bytes, at most %d", sum, d.size, most)
	}
	if len(s.Ranges) >= 2*n {
		t.Errorf("%d ranges in memory; the list has %d", len(s.Ranges), n)
	}
	if !errors.Is(err, ErrTooMany) {
		t.Errorf("error %v", err)
	}
	a.sec.Ranges = le4.pairs(slices.Repeat([]uint64{0x1000, 0x1001}, n)...)
	d.Ranges = a.sec.Ranges
	d.Units[0].Version = 4
	budget := 10
	got, err := d.appendRanges(nil, d.Units[0], value{0, formSecOffset}, &budget)
	if checkErr(t, err, ErrTooMany, ".debug_ranges", 160); len(got) != 10 {
		t.Errorf("%d ranges", len(got))
	}
	budget = 10
	got, err = d.appendRngList(nil, d.Units[0], 0, &budget)
	if checkErr(t, err, ErrTooMany, ".debug_rnglists", 100); len(got) != 10 {
		t.Errorf("%d ranges", len(got))
	}
}

// TestConcurrent: one Data, read by several goroutines, yields what it yields
// to one (for go test -race).
func TestConcurrent(t *testing.T) {
	d := openReal(t, "../../testdata/elf/cxx-x86_64-gcc12-O2-dw5.elf")
	read := func(d *Data) string {
		var s Scan
		var table LineTable
		var out strings.Builder
		for i := range d.Units {
			err1, err2 := d.ScanUnit(d.Units[i], true, &s), d.ReadLines(d.Units[i], &table)
			out.WriteString(fmt.Sprint(s.Funcs, s.Inlines, s.Ranges, table.Rows, err1, err2))
			for _, f := range s.Funcs {
				n, err := nameOf(d, f.DIE)
				out.WriteString(fmt.Sprintf("%s %s %#x %v\n", n.Linkage, n.Name, uint64(n.Decl), err))
			}
		}
		return out.String()
	}
	got := make(chan string)
	for range 4 {
		go func() { got <- read(d) }()
	}
	want := read(openReal(t, "../../testdata/elf/cxx-x86_64-gcc12-O2-dw5.elf"))
	for range 4 {
		if <-got != want {
			t.Error("read otherwise")
		}
	}
}

// TestFullScan: with Full, calls without code are found, which others can lie in, and calls of functions that have no DIE.
func TestFullScan(t *testing.T) {
	a := le5.asm().units(`
unit
  CompileUnit
    Subprogram @inner Name:string=inner
    Subprogram Name:string=f Lowpc:addr=0x1000 Highpc:data1=0x10
      InlinedSubroutine Lowpc:addr=0x1001 Highpc:data1=2 CallFile:data1=1 CallLine:data1=5 CallColumn:data1=7
      InlinedSubroutine AbstractOrigin:ref4=@inner CallFile:data1=1 CallLine:data1=6
        InlinedSubroutine AbstractOrigin:ref4=@inner Lowpc:addr=0x1004 Highpc:data1=2 CallFile:data1=2 CallLine:data1=8
`)
	d, errs := Open(a.sections(), a.code)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for full, want := range map[bool]string{
		false: "f 1000-1010\n call 2:8 of @inner 1004-1006\n",
		true:  "f 1000-1010\n call 1:5 1001-1003\n call 1:6 of @inner\n  call 2:8 of @inner 1004-1006\n",
	} {
		s := Scan{Full: full}
		err := d.ScanUnit(d.Units[0], true, &s)
		if got := a.render(d.Units[0], &s); err != nil || got != want {
			t.Errorf("%v: %v\n%s, want\n%s", full, err, got, want)
		}
		if full && s.Places[0].Column != 7 {
			t.Errorf("%+v", s.Places)
		}
	}
}
