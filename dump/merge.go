package dump

import (
	"slices"

	"symkit/cfi"
	"symkit/emit"
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
	t       *frameTable
	bias    uint64 // as in dumper
	text    *cfi.Text
	readers [2]*cfi.Reader // of frameTable.dwarf
	rules   []emit.Rules   // by the number of cfi.Record
	frameLosses

	fde     cfi.FDE       // of DWARF, under way
	rows    []cfi.Row     // of SFrame, in the frame under way
	regs    []cfi.RegRule // of rows
	fp      cfi.Reg
	ra      cfi.Reg // SFrame's
	current source  // of the record under way

	// Of the SFrame FDE that was read last: its place, all its rows, and their registers.
	secondAt   uint64
	secondRead bool
	secondRows []cfi.Row
	secondRegs []cfi.RegRule
}

func newMerger(t *frameTable, arch *cfi.Arch, bigEndian bool, bias uint64) *merger {
	m := &merger{t: t, bias: bias, text: cfi.NewText(arch)}
	m.text.BigEndian = bigEndian
	for i, s := range t.dwarf {
		if s != nil {
			m.readers[i] = s.NewReader()
		}
	}
	if t.sframe != nil && len(t.sframe.Chunks) > 0 {
		abi := t.sframe.Chunks[0].ABI
		m.fp, m.ra = abi.FP(), abi.RA()
	}
	return m
}

// run appends the records of frames and returns what was met.
func (m *merger) run(dst []byte, frames []frame) ([]byte, frameLosses) {
	m.frameLosses, m.text.Stats, m.text.ByPC = frameLosses{}, cfi.Stats{}, cfi.MaxByPC
	m.secondRead = false // what is met does not depend on what was run before
	for i := range frames {
		m.frame(&frames[i])
		dst = m.append(dst)
	}
	m.stats = m.text.Stats
	return dst, m.frameLosses
}

// frame makes the records of f.
func (m *merger) frame(f *frame) {
	m.text.Reset()
	switch f.source {
	case fromExidx:
		m.exidx(f)
	case fromSFrame:
		m.readSecond(f)
		m.only(m.rows)
	default:
		m.readSecond(f)
		m.dwarf(f)
	}
}

