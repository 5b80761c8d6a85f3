// Package gotable reads the functions, lines and inlined calls of a Go program from its own
// tables: functions and lines by debug/gosym, inlined calls itself.
package gotable

import (
	"debug/gosym"
	"errors"
	"fmt"

	"symkit/check/internal/pcs"
	"symkit/check/internal/truth"
	"symkit/elfx"
	"symkit/internal/wire"
)

// goSections are where Go's linker puts its function table.
var goSections = []string{".gopclntab", ".data.rel.ro.gopclntab"}

// ErrGoText: see goTable.
var ErrGoText = errors.New("where the code that .gopclntab describes begins is not known")

// Table is the function table of a Go program.
type Table struct {
	*gosym.Table
	Data    []byte
	Addr    uint64
	quantum uint64 // of instructions: addresses are multiples of it
	Paths   map[string]uint32
}

// quantumAt is the offset of the quantum in the table's header.
const quantumAt = 6

// goTable reads the function table of a Go program, by debug/gosym; nil without
// one. Its addresses count from runtime.text, which the table's header or a symbol
// tells; what is taken for it otherwise has to make the entry point the beginning of a
// function.
func Open(main *elfx.File, code pcs.Set) (t *Table, err error) {
	defer func() {
		if p := recover(); p != nil {
			t, err = nil, truth.Recovered("debug/gosym", p)
		}
	}()
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
	start := HeaderText(data, main.BigEndian)
	told := start != 0 && code.Contains(start)
	if text := main.Section(".text"); text != nil && !told { // where C's code may come before Go's
		start = text.Addr
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, start))
	if err != nil {
		return nil, fmt.Errorf("debug/gosym: %w", err)
	}
	if f := table.PCToFunc(main.Entry); told || f != nil && f.Entry == main.Entry {
		return &Table{table, data, addr, uint64(max(data[quantumAt], 1)), map[string]uint32{}}, nil
	}
	return nil, ErrGoText
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

// HeaderText is the address of runtime.text in the header of a table, which Go
// 1.18 to 1.25 fill in, unless the program's own address is not fixed; 0 in others.
func HeaderText(data []byte, bigEndian bool) uint64 {
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

// Line is the position of the instruction at pc; below 0 for padding.
func (t *Table) Line(pc uint64) (file string, line int) {
	file, line, _ = t.PCToLine(pc &^ (t.quantum - 1))
	return file, line
}

func (t *Table) HasLine(pc uint64) bool {
	_, line := t.Line(pc)
	return line > 0
}
