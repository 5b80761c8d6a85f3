package batch

import (
	"cmp"
	"slices"
)

// Report collects the records of a batch for a page. It holds the sums of all, and of each list the records that the
// page has, so that its memory does not depend on their number. The zero value is empty. A Report is not safe for
// concurrent use.
type Report struct {
	totals totals

	failed, lossy, warned, skipped first
	modules                        first // written, or in the store before
	slowest, largest               first
}

// Add adds a record.
func (p *Report) Add(r Record) {
	p.totals.add(&r)
	switch {
	case r.Status == Failed:
		p.failed.add(&r, maxRows, worse)
		return
	case r.Status != Written && r.Status != Existing:
		p.skipped.add(&r, maxRows, worse)
		return
	case r.Losses > 0 || r.Findings > 0:
		p.lossy.add(&r, maxRows, worse)
	case r.Missing > 0 || len(r.Warnings) > 0:
		p.warned.add(&r, maxRows, worse)
	}
	p.modules.add(&r, maxRows, worse)
	p.slowest.add(&r, maxBars, slower)
	p.largest.add(&r, maxBars, larger)
}

// first holds the first records in an order, of many.
type first struct {
	records []*Record
	all     int
}

// add adds a record. About twice as many as are wanted are held, so that they are sorted rarely.
func (f *first) add(r *Record, most int, compare func(a, b *Record) int) {
	f.all++
	f.records = append(f.records, r)
	if len(f.records) >= 2*most {
		f.sorted(most, compare)
	}
}

// sorted returns the first records in order.
func (f *first) sorted(most int, compare func(a, b *Record) int) []*Record {
	slices.SortFunc(f.records, compare)
	n := min(len(f.records), most)
	clear(f.records[n:])
	f.records = f.records[:n]
	return f.records
}

// worse is the order in which someone has to look after modules: those without functions, findings of the check,
// damage, missing companions, other warnings, the rest.
func worse(a, b *Record) int {
	none := func(r *Record) int {
		if (row{r}).Empty() {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(none(a), none(b)), cmp.Compare(b.Findings, a.Findings), cmp.Compare(b.Losses, a.Losses),
		cmp.Compare(b.Missing, a.Missing), cmp.Compare(len(b.Warnings), len(a.Warnings)),
		cmp.Compare(a.Input, b.Input), cmp.Compare(a.Status, b.Status), cmp.Compare(a.ID, b.ID))
}

func slower(a, b *Record) int { return cmp.Or(cmp.Compare(row{b}.Time(), row{a}.Time()), worse(a, b)) }
func larger(a, b *Record) int { return cmp.Or(cmp.Compare(b.SymbolBytes, a.SymbolBytes), worse(a, b)) }
