// Package dump turns an ELF image into the records of a Breakpad symbol file, which a
// crash service needs to show functions, source lines and call stacks.
//
// Dump takes an image, which is an ELF file with its separate debug file, and gives a
// Module. A Module writes itself as a symbol file, and yields its functions with their
// lines and inlined calls, its symbols without a function, and its unwind rules as
// values.
//
//	program, _, err := companion.Open(ctx, []string{"app"}, companion.Search{})
//	if err != nil {
//		return err
//	}
//	defer program.Close()
//	m, err := dump.Dump(ctx, program.Image, dump.Options{Inlines: true, Companions: program.Companions})
//	if err != nil {
//		return err
//	}
//	for f := range m.Funcs() {
//		fmt.Printf("%#x %s\n", f.Addr, f.Name)
//	}
//	return m.Write(os.Stdout)
//
// The records are sorted by address, FUNC records do not overlap, and the text depends on
// the files and the Options alone. Damage in a file costs the unit, function or table
// entry that it is in, and Stats counts the damage. Addresses are relative to the address
// that the module is loaded at, unless Options.KeepAddress is set.
package dump

import (
	"cmp"
	"context"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"symkit/cfi"
	"symkit/dump/internal/files"
	"symkit/dump/internal/frames"
	"symkit/dump/internal/funcs"
	"symkit/dump/internal/gofuncs"
	"symkit/dump/internal/load"
	"symkit/dump/internal/losses"
	"symkit/dump/internal/naming"
	"symkit/dump/internal/publics"
	"symkit/dump/internal/record"
	"symkit/dump/internal/symbols"
	"symkit/dump/internal/unwind"
	"symkit/dump/pathmap"
	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/elfx/identity"
	"symkit/internal/debuginfo"
	"symkit/internal/dwarfx"
	"symkit/internal/mem"
	"symkit/internal/par"
	"symkit/limits"
)

// Options select the records that Dump makes. The zero value gives the usual module: OS
// Linux, identity and name from the file, no inlined calls.
type Options struct {
	Jobs       int       // goroutines; 0 means one for each processor
	OS         string    // of the MODULE record; empty means Linux
	ID         string    // of the MODULE record; empty means the file's own
	Name       string    // of the MODULE record; empty means SONAME or file name
	Generator  string    // text of INFO GENERATOR; empty leaves the record out
	Extra      []string  // further INFO records, each "KEY text"
	HeaderOnly bool      // MODULE and INFO records alone
	Inlines    bool      // INLINE and INLINE_ORIGIN records
	NoCFI      bool      // no STACK CFI records
	SFrame     SFrameUse // what .sframe is used for
	Multiple   bool      // mark functions that share an address with an m
	Linkage    bool      // linkage names as they are, not demangled, as in GSYM
	// Companions are the image's files besides the debug file: dwz's supplementary file, split
	// DWARF. If it is nil, the records that need these are left out, and Stats.Warnings says
	// so.
	Companions  *companion.Companions
	Paths       pathmap.Map // rewrites the names of source files
	KeepAddress bool        // addresses as in the file, not relative to its load address
	// Limits bound the cost of the image. The files of the image have the limits that they
	// were opened with.
	Limits limits.Limits
}

// SFrameUse is the use of .sframe.
type SFrameUse uint8

// The uses of .sframe.
const (
	// SFrameAuto uses .sframe for PCs that DWARF does not describe, or describes with
	// a rule that STACK CFI cannot express; elsewhere the two are compared.
	SFrameAuto SFrameUse = iota
	// SFrameOnly uses .sframe instead of DWARF.
	SFrameOnly
	// SFrameOff ignores .sframe.
	SFrameOff
)

// ErrNoCode is the error for a file of a type that has no code to describe.
var ErrNoCode = errors.New("no symbols to dump")

// Dump reads img and returns its records. Damage costs the unit, function or
// FDE it is in and is counted in Module.Stats; the error is for images that
// give no module at all, and begins with the file's path. It is ErrNoCode,
// identity.ErrMachine, identity.ErrNone, elfx.ErrChanged, the cause of
// ctx's end, or a *located.Error. The files of img must stay open until the Module is
// written.
func Dump(ctx context.Context, img *elfx.Image, opt Options) (*Module, error) {
	if opt.Jobs <= 0 {
		opt.Jobs = runtime.GOMAXPROCS(0)
	}
	var m *Module
	err := mem.Guard(func() (err error) {
		m, err = dump(ctx, img, opt, false)
		if errors.Is(err, losses.ErrInTurn) {
			inTurn := opt
			inTurn.Jobs = 1
			debug.FreeOSMemory() // of the first module
			m, err = dump(ctx, img, inTurn, true)
		}
		return err
	})

	// mem.Guard does not report which file changed, so the error names the program.
	if err == mem.ErrChanged {
		err = losses.InFile(img.Main.Path(), err)
	}
	if err == nil {
		err = img.Unchanged()
	}
	if err != nil {
		return nil, err
	}
	m.jobs = opt.Jobs
	return m, nil
}

