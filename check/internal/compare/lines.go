package compare

import (
	"fmt"

	"symkit/check/internal/naming"
	"symkit/check/internal/pcs"
	"symkit/check/internal/symfile"
	"symkit/check/internal/truth/dwarfinfo"
)

// compareLines compares the line records of f with runs. The first run may begin below f.
func (w *worker) compareLines(f *symfile.Func, runs []dwarfinfo.Run) (o outcome) {
	in := w.in
	in.Sym.Read(f, &w.body)
	lines := w.body.ByAddress()
	steps := 1 + int64(len(lines)) // a comparison without any record has a cost as well
	own := func(l *symfile.Line) pcs.Range { return in.toELF(l.PCs()) }
	pcs.Sweep(in.toELF(f.PCs()), lines, own, runs, (*dwarfinfo.Run).PCs, func(x pcs.Range, have *symfile.Line, want *dwarfinfo.Run) {
		steps++
		if have != nil || want != nil {
			o.compared += x.Hi - x.Lo
			in.compareLine(&o, x, have, want)
		}
	})
	w.spend(steps)
	return o
}

// compareLine compares the line record with the run for the addresses x of the ELF file; either may
// be nil.
func (in *Input) compareLine(o *outcome, x pcs.Range, have *symfile.Line, want *dwarfinfo.Run) {
	if have != nil && want != nil && have.Line == numberOf(want.Line) &&
		naming.SameFile(in.symFiles[in.fileIndex(have.File)], want.File) {
		return
	}

	d := difference{lo: x.Lo, hi: x.Hi}
	if have != nil {
		d.at = have.At
	}
	if want != nil {
		d.want, d.hasWant = place{file: want.File, line: want.Line}, true
	}
	o.add(d, in.mostDiffs)
}

// describeLine describes a difference of lines in words.
func (in *Input) describeLine(d *difference) string {
	what := fmt.Sprintf("[%#x, %#x)", d.lo-in.Bias, d.hi-in.Bias)
	if !d.hasWant {
		return what + ": the line table has no row here"
	}
	if d.missing() {
		what = "no line record for " + what
	}
	return fmt.Sprintf("%s: the line table says %s:%d", what, in.Truth.Paths.Name(d.want.file), d.want.line)
}

// numberOf returns the line number that a symbol file has for line: 0 for a number that consumers
// cannot hold.
func numberOf(line uint32) uint32 {
	if line > 1<<31-1 {
		return 0
	}
	return line
}
