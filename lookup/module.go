package lookup

import (
	"cmp"
	"context"
	"debug/elf"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/internal/debuginfo"
	"symkit/internal/dwarfx"
	"symkit/internal/filename"
	"symkit/internal/limitof"
	"symkit/internal/mem"
	"symkit/internal/par"
)

// A module knows which unit covers an address from the root DIEs alone (spans.go). The unit is decoded
// (decode.go) when an address in it is asked for, and then kept: Frames of a decoded unit reads the unit
// alone, without a lock. One slot belongs to each unit of the file. Of a large compressed .debug_info, units are read
// while it is inflated (stream.go), and as far as they are asked for.

// module is an ELF file.
type module struct {
	image  *elfx.Image
	others *companion.Companions
	opt    Options
	pkg    *debuginfo.Package // or nil
	roots
	tables
	// inflated is the bytes of sections that are compressed in the file.
	inflated int64
	// flat and flatLines are .debug_info and .debug_line, nil if they are compressed.
	flat, flatLines *elfx.Section

	paths   paths
	workers sync.Pool    // of *decoder
	clock   atomic.Int64 // counts decoded units
	used    atomic.Int64 // bytes of decoded units

	dropping sync.Mutex
	losses   losses
}

// tables are read when they are first asked for.
type tables struct {
	table func() *symbolTable
	plt   func() slotTable
	goTab func() *goTable // nil if there is none
}

// slot is a unit of the file, decoded or not.
type slot struct {
	root    *dwarfx.Unit
	decoded atomic.Pointer[unit]
	last    atomic.Int64 // the module's clock as of the last use
	mu      sync.Mutex   // held while the unit is decoded
	told    bool         // the damage of the unit is among the losses
}

// newModule reads the sections of m and the roots of its units.
func newModule(ctx context.Context, m *companion.Module, opt Options) (*module, error) {
	// A goroutine that reads less than jobSize saves no time, and takes memory.
	const jobSize = 4 << 20
	size := m.Image.Size()
	opt.Jobs = min(cmp.Or(opt.Jobs, runtime.GOMAXPROCS(0)), 1+int(size/jobSize))

	most := opt.Limits.Max(limitof.LookupUnit, size)
	bound := bound{int64(min(most, math.MaxInt64)), opt.Limits.Exceeded(limitof.LookupUnit, size)}
	if opt.Memory <= 0 {
		opt.Memory = bound.bytes
	} else if opt.Memory/2 < bound.bytes { // several units are decoded at the same time
		bound.bytes, bound.err = opt.Memory/2, errMemory
	}
	x := &module{image: m.Image, others: m.Companions, opt: opt, paths: paths{most: opt.Limits.Max(limitof.Names, m.Image.Size()), short: opt.Relative}}
	x.workers.New = func() any { return newDecoder(x.others, bound, &x.paths) }
	x.table = sync.OnceValue(x.readTable)
	x.plt = sync.OnceValue(x.readPLT)
	x.goTab = sync.OnceValue(x.readGo)
	err := mem.Guard(func() error { return x.open(ctx) })
	if err != nil {
		x.close()
		return nil, err
	}
	x.losses.add(x.missing())
	return x, nil
}

// missing returns a warning if units refer to a supplementary file that was not found.
func (x *module) missing() error {
	f := x.image.DWARF()
	link, err := companion.ReadAltLink(f)
	if err != nil || link.Path == "" || x.others != nil && x.others.Alt != nil || len(x.known.Load().slots) == 0 {
		return nil
	}
	err = fmt.Errorf("%s: the supplementary file %q was not found: functions that are described there have the names of symbols, or none", f.Path(), link.Path)
	return companion.Warning{Problem: companion.Missing, Path: f.Path(), Err: err}
}

// close releases what the module has besides its files.
func (x *module) close() {
	if x.stream != nil {
		x.stream.close()
	}
}

// open reads the sections, and the roots of all units or, in a stream, of the first ones.
func (x *module) open(ctx context.Context) error {
	f := x.image.DWARF()
	code := debuginfo.CodeMap(x.image.Main)
	x.known.Store(&index{})
	streams, err := x.openStream(ctx, f, code)
	if err != nil {
		return err
	}
	if streams {
		for len(x.known.Load().slots) == 0 && err == nil && !x.known.Load().whole {
			_, err = x.readMore(ctx, x.known.Load())
		}
		return err
	}

	s, errs, err := debuginfo.ReadAll(ctx, x.opt.Jobs, f, "", x.opt.Limits)
	if err != nil {
		return err
	}
	x.losses.add(errs...)
	x.inflated = inflated(f)
	x.flat, x.flatLines = flat(f.Section(".debug_info")), flat(f.Section(".debug_line"))
	data, errs := dwarfx.Open(s, code)
	x.data, x.entries = data, data.RootEntries()
	x.losses.addIn(f, errs...)

	// What the units refer to.
	if x.others != nil && x.others.Alt != nil {
		s, errs, err := debuginfo.ReadAll(ctx, x.opt.Jobs, x.others.Alt, "", x.opt.Limits)
		if err != nil {
			return err
		}
		x.losses.add(errs...)
		alt, errs := dwarfx.Open(s, code)
		x.losses.addIn(x.others.Alt, errs...)
		data.SetAlt(alt)
	}
	return x.index(ctx, true)
}

