package dump

import (
	"slices"

	"symkit/cfi"
	"symkit/sframe"
)

// Agreement counts, in bytes of code, how DWARF and SFrame describe it.
type Agreement struct {
	DWARFOnly, SFrameOnly uint64
	Both, Agree           uint64 // described by both; with the same rules
	// What differs where both describe it. The first that does counts.
	CFA, RA, FP, Signed uint64
	// Replaced counts where DWARF's rule cannot be expressed and SFrame's is
	// written.
	Replaced uint64
}

func (a *Agreement) add(b *Agreement) {
	a.DWARFOnly += b.DWARFOnly
	a.SFrameOnly += b.SFrameOnly
	a.Both += b.Both
	a.Agree += b.Agree
	a.CFA += b.CFA
	a.RA += b.RA
	a.FP += b.FP
	a.Signed += b.Signed
	a.Replaced += b.Replaced
}

// merger turns frames into text, one after the other. Where DWARF and SFrame
// both describe a PC, DWARF's row is written, since it knows all registers;
// unless it cannot be expressed.
type merger struct {
	d         *dumper
	text      *cfi.Text
	second    []frame // SFrame's
	agreement Agreement
	stats     cfi.Stats
	errs      []error

	rows    []cfi.Row     // of SFrame, in the frame under way
	regs    []cfi.RegRule // of rows
	fp      cfi.Reg
	ra      cfi.Reg // SFrame's
	current source  // of the record under way
}

type source uint8

const (
	fromDWARF source = iota
	fromSFrame
)

func newMerger(d *dumper, second []frame) *merger {
	m := &merger{d: d, text: cfi.NewText(d.arch), second: second}
	m.text.BigEndian = d.img.Main.BigEndian
	if len(second) > 0 {
		abi := second[0].sframe.Chunk().ABI
		m.fp, m.ra = abi.FP(), abi.RA()
	}
	return m
}

// reset starts the counts anew.
func (m *merger) reset() {
	m.agreement, m.text.Stats, m.text.ByPC = Agreement{}, cfi.Stats{}, cfi.MaxByPC
}

// frame makes the records of f.
func (m *merger) frame(f *frame) {
	m.text.Reset()
	if f.exidx != nil {
		m.exidx(f)
		return
	}
	m.readSecond(f)
	if f.fde == nil {
		m.only(m.rows)
		return
	}
	m.begin(fromDWARF, f)
	end := f.lo
	for row, err := range f.fde.Rows() {
		if err != nil {
			m.errs = append(m.errs, err)
			break
		}
		row.Begin, row.End = max(row.Begin, f.lo), min(row.End, f.hi)
		if row.Begin < row.End {
			end = row.End
			m.row(f, row)
		}
	}
	// What damage took, SFrame may still have.
	for len(m.rows) > 0 && m.rows[0].End <= end {
		m.rows = m.rows[1:]
	}
	if len(m.rows) > 0 {
		m.rows[0].Begin = max(m.rows[0].Begin, end)
		m.only(m.rows)
	}
}

// begin makes the next row start a range, of another source.
func (m *merger) begin(s source, f *frame) {
	m.current = s
	if s == fromDWARF {
		m.text.Begin(f.fde.CIE.RA)
	} else {
		m.text.Begin(m.ra)
	}
}

// only writes rows of SFrame that DWARF has nothing for.
func (m *merger) only(rows []cfi.Row) {
	m.begin(fromSFrame, nil)
	for i := range rows {
		m.agreement.SFrameOnly += rows[i].End - rows[i].Begin
		m.text.Add(&rows[i])
	}
}

// readSecond copies the SFrame rows in [f.lo, f.hi).
func (m *merger) readSecond(f *frame) {
	m.rows, m.regs = m.rows[:0], m.regs[:0]
	i, _ := slices.BinarySearchFunc(m.second, f.lo, func(s frame, lo uint64) int {
		if s.hi <= lo {
			return -1
		}
		return 1
	})
	for ; i < len(m.second) && m.second[i].lo < f.hi; i++ {
		s := &m.second[i]
		fde := *s.sframe // its rows need storage of their own
		for row, err := range fde.Rows() {
			if err != nil {
				m.errs = append(m.errs, err)
				break
			}
			row.Begin, row.End = max(row.Begin, f.lo, s.lo), min(row.End, f.hi, s.hi)
			if row.Begin >= row.End {
				continue
			}
			from := len(m.regs)
			m.regs = append(m.regs, row.Regs...)
			kept := *row
			kept.Regs = m.regs[from:len(m.regs):len(m.regs)]
			if e := fde.Current(); e.Outermost() {
				kept.CFA = entryCFA(fde.Chunk().ABI)
			}
			m.rows = append(m.rows, kept)
		}
	}
}

// entryCFA is the CFA at a function's entry: an outermost frame has none in
// SFrame, and a record cannot do without.
func entryCFA(abi sframe.ABI) cfi.Rule {
	r := cfi.Rule{Kind: cfi.KindReg, Reg: abi.SP()}
	switch abi {
	case sframe.AMD64:
		r.Off = 8
	case sframe.S390X:
		r.Off = 160
	}
	return r
}

// row writes a row of DWARF, cut where SFrame's rows begin and end.
func (m *merger) row(f *frame, row *cfi.Row) {
	for end := row.End; row.Begin < end; row.Begin = row.End {
		row.End = end
		for len(m.rows) > 0 && m.rows[0].End <= row.Begin {
			m.rows = m.rows[1:]
		}
		if len(m.rows) == 0 || m.rows[0].Begin >= end {
			m.agreement.DWARFOnly += end - row.Begin
			m.add(f, row, fromDWARF)
			continue
		}
		other := m.rows[0]
		if other.Begin > row.Begin {
			row.End = other.Begin
			m.agreement.DWARFOnly += row.End - row.Begin
			m.add(f, row, fromDWARF)
			continue
		}
		row.End = min(end, other.End)
		m.compare(f, row, &other)
		if m.text.Expressible(f.fde.CIE.RA, row) {
			m.add(f, row, fromDWARF)
			continue
		}
		other.Begin, other.End = row.Begin, row.End
		m.agreement.Replaced += row.End - row.Begin
		m.add(f, &other, fromSFrame)
	}
}

func (m *merger) add(f *frame, row *cfi.Row, s source) {
	if s != m.current {
		m.begin(s, f)
	}
	m.text.Add(row)
}
