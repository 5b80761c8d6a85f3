// Package frames lists which code has unwind rules, and where: the entries of
// .eh_frame, .debug_frame, .sframe and .ARM.exidx, read no further than to the
// code that each describes. Package unwind turns them into STACK CFI records.
package frames

import (
	"cmp"
	"fmt"
	"slices"

	"symkit/cfi"
	"symkit/dump/dwarfx"
	"symkit/dump/internal/losses"
	"symkit/elfx"
	"symkit/internal/wire"
	"symkit/sframe"
)

// Entry is the code [Lo, Hi), as virtual addresses, and the table entry that
// holds for it. A module has many entries, so an Entry is small and has no
// pointers; the table entry is read a second time for its text.
type Entry struct {
	Lo, Hi uint64
	At     uint64 // place of the table entry, see Source
	Source Source
	Signal bool // the kernel makes this frame when it delivers a signal
}

// Source is the table that an Entry is in.
type Source uint8

const (
	// DWARF and the next are Table.DWARF[0] and Table.DWARF[1]; At is the offset of the FDE.
	DWARF  Source = 0
	SFrame Source = 2 // At is made by sframePlace
	Exidx  Source = 3 // At is an index of Table.Exidx
)

// sframePlace makes Entry.At of an FDE of SFrame.
func sframePlace(chunk, index int) uint64 { return uint64(chunk)<<32 | uint64(index) }

// SFramePlace returns the chunk of Table.SFrame, and the FDE in it, that an
// Entry's At stands for.
func SFramePlace(at uint64) (chunk, index int) { return int(at >> 32), int(uint32(at)) }

// Table is what the files tell about unwinding.
type Table struct {
	Entries []Entry // disjoint, by address
	// Second are the entries of SFrame alone, likewise, with which the rules of
	// DWARF are compared.
	Second []Entry

	DWARF  [2]*cfi.Section // .eh_frame and .debug_frame, or nil; of two that describe a PC the first holds
	SFrame *sframe.Section // or nil
	Exidx  []cfi.Row

	BelowLoad   int // entries below the module's load address
	OutsideCode int // entries of code that is not in the file
	// Share is how many FDEs of DWARF were lost.
	Share losses.Share
}

// Options says what List reads.
type Options struct {
	DWARF, SFrame bool // sources that are wanted
	Code          dwarfx.CodeMap
	LoadAddress   uint64 // virtual; entries below it are left out
}

// List lists the entries of all sources that opt wants.
func List(img *elfx.Image, opt Options) (*Table, losses.List) {
	x := lister{img: img, opt: opt, table: new(Table)}
	t := x.table

	if opt.DWARF {
		x.openSections()
		for i, s := range t.DWARF {
			if s != nil {
				t.Entries = union(t.Entries, disjoint(x.fdes(s, Source(i))), x.loseRest)
			}
		}
	}
	if opt.SFrame {
		t.Second = disjoint(x.sframe())
	}
	t.Entries = union(t.Entries, t.Second, x.loseRest)
	t.Entries = union(t.Entries, disjoint(x.exidx()), x.loseRest)
	t.Share.All = t.Share.Lost + uint64(len(t.Entries))
	return t, x.lost
}

// lister makes a Table.
type lister struct {
	img   *elfx.Image
	opt   Options
	table *Table
	lost  losses.List
}

// openSections finds the sections with call frame information. Exceptions run
// on .eh_frame, so .eh_frame comes first.
func (x *lister) openSections() {
	for i, kind := range []cfi.SectionKind{cfi.EHFrame, cfi.DebugFrame} {
		sec := x.img.Section(kind.String())
		if sec == nil {
			continue
		}
		data, err := sec.Data()
		if err != nil {
			x.lost.Add(err)
			x.table.Share.Add(sec.Size/usualFDE+1, err)
			continue
		}

		f := sec.File()
		s := &cfi.Section{
			Kind: kind, Data: data, Addr: sec.Addr, AddrSize: f.AddrSize(),
			BigEndian: f.BigEndian, Machine: f.Machine,
			Deref: wordReader(x.img.Main),
		}
		text := x.img.Main.Section(".text")
		if text != nil {
			s.TextBase = text.Addr
		}
		got := x.img.Main.Section(".got")
		if got != nil {
			s.DataBase = got.Addr
		}
		x.table.DWARF[i] = s
	}
}

