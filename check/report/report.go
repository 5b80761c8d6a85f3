// Package report holds the results of the checks of a symbol file as values: the outcome of each
// check, the findings, the gaps, the coverage, and the verdict. It also writes them as text, JSON,
// JUnit, SARIF and pages (HTML).
//
//	result := report.Result{File: "app.sym", Against: "app", Report: rep}
//	if err := report.Write(os.Stdout, "json", "1.0", []report.Result{result}); err != nil {
//		return err
//	}
//	if result.Bad() {
//		os.Exit(2)
//	}
package report

import (
	"fmt"
	"slices"

	"symkit/check/internal/checks"
	"symkit/limits"
)

// Names lists all checks, in the order of a Report. Package lint makes the checks up to "stack-win",
// check.File all, package diff "grammar" and those from "module" on that need no ELF file.
func Names() []string { return slices.Clone(checks.All) }

// State says whether a check could compare anything.
type State string

// The states of a Check.
const (
	Checked     State = "checked"
	NotInFile   State = "not in file"  // the symbol file has no such records at all
	NotInELF    State = "not in ELF"   // the ELF file has nothing to compare with
	NotVerified State = "not verified" // the ELF file has data to compare with, which cannot be read here
)

// Check is the outcome of one check.
type Check struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	// Unit is the noun of the numbers: "PCs", "functions", "records".
	Unit string `json:"unit"`
	// Compared is the number of units that were compared. Of these, Wrong is the number that the
	// symbol file has wrong, Missing the number that it does not have.
	Compared uint64 `json:"compared"`
	Wrong    uint64 `json:"wrong"`
	Missing  uint64 `json:"missing"`
	// Unverified is the number of units that could not be compared.
	Unverified uint64 `json:"not_verified"`
	// Unread is the number of these that were not compared because of a limit or a missing reader.
	Unread uint64 `json:"unread,omitempty"`
	// Findings is the number of findings, of which the Report may hold only the first. It can be
	// less than Wrong + Missing: one finding may concern many PCs.
	Findings uint64 `json:"findings"`
	// Notes are details in words: why something is not verified, how many bytes are missing.
	Notes []string `json:"notes,omitempty"`
}

// Finding is one place where the symbol file, or the table that the Check is about, is wrong.
type Finding struct {
	Check string `json:"check"`
	// Cause names the kind of mistake for the Check "sframe": docs/sframe.md lists them.
	Cause string `json:"cause,omitempty"`
	// Line is the line of the symbol file, from 1; 0 if a record is missing.
	Line int `json:"line,omitempty"`
	// Record is the text of that line, shortened.
	Record string `json:"record,omitempty"`
	// Addr is the module-relative address concerned, 0 if there is none.
	Addr uint64 `json:"addr,omitempty"`
	// What describes the fault, and what the ELF file has instead.
	What string `json:"what"`
	// Context is the machine code around Addr, if Options.Map is set.
	Context []Instruction `json:"context,omitempty"`
	// Places are the lines of source files that the finding is about, if Options.Places is set.
	Places []Place `json:"-"`
	// Other is the line of the second symbol file of a comparison, from 1; 0 if only the first has a record.
	Other int `json:"-"`
}

// Place is a line of a source file.
type Place struct {
	Of   string // whose place it is: one of the constants below
	File string // path
	Line uint32
}

// What has a Place.
const (
	OfSymbols = "symbol file"
	OfELF     = "ELF file"
	OfFirst   = "first file" // of a comparison of two symbol files
	OfSecond  = "second file"
)

// String returns "line: record: what". The caller puts "file:" in front.
func (f Finding) String() string {
	switch {
	case f.Line == 0:
		return f.What
	case f.Record == "":
		return fmt.Sprintf("%d: %s", f.Line, f.What)
	}
	return fmt.Sprintf("%d: %s: %s", f.Line, f.Record, f.What)
}

// rule names the check, and the cause if there is one.
func (f *Finding) rule() string {
	if f.Cause == "" {
		return f.Check
	}
	return f.Check + "/" + f.Cause
}

// Coverage is how much of the code the records of one class cover, in bytes.
type Coverage struct {
	Class string `json:"class"` // "functions", "lines", "inlines", "cfi", "sframe"
	// Code is the size of the executable sections; without an ELF file, of the
	// FUNC records; of "sframe", of the code that .eh_frame describes.
	Code uint64 `json:"code_bytes"`
	// Covered is how much of this code the symbol file covers.
	Covered uint64 `json:"covered_bytes"`
}

