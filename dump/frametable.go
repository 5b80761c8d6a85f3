package dump

import (
	"cmp"
	"fmt"
	"slices"

	"symkit/cfi"
	"symkit/elfx"
	"symkit/internal/wire"
	"symkit/sframe"
)

// frame is code, [lo, hi) as virtual addresses, and where the table is that
// holds for it. There are many, so a frame is small and has no pointers: what it
// refers to is read once more for its text.
type frame struct {
	lo, hi uint64
	at     uint64 // in the source
	source source
	signal bool // what a signal's delivery makes
}

// source is where a frame is from.
type source uint8

const (
	// fromDWARF and the next are frameTable.dwarf; at is the offset of the FDE.
	fromDWARF  source = 0
	fromSFrame source = 2 // at is sframeAt
	fromExidx  source = 3 // at is an index of frameTable.exidx
)

// sframeAt is how a frame refers to an FDE of SFrame.
func sframeAt(chunk, index int) uint64 { return uint64(chunk)<<32 | uint64(index) }

// frameTable is what the files tell about unwinding: the FDEs of all sources,
// not read any further than to where their code lies.
type frameTable struct {
	frames []frame // disjoint, by address
	second []frame // those of SFrame, likewise, with which those of DWARF are compared

	dwarf  [2]*cfi.Section // of two that describe a PC the first holds; or nil
	sframe *sframe.Section // or nil
	exidx  []cfi.Row

	stats Stats // what was lost, and where frames are not code
}

// listFrames lists all FDEs. It needs nothing that other stages make, and
// changes nothing: what it meets is in the table.
func (d *dumper) listFrames() *frameTable {
	t := &frameTable{}
	lost := func(f *frame) { d.inPieces(t, f) }
	if d.opt.SFrame != SFrameOnly {
		d.frameSections(t)
		for i, s := range t.dwarf {
			if s != nil {
				t.frames = union(t.frames, disjoint(d.listFDEs(t, s, source(i))), lost)
			}
		}
	}
	if d.opt.SFrame != SFrameOff {
		t.second = disjoint(d.listSFrame(t))
	}
	t.frames = union(t.frames, t.second, lost)
	t.frames = union(t.frames, disjoint(d.listExidx(t)), lost)
	return t
}

// frameSections finds the sections with call frame information. .eh_frame is
// what exceptions run on, so it comes first.
func (d *dumper) frameSections(t *frameTable) {
	for i, kind := range []cfi.SectionKind{cfi.EHFrame, cfi.DebugFrame} {
		sec := d.img.Section(kind.String())
		if sec == nil {
			continue
		}
		data, err := sec.Data()
		if err != nil {
			t.stats.loss(err)
			t.stats.RuleShare.add(sec.Size/usualFDE+1, err)
			continue
		}
		f := sec.File()
		s := &cfi.Section{
			Kind: kind, Data: data, Addr: sec.Addr, AddrSize: f.AddrSize(),
			BigEndian: f.BigEndian, Machine: f.Machine,
			Deref: deref(d.img.Main),
		}
		if text := d.img.Main.Section(".text"); text != nil {
			s.TextBase = text.Addr
		}
		if got := d.img.Main.Section(".got"); got != nil {
			s.DataBase = got.Addr
		}
		t.dwarf[i] = s
	}
}

// deref returns what reads the word at a virtual address from f, for indirect
// pointers; one that the dynamic linker fills in reads as the file has it.
func deref(f *elfx.File) func(addr uint64) (uint64, bool) {
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
// CIEs, at least as long as there are no tiny ones.
const usualFDE = 32

// listFDEs returns the FDEs of s whose code is in the file.
func (d *dumper) listFDEs(t *frameTable, s *cfi.Section, from source) []frame {
	frames := make([]frame, 0, len(s.Data)/usualFDE)
	var failed error // of the last FDE, after which there may be more that cannot be found
	for fde, err := range s.FDEs() {
		if failed = err; err != nil {
			failed = fmt.Errorf("%s: %w", d.img.Section(s.Kind.String()).File().Path(), err)
			t.stats.loss(failed)
			t.stats.RuleShare.add(1, failed)
		} else if fde.Begin < fde.End && d.holdsCode(t, fde.Begin) {
			frames = append(frames, frame{fde.Begin, fde.End, fde.Offset, from, fde.CIE.Signal})
		}
	}
	t.stats.RuleShare.add(rest(failed, 0, uint64(len(s.Data)))/usualFDE, failed)
	return frames
}

// holdsCode tells whether addr, where an FDE begins, is code that can be
// written; else t counts it.
func (d *dumper) holdsCode(t *frameTable, addr uint64) bool {
	switch {
	case !d.code.Contains(addr):
		t.stats.OutsideCode++
	case addr < d.bias:
		t.stats.BelowLoad++
	default:
		return true
	}
	return false
}

// disjoint sorts the frames of one section by address and clips them so that
// none overlap: of two, the one that begins first holds, or comes first in the
// section.
func disjoint(frames []frame) []frame {
	slices.SortFunc(frames, func(a, b frame) int {
		if a.lo != b.lo {
			return cmp.Compare(a.lo, b.lo)
		}
		return cmp.Compare(a.at, b.at)
	})
	out := frames[:0]
	pos := uint64(0)
	for _, f := range frames {
		if f.hi > pos {
			f.lo = max(f.lo, pos)
			pos = f.hi
			out = append(out, f)
		}
	}
	return out
}

// mostPiecesOfFDE is how many pieces of an FDE of DWARF are written: all of its rows are read for
// each. Sections that describe the same functions have none.
const mostPiecesOfFDE = 64

// union adds to a what b has for other PCs, but for what is behind many pieces of one FDE, which
// lost is told. Each is disjoint, and so is the result, which may be a or b.
func union(a, b []frame, lost func(f *frame)) []frame {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	out := slices.Clone(a)
	i := 0 // the first of a that ends above what of b is left
	for _, f := range b {
		for i < len(a) && a[i].hi <= f.lo {
			i++
		}
		pieces := 0
		for k := i; f.lo < f.hi; k++ {
			if k == len(a) || a[k].lo >= f.hi {
				out = append(out, f)
				break
			}
			if f.lo < a[k].lo {
				if pieces++; pieces > mostPiecesOfFDE && f.source < fromSFrame {
					lost(&f)
					break
				}
				piece := f
				piece.hi = a[k].lo
				out = append(out, piece)
			}
			f.lo = a[k].hi
		}
	}
	slices.SortFunc(out, func(a, b frame) int { return cmp.Compare(a.lo, b.lo) })
	return out
}

// inPieces counts what is left of an FDE that others cut in many pieces.
func (d *dumper) inPieces(t *frameTable, f *frame) {
	s := t.dwarf[f.source]
	err := &wire.Error{Section: s.Kind.String(), Offset: int(f.at), Err: errPieces}
	t.stats.loss(fmt.Errorf("%s: %w", d.img.Section(s.Kind.String()).File().Path(), err))
}

// errPieces: two sections describe the same code in ways that no compiler does.
var errPieces = fmt.Errorf("an FDE in more than %d pieces, between those of another section", mostPiecesOfFDE)
