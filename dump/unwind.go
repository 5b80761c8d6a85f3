package dump

import (
	"cmp"
	"fmt"
	"slices"

	"symkit/cfi"
	"symkit/internal/wire"
	"symkit/sframe"
)

// frame is code, [lo, hi) as virtual addresses, and the FDE that holds for it:
// of DWARF, or of SFrame where DWARF has none; or the row of ARM's exception
// index table, where there is neither.
type frame struct {
	lo, hi uint64
	fde    *cfi.FDE
	sframe *sframe.FDE
	exidx  *cfi.Row
}

// unwind turns the call frame information into STACK CFI records.
func (d *dumper) unwind() error {
	if d.opt.NoCFI || d.arch == nil {
		return nil
	}
	var frames []frame
	if d.opt.SFrame != SFrameOnly {
		for _, s := range d.frameSections() {
			frames = union(frames, disjoint(d.listFrames(s)))
		}
	}
	var second []frame
	if d.opt.SFrame != SFrameOff {
		second = disjoint(d.listSFrame())
	}
	frames = union(frames, second)
	frames = union(frames, disjoint(d.listExidx()))
	if d.m.Stats.FDEs = len(frames); len(frames) == 0 && len(d.code) > 0 {
		d.warn("%s: no unwind rules: %s", d.img.Main.Path(), d.whyNoFrames())
	}
	return d.writeFrames(frames, second)
}

// whyNoFrames tells a user why nothing says how to unwind.
func (d *dumper) whyNoFrames() string {
	if d.opt.SFrame == SFrameOnly {
		return "there is no .sframe"
	}
	for _, kind := range []cfi.SectionKind{cfi.EHFrame, cfi.DebugFrame} {
		switch s := d.img.Main.Section(kind.String()); {
		case s == nil:
		case !s.Present():
			return kind.String() + " is in the binary, of which this is the debug file; give both"
		default:
			return kind.String() + " has none"
		}
	}
	if d.img.Main.Section(".orc_unwind") != nil {
		return "the kernel was built without .debug_frame, and its .orc_unwind is not read"
	}
	return "there is no .eh_frame, .debug_frame or .sframe"
}

// frameSections are the sections with call frame information; of two that
// describe a PC the first holds. .eh_frame is what exceptions run on.
func (d *dumper) frameSections() (sections []*cfi.Section) {
	for _, kind := range []cfi.SectionKind{cfi.EHFrame, cfi.DebugFrame} {
		sec := d.img.Section(kind.String())
		if sec == nil {
			continue
		}
		data, err := sec.Data()
		if err != nil {
			d.loss(err)
			continue
		}
		f := sec.File()
		s := &cfi.Section{
			Kind: kind, Data: data, Addr: sec.Addr, AddrSize: f.AddrSize(),
			BigEndian: f.BigEndian, Machine: f.Machine,
			Deref: d.deref,
		}
		if text := d.img.Main.Section(".text"); text != nil {
			s.TextBase = text.Addr
		}
		if got := d.img.Main.Section(".got"); got != nil {
			s.DataBase = got.Addr
		}
		sections = append(sections, s)
	}
	return sections
}

// deref reads the word at a virtual address from the file, for indirect
// pointers; one that the dynamic linker fills in reads as the file has it.
func (d *dumper) deref(addr uint64) (uint64, bool) {
	f := d.img.Main
	b := f.BytesAt(addr, uint64(f.AddrSize()))
	if b == nil {
		return 0, false
	}
	c := wire.New("", b, f.BigEndian)
	return c.Uint(f.AddrSize()), true
}

// listFrames returns the FDEs of s whose code is in the file.
func (d *dumper) listFrames(s *cfi.Section) (frames []frame) {
	var fdes []cfi.FDE // a block of those that frames point to
	for fde, err := range s.FDEs() {
		switch {
		case err != nil:
			d.loss(fmt.Errorf("%s: %w", d.img.Section(s.Kind.String()).File().Path(), err))
		case fde.Begin >= fde.End:
		case !d.code.Contains(fde.Begin):
			d.m.Stats.OutsideCode++
		case fde.Begin < d.bias:
			d.m.Stats.BelowLoad++
		default:
			if len(fdes) == cap(fdes) {
				fdes = make([]cfi.FDE, 0, 256)
			}
			fdes = append(fdes, fde)
			frames = append(frames, frame{lo: fde.Begin, hi: fde.End, fde: &fdes[len(fdes)-1]})
		}
	}
	return frames
}

// disjoint sorts the frames of one section by address and clips them so that
// none overlap: of two, the one that begins first holds.
func disjoint(frames []frame) []frame {
	slices.SortStableFunc(frames, func(a, b frame) int { return cmp.Compare(a.lo, b.lo) })
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

// union adds to a what b has for other PCs. Each is disjoint, and so is the
// result.
func union(a, b []frame) []frame {
	if len(a) == 0 {
		return b
	}
	out := slices.Clone(a)
	i := 0 // the first of a that ends above what of b is left
	for _, f := range b {
		for i < len(a) && a[i].hi <= f.lo {
			i++
		}
		for k := i; f.lo < f.hi; k++ {
			if k == len(a) || a[k].lo >= f.hi {
				out = append(out, f)
				break
			}
			if f.lo < a[k].lo {
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
