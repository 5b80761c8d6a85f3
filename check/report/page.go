package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"symkit/check/internal/checks"
	"symkit/internal/page"
	"symkit/internal/quantity"
)

// A page shows the same values as the JSON document, and the Map and the Changes of each
// Report. The map of a module is drawn by the page's script from runs of addresses; without the
// script, the page has the whole module at the width of the page.

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
	Tool    string
	Store   *storeView // nil unless the results are of a store
	Results []resultView
}

// resultView is one symbol file.
type resultView struct {
	*Result
	Name    string // the symbol file's without its directory
	Total   uint64
	Verdict string
	Class   string // good or bad, or empty for files that differ
	Gaps    []Gap  // those of Report, findings first
	Checks  []checkView
	Groups  []findingGroup
	More    uint64 // findings that are not listed
	Map     *mapView
	Diff    bool
	Kinds   []kindView
	Quiet   bool // functions that only moved are not shown at first
	// FirstChanges are those that the page has without its script.
	FirstChanges []changeView
}

// changeView is a row of the table of changes.
type changeView struct {
	*Change
	NewSize uint64
}

// checkView is the bar of one check. The widths are in thousandths.
type checkView struct {
	*Check
	Index                                int // of the symbol file
	About                                string
	Right                                uint64
	RightBar, WrongBar, LostBar, OpenBar int
	WrongAt, LostAt, OpenAt              int
	Share                                string
	Bad                                  string // what is wrong and missing, in words
}

// findingGroup is the findings of one check.
type findingGroup struct {
	Index    int // of the symbol file
	Check    string
	About    string
	Findings []findingView
	All      uint64 // findings of the check
	Left     uint64 // those that are not listed
	Open     bool
}

// kindView counts the changes of one kind.
type kindView struct {
	Kind  string
	Count int
}

// abouts describe what each check compares.
var abouts = map[string]string{
	checks.Grammar: "lines can be read", checks.Canonical: "symkit's own order and spelling", checks.Duplicates: "no number or address twice",
	checks.Order: "records in order", checks.Overlaps: "no ranges that overlap", checks.Nesting: "lines and calls lie in their function",
	checks.Consumers: "nothing that Breakpad or rust-minidump drop", checks.Rules: "unwind rules evaluate", checks.Win: "STACK WIN records",
	checks.Module: "name, id and machine", checks.Funcs: "a record for each function", checks.Names: "names of functions", checks.Code: "functions lie in code",
	checks.Lines: "file and line of each address", checks.Inlines: "inlined calls of each address", checks.Publics: "symbols outside of functions",
	checks.CFI: "unwind rules of each address", checks.Signal: "signal frames", checks.SFrame: ".sframe, against code and .eh_frame",
}

// writeHTML writes results as one page. store, if not nil, is the store that they are of.
func writeHTML(w io.Writer, version string, results []Result, store *Store) error {
	view := pageView{Tool: "symcheck " + version}
	if store != nil {
		view.Store = store.view()
		results = results[:view.Store.Details]
	}
	doc := page.Document{Generator: view.Tool, Style: pageStyle, Script: pageScript, Body: pageTemplate}
	var data pageData
	budget := mostSource
	for i := range results {
		r := viewOf(&results[i], i, &budget)
		if m := results[i].Report.Map; m != nil && r.Map == nil {
			r.Map, data = newMap(m, results[i].Report.Coverage)
			doc.Data = &data
		}
		if r.Diff {
			doc.Data = newDiffData(results[i].Report.Changes)
		}
		view.Results = append(view.Results, r)
	}

	doc.Title, doc.Values = view.title(), &view
	return doc.Write(w)
}

// title names the page in a browser's tab.
func (v *pageView) title() string {
	if v.Store != nil {
		return v.Store.Summary
	}
	if len(v.Results) == 1 {
		return v.Results[0].Verdict + " – " + v.Results[0].Name
	}
	return fmt.Sprintf("%d symbol files", len(v.Results))
}

// maxOpen is the number of findings that are unfolded.
const maxOpen = 30

