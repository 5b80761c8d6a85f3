package dwarfx

import (
	"cmp"
	"fmt"
	"slices"

	"symkit/internal/wire"
)

// A line number program emits rows in sequences; each sequence covers code without a
// gap. The sequences need not ascend, may overlap, and may describe code that the
// linker discarded. ReadLines turns the program into one ascending list: lineMachine
// appends rows, drops those of discarded code and those that change nothing, and
// closes each run of ascending rows by an EndOfCode row; flatten then sorts the runs
// and cuts overlaps. The invariant while the machine runs: Rows[first:] ascend
// strictly and belong to the open run, and everything before is closed.

// ReadLines runs the line number program of u. Sequences of discarded code are left
// out; if two sequences cover one address, the first one listed holds. Damage ends the
// table: t has the rows before the damage, and the located error is returned.
func (d *Data) ReadLines(u *Unit, t *LineTable) error {
	c, err := t.open(d, u)
	if err != nil || !u.HasLines {
		return t.released(err)
	}
	m := lineMachine{d: d, t: t, h: &t.h, c: c}
	m.run()
	t.pay(&m.c, 0)
	if t.Full {
		t.Places = t.Places[:len(t.Rows)]
	}
	t.flatten()
	return t.released(m.c.Err())
}

// ReadFiles is Data.ReadLines for the files of u's line table alone: t has no rows.
func (t *LineTable) ReadFiles(u *Unit) error {
	_, err := t.open(u.data, u)
	return t.released(err)
}

// open reads the header of u's line table. c begins with the program.
func (t *LineTable) open(d *Data, u *Unit) (c wire.Cursor, err error) {
	t.Rows, t.Places, t.seqs, t.owed, t.paid = t.Rows[:0], t.Places[:0], t.seqs[:0], 0, 0
	if !u.HasLines {
		t.h = lineHeader{}
		return c, nil
	}
	c = d.cursor(".debug_line", d.Line)
	c.Seek(u.LineOff)
	err = d.readLineHeader(&c, u, t)
	if err == nil {
		c.Seek(uint64(t.h.programAt)) // the header says where the program begins
	}
	return c, err
}

// LineKey identifies a line program. ReadLines makes the same table for all units of one
// key.
type LineKey struct {
	data           *Data
	off            uint64
	strOffsetsBase uint64 // file names may be indexes into .debug_str_offsets
	addrSize       uint8  // tables before DWARF 5 do not have their own
}

// LineKey returns the key of the unit's line program; the unit has one.
func (u *Unit) LineKey() LineKey {
	return LineKey{u.data, u.LineOff, u.strOffsetsBase, u.AddrSize}
}

// LineSize returns the number of bytes of .debug_line, from u.LineOff on, that ReadLines
// reads for u; 0 if there are none.
func (d *Data) LineSize(u *Unit) uint64 {
	if !u.HasLines {
		return 0
	}
	c := d.cursor(".debug_line", d.Line)
	c.Seek(u.LineOff)
	n, _ := c.InitialLength()
	if c.Err() != nil {
		return 0
	}
	return uint64(c.Pos()) - u.LineOff + min(n, uint64(c.Len()))
}

// flatten sorts the sequences by address and removes overlaps.
func (t *LineTable) flatten() {
	inOrder := true
	for i := 1; i < len(t.seqs) && inOrder; i++ {
		inOrder = t.seqs[i].lo >= t.seqs[i-1].hi
	}
	if inOrder {
		return
	}

	// The sort is stable: of two sequences at one address, the first one listed wins.
	slices.SortStableFunc(t.seqs, func(a, b lineSeq) int { return cmp.Compare(a.lo, b.lo) })
	t.flat, t.flatPlaces = t.flat[:0], t.flatPlaces[:0]
	if cap(t.flat) < len(t.Rows) {
		t.flat = make([]LineRow, 0, cap(t.Rows))
	}

	// Code before pos has its rows already.
	pos := uint64(0)
	for _, s := range t.seqs {
		if s.hi <= pos {
			continue
		}
		rows := t.Rows[s.rows.From:s.rows.To]
		for i, r := range rows {
			if r.File == EndOfCode || rows[i+1].Addr > pos {
				r.Addr = max(r.Addr, pos)
				t.flat = append(t.flat, r)
				if t.Full {
					t.flatPlaces = append(t.flatPlaces, t.Places[int(s.rows.From)+i])
				}
			}
		}
		pos = s.hi
	}
	t.Rows, t.flat = t.flat, t.Rows
	t.Places, t.flatPlaces = t.flatPlaces, t.Places
}

