// Package truth reads from an ELF image what its symbol file should say. It does not import package
// dump, so that a mistake of the dumper is found.
//
// Load reads what concerns the whole image: code, symbols, the sections of the debug information. The
// units of the debug information, which are by far the largest part, are not kept: Truth.Units passes
// each of them to a worker, which compares and drops it. All inflating is inside of the package.
package truth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"symkit/check/internal/checks"
	"symkit/check/internal/naming"
	"symkit/check/internal/pcs"
	"symkit/check/internal/truth/dwarfinfo"
	"symkit/check/internal/truth/gotable"
	"symkit/check/internal/truth/image"
	"symkit/check/internal/truth/symtab"
	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/internal/limitof"
	"symkit/internal/wire"
	"symkit/limits"
)

// Truth is what an image states about its code.
type Truth struct {
	Image   *elfx.Image
	Code    pcs.Set
	Symbols *symtab.Table
	Names   *naming.Table // of functions and inlined calls
	Paths   *naming.Paths // of source files
	// Unreadable is the reason if the debug information cannot be read.
	Unreadable error

	opt  Options
	info *dwarfinfo.Info // nil without debug information
}

// Options have the companion files of an image and the limits of the reading.
type Options struct {
	Companions *companion.Companions // or nil
	Limits     limits.Limits
}

// Loss is a reason why records of a check cannot be compared.
type Loss struct {
	Check string
	Err   error
}

// Load reads img, except for the units.
func Load(ctx context.Context, img *elfx.Image, opt Options) (*Truth, []Loss) {
	t := &Truth{Image: img, Code: image.CodeOf(img.Main), Names: naming.NewTable(), Paths: naming.NewPaths(), opt: opt, info: dwarfinfo.Open(img.DWARF(), opt.Limits)}
	t.Names.Most = opt.Limits.Max(limitof.Names, img.Size()) // Exceeded returns the error
	var lost []Loss
	if t.info != nil {
		t.Unreadable = t.info.Load(false)
		err := t.openAlt(ctx)
		if err != nil {
			lost = append(lost, Loss{checks.Names, err})
		}
	}

	t.Symbols = symtab.Read(img, t.Code, opt.Limits)
	for _, err := range t.Symbols.Losses {
		lost = append(lost, Loss{checks.Publics, err})
	}
	return t, lost
}

// openAlt opens dwz's supplementary file.
func (t *Truth) openAlt(ctx context.Context) error {
	others := t.opt.Companions
	if t.Unreadable != nil || others == nil || others.Alt == nil {
		return nil
	}
	t.info.Alt = dwarfinfo.OpenAlt(others.Alt, t.opt.Limits)
	if t.info.Alt == nil {
		return nil
	}
	err := cmp.Or(t.info.Alt.Load(true), t.info.Alt.List(ctx))
	if err != nil {
		return fmt.Errorf("%s: %v", others.Alt.Path(), err)
	}
	return nil
}

// HasUnits reports whether there is debug information that can be read.
func (t *Truth) HasUnits() bool { return t.info != nil && t.Unreadable == nil }

// GoTable returns the table of functions of a Go program, nil for other programs.
func (t *Truth) GoTable() (*gotable.Table, error) {
	return gotable.Open(t.Image.Main, t.Code, t.opt.Limits)
}

// Unrelocated returns a loss for each part of a relocatable object whose fields were not relocated:
// the section that such a field refers to is not certain.
func (t *Truth) Unrelocated() (lost []Loss) {
	for _, f := range []*elfx.File{t.Image.Main, t.Image.Debug} {
		if f == nil {
			continue
		}
		for _, err := range slices.Concat(f.RelocLosses(), image.Unrelocated(f)) {
			lost = append(lost, Loss{relocatedCheck(err), err})
		}
	}
	return lost
}

// relocatedCheck returns the check whose truth is in the section with fields that could not be
// relocated.
func relocatedCheck(err error) string {
	e, ok := errors.AsType[*wire.Error](err)
	switch {
	case !ok:
	case e.Section == ".debug_line" || e.Section == ".debug_line_str":
		return checks.Lines
	case e.Section == ".eh_frame" || e.Section == ".debug_frame" || e.Section == ".sframe":
		return checks.CFI
	}
	return checks.Funcs
}

// Exceeded returns the error of a limit if the symbol tables and the debug information have more names
// than the limits allow: then no unit counts. The numbers do not depend on the order of the goroutines.
func (t *Truth) Exceeded() error {
	size := t.Image.Size()
	switch {
	case t.Names.Size()+t.Symbols.Names.Size() > t.opt.Limits.Max(limitof.Names, size):
		return fmt.Errorf(".debug_info: %w", t.opt.Limits.Exceeded(limitof.Names, size))
	case t.Paths.Size() > t.opt.Limits.Max(limitof.Files, size):
		return fmt.Errorf(".debug_line: %w", t.opt.Limits.Exceeded(limitof.Files, size))
	}
	return t.info.Exhausted()
}
