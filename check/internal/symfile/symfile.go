// Package symfile reads a symbol file into compact tables, in which records refer to each other
// by index.
package symfile

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"symkit/check/internal/pcs"
	"symkit/emit"
)

// FuncRanges are the FUNC records' ranges as addresses of the ELF file.
func (s *File) FuncRanges(bias uint64) pcs.Set {
	all := make(pcs.Set, 0, len(s.Funcs))
	for i := range s.Funcs {
		all = append(all, pcs.Range{Lo: s.Funcs[i].Addr + bias, Hi: s.Funcs[i].End + bias})
	}
	return pcs.Union(all)
}

// ByAddr lists the indices of n records by address, then in file order.
func ByAddr(n int, addr func(i uint32) uint64) []uint32 {
	order := make([]uint32, n)
	sorted := true
	for i := range order {
		order[i] = uint32(i)
		sorted = sorted && (i == 0 || addr(uint32(i-1)) <= addr(uint32(i)))
	}
	if !sorted {
		slices.SortFunc(order, func(a, b uint32) int {
			return cmp.Or(cmp.Compare(addr(a), addr(b)), cmp.Compare(a, b))
		})
	}
	return order
}

// IsSymkit tells the text of INFO GENERATOR that symkit writes.
func IsSymkit(generator string) bool { return strings.HasPrefix(generator, "symkit ") }

// File is a symbol file in flat slices, records in file order. Names alias
// the text.
type File struct {
	data     []byte
	Own      bool // symkit wrote it
	Module   emit.Module
	Infos    []Info
	Files    Names
	Origins  Names
	Funcs    []Func
	Lines    []Line
	Inlines  []Inline
	Ranges   []emit.Range
	Publics  []Public
	Inits    []Init
	Deltas   []Delta
	Wins     []emit.StackWin
	WinLines []uint32

	NumLines  uint32   // lines of text
	lineStart []uint64 // offset of every indexEvery-th line
}

type Info struct {
	Key, Text string
	Line      uint32
}

type Func struct {
	Addr, End uint64
	Name      []byte
	Params    uint32
	Multiple  bool
	Line      uint32 // of the text
	Lines     Span   // of symFile.lines
	Inlines   Span   // of symFile.inlines
}

type Line struct {
	Addr             uint64
	Size, Line, File uint32
	At               uint32 // line of the text
}

func (l *Line) End() uint64 { return l.Addr + uint64(l.Size) }

type Inline struct {
	Depth, CallLine, CallFile, Origin uint32
	Ranges                            Span // of symFile.ranges
	At                                uint32
}

type Public struct {
	Addr     uint64
	Name     []byte
	Params   uint32
	Multiple bool
	At       uint32
}

type Init struct {
	Addr, End uint64
	Rules     []byte
	Deltas    Span // of symFile.deltas
	At        uint32
}

type Delta struct {
	Addr  uint64
	Rules []byte
	At    uint32
}

// Span is a run of elements of a slice: [from, to).
type Span struct{ From, To uint32 }

func (s Span) Len() int { return int(s.To - s.From) }

const indexEvery = 1024

// MaxShown bounds the text of a record in a finding.
const MaxShown = 100

// Text is line at of the file, shortened.
func (s *File) Text(at uint32) string {
	if at == 0 || int(at-1)/indexEvery >= len(s.lineStart) {
		return ""
	}
	rest := s.data[s.lineStart[(at-1)/indexEvery]:]
	for range (at - 1) % indexEvery {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			return ""
		}
		rest = rest[i+1:]
	}
	rest = rest[:min(len(rest), MaxShown+1)]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		return Shown(rest[:i])
	}
	return Shown(rest[:min(len(rest), MaxShown)]) + "…"
}

// Shown makes text of unknown bytes fit for a terminal.
func Shown(b []byte) string {
	q := fmt.Sprintf("%q", b)
	if plain := q[1 : len(q)-1]; plain == string(b) {
		return plain
	}
	return q
}

// Info returns the text of the first INFO record with a key.
func (s *File) Info(key string) (Info, bool) {
	for _, i := range s.Infos {
		if i.Key == key {
			return i, true
		}
	}
	return Info{}, false
}
