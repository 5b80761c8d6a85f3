package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"symkit/check/internal/checks"
	"symkit/internal/printable"
	"symkit/internal/quantity"
)

// Store is the results of checking the symbol files of a store. Add adds them, in any number: a file without findings
// takes a few words of memory.
type Store struct {
	// At is the directory or the address of the store.
	At string
	// Members are all files, in the order in which they were added.
	Members []Member
	// Checks are the sums of all reports, in the order of Names.
	Checks []Check
	// Results are the files with findings, the first thousand of them.
	Results []Result
}

// Member is a symbol file of a store.
type Member struct {
	File    string `json:"file"`
	Against string `json:"against,omitempty"` // the ELF file; empty for a file that was read alone
	Total   uint64 `json:"total_findings"`
	// Bad states that the file has findings or does not meet a requirement.
	Bad bool `json:"bad"`
	// Error says why the file could not be checked.
	Error string `json:"error,omitempty"`
}

// mostResults bounds the reports that a Store keeps: each has up to hundreds of findings.
const mostResults = 1000

// Add adds the result of one file. err says why it could not be checked; the result has no Report then.
func (s *Store) Add(r Result, err error) {
	m := Member{File: r.File, Against: r.Against}
	if err != nil {
		m.Error = err.Error()
		s.Members = append(s.Members, m)
		return
	}
	m.Total, m.Bad = r.Report.Total(), r.Bad()
	s.Members = append(s.Members, m)
	if m.Bad && len(s.Results) < mostResults {
		s.Results = append(s.Results, r)
	}
	for i := range r.Report.Checks {
		s.sum(&r.Report.Checks[i])
	}
}

// sum adds the numbers of a check to those of its name.
func (s *Store) sum(k *Check) {
	order := slices.Index(checks.All, k.Name)
	at := slices.IndexFunc(s.Checks, func(x Check) bool { return slices.Index(checks.All, x.Name) >= order })
	if at < 0 {
		at = len(s.Checks)
	}
	if at == len(s.Checks) || s.Checks[at].Name != k.Name {
		s.Checks = slices.Insert(s.Checks, at, Check{Name: k.Name, State: k.State, Unit: k.Unit})
	}
	sum := &s.Checks[at]
	if k.State == Checked {
		sum.State = Checked
	}
	sum.Compared += k.Compared
	sum.Wrong += k.Wrong
	sum.Missing += k.Missing
	sum.Unverified += k.Unverified
	sum.Unread += k.Unread
	sum.Findings += k.Findings
}

// Counts are the numbers of the files of a Store.
type Counts struct {
	Files    int `json:"files"`
	Compared int `json:"compared"` // with their ELF files
	Bad      int `json:"bad"`
	Failed   int `json:"failed"` // could not be checked
}

// Counts counts the files.
func (s *Store) Counts() (c Counts) {
	c.Files = len(s.Members)
	for i := range s.Members {
		m := &s.Members[i]
		if m.Error != "" {
			c.Failed++
			continue
		}
		if m.Against != "" {
			c.Compared++
		}
		if m.Bad {
			c.Bad++
		}
	}
	return c
}

// total returns the number of all findings.
func (s *Store) total() (n uint64) {
	for i := range s.Checks {
		n += s.Checks[i].Findings
	}
	return n
}

// summary says in words how many files there are, and how they are.
func (s *Store) summary() string {
	c := s.Counts()
	text := quantity.Count(c.Files, "symbol file", "symbol files") + ", " + quantity.Number(c.Compared) + " compared with ELF files: "
	if c.Bad == 0 {
		text += "nothing found"
	} else {
		text += fmt.Sprintf("%s in %s", quantity.Count(s.total(), "finding", "findings"), quantity.Count(c.Bad, "file", "files"))
	}
	if c.Failed > 0 {
		text += ", " + quantity.Number(c.Failed) + " could not be checked"
	}
	return text
}

// left returns the number of files with findings that Results lacks.
func (s *Store) left() int { return s.Counts().Bad - len(s.Results) }

