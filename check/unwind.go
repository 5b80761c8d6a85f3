package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"symkit/cfi"
	"symkit/check/internal/collect"
	"symkit/check/internal/eval"
	"symkit/check/internal/pcs"
	"symkit/check/internal/symfile"
	"symkit/check/report"
	"symkit/elfx"
	"symkit/emit"
	"symkit/internal/wire"
)

// piece is the code [lo, hi) that an FDE holds for: part of the FDE's own
// where another one holds for the rest.
type piece struct {
	lo, hi uint64
	fde    cfi.FDE
	big    bool
}

// unwinder compares the STACK CFI records with the tables.
type unwinder struct {
	r      *replay
	arch   *eval.Arch
	pieces []piece
	// sframe holds the rows of .sframe by address; on ARM, which has none, those
	// of its exception index table, which say nothing of prologues and so are
	// not expected to agree with DWARF.
	sframe []sframeRow
	exidx  bool
	inits  []uint32 // INIT records by address, of overlapping ones the first
}

// unwind makes the checks about STACK CFI.
func (r *replay) unwind() error {
	c, s := r.c, r.s
	c.Begin(report.CheckCFI, "PCs")
	if len(s.Inits) == 0 {
		c.State(report.CheckCFI, report.NotInFile, "")
	}
	u := &unwinder{r: r, arch: eval.ArchOf(r.img.Main.Machine, r.img.Main.Class)}
	if u.arch == nil {
		c.State(report.CheckCFI, report.NotVerified, "")
		c.Unread(report.CheckCFI, uint64(len(s.Inits)), "no unwind tables are known for the machine")
		return nil
	}
	for _, kind := range []cfi.SectionKind{cfi.EHFrame, cfi.DebugFrame} {
		u.list(kind)
	}
	u.readSFrame()
	u.readExidx()
	if len(u.pieces) == 0 && len(u.sframe) == 0 && len(s.Inits) > 0 {
		c.State(report.CheckCFI, report.NotInELF, "no unwind tables")
	}
	u.pieces = disjoint(u.pieces)
	if r.bias > 0 {
		u.pieces = slices.DeleteFunc(u.pieces, func(p piece) bool { return p.lo < r.bias })
	}
	u.signalFrames()
	u.agreement()
	if len(s.Inits) == 0 {
		return nil
	}
	u.index()
	if err := u.compare(); err != nil {
		return err
	}
	u.sframeOnly()
	u.extra()
	return nil
}

// list adds the FDEs of one section whose code is in the file.
func (u *unwinder) list(kind cfi.SectionKind) {
	r := u.r
	sec := r.img.Section(kind.String())
	if sec == nil {
		return
	}
	data, err := sec.Data()
	if err != nil {
		r.c.Unverified(report.CheckCFI, 1, err.Error())
		return
	}
	f := sec.File()
	section := &cfi.Section{
		Kind: kind, Data: data, Addr: sec.Addr, AddrSize: f.AddrSize(), BigEndian: f.BigEndian, Machine: f.Machine,
		Deref: r.deref,
	}
	if text := r.img.Main.Section(".text"); text != nil {
		section.TextBase = text.Addr
	}
	if got := r.img.Main.Section(".got"); got != nil {
		section.DataBase = got.Addr
	}
	for fde, err := range section.FDEs() {
		switch {
		case err != nil:
			r.c.Unverified(report.CheckCFI, 1, err.Error())
		case fde.Begin < fde.End && r.code.Contains(fde.Begin):
			u.pieces = append(u.pieces, piece{fde.Begin, fde.End, fde, f.BigEndian})
		}
	}
}

// deref reads a word of the loaded file.
func (r *replay) deref(addr uint64) (uint64, bool) {
	f := r.img.Main
	b := f.BytesAt(addr, uint64(f.AddrSize()))
	if b == nil {
		return 0, false
	}
	c := wire.New("", b, f.BigEndian)
	return c.Uint(f.AddrSize()), true
}

// disjoint sorts the pieces and removes overlaps: the one that begins first
// holds, then the one of .eh_frame.
func disjoint(p []piece) []piece {
	slices.SortStableFunc(p, func(a, b piece) int { return cmp.Compare(a.lo, b.lo) })
	out, pos := p[:0], uint64(0)
	for _, x := range p {
		if x.hi > pos {
			x.lo = max(x.lo, pos)
			pos = x.hi
			out = append(out, x)
		}
	}
	return out
}

// index lists the INIT records that consumers use: of those that overlap the
// one that begins first, then the first in the file.
func (u *unwinder) index() {
	s := u.r.s
	pos := uint64(0)
	for _, i := range symfile.ByAddr(len(s.Inits), func(i uint32) uint64 { return s.Inits[i].Addr }) {
		if in := &s.Inits[i]; in.Addr >= pos && in.End > in.Addr {
			u.inits = append(u.inits, i)
			pos = in.End
		}
	}
}

