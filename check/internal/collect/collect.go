// Package collect gathers the outcome of checks from several goroutines into a report.Report.
package collect

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"symkit/check/report"
	"symkit/internal/quantity"
)

// Collector gathers the outcome of checks. Several goroutines may use one Collector; the report does
// not depend on their order.
type Collector struct {
	mu      sync.Mutex
	limit   int
	only    map[string]bool // nil for all checks
	checks  map[string]*report.Check
	kept    map[string][]report.Finding
	allow   map[string]bool // kinds of Gap
	reasons map[reason]uint64
	// LineText returns the text of a line of the symbol file, for findings. It is nil if no text is
	// known.
	LineText func(line uint32) string
}

// reason is a note of a check that is the reason why units were not compared. Collector.reasons has
// the number of these units.
type reason struct {
	check, note string
	unread      bool // as in report.Check.Unread
}

// At returns a finding about a line of the symbol file. The collector adds the text of the line to
// the findings that it keeps.
func At(check string, line uint32, addr uint64, format string, args ...any) report.Finding {
	return report.Finding{Check: check, Line: int(line), Addr: addr, What: fmt.Sprintf(format, args...)}
}

// New returns a Collector for the checks that opt selects.
func New(opt report.Options) *Collector {
	c := &Collector{
		limit: opt.Limit, checks: map[string]*report.Check{}, kept: map[string][]report.Finding{},
		allow: map[string]bool{}, reasons: map[reason]uint64{},
	}
	for _, kind := range opt.Allow {
		c.allow[kind] = true
	}

	if c.limit == 0 {
		c.limit = report.DefaultLimit
	}

	if len(opt.Only) > 0 {
		c.only = map[string]bool{}
		for _, name := range opt.Only {
			c.only[name] = true
		}
	}
	return c
}

// Begin starts a check; unit is what it counts.
func (c *Collector) Begin(name, unit string) {
	c.Update(name, func(k *report.Check) { k.Unit, k.State = unit, report.Checked })
}

// Update changes a check under the lock.
func (c *Collector) Update(name string, change func(k *report.Check)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.checks[name]
	if k == nil {
		k = &report.Check{Name: name, State: report.Checked}
		c.checks[name] = k
	}
	change(k)
}

// Compared adds n units that were compared.
func (c *Collector) Compared(name string, n uint64) {
	c.Update(name, func(k *report.Check) { k.Compared += n })
}

// State replaces the state of a check and adds a note.
func (c *Collector) State(name string, s report.State, note string) {
	c.Update(name, func(k *report.Check) {
		k.State = s
		if note != "" {
			k.Notes = append(k.Notes, note)
		}
	})
}

// Unverified adds n units that could not be compared, with the reason.
func (c *Collector) Unverified(name string, n uint64, why string) {
	c.Update(name, func(k *report.Check) { c.uncompared(k, n, reason{name, why, false}) })
}

// uncompared counts units that were not compared, and the units of each reason that the notes have.
func (c *Collector) uncompared(k *report.Check, n uint64, why reason) {
	k.Unverified += n
	if why.note != "" && !slices.Contains(k.Notes, why.note) {
		note(k, why.note)
	}
	if slices.Contains(k.Notes, why.note) {
		c.reasons[why] += n
	}
}

// note adds a note to a check. Of more than maxNotes the first in the order of their texts are kept,
// so that the order of the goroutines has no effect.
func note(k *report.Check, why string) {
	if len(k.Notes) < maxNotes {
		k.Notes = append(k.Notes, why)
		return
	}
	last := 0
	for i := range k.Notes {
		if k.Notes[i] > k.Notes[last] {
			last = i
		}
	}
	if why < k.Notes[last] {
		k.Notes[last] = why
	}
}

const maxNotes = 20

// Wrong adds a finding about n units.
func (c *Collector) Wrong(f report.Finding, n uint64) {
	c.Update(f.Check, func(k *report.Check) { k.Wrong += n; c.keep(k, f) })
}

// Missing adds a finding about n units that the symbol file lacks.
func (c *Collector) Missing(f report.Finding, n uint64) {
	c.Update(f.Check, func(k *report.Check) { k.Missing += n; c.keep(k, f) })
}