// File returns the name of file n and the name of its directory, as the table
// has them: the directory may be empty or relative to BaseDir. ok is false
// where the table has no such file.
func (t *LineTable) File(n uint32) (dir, name []byte, ok bool) {
	if uint64(n) >= uint64(len(t.h.files)) || t.h.version < 5 && n == 0 {
		return nil, nil, false
	}
	f := t.h.files[n]
	if f.Dir > 0 && f.Dir < uint64(len(t.h.dirs)) {
		dir = t.h.dirs[f.Dir]
	}
	return dir, f.Name, true
}

// BaseDir is the directory that the table's relative names belong to: the
// unit's DW_AT_comp_dir, which since DWARF 5 the table repeats as directory 0
// (§6.2.4). Where the two differ, the one that is absolute is better.
func (t *LineTable) BaseDir(compDir []byte) []byte {
	if t.h.version < 5 || len(t.h.dirs) == 0 || len(compDir) > 0 && compDir[0] == '/' {
		return compDir
	}
	if dir := t.h.dirs[0]; len(compDir) == 0 || len(dir) > 0 && dir[0] == '/' {
		return dir
	}
	return compDir
}

func (m *lineMachine) reset() {
	m.addr, m.opIndex, m.file, m.line, m.dead = 0, 0, 1, 1, false
	m.column, m.discriminator = 0, 0
}

func (m *lineMachine) run() {
	m.reset()
	h, c := m.h, &m.c
	m.t.steps.reset(h)
	for c.Len() > 0 {
		if !m.t.Full {
			m.fast()
		}
		if c.Len() == 0 {
			break
		}

		op := c.U8()
		switch {
		case op >= h.opcodeBase:
			if h.lineRange == 0 {
				c.Fail(c.Pos()-1, fmt.Errorf("%w: special opcode with a line_range of 0", ErrLineOp))
				break
			}
			adj := uint64(op - h.opcodeBase)
			m.advance(adj / h.lineRange)
			m.line += uint64(h.lineBase + int64(adj%h.lineRange))
			m.row()
		case op == 0:
			m.extended()
		default:
			m.standard(op)
		}
	}
	m.endRun(m.addr)
}

// advance adds a number of operations to the address (DWARF 5 §6.2.5.1).
func (m *lineMachine) advance(ops uint64) {
	h := m.h
	if h.maxOps == 1 {
		m.addr += h.minInst * ops
		return
	}
	// VLIW: op_index counts the operations within an instruction.
	ops += m.opIndex
	m.addr += h.minInst * (ops / h.maxOps)
	m.opIndex = ops % h.maxOps
}

func (m *lineMachine) standard(op uint8) {
	c, h := &m.c, m.h
	switch op {
	case lnsCopy:
		m.row()
	case lnsAdvancePC:
		m.advance(c.ULEB())
	case lnsAdvanceLine:
		m.line += uint64(c.SLEB())
	case lnsSetFile:
		m.file = c.ULEB()
	case lnsConstAddPC:
		if h.lineRange != 0 {
			m.advance(uint64(255-h.opcodeBase) / h.lineRange)
		}
	case lnsFixedAdvancePC:
		m.addr += uint64(c.U16())
		m.opIndex = 0
	case lnsSetColumn:
		if m.t.Full && h.opcodeLengths[op-1] == 1 {
			m.column = c.ULEB()
			break
		}
		fallthrough
	default: // set_isa, the flags, and unknown opcodes
		for range h.opcodeLengths[op-1] {
			c.SkipLEB()
		}
	}
}

func (m *lineMachine) extended() {
	c := &m.c
	n := c.ULEB()
	body := c.Sub(n)
	switch body.U8() {
	case lneEndSequence:
		m.endRun(m.addr)
		m.reset()
	case lneSetAddress:
		size := body.Len()
		if size != 1 && size != 2 && size != 4 && size != 8 {
			body.Fail(body.Pos(), fmt.Errorf("%w %d", ErrAddrSize, size))
			break
		}

		// A sequence may set its address again; a change to or from discarded code ends the
		// run.
		addr := body.Uint(size)
		dead := tombstone(addr, uint8(size)) || !m.d.code.Contains(addr) && !m.continues(addr)
		switch {
		case dead || m.dead:
			m.endRun(m.addr)
		case m.strays():
			m.t.Rows = m.t.Rows[:m.first]
		}
		m.addr, m.opIndex, m.dead = addr, 0, dead
	case lneSetDiscriminator:
		if m.t.Full {
			m.discriminator = body.ULEB()
		}
	case lneDefineFile:
		f := readLineFileV4(&body, body.CString())
		m.t.pay(&body, nameMemory)
		m.h.files = append(m.h.files, f)
	}
	c.Inherit(&body)
}

