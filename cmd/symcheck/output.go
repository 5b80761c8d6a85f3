package main

import (
	"symkit/check/report"
	"symkit/internal/command"
)

// write judges and prints the results.
func (o *output) write(e *env, results ...report.Result) error {
	for i := range results {
		r := &results[i]
		r.Unmet = o.requirements.Unmet(r.Report)
		e.bad = e.bad || r.Bad()
	}
	return report.Write(e.stdout, o.Format, command.Version(), results)
}