// compare compares the pieces, several at once.
func (u *unwinder) compare() error {
	const chunk = 256
	var next atomic.Int64
	n := int64(len(u.pieces)+chunk-1) / chunk
	g, ctx := errgroup.WithContext(u.r.ctx)
	for range u.r.opt.Jobs {
		g.Go(func() error {
			return elfx.Guard(func() error {
				w := newUnwindWorker(u)
				for i := next.Add(1) - 1; i < n && ctx.Err() == nil; i = next.Add(1) - 1 {
					for k := i * chunk; k < min((i+1)*chunk, int64(len(u.pieces))); k++ {
						w.piece(&u.pieces[k])
					}
					u.r.progress("unwind rules", int(i+1), int(n))
				}
				w.flush()
				return context.Cause(ctx)
			})
		})
	}
	return g.Wait()
}

// covered are the PCs that some table describes, as addresses of the ELF file.
func (u *unwinder) covered() pcs.Set {
	all := make(pcs.Set, 0, len(u.pieces)+len(u.sframe))
	for i := range u.pieces {
		all = append(all, pcs.Range{Lo: u.pieces[i].lo, Hi: u.pieces[i].hi})
	}
	for i := range u.sframe {
		all = append(all, pcs.Range{Lo: u.sframe[i].row.Begin, Hi: u.sframe[i].row.End})
	}
	return pcs.Union(all)
}

// extra reports INIT records of PCs that no table describes.
func (u *unwinder) extra() {
	r := u.r
	tables := u.covered()
	for i := range r.s.Inits {
		in := &r.s.Inits[i]
		tables.Outside(in.Addr+r.bias, in.End+r.bias, func(lo, hi uint64) {
			r.c.Compared(report.CheckCFI, hi-lo)
			r.c.Wrong(collect.At(report.CheckCFI, in.At, lo-r.bias, "no unwind table describes [%#x, %#x)", lo-r.bias, hi-r.bias), hi-lo)
		})
	}
}

// signalFrames: INFO SIGNAL_FRAME names the code of the FDEs marked so. Only
// symkit writes it.
func (u *unwinder) signalFrames() {
	r := u.r
	var have pcs.Set
	lines := map[uint64]uint32{}
	for i := range r.s.Infos {
		info := emit.Info{Key: r.s.Infos[i].Key, Text: r.s.Infos[i].Text}
		if info.Key != emit.KeySignalFrame {
			continue
		}
		x, ok := info.SignalFrame()
		if !ok {
			r.c.Wrong(collect.At(report.CheckSignal, r.s.Infos[i].Line, 0, "want an address and a size"), 1)
			continue
		}
		if at, ok := lines[x.Addr]; ok {
			r.c.Wrong(collect.At(report.CheckDuplicates, r.s.Infos[i].Line, x.Addr, "INFO %s for %#x is also on line %d", info.Key, x.Addr, at), 1)
		}
		have = append(have, pcs.Range{Lo: x.Addr, Hi: x.Addr + uint64(x.Size)})
		lines[x.Addr] = r.s.Infos[i].Line
	}
	r.c.Begin(report.CheckSignal, "bytes")
	var want pcs.Set
	for i := range u.pieces {
		if p := &u.pieces[i]; p.fde.CIE.Signal {
			want = append(want, pcs.Range{Lo: p.lo - r.bias, Hi: p.hi - r.bias})
		}
	}
	if len(have) == 0 {
		gen, _ := r.s.Info(emit.KeyGenerator)
		if len(want) == 0 || len(r.s.Inits) == 0 || !symfile.IsSymkit(gen.Text) {
			r.c.State(report.CheckSignal, report.NotInFile, "")
			return
		}
	}
	have, want = pcs.Union(have), pcs.Union(want)
	r.c.Compared(report.CheckSignal, want.Size())
	for _, x := range want {
		have.Outside(x.Lo, x.Hi, func(lo, hi uint64) {
			r.c.Missing(report.Finding{Check: report.CheckSignal, Addr: lo, What: fmt.Sprintf("no INFO SIGNAL_FRAME for [%#x, %#x)", lo, hi)}, hi-lo)
		})
	}
	for _, x := range have {
		want.Outside(x.Lo, x.Hi, func(lo, hi uint64) {
			r.c.Wrong(collect.At(report.CheckSignal, lines[x.Lo], lo, "[%#x, %#x) is no signal frame", lo, hi), hi-lo)
		})
	}
}
