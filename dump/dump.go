// Package dump turns an ELF image into the records of a Breakpad symbol file.
//
// Dump runs the stages in the order of the files here: units are scanned,
// their functions merged, named and given their lines and inlined calls, what
// no function covers becomes PUBLIC. Write turns call frame information into
// STACK CFI.
// Units are the items of work; the result depends on the input alone.
package dump

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"runtime"

	"symkit/cfi"
	"symkit/dump/dwarfx"
	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/internal/demangle"
)

// Options says what Dump writes. The zero value gives the usual module: OS
// Linux, identity and name from the file, no inlined calls.
type Options struct {
	Jobs       int    // goroutines; 0 means one per processor
	OS         string // of the MODULE record; empty means Linux
	ID         string // of the MODULE record; empty means the file's own
	Name       string // of the MODULE record; empty means SONAME or file name
	Generator  string // text of INFO GENERATOR; empty leaves the record out
	Extra      []string
	HeaderOnly bool      // MODULE and INFO records alone
	Inlines    bool      // INLINE and INLINE_ORIGIN records
	NoCFI      bool      // no STACK CFI records
	SFrame     SFrameUse // what .sframe is used for
	Multiple   bool      // mark functions that share an address with an m
	// Companions are the image's other files, or nil.
	Companions  *companion.Companions
	Paths       PathMap // rewrites the names of source files
	KeepAddress bool    // addresses as in the file, not relative to its load address
}

// ErrNoCode: a file of a type that has no code to describe.
var ErrNoCode = errors.New("no symbols to dump")

// dumper is one run of Dump: what its stages hand to each other.
type dumper struct {
	ctx   context.Context
	img   *elfx.Image
	opt   Options
	arch  *cfi.Arch
	bias  uint64 // subtracted from every address that is written
	code  dwarfx.CodeMap
	dw    *dwarfx.Data
	info  *pieces // its .debug_info
	units []*unit
	syms  symbols
	// symLanguage is the language of the symbols as a DW_LANG number, as far as
	// it matters for their names.
	symLanguage uint16
	m           *Module

	demangler demangle.Demangler // of the stages that have one goroutine
	funcs     []fn
	frames    *frameTable // nil: unwind rules are not wanted
	bare      []fn        // see bareFuncs
	names     *nameTable
	early     *earlyTexts
	nameBytes nameBytes
	files     fileTable
	line      struct { // .debug_line
		read bool
		data []byte
		err  error
	}
}

// Dump reads img and returns its records. Damage costs the unit, function or
// FDE it is in and is counted in Module.Stats; the error is for images that
// give no module at all, and begins with the file's path.
func Dump(ctx context.Context, img *elfx.Image, opt Options) (*Module, error) {
	d := &dumper{ctx: ctx, img: img, opt: opt, m: &Module{img: img}}
	d.files = newFileTable(opt.Paths, img.Size())
	if d.opt.Jobs <= 0 {
		d.opt.Jobs = runtime.GOMAXPROCS(0)
	}
	d.m.jobs = d.opt.Jobs
	if err := d.guard(d.header); err != nil {
		return nil, err
	}
	if d.opt.HeaderOnly {
		return d.m, nil
	}
	d.arch = cfi.ArchOf(img.Main.Machine, img.Main.Class)
	if !d.opt.KeepAddress {
		d.bias = img.Main.LoadAddress()
	}
	d.code = codeMap(img.Main)
	stages := []func() error{
		d.readUnits, d.readCompanions, func() error { return d.meanwhile(d.mergeFuncs) }, d.nameUnits, d.readLines, d.fillFuncs, d.goFuncs, d.unwind, d.finish,
	}
	for _, stage := range stages {
		if err := d.guard(stage); err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
	}
	if err := img.Unchanged(); err != nil {
		return nil, err
	}
	return d.m, nil
}

// guard runs a stage. A file that changes underneath ends it.
func (d *dumper) guard(stage func() error) error {
	err := elfx.Guard(stage)
	if err == elfx.ErrChanged { // of one of several files
		err = fmt.Errorf("%s: %w", d.img.Main.Path(), err)
	}
	return err
}

// header fills in what identifies the module.
func (d *dumper) header() error {
	main := d.img.Main
	switch main.Type {
	case elf.ET_EXEC, elf.ET_DYN, elf.ET_REL:
	case elf.ET_CORE:
		return fmt.Errorf("%s: %w: it is a core file; dump the programs it names", main.Path(), ErrNoCode)
	default:
		return fmt.Errorf("%s: %w: ELF type %v", main.Path(), ErrNoCode, main.Type)
	}
	for _, f := range []*elfx.File{main, d.img.Debug} {
		if f != nil {
			if err := f.Complete(); err != nil {
				return err
			}
		}
	}
	arch, err := main.Arch()
	if err != nil {
		return err
	}
	id := d.opt.ID
	if id == "" {
		if id, err = d.img.ModuleID(); err != nil {
			return err
		}
	}
	m := d.m
	m.OS, m.Arch, m.ID, m.Name = d.opt.OS, arch, id, d.opt.Name
	if m.OS == "" {
		m.OS = "Linux"
	}
	if m.Name == "" {
		m.Name = d.moduleName()
	}
	m.CodeID = d.codeID()
	m.Generator, m.Extra = d.opt.Generator, d.opt.Extra
	return nil
}

// relocLosses counts the relocations of a relocatable object that could not be
// applied.
func (d *dumper) relocLosses() {
	for _, f := range []*elfx.File{d.img.Main, d.img.Debug} {
		if f != nil {
			for _, err := range f.RelocLosses() {
				d.loss(err)
			}
		}
	}
}

// codeMap tells where code lies: in the executable sections. An executable
// segment may hold headers too, and then address 0 of a shared library, which
// is a tombstone; so segments serve only where there are no sections.
func codeMap(f *elfx.File) dwarfx.CodeMap {
	var ranges []dwarfx.Range
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Flags&elf.SHF_EXECINSTR != 0 && s.Flags&elf.SHF_ALLOC != 0 {
			ranges = append(ranges, dwarfx.Range{Lo: s.Addr, Hi: s.Addr + s.Size})
		}
	}
	if ranges == nil {
		ranges = f.ExecRanges()
	}
	return dwarfx.NewCodeMap(ranges)
}

// relative turns a virtual address into what is written; ok is false for one
// below the load address.
func (d *dumper) relative(addr uint64) (rel uint64, ok bool) {
	return addr - d.bias, addr >= d.bias
}
