package report

import (
	"fmt"
	"slices"
)

// Result is the Report about one symbol file as a user sees it.
type Result struct {
	File    string
	Against string // the ELF file, or the other symbol file; empty for lint
	Report  *Report
	Unmet   []string // the requirements that the symbol file does not meet, in words
	// Sources are the source files at hand, of which a page shows the lines around the places of findings.
	Sources Sources
}

// Bad reports whether the symbol file has findings or does not meet a requirement.
func (r *Result) Bad() bool {
	return r.Report.Total() > 0 || r.Report.Unallowed() > 0 || len(r.Unmet) > 0
}

// Requirements are the contents that a symbol file must have besides being right.
type Requirements struct {
	Checks   []string // checks that must have compared something
	Coverage []Threshold
}

// Threshold is the least share of the code that the records of a class must cover.
type Threshold struct {
	Class   string
	Percent float64
}

// Unmet lists the requirements that a Report does not meet, in words.
func (q Requirements) Unmet(r *Report) (unmet []string) {
	// A required check must have compared something.
	for _, name := range q.Checks {
		k := r.Check(name)
		switch {
		case k == nil:
			unmet = append(unmet, fmt.Sprintf("required: %s was not checked", name))
		case k.State != Checked:
			unmet = append(unmet, fmt.Sprintf("required: %s: %s", name, k.State))
		case k.Compared == 0:
			unmet = append(unmet, fmt.Sprintf("required: %s: nothing to compare", name))
		}
	}

	// A class that the report does not cover meets no threshold.
	for _, t := range q.Coverage {
		i := slices.IndexFunc(r.Coverage, func(c Coverage) bool { return c.Class == t.Class })
		if i < 0 {
			unmet = append(unmet, fmt.Sprintf("coverage of %s: not known here", t.Class))
		} else if got := r.Coverage[i].percent(); got < t.Percent {
			unmet = append(unmet, fmt.Sprintf("coverage of %s: %.2f %%, less than %g %%", t.Class, got, t.Percent))
		}
	}
	return unmet
}
