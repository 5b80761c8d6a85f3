package check

import (
	"cmp"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"symkit/cfi"
	"symkit/check/internal/collect"
	"symkit/check/internal/linter"
	"symkit/check/internal/naming"
	"symkit/check/internal/pcs"
	"symkit/check/internal/symfile"
	"symkit/check/internal/truth"
	"symkit/check/internal/truth/dwarfinfo"
	"symkit/check/internal/unwind"
	"symkit/check/report"
	"symkit/elfx"
	"symkit/internal/par"
	"symkit/internal/wire"
	"symkit/limits"
)

// replay is one run of Replay.
type replay struct {
	ctx   context.Context
	c     *collect.Collector
	img   *elfx.Image
	opt   Options
	s     *symfile.File
	bias  uint64 // address of the ELF file minus that of the symbol file
	code  pcs.Set
	dw    *dwarfinfo.Info
	names *naming.Table
	paths *naming.Paths

	symFiles []uint32     // numbers in paths, by index of FILE records, then naming.AnyPath
	body     symfile.Body // of the FUNC that is being reported

	source string // the source of the truth, for findings
	other  string // see report.Report.OtherModule
	noInfo string // see report.Report.NoDebugInfo

	mu           sync.Mutex
	tooManyFuncs bool // more than the memory of unit records allows; then truth is empty
	truth        []truthFunc
	// unitNames are the names of units, by the number in truthFunc, if Options.Map is set; the
	// first is that of functions without a unit.
	unitNames []string
	// noFunc are the functions without a FUNC, if Options.Map is set.
	noFunc []report.Function
	// functionCount is the number of functions whose ranges are in truth.
	functionCount uint32
	lines         []funcOutcome // by index of FUNC
	inlines       []funcOutcome
	mostDiffs     int // the result of the function mostDiffs
	// otherLines are the outcomes of FUNC records compared with the line tables of units that have
	// code at the FUNC, but no function that begins there.
	otherLines []funcOutcome
	// endsLines states of FUNC records that a sequence of a line table ends where they do.
	endsLines []bool
	covered   pcs.Set // the FUNC records, in addresses of the symbol file
	// uncovered is the code that has lines and is not all in FUNC records.
	uncovered []pcs.Range
	open      *openList // indices of FUNC records whose outcome in otherLines is not right yet
	pool      *unitPool
	matches   []atomic.Uint64 // by index of INLINE_ORIGIN: the last answer of likeness about the name
	// holes states that part of the debug information could not be read, so that a FUNC without a
	// function may be right.
	holes bool
	// noLines states that the symbol file has no line records at all.
	noLines bool
	// hidden has the reason why some lines or inlined calls were not compared, by check.
	hidden map[string]string

	spent atomic.Int64 // steps of comparing so far, see exhausted

	symbols *symbols
}

// truthFunc is one range of a function of the DWARF.
type truthFunc struct {
	lo, hi uint64
	name   uint32 // number in names
	fn     uint32 // number of the function, the same for all its ranges
	unit   uint32 // index of unitNames, if Options.Map is set
}

