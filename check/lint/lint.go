// Package lint finds faults of a symbol file from this file alone: lines that no reader accepts,
// records out of order, ranges that overlap or lie outside their function, numbers that are used
// twice, rules that do not evaluate, records that readers drop, and an id that is not made of the build id.
//
//	rep, err := lint.File(sym, report.Options{})
//	if err != nil {
//		return err
//	}
//	for _, f := range rep.Findings {
//		fmt.Printf("app.sym:%s [%s]\n", f, f.Check)
//	}
package lint

import (
	"errors"

	"symkit/check/internal/collect"
	"symkit/check/internal/linter"
	"symkit/check/internal/symfile"
	"symkit/check/report"
	"symkit/internal/mem"
)

// File checks a symbol file by itself.
func File(sym []byte, opt report.Options) (rep *report.Report, err error) {
	guarded := mem.Guard(func() error {
		// The bytes may be those of a mapped file, which can be truncated meanwhile.
		var s *symfile.File
		var found *collect.Outcome
		s, found, err = linter.Run(opt, symfile.Text{Bytes: sym}, nil)
		if err == nil {
			ids(s, found)
			rep = found.Report(s.Text)
			rep.Coverage = s.Coverage(nil)
			if opt.Places {
				s.AddPlaces(rep.Findings, report.OfSymbols, func(f *report.Finding) int { return f.Line })
			}
		}
		return nil
	})
	return rep, errors.Join(err, guarded)
}
