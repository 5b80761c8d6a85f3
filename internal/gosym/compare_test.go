package gosym

import (
	"cmp"
	"debug/dwarf"
	"debug/gosym"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"testing"
)

// compareGosym holds functions and lines against debug/gosym's reading of the
// same table: the position at every address where one of ours begins, and in
// the last byte before its end.
func compareGosym(t *testing.T, f *file, tab *Table) {
	t.Helper()
	ref, err := gosym.NewTable(nil, gosym.NewLineTable(f.pclntab, f.text(t)))
	if err != nil {
		t.Fatal(err)
	}
	var i, rows int
	for fn, err := range tab.Funcs() {
		if err != nil {
			t.Fatal(err)
		}
		want := ref.Funcs[i]
		i++
		if fn.Entry != want.Entry || fn.End > want.End || string(tab.Name(fn.Name)) != want.Name {
			t.Errorf("function %s %#x-%#x, want %s %#x-%#x", tab.Name(fn.Name), fn.Entry, fn.End, want.Name, want.Entry, want.End)
		}
		pc := fn.Entry
		for row, err := range tab.Lines(fn) {
			if err != nil {
				t.Fatal(err)
			}
			if row.Start != pc || row.End <= row.Start {
				t.Fatalf("%s: row %#x-%#x at %#x", tab.Name(fn.Name), row.Start, row.End, pc)
			}
			pc = row.End
			rows++
			for _, pc := range [...]uint64{row.Start, row.End - 1} {
				file, line, _ := ref.PCToLine(pc)
				if file != string(tab.File(row.File)) || line != int(row.Line) {
					t.Errorf("%#x: %s:%d, want %s:%d", pc, tab.File(row.File), row.Line, file, line)
				}
			}
		}
		if pc != fn.End && pc != fn.Entry {
			t.Errorf("%s: rows end at %#x, the function at %#x", tab.Name(fn.Name), pc, fn.End)
		}
	}
	if i != len(ref.Funcs) {
		t.Errorf("%d functions, want %d", i, len(ref.Funcs))
	}
	t.Logf("%d functions, %d rows", i, rows)
}

// frame is one level of an inline stack.
type frame struct {
	name string
	file string
	line int
}

// twin is a program's DWARF.
type twin struct {
	funcs []*dwarfFunc
	rows  []dwarfRow
}

type dwarfFunc struct {
	name     string
	ranges   [][2]uint64
	inlined  []*dwarfFunc
	callFile string
	callLine int
}

type dwarfRow struct {
	pc   uint64
	file string
	line int
	end  bool
}

func (f *dwarfFunc) holds(pc uint64) bool {
	return slices.ContainsFunc(f.ranges, func(r [2]uint64) bool { return r[0] <= pc && pc < r[1] })
}

// readTwin reads functions with their inlined calls, and lines.
func readTwin(t testing.TB, f *file) *twin {
	t.Helper()
	data, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	tw := &twin{}
	var files []*dwarf.LineFile
	name := func(e *dwarf.Entry) string {
		if origin, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
			r := data.Reader()
			r.Seek(origin)
			e, err = r.Next()
			must(err)
		}
		s, _ := e.Val(dwarf.AttrName).(string)
		return s
	}
	var stack []*dwarfFunc
	for r := data.Reader(); ; {
		e, err := r.Next()
		must(err)
		if e == nil {
			break
		}
		var fn *dwarfFunc
		switch e.Tag {
		case 0:
			stack = stack[:len(stack)-1]
			continue
		case dwarf.TagCompileUnit:
			files = tw.lines(t, data, e)
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
			fn = &dwarfFunc{name: name(e)}
			fn.ranges, err = data.Ranges(e)
			must(err)
			if e.Tag == dwarf.TagSubprogram {
				if len(fn.ranges) > 0 {
					tw.funcs = append(tw.funcs, fn)
				}
				break
			}
			line, _ := e.Val(dwarf.AttrCallLine).(int64)
			fn.callLine = int(line)
			if i, ok := e.Val(dwarf.AttrCallFile).(int64); ok && int(i) < len(files) && files[i] != nil {
				fn.callFile = files[i].Name
			}
			for i := len(stack) - 1; i >= 0; i-- {
				if stack[i] != nil {
					stack[i].inlined = append(stack[i].inlined, fn)
					break
				}
			}
		}
		if e.Children {
			stack = append(stack, fn)
		}
	}
	// One sequence ends where another begins: the beginning counts.
	slices.SortStableFunc(tw.rows, func(a, b dwarfRow) int {
		if a.pc == b.pc && a.end != b.end {
			return map[bool]int{true: -1, false: 1}[a.end]
		}
		return cmp.Compare(a.pc, b.pc)
	})
	sort.Slice(tw.funcs, func(i, j int) bool { return tw.funcs[i].ranges[0][0] < tw.funcs[j].ranges[0][0] })
	return tw
}

