package dump

import (
	"slices"

	"symkit/cfi"
	"symkit/dump/dwarfx"
)

// unwind turns the call frame information into STACK CFI records.
func (d *dumper) unwind() error {
	if d.opt.NoCFI || d.arch == nil {
		return nil
	}
	t := d.listFrames()
	s := &d.m.Stats
	d.losses(&t.lost)
	s.OutsideCode += t.outsideCode
	s.BelowLoad += t.belowLoad
	if s.FDEs = len(t.frames); len(t.frames) == 0 && len(d.code) > 0 {
		d.warn("%s: no unwind rules: %s", d.img.Main.Path(), d.whyNoFrames())
	}
	return d.writeFrames(t)
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

// frameText is what a run of frames became.
type frameText struct {
	signal    []dwarfx.Range
	agreement Agreement
	stats     cfi.Stats
	errs      []error
}

// writeFrames turns the frames into text, in parallel, by address.
func (d *dumper) writeFrames(t *frameTable) error {
	const chunk = 512
	n := (len(t.frames) + chunk - 1) / chunk
	d.m.CFI = make([][]byte, n)
	results := make([]frameText, n)
	err := d.each(n, func() func(int) error {
		m := newMerger(d, t)
		var out []byte
		return func(i int) error {
			m.reset()
			out = out[:0]
			for _, f := range t.frames[i*chunk : min((i+1)*chunk, len(t.frames))] {
				m.frame(&f)
				out = m.append(out)
			}
			d.m.CFI[i] = slices.Clone(out)
			results[i] = m.frameText
			results[i].stats = m.text.Stats
			return nil
		}
	})
	d.sumFrames(results)
	return err
}

// sumFrames adds up what the runs of frames became.
func (d *dumper) sumFrames(results []frameText) {
	s := &d.m.Stats
	s.Inexpressible = map[string]uint64{}
	for i := range results {
		r := &results[i]
		for _, err := range r.errs {
			d.sectionLoss(err)
		}
		for reason, count := range r.stats {
			if count > 0 {
				s.Inexpressible[cfi.Reason(reason).String()] += count
			}
		}
		s.SFrame.add(&r.agreement)
		d.m.SignalFrames = append(d.m.SignalFrames, r.signal...)
	}
}
