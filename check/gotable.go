package check

import (
	"debug/gosym"
	"errors"
	"fmt"

	"symkit/internal/wire"
)

// goSections are where Go's linker puts its function table.
var goSections = []string{".gopclntab", ".data.rel.ro.gopclntab"}

// errGoText: see goTable.
var errGoText = errors.New("where the code that .gopclntab describes begins is not known")

// goTable is the function table of a Go program.
type goTable struct {
	*gosym.Table
	data    []byte
	addr    uint64
	quantum uint64 // of instructions: addresses are multiples of it
	paths   map[string]uint32
}

// quantumAt is the offset of the quantum in the table's header.
const quantumAt = 6

// goTable reads the function table of a Go program, by debug/gosym; nil without
// one. Its addresses count from runtime.text, which the table's header or a symbol
// tells; what is taken for it otherwise has to make the entry point the beginning of a
// function.
func (r *replay) goTable() (t *goTable, err error) {
	defer func() {
		if p := recover(); p != nil {
			t, err = nil, recovered("debug/gosym", p)
		}
	}()
	main := r.img.Main
	var data []byte
	var addr uint64
	for _, name := range goSections {
		if data, err = main.SectionData(name); err != nil {
			return nil, err
		} else if len(data) > 0 {
			addr = main.Section(name).Addr
			break
		}
	}
	if len(data) == 0 {
		return nil, nil
	}
	if err := limitGoTable(data, main.BigEndian); err != nil {
		return nil, err
	}
	start := headerText(data, main.BigEndian)
	told := start != 0 && r.code.contains(start)
	if text := main.Section(".text"); text != nil && !told { // where C's code may come before Go's
		start = text.Addr
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, start))
	if err != nil {
		return nil, fmt.Errorf("debug/gosym: %w", err)
	}
	if f := table.PCToFunc(main.Entry); told || f != nil && f.Entry == main.Entry {
		return &goTable{table, data, addr, uint64(max(data[quantumAt], 1)), map[string]uint32{}}, nil
	}
	return nil, errGoText
}

// limitGoTable refuses a table without the bytes for its functions: debug/gosym
// makes room for as many as it claims. An entry has eight bytes and more.
func limitGoTable(data []byte, bigEndian bool) error {
	c := wire.New(".gopclntab", data, bigEndian)
	c.Skip(quantumAt + 1)
	word := int(c.U8())
	if word != 4 && word != 8 {
		c.Fail(quantumAt+1, fmt.Errorf("pointers of %d bytes", word))
		return c.Err()
	}
	at := c.Pos()
	if n := c.Uint(word); n > uint64(len(data))/8 {
		c.Fail(at, fmt.Errorf("%d functions in %d bytes", n, len(data)))
	}
	return c.Err()
}

// headerText is the address of runtime.text in the header of a table, which Go
// 1.18 to 1.25 fill in, unless the program's own address is not fixed; 0 in others.
func headerText(data []byte, bigEndian bool) uint64 {
	c := wire.New(".gopclntab", data, bigEndian)
	if magic := c.U32(); magic != 0xfffffff0 && magic != 0xfffffff1 { // of Go 1.18 and 1.20
		return 0
	}
	c.Skip(quantumAt + 1 - 4)
	word := int(c.U8())
	if word != 4 && word != 8 {
		return 0
	}
	c.Skip(2 * uint64(word)) // numbers of functions and files
	return c.Uint(word)
}

// goFunctions compares FUNC and line records with a Go program's own table,
// where it has no other debug information, and INLINE records with the inlined
// calls that this package reads itself.
func (r *replay) goFunctions(t *goTable) {
	s := r.s
	r.source = ".gopclntab"
	inlines, note := newGoInlines(r.img.Main, t.data, t.addr)
	w := worker{r: r, same: map[uint64]likeness{}}
	for i := range t.Funcs {
		f := &t.Funcs[i]
		if f.Entry >= f.End || !r.code.contains(f.Entry) {
			continue
		}
		fn := truthFunc{f.Entry, f.End, r.names.id(nameKey{name: f.Name}), r.functionCount}
		r.functionCount++
		for _, k := range r.at(f.Entry) {
			// The table's own end is where the next function begins; the code
			// ends where the lines do.
			if end := s.funcs[k].end + r.bias; end < f.End && t.hasLine(end-1) && !t.hasLine(end) {
				fn.hi = end
			}
			if len(s.lines) > 0 {
				sf := &s.funcs[k]
				r.lines[k].better(r.compareLines(sf, r.goLines(t, sf)))
			}
			if inlines != nil && len(s.inlines) > 0 {
				w.goCalls(inlines, i, f.Entry, fn.hi, k)
			} else if s.funcs[k].inlines.len() > 0 {
				r.hide(CheckInlines, note)
			}
		}
		r.truth = append(r.truth, fn)
	}
	r.reportFuncs()
}

// line is the position of the instruction at pc; below 0 for padding.
func (t *goTable) line(pc uint64) (file string, line int) {
	file, line, _ = t.PCToLine(pc &^ (t.quantum - 1))
	return file, line
}

func (t *goTable) hasLine(pc uint64) bool {
	_, line := t.line(pc)
	return line > 0
}

// goLines are the lines of f: those of the first and last PC of each record and
// of each gap. (debug/gosym tells a PC's by running the table from the
// function's beginning, so to ask for each would take time squared.)
func (r *replay) goLines(t *goTable, f *symFunc) (runs []lineRun) {
	if !t.hasLine(f.addr + r.bias) {
		return nil // the linker's own marks have no table; debug/gosym reads the first one of all
	}
	add := func(x lineRun) {
		if int32(x.line) > 0 {
			runs = append(runs, x)
		}
	}
	ask := func(lo, hi uint64) {
		at := func(pc uint64) lineRun {
			file, line := t.line(pc)
			id, ok := t.paths[file]
			if !ok && file != "" {
				id = r.paths.id(file)
				t.paths[file] = id
			}
			return lineRun{lo: pc, hi: pc + 1, line: uint32(line), file: id}
		}
		first, last := at(lo), at(hi-1)
		if first.line == last.line && first.file == last.file {
			first.hi = hi
			add(first)
			return
		}
		first.hi = last.lo
		add(first)
		add(last)
	}
	pos, end := f.addr+r.bias, f.end+r.bias
	lines := r.linesOf(f)
	for i := range lines {
		lo, hi := lines[i].addr+r.bias, min(lines[i].end()+r.bias, end)
		if lo > pos {
			ask(pos, min(lo, end))
		}
		if pos = max(pos, lo); hi > pos {
			ask(pos, hi)
			pos = hi
		}
	}
	if pos < end {
		ask(pos, end)
	}
	return runs
}