// dwarf makes the records of f, which is DWARF's.
func (m *merger) dwarf(f *frame) {
	var err error
	if m.fde, err = m.readers[f.source].FDE(f.at); err != nil {
		m.errs = append(m.errs, err)
		m.only(m.rows)
		return
	}
	m.begin(fromDWARF)
	end := f.lo
	for row, err := range m.fde.Rows() {
		if err != nil {
			m.errs = append(m.errs, err)
			break
		}
		row.Begin, row.End = max(row.Begin, f.lo), min(row.End, f.hi)
		if row.Begin < row.End {
			end = row.End
			m.row(row)
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
func (m *merger) begin(s source) {
	m.current = s
	if s == fromDWARF {
		m.text.Begin(m.fde.CIE.RA)
	} else {
		m.text.Begin(m.ra)
	}
}

// only writes rows of SFrame that DWARF has nothing for.
func (m *merger) only(rows []cfi.Row) {
	m.begin(fromSFrame)
	for i := range rows {
		m.agreement.SFrameOnly += rows[i].End - rows[i].Begin
		m.text.Add(&rows[i])
	}
}

// readSecond copies the SFrame rows in [f.lo, f.hi).
func (m *merger) readSecond(f *frame) {
	m.rows, m.regs = m.rows[:0], m.regs[:0]
	second := m.t.second
	i, _ := slices.BinarySearchFunc(second, f.lo, func(s frame, lo uint64) int {
		if s.hi <= lo {
			return -1
		}
		return 1
	})
	for ; i < len(second) && second[i].lo < f.hi; i++ {
		m.readRows(max(f.lo, second[i].lo), min(f.hi, second[i].hi), second[i].at)
	}
}

// readRows copies the rows in [lo, hi) of the SFrame FDE at a place.
func (m *merger) readRows(lo, hi, at uint64) {
	if !m.secondRead || m.secondAt != at {
		m.readSFrame(at)
	}
	rows := m.secondRows
	rows = rows[leading(rows, func(r *cfi.Row) bool { return r.End <= lo }):]
	for i := 0; i < len(rows) && rows[i].Begin < hi; i++ {
		kept := rows[i]
		kept.Begin, kept.End = max(kept.Begin, lo), min(kept.End, hi)
		from := len(m.regs)
		m.regs = append(m.regs, kept.Regs...)
		kept.Regs = m.regs[from:len(m.regs):len(m.regs)]
		m.rows = append(m.rows, kept)
	}
}

// readSFrame reads the SFrame FDE at a place, once for all frames of DWARF in it.
func (m *merger) readSFrame(at uint64) {
	m.secondAt, m.secondRead = at, true
	m.secondRows, m.secondRegs = m.secondRows[:0], m.secondRegs[:0]
	chunk := &m.t.sframe.Chunks[at>>32]
	fde, err := chunk.FDE(int(uint32(at)))
	if err != nil {
		m.errs = append(m.errs, err)
		return
	}
	for row, err := range fde.Rows() {
		if err != nil {
			m.errs = append(m.errs, err)
			break
		}
		if row.Begin >= row.End {
			continue
		}
		from := len(m.secondRegs)
		m.secondRegs = append(m.secondRegs, row.Regs...)
		kept := *row
		kept.Regs = m.secondRegs[from:len(m.secondRegs):len(m.secondRegs)]
		if e := fde.Current(); e.Outermost() {
			kept.CFA = entryCFA(chunk.ABI)
		}
		m.secondRows = append(m.secondRows, kept)
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
func (m *merger) row(row *cfi.Row) {
	for end := row.End; row.Begin < end; row.Begin = row.End {
		row.End = end
		for len(m.rows) > 0 && m.rows[0].End <= row.Begin {
			m.rows = m.rows[1:]
		}
		if len(m.rows) == 0 || m.rows[0].Begin >= end {
			m.agreement.DWARFOnly += end - row.Begin
			m.add(row, fromDWARF)
			continue
		}
		other := m.rows[0]
		if other.Begin > row.Begin {
			row.End = other.Begin
			m.agreement.DWARFOnly += row.End - row.Begin
			m.add(row, fromDWARF)
			continue
		}
		row.End = min(end, other.End)
		m.compare(row, &other)
		if m.text.Expressible(m.fde.CIE.RA, row) {
			m.add(row, fromDWARF)
			continue
		}
		other.Begin, other.End = row.Begin, row.End
		m.agreement.Replaced += row.End - row.Begin
		m.add(&other, fromSFrame)
	}
}

func (m *merger) add(row *cfi.Row, s source) {
	if s != m.current {
		m.begin(s)
	}
	m.text.Add(row)
}

// append appends the records of the frame.
func (m *merger) append(dst []byte) []byte {
	for i := range m.text.Len() {
		r := m.text.Record(i)
		rel := r.Addr - m.bias
		switch {
		case r.Number == 0 || r.Size >= 1<<32:
			dst = appendRecord(dst, rel, &r)
		case r.Init():
			dst = m.rulesOf(&r).AppendInit(dst, rel, uint32(r.Size))
		default:
			dst = m.rulesOf(&r).Append(dst, rel)
		}
	}
	return dst
}

// rulesOf returns the rules of a record that has a number.
func (m *merger) rulesOf(r *cfi.Record) *emit.Rules {
	for r.Number >= len(m.rules) {
		m.rules = append(m.rules, emit.Rules{})
	}
	rules := &m.rules[r.Number]
	if rules.IsZero() {
		*rules = emit.NewRules(r.Rules)
	}
	return rules
}

// appendRecord appends any record, whose address is rel.
func appendRecord(dst []byte, rel uint64, r *cfi.Record) []byte {
	if !r.Init() {
		return emit.StackCFI{Addr: rel, Rules: r.Rules}.Append(dst)
	}
	for piece := range emit.Pieces(rel, r.Size) {
		dst = emit.StackCFIInit{Addr: piece.Addr, Size: piece.Size, Rules: r.Rules}.Append(dst)
	}
	return dst
}
