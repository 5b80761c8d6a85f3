package check

import (
	"debug/dwarf"
	"fmt"
	"sync/atomic"

	"symkit/check/internal/truth/dwarfinfo"
	"symkit/check/report"
	"symkit/limits"
)

// noteShared is the reason for line programs that dwarfinfo.LineGroup marks as shared.
const noteShared = "line programs that overlap with many others"

// groupWork is what is known of a group while its units are compared.
type groupWork struct {
	*dwarfinfo.LineGroup
	read   bool // lines or err is set
	lines  dwarfinfo.Lines
	err    error
	others bool // FUNC records without a function in the DWARF have been compared with the table
}

// group compares what the units of one group describe.
func (w *worker) group(g *dwarfinfo.LineGroup, done *atomic.Int64) error {
	r := w.r
	work := groupWork{LineGroup: g}
	for k, i := range g.Units {
		last := k == len(g.Units)-1
		if err := w.unit(&r.dw.Units[i], &work, last); err != nil {
			return err
		}
		if err := r.tooMuch(); err != nil {
			return err
		}
		r.progress("functions, lines, inlined calls", int(done.Add(1)), len(r.dw.Units))
	}
	return nil
}

// table returns the line table of the group, which it reads as that of unit u the first time. It
// returns nil if the table cannot be read, and reports that once.
func (w *worker) table(g *groupWork, u *dwarfinfo.Unit, root *dwarf.Entry) *dwarfinfo.Lines {
	r := w.r
	if !g.read {
		g.read = true
		if g.Shared {
			g.err = fmt.Errorf("%s: %w", noteShared, r.opt.Limits.Exceeded(limits.LineSharing, 0))
			w.hideLines(g.err.Error())
			return nil
		}
		g.lines, g.err = r.dw.Lines(u, root, r.code, r.paths)
		if g.err != nil {
			w.hideLines(fmt.Sprintf("line table of the unit at %#x: %v", u.Off, g.err))
		}
	}
	if g.err != nil {
		return nil
	}
	return &g.lines
}

// hideLines records why a line table cannot be read. Inlined calls need the table too, for the
// names of their files.
func (w *worker) hideLines(why string) {
	for _, check := range []string{report.CheckLines, report.CheckInlines} {
		w.r.hide(check, why)
	}
	w.r.c.Unverified(report.CheckLines, 0, why)
}
