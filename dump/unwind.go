package dump

import (
	"cmp"
	"fmt"
	"slices"

	"symkit/cfi"
	"symkit/dump/dwarfx"
	"symkit/emit"
	"symkit/internal/wire"
)

// frame is an FDE and the code it is used for, as virtual addresses: part of
// the FDE's own where another holds for the rest.
type frame struct {
	lo, hi uint64
	fde    cfi.FDE
}

// unwind turns the call frame information into STACK CFI records.
func (d *dumper) unwind() error {
	if d.opt.NoCFI || d.arch == nil {
		return nil
	}
	sections, err := d.frameSections()
	if err != nil {
		return err
	}
	var frames []frame
	for _, s := range sections {
		frames = union(frames, disjoint(d.listFrames(s)))
	}
	d.m.Stats.FDEs = len(frames)
	return d.writeFrames(frames)
}

// frameSections are the sections with call frame information; of two that
// describe a PC the first holds. .eh_frame is what exceptions run on.
func (d *dumper) frameSections() (sections []*cfi.Section, err error) {
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
	return sections, nil
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
			frames = append(frames, frame{fde.Begin, fde.End, fde})
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

// writeFrames turns the frames into text, in parallel, by address.
func (d *dumper) writeFrames(frames []frame) error {
	const chunk = 512
	n := (len(frames) + chunk - 1) / chunk
	d.m.CFI = make([][]byte, n)
	stats := make([]cfi.Stats, n)
	errs := make([][]error, n)
	err := d.each(n, func() func(int) error {
		text := cfi.NewText(d.arch)
		text.BigEndian = d.img.Main.BigEndian
		return func(i int) error {
			text.Stats = cfi.Stats{}
			var out []byte
			for _, f := range frames[i*chunk : min((i+1)*chunk, len(frames))] {
				if err := addRows(text, &f); err != nil {
					errs[i] = append(errs[i], err)
				}
				out = d.appendCFI(out, text)
			}
			d.m.CFI[i], stats[i] = slices.Clip(out), text.Stats
			return nil
		}
	})
	total := map[string]uint64{}
	for i := range n {
		for _, err := range errs[i] {
			d.loss(err)
		}
		for reason, count := range stats[i] {
			if count > 0 {
				total[cfi.Reason(reason).String()] += count
			}
		}
	}
	d.m.Stats.Inexpressible = total
	for _, f := range frames {
		if f.fde.CIE.Signal {
			d.m.SignalFrames = append(d.m.SignalFrames, dwarfx.Range{Lo: f.lo - d.bias, Hi: f.hi - d.bias})
		}
	}
	return err
}

// addRows feeds text with the rows of f.
func addRows(text *cfi.Text, f *frame) error {
	text.Reset()
	text.Begin(f.fde.CIE.RA)
	for row, err := range f.fde.Rows() {
		if err != nil {
			return err
		}
		row.Begin, row.End = max(row.Begin, f.lo), min(row.End, f.hi)
		text.Add(&row)
	}
	return nil
}

// appendCFI appends the records of text.
func (d *dumper) appendCFI(dst []byte, text *cfi.Text) []byte {
	for i := range text.Len() {
		r := text.Record(i)
		if !r.Init() {
			dst = emit.StackCFI{Addr: r.Addr - d.bias, Rules: r.Rules}.Append(dst)
			continue
		}
		for piece := range emit.Pieces(r.Addr-d.bias, r.Size) {
			dst = emit.StackCFIInit{Addr: piece.Addr, Size: piece.Size, Rules: r.Rules}.Append(dst)
		}
	}
	return dst
}
