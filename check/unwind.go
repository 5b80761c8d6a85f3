package check

import (
	"fmt"
	"slices"

	"symkit/cfi"
	"symkit/check/internal/collect"
	"symkit/check/internal/eval"
	"symkit/check/internal/pcs"
	"symkit/check/internal/symfile"
	"symkit/check/report"
	"symkit/emit"
	"symkit/internal/par"
	"symkit/internal/wire"
)

// piece is code that an FDE holds for: part of the FDE's own if another one holds for the rest.
type piece struct {
	pcs.Range
	fde cfi.FDE
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
	inits  []symfile.Init // those that consumers use, by address
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
	u.pieces = pcs.Disjoint(u.pieces)
	if r.bias > 0 {
		u.pieces = slices.DeleteFunc(u.pieces, func(p piece) bool { return p.Lo < r.bias })
	}
	u.signalFrames()
	u.agreement()
	if len(s.Inits) == 0 {
		return nil
	}
	u.inits = s.UsedInits()
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
			u.pieces = append(u.pieces, piece{pcs.Range{Lo: fde.Begin, Hi: fde.End}, fde})
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

// compare compares the pieces, several at once.
func (u *unwinder) compare() error {
	const chunk = 256
	n := (len(u.pieces) + chunk - 1) / chunk
	return par.Each(u.r.ctx, u.r.opt.Jobs, n, func() func(int) error {
		w := newUnwindWorker(u)
		return func(i int) error {
			for k := i * chunk; k < min((i+1)*chunk, len(u.pieces)); k++ {
				w.piece(&u.pieces[k])
			}
			w.flush()
			u.r.progress("unwind rules", i+1, n)
			return nil
		}
	})
}

// extra reports INIT records of PCs that no table describes.
func (u *unwinder) extra() {
	r := u.r
	tables := pcs.Union(append(pcs.SetOf(u.pieces), pcs.SetOf(u.sframe)...))
	for i := range r.s.Inits {
		in := &r.s.Inits[i]
		tables.Outside(in.Addr+r.bias, in.End+r.bias, func(lo, hi uint64) {
			r.c.Compared(report.CheckCFI, hi-lo)
			r.c.Wrong(collect.At(report.CheckCFI, in.At, lo-r.bias, "no unwind table describes [%#x, %#x)", lo-r.bias, hi-r.bias), hi-lo)
		})
	}
}

// signalFrames checks that INFO SIGNAL_FRAME records name the code of the FDEs that are marked as
// signal frames. Only symkit writes them.
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
			want = append(want, pcs.Range{Lo: p.Lo - r.bias, Hi: p.Hi - r.bias})
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
