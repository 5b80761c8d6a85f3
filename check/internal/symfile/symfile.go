// Package symfile reads a symbol file into compact tables, in which records refer to each other
// by index.
package symfile

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"symkit/check/internal/pcs"
	"symkit/emit"
	"symkit/internal/hashindex"
)

// File is the records of a symbol file. The records of each class are in the order of the file.
// Names alias the text.
type File struct {
	text     Text
	again    rereading
	Own      bool // symkit wrote the file
	Module   emit.Module
	Infos    []Info
	Files    Names
	Origins  Names
	Funcs    []Func
	Publics  []Public
	Inits    []Init
	Deltas   []Delta
	Rules    Rules // of Inits and Deltas
	Wins     []emit.StackWin
	WinLines []uint32

	// Numbers of line and INLINE records and of the ranges of these: see Body.
	Lines, Inlines, Ranges int

	lines, inlines pcs.Set  // PCs that these records cover
	rejected       []uint32 // lines of text that the strict reader rejected

	NumLines  uint32   // lines of text
	lineStart []uint64 // offset of every indexEvery-th line
}

// Info is an INFO record.
type Info struct {
	Key, Text string
	Line      uint32
}

// Func is a FUNC record.
type Func struct {
	Addr, End uint64
	Name      []byte
	Params    uint32
	Multiple  bool
	Line      uint32 // of the text
	Lines     uint32 // number of line records
	Inlines   uint32 // number of INLINE records

	first, last uint64 // offsets of the FUNC and of the last of its records
}

// PCs returns the addresses that f covers.
func (f *Func) PCs() pcs.Range { return pcs.Range{Lo: f.Addr, Hi: f.End} }

// Line is a line record.
type Line struct {
	Addr             uint64
	Size, Line, File uint32
	At               uint32 // its line of the text
}

// End returns the address after the last one that l covers.
func (l *Line) End() uint64 { return l.Addr + uint64(l.Size) }

// PCs returns the addresses that l covers.
func (l *Line) PCs() pcs.Range { return pcs.Range{Lo: l.Addr, Hi: l.End()} }

// Inline is an INLINE record.
type Inline struct {
	Depth, CallLine, CallFile, Origin uint32
	Ranges                            Span // of Body.Ranges
	At                                uint32
}

// DeltasOf returns the STACK CFI records after an INIT record.
func (s *File) DeltasOf(in *Init) []Delta { return s.Deltas[in.Deltas.From:in.Deltas.To] }

// Public is a PUBLIC record.
type Public struct {
	Addr     uint64
	Name     []byte
	Params   uint32
	Multiple bool
	At       uint32
}

// PCs returns the address of p.
func (p *Public) PCs() pcs.Range { return pcs.Range{Lo: p.Addr, Hi: p.Addr + 1} }

// Init is a STACK CFI INIT record.
type Init struct {
	Addr, End uint64
	Rules     uint32 // index of File.Rules.Texts
	At        uint32
	Deltas    Span // of File.Deltas
}

// PCs returns the addresses that r covers.
func (r *Init) PCs() pcs.Range { return pcs.Range{Lo: r.Addr, Hi: r.End} }

// UsedInits returns the INIT records that consumers use, by address: of records that overlap, the
// one that begins first or, of these, the first in the file.
func (s *File) UsedInits() (used []Init) {
	pos := uint64(0)
	for _, r := range pcs.Sorted(s.Inits) {
		if r.Addr >= pos && r.End > r.Addr {
			used = append(used, r)
			pos = r.End
		}
	}
	return used
}

// Delta is a STACK CFI record that changes rules.
type Delta struct {
	Addr  uint64
	Rules uint32 // index of File.Rules.Texts
	At    uint32
}

// Rules are the texts of rules. Most records have a text that other records have too: equal texts
// are kept once, unless there are more than maxDistinctRules.
type Rules struct {
	Texts [][]byte
	index hashindex.Index // of the first texts, while the file is read
	seed  maphash.Seed
}

const maxDistinctRules = 1 << 20

// add returns the index of a text.
func (r *Rules) add(text []byte) uint32 {
	hash := maphash.Bytes(r.seed, text)
	i, ok := r.index.Find(hash, func(i uint32) bool { return string(r.Texts[i]) == string(text) })
	if ok {
		return i
	}
	i = uint32(len(r.Texts))
	r.Texts = append(r.Texts, text)
	if i < maxDistinctRules {
		r.index.Add(hash, i)
	}
	return i
}

// Span is the elements [From, To) of a slice.
type Span struct{ From, To uint32 }

// Len returns the number of elements.
func (s Span) Len() int { return int(s.To - s.From) }

// indexEvery is the number of lines of text for each element of File.lineStart.
const indexEvery = 1024

// MaxShown bounds the text of a record in a finding.
const MaxShown = 100

// Text returns line at of the file, shortened.
func (s *File) Text(at uint32) string {
	if at == 0 || int(at-1)/indexEvery >= len(s.lineStart) {
		return ""
	}

	// From the last line that is indexed to line at.
	rest := s.text.Bytes[s.lineStart[(at-1)/indexEvery]:]
	for range (at - 1) % indexEvery {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			return ""
		}
		rest = rest[i+1:]
	}

	rest = rest[:min(len(rest), MaxShown+1)]
	if before, _, ok := bytes.Cut(rest, []byte{'\n'}); ok {
		return Shown(before)
	}
	return Shown(rest[:min(len(rest), MaxShown)]) + "…"
}

// Shown returns b, quoted if it is not printable.
func Shown(b []byte) string {
	q := fmt.Sprintf("%q", b)
	if plain := q[1 : len(q)-1]; plain == string(b) {
		return plain
	}
	return q
}

// Info returns the text of the first INFO record with a key.
func (s *File) Info(key string) (Info, bool) {
	i := slices.IndexFunc(s.Infos, func(x Info) bool { return x.Key == key })
	if i < 0 {
		return Info{}, false
	}
	return s.Infos[i], true
}

// IsSymkit reports whether the text of an INFO GENERATOR record is one of symkit's.
func IsSymkit(generator string) bool { return strings.HasPrefix(generator, "symkit ") }
