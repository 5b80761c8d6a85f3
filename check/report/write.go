package report

import "io"

// Write writes results in a format: "text", "json", "junit", "sarif" or "html". version is
// the version of the program, which JSON, SARIF and pages name.
func Write(w io.Writer, format, version string, results []Result) error {
	switch format {
	case "json":
		return encode(w, newDocument(version, results))
	case "junit":
		return writeJUnit(w, results)
	case "sarif":
		return encode(w, newSARIF(version, results, nil))
	case "html":
		return writeHTML(w, version, results, nil)
	}
	return writeTexts(w, results)
}
