package check

import "fmt"

// Kinds of Gap.
const (
	// GapUnverified: a limit, or a form that no reader here knows, kept a part of a check's
	// records from being compared.
	GapUnverified = "unverified"
	// GapIncomplete: a companion file that was not found, or what no record can say, kept
	// a part of a check's records from being compared.
	GapIncomplete = "incomplete"
	// GapLoss: the symbol file lacks a large part of what the ELF file has.
	GapLoss = "loss"
)

// Gaps lists the kinds that count as findings unless they are allowed.
func Gaps() []string { return []string{GapUnverified, GapLoss} }

// What is a Gap: more than one in unverifiedShare units of a check not compared, or more than
// one in lossShare missing.
const unverifiedShare, lossShare = 100, 10

// Gap is a large part of a check's units that the Report says nothing of, or that the symbol
// file lacks: what to know before reading the rest of the Report.
type Gap struct {
	Kind  string `json:"kind"` // "unverified", "incomplete" or "loss"
	Check string `json:"check"`
	// Units is how many of All the gap is about. Both count what the Check does.
	Units uint64 `json:"units"`
	All   uint64 `json:"all"`
	// Allowed: the gap is no finding, by its kind or because Options.Allow has the kind.
	Allowed bool `json:"allowed"`
	// What says the same in words, with the reason if one is known.
	What string `json:"what"`
}

// gaps lists the gaps of one check.
func (c *collector) gaps(k *Check) (gaps []Gap) {
	add := func(kind string, n, all uint64, text, why string) {
		if why != "" {
			why = ": " + why
		}
		what := fmt.Sprintf("%s: %d of %d %s %s (%.1f %%)%s", k.Name, n, all, k.Unit, text, 100*float64(n)/float64(all), why)
		gaps = append(gaps, Gap{Kind: kind, Check: k.Name, Units: n, All: all, Allowed: kind == GapIncomplete || c.allow[kind], What: what})
	}
	reason := func(unread bool) string {
		for _, note := range k.Notes {
			if c.reasons[k.Name+"\x00"+note] == unread {
				return note
			}
		}
		return ""
	}

	if k.State == NotInELF || !gapChecks[k.Name] {
		return nil
	}
	all := k.Compared + k.Unverified
	if k.Unread*unverifiedShare > all {
		add(GapUnverified, k.Unread, all, "are not verified", reason(true))
	}
	if n := k.Unverified - k.Unread; n*unverifiedShare > all {
		add(GapIncomplete, n, all, "are not verified", reason(false))
	}
	if k.Missing*lossShare > k.Compared {
		add(GapLoss, k.Missing, k.Compared, "are missing", "")
	}
	return gaps
}

// gapChecks are the checks of record classes; a gap in others, such as the three fields of a
// MODULE record, is told by its notes.
var gapChecks = map[string]bool{
	CheckFuncs: true, CheckNames: true, CheckLines: true, CheckInlines: true, CheckPublics: true, CheckCFI: true,
}

// unread adds n units that a limit or a missing reader kept from being compared.
func (c *collector) unread(name string, n uint64, why string) {
	c.unverified(name, n, why)
	c.update(name, func(k *Check) {
		k.Unread += n
		c.reasons[name+"\x00"+why] = true
	})
}