// dump runs the stages. Each stage returns its losses beside its result. With inTurn, parts that units
// share are made by one unit after the other, and units that do not fit a limit are lost; without it,
// the error is losses.ErrInTurn if units may not fit.
func dump(ctx context.Context, img *elfx.Image, opt Options, inTurn bool) (*Module, error) {
	m, lost, err := newModule(img, opt)
	if err != nil || opt.HeaderOnly {
		return m, err
	}
	m.Stats.add(lost)

	code, bias := debuginfo.CodeMap(img.Main), uint64(0)
	if !opt.KeepAddress {
		bias = img.Main.LoadAddress()
	}
	frameOpt := frames.Options{DWARF: opt.SFrame != SFrameOnly, SFrame: opt.SFrame != SFrameOff, Code: code, LoadAddress: bias, Limits: opt.Limits}
	in, err := readImage(ctx, img, opt, frameOpt, inTurn)
	if err != nil {
		return nil, err
	}
	m.Stats.Units = in.units.Count
	m.Stats.add(in.symsLost)
	m.Stats.add(in.unitsLost)
	m.Stats.FuncShare = Share(in.units.Share)

	// FUNC ranges come first, because lines and inlined calls are clipped to them.
	merged, err := funcs.Merge(ctx, in.units, in.syms, funcs.Options{Jobs: opt.Jobs, LoadAddress: bias, Multiple: opt.Multiple})
	if err != nil {
		return nil, err
	}
	m.Stats.Folded, m.Stats.Clipped, m.Stats.BelowLoad = merged.Folded, merged.Clipped, merged.BelowLoad

	sources := files.New(opt.Paths, img.Size(), opt.Limits, inTurn)
	described, descLost, err := describe(ctx, in.units, merged, in.syms, funcs.SymbolOnly(merged.Funcs, in.syms, in.data, code, bias), sources, opt.Jobs, bias, img, opt.Limits)
	if err != nil {
		return nil, err
	}
	in.units.Release()
	m.Stats.add(descLost)
	m.Stats.Overlapping = described.overlapping
	m.Stats.LineShare, m.Stats.CallShare = Share(described.lineShare), Share(described.callShare)

	fromGo, goLost, err := gofuncs.Read(img.Main, in.units, described.funcs, sources, gofuncs.Options{Code: code, Load: bias, Inlines: opt.Inlines, Limits: opt.Limits})
	if err != nil {
		return nil, err
	}
	m.Stats.add(goLost)
	m.records.Load, m.records.Funcs = bias, mergeRecords(described.funcs, fromGo)
	if in.frames != nil {
		m.addFrames(in, frameOpt)
	}

	err = m.addLists(ctx, in, sources, opt)
	if err != nil {
		return nil, err
	}
	m.Stats.count(&m.records)
	return m, nil
}

// inputs has the results of the stages that read an image.
type inputs struct {
	units  *load.Units
	syms   symbols.Table
	data   []uint64      // addresses of data in code, ascending
	frames *frames.Table // nil without STACK CFI records
	arch   *cfi.Arch     // nil if the registers of the machine are not known

	unitsLost, symsLost, framesLost losses.List
}

// readImage runs the stages that read units, symbols and unwind tables, which do not
// depend on each other.
func readImage(ctx context.Context, img *elfx.Image, opt Options, frameOpt frames.Options, inTurn bool) (*inputs, error) {
	in := &inputs{arch: cfi.ArchOf(img.Main.Machine, img.Main.Class)}
	err := par.Do(ctx, min(3, opt.Jobs),
		func() (err error) {
			in.units, in.unitsLost, err = load.Load(ctx, img, load.Options{
				Jobs: opt.Jobs, Inlines: opt.Inlines, Linkage: opt.Linkage, Code: frameOpt.Code, Companions: opt.Companions, Limits: opt.Limits, InTurn: inTurn})
			return err
		},
		func() error {
			in.syms, in.data, in.symsLost = symbols.Read(img, frameOpt.Code)
			return nil
		},
		func() error {
			if !opt.NoCFI && in.arch != nil {
				in.frames, in.framesLost = frames.List(img, frameOpt)
			}
			return nil
		})
	return in, err
}