// keep adds f to the findings of its check that are kept: the first ones by line.
func (c *Collector) keep(k *report.Check, f report.Finding) {
	k.Findings++
	if c.limit < 0 || c.only != nil && !c.only[k.Name] {
		return
	}

	// Sorting now and then keeps the list short.
	kept := append(c.kept[k.Name], f)
	if len(kept) >= 2*c.limit+64 {
		kept = first(kept, c.limit)
	}
	c.kept[k.Name] = kept
}

// first sorts findings by line, and returns the first n.
func first(f []report.Finding, n int) []report.Finding {
	slices.SortFunc(f, func(a, b report.Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.What, b.What))
	})
	return f[:min(len(f), n)]
}

// Report returns the outcome. Findings about missing records have line 0 and come first.
func (c *Collector) Report() *report.Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := &report.Report{Findings: []report.Finding{}}
	for _, name := range report.Names() {
		k := c.checks[name]
		if k == nil || c.only != nil && !c.only[name] {
			continue
		}

		// A check that could compare nothing has verified nothing.
		if k.State == report.Checked && k.Compared == 0 && k.Unverified > 0 {
			k.State = report.NotVerified
		}
		slices.Sort(k.Notes)
		r.Gaps = append(r.Gaps, c.gaps(k)...)
		r.Checks = append(r.Checks, *k)
		r.Findings = append(r.Findings, first(c.kept[name], max(c.limit, 0))...)
	}

	// Texts are needed only for the findings that are kept.
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Line > 0 && c.LineText != nil {
			f.Record = c.LineText(uint32(f.Line))
		}
	}
	return r
}

// Limits of gaps: more than one in unverifiedShare units of a check not compared, or more than one
// in lossShare missing.
const unverifiedShare, lossShare = 100, 10

// gaps lists the gaps of one check.
func (c *Collector) gaps(k *report.Check) (gaps []report.Gap) {
	add := func(kind string, n, all uint64, text, why string) {
		what := fmt.Sprintf("%s: %s of %s %s %s (%s)", k.Name, quantity.Number(n), quantity.Number(all), k.Unit, text, quantity.Share(n, all))
		if why != "" {
			what += ": " + why
		}
		gaps = append(gaps, report.Gap{Kind: kind, Check: k.Name, Units: n, All: all, Allowed: kind == report.GapIncomplete || c.allow[kind], What: what, Why: why})
	}
	// The reason of most units. Notes are sorted, so that of equal reasons the first counts.
	why := func(unread bool) (why string) {
		most := uint64(0)
		for _, note := range k.Notes {
			if n, known := c.reasons[reason{k.Name, note, unread}]; known && (why == "" || n > most) {
				why, most = note, n
			}
		}
		return why
	}

	if k.State == report.NotInELF || !gapChecks[k.Name] {
		return nil
	}

	// Unread units are a limitation of the checker. The other units that are not verified are due
	// to the input.
	all := k.Compared + k.Unverified
	if k.Unread*unverifiedShare > all {
		add(report.GapUnverified, k.Unread, all, "are not verified", why(true))
	}
	if n := k.Unverified - k.Unread; n*unverifiedShare > all {
		add(report.GapIncomplete, n, all, "are not verified", why(false))
	}
	if k.Missing*lossShare > k.Compared {
		add(report.GapLoss, k.Missing, k.Compared, "are missing", "")
	}
	return gaps
}

// gapChecks are the checks of record classes. Gaps in other checks, such as that of the three
// fields of a MODULE record, appear in the notes of the check.
var gapChecks = map[string]bool{
	report.CheckFuncs: true, report.CheckNames: true, report.CheckLines: true, report.CheckInlines: true, report.CheckPublics: true, report.CheckCFI: true,
}

// Unread adds n units that were not compared because of a limit or a missing reader.
func (c *Collector) Unread(name string, n uint64, why string) {
	c.Update(name, func(k *report.Check) {
		k.Unread += n
		c.uncompared(k, n, reason{name, why, true})
	})
}
