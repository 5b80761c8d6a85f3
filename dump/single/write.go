package single

import (
	"cmp"
	"context"
	"io"
	"runtime"

	"symkit/check"
	"symkit/check/report"
	"symkit/dump"
	"symkit/internal/bounds"
	"symkit/internal/crash"
	"symkit/internal/limitof"
)

// largeText is the size in bytes from which a symbol file was made of so many records that their memory is needed
// for the check.
const largeText = 4 << 20

// Write calls to with the function that writes d, which limitof.Output bounds. With Options.Check the text
// is compared with the files meanwhile. The report is nil without a check. After a check d has no records.
func (m *Module) Write(ctx context.Context, d *dump.Module, opt Options, to func(write func(io.Writer) error) error) (*report.Report, error) {
	bounded := func(w io.Writer) error {
		w = bounds.NewWriter(ctx, w, limitof.Output, m.Image.Main.Path(), m.Image.Size())
		if opt.GSYM {
			return d.WriteGSYM(w)
		}
		return d.Write(w)
	}
	if !opt.Check || opt.GSYM {
		return nil, to(bounded)
	}

	// The text is kept in memory, so that the checked text is the written one.
	text := newTextBuffer(m.Image.Size())
	defer text.release()
	err := bounded(text)
	if err != nil {
		return nil, err
	}

	// The check uses the memory of the records again.
	*d = dump.Module{OS: d.OS, Arch: d.Arch, ID: d.ID, Name: d.Name, BuildID: d.BuildID, CodeID: d.CodeID, Stats: d.Stats}
	if text.size > largeText {
		runtime.GC()
	}

	// If the text cannot be written, no finding matters.
	checkCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	checked := make(chan error, 1)
	var rep *report.Report
	go func() {
		defer crash.Catch()
		var err error
		rep, err = check.File(checkCtx, m.Image, text.bytes(), check.Options{
			Names: []string{d.Name}, ID: opt.ID, OS: opt.OS, Companions: m.Companions, KeepAddress: opt.KeepAddress, Jobs: opt.Jobs,
			Options: report.Options{Allow: []string{report.GapUnverified}}, // what is not verified is no mistake of the dump
		})
		checked <- err
	}()
	err = to(func(w io.Writer) error {
		_, err := w.Write(text.bytes())
		return err
	})
	if err != nil {
		cancel()
	}
	return rep, cmp.Or(err, <-checked)
}