// wordReader returns a function that reads the word at a virtual address of f,
// for indirect pointers. A word that the dynamic linker fills in reads as it is
// in the file.
func wordReader(f *elfx.File) func(addr uint64) (uint64, bool) {
	return func(addr uint64) (uint64, bool) {
		b := f.BytesAt(addr, uint64(f.AddrSize()))
		if b == nil {
			return 0, false
		}
		c := wire.New("", b, f.BigEndian)
		return c.Uint(f.AddrSize()), true
	}
}

// usualFDE is how many bytes an FDE takes in an .eh_frame, with its share of the
// CIEs; the smallest FDEs that compilers write are not much smaller.
const usualFDE = 32

// fdes returns the FDEs of s whose code is in the file.
func (x *lister) fdes(s *cfi.Section, from Source) []Entry {
	entries := make([]Entry, 0, len(s.Data)/usualFDE)
	var failed error // of the last FDE: there may be more after it that cannot be found
	for fde, err := range s.FDEs() {
		failed = nil
		if err != nil {
			failed = fmt.Errorf("%s: %w", x.img.Section(s.Kind.String()).File().Path(), err)
			x.lost.Add(failed)
			x.table.Share.Add(1, failed)
		} else if fde.Begin < fde.End && x.isCode(fde.Begin) {
			entries = append(entries, Entry{fde.Begin, fde.End, fde.Offset, from, fde.CIE.Signal})
		}
	}
	x.table.Share.Add(losses.Rest(failed, 0, uint64(len(s.Data)))/usualFDE, failed)
	return entries
}

// isCode reports whether addr, where an entry begins, is code that can be
// written, and counts the entry in the table if not.
func (x *lister) isCode(addr uint64) bool {
	switch {
	case !x.opt.Code.Contains(addr):
		x.table.OutsideCode++
	case addr < x.opt.LoadAddress:
		x.table.BelowLoad++
	default:
		return true
	}
	return false
}

// disjoint sorts the entries of one section by address and clips them so that
// none overlap: of two, the one that begins first holds or, if both begin at one
// address, the first in the section.
func disjoint(entries []Entry) []Entry {
	slices.SortFunc(entries, func(a, b Entry) int {
		if a.Lo != b.Lo {
			return cmp.Compare(a.Lo, b.Lo)
		}
		return cmp.Compare(a.At, b.At)
	})

	out := entries[:0]
	end := uint64(0) // of the entries so far
	for _, e := range entries {
		if e.Hi > end {
			e.Lo = max(e.Lo, end)
			end = e.Hi
			out = append(out, e)
		}
	}
	return out
}

// maxPieces bounds the pieces of an FDE of DWARF that are written: all rows of
// the FDE are read for each piece. Sections that describe the same functions cut
// no FDE at all.
const maxPieces = 64

// union returns a plus the parts of b that a does not cover. Each of a and b is
// disjoint, and so is the result, which may be a or b itself. union calls lose
// for the rest of an FDE of DWARF that a cuts into more than maxPieces.
func union(a, b []Entry, lose func(e *Entry)) []Entry {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}

	out := slices.Clone(a)
	first := 0 // of a, the first that ends above what is left of b
	for _, e := range b {
		for first < len(a) && a[first].Hi <= e.Lo {
			first++
		}
		pieces := 0
		for k := first; e.Lo < e.Hi; k++ {
			if k == len(a) || a[k].Lo >= e.Hi {
				out = append(out, e)
				break
			}
			if e.Lo < a[k].Lo {
				pieces++
				if pieces > maxPieces && e.Source < SFrame {
					lose(&e)
					break
				}
				piece := e
				piece.Hi = a[k].Lo
				out = append(out, piece)
			}
			e.Lo = a[k].Hi
		}
	}
	slices.SortFunc(out, func(a, b Entry) int { return cmp.Compare(a.Lo, b.Lo) })
	return out
}

// errPieces: two sections describe the same code in a way that no compiler does.
var errPieces = fmt.Errorf("an FDE in more than %d pieces, between those of another section", maxPieces)

// loseRest counts the rest of an FDE that others cut into too many pieces.
func (x *lister) loseRest(e *Entry) {
	name := x.table.DWARF[e.Source].Kind.String()
	x.lost.AddIn(x.img.Section(name).File().Path(), &wire.Error{Section: name, Offset: int(e.At), Err: errPieces})
}
