package dump

import (
	"symkit/cfi"
	"symkit/dump/dwarfx"
	"symkit/elfx"
)

// readFrames lists what the call frame information describes. It becomes STACK CFI
// records when the module is written.
func (d *dumper) readFrames() error {
	if !d.opt.NoCFI && d.arch != nil {
		d.frames = d.listFrames()
	}
	return nil
}

// unwind puts what was listed into the module.
func (d *dumper) unwind() error {
	t := d.frames
	if t == nil {
		return nil
	}
	s := &d.m.Stats
	s.addLosses(&t.stats)
	s.RuleShare = t.stats.RuleShare
	s.RuleShare.All = s.RuleShare.Lost + uint64(len(t.frames))
	s.OutsideCode += t.stats.OutsideCode
	s.BelowLoad += t.stats.BelowLoad
	if s.FDEs = len(t.frames); len(t.frames) == 0 && len(d.code) > 0 {
		warn := d.warn
		if !d.img.Main.HoldsLoaded() {
			warn = d.warnAlone
		}
		warn("%s: no unwind rules: %s", d.img.Main.Path(), d.whyNoFrames())
	}
	for _, f := range t.frames {
		if f.signal {
			d.m.SignalFrames = append(d.m.SignalFrames, dwarfx.Range{Lo: f.lo - d.bias, Hi: f.hi - d.bias})
		}
	}
	d.m.unwinder = newUnwinder(d, t)
	return nil
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

// unwinder makes the STACK CFI records of a module, on any number of goroutines.
type unwinder struct {
	frames []frame
	losses []frameLosses // of each run of frames
	// newMerger makes what one goroutine needs, free are those that are not in use.
	newMerger func() *merger
	free      chan *merger
	counted   bool
}

// frameRun is how many frames are turned into text at once.
const frameRun = 512

// frameLosses is what was met when the text of a run of frames was made.
type frameLosses struct {
	agreement Agreement
	stats     cfi.Stats
	errs      []error
}

func newUnwinder(d *dumper, t *frameTable) *unwinder {
	arch, bigEndian, bias := d.arch, d.img.Main.BigEndian, d.bias
	n := (len(t.frames) + frameRun - 1) / frameRun
	return &unwinder{
		frames: t.frames, losses: make([]frameLosses, n),
		newMerger: func() *merger { return newMerger(t, arch, bigEndian, bias) },
		free:      make(chan *merger, min(d.opt.Jobs, n)),
	}
}

// append appends the records of run i.
func (u *unwinder) append(dst []byte, i int) []byte {
	var m *merger
	select {
	case m = <-u.free:
	default:
		m = u.newMerger()
	}
	from := i * frameRun
	dst, u.losses[i] = m.run(dst, u.frames[from:min(from+frameRun, len(u.frames))])
	select {
	case u.free <- m:
	default:
	}
	return dst
}

// count adds to s, once, what was met in all runs.
func (u *unwinder) count(s *Stats, img *elfx.Image) {
	if u.counted {
		return
	}
	u.counted = true
	s.Inexpressible = map[string]uint64{}
	for i := range u.losses {
		l := &u.losses[i]
		for _, err := range l.errs {
			s.loss(inSection(img, err))
			s.RuleShare.add(1, inSection(img, err))
		}
		for reason, count := range l.stats {
			if count > 0 {
				s.Inexpressible[cfi.Reason(reason).String()] += count
			}
		}
		s.SFrame.add(&l.agreement)
	}
}
