package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"slices"

	"symkit/internal/page"
	"symkit/internal/quantity"
	"symkit/walk"
)

var (
	//go:embed index.html
	indexHTML string
	//go:embed index.css
	indexStyle string
	//go:embed index.js
	indexScript string

	indexTemplate = page.NewTemplate(indexHTML)
)

// IndexEntry is one dump on the page about many dumps.
type IndexEntry struct {
	Dump string // its path
	Page string // the URL of its page, relative to the page about all
	// Error names the dump and why it could not be walked; the fields below are then empty.
	Error string

	Signature string // empty if there is none
	Program   string
	Version   string // of the program's module
	Reason    string
	Address   string // of the fault
	Place     string // the function that crashed, with file and line
	System    string
	Threads   int
	Frames    int // of the thread that crashed
	Without   int // modules of the stacks that have no symbols
}

// Fill sets the fields of e that the result r determines.
func (e *IndexEntry) Fill(r *walk.Result) {
	p := r.Process
	e.Signature, e.Reason, e.Program, e.System, e.Threads = p.Facts.Signature, p.Crash.Reason, p.Name, p.OS+" "+p.CPU, len(r.Stacks)
	if p.Main != nil {
		e.Program, e.Version = p.Main.File(), p.Main.Version
	}
	if p.Crash.HasAddress {
		e.Address = fmt.Sprintf("%#x", p.Crash.Address)
	}
	for i := range r.Modules {
		if m := &r.Modules[i]; m.Missing() && len(m.Symbols.Tried) > 0 {
			e.Without++
		}
	}

	// The innermost inlined call is where the crash was.
	if i := r.Crashed(); i >= 0 {
		e.Frames = len(r.Stacks[i].Frames)
		if e.Frames > 0 {
			b := newPageBuilder(r, PageOptions{})
			row := b.plainFrame(&r.Stacks[i], 0).Rows[0]
			e.Place = row.Func
			if row.File != "" {
				e.Place += fmt.Sprintf(" (%s:%d)", row.Short, row.Line)
			}
		}
	}
}

// indexView is the data of the template.
type indexView struct {
	Generator string
	Dumps     int
	Facts     []factView
	// Signatures is the number of all groups; LeftFailed is the number of failed dumps that the
	// page does not have.
	Signatures, LeftFailed int
	Groups                 []indexGroup
	Failed                 []IndexEntry
	Left                   int // signatures that the page does not have
}

// indexGroup is the dumps with one signature.
type indexGroup struct {
	Signature string
	Entries   []IndexEntry
	Reasons   []string // all that occur
	Programs  []string
	Share     int // of the largest group, in thousandths
	Count     int
	Without   int // dumps that lack symbols of modules on their stacks
	Left      int // dumps that are not in Entries
}

// Limits of the page: the dumps of all groups, and the number of them that each group has
// in any case.
const (
	maxRows   = 5000
	leastRows = 2
	maxGroups = 1500
	maxFailed = 1500
)

// Index writes a page about many dumps: the signatures, those with the most dumps first, each with
// links to the pages of its dumps.
func Index(out io.Writer, generator string, entries []IndexEntry) error {
	v := &indexView{Generator: generator, Dumps: len(entries)}
	index := map[string]int{}
	for _, e := range entries {
		if e.Error != "" {
			v.Failed = append(v.Failed, e)
			continue
		}
		key := cmp.Or(e.Signature, e.Place, e.Reason, "no crash")
		i, known := index[key]
		if !known {
			i = len(v.Groups)
			index[key] = i
			v.Groups = append(v.Groups, indexGroup{Signature: key})
		}
		g := &v.Groups[i]
		g.Entries = append(g.Entries, e)
		if e.Without > 0 {
			g.Without++
		}
		g.Reasons, g.Programs = with(g.Reasons, e.Reason), with(g.Programs, e.Program)
	}

	// Groups of one size are in the order of their signatures.
	slices.SortFunc(v.Groups, func(a, b indexGroup) int {
		return cmp.Or(cmp.Compare(len(b.Entries), len(a.Entries)), cmp.Compare(a.Signature, b.Signature))
	})
	v.Signatures = len(v.Groups)
	v.facts()
	if n := len(v.Groups); n > maxGroups {
		v.Groups, v.Left = v.Groups[:maxGroups], n-maxGroups
	}
	if n := len(v.Failed); n > maxFailed {
		v.Failed, v.LeftFailed = v.Failed[:maxFailed], n-maxFailed
	}
	most := max(leastRows, maxRows/max(1, len(v.Groups)))
	for i := range v.Groups {
		const whole = 1000
		g := &v.Groups[i]
		g.Count = len(g.Entries)
		g.Share = whole * g.Count / v.Groups[0].Count
		if len(entries) > maxRows && g.Count > most {
			g.Entries, g.Left = g.Entries[:most], g.Count-most
		}
	}
	doc := page.Document{Title: quantity.Count(len(entries), "crash", "crashes") + ", " + quantity.Count(v.Signatures, "signature", "signatures"),
		Generator: generator, Style: indexStyle, Script: indexScript, Body: indexTemplate, Values: v}
	return doc.Write(out)
}

// facts sums up the dumps.
func (v *indexView) facts() {
	add := func(name string, n int) {
		if n > 0 {
			v.Facts = append(v.Facts, factView{Name: name, Value: quantity.Number(n)})
		}
	}
	var programs []string
	without := 0
	for i := range v.Groups {
		g := &v.Groups[i]
		without += g.Without
		programs = append(programs, g.Programs...)
	}

	slices.Sort(programs)
	add("Programs", len(slices.Compact(programs)))
	add("Dumps that lack symbols", without)
	add("Dumps that could not be walked", len(v.Failed))
}

// with returns list with text, unless the text is empty or in the list.
func with(list []string, text string) []string {
	if text == "" || slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}
