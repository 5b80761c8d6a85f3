// Package single dumps one module with the files that belong to it, and verifies the text before it counts as
// written. Package batch does so for many modules.
//
//	opened, warnings, err := companion.Open(ctx, []string{"app"}, companion.Search{})
//	if err != nil {
//		return err
//	}
//	defer opened.Close()
//	m := single.New(opened, warnings)
//	d, err := m.Dump(ctx, opt)
//	if err != nil {
//		return err
//	}
//	report, err := m.Write(ctx, d, opt, func(write func(io.Writer) error) error { return write(w) })
package single

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"symkit/dump"
	"symkit/elfx/companion"
	"symkit/internal/quantity"
)

var (
	// ErrNoRules: Options.NeedRules is set, and the module has no unwind rules.
	ErrNoRules = errors.New("no unwind rules")
	// ErrNothing: no record could be made of the module.
	ErrNothing = errors.New("no symbols: it has no debug information, symbol table or unwind table")
)

// Options say how a module is dumped.
type Options struct {
	dump.Options // but for Companions, which are the Module's
	// GSYM writes GSYM instead of the text of a symbol file. It is not compared with the files.
	GSYM bool
	// Check compares the text with the files, as package check does, while it is written.
	Check bool
	// NeedRules makes a module without unwind rules an error.
	NeedRules bool
	// AllowNoCode permits a module without symbols if it has no code that could have some, as some kernel
	// modules.
	AllowNoCode bool
}

// Module is an ELF file with the files that belong to it.
type Module struct {
	*companion.Module
	// Incomplete states that the debug file was not found, or that there is no debug information.
	Incomplete bool
	// Warnings are about missing, unusable and damaged files. Dump and Rejected add some.
	Warnings []error
	// Stripped is the warning about a module without debug information, or nil.
	Stripped *Stripped
}

// New returns a module that package companion opened, with its warnings.
func New(m *companion.Module, warnings []companion.Warning) *Module {
	out := &Module{Module: m}
	out.warn(warnings)
	return out
}

// warn adds warnings to those of the module.
func (m *Module) warn(warnings []companion.Warning) {
	for _, w := range warnings {
		m.Incomplete = m.Incomplete || w.Problem == companion.Missing || w.Problem == companion.Misfit
		m.Warnings = append(m.Warnings, w)
	}
}

// Stripped is a warning: a module has code and no debug information, so that it has no functions, lines and inlined
// calls. That is what strip leaves of a program.
type Stripped struct {
	Path string
	// HasID states that the file has a build id, by which its debug file can be found.
	HasID bool
	// Places are those where the debug file was looked for.
	Places []string
	// Format is debug information that the file has, but is not read; empty if there is none.
	Format string
}

// otherFormats are formats of debug information that are not read, by their sections.
var otherFormats = []struct{ section, name string }{{".stab", "stabs"}, {".debug", "DWARF 1"}, {".mdebug", "ECOFF"}}

// Shown is how many places the text of a Stripped has.
const Shown = 3

func (s *Stripped) Error() string {
	if s.Format != "" {
		return s.Path + ": its debug information is " + s.Format + ", which is not read: no functions, lines and inlined calls"
	}
	looked := "looked for " + strings.Join(s.Places[:min(len(s.Places), Shown)], ", ")
	switch n := len(s.Places) - Shown; {
	case len(s.Places) == 0 && !s.HasID:
		looked = "without a build id no debug file can be looked for"
	case len(s.Places) == 0:
		looked = "no directory was searched for its debug file"
	case n > 0:
		looked += " and in " + quantity.Number(n) + " more places"
	}
	return s.Path + ": has no debug information: no functions, lines and inlined calls; " + looked
}

// Rejected adds warnings about companions such as .dwo files, which are opened only while the module is dumped.
func (m *Module) Rejected() { m.warn(m.Unused()) }

// losses returns the damage in the files that opening them worked around.
func (m *Module) losses() []error {
	errs := m.Image.Main.Losses()
	if m.Image.Debug != nil {
		errs = append(errs, m.Image.Debug.Losses()...)
	}
	return errs
}

// smallImage is a size in bytes below which goroutines take longer to start than they save.
const smallImage = 64 << 10

// Dump dumps the module. A module without symbols is an error, ErrNothing or the damage that may have cost them,
// unless Options.AllowNoCode permits it.
func (m *Module) Dump(ctx context.Context, opt Options) (*dump.Module, error) {
	opt.Companions = m.Companions
	if opt.Jobs == 0 && m.Image.Size() < smallImage {
		opt.Jobs = 1
	}
	d, err := dump.Dump(ctx, m.Image, opt.Options)
	path := m.Image.Main.Path()
	switch {
	case err != nil:
		return nil, err
	case opt.NeedRules && d.Stats.FDEs == 0:
		return nil, fmt.Errorf("%s: %w: %s", path, ErrNoRules, cmp.Or(d.Stats.NoRules, "they are left out, or the file has no code"))
	case opt.HeaderOnly:
		return d, nil
	case !d.IsEmpty():
	case !opt.AllowNoCode || len(m.Image.Main.ExecRanges()) > 0:
		return nil, m.nothing(d)
	default:
		m.Warnings = append(m.Warnings, errors.New(path+": has no code: the symbol file has MODULE and INFO only"))
	}
	m.findStripped(d)
	return d, nil
}

// nothing returns the error for a module without symbols. It names the first damage, if there is any, since that may
// have cost the symbols.
func (m *Module) nothing(d *dump.Module) error {
	if losses := append(d.Stats.Losses, m.losses()...); len(losses) > 0 {
		return fmt.Errorf("%w; no symbols are left", losses[0])
	}
	return fmt.Errorf("%s: %w", m.Image.Main.Path(), ErrNothing)
}

// findStripped warns of a module that has code, but no debug information and so no FUNC records, unless another
// warning says so already.
func (m *Module) findStripped(d *dump.Module) {
	info := m.Image.DWARF().Section(".debug_info")
	if d.Stats.Funcs > 0 || m.Incomplete || len(m.Image.Main.ExecRanges()) == 0 || info != nil && info.Present() {
		return
	}
	m.Incomplete = true
	m.Stripped = &Stripped{Path: m.Image.Main.Path(), HasID: len(m.Image.BuildID()) > 0}
	for _, f := range otherFormats {
		if m.Image.Main.Section(f.section) != nil {
			m.Stripped.Format = f.name
		}
	}
	for _, p := range m.Probes {
		if p.What == companion.DebugFile {
			m.Stripped.Places = append(m.Stripped.Places, p.Path)
		}
	}
	m.Warnings = append(m.Warnings, m.Stripped)
}

// Lost reports whether damage or missing files cost records of a dumped module.
func (m *Module) Lost(d *dump.Module) bool {
	return d.Stats.LossCount+d.Stats.Missing > 0 || m.Incomplete || len(m.losses()) > 0
}
