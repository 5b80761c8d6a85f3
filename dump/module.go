package dump

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"symkit/dump/internal/gsymout"
	"symkit/dump/internal/losses"
	"symkit/dump/internal/naming"
	"symkit/dump/internal/record"
	"symkit/dump/internal/write"
	"symkit/elfx"
	"symkit/emit"
	"symkit/internal/debuginfo"
	"symkit/internal/filename"
	"symkit/internal/mem"
)

// Module is a dumped module, ready to be written. Addresses are relative to the
// module's load address, unless Options.KeepAddress was set. Its values own their
// memory; only Write, Publics and UnwindRows need the files that the module was made of.
type Module struct {
	OS, Arch, ID, Name string   // of the MODULE record
	BuildID            string   // upper-case hexadecimal; empty without a build id
	CodeID             string   // the build id, else the hash that the id is made of; empty without either
	Generator          string   // text of INFO GENERATOR; empty: no such record
	Extra              []string // further INFO records, each "KEY text"

	// Stats counts the records that were read and lost.
	Stats Stats

	records record.Module
	img     *elfx.Image // the files that the module was made of
	jobs    int         // goroutines for Write
	written bool        // Stats has the losses of unwind rules
}

// Func is one contiguous range of a function: a function that the compiler or linker
// has split has several.
type Func struct {
	Addr, Size uint64 // module-relative, in bytes
	Name       string // demangled, as in the FUNC record
	Multiple   bool   // other functions share the address

	record *record.Func
	module *record.Module
}

// Funcs yields the functions by address; they do not overlap.
func (m *Module) Funcs() iter.Seq[Func] {
	return func(yield func(Func) bool) {
		for i := range m.records.Funcs {
			r := &m.records.Funcs[i]
			if !yield(Func{r.Addr, r.Size, r.Name, r.Multiple, r, &m.records}) {
				return
			}
		}
	}
}

// Lines yields the lines of f by address; they do not overlap. Line.File is an
// index of Module.Files.
func (f Func) Lines() iter.Seq[emit.Line] {
	return func(yield func(emit.Line) bool) {
		for _, l := range f.record.Lines {
			l.File = f.module.Files.Place[l.File]
			if !yield(l) {
				return
			}
		}
	}
}

// Call is an inlined call.
type Call struct {
	Depth int    // 0 for a call inlined into the function itself
	Name  string // of the inlined function
	File  int    // of the call, an index of Module.Files
	Line  int    // of the call, 0 if it is not known
	// Ranges are the module-relative addresses of the inlined code, as in the INLINE record.
	Ranges []elfx.Range
}

// Calls yields the inlined calls of f, outer before inner.
func (f Func) Calls() iter.Seq[Call] {
	return func(yield func(Call) bool) {
		m := f.module
		for i := range f.record.Calls.List {
			in := &f.record.Calls.List[i]

			// Numbers of names and files become places in the order that is written.
			call := Call{Depth: int(in.Depth), Name: m.Origins.Texts[m.Origins.Place[in.Origin]], File: int(m.Files.Place[in.CallFile]), Line: int(in.CallLine)}
			for _, r := range f.record.Calls.Ranges[in.Ranges.From:in.Ranges.To] {
				call.Ranges = append(call.Ranges, elfx.Range{Lo: r.Lo - m.Load, Hi: r.Hi - m.Load})
			}

			if !yield(call) {
				return
			}
		}
	}
}

// Files are the names of the source files, in the order of the FILE records, as
// Options.Paths has rewritten them.
func (m *Module) Files() []string { return m.records.Files.Names }

// Publics yields the PUBLIC records by address. Like Write, it needs the files that
// m was made of; the records own their memory.
func (m *Module) Publics() iter.Seq[emit.Public] {
	return func(yield func(emit.Public) bool) {
		for _, p := range m.records.Publics {
			// The name may lie in a mapped file, which the caller can close.
			p.Name = slices.Clone(p.Name)
			if !yield(p) {
				return
			}
		}
	}
}

// SignalFrames returns the module-relative ranges of code whose frames the kernel makes when it
// delivers a signal; no call makes these frames.
func (m *Module) SignalFrames() []elfx.Range { return m.records.Signals }

// IsEmpty reports whether the module has no function, symbol or unwind rule.
func (m *Module) IsEmpty() bool { return m.Stats.Funcs+m.Stats.Publics+m.Stats.FDEs == 0 }

// Write writes m as a symbol file, in the order: identity, files, origins,
// functions, publics, unwind rules. The files that m was made of must still be
// open; that they changed meanwhile is an error.
func (m *Module) Write(out io.Writer) error {
	header := write.Header{OS: m.OS, Arch: m.Arch, ID: m.ID, Name: m.Name, CodeID: m.CodeID, Extra: m.Extra, Generator: m.Generator}
	err := mem.Guard(func() error { return write.Module(out, header, &m.records, m.jobs) })

	// The rules are read while they are written; a second Write finds the same losses.
	if m.records.Unwind != nil && !m.written {
		m.written = true
		m.Stats.addUnwind(m.records.Unwind.Losses(), m.img)
	}
	return m.unchanged(err)
}

// WriteGSYM writes the functions, lines, inlined calls and symbols of m as GSYM, with virtual addresses. Readers of
// GSYM expect linkage names (Options.Linkage). As for Write, the files that m was made of must still be open.
func (m *Module) WriteGSYM(out io.Writer) error {
	main := m.img.Main
	err := mem.Guard(func() error {
		return gsymout.Module(out, m.img.BuildID(), main.BigEndian, debuginfo.CodeMap(main), &m.records)
	})
	return m.unchanged(err)
}

// unchanged returns the error of writing, or that a file of m changed meanwhile.
func (m *Module) unchanged(err error) error {
	switch {
	case errors.Is(err, mem.ErrChanged):
		return &filename.Error{Path: m.img.Main.Path(), Err: mem.ErrChanged}
	case err != nil:
		return fmt.Errorf("writing symbols: %w", err)
	}
	return m.img.Unchanged()
}

// moduleName returns the SONAME or, without one, the name of the file. The ending
// .debug is cut from the name of a debug file whose binary was not given.
func moduleName(main *elfx.File) (name string, lost losses.List) {
	soname, err := elfx.Soname(main)
	lost.Add(err)
	if soname != "" {
		return soname, lost
	}

	name = filepath.Base(main.Path())
	if !main.HoldsLoaded() {
		name = strings.TrimSuffix(name, ".debug")
		lost.WarnAlone("%s: a debug file alone: the module is named %q; give the binary too, or --name", main.Path(), name)
	}
	return name, lost
}

// count counts the records.
func (s *Stats) count(m *record.Module) {
	s.Funcs, s.Publics = len(m.Funcs), len(m.Publics)
	for i := range m.Funcs {
		f := &m.Funcs[i]
		s.Lines += len(f.Lines)
		s.Inlines += len(f.Calls.List)
		if f.Name == naming.Omitted {
			s.Unnamed++
		}
	}
}
