package dwarfx

import (
	"cmp"
	"debug/dwarf"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestAgainstDebugDwarf compares what is read of real files with what
// debug/dwarf reads: functions with their names and ranges, inlined calls with
// their depth, and for every address the file and line.
func TestAgainstDebugDwarf(t *testing.T) {
	paths := fixtures(t)
	if self, err := os.Executable(); err == nil {
		paths = append(paths, self) // has DWARF when it was built by go test -c
	}
	if corpus := os.Getenv("SYMKIT_CORPUS"); corpus != "" {
		paths = append(paths, filepath.Join(corpus, "python3.11-dbg/usr/bin/python3.11d"))
		more, err := filepath.Glob(filepath.Join(corpus, "valgrind-dbg/usr/lib/debug/.build-id/*/*.debug"))
		if err != nil || len(more) == 0 {
			t.Errorf("no valgrind-dbg: %v", err)
		}
		paths = append(paths, more...)
	}
	var total counts
	for _, p := range paths {
		t.Run(filepath.Base(p), func(t *testing.T) {
			// debug/dwarf cannot read skeletons, nor DW_FORM_strx in 64-bit DWARF 5.
			if strings.Contains(p, "-split") || strings.Contains(p, "clang") && strings.Contains(p, "dw5-64") {
				return
			}
			f := openELF(t, p)
			s, code, ok := elfSections(t, f)
			if !ok {
				return
			}
			reference, err := f.DWARF()
			if err != nil {
				t.Fatal(err)
			}
			d, errs := Open(s, code)
			for _, err := range errs {
				t.Error(err)
			}
			n := compareFile(t, d, reference)
			if n.units == 0 || n.funcs == 0 && !strings.Contains(p, "asm") {
				t.Errorf("nothing compared: %+v", n)
			}
			total.add(n)
		})
	}
	t.Logf("compared: %+v", total)
}

// counts counts what was compared; overlaps are units whose lines were not.
type counts struct{ files, units, funcs, inlines, rows, overlaps int }

func (c *counts) add(n counts) {
	c.files++
	c.units += n.units
	c.funcs += n.funcs
	c.inlines += n.inlines
	c.rows += n.rows
	c.overlaps += n.overlaps
}

func compareFile(t *testing.T, d *Data, reference *dwarf.Data) (n counts) {
	r := reference.Reader()
	byOff := map[Ref]*Unit{}
	for i := range d.Units {
		byOff[Ref(d.Units[i].first)] = d.Units[i]
	}
	var table LineTable
	var s Scan
	for {
		root, err := r.Next()
		if root == nil || err != nil {
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		u := byOff[Ref(root.Offset)]
		if u == nil {
			if root.Tag != dwarf.TagTypeUnit { // those of .debug_types are found by their signature
				t.Fatalf("no unit at %#x", root.Offset)
			}
			r.SkipChildren()
			continue
		}
		n.units++
		if err := d.ScanUnit(u, true, &s); err != nil {
			t.Fatal(err)
		}
		want := walk(t, reference, d, u, root, r)
		if diff := gocmp.Diff(want, describe(t, d, u, &s)); diff != "" {
			t.Errorf("unit %#x: functions (-debug/dwarf +dwarfx)\n%s", u.Off, diff)
		}
		n.funcs, n.inlines = n.funcs+len(s.Funcs), n.inlines+len(s.Inlines)
		if rows, ok := compareLines(t, reference, d, u, root, &table); ok {
			n.rows += rows
		} else {
			n.overlaps++
		}
	}
}

// describe writes functions and calls as walk does.
func describe(t *testing.T, d *Data, u *Unit, s *Scan) (out []string) {
	for _, f := range s.Funcs {
		n := Naming{}
		var err1, err2 error
		n.Name, err1 = u.String(f.Name)
		n.Linkage, err2 = u.String(f.Linkage)
		if err := errors.Join(err1, err2); err != nil {
			t.Error(err)
		}
		out = append(out, fmt.Sprintf("%#x %s|%s %#x", uint64(f.DIE), n.Name, n.Linkage, s.Ranges[f.Ranges.From:f.Ranges.To]))
		for _, i := range s.Inlines[f.Inlines.From:f.Inlines.To] {
			out = append(out, fmt.Sprintf("  %d of %#x at %d:%d %#x", i.Depth, uint64(s.Origins[i.Origin]), int32(i.CallFile), i.CallLine, s.Ranges[i.Ranges.From:i.Ranges.To]))
		}
	}
	return out
}

// walk reads the children of root with debug/dwarf.
func walk(t *testing.T, reference *dwarf.Data, d *Data, u *Unit, root *dwarf.Entry, r *dwarf.Reader) (out []string) {
	type scope struct {
		fn    int
		depth uint32
	}
	var funcs []string
	calls := map[int][]string{}
	stack, in := []scope{}, scope{fn: -1}
	ranges := func(e *dwarf.Entry) (got []Range) {
		if u.IsType() {
			return nil
		}
		all, err := reference.Ranges(e)
		if err != nil {
			t.Fatalf("%#x: %v", e.Offset, err)
		}
		for _, x := range all {
			if x[0] < x[1] && d.code.Contains(x[0]) {
				got = append(got, Range{Lo: x[0], Hi: x[1]})
			}
		}
		return got
	}
	origin := func(e *dwarf.Entry) uint64 {
		for _, attr := range []dwarf.Attr{dwarf.AttrAbstractOrigin, dwarf.AttrSpecification} {
			if off, ok := e.Val(attr).(dwarf.Offset); ok {
				return uint64(off)
			}
		}
		return 0
	}
	for e := root; ; {
		inner := in
		switch got := []Range(nil); e.Tag {
		case dwarf.TagSubprogram, dwarf.TagEntryPoint:
			inner = scope{fn: -1}
			if got = ranges(e); len(got) > 0 {
				name, _ := e.Val(dwarf.AttrName).(string)
				linkage, ok := e.Val(dwarf.AttrLinkageName).(string)
				if !ok {
					linkage, _ = e.Val(attrMIPSLinkage).(string)
				}
				inner.fn = len(funcs)
				funcs = append(funcs, fmt.Sprintf("%#x %s|%s %#x", e.Offset, name, linkage, got))
			}
		case dwarf.TagInlinedSubroutine:
			if got = ranges(e); in.fn >= 0 && len(got) > 0 && origin(e) != 0 {
				file, ok := e.Val(dwarf.AttrCallFile).(int64)
				if !ok {
					file = -1
				}
				line, _ := e.Val(dwarf.AttrCallLine).(int64)
				calls[in.fn] = append(calls[in.fn], fmt.Sprintf("  %d of %#x at %d:%d %#x", in.depth, origin(e), file, line, got))
				inner.depth++
			}
		}
		switch {
		case e.Children:
			stack = append(stack, in)
			in = inner
		case len(stack) == 0:
			return out // a root without children
		}
		for {
			var err error
			if e, err = r.Next(); err != nil || e == nil {
				t.Fatalf("unit %#x: %v", u.Off, err)
			}
			if e.Tag != 0 {
				break
			}
			in, stack = stack[len(stack)-1], stack[:len(stack)-1]
			if len(stack) == 0 {
				for i, f := range funcs {
					out = append(append(out, f), calls[i]...)
				}
				return out
			}
		}
	}
}

// stretch is code of one line.
type stretch struct {
	lo, hi uint64
	file   int
	line   int
}

// compareLines compares the line of every address, and the files' names; ok is
// false where sequences overlap, so that only the names were compared.
func compareLines(t *testing.T, reference *dwarf.Data, d *Data, u *Unit, root *dwarf.Entry, table *LineTable) (rows int, ok bool) {
	if err := d.ReadLines(u, table); err != nil {
		t.Fatal(err)
	}
	if err := checkRows(table.Rows); err != nil {
		t.Errorf("unit %#x: %v", u.Off, err)
	}
	lr, err := reference.LineReader(root)
	if err != nil {
		t.Fatal(err)
	}
	if lr == nil {
		if len(table.Rows) > 0 {
			t.Errorf("unit %#x: rows", u.Off)
		}
		return 0, true
	}
	want, overlap := referenceLines(t, d, lr)
	var got []stretch
	for i, r := range table.Rows {
		if r.File != EndOfCode {
			got = append(got, stretch{r.Addr, table.Rows[i+1].Addr, int(r.File), int(r.Line)})
		}
	}
	if got = merge(got); !overlap && !slices.Equal(got, want) {
		t.Errorf("unit %#x: lines (-debug/dwarf +dwarfx)\n%s", u.Off, gocmp.Diff(want, got, gocmp.AllowUnexported(stretch{})))
	}
	compareFiles(t, d, u, lr, table)
	return len(table.Rows), !overlap
}

// compareFiles compares the names, made absolute by the unit's directory.
func compareFiles(t *testing.T, d *Data, u *Unit, lr *dwarf.LineReader, table *LineTable) {
	comp, err := u.String(u.CompDir)
	if err != nil {
		t.Error(err)
	}
	base := string(table.BaseDir(comp))
	for i, f := range lr.Files() {
		dir, name, ok := table.File(uint32(i))
		if (f != nil) != ok {
			t.Errorf("unit %#x: file %d: %v, want %v", u.Off, i, ok, f)
		}
		if f == nil {
			continue
		}
		full := ""
		for _, part := range []string{base, string(dir), string(name)} {
			if path.IsAbs(part) {
				full = ""
			}
			full = path.Join(full, part)
		}
		want := path.Clean(f.Name)
		// In DWARF 5 debug/dwarf leaves the base out of all but directory 0's files.
		if full != want && (path.IsAbs(want) || full != path.Join(base, want)) {
			t.Errorf("unit %#x: file %d: %q, want %q", u.Off, i, full, want)
		}
	}
}

// referenceLines reads the stretches of live code with debug/dwarf; overlap is true
// if two sequences describe the same code, so that neither is a reference for it.
func referenceLines(t *testing.T, d *Data, lr *dwarf.LineReader) (all []stretch, overlap bool) {
	var files map[*dwarf.LineFile]int
	var last, e dwarf.LineEntry
	open, dead := false, false
	for {
		if err := lr.Next(&e); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if files == nil || files[e.File] == 0 {
			files = map[*dwarf.LineFile]int{}
			for i, f := range lr.Files() {
				files[f] = i
			}
		}
		// debug/dwarf does not tell where an address was set: a sequence that
		// begins outside of code is dead, and so is one from where it goes back there.
		if !open {
			dead = !d.code.Contains(e.Address)
		} else if e.Address < last.Address && !d.code.Contains(e.Address) {
			dead = true
		} else if !dead && last.Address < e.Address {
			all = append(all, stretch{last.Address, e.Address, files[last.File], last.Line})
		}
		last, open = e, !e.EndSequence
	}
	slices.SortStableFunc(all, func(a, b stretch) int { return cmp.Compare(a.lo, b.lo) })
	for i := 1; i < len(all); i++ {
		overlap = overlap || all[i].lo < all[i-1].hi
	}
	return merge(all), overlap
}

// merge joins stretches of one line that touch.
func merge(all []stretch) []stretch {
	var out []stretch
	for _, s := range all {
		if n := len(out); n > 0 && out[n-1].hi == s.lo && out[n-1].file == s.file && out[n-1].line == s.line {
			out[n-1].hi = s.hi
			continue
		}
		out = append(out, s)
	}
	return out
}

// TestDiscardedComdat: the lines of main after the sequence of a discarded
// function that sets its address twice (testdata/README.md).
func TestDiscardedComdat(t *testing.T) {
	d := openReal(t, "testdata/tomb.elf.xz")
	var s Scan
	var table LineTable
	for i := range d.Units {
		u := d.Units[i]
		if err := d.ScanUnit(u, false, &s); err != nil {
			t.Fatal(err)
		}
		for _, f := range s.Funcs {
			n, err := nameOf(d, f.DIE)
			if err != nil {
				t.Fatal(err)
			}
			if string(n.Name) != "main" {
				continue
			}
			if err := d.ReadLines(u, &table); err != nil {
				t.Fatal(err)
			}
			main := s.Ranges[f.Ranges.From]
			rows := 0
			for _, r := range table.Rows {
				if r.Addr >= main.Lo && r.Addr < main.Hi && r.File != EndOfCode {
					rows++
				}
			}
			if rows < 14 { // as many as Breakpad's tool writes
				t.Errorf("main at %#x has %d rows", main, rows)
			}
			return
		}
	}
	t.Error("no main")
}
