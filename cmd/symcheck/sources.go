package main

import (
	"context"
	"fmt"

	"symkit/check/report"
	"symkit/elfx/companion"
	"symkit/internal/command"
	"symkit/lookup"
	"symkit/lookup/source"
)

// sourceFlags are the flags of pages that show source lines.
type sourceFlags struct {
	SourceDir []string `name:"source-dir" sep:"none" placeholder:"DIR" help:"In a page, show the lines around each finding from the source files below DIR, or with PREFIX=DIR those of paths that begin with PREFIX. May be repeated. Text that compilers embedded in ELF files (-gembed-source), and bundles of a store, need no flag."`
}

// validateSources checks what the tag cannot express.
func (c *sourceFlags) validateSources() error {
	for _, dir := range source.ParseDirs(c.SourceDir) {
		err := command.Directories("--source-dir", []string{dir.Dir})
		if err != nil {
			return err
		}
	}
	return nil
}

// side is one of the sides of a comparison that have source files of their own.
type side struct {
	of   []string // values of report.Place.Of
	from []string // paths of the symbol file and, if no module is open, of the ELF file
}

// addSources adds the source files of a page's findings to a result. m, if not nil, is the module of the ELF file, whose
// addresses are of a kind.
func (o *output) addSources(ctx context.Context, r *report.Result, m *companion.Module, kind lookup.Kind, sides ...side) error {
	if o.Format != "html" || len(r.Report.Findings) == 0 {
		return nil
	}
	finder, err := source.NewFinder(source.ParseDirs(o.SourceDir), lookup.Options{})
	if err != nil {
		return fmt.Errorf("--source-dir: %w", err)
	}
	defer finder.Close()

	var file *lookup.File
	if m != nil {
		file = finder.Module(ctx, m)
	}
	if file != nil {
		defer file.Close()
		addPlaces(r.Report, file, kind)
	}
	r.Sources = report.Sources{}
	for _, s := range sides {
		found := finder.Find(ctx, file, s.from, r.Report.PathsOf(s.of...))
		for _, of := range s.of {
			r.Sources[of] = found
		}
	}
	return nil
}

// addPlaces adds the places that the debug information has for the findings without any.
func addPlaces(rep *report.Report, file *lookup.File, kind lookup.Kind) {
	var frames []lookup.Frame
	for i := range rep.Findings {
		f := &rep.Findings[i]
		addr, ok := file.Address(kind, f.Addr)
		if len(f.Places) > 0 || f.Addr == 0 || !ok {
			continue
		}
		frames, _ = file.Frames(frames[:0], addr) // damage costs the finding its place
		if len(frames) > 0 && frames[0].File != "" {
			f.Places = []report.Place{{Of: report.OfELF, File: frames[0].File, Line: frames[0].Line}}
		}
	}
}