// flat returns s, or nil if its bytes are not those in the file.
func flat(s *elfx.Section) *elfx.Section {
	if s == nil || !isFlat(s) {
		return nil
	}
	return s
}

// isFlat reports whether the bytes of a section are those in the file.
func isFlat(s *elfx.Section) bool {
	size, err := s.UncompressedSize()
	return err == nil && size == s.Size && s.File().Type != elf.ET_REL
}

// inflated returns the bytes of the sections of f that DWARF is in and that are compressed.
func inflated(f *elfx.File) (bytes int64) {
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Present() && strings.HasPrefix(s.Name, ".debug_") && !isFlat(s) {
			size, _ := s.UncompressedSize() // of a damaged section it is 0
			bytes += int64(min(size, 1<<40))
		}
	}
	return bytes
}

// readTable reads the symbol tables. If the file changes meanwhile, the table is empty.
func (x *module) readTable() *symbolTable {
	table := newTable(nil, "")
	err := mem.Guard(func() error {
		table = readSymbols(x.image, x.opt.Limits, x.losses.add)
		return nil
	})
	x.losses.addIn(x.image.Main, err)
	return table
}

// readPLT is readTable for the slots of procedure linkage tables.
func (x *module) readPLT() (slots slotTable) {
	table := x.table()
	err := mem.Guard(func() error {
		slots = readSlots(x.image.Main, x.image.Size(), table, x.opt.Limits, x.losses.add)
		return nil
	})
	x.losses.addIn(x.image.Main, err)
	return slots
}

// readGo is readTable for the table of functions of Go's linker.
func (x *module) readGo() *goTable {
	var table *goTable
	err := mem.Guard(func() (err error) {
		table, err = x.openGo()
		return err
	})
	x.losses.addIn(x.image.Main, err)
	return table
}

// goFrames is frames of the code that only Go's linker describes.
func (x *module) goFrames(dst []Frame, addr uint64) ([]Frame, error) {
	t := x.goTab()
	if t == nil {
		return dst, nil
	}
	err := mem.Guard(func() (err error) {
		dst, err = t.frames(dst, addr)
		return err
	})
	if err != nil {
		err = &filename.Error{Path: x.image.Main.Path(), Err: err}
		x.losses.add(err)
	}
	return dst, err
}

// frames appends the frames of a virtual address.
func (x *module) frames(dst []Frame, addr uint64) ([]Frame, error) {
	u, _, err := x.unitAt(addr)
	if u == nil {
		return x.framesIn(dst, nil, &nowhere, addr, err)
	}
	return x.framesIn(dst, u, u.at(addr), addr, err)
}

// framesIn is frames for an address in a spot of a unit, which is nil if there is none. err is the damage of the unit.
func (x *module) framesIn(dst []Frame, u *unit, here *spot, addr uint64, err error) ([]Frame, error) {
	from := len(dst)
	if u != nil {
		dst = u.frames(dst, here)
	}
	if len(dst) == from && err == nil {
		dst, err = x.goFrames(dst, addr)
	}

	// The symbol names what DWARF does not. Compilers give C++'s static functions no linkage name in DWARF.
	last := len(dst) - 1
	if last >= from && (dst[last].Name != "" || dst[last].Linkage != "") {
		f := &dst[last]
		if f.Linkage == "" && u != nil && u.mangled {
			f.Linkage = x.table().linkage(f.Start, addr)
		}
		return dst, err
	}
	sym, ok := x.table().at(addr)
	stub := false
	if !ok && last < from {
		sym, stub = x.plt().at(addr)
		ok = stub
	}
	if !ok || sym.Data {
		return dst, err
	}
	if last < from {
		dst = append(dst, Frame{Stub: stub})
		last = len(dst) - 1
	}
	dst[last].Name, dst[last].Linkage, dst[last].Start = sym.Name, sym.Name, sym.Addr
	return dst, err
}

