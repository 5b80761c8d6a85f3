package load

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"symkit/dump/internal/losses"
	"symkit/dump/internal/naming"
	"symkit/elfx"
	"symkit/internal/debuginfo"
	"symkit/internal/dwarfx"
	"symkit/internal/mem"
	"symkit/limits"
	"symkit/located"
)

// readUnits reads the units of .debug_info. If units cannot refer to each other,
// their functions and calls get the numbers of their names too.
func (x *loader) readUnits() error {
	x.sections = debuginfo.Header(x.file, x.img.Size(), x.opt.Limits)
	abbrev, err := x.file.SectionData(".debug_abbrev")
	x.lost.Add(err)
	x.sections.Abbrev = abbrev
	x.alone = x.alt == nil && dwarfx.SelfContained(abbrev)

	r := &unitReader{loader: x, work: make(chan *Unit), ready: make(chan struct{})}
	err = r.run()
	if err != nil {
		return err
	}
	x.data.Line = r.line
	r.countLosses()
	return nil
}

// unitReader hands out the units of .debug_info to the goroutines that scan them.
type unitReader struct {
	*loader
	work   chan *Unit
	ready  chan struct{} // closed when the sections that scans need are inflated
	line   []byte        // .debug_line
	size   int           // of .debug_info
	added  int           // units that have been added
	errs   []error       // damaged headers
	failed error         // why .debug_info cannot be read
}

// run inflates the sections, reads the headers of units, and scans the units, on
// goroutines of their own.
func (r *unitReader) run() error {
	// All reads of the file in this goroutine come before the other goroutines start. A
	// fault in this goroutine, after the file was truncated, ends readUnits, and the file
	// is closed while goroutines that were started would still read the file.
	info := r.file.Section(".debug_info")
	there := info != nil && info.Present()
	streams := info != nil && info.Streams()
	if r.opt.InTurn {
		return r.readInTurn(info)
	}

	group, ctx := errgroup.WithContext(r.ctx)
	start := func(task func() error) {
		group.Go(func() error { return mem.Guard(task) })
	}
	start(r.readOthers)
	scanners := r.opt.Jobs
	switch {
	case !there:
		start(func() error { return r.readFlat(ctx, nil, nil) })
	case streams:
		// Inflating .debug_info takes longest, so the inflater has a processor for itself
		// and scans the remaining units afterwards. Together with segments of 64 MiB
		// instead of 32, ceph-osd takes 0.94 of the time.
		scanners = max(scanners-1, 1)
		r.startStream(ctx, info, start)
	default:
		start(func() error {
			data, err := info.Data()
			r.failed = err
			return r.readFlat(ctx, data, info.Discard)
		})
	}
	for range scanners {
		start(r.scanUnits)
	}

	err := group.Wait()
	if err == nil && r.ctx.Err() != nil {
		err = context.Cause(r.ctx)
	}
	return err
}

// startStream starts the goroutine that inflates .debug_info into segments, and the
// goroutine that reads the headers of the units in complete segments.
func (r *unitReader) startStream(ctx context.Context, info *elfx.Section, start func(task func() error)) {
	size, _ := info.UncompressedSize()
	segments := make(chan *segment, segmentsBytes/segmentSize)
	in := &inflater{ctx: ctx, section: info, size: int(size), bigEndian: r.file.BigEndian, out: segments}
	r.release = func() { in.buffer.Release() }
	if r.alone {
		in.pool = newPool()
		r.release = in.pool.release
	}

	start(func() error {
		r.failed = in.run()
		if r.opt.Jobs > 1 {
			return r.scanUnits()
		}
		return nil
	})
	start(func() error { return r.readSegments(ctx, segments, int(size)) })
}

// countLosses adds what could not be read of .debug_info to the losses.
func (r *unitReader) countLosses() {
	x := r.loader
	if slices.ContainsFunc(x.units, func(u *Unit) bool { return u.Draft }) {
		x.lost.Warn("%s: DWARF 6 is read as DWARF 5; what it adds is passed over", x.file.Path())
	}
	x.share.All = uint64(r.size)
	r.cut()
	if r.failed != nil { // the units before the damage are worth nothing
		x.lost.Add(r.failed)
		x.share.Add(max(x.share.All, 1), r.failed)
		x.data, x.units, r.errs = dwarfx.New(dwarfx.Sections{}, 0, x.opt.Code), nil, nil
	}

	known := uint64(0) // bytes of units that have a header
	for _, u := range x.units {
		known += u.Part.To - u.Part.From
	}
	for _, err := range r.errs {
		err = losses.InFile(x.file.Path(), err)
		x.lost.Add(err)
		if known < x.share.All {
			x.share.Add(x.share.All-known, err)
			known = x.share.All
		}
	}
}

// cut removes the units that take more memory than the file may have. They are one loss, and
// damage in them is none, because the goroutines may have come across it or not.
func (r *unitReader) cut() {
	err := r.data.Cut()
	e, ok := errors.AsType[*located.Error](err)
	if !ok {
		return
	}
	left := slices.IndexFunc(r.units, func(u *Unit) bool { return u.item >= len(r.data.Units) })
	if left >= 0 {
		r.units = r.units[:left]
	}
	r.errs = slices.DeleteFunc(r.errs, func(err error) bool {
		damage, ok := errors.AsType[*located.Error](err)
		return ok && damage.Section == e.Section && damage.Offset >= e.Offset
	})
	r.errs = append(r.errs, err)
}

