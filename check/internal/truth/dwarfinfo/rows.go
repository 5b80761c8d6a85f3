package dwarfinfo

import (
	"cmp"
	"slices"

	"symkit/check/internal/naming"
	"symkit/check/internal/pcs"
	"symkit/internal/wire"
)

// Run is the code of one row of a line table. File is a number in naming.Paths.
type Run struct {
	pcs.Range
	Line, File uint32
}

// Lines is the line table of a unit: its runs by address, without overlaps, and the numbers of its
// files in naming.Paths.
type Lines struct {
	Off   uint64 // of the table in .debug_line
	runs  []Run
	files []uint32
	ends  []uint64 // of sequences, in order
}

// Ends reports whether a sequence of the table ends at addr.
func (t *Lines) Ends(addr uint64) bool {
	_, ok := slices.BinarySearch(t.ends, addr)
	return ok
}

// Lines runs the line number program of a unit. Rows that do not begin in code belong to discarded
// functions: the first row of a sequence decides, and the first after each set_address.
// runs is memory for the result.
func (u *Unit) Lines(runs []Run, code pcs.Set, paths *naming.Paths) (t Lines, err error) {
	if !u.hasLines {
		return t, nil
	}
	header, err := u.in.lineHeader(u.lineOff, len(u.compDir))
	if err != nil {
		return t, err
	}
	p := lineProgram{lineHeader: header, c: header.program, code: code, paths: paths, runs: runs, base: header.base(u.compDir), isa: u.in.isaBit()}
	p.numbers = make([]uint32, 0, len(header.files))
	for i := range header.files {
		p.number(i)
	}

	err = cmp.Or(p.run(), header.exceeds(u.in, u.lineOff))
	if header.left < 0 {
		return Lines{Off: u.lineOff}, err // the memory of the rows is free again
	}
	ends := p.ends()
	return Lines{u.lineOff, p.ordered(), p.numbers, ends}, err
}

// lineProgram is a line number program that is being run (DWARF 5 §6.2.5).
type lineProgram struct {
	*lineHeader
	c       wire.Cursor
	code    pcs.Set
	paths   *naming.Paths
	base    string
	numbers []uint32 // of files, in paths
	isa     uint64   // bits of addresses to clear

	// The registers that decide on runs.
	addr, opIndex uint64
	line          int64
	file          uint64

	runs      []Run
	sequences []sequence
	last      Run // begins at last.Lo
	open      bool
	begins    bool // the next row is the first of its sequence
	dead      bool // the rows are of discarded code
}

// sequence is the runs [from, to) of one sequence, or of the part of one in which addresses rise.
type sequence struct{ from, to int }

// number gives file i its number in naming.Paths.
func (p *lineProgram) number(i int) {
	id := uint32(naming.AnyPath)
	path := p.path(p.files[i], p.base)
	if len(path) > 0 {
		id = p.paths.ID(path)
	}
	p.numbers = append(p.numbers, id)
}

// reset puts the registers at the beginning of a sequence.
func (p *lineProgram) reset() {
	p.addr, p.opIndex, p.line, p.file = 0, 0, 1, 1
	p.begins = true
}

// Opcodes (DWARF 5 §7.22).
const (
	lnsExtended     = 0
	lnsCopy         = 1
	lnsAdvancePC    = 2
	lnsAdvanceLine  = 3
	lnsSetFile      = 4
	lnsConstAddPC   = 8
	lnsFixedAdvance = 9
	lneEndSequence  = 1
	lneSetAddress   = 2
	lneDefineFile   = 3
)

// run runs the program. Each step of the loop consumes a byte at least.
func (p *lineProgram) run() error {
	p.reset()
	for c := &p.c; c.Len() > 0 && p.left >= 0; {
		op := c.U8()
		switch {
		case op >= p.opcodeBase:
			adjusted := uint64(op - p.opcodeBase)
			p.advance(adjusted / p.lineRange)
			p.line += p.lineBase + int64(adjusted%p.lineRange)
			p.row(false)
		case op == lnsExtended:
			p.extended()
		case op == lnsCopy:
			p.row(false)
		case op == lnsAdvancePC:
			p.advance(c.ULEB())
		case op == lnsAdvanceLine:
			p.line += c.SLEB()
		case op == lnsSetFile:
			p.file = c.ULEB()
		case op == lnsConstAddPC:
			p.advance(uint64(255-p.opcodeBase) / p.lineRange)
		case op == lnsFixedAdvance:
			p.addr += uint64(c.U16())
			p.opIndex = 0
		default:
			for range p.lengths[op-1] {
				c.SkipLEB()
			}
		}
	}
	return p.c.Err()
}

// advance advances the address by a number of operations.
func (p *lineProgram) advance(n uint64) {
	if p.maxOps == 1 {
		p.addr += n * p.minInst
		return
	}
	n += p.opIndex
	p.addr += p.minInst * (n / p.maxOps)
	p.opIndex = n % p.maxOps
}

