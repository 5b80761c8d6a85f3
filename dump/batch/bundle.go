package batch

import (
	"context"
	"errors"
	"fmt"
	"io"

	"symkit/dump/store"
	"symkit/internal/quantity"
	spooled "symkit/internal/spool"
	"symkit/lookup"
	sourcefiles "symkit/lookup/source"
)

// storeSources puts the source files of an opened module into the store, as a bundle: those that compilers embedded, and
// those of the directories. A module without source files has no bundle. A source file that is left out is a warning.
func (j *job) storeSources(ctx context.Context) error {
	dirs := j.b.opt.Sources
	if dirs == nil || len(j.sources) == 0 {
		return nil
	}
	file, err := lookup.FromModule(ctx, j.in.Module, lookup.Options{Jobs: j.b.opt.Jobs})
	if err != nil {
		return err
	}
	defer file.Close()

	content := &spooled.Spool{}
	defer content.Close()
	rec := &j.rec
	bundle, err := sourcefiles.NewBundle(content, sourcefiles.BundleModule{DebugID: rec.ID, CodeID: rec.CodeID, Name: rec.Name, Arch: rec.Arch})
	if err != nil {
		return err
	}
	others := 0
	for s, damage := range file.Sources(nil) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if damage != nil {
			continue // the dump has reported it
		}
		text := s.Text
		if text == nil {
			text, err = dirs.Text(s.Path)
			if err != nil {
				continue // not at hand
			}
			if s.MD5 != nil && sourcefiles.IsOther(text, [][]byte{s.MD5}) {
				others++
				continue
			}
		}
		err = bundle.Add(s.Path, text)
		if errors.Is(err, sourcefiles.ErrBundle) {
			rec.Warnings = append(rec.Warnings, fmt.Sprintf("the source files are not stored: %v", err))
			return nil
		}
		if err != nil {
			return err
		}
	}
	if others > 0 {
		rec.Warnings = append(rec.Warnings, fmt.Sprintf("%s: not stored, because the line table has another MD5: not the ones that were compiled", quantity.Count(others, "source file", "source files")))
	}
	if bundle.Len() == 0 {
		return nil
	}
	err = bundle.Close()
	if err != nil {
		return err
	}
	_, err = j.b.store.Put(j.sources, store.Sources, func(w io.Writer) error {
		_, err := io.Copy(w, content.Section(0, content.Size()).Open())
		return err
	})
	if err == nil {
		rec.Sources = bundle.Len()
		rec.Outputs = append(rec.Outputs, j.sources...)
	}
	return err
}
