package check

import (
	"cmp"
	"debug/elf"
	"fmt"
	"slices"
	"sort"

	"symkit/check/internal/pcs"
	"symkit/check/internal/symfile"
	"symkit/check/report"
)

// mapOf returns the coverage of the code, for a page.
func (r *replay) mapOf() *report.Map {
	m := &report.Map{}
	for _, x := range r.relativeCode() {
		m.Code = append(m.Code, report.Range(x))
	}
	for _, class := range r.s.Covered() {
		c := report.Covered{Class: class.Name}
		for _, x := range class.Set {
			c.Ranges = append(c.Ranges, report.Range(x))
		}
		m.Covered = append(m.Covered, c)
	}

	// The functions of the symbol file, then those that it lacks.
	sources := numbering{index: map[string]int{}}
	for i := range r.s.Funcs {
		f := &r.s.Funcs[i]
		l, in := &r.lines[i], &r.inlines[i]
		if !l.done {
			l = &r.otherLines[i]
		}
		m.Functions = append(m.Functions, report.Function{Range: report.Range{Lo: f.Addr, Hi: f.End}, Name: symfile.Shown(f.Name),
			Wrong: l.wrong - l.missing + in.wrong - in.missing, Lost: l.missing + in.missing, File: r.fileOf(f, &sources), Unit: -1})
	}
	for _, f := range r.noFunc {
		f.File, f.Unit = -1, -1
		m.Functions = append(m.Functions, f)
	}
	slices.SortStableFunc(m.Functions, func(a, b report.Function) int { return cmp.Compare(a.Lo, b.Lo) })
	m.Files = sources.names
	r.addUnits(m)
	return m
}

// numbering gives each name a number.
type numbering struct {
	index map[string]int
	names []string
}

// number returns the number of a name.
func (n *numbering) number(name string) int {
	i, known := n.index[name]
	if !known {
		i = len(n.names)
		n.index[name] = i
		n.names = append(n.names, name)
	}
	return i
}

// fileOf returns the number of the source file that f begins in, -1 if no line is known.
func (r *replay) fileOf(f *symfile.Func, sources *numbering) int {
	var body symfile.Body
	r.s.Read(f, &body)
	if len(body.Lines) == 0 {
		return -1
	}
	i, ok := r.s.Files.Index(body.ByAddress()[0].File)
	if !ok {
		return -1
	}
	return sources.number(symfile.Shown(r.s.Files.List[i].Text))
}

// addUnits sets the unit of each function. r.truth is sorted by address.
func (r *replay) addUnits(m *report.Map) {
	units := numbering{index: map[string]int{}}
	for i := range m.Functions {
		f := &m.Functions[i]
		at := f.Lo + r.bias
		k := sort.Search(len(r.truth), func(k int) bool { return r.truth[k].lo >= at })
		if k == len(r.truth) || r.truth[k].lo != at {
			continue
		}

		// Of several units with this function, the first in the order of their names is chosen, since
		// the order of r.truth depends on the goroutines.
		name := r.unitNames[r.truth[k].unit]
		for ; k < len(r.truth) && r.truth[k].lo == at; k++ {
			other := r.unitNames[r.truth[k].unit]
			if name == "" || other != "" && other < name {
				name = other
			}
		}
		if name != "" {
			f.Unit = units.number(name)
		}
	}
	m.Units = units.names
}

// Limits of the machine code around a finding.
const (
	before   = 5       // instructions
	after    = 6       // with the one of the finding
	maxSteps = 1 << 16 // bytes from the start of the function
)

// addContext adds the machine code around the address of each finding.
func (r *replay) addContext(rep *report.Report) {
	if r.opt.Disassembler == nil {
		return
	}
	machine := r.opt.Disassembler(r.img.Main)
	if machine == nil {
		return
	}
	for i := range rep.Findings {
		f := &rep.Findings[i]
		if at := f.Addr + r.bias; f.Addr != 0 && r.code.Contains(at) {
			f.Context = r.context(machine, at)
		}
	}
}

// context returns the instructions around an address of the ELF file. Decoding starts where the
// function starts, so that the borders of instructions of several lengths are right.
func (r *replay) context(machine Disassembler, at uint64) (out []report.Instruction) {
	section := r.code[r.code.Find(at)]
	start := max(section.Lo, at-at%machine.Aligned()-min(at, 4*before))
	if machine.Aligned() < 4 {
		start = at
		i := pcs.After(r.s.Funcs, at-r.bias)
		if i < len(r.s.Funcs) && r.s.Funcs[i].Addr+r.bias <= at && at-r.bias-r.s.Funcs[i].Addr < maxSteps {
			start = r.s.Funcs[i].Addr + r.bias
		}
	}

	const longest = 15 // bytes of an instruction
	code := r.codeBytes(start, min(section.Hi, at+after*longest))
	all := machine.Decode(code, start)
	here := sort.Search(len(all), func(i int) bool { return i+1 == len(all) || all[i+1].Addr > at })
	for i := max(0, here-before); i < min(len(all), here+after); i++ {
		in := all[i]
		in.Addr -= r.bias
		in.Source, in.Here = r.sourceAt(in.Addr), i == here
		out = append(out, in)
	}
	return out
}

// codeBytes returns the bytes of [lo, hi), addresses of the ELF file, as many as one section has.
func (r *replay) codeBytes(lo, hi uint64) []byte {
	main := r.img.Main
	for i := range main.Sections {
		s := &main.Sections[i]
		if s.Flags&elf.SHF_EXECINSTR != 0 && s.Present() && lo-s.Addr < s.Size {
			return main.FileBytes(s.Offset+lo-s.Addr, min(hi-lo, s.Size-(lo-s.Addr)))
		}
	}
	return nil
}

// sourceAt returns the file and line that the symbol file has for an address, empty if none.
func (r *replay) sourceAt(addr uint64) string {
	i := pcs.After(r.s.Funcs, addr)
	if i == len(r.s.Funcs) || r.s.Funcs[i].Addr > addr {
		return ""
	}
	var body symfile.Body
	r.s.Read(&r.s.Funcs[i], &body)
	lines := body.ByAddress()
	k := pcs.After(lines, addr)
	if k == len(lines) || lines[k].Addr > addr {
		return ""
	}
	file, ok := r.s.Files.Index(lines[k].File)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s:%d", symfile.Shown(r.s.Files.List[file].Text), lines[k].Line)
}