// addLists adds origins, PUBLIC records and files, which need all functions, but not
// each other.
func (m *Module) addLists(ctx context.Context, in *inputs, sources *files.Table, opt Options) error {
	r, names := &m.records, in.units.Names
	pubOpt := publics.Options{Load: r.Load, Multiple: opt.Multiple, Linkage: opt.Linkage, Limits: opt.Limits}
	if debuginfo.IsGo(m.img.Main) {
		pubOpt.Language = debuginfo.LangGo
	}
	var listed publics.Listed
	var pubsLost, filesLost losses.List
	err := par.Do(ctx, opt.Jobs,
		func() (err error) {
			r.Origins, err = naming.Order(ctx, opt.Jobs, names, usedOrigins(r.Funcs, names.Limit()))
			return err
		},
		func() error {
			listed, pubsLost = publics.List(m.img, in.syms, r.Funcs, pubOpt)
			return nil
		},
		func() error {
			r.Files, filesLost = sources.Ordered()
			return nil
		})
	if err != nil {
		return err
	}

	r.Publics, r.PublicSizes = listed.Publics, listed.Sizes
	m.Stats.BelowLoad += listed.BelowLoad
	m.Stats.add(pubsLost)
	m.Stats.add(relocLosses(m.img))
	m.Stats.add(filesLost)
	return nil
}

// newModule returns a module that has the identity of img and no records.
func newModule(img *elfx.Image, opt Options) (m *Module, lost losses.List, err error) {
	// A relocatable object, such as a kernel module, is dumped like a linked file.
	main := img.Main
	switch main.Type {
	case elf.ET_EXEC, elf.ET_DYN, elf.ET_REL:
	case elf.ET_CORE:
		return nil, lost, fmt.Errorf("%s: %w: it is a core file, which stackwalk reads; dump the programs that it names", main.Path(), ErrNoCode)
	default:
		return nil, lost, fmt.Errorf("%s: %w: the ELF type is %d, not that of a program, library or object; give one of these", main.Path(), ErrNoCode, main.Type)
	}
	err = main.Complete()
	if err == nil && img.Debug != nil {
		err = img.Debug.Complete()
	}
	if err != nil {
		return nil, lost, err
	}

	m = &Module{OS: cmp.Or(opt.OS, "Linux"), ID: opt.ID, Name: opt.Name, Generator: opt.Generator, Extra: opt.Extra, img: img, jobs: opt.Jobs}
	m.Arch, err = identity.Arch(main)
	if err != nil {
		return nil, lost, err
	}
	id, err := identity.Of(img)
	if m.ID == "" {
		if err != nil {
			return nil, lost, err
		}
		m.ID = identity.ModuleID(id, main.BigEndian)
	}
	if m.Name == "" {
		m.Name, lost = moduleName(main)
	}

	// The build id may have been stripped from the program alone. Without any, CODE_ID is
	// the hash that the id is made of, as in Breakpad's symbol files and minidumps.
	// Options.ID gives an id to modules that have neither.
	m.BuildID = strings.ToUpper(hex.EncodeToString(img.BuildID()))
	m.CodeID = m.BuildID
	if err == nil {
		m.CodeID = strings.ToUpper(hex.EncodeToString(id))
	}
	return m, lost, nil
}

// relocLosses returns an error for each relocation of a relocatable object that could
// not be applied.
func relocLosses(img *elfx.Image) (lost losses.List) {
	for _, f := range []*elfx.File{img.Main, img.Debug} {
		if f == nil {
			continue
		}
		for _, err := range f.RelocLosses() {
			lost.Add(err)
		}
	}
	return lost
}

// addFrames adds the records of unwind tables.
func (m *Module) addFrames(in *inputs, opt frames.Options) {
	t, lost, main := in.frames, in.framesLost, m.img.Main
	m.Stats.RuleShare = Share(t.Share)
	m.Stats.OutsideCode += t.OutsideCode
	m.Stats.BelowLoad += t.BelowLoad
	m.Stats.FDEs = len(t.Entries)
	if len(t.Entries) == 0 && len(opt.Code) > 0 {
		warn := lost.Warn
		if !main.HoldsLoaded() {
			warn = lost.WarnAlone
		}
		m.Stats.NoRules = unwind.WhyNone(m.img, opt)
		warn("%s: no unwind rules: %s", main.Path(), m.Stats.NoRules)
	}
	m.Stats.add(lost)

	bias := opt.LoadAddress
	for _, e := range t.Entries {
		if e.Signal {
			m.records.Signals = append(m.records.Signals, dwarfx.Range{Lo: e.Lo - bias, Hi: e.Hi - bias})
		}
	}
	m.records.Unwind = unwind.New(t, in.arch, main.BigEndian, bias, m.jobs)
}

// usedOrigins reports for each name, by its number, whether a call of funcs has it.
func usedOrigins(funcs []record.Func, limit uint32) []bool {
	used := make([]bool, limit)
	for i := range funcs {
		for k := range funcs[i].Calls.List {
			used[funcs[i].Calls.List[k].Origin] = true
		}
	}
	return used
}
