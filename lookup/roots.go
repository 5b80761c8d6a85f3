package lookup

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"symkit/elfx"
	"symkit/internal/debuginfo"
	"symkit/internal/dwarfx"
	"symkit/internal/mem"
	"symkit/internal/par"
)

// roots has the units, as far as their roots were read.
type roots struct {
	data    *dwarfx.Data
	known   atomic.Pointer[index]
	stream  *stream      // or nil
	awaited int          // bytes of stream that were read
	entries int          // how many entries the range lists of roots may still have
	reading sync.Mutex   // held while known is replaced
	units   sync.RWMutex // of the list in data and of module.pkg: written when units are read
}

// index is what is known of the units, or of those at the start of the file.
type index struct {
	parts [][]span // each by address, none overlapping; of parts that cover an address, the first one holds
	slots []*slot
	whole bool // there are no others
}

// openStream opens a large file whose .debug_info is compressed, and whose units do not refer to each other. It returns
// false if the file is another one.
func (x *module) openStream(ctx context.Context, f *elfx.File, code dwarfx.CodeMap) (bool, error) {
	info := f.Section(".debug_info")
	if info == nil || !info.Streams() || x.others != nil && x.others.Alt != nil {
		return false, nil
	}
	size, err := info.UncompressedSize()
	abbrev, damage := f.SectionData(".debug_abbrev")
	if err != nil || damage != nil || size < uint64(leastStreamed) || !dwarfx.SelfContained(abbrev) {
		return false, nil
	}

	x.stream = startStream(info, int(size), x.opt.Jobs)
	s := debuginfo.Header(f, uint64(f.Size()), x.opt.Limits)
	s.Abbrev = abbrev
	errs, err := debuginfo.Read(ctx, max(x.opt.Jobs-1, 1), f, debuginfo.SectionsOf(&s), "")
	x.losses.add(errs...)
	x.inflated = inflated(f)
	x.data = dwarfx.New(s, int(size), code)
	x.entries = x.data.RootEntries()
	return true, err
}

// readMore replaces k, which is not whole, by an index with more units. Another goroutine may have done that.
func (x *module) readMore(ctx context.Context, k *index) (*index, error) {
	x.reading.Lock()
	defer x.reading.Unlock()
	if now := x.known.Load(); now != k {
		return now, nil
	}
	data, ended, err := x.stream.wait(x.awaited + streamStep)
	x.awaited = len(data)
	x.losses.add(err)
	err = mem.Guard(func() error {
		errs := x.readUnits(data, ended, err == nil)
		x.losses.addIn(x.image.DWARF(), errs...)
		return x.index(ctx, ended)
	})
	return x.known.Load(), err
}

// readUnits reads the units that are complete in data or, if it is the whole section, all.
func (x *module) readUnits(data []byte, ended, whole bool) []error {
	x.units.Lock()
	defer x.units.Unlock()
	errs := x.data.ReadUnits(data, 0, ended && whole)
	if ended {
		errs = append(errs, x.data.Cut())
	}
	return errs
}

// index adds the units of data that are new to what is known. whole: there are no others.
func (x *module) index(ctx context.Context, whole bool) error {
	old := x.known.Load()
	units := x.data.Units[min(len(old.slots), len(x.data.Units)):]
	if x.pkg == nil && x.others != nil && slices.ContainsFunc(units, func(u *dwarfx.Unit) bool { return u.Split != 0 }) {
		pkg, errs, err := debuginfo.OpenPackage(ctx, x.opt.Jobs, x.others, x.opt.Limits)
		if err != nil {
			return err
		}
		x.losses.add(errs...)
		x.units.Lock()
		x.pkg = pkg
		x.units.Unlock()
	}

	slots := make([]slot, len(units))
	k := &index{parts: slices.Clone(old.parts), slots: slices.Clone(old.slots), whole: whole}
	for i := range slots {
		slots[i].root = units[i]
		k.slots = append(k.slots, &slots[i])
	}
	spans, err := x.unitRanges(ctx, units, len(old.slots))
	k.parts = append(k.parts, flatten(spans))
	if whole && len(k.parts) > 1 {
		k.parts = [][]span{flatten(slices.Concat(k.parts...))}
	}
	x.known.Store(k)
	return err
}

// all returns the index of all units.
func (x *module) all(ctx context.Context) (k *index, err error) {
	k = x.known.Load()
	for !k.whole && err == nil {
		k, err = x.readMore(ctx, k)
	}
	return k, err
}

// unitRanges returns the code of each unit, of which the first one has a number: that of its root or, if the root says
// nothing, that of its functions. In DWARF 2, which has no lists of ranges, a root may have one range of several (gcc
// -gstrict-dwarf), so that functions count there, too.
func (x *module) unitRanges(ctx context.Context, units []*dwarfx.Unit, first int) (spans []span, err error) {
	var silent []int // units whose roots lack ranges
	var ranges []dwarfx.Range
	for i, u := range units {
		if u.IsType() {
			continue
		}
		ranges, err = u.RootRanges(ranges[:0], &x.entries)
		x.losses.addIn(x.image.DWARF(), err)
		if (len(ranges) == 0 || len(ranges) == 1 && u.Version == 2) && u.Split == 0 {
			silent = append(silent, i)
		}
		for _, r := range ranges {
			spans = append(spans, span{r.Lo, r.Hi, int32(first + i)})
		}
	}

	found := make([][]span, len(silent))
	err = par.Each(ctx, x.opt.Jobs, len(silent), func() func(int) error {
		d := x.workers.New().(*decoder)
		scan := &dwarfx.Scan{Pay: d.pay, Most: d.scan.Most}
		return func(i int) error {
			d.paid = 0
			_ = x.data.ScanUnit(units[silent[i]], false, scan) // an error is one when the unit is decoded
			slices.SortFunc(scan.Ranges, func(a, b dwarfx.Range) int { return cmp.Compare(a.Lo, b.Lo) })
			for _, r := range scan.Ranges {
				last := len(found[i]) - 1
				if last >= 0 && r.Lo <= found[i][last].hi {
					found[i][last].hi = max(found[i][last].hi, r.Hi)
				} else {
					found[i] = append(found[i], span{r.Lo, r.Hi, int32(first + silent[i])})
				}
			}
			return nil
		}
	})
	return append(spans, slices.Concat(found...)...), err
}

// slotAt returns the slot of the unit that covers an address in one of the parts from a number on, or nil, and where the
// unit's code ends there.
func (k *index) slotAt(addr uint64, from int) (s *slot, end uint64) {
	for _, spans := range k.parts[from:] {
		i := sort.Search(len(spans), func(i int) bool { return spans[i].hi > addr })
		if i < len(spans) && spans[i].lo <= addr {
			return k.slots[spans[i].unit], spans[i].hi
		}
	}
	return nil, 0
}
