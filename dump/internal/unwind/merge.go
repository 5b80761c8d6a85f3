package unwind

import (
	"sort"

	"symkit/cfi"
	"symkit/dump/internal/frames"
	"symkit/emit"
	"symkit/sframe"
)

// Agreement counts, in bytes of code, how DWARF and SFrame describe it.
type Agreement struct {
	DWARFOnly, SFrameOnly uint64
	Both, Agree           uint64 // described by both; with the same rules
	// What differs where both describe the code. The first difference counts.
	CFA, RA, FP, Signed uint64
	// Replaced counts where DWARF's rule cannot be expressed and SFrame's is
	// written.
	Replaced uint64
}

// merger turns entries into text, one after the other, for one goroutine.
type merger struct {
	t       *frames.Table
	load    uint64 // load address, subtracted from addresses that are written
	text    *cfi.Text
	readers [2]*cfi.Reader // of Table.DWARF
	rules   []emit.Rules   // by the number of cfi.Record
	Losses

	fde     cfi.FDE       // the current FDE of DWARF
	rows    []cfi.Row     // the rows of SFrame in the current entry
	regs    []cfi.RegRule // of rows
	fp      cfi.Reg
	ra      cfi.Reg       // SFrame's return address
	current frames.Source // of the current record

	lo, hi uint64 // the code from the first entry of the run to its last

	// The SFrame FDE that was read last: its place, its rows in [lo, hi), and their registers. The rows of
	// all code would take memory for each goroutine.
	second struct {
		at   uint64
		read bool
		rows []cfi.Row
		regs []cfi.RegRule
	}
}

func newMerger(t *frames.Table, arch *cfi.Arch, bigEndian bool, load uint64) *merger {
	m := &merger{t: t, load: load, text: cfi.NewText(arch)}
	m.text.BigEndian = bigEndian
	for i, s := range t.DWARF {
		if s != nil {
			m.readers[i] = s.NewReader()
		}
	}
	if t.SFrame != nil && len(t.SFrame.Chunks) > 0 {
		abi := t.SFrame.Chunks[0].ABI
		m.fp, m.ra = abi.FP(), abi.RA()
	}
	return m
}

// run appends the records of entries and returns their losses. Neither depends on
// earlier runs.
func (m *merger) run(dst []byte, entries []frames.Entry) ([]byte, Losses) {
	m.Losses, m.text.Stats, m.text.ByPC = Losses{}, cfi.Stats{}, cfi.MaxByPC
	m.second.read = false
	if len(entries) > 0 {
		m.lo, m.hi = entries[0].Lo, entries[len(entries)-1].Hi
	}

	for i := range entries {
		m.entry(&entries[i])
		dst = m.append(dst)
	}
	m.Inexpressible = m.text.Stats
	return dst, m.Losses
}

// entry makes the records of e.
func (m *merger) entry(e *frames.Entry) {
	m.text.Reset()
	switch e.Source {
	case frames.Exidx:
		m.exidx(e)
	case frames.SFrame:
		m.readSecond(e)
		m.only(m.rows)
	default:
		m.readSecond(e)
		m.dwarf(e)
	}
}

// armRA is the column of the return address in the rows of cfi.Exidx: lr.
const armRA = 14

// exidx makes the record of e, a row of ARM's exception index table.
func (m *merger) exidx(e *frames.Entry) {
	row := m.t.Exidx[e.At]
	row.Begin, row.End = max(row.Begin, e.Lo), min(row.End, e.Hi)
	m.text.Begin(armRA)
	m.text.Add(&row)
}

// dwarf makes the records of e, an FDE of DWARF.
func (m *merger) dwarf(e *frames.Entry) {
	var err error
	m.fde, err = m.readers[e.Source].FDE(e.At)
	if err != nil {
		m.Errs = append(m.Errs, err)
		m.only(m.rows)
		return
	}

	// Another entry may have cut the code of the FDE down to [e.Lo, e.Hi).
	m.begin(frames.DWARF)
	end := e.Lo
	for row, err := range m.fde.Rows() {
		if err != nil {
			m.Errs = append(m.Errs, err)
			break
		}
		row.Begin, row.End = max(row.Begin, e.Lo), min(row.End, e.Hi)
		if row.Begin < row.End {
			end = row.End
			m.row(row)
		}
	}

	// SFrame may still have rows that DWARF lost by damage.
	for len(m.rows) > 0 && m.rows[0].End <= end {
		m.rows = m.rows[1:]
	}
	if len(m.rows) > 0 {
		m.rows[0].Begin = max(m.rows[0].Begin, end)
		m.only(m.rows)
	}
}

