//go:build oracle

package oracle_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"symkit/emit"
)

// symFile is a symbol file in memory. Addresses are as in the file.
type symFile struct {
	module  emit.Module
	files   map[uint32]string
	origins map[uint32]string // names of inlined functions
	funcs   []symFunc
	publics []emit.Public
	cfi     []symCFI
}

// symFunc is a FUNC record and its lines.
type symFunc struct {
	span
	name     string
	multiple bool
	lines    []emit.Line
	inlines  []symInline // by address
}

// symInline is one range of an INLINE record.
type symInline struct {
	span
	depth, line, file, origin uint32
}

// symCFI is a STACK CFI record and the code it holds for.
type symCFI struct {
	span
	init  bool
	rules string
}

// parseSym reads a symbol file; every line that the strict reader rejects is
// an error, for any order of records but the format's is one.
func parseSym(t *testing.T, data []byte) *symFile {
	t.Helper()
	s := &symFile{files: map[uint32]string{}, origins: map[uint32]string{}}
	bad := newDiffs(t, "lines that the format does not allow")
	for rec, err := range emit.NewReader(data).Records() {
		if err != nil {
			bad.add("%v", err)
			continue
		}
		s.add(rec)
	}
	bad.report()
	for i := range s.funcs {
		slices.SortStableFunc(s.funcs[i].inlines, func(a, b symInline) int { return cmp.Compare(a.lo, b.lo) })
	}
	return s
}

func (s *symFile) add(rec emit.Record) {
	switch r := rec.(type) {
	case *emit.Module:
		s.module = *r
	case *emit.File:
		s.files[r.Num] = string(r.Name)
	case *emit.Func:
		s.funcs = append(s.funcs, symFunc{
			span: span{r.Addr, r.Addr + uint64(r.Size)}, name: string(r.Name), multiple: r.Multiple,
		})
	case *emit.InlineOrigin:
		s.origins[r.Num] = string(r.Name)
	case *emit.Inline:
		f := &s.funcs[len(s.funcs)-1]
		for _, at := range r.Ranges {
			f.inlines = append(f.inlines, symInline{
				span{at.Addr, at.Addr + uint64(at.Size)}, r.Depth, r.CallLine, r.CallFile, r.Origin,
			})
		}
	case *emit.Line:
		f := &s.funcs[len(s.funcs)-1]
		f.lines = append(f.lines, *r)
	case *emit.Public:
		s.publics = append(s.publics, *r)
	case *emit.StackCFIInit:
		s.cfi = append(s.cfi, symCFI{span{r.Addr, r.Addr + uint64(r.Size)}, true, string(r.Rules)})
	case *emit.StackCFI:
		last := &s.cfi[len(s.cfi)-1]
		s.cfi = append(s.cfi, symCFI{span{r.Addr, last.hi}, false, string(r.Rules)})
		s.cfi[len(s.cfi)-2].hi = r.Addr
	}
}

// symRules are the rules in force at a PC, by register.
type symRules map[string]string

// apply updates rules by a record.
func (r symRules) apply(c *symCFI) {
	if c.init {
		clear(r)
	}
	reg := ""
	for word := range strings.FieldsSeq(c.rules) {
		if name, ok := strings.CutSuffix(word, ":"); ok {
			reg = name
			r[reg] = ""
		} else if r[reg] == "" {
			r[reg] = word
		} else {
			r[reg] += " " + word
		}
	}
}

// diffs collects differences; report fails the test with the first five.
type diffs struct {
	t     *testing.T
	what  string
	n     int
	first []string
}

func newDiffs(t *testing.T, what string) *diffs { return &diffs{t: t, what: what} }

func (d *diffs) add(format string, args ...any) {
	if d.n++; d.n <= 5 {
		d.first = append(d.first, fmt.Sprintf(format, args...))
	}
}

func (d *diffs) report() {
	d.t.Helper()
	if d.n > 0 {
		d.t.Errorf("%d %s:\n\t%s", d.n, d.what, strings.Join(d.first, "\n\t"))
	}
}
