package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"symkit/check"
	"symkit/internal/command"
	"symkit/internal/wire"
)

// result is the report about one symbol file.
type result struct {
	file    string
	against string // the ELF file, or the other symbol file; empty for lint
	report  *check.Report
	// unmet are the requirements and thresholds that are not met.
	unmet []string
}

// write judges and prints the results.
func (o *output) write(e *env, results []result) error {
	for i := range results {
		r := &results[i]
		r.unmet = o.unmet(r.report)
		e.bad = e.bad || r.report.Total() > 0 || r.report.Unallowed() > 0 || len(r.unmet) > 0
	}
	switch o.Format {
	case "json":
		return writeJSON(e.stdout, results)
	case "junit":
		return writeJUnit(e.stdout, results)
	case "sarif":
		return writeSARIF(e.stdout, results)
	}
	w := bufio.NewWriter(e.stdout)
	for i := range results {
		if err := results[i].writeText(w, i > 0); err != nil {
			return err
		}
	}
	return w.Flush()
}

// unmet lists what --require and --min-coverage ask and the report does not
// have.
func (o *output) unmet(r *check.Report) (unmet []string) {
	for _, name := range o.Require {
		k := r.Check(name)
		switch {
		case k == nil:
			unmet = append(unmet, fmt.Sprintf("required: %s was not checked", name))
		case k.State != check.Checked:
			unmet = append(unmet, fmt.Sprintf("required: %s: %s", name, k.State))
		case k.Compared == 0:
			unmet = append(unmet, fmt.Sprintf("required: %s: nothing to compare", name))
		}
	}
	limits, _ := o.thresholds() // checked by AfterApply
	for _, t := range limits {
		i := slices.IndexFunc(r.Coverage, func(c check.Coverage) bool { return c.Class == t.class })
		if i < 0 {
			unmet = append(unmet, fmt.Sprintf("coverage of %s: not known here", t.class))
		} else if got := r.Coverage[i].Percent(); got < t.percent {
			unmet = append(unmet, fmt.Sprintf("coverage of %s: %.2f %%, less than %g %%", t.class, got, t.percent))
		}
	}
	return unmet
}

func (r *result) writeText(w io.Writer, more bool) error {
	if more {
		fmt.Fprintln(w)
	}
	title := r.file
	if r.against != "" {
		title += " and " + r.against
	}
	fmt.Fprintf(w, "%s\n", wire.Printable(title))
	if err := r.report.WriteText(w, r.file); err != nil {
		return err
	}
	for _, text := range r.unmet {
		fmt.Fprintf(w, "%s: %s\n", wire.Printable(r.file), wire.Printable(text))
	}
	return nil
}

// jsonVersion is that of the document of --format=json; it grows when a field
// changes its meaning or goes.
const jsonVersion = 1

type jsonDocument struct {
	Version int          `json:"version"`
	Tool    string       `json:"tool"`
	Results []jsonResult `json:"results"`
}

type jsonResult struct {
	File    string `json:"file"`
	Against string `json:"against,omitempty"`
	// Total is the number of findings, those not listed included.
	Total uint64   `json:"total_findings"`
	Unmet []string `json:"unmet,omitempty"`
	*check.Report
}

func writeJSON(w io.Writer, results []result) error {
	doc := jsonDocument{Version: jsonVersion, Tool: "symcheck " + command.Version(), Results: []jsonResult{}}
	for _, r := range results {
		doc.Results = append(doc.Results, jsonResult{r.file, r.against, r.report.Total(), r.unmet, r.report})
	}
	e := json.NewEncoder(&wire.JSONPrinter{W: w})
	e.SetIndent("", "  ")
	return e.Encode(doc)
}
