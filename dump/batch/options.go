package batch

import (
	"context"
	"errors"
	"fmt"
	"io"

	"symkit/check/report"
	"symkit/dump"
	"symkit/dump/single"
	"symkit/elfx/companion"
	sourcefiles "symkit/lookup/source"
)

// ErrEmptyPackage: a package has no ELF file.
var ErrEmptyPackage = errors.New("no ELF file in the package")

// ManyError is the error of Dump if Finder.Whole is set, and the inputs are several modules.
type ManyError struct{ Modules int }

func (e *ManyError) Error() string { return fmt.Sprintf("%d modules, not one", e.Modules) }

// Options say how a batch is dumped.
type Options struct {
	// Options are those of each module. Options.Jobs is the number of modules at a time, too; 0 means GOMAXPROCS.
	single.Options
	// Search says where companions are looked for.
	Search companion.Search
	// Memory is the budget of the process, in bytes: 0 means DefaultBudget.
	Memory int64
	// Alias stores a module under its file names, too.
	Alias bool
	// ELF stores the ELF files, too. GDB says that the store has GDB's layout, in which a program with debug
	// information has two places.
	ELF, GDB bool
	// Sources, if not nil, stores source files, too, as a bundle: those that compilers embedded in the ELF files, and
	// those of these directories.
	Sources *sourcefiles.Dirs
	// Second, if not nil, writes a module a second time, even if the store has the module.
	Second func(ctx context.Context, write func(io.Writer) error) error
	// Advise, if not nil, adds advice to the texts of errors and warnings that Records have.
	Advise func(error) error
	// Progress, if not nil, is told how far the batch is.
	Progress Progress
}

// Progress is told how far a batch is, by several goroutines.
type Progress interface {
	// Round is called before the modules of a round are dumped. Another round follows unless last is set.
	Round(modules int, last bool)
	// Adjust changes the numbers of modules and bytes to dump.
	Adjust(modules, bytes int64)
	// Begin and End enclose the dump of a module, whose files have the given size.
	Begin(name string)
	End(name string, bytes int64)
}

type noProgress struct{}

func (noProgress) Round(int, bool)     {}
func (noProgress) Adjust(int64, int64) {}
func (noProgress) Begin(string)        {}
func (noProgress) End(string, int64)   {}

// Result is the outcome for one input, or for the files of one module.
type Result struct {
	Record Record
	// Err is why there is no symbol file, or nil.
	Err error
	// Lost states that damage or missing files cost records of a written module.
	Lost bool

	// Of a dumped module:
	Stats    *dump.Stats
	Warnings []error
	Stripped *single.Stripped
	Probes   []companion.Probe // places where companions were looked for
	Check    *report.Report    // nil without Options.Check
}
