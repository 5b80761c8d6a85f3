package batch

import (
	"cmp"

	"symkit/internal/quantity"
)

// totals are the sums of all records.
type totals struct {
	of                     map[Status]int
	input, symbols, stored int64
	time                   float64
	losses, missing        int
	findings               uint64
	counted, empty         int // written modules whose records were counted, and those without functions
}

// add adds a record.
func (t *totals) add(r *Record) {
	if t.of == nil {
		t.of = map[Status]int{}
	}
	t.of[r.Status]++
	t.losses, t.missing, t.findings = t.losses+r.Losses, t.missing+r.Missing, t.findings+r.Findings
	if r.Status == Written {
		t.input, t.symbols, t.stored = t.input+r.InputBytes, t.symbols+r.SymbolBytes, t.stored+r.StoredBytes
	}
	if r.Status == Written && r.Counts != nil {
		t.counted++
	}
	if (row{r}).Empty() {
		t.empty++
	}
	t.time += row{r}.Time()
}

// sum sets the headline and the facts.
func (v *pageView) sum(t *totals) {
	written := t.of[Written]
	v.Empty = t.empty
	v.Headline, v.Class = quantity.Count(written, "module", "modules")+" written", "good"
	switch {
	case t.empty > 0:
		v.Headline = quantity.Share(uint64(t.empty), uint64(written)) + " of " + quantity.Count(written, "written module", "written modules") + " without functions"
		v.Class = "warn"
	case written > 0 && t.counted == written:
		v.Headline += ", all with functions"
	}
	if n := t.of[Failed]; n > 0 {
		v.Headline, v.Class = v.Headline+", "+quantity.Number(n)+" failed", "bad"
	}
	v.facts(t)
}

// facts lists the sums: those that are not 0, but the sizes and the time always.
func (v *pageView) facts(t *totals) {
	add := func(name, value string) { v.Facts = append(v.Facts, fact{name, value}) }
	for _, n := range []struct {
		name  string
		count int
	}{
		{"Without functions", t.empty}, {"In the store before", t.of[Existing]}, {"Duplicates", t.of[Duplicate]}, {"Files without symbols", t.of[NoModule]},
		{"Packages dumped before", t.of[Before]}, {"Damaged parts left out", t.losses}, {"Missing companions", t.missing}, {"Findings of the check", int(t.findings)},
	} {
		if n.count > 0 {
			add(n.name, quantity.Number(n.count))
		}
	}

	add("Read", quantity.Bytes(t.input))
	add("Symbols", quantity.Bytes(t.symbols))
	if t.stored > 0 && t.stored != t.symbols {
		add("Compressed", quantity.Bytes(t.stored))
	}
	add("Time of all modules", quantity.Seconds(t.time))
}

// bars returns the records with the greatest values, which are sorted by them.
func bars(records []*Record, value func(row) float64, text func(row) string) (out []bar) {
	const whole = 1000
	for _, x := range records {
		r := row{x}
		if value(r) <= 0 {
			break
		}
		out = append(out, bar{cmp.Or(r.Name, r.Input), text(r), max(2, int(whole*value(r)/value(row{records[0]})))})
	}
	return out
}
