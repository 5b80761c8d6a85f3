// Package frames lists which code has unwind rules, and where.
//
// It takes an image and returns the entries of .eh_frame, .debug_frame, .sframe and
// .ARM.exidx. Package frames reads only the range of an entry's code; package unwind
// reads the rules and turns them into STACK CFI records. The entries are sorted by address
// and do not overlap, and each begins in code that is in the file.
package frames

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"symkit/cfi"
	"symkit/dump/internal/losses"
	"symkit/elfx"
	"symkit/internal/bounds"
	"symkit/internal/dwarfx"
	"symkit/internal/limitof"
	"symkit/internal/par"
	"symkit/internal/wire"
	"symkit/limits"
	"symkit/located"
	"symkit/sframe"
)

// Entry is the code [Lo, Hi), as virtual addresses, and the table entry that
// describes the code. A module has many entries, so an Entry is small and has no
// pointers; package unwind reads the table entry a second time for its rules.
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

// Table is the unwind information of an image.
type Table struct {
	Entries []Entry // disjoint, by address
	// Second are the entries of SFrame alone, disjoint and by address. The rules of
	// DWARF are compared with the rules of Second.
	Second []Entry

	DWARF  [2]*cfi.Section // .eh_frame and .debug_frame, or nil; where both describe a PC, the first counts
	SFrame *sframe.Section // or nil
	Exidx  []cfi.Row

	BelowLoad   int // entries below the module's load address
	OutsideCode int // entries of code that is not in the file
	// MaxRows bounds the rows of one FDE of SFrame.
	MaxRows int
	tooMany error // there are more

	// Share is how many FDEs of DWARF were lost.
	Share losses.Share
}

// Options select the sections that List reads.
type Options struct {
	DWARF, SFrame bool // sources that are wanted
	Code          dwarfx.CodeMap
	LoadAddress   uint64 // virtual; entries below it are left out
	Limits        limits.Limits
}

// List lists the entries of all sources that opt wants.
func List(img *elfx.Image, opt Options) (*Table, losses.List) {
	x := lister{img: img, opt: opt, table: new(Table), records: bounds.NewRecords(opt.Limits, limitof.FrameRecords, img.Size())}
	t := x.table
	t.tooMany = opt.Limits.Exceeded(limitof.FrameRecords, img.Size())
	t.MaxRows = int(min(opt.Limits.Max(limitof.FrameRecords, img.Size())/rowMemory, math.MaxInt32))

	if opt.DWARF {
		x.openSections()

		for i, s := range t.DWARF {
			if s != nil {
				t.Entries = union(t.Entries, disjoint(x.fdes(s, Source(i))), x.loseRest)
			}
		}
	}

	// SFrame and .ARM.exidx serve only where DWARF has no entry.
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

	records *bounds.Records
}

// openSections finds the sections with call frame information. The unwinder of
// exceptions uses .eh_frame, so .eh_frame comes first.
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

		// Pointers of .eh_frame can be relative to .text or to the GOT (DW_EH_PE_textrel,
		// DW_EH_PE_datarel).
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
	name := s.Kind.String()
	path := x.img.Section(name).File().Path()
	entries := make([]Entry, 0, min(len(s.Data), x.img.Main.Size())/usualFDE)
	var failed error // of the last FDE: there may be more after it that cannot be found
	bad := 0         // FDEs side by side that are damaged
	for fde, err := range s.FDEs() {
		if err == nil {
			err = x.take(name, fde.Offset)
		}
		failed = losses.InFile(path, err)
		x.table.Share.Add(1, failed)
		if x.stops(path, err, &bad) {
			break
		}
		if err == nil && fde.Begin < fde.End && x.isCode(fde.Begin) {
			entries = append(entries, Entry{fde.Begin, fde.End, fde.Offset, from, fde.CIE.Signal})
		}
	}

	// The FDEs after the damage are estimated by the size of the unread bytes.
	x.table.Share.Add(losses.Rest(failed, 0, uint64(len(s.Data)))/usualFDE, failed)
	return entries
}

// stops counts err, the damage of an entry, which can be nil; bad is the number of entries side by side
// that are damaged. It reports whether the rest of the section is not read.
func (x *lister) stops(path string, err error, bad *int) bool {
	if err == nil {
		*bad = 0
		return false
	}

	*bad++
	if *bad == maxBad {
		err = fmt.Errorf("%w; %w", err, errRepeated)
	}
	x.lost.AddIn(path, err)
	return *bad == maxBad || errors.Is(err, limits.ErrExceeded)
}

// maxBad is the number of entries side by side that are damaged after which the rest of the section
// is: all FDEs of one damaged CIE, which can be those of a large object, are fewer.
const maxBad = 1 << 16

var errRepeated = errors.New("damage in every entry from here on")

// entryMemory is what an Entry takes in memory, with its copies while the tables are joined.
const entryMemory = 100

// rowMemory is what a row takes in memory, with its registers.
const rowMemory = 256

// take counts an entry of a section, at an offset. It returns an error if the entries take more
// memory than the file may have.
func (x *lister) take(section string, at uint64) error {
	err := x.records.Take(1, entryMemory)
	if err != nil {
		return &located.Error{Section: section, Offset: int(at), Err: err}
	}
	return nil
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
// none overlap. Of two entries that overlap, the one that begins first keeps its
// code or, if both begin at one address, the one that comes first in the section.
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

// maxParts bounds the parts of an FDE of DWARF that are written: all rows of the FDE
// are read for each part. Sections that describe the same functions cut no FDE at
// all.
const maxParts = 64

// union returns a plus the parts of b that a does not cover. Each of a and b is
// disjoint, and so is the result, which may be a or b itself. union calls lose
// for the rest of an FDE of DWARF that a cuts into more than maxParts.
func union(a, b []Entry, lose func(e *Entry)) []Entry {
	if len(a) == 0 {
		return b
	}

	var added []Entry
	first := 0 // index in a of the first entry that ends above the start of e
	for _, e := range b {
		for first < len(a) && a[first].Hi <= e.Lo {
			first++
		}

		// Each entry of a cuts a part off the start of e.
		parts := 0
		for k := first; e.Lo < e.Hi; k++ {
			if k == len(a) || a[k].Lo >= e.Hi {
				added = append(added, e)
				break
			}
			if e.Lo < a[k].Lo {
				parts++
				if parts > maxParts && e.Source < SFrame {
					lose(&e)
					break
				}
				part := e
				part.Hi = a[k].Lo
				added = append(added, part)
			}
			e.Lo = a[k].Hi
		}
	}
	return par.Merge(a, added, func(a, b Entry) int { return cmp.Compare(a.Lo, b.Lo) })
}

// errParts is the error for an FDE of which another section describes so many parts
// as no compiler makes it do.
var errParts = fmt.Errorf("an FDE in more than %d parts, between those of another section", maxParts)

// loseRest counts the rest of an FDE that other entries cut into too many parts.
func (x *lister) loseRest(e *Entry) {
	name := x.table.DWARF[e.Source].Kind.String()
	x.lost.AddIn(x.img.Section(name).File().Path(), &located.Error{Section: name, Offset: int(e.At), Err: errParts})
}
