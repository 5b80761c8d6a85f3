// Package gotable reads the functions, lines and inlined calls of a Go program from its own
// tables: functions and lines by debug/gosym, inlined calls itself.
package gotable

import (
	"debug/gosym"
	"errors"
	"fmt"
	"strings"

	"symkit/check/internal/pcs"
	"symkit/check/internal/truth/image"
	"symkit/elfx"
	"symkit/internal/bounds"
	"symkit/internal/limitof"
	"symkit/limits"
)

// goSections are the sections where Go's linker puts its function table.
var goSections = []string{".gopclntab", ".data.rel.ro.gopclntab"}

// ErrGoText is the error for a program for which Open does not find runtime.text.
var ErrGoText = errors.New("where the code that .gopclntab describes begins is not known")

// Table is the function table of a Go program.
type Table struct {
	*gosym.Table
	Data    []byte
	Addr    uint64
	quantum uint64 // of instructions: addresses are multiples of it
	Paths   map[string]uint32
}

// funcBytes is what a function takes in memory, with its symbol and name.
const funcBytes = 400

// Open reads the function table of a Go program, by debug/gosym. It returns nil for a program
// without one. The addresses of a table count from runtime.text, which the header or
// runtime.moduledata gives. Without both, Open assumes that runtime.text is the start of .text, if
// the entry point is then the function that starts a Go program: where C's linker made the program,
// .text begins with C's entry point.
func Open(main *elfx.File, code pcs.Set, l limits.Limits) (t *Table, err error) {
	defer func() {
		if p := recover(); p != nil {
			t, err = nil, image.Recovered("debug/gosym", p)
		}
	}()
	var data []byte
	var addr uint64
	for _, name := range goSections {
		data, err = main.SectionData(name)
		if err != nil {
			return nil, err
		}
		if len(data) > 0 {
			addr = main.Section(name).Addr
			break
		}
	}
	if len(data) == 0 {
		return nil, nil
	}

	h, err := ReadHeader(data, main.BigEndian)
	if err == nil {
		err = bounds.NewRecords(l, limitof.UnitRecords, uint64(main.Size())).Take(int(h.nfunc), funcBytes)
	}
	if err != nil {
		return nil, err
	}

	// Where addresses count from.
	start := h.Text
	if !code.Contains(start) {
		start = moduleText(main, &h, data, addr)
	}
	known := start != 0 && code.Contains(start)
	if text := main.Section(".text"); text != nil && !known { // C's code may come before Go's
		start = text.Addr
	}

	// A start that was assumed is verified by the entry point.
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, start))
	if err != nil {
		return nil, fmt.Errorf("debug/gosym: %w", err)
	}
	f := table.PCToFunc(main.Entry)
	if known || f != nil && f.Entry == main.Entry && strings.HasPrefix(f.Name, goEntryPrefix) {
		return &Table{table, data, addr, h.quantum, map[string]uint32{}}, nil
	}
	return nil, ErrGoText
}

// Line returns the position of the instruction at pc. The line of padding is below 0.
func (t *Table) Line(pc uint64) (file string, line int) {
	file, line, _ = t.PCToLine(pc &^ (t.quantum - 1))
	return file, line
}

// HasLine reports whether the instruction at pc has a line.
func (t *Table) HasLine(pc uint64) bool {
	_, line := t.Line(pc)
	return line > 0
}