// extended runs an extended opcode, which comes after its length.
func (p *lineProgram) extended() {
	c := p.c.Sub(p.c.ULEB())
	if c.Len() == 0 {
		return
	}
	switch c.U8() {
	case lneEndSequence:
		p.row(true)
		p.reset()
	case lneSetAddress:
		if n := c.Len(); n == 8 || n == 4 || n == 2 || n == 1 {
			p.move(c.Uint(n))
		} else {
			p.c.Fail(c.Pos(), wire.ErrSize)
		}
	case lneDefineFile: // DWARF 4 §6.2.5.3
		if p.oldFile(&c) && p.pathBytes <= p.most {
			p.number(len(p.files) - 1)
		} else {
			p.c.Inherit(&c)
		}
	}
}

// move sets the address within or before a sequence. Where discarded code begins or ends, the
// open run ends at the address before, unless the new address is the end of the code.
func (p *lineProgram) move(addr uint64) {
	dead := !p.code.Contains(addr) && (p.dead || !p.open || addr == 0 || addr < p.addr || !p.code.Contains(addr-1))
	if !p.begins && (dead || p.dead) {
		p.close()
		p.open = false
		p.sequences = append(p.sequences, sequence{len(p.runs), len(p.runs)})
	}
	if p.begins {
		p.sequences = append(p.sequences, sequence{len(p.runs), len(p.runs)})
	}
	p.addr, p.opIndex, p.dead, p.begins = addr, 0, dead, false
}

// row adds a row. Of rows at one address the last counts. Where addresses decrease, a new list
// of rows begins.
func (p *lineProgram) row(end bool) {
	if p.begins {
		p.dead, p.begins = !p.code.Contains(p.addr), false
		p.take(sequenceBytes)
		p.sequences = append(p.sequences, sequence{len(p.runs), len(p.runs)})
	}
	p.close()

	p.open = !end
	file := uint32(naming.AnyPath)
	if p.file < uint64(len(p.numbers)) {
		file = p.numbers[p.file]
	}
	p.last = Run{Range: pcs.Range{Lo: p.addr &^ p.isa}, Line: uint32(min(uint64(p.line), 1<<32-1)), File: file}
}

// close ends the open run at the current address.
func (p *lineProgram) close() {
	end := p.addr &^ p.isa
	if p.open && end > p.last.Lo && !p.dead {
		p.last.Hi = end
		s := &p.sequences[len(p.sequences)-1]
		if len(p.runs) > s.from && p.runs[len(p.runs)-1].Hi > p.last.Lo {
			p.take(sequenceBytes)
			p.sequences = append(p.sequences, sequence{len(p.runs), len(p.runs)})
			s = &p.sequences[len(p.sequences)-1]
		}
		p.take(rowBytes)
		p.runs = append(p.runs, p.last)
		s.to = len(p.runs)
	}
}

// ends returns where the sequences end.
func (p *lineProgram) ends() (ends []uint64) {
	for _, s := range p.sequences {
		if s.from < s.to {
			ends = append(ends, p.runs[s.to-1].Hi)
		}
	}
	slices.Sort(ends)
	return ends
}

// ordered returns the runs by address, without overlaps. Sequences mostly do not overlap: then it
// suffices to sort these.
func (p *lineProgram) ordered() []Run {
	live := slices.DeleteFunc(p.sequences, func(s sequence) bool { return s.from == s.to })
	byStart := func(a, b sequence) int { return cmp.Compare(p.runs[a.from].Lo, p.runs[b.from].Lo) }
	runs := p.runs
	if !slices.IsSortedFunc(live, byStart) {
		slices.SortStableFunc(live, byStart)
		runs = make([]Run, 0, len(p.runs))
		for _, s := range live {
			runs = append(runs, p.runs[s.from:s.to]...)
		}
	}

	// Of runs that overlap, the one that begins first counts, then the first of the program.
	for i := 1; i < len(runs); i++ {
		if runs[i].Lo < runs[i-1].Hi {
			return pcs.Disjoint(p.runs)
		}
	}
	return runs
}

// From returns the runs from the first that ends above addr.
func (t *Lines) From(addr uint64) []Run { return t.runs[pcs.After(t.runs, addr):] }

// Code returns the addresses that the runs cover.
func (t *Lines) Code() (code pcs.Set) {
	for i := range t.runs {
		if n := len(code) - 1; n >= 0 && code[n].Hi == t.runs[i].Lo {
			code[n].Hi = t.runs[i].Hi
		} else {
			code = append(code, t.runs[i].Range)
		}
	}
	return code
}

// File returns the number in naming.Paths of file n of the table.
func (t *Lines) File(n int64) uint32 {
	if n < 0 || n >= int64(len(t.files)) {
		return naming.AnyPath
	}
	return t.files[n]
}
