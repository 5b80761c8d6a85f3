package main

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"slices"

	"symkit/check"
	"symkit/internal/command"
	"symkit/internal/wire"
)

// The parts of SARIF 2.1.0 (OASIS) that a code host shows.
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool    sarifTool     `json:"tool"`
	Results []sarifResult `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID string `json:"id"`
}

type sarifResult struct {
	RuleID    string          `json:"ruleId"`
	Level     string          `json:"level"`
	Message   sarifMessage    `json:"message"`
	Locations []sarifLocation `json:"locations"`
}

type sarifMessage struct {
	Text string `json:"text"`
}

type sarifLocation struct {
	Physical sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
}

func writeSARIF(w io.Writer, results []result) error {
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "symcheck", Version: command.Version()}}, Results: []sarifResult{}}
	for _, name := range slices.Concat(check.Names(), check.Gaps(), []string{"requirement"}) {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{name})
	}
	for _, r := range results {
		for _, g := range r.report.Gaps {
			if !g.Allowed {
				run.Results = append(run.Results, r.sarif(g.Kind, 0, g.What))
			}
		}
		for _, f := range r.report.Findings {
			text := f.What
			if f.Record != "" {
				text = f.Record + ": " + text
			}
			run.Results = append(run.Results, r.sarif(f.Check, f.Line, text))
		}
		for _, text := range r.unmet {
			run.Results = append(run.Results, r.sarif("requirement", 0, text))
		}
	}
	e := json.NewEncoder(&wire.JSONPrinter{W: w})
	e.SetIndent("", "  ")
	return e.Encode(sarifLog{
		Schema:  "https://json.schemastore.org/sarif-2.1.0.json",
		Version: "2.1.0",
		Runs:    []sarifRun{run},
	})
}

func (r *result) sarif(rule string, line int, text string) sarifResult {
	file := url.URL{Path: filepath.ToSlash(r.file)}
	place := sarifPhysical{Artifact: sarifArtifact{file.String()}}
	if line > 0 {
		place.Region = &sarifRegion{line}
	}
	return sarifResult{RuleID: rule, Level: "error", Message: sarifMessage{text}, Locations: []sarifLocation{{place}}}
}