// WriteStore writes the results of a store in a format, as Write does. The document has the files with findings as
// results, and all files as a list.
func WriteStore(w io.Writer, format, version string, s *Store) error {
	switch format {
	case "json":
		return encode(w, s.document(version))
	case "junit":
		return encodeJUnit(w, s.junit())
	case "sarif":
		return encode(w, newSARIF(version, s.Results, s.Members))
	case "html":
		return writeHTML(w, version, s.Results, s)
	}
	return s.writeText(w)
}

// writeText writes the sums, then each file that has findings or could not be checked.
func (s *Store) writeText(out io.Writer) error {
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "%s: %s\n", printable.String(s.At), s.summary())
	err := writeTable(w, s.Checks)
	if err != nil {
		return err
	}
	for i := range s.Members {
		m := &s.Members[i]
		if m.Error != "" {
			fmt.Fprintf(w, "%s: %s\n", printable.String(m.File), printable.String(m.Error))
		}
	}
	for i := range s.Results {
		r := &s.Results[i]
		fmt.Fprintln(w)
		r.writeTitle(w)
		file := printable.String(r.File)
		r.Report.writeCauses(w, file)
		r.Report.writeFindings(w, file)
		r.writeUnmet(w)
	}
	if s.left() > 0 {
		fmt.Fprintf(w, "\n%s\n", quantity.Count(s.left(), "more file with findings", "more files with findings"))
	}
	return w.Flush()
}

// storeDocument is the JSON document of a store.
type storeDocument struct {
	jsonDocument
	Store jsonStore `json:"store"`
}

type jsonStore struct {
	At      string   `json:"at"`
	Counts           // of files
	Total   uint64   `json:"total_findings"`
	Checks  []Check  `json:"checks"`
	Members []Member `json:"members"`
}

func (s *Store) document(version string) storeDocument {
	return storeDocument{newDocument(version, s.Results), jsonStore{s.At, s.Counts(), s.total(), s.Checks, s.Members}}
}

// junit returns a suite with a case for each file, then the suites of the files with findings.
func (s *Store) junit() junitSuites {
	at := printable.String(s.At)
	suite := junitSuite{Name: at, Tests: len(s.Members)}
	for i := range s.Members {
		m := &s.Members[i]
		c := junitCase{Class: at, Name: printable.String(m.File)}
		switch {
		case m.Error != "":
			c.Failure = &junitMessage{Message: printable.String(m.Error)}
		case m.Bad:
			c.Failure = &junitMessage{Message: quantity.Count(m.Total, "finding", "findings")}
		}
		if c.Failure != nil {
			suite.Failures++
		}
		suite.Cases = append(suite.Cases, c)
	}
	doc := junitSuites{Suites: []junitSuite{suite}}
	for i := range s.Results {
		doc.Suites = append(doc.Suites, s.Results[i].junit())
	}
	return doc
}

// storeView is what a page has about a store.
type storeView struct {
	At, Summary, Class string
	Checks             []checkView
	Rows               []Member // files with findings, and those that could not be checked
	Left               int      // more of these
	Details            int      // results on the page
}

// StoreDetails is the number of files with findings that a page about a store has in full, mostRows that of its table.
const (
	StoreDetails = 100
	mostRows     = 5000
)

// view returns what a page has about the store.
func (s *Store) view() *storeView {
	c := s.Counts()
	v := &storeView{At: s.At, Summary: s.summary(), Class: "good", Details: min(len(s.Results), StoreDetails)}
	if c.Bad+c.Failed > 0 {
		v.Class = "bad"
	}
	for i := range s.Checks {
		v.Checks = append(v.Checks, bar(&s.Checks[i], 0))
	}
	for i := range s.Members {
		if m := s.Members[i]; m.Bad || m.Error != "" {
			v.Rows = append(v.Rows, m)
		}
	}
	v.Left = max(0, len(v.Rows)-mostRows)
	v.Rows = v.Rows[:len(v.Rows)-v.Left]
	return v
}
