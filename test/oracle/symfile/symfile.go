//go:build oracle

// Package symfile reads symbol files into memory, for tests to compare them with the
// results of other programs for the same module.
package symfile

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"symkit/emit"
	"symkit/test/oracle"
)

// File is a symbol file in memory. Addresses are as in the file.
type File struct {
	Module  emit.Module
	Files   map[uint32]string
	Origins map[uint32]string // names of inlined functions
	Funcs   []Func
	Publics []emit.Public
	CFI     []CFI
}

// Func is a FUNC record and its lines.
type Func struct {
	oracle.Span
	Name     string
	Multiple bool
	Lines    []emit.Line
	Inlines  []Inline // by address
}

// Inline is one range of an INLINE record.
type Inline struct {
	oracle.Span
	Depth, Line, File, Origin uint32
}

// CFI is a STACK CFI record and the code that it holds for.
type CFI struct {
	oracle.Span
	Init  bool
	Rules string
}

// Parse reads a symbol file. Each line that the strict reader rejects fails the test, so
// records are in the order of the format.
func Parse(t *testing.T, data []byte) *File {
	t.Helper()
	s := &File{Files: map[uint32]string{}, Origins: map[uint32]string{}}
	bad := oracle.NewDiffs(t, "lines that the format does not allow")
	for rec, err := range emit.NewReader(data).Records() {
		if err != nil {
			bad.Add("%v", err)
			continue
		}
		s.add(rec)
	}
	bad.Report()

	// Sweeps over the code need the calls by address.
	for i := range s.Funcs {
		slices.SortStableFunc(s.Funcs[i].Inlines, func(a, b Inline) int { return cmp.Compare(a.Lo, b.Lo) })
	}
	return s
}

// add adds a record; lines and calls belong to the last FUNC record.
func (s *File) add(rec emit.Record) {
	switch r := rec.(type) {
	case *emit.Module:
		s.Module = *r
	case *emit.File:
		s.Files[r.Num] = string(r.Name)
	case *emit.Func:
		s.Funcs = append(s.Funcs, Func{
			Span: oracle.Span{Lo: r.Addr, Hi: r.Addr + uint64(r.Size)}, Name: string(r.Name), Multiple: r.Multiple,
		})
	case *emit.InlineOrigin:
		s.Origins[r.Num] = string(r.Name)
	case *emit.Inline:
		f := &s.Funcs[len(s.Funcs)-1]
		for _, at := range r.Ranges {
			f.Inlines = append(f.Inlines, Inline{
				oracle.Span{Lo: at.Addr, Hi: at.Addr + uint64(at.Size)}, r.Depth, r.CallLine, r.CallFile, r.Origin,
			})
		}
	case *emit.Line:
		f := &s.Funcs[len(s.Funcs)-1]
		f.Lines = append(f.Lines, *r)
	case *emit.Public:
		s.Publics = append(s.Publics, *r)
	case *emit.StackCFIInit:
		s.CFI = append(s.CFI, CFI{oracle.Span{Lo: r.Addr, Hi: r.Addr + uint64(r.Size)}, true, string(r.Rules)})
	// A record after INIT holds up to the end of INIT, and ends the record before it.
	case *emit.StackCFI:
		last := &s.CFI[len(s.CFI)-1]
		s.CFI = append(s.CFI, CFI{oracle.Span{Lo: r.Addr, Hi: last.Hi}, false, string(r.Rules)})
		s.CFI[len(s.CFI)-2].Hi = r.Addr
	}
}

// Rules are the rules in force at a PC, by register.
type Rules map[string]string

// Apply updates the rules with those of a record.
func (r Rules) Apply(c *CFI) {
	// INIT begins a new set of rules.
	if c.Init {
		clear(r)
	}

	// The words after "REGISTER:" are the register's expression.
	reg := ""
	for word := range strings.FieldsSeq(c.Rules) {
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
