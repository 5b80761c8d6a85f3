package check

import (
	"cmp"
	"context"

	"symkit/check/internal/symfile"
	"symkit/check/report"
	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/internal/mem"
)

// Options say what to check and how. The zero value checks everything.
type Options struct {
	report.Options
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

// Errors of Replay, lint.File and diff.Files about a symbol file that is not checked at all.
var (
	ErrEmpty   = symfile.ErrEmpty
	ErrTooMany = symfile.ErrTooMany
)

// Replay compares the symbol file sym with the image it was made from. The
// error is for inputs that cannot be compared at all, and for ctx: what is
// wrong with sym is in the Report.
func Replay(ctx context.Context, img *elfx.Image, sym []byte, opt Options) (rep *report.Report, err error) {
	guarded := mem.Guard(func() error {
		rep, err = replayFile(ctx, img, sym, opt)
		return nil
	})
	err = cmp.Or(img.Unchanged(), guarded, err)
	if err != nil {
		return nil, err
	}
	return rep, nil
}
