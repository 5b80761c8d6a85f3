package check

import (
	"cmp"
	"context"

	"symkit/check/internal/checks"
	"symkit/check/internal/collect"
	"symkit/check/internal/sframes"
	"symkit/check/internal/symfile"
	"symkit/check/internal/truth/image"
	"symkit/check/report"
	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/internal/mem"
)

// Options select the checks and bound their cost. The zero value checks everything.
type Options struct {
	report.Options
	// Names, ID and OS are values that the MODULE record may have besides those that the file
	// itself gives: the values given to the dumper with --name, --id and --os.
	Names []string
	ID    string
	OS    string
	// Companions holds dwz's supplementary file, which has names that the image's debug information
	// refers to. If it is nil, those names are not verified.
	Companions *companion.Companions
	// KeepAddress states that the symbol file has the addresses of the ELF file, not addresses
	// relative to its load address.
	KeepAddress bool
	// Disassembler returns the decoder for the code of a file, nil for machines without one. If
	// Disassembler is nil, findings have no Context. (It is not part of this package, because
	// dump_syms, which verifies symbol files too, needs no decoder.)
	Disassembler func(f *elfx.File) Disassembler
	// Jobs is the number of goroutines; 0 means one per processor.
	Jobs int
	// Drop, if not nil, is called with ranges of the symbol file that were read, from any goroutine.
	// It may give their memory back to the system if the bytes stay readable, as those of a mapped
	// file do: most of them are read a second time.
	Drop func(from, to uint64)
	// Progress, if not nil, is called now and then, from any goroutine, with the name of the
	// current stage and the units of work done and in total.
	Progress func(stage string, done, total int)
}

// Disassembler decodes machine code.
type Disassembler interface {
	// Aligned returns the alignment of the addresses of all instructions; below 4, they have
	// several lengths.
	Aligned() uint64
	// Decode decodes code, which begins at addr, to its end.
	Decode(code []byte, addr uint64) []report.Instruction
}

// Errors of File, lint.File and diff.Files about a symbol file that is not checked at all.
var (
	// ErrEmpty: the symbol file has no bytes.
	ErrEmpty = symfile.ErrEmpty
	// ErrTooMany: the symbol file has more records than the limits symcheck-lines or
	// symcheck-records allow.
	ErrTooMany = symfile.ErrTooMany
)

// File compares the symbol file sym with the image that it was made from. The error reports
// inputs that cannot be compared at all, and the end of ctx; faults of sym are in the Report.
func File(ctx context.Context, img *elfx.Image, sym []byte, opt Options) (rep *report.Report, err error) {
	guarded := mem.Guard(func() error {
		rep, err = file(ctx, img, sym, opt)
		return nil
	})
	err = cmp.Or(img.Unchanged(), guarded, err)
	if err != nil {
		return nil, err
	}
	return rep, nil
}

// SFrame verifies the .sframe section of an image without a symbol file: the check "sframe", whose
// findings have addresses of the ELF file. The error is that of File.
func SFrame(ctx context.Context, img *elfx.Image, opt report.Options) (rep *report.Report, err error) {
	guarded := mem.Guard(func() error {
		err = isCore(img.Main)
		if err != nil {
			return nil
		}
		var found *collect.Outcome
		opt.Only = []string{checks.SFrame}
		var coverage report.Coverage
		found, coverage, err = sframes.Compare(ctx, &sframes.Input{Image: img, Code: image.CodeOf(img.Main), Findings: true, Report: opt})
		if err == nil {
			rep = found.Report(nil)
			rep.Section, rep.Coverage = ".sframe", []report.Coverage{coverage}
		}
		return nil
	})
	err = cmp.Or(img.Unchanged(), guarded, err)
	if err != nil {
		return nil, err
	}
	return rep, nil
}
