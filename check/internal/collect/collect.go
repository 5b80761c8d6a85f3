// Package collect gathers what checks find. Each stage, and each goroutine of a stage, fills an Outcome
// of its own. The outcomes are added to each other, in any order, and make a report.Report.
package collect

import (
	"cmp"
	"fmt"
	"slices"

	"symkit/check/internal/checks"
	"symkit/check/report"
	"symkit/internal/quantity"
)

// Outcome is what checks have found.
type Outcome struct {
	opt    report.Options
	checks map[string]*check
}

// check is the outcome of one check. Notes has the notes that are no reasons.
type check struct {
	report.Check
	reasons []reason
	kept    []report.Finding
}

// reason is a note that states why n units were not compared.
type reason struct {
	note   string
	unread bool // as in report.Check.Unread
	n      uint64
}

// At returns a finding about a line of the symbol file. Report adds the text of the line.
func At(check string, line uint32, addr uint64, format string, args ...any) report.Finding {
	return report.Finding{Check: check, Line: int(line), Addr: addr, What: fmt.Sprintf(format, args...)}
}

// New returns an Outcome for the checks that opt selects.
func New(opt report.Options) *Outcome {
	if opt.Limit == 0 {
		opt.Limit = report.DefaultLimit
	}
	return &Outcome{opt: opt, checks: map[string]*check{}}
}

// check returns a check, which may be new.
func (o *Outcome) check(name string) *check {
	k := o.checks[name]
	if k == nil {
		k = &check{Check: report.Check{Name: name, State: report.Checked}}
		o.checks[name] = k
	}
	return k
}

// Begin starts a check; unit is what it counts.
func (o *Outcome) Begin(name, unit string) {
	k := o.check(name)
	k.Unit, k.State = unit, report.Checked
}

// Compared adds n units that were compared.
func (o *Outcome) Compared(name string, n uint64) { o.check(name).Compared += n }

// State replaces the state of a check and adds a note.
func (o *Outcome) State(name string, s report.State, note string) {
	o.check(name).State = s
	if note != "" {
		o.Note(name, note)
	}
}

// Note adds a note to a check.
func (o *Outcome) Note(name, note string) {
	k := o.check(name)
	k.Notes = append(k.Notes, note)
}

// Unverified adds n units that could not be compared, with the reason.
func (o *Outcome) Unverified(name string, n uint64, why string) {
	k := o.check(name)
	k.Unverified += n
	k.because(reason{why, false, n})
}

// Unread adds n units that were not compared because of a limit or a missing reader.
func (o *Outcome) Unread(name string, n uint64, why string) {
	k := o.check(name)
	k.Unverified += n
	k.Unread += n
	k.because(reason{why, true, n})
}

// maxReasons bounds the reasons of a check. Of more, the first in the order of their texts are kept, so
// that the order of the goroutines has no effect.
const maxReasons = 20

// because adds a reason.
func (k *check) because(why reason) {
	if why.note == "" {
		return
	}
	notes, last, known := 0, "", false
	for i := range k.reasons {
		r := &k.reasons[i]
		if r.note == why.note && r.unread == why.unread {
			r.n += why.n
			return
		}
		known = known || r.note == why.note
		last = max(last, r.note)
		notes++
	}
	if notes >= maxReasons && !known {
		if why.note > last {
			return
		}
		k.reasons = slices.DeleteFunc(k.reasons, func(r reason) bool { return r.note == last })
	}
	k.reasons = append(k.reasons, why)
}

// Wrong adds a finding about n units.
func (o *Outcome) Wrong(f report.Finding, n uint64) {
	o.More(f.Check, n, 0, 1)
	o.keep(f)
}

// Missing adds a finding about n units that the symbol file lacks.
func (o *Outcome) Missing(f report.Finding, n uint64) {
	o.More(f.Check, 0, n, 1)
	o.keep(f)
}

// More adds units that are wrong or missing, and the number of findings about them that are not kept.
func (o *Outcome) More(name string, wrong, missing, findings uint64) {
	k := o.check(name)
	k.Wrong, k.Missing, k.Findings = k.Wrong+wrong, k.Missing+missing, k.Findings+findings
}

