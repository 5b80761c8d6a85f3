package report

import (
	"cmp"
	"slices"

	"symkit/check/internal/checks"
	"symkit/internal/quantity"
)

// verdict returns the headline of a page and its class: "good", "bad", "warn" if the symbol file has
// no findings and a part of it is not verified, "" if the symbol files of a comparison differ. The
// headline leads with what most findings follow from, or with what keeps the rest from being verified.
func (r *Result) verdict() (text, class string) {
	rep, total := r.Report, r.Report.Total()
	findings := quantity.Count(total, "finding", "findings")
	cause, open := rep.cause(), rep.unverified()
	switch {
	case rep.Changes != nil && total > 0:
		return quantity.Count(total, "difference", "differences"), ""
	case rep.Changes != nil:
		return "The symbol files say the same", "good"
	case cause != "" && total > 0:
		return cause + ": " + findings, "bad"
	case cause != "":
		return cause, "bad"
	case rep.NoDebugInfo != "" && total > 0:
		return open + ": " + findings + " in the rest", "bad"
	case open != "" && total > 0:
		return findings + "; " + open, "bad"
	case total > 0:
		return findings, "bad"
	case open != "" && r.Bad():
		return open, "bad"
	case r.Bad():
		return "A requirement is not met", "bad"
	case rep.Section != "":
		return rep.sectionVerdict()
	case open != "":
		return open + ": no findings in the rest", "warn"
	case len(rep.Gaps) > 0:
		return "What was verified of the symbol file is right", "warn"
	case r.Against == "":
		return "The symbol file is well formed", "good"
	}
	return "The symbol file is right", "good"
}

// sectionVerdict is the headline about a section without findings.
func (r *Report) sectionVerdict() (text, class string) {
	for i := range r.Checks {
		switch r.Checks[i].State {
		case NotInELF:
			return "The file has no " + r.Section, "warn"
		case NotVerified:
			return r.Section + " is well formed; nothing to compare its rows with", "warn"
		}
	}
	return r.Section + " is right", "good"
}

// classNouns are the records of the checks that have gaps.
var classNouns = map[string]string{
	checks.Funcs: "functions", checks.Names: "names of functions", checks.Lines: "lines", checks.Inlines: "inlined calls",
	checks.Publics: "public symbols", checks.CFI: "unwind rules",
}

// cause names what most findings follow from: another module, or a class of records of which the
// symbol file lacks much. It is empty if the findings have no such cause.
func (r *Report) cause() string {
	if r.OtherModule != "" {
		return "The files are not of the same module"
	}
	if len(r.Gaps) == 0 {
		return ""
	}
	g := findingsFirst(r.Gaps)[0]
	switch {
	case g.Allowed || g.Kind != GapLoss:
		return ""
	case g.Units == g.All:
		return "The symbol file has no " + g.noun()
	}
	return "The symbol file lacks " + quantity.Share(g.Units, g.All) + " of the " + g.noun()
}

// unverified names what could not be verified, if that is all debug information or counts as a
// finding, with the reason. No finding follows from it.
func (r *Report) unverified() string {
	if r.NoDebugInfo != "" {
		return "The ELF file has no debug information"
	}
	for _, g := range r.Gaps {
		if g.Allowed || g.Kind != GapUnverified {
			continue
		}
		text := quantity.Share(g.Units, g.All) + " of the " + g.noun() + " are not verified"
		if g.Why != "" {
			text += " (" + g.Why + ")"
		}
		return text
	}
	return ""
}

// noun returns what the gap's check compares, in words.
func (g *Gap) noun() string { return cmp.Or(classNouns[g.Check], g.Check) }

// findingsFirst returns gaps that count as findings before those that do not; of the former, what is
// missing before what is not verified. Functions come before what they have, as in a Report.
func findingsFirst(gaps []Gap) []Gap {
	rank := func(g Gap) int {
		switch {
		case g.Allowed:
			return 2
		case g.Kind != GapLoss:
			return 1
		}
		return 0
	}
	sorted := slices.Clone(gaps)
	slices.SortStableFunc(sorted, func(a, b Gap) int { return rank(a) - rank(b) })
	return sorted
}
