package collect

import (
	"fmt"

	"symkit/check/report"
)

// What is a Gap: more than one in unverifiedShare units of a check not compared, or more than
// one in lossShare missing.
const unverifiedShare, lossShare = 100, 10

// gaps lists the gaps of one check.
func (c *Collector) gaps(k *report.Check) (gaps []report.Gap) {
	add := func(kind string, n, all uint64, text, why string) {
		if why != "" {
			why = ": " + why
		}
		what := fmt.Sprintf("%s: %d of %d %s %s (%.1f %%)%s", k.Name, n, all, k.Unit, text, 100*float64(n)/float64(all), why)
		gaps = append(gaps, report.Gap{Kind: kind, Check: k.Name, Units: n, All: all, Allowed: kind == report.GapIncomplete || c.allow[kind], What: what})
	}
	reason := func(unread bool) string {
		for _, note := range k.Notes {
			if c.reasons[k.Name+"\x00"+note] == unread {
				return note
			}
		}
		return ""
	}

	if k.State == report.NotInELF || !gapChecks[k.Name] {
		return nil
	}
	all := k.Compared + k.Unverified
	if k.Unread*unverifiedShare > all {
		add(report.GapUnverified, k.Unread, all, "are not verified", reason(true))
	}
	if n := k.Unverified - k.Unread; n*unverifiedShare > all {
		add(report.GapIncomplete, n, all, "are not verified", reason(false))
	}
	if k.Missing*lossShare > k.Compared {
		add(report.GapLoss, k.Missing, k.Compared, "are missing", "")
	}
	return gaps
}

// gapChecks are the checks of record classes; a gap in others, such as the three fields of a
// MODULE record, is told by its notes.
var gapChecks = map[string]bool{
	report.CheckFuncs: true, report.CheckNames: true, report.CheckLines: true, report.CheckInlines: true, report.CheckPublics: true, report.CheckCFI: true,
}

// Unread adds n units that a limit or a missing reader kept from being compared.
func (c *Collector) Unread(name string, n uint64, why string) {
	c.Unverified(name, n, why)
	c.Update(name, func(k *report.Check) {
		k.Unread += n
		c.reasons[name+"\x00"+why] = true
	})
}
