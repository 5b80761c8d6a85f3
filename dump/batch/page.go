package batch

import (
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
	Failed           list[failure]
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

// failure is a file that could not be dumped. Reason is Error without the name of the file.
type failure struct{ Input, Reason string }

// list is a list of which the head is open and the rest is folded. Left is the number of elements
// that the page does not have.
type list[T any] struct {
	Head, Rest []T
	All, Left  int
}

// row is a module in the table.
type row struct{ *Record }

// Time returns the seconds of all stages.
func (r row) Time() float64 {
	if r.Seconds == nil {
		return 0
	}
	return r.Seconds.Dump + r.Seconds.Write + r.Seconds.Check
}

// Count returns the numbers of records.
func (r row) Count() Counts {
	if r.Counts == nil {
		return Counts{}
	}
	return *r.Counts
}

// Empty reports whether the module was dumped and has no function.
func (r row) Empty() bool { return r.Status == Written && r.Counts != nil && r.Counts.Funcs == 0 }

// sheet is a part of the table: rows From to To.
type sheet struct {
	Number, From, To int
	Rows             []row
}

// Limits of a page.
const (
	maxRows   = 2500 // of the table, and of each list
	maxHead   = 10   // of each list
	maxBars   = 10
	sheetRows = 100
)

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
	v.Failed = failures(listOf(&p.failed))
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

// failures returns the reasons without the names of the files.
func failures(l list[*Record]) list[failure] {
	short := func(records []*Record) (out []failure) {
		for _, r := range records {
			out = append(out, failure{r.Input, strings.TrimPrefix(r.Error, r.Input+": ")})
		}
		return out
	}
	return list[failure]{short(l.Head), short(l.Rest), l.All, l.Left}
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