func replayFile(ctx context.Context, img *elfx.Image, sym []byte, opt Options) (*report.Report, error) {
	c := collect.New(opt.Options)
	r := &replay{
		ctx: ctx, c: c, img: img, opt: opt, source: "DWARF",
		names: naming.NewTable(), paths: naming.NewPaths(), hidden: map[string]string{}, unitNames: []string{""},
	}
	r.names.Most = opt.Limits.Max(limits.Names, img.Size()) // exceeded returns the error
	r.symbols = newSymbols(r)
	if r.opt.Jobs <= 0 {
		r.opt.Jobs = runtime.GOMAXPROCS(0)
	}
	if err := r.prepare(); err != nil {
		return nil, err
	}

	// Two tasks run at the same time. The first reads and lints the symbol file, waits until the
	// second has loaded the debug information and the symbols, and makes the checks. The second then
	// inflates .debug_info while the first compares the units.
	var lintErr, dwarfErr error
	r.dw = dwarfinfo.Open(img.DWARF(), opt.Limits)
	if r.dw != nil {
		defer r.dw.Close()
	}
	loaded, complete := make(chan bool), false
	err := par.Do(ctx, 2, func() error {
		if r.dw != nil {
			defer r.dw.Stop()
		}
		r.progress("reading the symbol file", 0, 1)
		arch := cfi.ArchOf(img.Main.Machine, img.Main.Class)
		r.s, lintErr = linter.Run(c, symfile.Text{Bytes: sym, Drop: opt.Drop}, arch, opt.Limits)

		select {
		case <-loaded:
		case <-ctx.Done(): // the other task may not have begun
			return context.Cause(ctx)
		}

		// The other task has met the end of a truncated file, and returns that error. Nothing
		// inflates .debug_info.
		if !complete {
			return nil
		}
		if lintErr != nil {
			return lintErr
		}
		return r.steps(dwarfErr)
	}, func() error {
		func() {
			defer close(loaded)
			dwarfErr = r.loadDebugInfo()
			r.symbols.read()
			complete = true
		}()

		if dwarfErr == nil && r.dw != nil {
			r.dw.Inflate(ctx)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}

	// The section of a field that was not relocated is uncertain.
	for _, f := range []*elfx.File{img.Main, img.Debug} {
		if f != nil {
			for _, err := range slices.Concat(f.RelocLosses(), truth.Unrelocated(f)) {
				c.Unverified(relocatedCheck(err), 1, err.Error())
			}
		}
	}

	rep := c.Report()
	if rep.Check(report.CheckModule) != nil {
		rep.OtherModule = r.other
	}
	if rep.Check(report.CheckFuncs) != nil {
		rep.NoDebugInfo = r.noInfo
	}
	rep.Coverage = r.s.Coverage(r.relativeCode())
	if opt.Map {
		rep.Map = r.mapOf()
		r.addContext(rep)
	}
	return rep, nil
}

// steps makes the checks, each of which adds to the report. dwarfErr is the reason if the debug
// information cannot be read.
func (r *replay) steps(dwarfErr error) error {
	r.index()
	err := r.module()
	if err != nil {
		return err
	}
	reportFuncs, err := r.functions(dwarfErr)
	if err != nil {
		return err
	}
	if r.symbols.over != nil {
		r.hole(report.CheckFuncs, 1, r.symbols.over.Error()) // FUNC records may be of these symbols
	}

	// The other checks need no debug information, and do not depend on each other. The first begins
	// first, because it mostly needs one goroutine.
	return par.Do(r.ctx, r.opt.Jobs,
		func() error { reportFuncs(); return nil },
		func() error {
			return unwind.Compare(r.ctx, &unwind.Input{
				Collector: r.c, Sym: r.s, Image: r.img, Code: r.code, Bias: r.bias, Jobs: r.opt.Jobs, Progress: r.progress, Limits: r.opt.Limits,
			})
		},
		r.checkPublics,
	)
}

// loadDebugInfo reads sections of the DWARF, and dwz's supplementary file.
func (r *replay) loadDebugInfo() error {
	if r.dw == nil {
		return nil
	}
	err := r.dw.Load(false)
	others := r.opt.Companions
	if err != nil || others == nil || others.Alt == nil {
		return err
	}
	r.dw.Alt = dwarfinfo.OpenAlt(others.Alt, r.opt.Limits)
	if r.dw.Alt == nil {
		return nil
	}
	err = cmp.Or(r.dw.Alt.Load(true), r.dw.Alt.List(r.ctx))
	if err != nil {
		r.c.Unverified(report.CheckNames, 1, fmt.Sprintf("%s: %v", others.Alt.Path(), err))
	}
	return nil
}

// relocatedCheck returns the check whose truth is in the section with fields that could not be
// relocated.
func relocatedCheck(err error) string {
	e, ok := errors.AsType[*wire.Error](err)
	switch {
	case !ok:
	case e.Section == ".debug_line" || e.Section == ".debug_line_str":
		return report.CheckLines
	case e.Section == ".eh_frame" || e.Section == ".debug_frame" || e.Section == ".sframe":
		return report.CheckCFI
	}
	return report.CheckFuncs
}

// prepare finds the offset between addresses of the two files, and the code of the ELF file.
func (r *replay) prepare() error {
	main := r.img.Main
	if main.Type == elf.ET_CORE {
		const typeAt = 16 // of e_type (gABI, "ELF Header")
		return fmt.Errorf("%s: %w", main.Path(), &wire.Error{Section: "ELF header", Offset: typeAt, Err: ErrNoCode})
	}
	if !r.opt.KeepAddress {
		r.bias = main.LoadAddress()
	}
	r.code = truth.CodeOf(main)
	return nil
}

// relativeCode returns the code in addresses of the symbol file.
func (r *replay) relativeCode() pcs.Set {
	out := make(pcs.Set, 0, len(r.code))
	for _, x := range r.code {
		if x.Hi > r.bias {
			out = append(out, pcs.Range{Lo: max(x.Lo, r.bias) - r.bias, Hi: x.Hi - r.bias})
		}
	}
	return out
}

// index prepares the symbol file's records for look-ups: FUNC and PUBLIC records are sorted by
// address.
func (r *replay) index() {
	s := r.s
	for i := range s.Files.List {
		r.symFiles = append(r.symFiles, r.paths.ID(string(s.Files.List[i].Text)))
	}
	r.symFiles = append(r.symFiles, naming.AnyPath)

	// All outcomes are kept by index of the sorted FUNC records.
	s.Funcs, s.Publics = pcs.Sorted(s.Funcs), pcs.Sorted(s.Publics)
	r.mostDiffs = mostDiffs(len(s.Funcs))
	r.lines = make([]funcOutcome, len(s.Funcs))
	r.inlines = make([]funcOutcome, len(s.Funcs))
	r.otherLines = make([]funcOutcome, len(s.Funcs))
	r.endsLines = make([]bool, len(s.Funcs))
	r.covered = pcs.SetOf(s.Funcs)
	r.open = newOpenList(len(s.Funcs))
	r.matches = make([]atomic.Uint64, len(s.Origins.List))
}

// fileIndex returns the index in symFiles of a FILE number.
func (r *replay) fileIndex(num uint32) uint32 {
	if i, ok := r.s.Files.Index(num); ok {
		return i
	}
	return uint32(len(r.symFiles) - 1)
}

// at returns which FUNC records begin at an address of the ELF file, as indices [first, end).
func (r *replay) at(addr uint64) (first, end int) {
	if addr < r.bias {
		return 0, 0
	}
	return begins(r.s.Funcs, addr-r.bias)
}

// hasPublic reports whether a PUBLIC record is at an address of the ELF file.
func (r *replay) hasPublic(addr uint64) bool {
	first, end := begins(r.s.Publics, addr-r.bias)
	return first < end
}

// begins returns which elements of a sorted list begin at addr, as indices [first, end).
func begins[T any, P pcs.Ranged[T]](list []T, addr uint64) (first, end int) {
	first = sort.Search(len(list), func(i int) bool { return P(&list[i]).PCs().Lo >= addr })
	for end = first; end < len(list) && P(&list[end]).PCs().Lo == addr; {
		end++
	}
	return first, end
}

// maxComparisons bounds how often each record is compared. Units and functions of a damaged or
// malicious file can all describe the same code; in sound files each record is compared only a few
// times.
const maxComparisons = 64

// exhausted reports whether comparing has to end: because ctx has ended, or because the file
// describes the same code too often. In the second case the rest counts as not verified.
func (r *replay) exhausted(check string) bool {
	records := len(r.s.Funcs) + r.s.Lines + r.s.Ranges
	if r.spent.Load() <= int64(maxComparisons*records+1<<24) {
		return r.ctx.Err() != nil
	}
	r.hide(check, noteTooOften)
	return true
}

const noteTooOften = "the same code is described too often"

func (r *replay) progress(stage string, done, total int) {
	if r.opt.Progress != nil {
		r.opt.Progress(stage, done, total)
	}
}
