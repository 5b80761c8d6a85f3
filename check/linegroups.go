package check

import (
	"fmt"

	"symkit/check/internal/truth/dwarfinfo"
	"symkit/check/report"
	"symkit/limits"
)

// noteShared is the reason for line programs that dwarfinfo.LineGroup marks as shared.
const noteShared = "line programs that overlap with many others"

// table returns the line table of a group, and whether this is the first call. It returns nil if
// the table cannot be read, and reports that.
func (w *worker) table(g *dwarfinfo.LineGroup) (t *dwarfinfo.Lines, first bool) {
	var err error
	if g.Shared {
		err = fmt.Errorf("%s: %w", noteShared, w.r.opt.Limits.Exceeded(limits.LineSharing, 0))
	} else {
		t, first, err = g.Lines(w.r.code, w.r.paths)
		if err != nil {
			err = fmt.Errorf("line table of the unit at %#x: %v", g.Unit.Off, err)
		}
	}
	if err == nil {
		return t, first
	}

	// Inlined calls need the table too, for the names of their files.
	for _, check := range []string{report.CheckLines, report.CheckInlines} {
		w.r.hide(check, err.Error())
	}
	w.r.c.Unverified(report.CheckLines, 0, err.Error())
	return nil, false
}
