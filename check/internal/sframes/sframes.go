// Package sframes verifies the .sframe section of an ELF file without a symbol file: against the code,
// the symbols and .eh_frame.
//
// What is wrong has one of a few causes, which are mistakes of assemblers and linkers. The causes that
// concern the whole section come first (layout.go): of a section of another link, for example, nothing
// else is said. Then functions are compared with the FDEs of DWARF (presence.go), and rows with rows
// (rows.go), by evaluating both.
package sframes

import (
	"context"
	"fmt"

	"symkit/check/internal/checks"
	"symkit/check/internal/collect"
	"symkit/check/internal/pcs"
	"symkit/check/report"
	"symkit/internal/bounds"
	"symkit/internal/limitof"
	"symkit/internal/quantity"
)

// Compare verifies the .sframe sections of an image. The coverage is that of the code that .eh_frame describes; without
// .eh_frame, of all code.
func Compare(ctx context.Context, in *Input) (*collect.Outcome, report.Coverage, error) {
	v := &verifier{in: in, c: collect.New(in.Report), causes: map[string]uint64{},
		records: bounds.NewRecords(in.Report.Limits, limitof.FrameRecords, in.Image.Size())}
	if in.Findings {
		v.c.State(checks.SFrame, report.NotInELF, "")
	}
	if v.read() {
		v.c.Begin(checks.SFrame, "PCs")
		err := v.run(ctx)
		if err != nil {
			return nil, report.Coverage{}, err
		}
	}

	if n := quantity.Count(v.total, "defect", "defects"); v.total > 0 && !in.Findings {
		v.c.Note(checks.SFrame, fmt.Sprintf("%s of .sframe (%s): --only=sframe lists them", n, v.kinds()))
	}
	code := in.Code
	if len(v.dwarf) > 0 {
		code = pcs.SetOf(v.dwarf)
	}
	return v.c, report.Coverage{Class: checks.SFrame, Code: code.Size(), Covered: pcs.Within(code, pcs.SetOf(v.funcs))}, nil
}

// run looks for each cause.
func (v *verifier) run(ctx context.Context) error {
	v.headers()
	v.list()
	v.listDWARF()
	if v.over != nil {
		v.c.Unread(checks.SFrame, 1, v.over.Error())
		return nil
	}

	// Nothing else counts in a section of another link.
	if v.otherLink() {
		return nil
	}
	v.order()
	v.place()
	v.overlaps()
	v.presence()
	return v.rows(ctx)
}