// percent returns the share that is covered, 100 if there is no code.
func (c Coverage) percent() float64 {
	if c.Code == 0 {
		return 100
	}
	return 100 * float64(c.Covered) / float64(c.Code)
}

// causeModule and causeNoInfo name OtherModule and NoDebugInfo of a Report in formats with named
// results.
const (
	causeModule = "same-module"
	causeNoInfo = "debug-information"
)

// Report is the result of check.File, lint.File or diff.Files.
type Report struct {
	// OtherModule states, in words, that the symbol file is of another module than the ELF file, or
	// of another build of it. Nearly all findings follow from that. It is empty otherwise.
	OtherModule string `json:"other_module,omitempty"`
	// NoDebugInfo states, in words, that the ELF file has code, but no debug information to compare
	// with: mostly it was stripped. It is empty otherwise.
	NoDebugInfo string `json:"no_debug_info,omitempty"`
	// Section is the name of the section that was verified alone, without a symbol file.
	Section string `json:"section,omitempty"`
	// Gaps are the large parts, by check, that are not verified or missing.
	Gaps []Gap `json:"gaps,omitempty"`
	// Checks are in the order of Names. Checks that Options.Only does not name are omitted.
	Checks []Check `json:"checks"`
	// Coverage has one element for each class of records. A Report of package diff has none.
	Coverage []Coverage `json:"coverage,omitempty"`
	// Findings are in order of check, then of line. Of each check there are at most Options.Limit.
	Findings []Finding `json:"findings"`
	// Map is the coverage of the code, if Options.Map is set. Changes are the differences of
	// each function, if Options.Map is set and the Report is of package diff.
	Map     *Map     `json:"-"`
	Changes []Change `json:"-"`
}

// Total returns the number of findings, including those above the limit.
func (r *Report) Total() (n uint64) {
	for i := range r.Checks {
		n += r.Checks[i].Findings
	}
	return n
}

// Unallowed returns the number of gaps that count as findings.
func (r *Report) Unallowed() (n int) {
	for i := range r.Gaps {
		if !r.Gaps[i].Allowed {
			n++
		}
	}
	return n
}

// Check returns the outcome of the named check, nil if there is none.
func (r *Report) Check(name string) *Check {
	for i := range r.Checks {
		if r.Checks[i].Name == name {
			return &r.Checks[i]
		}
	}
	return nil
}

// DefaultLimit is the number of findings of each check that a Report keeps
// when Options.Limit is 0.
const DefaultLimit = 20

// Options select the contents of a Report and bound the cost of making it.
type Options struct {
	// Limit is the number of findings that are kept of each check: 0 means DefaultLimit, a negative
	// number none. All findings are counted.
	Limit int
	// Only names the checks to report; empty means all.
	Only []string
	// Allow names kinds of Gap, out of those that Gaps lists, that do not count as findings.
	Allow []string
	// Limits bound the cost of the check. They have nothing to do with Limit.
	Limits limits.Limits
	// Map includes Report.Map, Report.Changes and Finding.Context, which pages show.
	Map bool
	// Places includes Finding.Places, of which pages show the source lines.
	Places bool
}

// Kinds of Gap.
const (
	// GapUnverified means that a part of a check's records was not compared because of a limit or
	// of a form that no reader here supports.
	GapUnverified = "unverified"
	// GapIncomplete means that a part of a check's records was not compared because of a companion
	// file that was not found, or because no record can express the truth.
	GapIncomplete = "incomplete"
	// GapLoss means that the symbol file lacks a large part of the ELF file's records.
	GapLoss = "loss"
)

// Gaps lists the kinds that count as findings unless they are allowed.
func Gaps() []string { return []string{GapUnverified, GapLoss} }

// Gap is a large part of a check's units that was not verified, or that the symbol file lacks: a
// reader needs to know it before the rest of the Report.
type Gap struct {
	Kind  string `json:"kind"` // "unverified", "incomplete" or "loss"
	Check string `json:"check"`
	// Units is the number of units, out of All, that the gap concerns. Both count in the unit of
	// the Check.
	Units uint64 `json:"units"`
	All   uint64 `json:"all"`
	// Allowed states that the gap is no finding, because of its kind or because Options.Allow has
	// the kind.
	Allowed bool `json:"allowed"`
	// What describes the gap in words, with Why if that is known.
	What string `json:"what"`
	// Why is the reason for most of the units: a file that was not found, a limit, damage. It is
	// empty for losses, and if no reason is known.
	Why string `json:"why,omitempty"`
}
