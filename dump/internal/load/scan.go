package load

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"symkit/dump/dwarfx"
	"symkit/dump/internal/losses"
	"symkit/dump/internal/naming"
	"symkit/elfx"
	"symkit/internal/mem"
)

// readUnits reads the units of .debug_info. If units cannot refer to each other,
// their functions and calls get the numbers of their names too.
func (x *loader) readUnits() error {
	x.sections = dwarfx.Sections{BigEndian: x.file.BigEndian, AddrSize: x.file.AddrSize(), Limits: x.opt.Limits}
	abbrev, err := x.file.SectionData(".debug_abbrev")
	x.lost.Add(err)
	x.sections.Abbrev = abbrev
	x.alone = x.alt == nil && dwarfx.SelfContained(abbrev)

	// All reads of the file in this goroutine come before the other goroutines start. A
	// fault in this goroutine, after the file was truncated, ends readUnits, and the file
	// is closed while goroutines that were started would still read the file.
	info := x.file.Section(".debug_info")
	streams := info != nil && info.Streams()
	r := &unitReader{loader: x, work: make(chan *Unit), ready: make(chan struct{})}
	group, ctx := errgroup.WithContext(x.ctx)
	guarded := func(task func() error) {
		group.Go(func() error { return mem.Guard(task) })
	}

	// The sections, the units and the scans each have goroutines of their own.
	scanners := x.opt.Jobs
	inTurn := x.opt.Jobs == 1 && (info == nil || !info.Present() || !streams && info.Size < smallInfo)
	if !inTurn {
		guarded(func() error { return r.readOthers() })
	}
	switch {
	case inTurn:
		err := r.readInTurn(ctx, info)
		if err != nil {
			return err
		}
		scanners = 0
	case info == nil || !info.Present():
		guarded(func() error { return r.readFlat(ctx, nil, nil) })
	case streams:
		size, _ := info.UncompressedSize()
		segments := make(chan *segment, segmentsBytes/segmentSize)
		in := &inflater{ctx: ctx, section: info, size: int(size), bigEndian: x.file.BigEndian, out: segments}
		x.release = func() { in.buffer.Release() }
		if x.alone {
			in.pool = newPool()
			x.release = in.pool.release
		}
		// Inflating .debug_info takes longest, so the inflater has a processor for itself
		// and scans the remaining units afterwards. Together with segments of 64 MiB
		// instead of 32, ceph-osd takes 0.94 of the time.
		scanners = max(scanners-1, 1)
		guarded(func() error {
			r.failed = in.run()
			if x.opt.Jobs > 1 {
				r.scanUnits()
			}
			return nil
		})
		guarded(func() error { return r.readSegments(ctx, segments, int(size)) })
	default:
		guarded(func() error {
			data, err := info.Data()
			r.failed = err
			return r.readFlat(ctx, data, info.Discard)
		})
	}
	for range scanners {
		guarded(func() error {
			r.scanUnits()
			return nil
		})
	}

	err = group.Wait()
	if err != nil {
		return err
	}
	if x.ctx.Err() != nil {
		return context.Cause(x.ctx)
	}
	x.data.Line = r.line

	if slices.ContainsFunc(x.units, func(u *Unit) bool { return u.Draft }) {
		x.lost.Warn("%s: DWARF 6 is read as DWARF 5; what it adds is passed over", x.file.Path())
	}
	x.share.All = uint64(r.size)
	if r.failed != nil { // the units before the damage are worth nothing
		x.lost.Add(r.failed)
		x.share.Add(max(x.share.All, 1), r.failed)
		x.data, x.units, r.errs = dwarfx.New(dwarfx.Sections{}, 0, x.opt.Code), nil, nil
	}

	known := uint64(0) // bytes of units that have a header
	for _, u := range x.units {
		known += u.End - u.Off
	}
	for _, err := range r.errs {
		err = losses.InFile(x.file.Path(), err)
		x.lost.Add(err)
		if known < x.share.All {
			x.share.Add(x.share.All-known, err)
			known = x.share.All
		}
	}
	return nil
}

// smallInfo is a size in bytes of .debug_info below which one goroutine does not need
// others.
const smallInfo = 64 << 10

// readInTurn reads the other sections, the headers of all units, and then the units.
func (r *unitReader) readInTurn(ctx context.Context, info *elfx.Section) error {
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
		err = r.readFlat(ctx, data, nil)
		if err == nil {
			r.scanUnits()
		}
		return err
	})
}

// readOthers inflates the other sections. The scans wait for all but .debug_line, which
// is inflated beside them.
func (r *unitReader) readOthers() error {
	wanted := sectionsOf(&r.sections)
	line := len(wanted) - 1
	wanted[line].data = &r.line
	err := func() error {
		defer close(r.ready)
		return r.readSections(r.file, wanted[:line], "")
	}()
	if err != nil {
		return err
	}
	return r.readSections(r.file, wanted[line:], "")
}

// unitReader gives the units of .debug_info to the goroutines that scan them.
type unitReader struct {
	*loader
	work   chan *Unit
	ready  chan struct{} // closed when the sections that scans need are inflated
	line   []byte        // .debug_line
	size   int           // of .debug_info
	errs   []error       // damaged headers
	failed error         // why .debug_info cannot be read
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
		r.units = append(r.units, &Unit{Unit: u, Lines: u, segment: s, index: len(r.units)})
	}
	s.units = r.units[from:len(r.units):len(r.units)]

	// The users are counted before the first of them can be done.
	s.users.Add(int32(len(units)))
	for _, u := range s.units {
		select {
		case r.work <- u:
		case <-ctx.Done():
			return
		}
	}
}

// scanUnits scans units until there are no more.
func (r *unitReader) scanUnits() {
	scan := &scanner{inlines: r.opt.Inlines}
	namer := naming.NewNamer(r.names)
	for u := range r.work {
		scan.unit(u)
		if !r.alone || !u.SelfContained() {
			continue
		}

		// The names of a unit that cannot be confined are left to nameUnits.
		if len(u.Funcs) == 0 || namer.Confine(u.Unit) == nil {
			u.number(namer)
			u.segment.release()
		}
	}
}

// scanner scans units for one goroutine.
type scanner struct {
	inlines bool
	scan    dwarfx.Scan // used again for every unit
}

// unit reads the functions and inlined calls of u.
func (x *scanner) unit(u *Unit) {
	s := &x.scan
	u.err = u.Data().ScanUnit(u.Unit, x.inlines, s)
	u.Funcs, u.Calls = slices.Clone(s.Funcs), clone(s.Inlines)
	u.Ranges, u.origins = clone(s.Ranges), slices.Clone(s.Origins)
}

// clone returns a copy of s, for large slices. The system provides all pages of the copy
// at once: the calls and ranges of ceph-osd are 60 MiB, and a page fault for each page
// takes 3 % of the CPU time.
func clone[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	out := make([]T, len(s))
	mem.Populate(out)
	copy(out, s)
	return out
}