// unitAt returns the unit that covers a virtual address, decoded, and its root. It is nil if there is none.
func (x *module) unitAt(addr uint64) (u *unit, root *dwarfx.Unit, err error) {
	k := x.known.Load()
	s, _ := k.slotAt(addr, 0)
	for s == nil && !k.whole {
		searched := len(k.parts)
		k, err = x.readMore(context.Background(), k)
		if err != nil {
			return nil, nil, err
		}
		if k.whole {
			searched = 0 // the parts are one
		}
		s, _ = k.slotAt(addr, searched)
	}
	if s == nil {
		return nil, nil, nil
	}
	u, err = x.unit(s)
	return u, s.root, err
}

// decodedAt returns the unit that covers a virtual address, or nil if it is not decoded without damage, and where its code
// ends.
func (x *module) decodedAt(addr uint64) (u *unit, end uint64) {
	k := x.known.Load()
	if !k.whole {
		return nil, 0 // a unit in an earlier part may have the next address
	}
	s, end := k.slotAt(addr, 0)
	if s == nil {
		return nil, 0
	}
	u = x.decoded(s)
	if u != nil && u.err != nil {
		u = nil
	}
	return u, end
}

func (x *module) symbolAt(addr uint64) (Symbol, bool) { return x.table().at(addr) }

func (x *module) symbols(dst []Symbol, name string, n int) []Symbol {
	from := len(dst)
	dst = x.table().named(dst, name, n)
	if len(dst) > from {
		return dst
	}
	t := x.goTab()
	if t != nil {
		_ = mem.Guard(func() error { // a file that has changed has no such symbol
			dst = t.names().named(dst, name, n)
			return nil
		})
	}
	return dst
}

// decoded returns the unit of a slot, or nil if it is not decoded, and notes that the unit is used.
func (x *module) decoded(s *slot) *unit {
	u := s.decoded.Load()
	now := x.clock.Load()
	if u != nil && s.last.Load() != now { // goroutines that share the unit would wait for each other's writes
		s.last.Store(now)
	}
	return u
}

// unit returns the unit of a slot, decoded. It is nil if nothing of it can be read.
func (x *module) unit(s *slot) (*unit, error) {
	u := x.decoded(s)
	if u != nil {
		return u, u.err
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	u = s.decoded.Load()
	if u != nil {
		return u, u.err
	}
	d := x.workers.Get().(*decoder)
	defer x.workers.Put(d)
	var err error
	guarded := mem.Guard(func() error {
		x.units.RLock()
		defer x.units.RUnlock()
		d.pkg = x.pkg
		u, err = d.unit(s.root)
		return nil
	})
	err = cmp.Or(guarded, err)
	if err != nil {
		err = fmt.Errorf("%s: %w", x.image.DWARF().Path(), err)
	}
	if err != nil && !s.told {
		s.told = true
		x.losses.add(err)
	}
	if guarded != nil {
		return nil, err // the file may be there again at the next try
	}
	u.err = err

	// What was read of the file is not needed again, unless other units refer to it.
	root := s.root
	if x.flat != nil {
		x.flat.Discard(root.Off, root.End)
	}
	if x.flatLines != nil && root.HasLines {
		x.flatLines.Discard(root.LineOff, root.LineOff+x.data.LineSize(root))
	}
	s.last.Store(x.clock.Add(1))
	s.decoded.Store(u)
	used := x.used.Add(u.bytes())
	if used > x.opt.Memory {
		x.drop(s)
	}
	return u, err
}

// drop drops the units that have not been used for the longest time, but for that of one slot, until three
// quarters of the memory are used.
func (x *module) drop(but *slot) {
	x.dropping.Lock()
	defer x.dropping.Unlock()
	var kept []*slot
	for _, s := range x.known.Load().slots {
		if s != but && s.decoded.Load() != nil {
			kept = append(kept, s)
		}
	}
	slices.SortFunc(kept, func(a, b *slot) int { return cmp.Compare(a.last.Load(), b.last.Load()) })
	for _, s := range kept {
		if x.used.Load() <= x.opt.Memory/4*3 {
			return
		}
		u := s.decoded.Swap(nil)
		if u != nil {
			x.used.Add(-u.bytes())
		}
	}
}

// load decodes all units that cover code.
func (x *module) load(ctx context.Context) error {
	k, err := x.all(ctx)
	if err != nil {
		return err
	}
	wanted := make([]bool, len(k.slots))
	for _, s := range slices.Concat(k.parts...) {
		wanted[s.unit] = true
	}
	return par.For(ctx, x.opt.Jobs, len(k.slots), func(i int) error {
		if wanted[i] && x.used.Load() < x.opt.Memory/4*3 {
			_, _ = x.unit(k.slots[i]) // an error is that of the addresses in the unit
		}
		return nil
	})
}
