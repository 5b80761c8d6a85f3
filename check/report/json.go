package report

import (
	"encoding/json"
	"io"

	"symkit/internal/printable"
)

// jsonVersion is the version of the JSON document. It increases when a field changes its meaning or
// is removed.
const jsonVersion = 1

// jsonDocument is the whole output.
type jsonDocument struct {
	Version int          `json:"version"`
	Tool    string       `json:"tool"`
	Results []jsonResult `json:"results"`
}

// jsonResult is the Report about one symbol file.
type jsonResult struct {
	File    string `json:"file"`
	Against string `json:"against,omitempty"`
	// Total is the number of findings, including those that are not listed.
	Total uint64   `json:"total_findings"`
	Unmet []string `json:"unmet,omitempty"`
	*Report
}

// newDocument returns results as one JSON document.
func newDocument(version string, results []Result) jsonDocument {
	doc := jsonDocument{Version: jsonVersion, Tool: "symcheck " + version, Results: []jsonResult{}}
	for _, r := range results {
		doc.Results = append(doc.Results, jsonResult{r.File, r.Against, r.Report.Total(), r.Unmet, r.Report})
	}
	return doc
}

// encode writes a JSON document in which control characters are escaped.
func encode(w io.Writer, doc any) error {
	e := json.NewEncoder(&printable.JSONWriter{W: w})
	e.SetIndent("", "  ")
	return e.Encode(doc)
}
