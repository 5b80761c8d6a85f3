package companion

import (
	"fmt"

	"symkit/elfx"
	"symkit/internal/quantity"
)

// Problem is a kind of Warning.
type Problem int

// The kinds of warnings.
const (
	// Unused: a file has a companion's path, and is not the companion.
	Unused Problem = iota
	// ManyUnused: there are more of these than Warnings.
	ManyUnused
	// Misfit: the debug file that was found does not belong to the file.
	Misfit
	// Missing: the file names a debug file, which was not found.
	Missing
	// Damaged: a part of a file was left out when the file was opened.
	Damaged
)

// Warning is what a module lacks, or what is wrong with one of its files.
type Warning struct {
	Problem Problem
	Path    string // of the file that it is about
	What    Kind   // of the companion; empty for the module's own files
	Err     error  // the cause
}

func (w Warning) Error() string {
	if w.Problem == Unused {
		return fmt.Sprintf("%s: not used as the %s: %v", w.Path, w.What, w.Err)
	}
	return w.Err.Error()
}

// Unwrap returns the cause.
func (w Warning) Unwrap() error { return w.Err }

// maxUnused bounds the warnings about files that do not belong to the module: a program may
// have thousands of .dwo files, all of another build.
const maxUnused = 10

// unused returns the warnings about files that were found and not used.
func unused(probes []Probe) (warnings []Warning) {
	n := 0
	for _, p := range probes {
		if !p.Rejected() {
			continue
		}
		n++
		if n <= maxUnused {
			warnings = append(warnings, Warning{Unused, p.Path, p.What, p.Err})
		}
	}
	if n > maxUnused {
		err := fmt.Errorf("%s more files were not used", quantity.Number(n-maxUnused))
		warnings = append(warnings, Warning{Problem: ManyUnused, Err: err})
	}
	return warnings
}

// Unused returns warnings about the companions besides the debug file, most of which are
// opened when they are needed.
func (m *Module) Unused() []Warning { return unused(m.Companions.Probes()) }

// damage returns warnings about the damage in the files that opening them worked around.
func (m *Module) damage() (warnings []Warning) {
	for _, f := range []*elfx.File{m.Image.Main, m.Image.Debug} {
		if f == nil {
			continue
		}
		for _, err := range f.Losses() {
			warnings = append(warnings, Warning{Damaged, f.Path(), "", err})
		}
	}
	return warnings
}
