//go:build oracle

package symfile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"symkit/emit"
)

// byAddress compares a function with an address, for binary searches.
func byAddress(f Func, addr uint64) int { return cmp.Compare(f.Lo, addr) }

// At returns the function that begins at addr.
func (s *File) At(addr uint64) *Func {
	i, ok := slices.BinarySearchFunc(s.Funcs, addr, byAddress)
	if !ok {
		return nil
	}
	return &s.Funcs[i]
}

// Covers reports whether addr is in a function.
func (s *File) Covers(addr uint64) bool {
	i, _ := slices.BinarySearchFunc(s.Funcs, addr+1, byAddress)
	return i > 0 && addr < s.Funcs[i-1].Hi
}

// Frame is a function that a PC is in, inlined or not, and a place in its source: that of
// the PC, or of the inlined call that has the PC.
type Frame struct {
	Name, File string
	Line       uint32
	Linkage    string // the mangled name that another program gave; "" if it is not mangled
}

func (f Frame) String() string { return fmt.Sprintf("%s at %s:%d", f.Name, f.File, f.Line) }

// Stack is the inlined calls at a PC, innermost first, and after them the function itself.
type Stack []Frame

func (s Stack) String() string {
	var b strings.Builder
	for _, f := range s {
		fmt.Fprintf(&b, "\n\t\t%v", f)
	}
	return b.String()
}

// At returns the frame at an index, or an empty one.
func (s Stack) At(i int) Frame {
	if i >= len(s) {
		return Frame{}
	}
	return s[i]
}

// Known reports whether the stack has a line at all.
func (s Stack) Known() bool {
	return slices.ContainsFunc(s, func(f Frame) bool { return f.Line != 0 })
}

// Index finds the records of a symbol file for a PC.
type Index struct {
	*File
	Load uint64
}

// NewIndex returns the index of a symbol file whose module is loaded at load.
func NewIndex(s *File, load uint64) *Index {
	slices.SortFunc(s.Publics, func(a, b emit.Public) int { return cmp.Compare(a.Addr, b.Addr) })
	return &Index{s, load}
}

// Function returns the FUNC that has pc, an address of the ELF file, or nil.
func (x *Index) Function(pc uint64) *Func {
	pc -= x.Load
	// The function is the last one that begins at or before pc.
	i, _ := slices.BinarySearchFunc(x.Funcs, pc+1, byAddress)
	if i == 0 || pc >= x.Funcs[i-1].Hi {
		return nil
	}
	return &x.Funcs[i-1]
}

// Public returns the last PUBLIC at or below pc, an address of the ELF file, or nil.
func (x *Index) Public(pc uint64) *emit.Public {
	pc -= x.Load
	i, _ := slices.BinarySearchFunc(x.Publics, pc+1, func(p emit.Public, addr uint64) int { return cmp.Compare(p.Addr, addr) })
	if i == 0 {
		return nil
	}
	return &x.Publics[i-1]
}

// Stack returns the full inline stack at pc, an address of the ELF file. It returns an error
// if the calls do not nest: if two have one depth, or one is missing.
func (x *Index) Stack(pc uint64) (Stack, error) {
	// Code without a FUNC record may have a PUBLIC record.
	f := x.Function(pc)
	if f == nil {
		if p := x.Public(pc); p != nil {
			return Stack{{Name: string(p.Name)}}, nil
		}
		return nil, nil
	}

	pc -= x.Load

	var at Frame // has the place of the line, then those of the calls from inside out
	i, _ := slices.BinarySearchFunc(f.Lines, pc+1, func(l emit.Line, addr uint64) int { return cmp.Compare(l.Addr, addr) })
	if i > 0 && pc-f.Lines[i-1].Addr < uint64(f.Lines[i-1].Size) {
		at.File, at.Line = x.Files[f.Lines[i-1].File], f.Lines[i-1].Line
	}

	// INLINE records are sorted, so the first one after pc ends the search.
	var calls []Inline
	for _, in := range f.Inlines {
		if in.Lo > pc {
			break
		}
		if pc < in.Hi {
			calls = append(calls, in)
		}
	}

	// The innermost call has the greatest depth.
	slices.SortFunc(calls, func(a, b Inline) int { return cmp.Compare(b.Depth, a.Depth) })

	// The place in each frame comes from the call that is inside it.
	var out Stack
	for i, in := range calls {
		if int(in.Depth) != len(calls)-1-i {
			return nil, fmt.Errorf("depth %d among %d calls in %s", in.Depth, len(calls), f.Name)
		}
		at.Name = x.Origins[in.Origin]
		out = append(out, at)
		at = Frame{File: x.Files[in.File], Line: in.Line}
	}

	at.Name = f.Name
	return append(out, at), nil
}