// keep adds f to the findings of its check that are kept: the first ones by line.
func (o *Outcome) keep(f report.Finding) {
	if o.opt.Limit < 0 || !o.selected(f.Check) {
		return
	}

	// Sorting now and then keeps the list short.
	k := o.check(f.Check)
	k.kept = append(k.kept, f)
	if len(k.kept) >= 2*o.opt.Limit+64 {
		k.kept = first(k.kept, o.opt.Limit)
	}
}

// selected reports whether the report has a check.
func (o *Outcome) selected(name string) bool {
	return len(o.opt.Only) == 0 || slices.Contains(o.opt.Only, name)
}

// first sorts findings by line, and returns the first n.
func first(f []report.Finding, n int) []report.Finding {
	slices.SortFunc(f, func(a, b report.Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.What, b.What))
	})
	return f[:min(len(f), n)]
}

// Add adds what other checks, or other goroutines, have found; others may have nil elements.
func (o *Outcome) Add(others ...*Outcome) {
	for _, other := range others {
		if other == nil {
			continue
		}
		for name, x := range other.checks {
			k := o.check(name)
			k.Unit = cmp.Or(k.Unit, x.Unit)
			if x.State != report.Checked {
				k.State = x.State
			}
			k.Compared, k.Unverified, k.Unread = k.Compared+x.Compared, k.Unverified+x.Unverified, k.Unread+x.Unread
			k.Notes = append(k.Notes, x.Notes...)
			for _, why := range x.reasons {
				k.because(why)
			}
			o.More(name, x.Wrong, x.Missing, x.Findings)
			for _, f := range x.kept {
				o.keep(f)
			}
		}
	}
}

// Report returns the report. Findings about missing records have line 0 and come first. text, if not
// nil, returns a line of the symbol file.
func (o *Outcome) Report(text func(line uint32) string) *report.Report {
	r := &report.Report{Findings: []report.Finding{}}
	for _, name := range report.Names() {
		k := o.checks[name]
		if k == nil || !o.selected(name) {
			continue
		}

		// A check that could compare nothing has verified nothing.
		out := k.Check
		if out.State == report.Checked && out.Compared == 0 && out.Unverified > 0 {
			out.State = report.NotVerified
		}
		for _, why := range k.reasons {
			if !slices.Contains(out.Notes, why.note) {
				out.Notes = append(out.Notes, why.note)
			}
		}
		slices.Sort(out.Notes)
		r.Gaps = append(r.Gaps, gaps(&out, k.reasons, o.opt.Allow)...)
		r.Checks = append(r.Checks, out)
		r.Findings = append(r.Findings, first(k.kept, max(o.opt.Limit, 0))...)
	}

	// Texts are needed only for the findings that are kept.
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Line > 0 && text != nil {
			f.Record = text(uint32(f.Line))
		}
	}
	return r
}

// Limits of gaps: more than one in unverifiedShare units of a check not compared, or more than one
// in lossShare missing.
const unverifiedShare, lossShare = 100, 10

// gaps lists the gaps of one check, of which kinds in allow are allowed.
func gaps(k *report.Check, reasons []reason, allow []string) (gaps []report.Gap) {
	add := func(kind string, n, all uint64, text, why string) {
		what := fmt.Sprintf("%s: %s of %s %s %s (%s)", k.Name, quantity.Number(n), quantity.Number(all), k.Unit, text, quantity.Share(n, all))
		if why != "" {
			what += ": " + why
		}
		gaps = append(gaps, report.Gap{Kind: kind, Check: k.Name, Units: n, All: all, Allowed: kind == report.GapIncomplete || slices.Contains(allow, kind), What: what, Why: why})
	}
	// The reason of most units; of equal reasons the first in the order of their texts.
	slices.SortFunc(reasons, func(a, b reason) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.note, b.note)) })
	why := func(unread bool) string {
		for _, r := range reasons {
			if r.unread == unread {
				return r.note
			}
		}
		return ""
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
	checks.Funcs: true, checks.Names: true, checks.Lines: true, checks.Inlines: true, checks.Publics: true, checks.CFI: true,
}
