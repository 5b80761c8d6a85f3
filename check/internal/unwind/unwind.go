// Package unwind compares STACK CFI records with the unwind tables of an ELF file: DWARF, SFrame and
// ARM's exception index. It evaluates the rules of both sides on random registers and memory.
package unwind

import (
	"context"
	"fmt"
	"slices"

	"symkit/cfi"
	"symkit/check/internal/checks"
	"symkit/check/internal/collect"
	"symkit/check/internal/eval"
	"symkit/check/internal/frames"
	"symkit/check/internal/pcs"
	"symkit/check/internal/symfile"
	"symkit/check/report"
	"symkit/emit"
	"symkit/internal/bounds"
	"symkit/internal/limitof"
	"symkit/internal/par"
)

// Compare makes the checks about STACK CFI records.
func Compare(ctx context.Context, r *Input) (*collect.Outcome, error) {
	c, s := collect.New(r.Report), r.Sym
	c.Begin(checks.CFI, "PCs")
	if len(s.Inits) == 0 {
		c.State(checks.CFI, report.NotInFile, "")
	}

	// Without register names no rule can be compared.
	u := &unwinder{r: r, c: c, arch: eval.ArchOf(r.Image.Main.Machine, r.Image.Main.Class), records: bounds.NewRecords(r.Report.Limits, limitof.FrameRecords, r.Image.Size()), shared: map[string]*cfi.Row{}}
	if u.arch == nil {
		c.State(checks.CFI, report.NotVerified, "")
		c.Unread(checks.CFI, uint64(len(s.Inits)), "no unwind tables are known for the machine")
		return c, nil
	}

	// The tables of the ELF file.
	for _, kind := range []cfi.SectionKind{cfi.EHFrame, cfi.DebugFrame} {
		u.list(kind)
	}
	u.readSFrame()
	u.readExidx()
	if u.over != nil {
		c.State(checks.CFI, report.NotVerified, "")
		c.Unread(checks.CFI, uint64(len(s.Inits)), u.over.Error())
		return c, nil
	}
	if len(u.parts) == 0 && len(u.sframe) == 0 && len(s.Inits) > 0 {
		c.State(checks.CFI, report.NotInELF, "no unwind tables")
	}

	// Code below the load address has no address in the symbol file.
	u.parts = pcs.Disjoint(u.parts)
	if r.Bias > 0 {
		u.parts = slices.DeleteFunc(u.parts, func(p part) bool { return p.Lo < r.Bias })
	}

	// One check needs no STACK CFI record.
	u.signalFrames()
	if len(s.Inits) == 0 {
		return c, nil
	}

	// Records against tables, then records that no table accounts for.
	u.inits = s.UsedInits()
	parser := eval.NewParser(u.arch)
	for _, text := range s.Rules.Texts {
		u.rules = append(u.rules, parser.Parse(nil, text))
	}
	if err := u.compare(ctx); err != nil {
		return nil, err
	}
	u.sframeOnly()
	u.extra()
	return c, nil
}

// list adds the FDEs of one section whose code is in the file.
func (u *unwinder) list(kind cfi.SectionKind) {
	for fde, err := range frames.FDEs(u.r.Image, kind) {
		switch {
		case u.over != nil:
			u.parts = nil
			return
		case err != nil:
			u.c.Unverified(checks.CFI, 1, err.Error())
		case fde.Begin < fde.End && u.r.Code.Contains(fde.Begin):
			u.over = u.records.Take(1, partBytes)
			u.parts = append(u.parts, part{pcs.Range{Lo: fde.Begin, Hi: fde.End}, fde})
		}
	}
}

// compare compares the parts, several at a time.
func (u *unwinder) compare(ctx context.Context) error {
	const chunk = 256
	n := (len(u.parts) + chunk - 1) / chunk
	found := make([]*collect.Outcome, n)
	err := par.Each(ctx, u.r.Jobs, n, func() func(int) error {
		w := newUnwindWorker(u)
		return func(i int) error {
			for k := i * chunk; k < min((i+1)*chunk, len(u.parts)); k++ {
				w.part(&u.parts[k])
			}
			found[i] = w.take()
			u.r.Progress("unwind rules", i+1, n)
			return nil
		}
	})
	u.c.Add(found...)
	return err
}

// extra reports INIT records for PCs that no table describes.
func (u *unwinder) extra() {
	r := u.r
	tables := pcs.Union(append(pcs.SetOf(u.parts), pcs.SetOf(u.sframe)...))
	for i := range r.Sym.Inits {
		in := &r.Sym.Inits[i]
		tables.Outside(in.Addr+r.Bias, in.End+r.Bias, func(lo, hi uint64) {
			u.c.Compared(checks.CFI, hi-lo)
			u.c.Wrong(collect.At(checks.CFI, in.At, lo-r.Bias, "no unwind table describes [%#x, %#x)", lo-r.Bias, hi-r.Bias), hi-lo)
		})
	}
}

// signalFrames checks that INFO SIGNAL_FRAME records name the code of the FDEs that are marked as
// signal frames. Only symkit writes these records.
func (u *unwinder) signalFrames() {
	r := u.r

	// The code that the records name.
	var have pcs.Set
	lines := map[uint64]uint32{}
	for i := range r.Sym.Infos {
		info := emit.Info{Key: r.Sym.Infos[i].Key, Text: r.Sym.Infos[i].Text}
		if info.Key != emit.KeySignalFrame {
			continue
		}
		x, ok := info.SignalFrame()
		if !ok {
			u.c.Wrong(collect.At(checks.Signal, r.Sym.Infos[i].Line, 0, "want an address and a size"), 1)
			continue
		}
		if at, ok := lines[x.Addr]; ok {
			u.c.Wrong(collect.At(checks.Duplicates, r.Sym.Infos[i].Line, x.Addr, "INFO %s for %#x is also on line %d", info.Key, x.Addr, at), 1)
		}

		have = append(have, pcs.Range{Lo: x.Addr, Hi: x.Addr + uint64(x.Size)})
		lines[x.Addr] = r.Sym.Infos[i].Line
	}

	// The code of the marked FDEs.
	u.c.Begin(checks.Signal, "bytes")
	var want pcs.Set
	for i := range u.parts {
		if p := &u.parts[i]; p.fde.CIE.Signal {
			want = append(want, pcs.Range{Lo: p.Lo - r.Bias, Hi: p.Hi - r.Bias})
		}
	}

	// A file with no such record is judged only if symkit wrote it.
	if len(have) == 0 {
		gen, _ := r.Sym.Info(emit.KeyGenerator)
		if len(want) == 0 || len(r.Sym.Inits) == 0 || !symfile.IsSymkit(gen.Text) {
			u.c.State(checks.Signal, report.NotInFile, "")
			return
		}
	}

	// Both directions: code without a record, and records without such code.
	have, want = pcs.Union(have), pcs.Union(want)
	u.c.Compared(checks.Signal, want.Size())
	for _, x := range want {
		have.Outside(x.Lo, x.Hi, func(lo, hi uint64) {
			u.c.Missing(report.Finding{Check: checks.Signal, Addr: lo, What: fmt.Sprintf("no INFO SIGNAL_FRAME for [%#x, %#x)", lo, hi)}, hi-lo)
		})
	}
	for _, x := range have {
		want.Outside(x.Lo, x.Hi, func(lo, hi uint64) {
			u.c.Wrong(collect.At(checks.Signal, lines[x.Lo], lo, "[%#x, %#x) is no signal frame", lo, hi), hi-lo)
		})
	}
}
