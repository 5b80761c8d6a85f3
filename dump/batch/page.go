package batch

import (
	"cmp"
	_ "embed"
	"io"
	"slices"
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

// WritePage writes a page about the records of a batch: written and failed modules, losses, times
// and sizes, the worst first. The records are in any order; equal records give an equal page.
func WritePage(w io.Writer, generator, store string, records []Record) error {
	v := &pageView{Generator: generator, Store: store}
	var failed, lossy, warned, skipped []*Record
	var rows []row
	for _, r := range worstFirst(records) {
		switch {
		case r.Status == Failed:
			failed = append(failed, r)
			continue
		case r.Status != Written && r.Status != Existing:
			skipped = append(skipped, r)
			continue
		case r.Losses > 0 || r.Findings > 0:
			lossy = append(lossy, r)
		case r.Missing > 0 || len(r.Warnings) > 0:
			warned = append(warned, r)
		}
		rows = append(rows, row{r})
	}

	v.Lossy, v.Warned, v.Skipped = listOf(lossy), listOf(warned), listOf(skipped)
	v.Failed = failures(listOf(failed))
	v.sum(records)
	v.Slowest = bars(rows, row.Time, func(r row) string { return quantity.Seconds(r.Time()) })
	v.Largest = bars(rows, func(r row) float64 { return float64(r.SymbolBytes) }, func(r row) string { return quantity.Bytes(r.SymbolBytes) })
	v.Modules, v.Left = len(rows), max(0, len(rows)-maxRows)
	v.Sheets = sheets(rows[:min(len(rows), maxRows)])
	doc := page.Document{Title: v.Headline, Generator: generator, Style: pageStyle, Script: pageScript, Body: pageTemplate, Values: v}
	return doc.Write(w)
}

// worstFirst returns the records in the order in which someone has to look after them: modules
// without functions, findings of the check, damage, missing companions, other warnings, the rest.
func worstFirst(records []Record) []*Record {
	order := make([]*Record, len(records))
	for i := range records {
		order[i] = &records[i]
	}
	slices.SortStableFunc(order, func(a, b *Record) int {
		none := func(r *Record) int {
			if (row{r}).Empty() {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(none(a), none(b)), cmp.Compare(b.Findings, a.Findings), cmp.Compare(b.Losses, a.Losses),
			cmp.Compare(b.Missing, a.Missing), cmp.Compare(len(b.Warnings), len(a.Warnings)),
			cmp.Compare(a.Input, b.Input), cmp.Compare(a.Status, b.Status), cmp.Compare(a.ID, b.ID))
	})
	return order
}

// listOf divides records, and leaves those out that are too many.
func listOf(records []*Record) list[*Record] {
	shown := records[:min(len(records), maxRows)]
	head := min(len(shown), maxHead)
	return list[*Record]{shown[:head], shown[head:], len(records), len(records) - len(shown)}
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
func sheets(rows []row) (out []sheet) {
	for i := 0; i < len(rows); i += sheetRows {
		end := min(len(rows), i+sheetRows)
		out = append(out, sheet{len(out) + 1, i + 1, end, rows[i:end]})
	}
	return out
}
