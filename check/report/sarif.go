package report

import (
	"net/url"
	"path/filepath"
	"slices"

	"symkit/check/internal/checks"
)

// sarifLog has the parts of SARIF 2.1.0 (OASIS) that code hosts show.
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool struct {
		Driver struct {
			Name    string      `json:"name"`
			Version string      `json:"version"`
			Rules   []sarifRule `json:"rules"`
		} `json:"driver"`
	} `json:"tool"`
	Results []sarifResult `json:"results"`
}

type sarifRule struct {
	ID string `json:"id"`
}

type sarifResult struct {
	RuleID  string `json:"ruleId"`
	Level   string `json:"level"`
	Message struct {
		Text string `json:"text"`
	} `json:"message"`
	Locations []sarifLocation `json:"locations"`
}

type sarifLocation struct {
	Physical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region *sarifRegion `json:"region,omitempty"`
	} `json:"physicalLocation"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
}

// unreadable is the rule of a file of a store that could not be checked.
const unreadable = "unreadable"

// newSARIF returns results as one SARIF run. Of members, those that could not be checked are results, too.
func newSARIF(version string, results []Result, members []Member) sarifLog {
	run := sarifRun{Results: []sarifResult{}}
	driver := &run.Tool.Driver
	driver.Name, driver.Version = "symcheck", version
	for _, name := range slices.Concat(checks.All, Gaps(), []string{"requirement", causeModule, causeNoInfo}) {
		driver.Rules = append(driver.Rules, sarifRule{name})
	}

	// What most findings follow from is the first result. Gaps, findings and unmet requirements are
	// all results.
	for _, r := range results {
		if r.Report.OtherModule != "" {
			run.Results = append(run.Results, r.sarif(causeModule, 0, r.Report.OtherModule))
		}
		if r.Report.NoDebugInfo != "" {
			note := r.sarif(causeNoInfo, 0, r.Report.NoDebugInfo)
			note.Level = "note" // no finding
			run.Results = append(run.Results, note)
		}
		for _, g := range r.Report.Gaps {
			if !g.Allowed {
				run.Results = append(run.Results, r.sarif(g.Kind, 0, g.What))
			}
		}
		for _, f := range r.Report.Findings {
			text := f.What
			if f.Record != "" {
				text = f.Record + ": " + text
			}
			run.Results = append(run.Results, r.sarif(f.rule(), f.Line, text))
		}
		for _, text := range r.Unmet {
			run.Results = append(run.Results, r.sarif("requirement", 0, text))
		}
	}

	if members != nil {
		driver.Rules = append(driver.Rules, sarifRule{unreadable})
	}
	for i := range members {
		if members[i].Error != "" {
			r := Result{File: members[i].File}
			run.Results = append(run.Results, r.sarif(unreadable, 0, members[i].Error))
		}
	}
	return sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}}
}

// sarif returns one result at a line of the symbol file, 0 for the whole file.
func (r *Result) sarif(rule string, line int, text string) sarifResult {
	file := url.URL{Path: filepath.ToSlash(r.File)}

	// SARIF has no line 0.
	var place sarifLocation
	place.Physical.Artifact.URI = file.String()
	if line > 0 {
		place.Physical.Region = &sarifRegion{line}
	}

	result := sarifResult{RuleID: rule, Level: "error", Locations: []sarifLocation{place}}
	result.Message.Text = text
	return result
}