// begin makes the next row, which is of source s, begin a STACK CFI INIT record.
func (m *merger) begin(s frames.Source) {
	m.current = s
	if s == frames.DWARF {
		m.text.Begin(m.fde.CIE.RA)
	} else {
		m.text.Begin(m.ra)
	}
}

// only writes rows of SFrame for code that DWARF does not describe.
func (m *merger) only(rows []cfi.Row) {
	m.begin(frames.SFrame)
	for i := range rows {
		m.Agreement.SFrameOnly += rows[i].End - rows[i].Begin
		m.text.Add(&rows[i])
	}
}

// readSecond copies the SFrame rows in [e.Lo, e.Hi).
func (m *merger) readSecond(e *frames.Entry) {
	m.rows, m.regs = m.rows[:0], m.regs[:0]

	second := m.t.Second
	i := sort.Search(len(second), func(i int) bool { return second[i].Hi > e.Lo })
	for ; i < len(second) && second[i].Lo < e.Hi; i++ {
		m.readRows(max(e.Lo, second[i].Lo), min(e.Hi, second[i].Hi), second[i].At)
	}
}

// readRows copies the rows in [lo, hi) of the SFrame FDE at a place.
func (m *merger) readRows(lo, hi, at uint64) {
	if !m.second.read || m.second.at != at {
		m.readSFrame(at)
	}
	rows := m.second.rows
	rows = rows[sort.Search(len(rows), func(i int) bool { return rows[i].End > lo }):]
	for i := 0; i < len(rows) && rows[i].Begin < hi; i++ {

		// The registers are copied too: rows of the next FDE take their memory.
		kept := rows[i]
		kept.Begin, kept.End = max(kept.Begin, lo), min(kept.End, hi)
		from := len(m.regs)
		m.regs = append(m.regs, kept.Regs...)
		kept.Regs = m.regs[from:len(m.regs):len(m.regs)]
		m.rows = append(m.rows, kept)
	}
}

// readSFrame reads the SFrame FDE at a place, once for all FDEs of DWARF in its code.
func (m *merger) readSFrame(at uint64) {
	m.second.at, m.second.read = at, true
	m.second.rows, m.second.regs = m.second.rows[:0], m.second.regs[:0]

	chunkIndex, index := frames.SFramePlace(at)
	chunk := &m.t.SFrame.Chunks[chunkIndex]
	fde, err := chunk.FDE(index)
	if err != nil {
		m.Errs = append(m.Errs, err)
		return
	}
	count := 0
	for row, err := range fde.Rows() {
		if err != nil {
			m.Errs = append(m.Errs, err)
			break
		}
		if row.Begin >= row.End {
			continue
		}
		count++
		if count > m.t.MaxRows {
			m.Errs = append(m.Errs, m.t.TooManyRows(fde.Offset))
			break
		}
		if row.End <= m.lo || row.Begin >= m.hi {
			continue
		}

		// The iterator uses the memory of the row again.
		from := len(m.second.regs)
		m.second.regs = append(m.second.regs, row.Regs...)
		kept := *row
		kept.Regs = m.second.regs[from:len(m.second.regs):len(m.second.regs)]
		current := fde.Current()
		if current.Outermost() {
			kept.CFA = entryCFA(chunk.ABI)
		}
		m.second.rows = append(m.second.rows, kept)
	}
}

// entryCFA returns the CFA at a function's entry: an outermost frame has no CFA in
// SFrame, and a STACK CFI record must have one.
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

		// Up to the next row of SFrame there is DWARF alone.
		if len(m.rows) == 0 || m.rows[0].Begin > row.Begin {
			if len(m.rows) > 0 {
				row.End = min(end, m.rows[0].Begin)
			}
			m.Agreement.DWARFOnly += row.End - row.Begin
			m.add(row, frames.DWARF)
			continue
		}

		other := m.rows[0]
		row.End = min(end, other.End)
		m.compare(row, &other)
		if m.text.Expressible(m.fde.CIE.RA, row) {
			m.add(row, frames.DWARF)
			continue
		}

		other.Begin, other.End = row.Begin, row.End
		m.Agreement.Replaced += row.End - row.Begin
		m.add(&other, frames.SFrame)
	}
}

// add writes a row of a source.
func (m *merger) add(row *cfi.Row, s frames.Source) {
	if s != m.current {
		m.begin(s)
	}
	m.text.Add(row)
}

// append appends the records of the entry.
func (m *merger) append(dst []byte) []byte {
	for i := range m.text.Len() {
		r := m.text.Record(i)
		rel := r.Addr - m.load

		// Rules with a number come again and again, so their text is made once.
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

// rulesOf returns the rules of record r, whose number is not 0.
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
	for part := range emit.Split(rel, r.Size) {
		dst = emit.StackCFIInit{Addr: part.Addr, Size: part.Size, Rules: r.Rules}.Append(dst)
	}
	return dst
}