// readInTurn reads the other sections, the headers of all units, and then the units.
func (r *unitReader) readInTurn(info *elfx.Section) error {
	return mem.Guard(func() error {
		err := r.readOthers()
		if err != nil {
			return err
		}
		var data []byte
		if info != nil && info.Present() {
			data, r.failed = info.Data()
		}

		// All units wait in the channel; none is smaller than its header (DWARF 2 §7.5.1).
		const smallestHeader = 11
		r.work = make(chan *Unit, len(data)/smallestHeader)
		err = r.readFlat(r.ctx, data, nil)
		if err != nil {
			return err
		}
		return cmp.Or(r.scanUnits(), context.Cause(r.ctx))
	})
}

// readOthers inflates the other sections. The scans wait for all but .debug_line, which
// is inflated beside them.
func (r *unitReader) readOthers() error {
	wanted := debuginfo.SectionsOf(&r.sections)
	line := len(wanted) - 1
	wanted[line].Data = &r.line
	err := func() error {
		defer close(r.ready)
		return r.readSections(wanted[:line])
	}()
	if err != nil {
		return err
	}
	return r.readSections(wanted[line:])
}

// open makes x.data after the sections that unit headers need are inflated.
func (r *unitReader) open(size int) {
	r.size = size
	<-r.ready
	r.data = dwarfx.New(r.sections, size, r.opt.Code)
	if r.alt != nil {
		r.data.SetAlt(r.alt)
	}
}

// readSegments reads the unit headers of segments and passes the units on.
func (r *unitReader) readSegments(ctx context.Context, segments <-chan *segment, size int) error {
	defer close(r.work)
	r.open(size)
	for s := range segments {
		from := len(r.data.Units)
		r.errs = append(r.errs, r.data.ReadUnits(s.data, s.at, s.last)...)
		r.handOut(ctx, s, r.data.Units[from:])
	}
	return nil
}

// readFlat passes on the units of data, all of .debug_info. If discard is not nil, it is
// called to release the pages of units that are done.
func (r *unitReader) readFlat(ctx context.Context, data []byte, discard func(from, to uint64)) error {
	defer close(r.work)
	r.open(len(data))
	r.errs = r.data.ReadUnits(data, 0, true)

	// Units are discarded in segments, since that costs a system call.
	for units := r.data.Units; len(units) > 0; {
		n := 1
		for n < len(units) && units[n].End-units[0].Off < uint64(segmentSize) {
			n++
		}
		s := new(segment)
		s.users.Store(1)
		if discard != nil && r.alone {
			from, to := units[0].Off, units[n-1].End
			s.free = func() { discard(from, to) }
		}
		r.handOut(ctx, s, units[:n])
		units = units[n:]
	}
	return nil
}

// handOut passes on the units of s, and ends the use of s by the reader of headers.
func (r *unitReader) handOut(ctx context.Context, s *segment, units []*dwarfx.Unit) {
	defer s.release()
	from := len(r.units)
	for _, u := range units {
		r.units = append(r.units, divide(u, s, len(r.units), r.added)...)
		r.added++
	}
	s.units = r.units[from:len(r.units):len(r.units)]

	// The users are counted before the first of them can be done.
	s.users.Add(int32(len(s.units)))
	for _, u := range s.units {
		select {
		case r.work <- u:
		case <-ctx.Done():
			return
		}
	}
}

// scanUnits scans units until there are no more. The error is losses.ErrInTurn.
func (r *unitReader) scanUnits() error {
	var scan dwarfx.Scan
	namer := naming.NewNamer(r.names)
	for u := range r.work {
		u.scan(&scan, r.opt.Inlines, func(bytes uint64) error { return r.data.Pay(u.item, bytes) })
		err := r.scanned(u, namer)
		if err != nil {
			return err
		}

		// Another goroutine may release the functions from here on.
		free := u.done()
		if free != nil && r.data.Keep(u.item, free) != nil {
			free()
		}
	}
	return nil
}

// scanned numbers the names of u if they can be read now.
func (r *unitReader) scanned(u *Unit, namer *naming.Namer) error {
	if !r.alone || !u.SelfContained() {
		return nil
	}

	// The names of a unit that cannot be confined are left to nameUnits.
	if len(u.Funcs) == 0 || namer.Confine(u.Unit) == nil {
		defer u.segment.release()
		return u.number(namer)
	}
	return nil
}

// scan reads the functions and inlined calls of u. x is used again for every unit. A unit that
// would take too much memory, see dwarfx.Scan.Pay, has none.
func (u *Unit) scan(x *dwarfx.Scan, inlines bool, pay func(bytes uint64) error) {
	x.Pay = pay
	x.Part = u.Part
	u.err = u.Data().ScanUnit(u.Unit, inlines, x)
	if u.Part.From == u.Off {
		u.Typeless = x.Typeless
	}
	if errors.Is(u.err, limits.ErrExceeded) && len(x.Funcs) > largeScan {
		*x = dwarfx.Scan{}
	}
	u.Funcs, u.Calls = taken(&x.Funcs), taken(&x.Inlines)
	u.Ranges, u.origins = taken(&x.Ranges), taken(&x.Origins)
}

// largeScan is the number of elements of a slice that is too large to be in memory twice.
const largeScan = 1 << 17

// taken returns a copy of list, or list itself if it is large.
func taken[T any](list *[]T) []T {
	if len(*list) < largeScan {
		return slices.Clone(*list)
	}
	large := *list
	*list = nil
	return large
}

// forget releases the functions of u.
func (u *Unit) forget() {
	u.Funcs, u.FuncNames, u.Calls, u.Ranges, u.origins = nil, nil, nil, nil, nil
}

// readSections inflates sections of the file on all goroutines.
func (x *loader) readSections(wanted []debuginfo.Section) error {
	errs, err := debuginfo.Read(x.ctx, x.opt.Jobs, x.file, wanted, "")
	for i, err := range errs {
		x.lost.Add(err)
		if wanted[i].Name == ".debug_line" {
			x.lineErr = err
		}
	}
	return err
}
