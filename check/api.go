package check

import (
	"cmp"
	"context"
	"errors"
	"io"

	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/internal/mem"
)

// Options say what to check and how. The zero value checks everything.
type Options struct {
	// Limit is the number of findings kept of each check: 0 means
	// DefaultLimit, a negative number none. All are counted.
	Limit int
	// Only names the checks whose outcome is wanted; empty means all.
	Only []string
	// Allow are the kinds of Gap that do not count as findings, of those that Gaps lists.
	Allow []string
	// Names, ID and OS are what the MODULE record may also say, besides what the
	// file itself gives: what was given to the dumper with --name, --id, --os.
	Names []string
	ID    string
	OS    string
	// Companions hold dwz's supplementary file, with the names that the image's
	// debug information refers to; nil: those are not verified.
	Companions *companion.Companions
	// KeepAddress: the symbol file has the addresses of the ELF file, not
	// relative to its load address.
	KeepAddress bool
	// Jobs is the number of goroutines; 0 means one per processor.
	Jobs int
	// Progress, if not nil, is called now and then from any goroutine with
	// the stage under way and the units of work done and to do.
	Progress func(stage string, done, total int)
}

// ErrEmpty: the symbol file has no bytes.
var ErrEmpty = errors.New("the symbol file is empty")

// SideError is an error of Diff: one of the files cannot be read.
type SideError struct {
	Second bool // it is b
	Err    error
}

func (e *SideError) Error() string {
	if e.Second {
		return "the second file: " + e.Err.Error()
	}
	return "the first file: " + e.Err.Error()
}

// Unwrap is the error itself.
func (e *SideError) Unwrap() error { return e.Err }

// Replay compares the symbol file sym with the image it was made from. The
// error is for inputs that cannot be compared at all, and for ctx: what is
// wrong with sym is in the Report.
func Replay(ctx context.Context, img *elfx.Image, sym []byte, opt Options) (rep *Report, err error) {
	guarded := mem.Guard(func() error {
		rep, err = replayFile(ctx, img, sym, opt)
		return nil
	})
	if err = cmp.Or(img.Unchanged(), guarded, err); err != nil {
		return nil, err
	}
	return rep, nil
}

// Lint checks a symbol file by itself.
func Lint(sym []byte, opt Options) (rep *Report, err error) {
	guarded := mem.Guard(func() error {
		c := newCollector(opt)
		var s *symFile
		if s, err = lint(c, sym, nil); err == nil {
			rep = c.report()
			rep.Coverage = s.coverage(nil)
		}
		return nil
	})
	return rep, errors.Join(err, guarded)
}

// Diff tells what two symbol files say differently, per PC and by meaning:
// numbers of files and origins, the order of records and where ranges are cut
// do not matter. Findings have the lines of a; where only b has something, they
// say so.
func Diff(a, b []byte, opt Options) (rep *Report, err error) {
	guarded := mem.Guard(func() error {
		rep, err = diff(a, b, opt)
		return nil
	})
	return rep, errors.Join(err, guarded)
}

// WriteText writes a table of the checks and coverage, then the findings, each
// with file in front.
func (r *Report) WriteText(w io.Writer, file string) error { return r.writeText(w, file) }