// viewOf returns the view of one result without its map. budget is the bytes that source lines may take on the page.
func viewOf(r *Result, index int, budget *int) resultView {
	v := resultView{Result: r, Name: r.File[strings.LastIndexAny(r.File, `/\`)+1:], Total: r.Report.Total(), Diff: r.Report.Changes != nil}
	v.More = v.Total - uint64(len(r.Report.Findings))
	v.Verdict, v.Class = r.verdict()
	v.Gaps = findingsFirst(r.Report.Gaps)
	for i := range r.Report.Checks {
		v.Checks = append(v.Checks, bar(&r.Report.Checks[i], index))
	}

	// Findings come in the order of checks.
	for _, f := range r.Report.Findings {
		n := len(v.Groups)
		if n == 0 || v.Groups[n-1].Check != f.Check {
			v.Groups = append(v.Groups, findingGroup{Index: index, Check: f.Check, About: abouts[f.Check]})
			n++
		}
		v.Groups[n-1].Findings = append(v.Groups[n-1].Findings, r.Sources.view(f, budget))
	}
	for i := range v.Groups {
		g := &v.Groups[i]
		g.All = r.Report.Check(g.Check).Findings
		g.Left = g.All - uint64(len(g.Findings))
		g.Open = len(r.Report.Findings) <= maxOpen
	}

	const shownChanges = 100
	counts := map[string]int{}
	for i := range r.Report.Changes {
		if i < shownChanges {
			c := &r.Report.Changes[i]
			size := c.New.Hi - c.New.Lo
			v.FirstChanges = append(v.FirstChanges, changeView{c, cmp.Or(size, c.Old.Hi-c.Old.Lo)})
		}
		counts[r.Report.Changes[i].Kind]++
	}
	for _, kind := range []string{"changed", "moved", "added", "removed"} {
		if counts[kind] > 0 {
			v.Kinds = append(v.Kinds, kindView{kind, counts[kind]})
		}
	}
	v.Quiet = counts["moved"] > 0 && len(v.Kinds) > 1
	return v
}

// barWidth is the width of a bar.
const barWidth = 1000

// bar returns the bar of a check. A part that is there is at least a few thousandths wide.
func bar(k *Check, index int) checkView {
	v := checkView{Check: k, Index: index, About: abouts[k.Name], Right: k.Compared - min(k.Compared, k.Wrong+k.Missing)}
	var bad []string
	if k.Wrong > 0 {
		bad = append(bad, quantity.Number(k.Wrong)+" wrong")
	}
	if k.Missing > 0 {
		bad = append(bad, quantity.Number(k.Missing)+" missing")
	}
	v.Bad = cmp.Or(strings.Join(bad, ", "), quantity.Number(k.Findings)+" found")

	all := k.Compared + k.Unverified
	if all == 0 {
		return v
	}

	width := func(n uint64) int {
		if n == 0 {
			return 0
		}
		return max(4, int(float64(n)/float64(all)*barWidth))
	}
	v.WrongBar, v.LostBar, v.OpenBar = width(k.Wrong), width(k.Missing), width(k.Unverified)
	v.RightBar = max(0, barWidth-v.WrongBar-v.LostBar-v.OpenBar)
	v.WrongAt = v.RightBar
	v.LostAt = v.WrongAt + v.WrongBar
	v.OpenAt = v.LostAt + v.LostBar
	v.Share = quantity.Share(v.Right, all)
	return v
}

// diffData is the changes for the script.
type diffData struct {
	Changes []Change `json:"changes"`
	Left    int      `json:"left"`
}

// maxChanges bounds the functions of a page.
const maxChanges = 60000

// newDiffData returns the changes that a page has: those with the most differences if there are
// too many.
func newDiffData(changes []Change) *diffData {
	d := &diffData{Changes: slices.Clone(changes)}
	if n := len(d.Changes); n > maxChanges {
		slices.SortStableFunc(d.Changes, func(a, b Change) int {
			return cmp.Compare(b.Lines+b.Inlines+b.Rules, a.Lines+a.Inlines+a.Rules)
		})
		d.Changes, d.Left = d.Changes[:maxChanges], n-maxChanges
	}
	for i := range d.Changes {
		c := &d.Changes[i]
		c.Name, c.OldName = page.Text(c.Name), page.Text(c.OldName)
		c.First = slices.Clone(c.First)
		for k := range c.First {
			c.First[k] = page.Text(c.First[k])
		}
	}
	return d
}
