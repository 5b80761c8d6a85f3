package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"symkit/internal/printable"
	"symkit/internal/quantity"
)

// junitSuites is the root of a JUnit document, as far as CI systems agree on the format: a suite
// for each symbol file, a case for each check.
type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Skipped *junitMessage `xml:"skipped,omitempty"`
	Failure *junitMessage `xml:"failure,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func writeJUnit(w io.Writer, results []Result) error {
	var doc junitSuites
	for _, r := range results {
		doc.Suites = append(doc.Suites, r.junit())
	}
	return encodeJUnit(w, doc)
}

// encodeJUnit writes a document.
func encodeJUnit(w io.Writer, doc junitSuites) error {
	_, err := io.WriteString(w, xml.Header)
	if err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	err = e.Encode(doc)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, "\n")
	return err
}

// junit returns the suite of one symbol file. XML cannot have control characters, not even escaped
// ones: text is written as printable.String returns it.
func (r *Result) junit() junitSuite {
	file := printable.String(r.File)
	s := junitSuite{Name: file}

	// What most findings follow from is the first case.
	if r.Report.OtherModule != "" {
		s.Failures++
		s.Cases = append(s.Cases, junitCase{Class: file, Name: causeModule, Failure: &junitMessage{Message: printable.String(r.Report.OtherModule)}})
	}
	if r.Report.NoDebugInfo != "" {
		s.Skipped++
		s.Cases = append(s.Cases, junitCase{Class: file, Name: causeNoInfo, Skipped: &junitMessage{Message: printable.String(r.Report.NoDebugInfo)}})
	}

	for i := range r.Report.Checks {
		k := &r.Report.Checks[i]

		// A check with findings fails; a check that compared nothing is skipped.
		c := junitCase{Class: file, Name: k.Name}
		switch {
		case k.Findings > 0:
			s.Failures++
			c.Failure = &junitMessage{
				Message: fmt.Sprintf("%s: %s of %s %s wrong, %s missing", quantity.Count(k.Findings, "finding", "findings"),
					quantity.Number(k.Wrong), quantity.Number(k.Compared), k.Unit, quantity.Number(k.Missing)),
				Text: r.findings(k.Name),
			}
		case k.State != Checked:
			s.Skipped++
			c.Skipped = &junitMessage{Message: string(k.State), Text: lines(k.Notes)}
		}
		s.Cases = append(s.Cases, c)
	}

	// A gap is a case of its own, which is skipped if the gap is allowed.
	for i := range r.Report.Gaps {
		g := &r.Report.Gaps[i]
		c := junitCase{Class: file, Name: g.Kind + " " + g.Check}
		message := &junitMessage{Message: printable.String(g.What)}
		if g.Allowed {
			s.Skipped++
			c.Skipped = message
		} else {
			s.Failures++
			c.Failure = message
		}
		s.Cases = append(s.Cases, c)
	}

	// So is a requirement that is not met.
	for _, text := range r.Unmet {
		s.Failures++
		s.Cases = append(s.Cases, junitCase{Class: file, Name: "requirement", Failure: &junitMessage{Message: printable.String(text)}})
	}
	s.Tests = len(s.Cases)
	return s
}

// findings returns the findings of one check, one on each line.
func (r *Result) findings(name string) string {
	var b strings.Builder
	for _, f := range r.Report.Findings {
		if f.Check == name {
			text := r.File + ":" + f.String()
			if f.Cause != "" {
				text += " [" + f.rule() + "]"
			}
			fmt.Fprintf(&b, "%s\n", printable.String(text))
		}
	}
	return b.String()
}

// lines joins texts. Each text becomes one line.
func lines(texts []string) string {
	var b strings.Builder
	for i, text := range texts {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(printable.String(text))
	}
	return b.String()
}