// continues reports whether a set_address to addr, where no code lies, belongs to the
// open run: addr is the end of a section.
func (m *lineMachine) continues(addr uint64) bool {
	return !m.dead && len(m.t.Rows) > m.first && addr >= m.addr && m.d.code.Contains(addr-1)
}

// strays reports whether the open run began outside of code: rows at address 0 before the
// first set_address, as Dart's compiler writes them, do not describe what lies between.
func (m *lineMachine) strays() bool {
	return len(m.t.Rows) > m.first && !m.d.code.Contains(m.t.Rows[m.first].Addr)
}

// row appends a row of the matrix. Of rows at one address the last holds; a row at a
// lower address begins a new run.
func (m *lineMachine) row() {
	place := Place{clip32(m.column), clip32(m.discriminator)}
	m.discriminator = 0
	if m.dead {
		return
	}

	// Compare with the last row of the open run.
	rows := m.t.Rows
	if open := len(rows) > m.first; open {
		last := &rows[len(rows)-1]
		switch {
		case m.addr < last.Addr:
			m.endRun(last.Addr)
		case m.addr == last.Addr:
			rows = rows[:len(rows)-1]
			m.t.Rows = rows
		}
	}

	// A row that repeats the line before changes nothing.
	row := LineRow{Addr: m.addr, Line: clip32(m.line), File: min(clip32(m.file), EndOfCode-1)}
	if len(m.t.Rows) > m.first {
		last := m.t.Rows[len(m.t.Rows)-1]
		if last.File == row.File && last.Line == row.Line && (!m.t.Full || m.t.Places[len(m.t.Rows)-1] == place) {
			return
		}
	}
	if len(m.t.Rows) == cap(m.t.Rows) {
		m.t.pay(&m.c, 0)
	}
	m.t.Rows = append(grown(m.t.Rows), row)
	m.t.place(place)
}

// place gives the last row its place. Places after those of the rows are of rows that were removed.
func (t *LineTable) place(p Place) {
	if t.Full {
		t.Places = append(grown(t.Places[:len(t.Rows)-1]), p)
	}
}

// endRun closes the open run of rows at address end.
func (m *lineMachine) endRun(end uint64) {
	t := m.t
	if m.d.ISABit {
		end &^= 1
		t.clearISABit(m.first)
	}

	// A last row at or after the end covers no code; the run then ends at that row.
	if n := len(t.Rows) - 1; n >= m.first && t.Rows[n].Addr >= end {
		end = t.Rows[n].Addr
		t.Rows = t.Rows[:n]
	}

	if len(t.Rows) > m.first {
		t.Rows = append(t.Rows, LineRow{Addr: end, File: EndOfCode})
		t.place(Place{})
		t.pay(&m.c, seqMemory)
		t.seqs = append(t.seqs, lineSeq{
			lo: t.Rows[m.first].Addr, hi: end,
			rows: Span{uint32(m.first), uint32(len(t.Rows))},
		})
	}
	m.first = len(t.Rows)
}

// clearISABit clears bit 0 of the addresses of Rows[first:]. As in row, the last row at an
// address counts, and a row that repeats the line before is left out.
func (t *LineTable) clearISABit(first int) {
	n := first // rows that are kept
	for i := first; i < len(t.Rows); i++ {
		row := t.Rows[i]
		row.Addr &^= 1
		if n > first && t.Rows[n-1].Addr == row.Addr {
			n--
		}
		same := n > first && t.Rows[n-1].Line == row.Line && t.Rows[n-1].File == row.File
		if same && (!t.Full || t.Places[n-1] == t.Places[i]) {
			continue
		}
		t.Rows[n] = row
		if t.Full {
			t.Places[n] = t.Places[i]
		}
		n++
	}
	t.Rows = t.Rows[:n]
}

// clip32 returns v, or the largest uint32 if v is larger.
func clip32(v uint64) uint32 {
	if v > 1<<32-1 {
		return 1<<32 - 1
	}
	return uint32(v)
}
