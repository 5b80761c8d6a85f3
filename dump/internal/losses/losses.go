// Package losses holds the reports of the stages of a dump beside their results: damage
// that cost a unit, a function, a table or an unwind entry, and warnings for the user.
//
// It takes errors and the texts of warnings and gives their counts and the first of
// the errors. A List needs bounded memory, however much damage a file has.
package losses

import (
	"errors"
	"fmt"

	"symkit/internal/filename"
)

// ErrInTurn: names or tables that units share are near a limit. The module is made again, one unit
// after the other on one goroutine, so that the units that do not fit are always the same.
var ErrInTurn = errors.New("near a limit that units share")

// maxKept bounds the errors that a List keeps; the others are only counted.
const maxKept = 100

// List is the report of one stage. The zero List is empty. Every stage returns its own, so
// that the order of a dump's losses is the order of its stages.
type List struct {
	Count    int      // damaged parts that were left out
	Errs     []error  // the first of them; each names its file, section and offset
	Warnings []string // for the user
	Missing  int      // warnings about companion files that were not found or not read
	// Alone are the Warnings about data that is missing because the file is a debug
	// file whose binary was not given.
	Alone []string
}

// Add records damage; a nil error is none.
func (l *List) Add(err error) {
	if err == nil {
		return
	}
	l.Count++
	if len(l.Errs) < maxKept {
		l.Errs = append(l.Errs, err)
	}
}

// AddIn is Add for an error in the file at path, which does not name its file.
func (l *List) AddIn(path string, err error) { l.Add(InFile(path, err)) }

// InFile returns err with the path of its file in front, or nil if err is nil.
func InFile(path string, err error) error {
	if err == nil {
		return nil
	}
	return &filename.Error{Path: path, Err: err}
}

// Warn records a warning.
func (l *List) Warn(format string, args ...any) {
	l.Warnings = append(l.Warnings, fmt.Sprintf(format, args...))
}

// Miss records a warning about a companion file.
func (l *List) Miss(format string, args ...any) {
	l.Missing++
	l.Warn(format, args...)
}

// WarnAlone is Warn for parts that a debug file lacks whose binary was not given.
func (l *List) WarnAlone(format string, args ...any) {
	l.Warn(format, args...)
	l.Alone = append(l.Alone, l.Warnings[len(l.Warnings)-1])
}

// Append adds all that other has.
func (l *List) Append(other List) {
	for _, err := range other.Errs {
		l.Add(err)
	}
	// other may have counted more errors than it kept.
	l.Count += other.Count - len(other.Errs)

	l.Warnings = append(l.Warnings, other.Warnings...)
	l.Missing += other.Missing
	l.Alone = append(l.Alone, other.Alone...)
}
