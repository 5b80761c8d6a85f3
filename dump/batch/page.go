package batch

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"symkit/internal/page"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageStyle string

	pageTemplate = page.NewTemplate(pageHTML)
)

// pageView is the data of the template.
type pageView struct {
	Generator, Store string
	Headline, Class  string
	Facts            []fact
	Failed           []failure
	Lossy            []Record // written, but with losses or findings
	Warned           []Record // written, with missing companions or other warnings
	Slowest          []bar
	Largest          []bar
	Rows             []row
	Skipped          []Record // no modules, and duplicates
	Left             int      // records that the page does not have
}

type fact struct{ Name, Value string }

// bar is a module in a chart. Width is in thousandths.
type bar struct {
	Name, Value string
	Width       int
}

// failure is a file that could not be dumped. Reason is Error without the name of the file.
type failure struct{ Input, Reason string }

// row is a module in the table.
type row struct {
	Record
	Time  float64
	Took  string
	Count Counts
}

// Limits of a page.
const (
	maxRows = 2500 // of the table, and of each list
	maxBars = 10
)

// WritePage writes a page about the records of a batch: written and failed modules, losses, times
// and sizes. The records are in any order; equal records give an equal page.
func WritePage(w io.Writer, generator, store string, records []Record) error {
	records = slices.Clone(records)
	slices.SortStableFunc(records, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(a.Status, b.Status))
	})

	v := &pageView{Generator: generator, Store: store}
	v.Left = max(0, len(records)-maxRows)
	for i := range records {
		v.add(&records[i], i < maxRows)
	}
	v.sum(records)
	v.Slowest = bars(v.Rows, func(r *row) float64 { return r.Time }, func(r *row) string { return seconds(r.Time) })
	v.Largest = bars(v.Rows, func(r *row) float64 { return float64(r.SymbolBytes) }, func(r *row) string { return page.Bytes(r.SymbolBytes) })
	doc := page.Document{Title: v.Headline, Generator: generator, Style: pageStyle, Body: pageTemplate, Values: v}
	return doc.Write(w)
}

// add puts a record into the lists where people look for it.
func (v *pageView) add(r *Record, listed bool) {
	switch r.Status {
	case Failed:
		if len(v.Failed) < maxRows {
			v.Failed = append(v.Failed, failure{r.Input, strings.TrimPrefix(r.Error, r.Input+": ")})
		}
		return
	case NoModule, Duplicate, Before:
		if listed {
			v.Skipped = append(v.Skipped, *r)
		}
		return
	}

	if listed {
		x := row{Record: *r}
		if r.Seconds != nil {
			x.Time = r.Seconds.Dump + r.Seconds.Write + r.Seconds.Check
		}
		x.Took = seconds(x.Time)
		if r.Counts != nil {
			x.Count = *r.Counts
		}
		v.Rows = append(v.Rows, x)
	}
	switch {
	case !listed:
	case r.Losses > 0 || r.Findings > 0:
		v.Lossy = append(v.Lossy, *r)
	case r.Missing > 0 || len(r.Warnings) > 0:
		v.Warned = append(v.Warned, *r)
	}
}

// sum sets the headline and the facts.
func (v *pageView) sum(records []Record) {
	tally := map[Status]int{}
	var input, symbols, stored int64
	var time float64
	var losses, missing int
	for i := range records {
		r := &records[i]
		tally[r.Status]++
		losses, missing = losses+r.Losses, missing+r.Missing
		if r.Status == Written {
			input, symbols, stored = input+r.InputBytes, symbols+r.SymbolBytes, stored+r.StoredBytes
		}
		if r.Seconds != nil {
			time += r.Seconds.Dump + r.Seconds.Write + r.Seconds.Check
		}
	}

	v.Headline, v.Class = page.Count(tally[Written], "module", "modules")+" written", "good"
	if n := tally[Failed]; n > 0 {
		v.Headline, v.Class = v.Headline+", "+page.Number(n)+" failed", "bad"
	}
	add := func(name, value string) { v.Facts = append(v.Facts, fact{name, value}) }
	for _, t := range []struct {
		status Status
		name   string
	}{{Existing, "In the store before"}, {Duplicate, "Duplicates"}, {NoModule, "Without symbols"}, {Before, "Packages dumped before"}} {
		if tally[t.status] > 0 {
			add(t.name, page.Number(tally[t.status]))
		}
	}
	for _, n := range []struct {
		name  string
		count int
	}{{"Damaged parts left out", losses}, {"Missing companions", missing}} {
		if n.count > 0 {
			add(n.name, page.Number(n.count))
		}
	}
	add("Read", page.Bytes(input))
	add("Symbols", page.Bytes(symbols))
	if stored > 0 && stored != symbols {
		add("Compressed", page.Bytes(stored))
	}
	add("Time of all modules", seconds(time))
}

// bars returns the records with the greatest values.
func bars(rows []row, value func(*row) float64, text func(*row) string) (out []bar) {
	order := make([]*row, 0, len(rows))
	for i := range rows {
		if value(&rows[i]) > 0 {
			order = append(order, &rows[i])
		}
	}
	slices.SortStableFunc(order, func(a, b *row) int { return cmp.Compare(value(b), value(a)) })
	for _, r := range order[:min(len(order), maxBars)] {
		const whole = 1000
		out = append(out, bar{cmp.Or(r.Name, r.Input), text(r), max(2, int(whole*value(r)/value(order[0])))})
	}
	return out
}

// seconds returns a duration with the digits that matter.
func seconds(s float64) string {
	switch {
	case s >= 100:
		return fmt.Sprintf("%.0f s", s)
	case s >= 1:
		return fmt.Sprintf("%.1f s", s)
	}
	return fmt.Sprintf("%.0f ms", 1000*s)
}