func (tw *twin) lines(t testing.TB, data *dwarf.Data, unit *dwarf.Entry) []*dwarf.LineFile {
	r, err := data.LineReader(unit)
	if err != nil {
		t.Fatal(err)
	}
	if r == nil {
		return nil
	}
	var e dwarf.LineEntry
	for err = r.Next(&e); err == nil; err = r.Next(&e) {
		row := dwarfRow{pc: e.Address, line: e.Line, end: e.EndSequence}
		if e.File != nil {
			row.file = e.File.Name
		}
		tw.rows = append(tw.rows, row)
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return r.Files()
}

// stack is the inline stack at pc, innermost first. Nil without a function.
func (tw *twin) stack(pc uint64) []frame {
	i := sort.Search(len(tw.funcs), func(i int) bool { return tw.funcs[i].ranges[0][0] > pc }) - 1
	if i < 0 || !tw.funcs[i].holds(pc) {
		return nil
	}
	j := sort.Search(len(tw.rows), func(i int) bool { return tw.rows[i].pc > pc }) - 1
	if j < 0 || tw.rows[j].end {
		return nil
	}
	file, line := tw.rows[j].file, tw.rows[j].line
	var out []frame
	fn := tw.funcs[i]
	for {
		inner := slices.IndexFunc(fn.inlined, func(f *dwarfFunc) bool { return f.holds(pc) })
		if inner < 0 {
			out = append(out, frame{plain(fn.name), file, line})
			break
		}
		callee := fn.inlined[inner]
		out = append(out, frame{plain(fn.name), callee.callFile, callee.callLine})
		fn = callee
	}
	slices.Reverse(out)
	return out
}

// stackAt is the same from a function's rows and inlined calls.
func stackAt(tab *Table, fn Func, rows []Line, in *Inlines, pc uint64) []frame {
	row := rows[sort.Search(len(rows), func(i int) bool { return rows[i].End > pc })]
	inner := -1
	for i, call := range in.Calls {
		for _, r := range in.Ranges[call.First:call.Last] {
			if r.Lo <= pc && pc < r.Hi && (inner < 0 || call.Depth > in.Calls[inner].Depth) {
				inner = i
			}
		}
	}
	file, line := row.File, row.Line
	var out []frame
	for inner >= 0 {
		call := in.Calls[inner]
		out = append(out, frame{plain(string(tab.Name(call.Name))), string(tab.File(file)), int(line)})
		file, line, inner = call.File, call.Line, int(call.Parent)
	}
	return append(out, frame{plain(string(tab.Name(fn.Name))), string(tab.File(file)), int(line)})
}

// compareTwin holds functions, and the whole inline stack at every address
// where anything changes, against the DWARF of the file. It returns how many
// differ.
func compareTwin(t *testing.T, f *file, tab *Table) (differ int) {
	t.Helper()
	tw := readTwin(t, f)
	ends := map[uint64]*dwarfFunc{}
	for _, fn := range tw.funcs {
		ends[fn.ranges[0][0]] = fn
	}
	var in Inlines
	var n, skipped, deepest, funcs int
	for fn, err := range tab.Funcs() {
		if err != nil {
			t.Fatal(err)
		}
		var rows []Line
		for row, err := range tab.Lines(fn) {
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, row)
		}
		if err := tab.Inlines(fn, &in); err != nil {
			t.Fatalf("%s: %v", tab.Name(fn.Name), err)
		}
		want := ends[fn.Entry]
		if want == nil {
			if len(in.Calls) > 0 {
				t.Errorf("%s at %#x is not in the DWARF", tab.Name(fn.Name), fn.Entry)
			}
			continue
		}
		funcs++
		if plain(want.name) != plain(string(tab.Name(fn.Name))) || want.ranges[0][1] != fn.End {
			t.Errorf("function %s-%#x, want %s-%#x", tab.Name(fn.Name), fn.End, want.name, want.ranges[0][1])
		}
		var pcs []uint64
		for _, row := range rows {
			pcs = append(pcs, row.Start, row.End-1)
		}
		for _, r := range in.Ranges {
			pcs = append(pcs, r.Lo, r.Hi-1)
		}
		for i := sort.Search(len(tw.rows), func(i int) bool { return tw.rows[i].pc >= fn.Entry }); i < len(tw.rows) && tw.rows[i].pc < fn.End; i++ {
			pcs = append(pcs, tw.rows[i].pc)
		}
		slices.Sort(pcs)
		for _, pc := range slices.Compact(pcs) {
			n++
			got, want := stackAt(tab, fn, rows, &in, pc), tw.stack(pc)
			deepest = max(deepest, len(got))
			switch {
			case slices.Equal(got, want):
			case tw.skips(rows, pc, got, want):
				skipped++
			default:
				if differ++; differ <= 10 {
					t.Logf("%#x:\n  got  %s\n  want %s", pc, show(got), show(want))
				}
			}
		}
	}
	t.Logf("%d functions of %d, %d stacks up to %d deep, %d differ, %d in rows that DWARF lacks",
		funcs, len(tw.funcs), n, deepest, differ, skipped)
	if skipped > n/500 {
		t.Errorf("DWARF lacks too many rows")
	}
	return differ
}

