// Package single dumps one module with the files that belong to it, and verifies the text before it counts as
// written. Package batch does so for many modules.
//
//	m, err := single.Join([]*elfx.File{f}, &companion.Places{DebugDirs: []string{companion.DefaultDebugDir}})
//	if err != nil {
//		return err
//	}
//	defer m.Close()
//	d, err := m.Dump(ctx, opt)
//	if err != nil {
//		return err
//	}
//	report, err := m.Write(ctx, d, opt, func(write func(io.Writer) error) error { return write(w) })
package single

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"symkit/dump"
	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/internal/quantity"
)

var (
	// ErrNoRules: Options.NeedRules is set, and the module has no unwind rules.
	ErrNoRules = errors.New("no unwind rules")
	// ErrNothing: no record could be made of the module.
	ErrNothing = errors.New("no symbols: it has no debug information, symbol table or unwind table")
	// ErrNoFile: there are no files.
	ErrNoFile = errors.New("no ELF file")
	// ErrOther: two files are not one module.
	ErrOther = errors.New("is another module")
	// ErrOtherBuild: the second file is a debug file of another build.
	ErrOtherBuild = errors.New("not of one build")
	// ErrNoDebugFile is a warning: the file names a debug file, which was not found.
	ErrNoDebugFile = errors.New("its debug file was not found")
	// ErrManyUnused is a warning: more companions were not used than those with a warning of their own.
	ErrManyUnused = errors.New("more files were not used")
)

// Options say how a module is dumped.
type Options struct {
	dump.Options // but for Companions, which are the Module's
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
	Image *elfx.Image
	// Companions are the files besides the debug file, or nil.
	Companions *companion.Companions
	// Probes are the places where the debug file was looked for.
	Probes []companion.Probe
	// Incomplete states that the debug file was not found, or that there is no debug information.
	Incomplete bool
	// Warnings are about missing, unusable and damaged files. Dump and Rejected add some.
	Warnings []error
	// Stripped is the warning about a module without debug information, or nil.
	Stripped *Stripped

	found *companion.Module // nil if companions were not searched for
}

// Stripped is a warning: a module has code and no debug information, so that it has no functions, lines and inlined
// calls. That is what strip leaves of a program.
type Stripped struct {
	Path string
	// HasID states that the file has a build id, by which its debug file can be found.
	HasID bool
	// Places are those where the debug file was looked for.
	Places []string
}

// Shown is how many places the text of a Stripped has.
const Shown = 3

func (s *Stripped) Error() string {
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

// warning is a warning with a text and a kind.
type warning struct {
	text string
	kind error
}

func (w *warning) Error() string { return w.text }
func (w *warning) Unwrap() error { return w.kind }

// Join makes one module of one or two files. Two files are a module if one of them is the other's debug file. Unless
// places is nil, the module's companions are looked for there. The Module owns the files, which Join closes if it
// fails.
func Join(files []*elfx.File, places *companion.Places) (*Module, error) {
	img, err := join(files)
	if err != nil {
		for _, f := range files {
			f.Close()
		}
		return nil, err
	}
	m := &Module{Image: img}
	if places != nil {
		m.complete(*places)
	}
	m.Warnings = append(m.Warnings, m.losses()...)
	return m, nil
}

// join makes an image of the files.
func join(files []*elfx.File) (*elfx.Image, error) {
	switch len(files) {
	case 0:
		return nil, ErrNoFile
	case 1:
		return &elfx.Image{Main: files[0]}, nil
	case 2:
		a, b := files[0], files[1]

		// A debug file is not a module by itself, whatever its build id: the error of
		// Join says why it does not belong to the other file.
		if a.HoldsLoaded() != b.HoldsLoaded() || bytes.Equal(a.BuildID(), b.BuildID()) {
			img, err := elfx.Join(a, b)
			if err != nil {
				return nil, &warning{err.Error(), ErrOtherBuild}
			}
			return img, nil
		}
	}
	return nil, fmt.Errorf("%s: %w than %s", files[1].Path(), ErrOther, files[0].Path())
}

// complete searches places for the module's companions and warns of a debug file that is missing or belongs to
// another build.
func (m *Module) complete(places companion.Places) {
	m.found = companion.Complete(m.Image, places)
	m.Image, m.Companions, m.Probes = m.found.Image, m.found.Companions, m.found.DebugProbes
	m.reject(m.Probes)

	switch main := m.Image.Main; {
	case m.found.Mismatch != nil:
		m.Incomplete = true
		m.Warnings = append(m.Warnings, m.found.Mismatch)
	case m.found.MissingDebug != "":
		m.Incomplete = true
		text := fmt.Sprintf("%s: its debug file %s was not found: no functions, lines and inlined calls", main.Path(), m.found.MissingDebug)
		m.Warnings = append(m.Warnings, &warning{text, ErrNoDebugFile})
	}
}

// maxRejected bounds the warnings about files that do not belong to the module: a program may have thousands of .dwo
// files, all of another build.
const maxRejected = 10

// reject warns of files that have a companion's path but do not belong to the module.
func (m *Module) reject(probes []companion.Probe) {
	n := 0
	for _, p := range probes {
		if !p.Rejected() {
			continue
		}
		n++
		if n <= maxRejected {
			m.Warnings = append(m.Warnings, fmt.Errorf("%s: not used as the %s: %w", p.Path, p.What, p.Err))
		}
	}
	if n > maxRejected {
		m.Warnings = append(m.Warnings, &warning{quantity.Number(n-maxRejected) + " more files were not used", ErrManyUnused})
	}
}

// Rejected adds warnings about companions such as .dwo files, which are opened only while the module is dumped.
func (m *Module) Rejected() {
	if m.Companions != nil {
		m.reject(m.Companions.Probes())
	}
}

// AllProbes returns the places where companions were looked for so far.
func (m *Module) AllProbes() []companion.Probe {
	if m.Companions == nil {
		return m.Probes
	}
	return slices.Concat(m.Probes, m.Companions.Probes())
}

// losses returns the damage in the files that opening them worked around.
func (m *Module) losses() []error {
	errs := m.Image.Main.Losses()
	if m.Image.Debug != nil {
		errs = append(errs, m.Image.Debug.Losses()...)
	}
	return errs
}

// Paths returns the paths of the files that the module was read from. For a member of an archive that is the
// archive's path.
func (m *Module) Paths() (paths []string) {
	for _, f := range append(m.Companions.Files(), m.Image.Main, m.Image.Debug) {
		if f != nil {
			paths = append(paths, cmp.Or(f.Archive(), f.Path()))
		}
	}
	return paths
}

// Close closes all files of the module.
func (m *Module) Close() {
	if m.found != nil {
		m.found.Close()
	}
	m.Image.Close()
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
