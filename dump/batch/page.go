package batch

import (
	"cmp"
	_ "embed"
	"io"
	"strings"

	"symkit/internal/page"
	"symkit/internal/quantity"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageStyle string
	//go:embed page.js
	pageScript string

	pageTemplate = page.NewTemplate(pageHTML)
)

// pageView is the data of the template.
type pageView struct {
	Generator, Store string
	Headline, Class  string
	Empty            int // modules without functions
	Facts            []fact
	Failed           list[failedRow]
	Lossy            list[*Record] // written, but with losses or findings
	Warned           list[*Record] // written, with missing companions or other warnings
	Skipped          list[*Record] // no modules, and duplicates
	Slowest          []bar
	Largest          []bar
	Modules          int // written, or in the store before
	Sheets           []sheet
	Left             int // modules that the table does not have
}

type fact struct{ Name, Value string }

// bar is a module in a chart. Width is in thousandths.
type bar struct {
	Name, Value string
	Width       int
}

// failedRow is a file that could not be dumped. Reason is Error without the name of the file.
type failedRow struct{ Input, Reason string }

// list is a list of which the head is open and the rest is folded. Left is the number of elements
// that the page does not have.
type list[T any] struct {
	Head, Rest []T
	All, Left  int
}

// sheet is a part of the table: rows From to To.
type sheet struct {
	Number, From, To int
	Rows             []row
}

// WritePage writes a page about the records of a batch, in any order.
func WritePage(w io.Writer, generator, store string, records []Record) error {
	var p Report
	for i := range records {
		p.Add(records[i])
	}
	return p.WritePage(w, generator, store)
}

// WritePage writes a page about the records: written and failed modules, losses, times and sizes, the worst
// first. Equal records give an equal page, in whatever order they were added.
func (p *Report) WritePage(w io.Writer, generator, store string) error {
	v := &pageView{Generator: generator, Store: store}
	v.Lossy, v.Warned, v.Skipped = listOf(&p.lossy), listOf(&p.warned), listOf(&p.skipped)
	v.Failed = failedRows(listOf(&p.failed))
	v.sum(&p.totals)
	v.Slowest = bars(p.slowest.sorted(maxBars, slower), row.Time, func(r row) string { return quantity.Seconds(r.Time()) })
	v.Largest = bars(p.largest.sorted(maxBars, larger), func(r row) float64 { return float64(r.SymbolBytes) }, func(r row) string { return quantity.Bytes(r.SymbolBytes) })
	rows := p.modules.sorted(maxRows, worse)
	v.Modules, v.Left = p.modules.all, p.modules.all-len(rows)
	v.Sheets = sheets(rows)
	doc := page.Document{Title: v.Headline, Generator: generator, Style: pageStyle, Script: pageScript, Body: pageTemplate, Values: v}
	return doc.Write(w)
}

// listOf divides records, and leaves those out that are too many.
func listOf(f *first) list[*Record] {
	shown := f.sorted(maxRows, worse)
	head := min(len(shown), maxHead)
	return list[*Record]{shown[:head], shown[head:], f.all, f.all - len(shown)}
}

// failedRows returns the reasons without the names of the files.
func failedRows(l list[*Record]) list[failedRow] {
	short := func(records []*Record) (out []failedRow) {
		for _, r := range records {
			out = append(out, failedRow{r.Input, strings.TrimPrefix(r.Error, r.Input+": ")})
		}
		return out
	}
	return list[failedRow]{short(l.Head), short(l.Rest), l.All, l.Left}
}

// sheets divides the table.
func sheets(records []*Record) (out []sheet) {
	for i := 0; i < len(records); i += sheetRows {
		end := min(len(records), i+sheetRows)
		var rows []row
		for _, r := range records[i:end] {
			rows = append(rows, row{r})
		}
		out = append(out, sheet{len(out) + 1, i + 1, end, rows})
	}
	return out
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
