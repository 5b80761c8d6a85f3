package dump

import (
	"slices"

	"symkit/cfi"
	"symkit/dump/dwarfx"
	"symkit/emit"
)

// writeFrames turns the frames into text, in parallel, by address. second are
// the frames of SFrame, with which those of DWARF are compared.
func (d *dumper) writeFrames(frames, second []frame) error {
	const chunk = 512
	n := (len(frames) + chunk - 1) / chunk
	d.m.CFI = make([][]byte, n)
	results := make([]merger, n)
	err := d.each(n, func() func(int) error {
		m := newMerger(d, second)
		var out []byte
		return func(i int) error {
			m.reset()
			out = out[:0]
			for _, f := range frames[i*chunk : min((i+1)*chunk, len(frames))] {
				m.frame(&f)
				out = d.appendCFI(out, m.text)
			}
			d.m.CFI[i] = slices.Clone(out)
			results[i] = merger{agreement: m.agreement, stats: m.text.Stats, errs: m.errs}
			m.errs = nil
			return nil
		}
	})
	d.sumFrames(results)
	for _, f := range frames {
		if f.fde != nil && f.fde.CIE.Signal || f.sframe != nil && f.sframe.Signal {
			d.m.SignalFrames = append(d.m.SignalFrames, dwarfx.Range{Lo: f.lo - d.bias, Hi: f.hi - d.bias})
		}
	}
	return err
}

// sumFrames adds up what the chunks counted.
func (d *dumper) sumFrames(results []merger) {
	s := &d.m.Stats
	s.Inexpressible = map[string]uint64{}
	for i := range results {
		for _, err := range results[i].errs {
			d.sectionLoss(err)
		}
		for reason, count := range results[i].stats {
			if count > 0 {
				s.Inexpressible[cfi.Reason(reason).String()] += count
			}
		}
		s.SFrame.add(&results[i].agreement)
	}
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
