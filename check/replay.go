package check

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"symkit/elfx"
)

// replay is one run of Replay.
type replay struct {
	ctx   context.Context
	c     *collector
	img   *elfx.Image
	opt   Options
	s     *symFile
	bias  uint64 // added to an address of the symbol file gives one of the ELF file
	code  ranges
	dw    *dwarfData
	names *nameTable
	paths *pathTable

	symFiles []uint32 // numbers of pathTable, by index of FILE records, then anyPath
	origins  []string // normalised names of INLINE_ORIGIN records
	order    []uint32 // FUNC records by address
	publics  []uint32 // PUBLIC records by address

	mu    sync.Mutex
	truth []truthFunc
	// functionCount is the number of functions that truth has the ranges of.
	functionCount uint32
	lines         []funcOutcome // by index of FUNC
	inlines       []funcOutcome
	// holes: something of the debug information could not be read, so that a
	// FUNC that no function accounts for may be right.
	holes bool
}

// truthFunc is one range of a function of the DWARF.
type truthFunc struct {
	lo, hi uint64
	name   uint32 // of names
	fn     uint32 // which function, for those of several ranges
}

func replayFile(ctx context.Context, img *elfx.Image, sym []byte, opt Options) (*Report, error) {
	c := newCollector(opt)
	r := &replay{ctx: ctx, c: c, img: img, opt: opt, names: newNameTable(), paths: newPathTable()}
	if r.opt.Jobs <= 0 {
		r.opt.Jobs = runtime.GOMAXPROCS(0)
	}
	if err := r.prepare(); err != nil {
		return nil, err
	}
	var lintErr, dwarfErr error
	var g errgroup.Group
	g.Go(func() error {
		return elfx.Guard(func() error {
			r.progress("reading the symbol file", 0, 1)
			r.s, lintErr = lint(c, sym)
			return nil
		})
	})
	g.Go(func() error {
		return elfx.Guard(func() error { r.dw, dwarfErr = openDWARF(img.DWARF()); return nil })
	})
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if lintErr != nil {
		return nil, lintErr
	}
	r.index()
	for _, step := range []func() error{
		r.module,
		func() error { return r.functions(dwarfErr) },
		r.checkPublics,
		r.unwind,
	} {
		if err := step(); err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	rep := c.report()
	rep.Coverage = r.s.coverage(r.relativeCode())
	return rep, nil
}

// prepare finds out what addresses mean.
func (r *replay) prepare() error {
	main := r.img.Main
	if err := notVerifiable(main); err != nil {
		return err
	}
	if !r.opt.KeepAddress {
		r.bias = main.LoadAddress()
	}
	r.code = codeOf(main)
	return nil
}

// relativeCode is the code in addresses of the symbol file.
func (r *replay) relativeCode() ranges {
	out := make(ranges, 0, len(r.code))
	for _, x := range r.code {
		if x.hi > r.bias {
			out = append(out, addrRange{max(x.lo, r.bias) - r.bias, x.hi - r.bias})
		}
	}
	return out
}

// index prepares the symbol file's records for looking up.
func (r *replay) index() {
	s := r.s
	for i := range s.files.list {
		r.symFiles = append(r.symFiles, r.paths.id(string(s.files.list[i].text)))
	}
	r.symFiles = append(r.symFiles, anyPath)
	for i := range s.origins.list {
		r.origins = append(r.origins, normalise(string(s.origins.list[i].text)))
	}
	r.order = byAddr(len(s.funcs), func(i uint32) uint64 { return s.funcs[i].addr })
	r.publics = byAddr(len(s.publics), func(i uint32) uint64 { return s.publics[i].addr })
	r.lines = make([]funcOutcome, len(s.funcs))
	r.inlines = make([]funcOutcome, len(s.funcs))
}

// fileIndex is the place of a FILE number in symFiles.
func (r *replay) fileIndex(num uint32) uint32 {
	if i, ok := r.s.files.index(num); ok {
		return i
	}
	return uint32(len(r.symFiles) - 1)
}

// at are the FUNC records that begin at an address of the ELF file, as
// indices.
func (r *replay) at(addr uint64) []uint32 {
	if addr < r.bias {
		return nil
	}
	addr -= r.bias
	lo, hi := 0, len(r.order)
	for lo < hi {
		mid := (lo + hi) / 2
		if r.s.funcs[r.order[mid]].addr < addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	end := lo
	for end < len(r.order) && r.s.funcs[r.order[end]].addr == addr {
		end++
	}
	return r.order[lo:end]
}

func (r *replay) progress(stage string, done, total int) {
	if r.opt.Progress != nil {
		r.opt.Progress(stage, done, total)
	}
}

// worker is the state of one goroutine.
type worker struct {
	r          *replay
	same       map[uint64]bool // origin and name: acceptable
	calls      []call
	symCalls   []call
	borders    []uint64
	have, want []call
}

// functions compares FUNC, line and INLINE records with the DWARF, unit by
// unit.
func (r *replay) functions(dwarfErr error) error {
	c, s := r.c, r.s
	c.begin(CheckFuncs, "functions")
	c.begin(CheckNames, "functions")
	c.begin(CheckLines, "PCs")
	c.begin(CheckInlines, "PCs")
	r.checkCode()
	if len(s.lines) == 0 {
		c.state(CheckLines, NotInFile, "")
	}
	if len(s.inlines) == 0 {
		c.state(CheckInlines, NotInFile, "")
	}
	if dwarfErr != nil || r.dw == nil || len(r.dw.units) == 0 {
		state, note := NotInELF, "no debug information"
		if dwarfErr != nil {
			state, note = NotVerified, dwarfErr.Error()
		}
		for _, name := range []string{CheckFuncs, CheckNames, CheckLines, CheckInlines} {
			c.state(name, state, note)
		}
		c.unverified(CheckFuncs, uint64(len(s.funcs)), "")
		c.unverified(CheckLines, uint64(len(s.lines)), "")
		return nil
	}
	if alt, err := r.img.DWARF().AltLink(); err == nil && alt.Path != "" {
		r.hole(CheckNames, 1, "names in a supplementary file (dwz) are not read")
	}
	if err := r.units(); err != nil {
		return err
	}
	r.reportFuncs()
	return nil
}

// hole says that part of the DWARF could not be read.
func (r *replay) hole(check string, n uint64, why string) {
	r.mu.Lock()
	r.holes = true
	r.mu.Unlock()
	r.c.unverified(check, n, why)
}

// units compares all units, several at once.
func (r *replay) units() error {
	var next, done atomic.Int64
	g, ctx := errgroup.WithContext(r.ctx)
	n := int64(len(r.dw.units))
	for range r.opt.Jobs {
		w := &worker{r: r, same: map[uint64]bool{}}
		g.Go(func() error {
			return elfx.Guard(func() error {
				for i := next.Add(1) - 1; i < n; i = next.Add(1) - 1 {
					if err := w.unit(ctx, &r.dw.units[i]); err != nil {
						return err
					}
					r.progress("functions, lines, inlined calls", int(done.Add(1)), int(n))
				}
				return nil
			})
		})
	}
	return g.Wait()
}

// unit compares what one unit describes.
func (w *worker) unit(ctx context.Context, u *unitHeader) error {
	r := w.r
	if u.kind == utType || u.kind == utSplitType {
		return nil
	}
	s, err := r.dw.scanUnit(ctx, u, r.code)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		r.hole(CheckFuncs, 1, fmt.Sprintf("unit at %#x: %v", u.off, err))
	}
	for _, err := range s.errs {
		r.hole(CheckFuncs, 1, fmt.Sprintf("unit at %#x: %v", u.off, err))
	}
	if s.root == nil {
		return nil
	}
	if isSplit(s.root) {
		r.hole(CheckFuncs, 1, "units whose functions are in split DWARF files are not read")
	}
	if len(s.funcs) == 0 {
		return nil
	}
	far := r.dw.Reader()
	truth := make([]truthFunc, 0, len(s.funcs))
	for i := range s.funcs {
		f := &s.funcs[i]
		name := r.names.id(s.naming(s.decls[f.decl].off, far))
		for _, x := range s.ranges[f.ranges.from:f.ranges.to] {
			truth = append(truth, truthFunc{x.lo, x.hi, name, uint32(i)})
		}
	}
	r.mu.Lock()
	for i := range truth {
		truth[i].fn += r.functionCount
	}
	r.functionCount += uint32(len(s.funcs))
	r.truth = append(r.truth, truth...)
	r.mu.Unlock()
	if len(r.s.lines) == 0 && len(r.s.inlines) == 0 {
		return nil
	}
	lines, err := r.dw.lines(u, s.root, r.code, r.paths)
	if err != nil {
		r.c.unverified(CheckLines, 1, fmt.Sprintf("line table of the unit at %#x: %v", u.off, err))
		return nil
	}
	if len(r.s.lines) > 0 {
		w.lines(s, &lines)
	}
	if len(r.s.inlines) > 0 {
		w.inlines(s, &lines, newOriginNames(r, s))
	}
	return nil
}

// lines compares the lines of the FUNC records that the unit's functions have.
func (w *worker) lines(s *unitScan, t *unitLines) {
	r := w.r
	for _, x := range s.funcRanges() {
		for _, i := range r.at(x.lo) {
			o := r.compareLines(&r.s.funcs[i], t.from(x.lo))
			r.mu.Lock()
			r.lines[i].better(o)
			r.mu.Unlock()
		}
	}
}

// funcRanges are the ranges of all functions.
func (s *unitScan) funcRanges() (all []addrRange) {
	for i := range s.funcs {
		all = append(all, s.ranges[s.funcs[i].ranges.from:s.funcs[i].ranges.to]...)
	}
	return all
}

// inlines compares the inlined calls of the FUNC records likewise.
func (w *worker) inlines(s *unitScan, t *unitLines, names *originNames) {
	r := w.r
	for i := range s.funcs {
		f := &s.funcs[i]
		for _, x := range s.ranges[f.ranges.from:f.ranges.to] {
			for _, fi := range r.at(x.lo) {
				sf := &r.s.funcs[fi]
				w.calls = w.truthCalls(w.calls[:0], s, f, sf, t, names)
				w.symCalls = r.symCalls(sf, w.symCalls[:0])
				o := w.compareCalls(w.symCalls, w.calls)
				r.mu.Lock()
				r.inlines[fi].better(o)
				r.mu.Unlock()
			}
		}
	}
}

// truthCalls collects the inlined calls of f, clipped to sf.
func (w *worker) truthCalls(calls []call, s *unitScan, f *scanFunc, sf *symFunc, t *unitLines, names *originNames) []call {
	lo, hi := sf.addr+w.r.bias, sf.end+w.r.bias
	for i := f.inlines.from; i < f.inlines.to; i++ {
		in := &s.inlines[i]
		for _, x := range s.ranges[in.ranges.from:in.ranges.to] {
			if l, h := max(x.lo, lo), min(x.hi, hi); l < h {
				calls = append(calls, call{
					depth: in.depth, lo: l, hi: h,
					callLine: numberOf(uint32(min(uint64(in.callLine), 1<<32-1))),
					file:     t.file(in.callFile), name: names.id(in.origin),
				})
			}
		}
	}
	sortCalls(calls)
	return nest(calls)
}

// nest clips calls to those one level up: what lies outside has no caller.
// (DWARF 2 has no ranges: gcc gives a call one range of several there, and not
// the same part to the calls in it.) calls are sorted.
func nest(calls []call) []call {
	out := calls[:0:0]
	var above ranges // the PCs of the level above
	for len(calls) > 0 {
		n := level(calls, calls[0].depth)
		own := make(ranges, 0, n)
		for _, c := range calls[:n] {
			if c.depth == 0 {
				out, own = append(out, c), append(own, addrRange{c.lo, c.hi})
				continue
			}
			for i := above.find(c.lo); i < len(above) && above[i].lo < c.hi; i++ {
				part := c
				part.lo, part.hi = max(c.lo, above[i].lo), min(c.hi, above[i].hi)
				out, own = append(out, part), append(own, addrRange{part.lo, part.hi})
			}
		}
		above, calls = union(own), calls[n:]
	}
	return out
}
