package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"symkit/check"
)

// The JUnit format, as far as CI systems agree on it: a suite for each symbol
// file, a case for each check.
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

func writeJUnit(w io.Writer, results []result) error {
	var doc junitSuites
	for _, r := range results {
		doc.Suites = append(doc.Suites, r.junit())
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (r *result) junit() junitSuite {
	s := junitSuite{Name: r.file}
	for i := range r.report.Checks {
		k := &r.report.Checks[i]
		c := junitCase{Class: r.file, Name: k.Name}
		switch {
		case k.Findings > 0:
			s.Failures++
			c.Failure = &junitMessage{
				Message: fmt.Sprintf("%d findings: %d of %d %s wrong, %d missing", k.Findings, k.Wrong, k.Compared, k.Unit, k.Missing),
				Text:    r.findings(k.Name),
			}
		case k.State != check.Checked:
			s.Skipped++
			c.Skipped = &junitMessage{Message: string(k.State), Text: strings.Join(k.Notes, "\n")}
		}
		s.Cases = append(s.Cases, c)
	}
	for i := range r.report.Gaps {
		g := &r.report.Gaps[i]
		c := junitCase{Class: r.file, Name: g.Kind + " " + g.Check}
		if message := (&junitMessage{Message: g.What}); g.Allowed {
			s.Skipped++
			c.Skipped = message
		} else {
			s.Failures++
			c.Failure = message
		}
		s.Cases = append(s.Cases, c)
	}
	for _, text := range r.unmet {
		s.Failures++
		s.Cases = append(s.Cases, junitCase{Class: r.file, Name: "requirement", Failure: &junitMessage{Message: text}})
	}
	s.Tests = len(s.Cases)
	return s
}

// findings lists those of one check, one a line.
func (r *result) findings(name string) string {
	var b strings.Builder
	for _, f := range r.report.Findings {
		if f.Check == name {
			fmt.Fprintf(&b, "%s:%s\n", r.file, f)
		}
	}
	return b.String()
}