// skips reports that the DWARF has no row where the pclntab has one at pc: Go's
// DWARF lacks one in a thousand, most of them of generated functions, whose
// position is that which every line program begins with. The rest of the stack
// is the same.
func (tw *twin) skips(rows []Line, pc uint64, got, want []frame) bool {
	if want == nil && got[0].file == "<autogenerated>" {
		return true
	}
	// Go 1.19 has no inlined calls in the DWARF of generated methods.
	if len(want) == 1 && len(got) == 2 && got[1].file == "<autogenerated>" && got[0].line == want[0].line {
		return true
	}
	row := rows[sort.Search(len(rows), func(i int) bool { return rows[i].End > pc })]
	i := sort.Search(len(tw.rows), func(i int) bool { return tw.rows[i].pc >= row.Start })
	if i < len(tw.rows) && tw.rows[i].end {
		i++ // of the function in front
	}
	if i < len(tw.rows) && tw.rows[i].pc < row.End {
		// In Go 1.17 it may begin after the padding before an instruction.
		late := pc < tw.rows[i].pc && tw.rows[i].line == int(row.Line)
		return late && len(want) == 1 && len(got) == 1 && got[0].name == want[0].name
	}
	return want == nil || got[0].name == want[0].name && slices.Equal(got[1:], want[1:])
}

// plain is a name without the arguments of its types, which the pclntab of Go
// 1.18 to 1.20 has as "[...]".
func plain(name string) string {
	open, end := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']')
	if open < 0 || end < open {
		return name
	}
	return name[:open] + "[...]" + name[end+1:]
}

func show(stack []frame) string {
	var s []string
	for _, f := range stack {
		s = append(s, fmt.Sprintf("%s %s:%d", f.name, f.file[strings.LastIndexByte(f.file, '/')+1:], f.line))
	}
	return strings.Join(s, " < ")
}
