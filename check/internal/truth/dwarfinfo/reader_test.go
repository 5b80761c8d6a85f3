package dwarfinfo

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"symkit/check/internal/naming"
	"symkit/check/internal/pcs"
	"symkit/check/internal/truth/image"
	"symkit/elfx"
	"symkit/internal/wire"
	"symkit/limits"
)

// compareFile compares the reader with debug/dwarf on one file. It returns the number of units that
// were compared.
func compareFile(t *testing.T, f *elfx.File) (compared int) {
	t.Helper()
	d := Open(f, limits.Limits{})
	if d == nil || d.Load(true) != nil || d.List(t.Context()) != nil {
		return 0
	}
	data, err := libraryOf(d)
	if err != nil {
		return 0
	}
	code, names := image.CodeOf(f), naming.NewTable()
	for _, u := range d.units {
		if what := unlike(data, u, code, names, false, &compared); what != "" {
			t.Errorf("%s: %s", f.Path(), what)
			break
		}
	}
	return compared
}

// TestLikeLibrary compares the reader with debug/dwarf on all fixtures.
func TestLikeLibrary(t *testing.T) {
	paths, err := filepath.Glob("../../../../testdata/elf/*")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, path := range paths {
		f, err := elfx.Open(path)
		if err != nil {
			continue // a .dwo file, or compressed
		}
		compared += compareFile(t, f)
		f.Close()
	}
	if compared < 190 {
		t.Errorf("only %d units were compared", compared)
	}
}

// FuzzReader changes the sections of a small program: each 4 bytes of the input name a section, an
// offset in the section, and a value. The reader has to end without a panic, name a place inside
// the section in every error, and read what debug/dwarf reads.
func FuzzReader(f *testing.F) {
	var programs []*Info
	var code []pcs.Set
	for _, name := range []string{"cxx-x86_64-gcc12-O2-dw4.elf", "cxx-x86_64-clang14-O2-dw5.elf", "cxx-s390x-gcc12-O2-dw5.elf"} {
		file, err := elfx.Open("../../../../testdata/elf/" + name)
		if err != nil {
			f.Fatal(err)
		}
		d := Open(file, limits.Limits{})
		err = cmp.Or(d.Load(true), d.List(f.Context()))
		if err != nil {
			f.Fatal(err)
		}
		programs, code = append(programs, d), append(code, image.CodeOf(file))
		f.Add(uint8(len(programs)-1), []byte{})
		f.Add(uint8(len(programs)-1), []byte{0, 0, 8, 0xff, 1, 0, 9, 0x17, 2, 0, 10, 0})
	}
	f.Fuzz(func(t *testing.T, program uint8, edits []byte) {
		whole, code := programs[int(program)%len(programs)], code[int(program)%len(programs)]
		d := &Info{bigEndian: whole.bigEndian, size: whole.size}
		parts := []struct{ to, from *[]byte }{
			{&d.info, &whole.info}, {&d.abbrev, &whole.abbrev}, {&d.line, &whole.line}, {&d.ranges, &whole.ranges}, {&d.rngLists, &whole.rngLists},
			{&d.addr, &whole.addr}, {&d.offsets, &whole.offsets}, {&d.str, &whole.str}, {&d.lineStr, &whole.lineStr},
		}
		for _, p := range parts {
			*p.to = slices.Clone(*p.from)
		}
		for ; len(edits) >= 4; edits = edits[4:] {
			if s := *parts[int(edits[0])%len(parts)].to; len(s) > 0 {
				s[(int(edits[1])<<8|int(edits[2]))%len(s)] = edits[3]
			}
		}

		d.begin()
		d.stream.alone = true
		err := d.List(t.Context())
		if e, ok := errors.AsType[*wire.Error](err); err != nil && !ok && !errors.Is(err, errSharedAbbrevs) {
			t.Errorf("error without a place: %v %v", err, e)
		}
		data, err := libraryOf(d)
		names, compared := naming.NewTable(), 0
		for _, u := range d.units {
			checkScan(t, u, code, names)
			if err == nil {
				if what := unlike(data, u, code, names, true, &compared); what != "" {
					t.Error(what)
				}
			}
		}
	})
}

// checkScan checks the properties of one scan.
func checkScan(t *testing.T, u *Unit, code pcs.Set, names *naming.Table) {
	var s Scan
	err := s.Scan(context.Background(), u, code)
	defer s.Release()
	if e, ok := errors.AsType[*wire.Error](err); err != nil && (!ok || e.Offset < u.Off || e.Offset >= u.end) {
		t.Errorf("error without a place: %v", err)
	}
	if slices.ContainsFunc(s.Ranges, func(r pcs.Range) bool { return r.Lo >= r.Hi || !code.Contains(r.Lo) }) {
		t.Errorf("ranges outside of code: %v", s.Ranges)
	}

	// Scopes are in each other, and calls in functions.
	for i, c := range s.scopes {
		if c.parent >= int32(i) || c.end <= c.off || c.parent >= 0 && (s.scopes[c.parent].off >= c.off || s.scopes[c.parent].end < c.end) {
			t.Errorf("scope %+v of %+v", c, s.scopes)
		}
	}
	calls := 0
	n := NewNamer(names)
	n.Unit(&s)
	for i := range s.Funcs {
		calls += s.Funcs[i].Inlines.Len()
		n.id(s.Funcs[i].Ref)
	}
	if calls != len(s.Inlines) {
		t.Errorf("%d calls of functions, %d in all", calls, len(s.Inlines))
	}

	lines, err := u.Lines(nil, code, naming.NewPaths())
	if e, ok := errors.AsType[*wire.Error](err); err != nil && !ok {
		t.Errorf("error without a place: %v %v", err, e)
	}
	for i := 1; i < len(lines.runs); i++ {
		if lines.runs[i].Lo < lines.runs[i-1].Hi {
			t.Fatalf("runs overlap: %v", lines.runs[i-1:i+1])
		}
	}
}
