package lookup

import (
	"math"
	"slices"
	"sort"
	"sync"

	"symkit/internal/bounds"
	"symkit/internal/debuginfo"
	"symkit/internal/gosym"
	"symkit/internal/limitof"
)

// goTable is the table of functions that Go's linker puts into every program, for Go's own tracebacks. It has the
// functions, lines and inlined calls of a program without debug information (go build -ldflags="-s -w").
type goTable struct {
	table *gosym.Table
	funcs []gosym.Func        // by address
	runs  int                 // see gosym.Inlines
	names func() *symbolTable // the functions by name
}

// Bytes of memory: of a function and its symbol, of a run of an inlined call.
const (
	goFunctionMemory = 96
	goRunMemory      = 256
)

// openGo opens the table of a program that Go's units do not describe. It is nil if there is none. Damage costs the
// function that it is in, and is a loss.
func (x *module) openGo() (*goTable, error) {
	if slices.ContainsFunc(x.known.Load().slots, func(s *slot) bool { return s.root.Language == debuginfo.LangGo }) {
		return nil, nil
	}
	f := x.image.Main
	table, _, err := debuginfo.OpenGo(f, debuginfo.CodeMap(f))
	if table == nil {
		return nil, err
	}

	size := uint64(f.Size())
	t := &goTable{table: table, runs: int(min(x.opt.Limits.Max(limitof.UnitRecords, size)/goRunMemory, math.MaxInt32))}
	t.names = sync.OnceValue(func() *symbolTable { return t.symbols(x.opt.Limits.Max(limitof.Names, size)) })
	t.funcs = make([]gosym.Func, 0, min(uint64(table.Len()), x.opt.Limits.Max(limitof.UnitRecords, size)/goFunctionMemory))
	records := bounds.NewRecords(x.opt.Limits, limitof.UnitRecords, size)
	for fn, err := range table.Funcs() {
		if err == nil {
			err = records.Take(1, goFunctionMemory)
			if err != nil {
				return t, err
			}
			t.funcs = append(t.funcs, fn)
		}
		x.losses.addIn(f, err)
	}
	return t, nil
}

// symbols returns the functions as symbols. Names can be shared, so most bounds the bytes of all.
func (t *goTable) symbols(most uint64) *symbolTable {
	r := &symbolReader{most: min(most, math.MaxUint32), all: make([]entry, 0, len(t.funcs))}
	for i := range t.funcs {
		fn := &t.funcs[i]
		r.all = append(r.all, entry{addr: fn.Entry, size: fn.End - fn.Entry, end: fn.End, name: r.add(t.table.Name(fn.Name))})
	}
	return newTable(r.all, r.text.String())
}

// frames appends the frames of a virtual address.
func (t *goTable) frames(dst []Frame, addr uint64) ([]Frame, error) {
	i := sort.Search(len(t.funcs), func(i int) bool { return t.funcs[i].End > addr })
	if i == len(t.funcs) || t.funcs[i].Entry > addr {
		return dst, nil
	}
	fn := t.funcs[i]
	from := len(dst)
	dst = append(dst, Frame{Name: string(t.table.Name(fn.Name)), StartLine: fn.StartLine, Start: fn.Entry})

	// The calls come after those that they are in. The place of the innermost frame is that of the row, the places of
	// the others are those of the calls.
	calls := gosym.Inlines{MaxRuns: t.runs}
	err := t.table.Inlines(fn, &calls)
	if err == nil {
		for c := range calls.Nested {
			ranges := calls.Ranges[c.First:c.Last]
			at := slices.IndexFunc(ranges, func(r gosym.Range) bool { return r.Lo <= addr && addr < r.Hi })
			if at < 0 || int(c.Depth) != len(dst)-from-1 {
				continue
			}
			t.setPlace(&dst[len(dst)-1], c.File, c.Line)
			dst = append(dst, Frame{Name: string(t.table.Name(c.Name)), StartLine: c.StartLine, Start: ranges[0].Lo, Inlined: true})
		}
	}
	for row, damage := range t.table.Lines(fn) {
		if damage != nil {
			err = damage
			break
		}
		if row.Start <= addr && addr < row.End {
			t.setPlace(&dst[len(dst)-1], row.File, row.Line)
			break
		}
	}
	slices.Reverse(dst[from:])
	return dst, err
}

// setPlace puts a place in a file of the table into f.
func (t *goTable) setPlace(f *Frame, file, line uint32) {
	if file != gosym.Unknown {
		f.File, f.Line = string(t.table.File(file)), line
	}
}
