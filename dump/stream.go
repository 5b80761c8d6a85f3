package dump

import (
	"cmp"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"symkit/dump/dwarfx"
	"symkit/elfx"
)

// stream reads the units of one file. .debug_info takes longest to inflate, and
// one goroutine has to do all of it; the others inflate the other sections and
// then scan units as soon as their bytes are there. While they would have to wait
// for more, they do what can be done early.
type stream struct {
	d      *dumper
	f      *elfx.File
	s      dwarfx.Sections
	dw     *dwarfx.Data
	wanted []sectionOf
	next   atomic.Int32  // of wanted
	left   atomic.Int32  // sections that are not there yet
	ready  chan struct{} // closed when all are
	lost   []error       // why a section is not
	failed error         // why .debug_info is not

	mu     sync.Mutex
	more   sync.Cond // units or closed changed
	units  []*unit
	taken  int  // units that somebody scans or has scanned
	closed bool // no more units will come
	errs   []error
	early  []func(*streamWorker) // what somebody may do meanwhile
	// .debug_info is inflated up to one offset, and has its pages up to another.
	inflated, populated int
}

// streamWorker is what one goroutine needs, to use again for every unit.
type streamWorker struct {
	scanner *unitScanner
	origins originNamer
}

// readUnits inflates the DWARF sections and scans the units. It reads the symbols
// and where frames are too, which have nothing to do with them, and finds out what
// names functions.
func (d *dumper) readUnits() error {
	f := d.img.DWARF()
	x := &stream{d: d, f: f, ready: make(chan struct{})}
	d.names = newNameTable(int(d.img.Size() / bytesPerName))
	var earlyErrs [2]error
	for i, stage := range []func() error{d.readSymbols, d.readFrames} {
		x.early = append(x.early, func(*streamWorker) { earlyErrs[i] = d.guard(stage) })
	}
	x.more.L = &x.mu
	x.s = dwarfx.Sections{BigEndian: f.BigEndian, AddrSize: f.AddrSize()}
	x.wanted = sectionsOf(&x.s)
	x.lost = make([]error, len(x.wanted))
	x.left.Store(int32(len(x.wanted)))

	var group errgroup.Group
	if d.opt.Jobs == 1 {
		x.sections()
	}
	for range d.opt.Jobs - 1 {
		group.Go(func() error {
			return elfx.Guard(func() error {
				x.sections()
				x.work()
				return nil
			})
		})
	}
	group.Go(func() error {
		defer x.close() // whatever happens, nobody may wait for ever
		return elfx.Guard(func() error {
			x.info()
			x.close()
			x.work()
			return nil
		})
	})
	err := cmp.Or(group.Wait(), earlyErrs[0], earlyErrs[1])
	for _, err := range append(x.lost, x.failed) {
		d.loss(err)
	}
	for _, err := range x.errs {
		d.dwarfLoss(err)
	}
	if d.dw = x.dw; d.dw == nil {
		d.dw = dwarfx.New(dwarfx.Sections{}, d.code)
	}
	d.units = x.units
	return err
}

// sections inflates sections until all are taken; the last to finish reports
// that they are there.
func (x *stream) sections() {
	for i := int(x.next.Add(1)) - 1; i < len(x.wanted); i = int(x.next.Add(1)) - 1 {
		*x.wanted[i].data, x.lost[i] = x.f.SectionData(x.wanted[i].name)
		if x.left.Add(-1) == 0 {
			close(x.ready)
		}
	}
}

// info inflates .debug_info.
func (x *stream) info() {
	var data []byte
	if s := x.f.Section(".debug_info"); s != nil && s.Present() {
		var err error
		data, err = s.DataProgress(func(data []byte, done int) {
			select {
			case <-x.ready:
				if done < len(data) {
					x.grow(data, done)
				}
			default:
			}
		})
		if err != nil {
			// What was read of it before is worth nothing.
			x.mu.Lock()
			x.units, x.dw, x.errs = nil, nil, nil
			x.mu.Unlock()
			x.failed = err
			return
		}
	}
	<-x.ready
	x.grow(data, len(data))
}

// grow reads the headers of the units that lie before done and hands them out.
func (x *stream) grow(data []byte, done int) {
	if x.dw == nil {
		x.s.Info = data
		x.dw = dwarfx.New(x.s, x.d.code)
	}
	from := len(x.dw.Units)
	errs := x.dw.ReadUnits(done)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.inflated = done
	x.errs = append(x.errs, errs...)
	for _, u := range x.dw.Units[from:] {
		x.units = append(x.units, &unit{Unit: u, lines: u})
	}
	x.more.Broadcast()
}

func (x *stream) close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	x.more.Broadcast()
}

// work scans units until there are no more, and does what else there is to do.
func (x *stream) work() {
	w := &streamWorker{scanner: x.d.newScanner()}
	for task := x.take(); task != nil; task = x.take() {
		task(w)
	}
}

// take waits for something to do: the next unit to scan, or, where there is none
// yet, what comes early; nil is the end.
func (x *stream) take() (task func(*streamWorker)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for x.taken >= len(x.units) && len(x.early) == 0 && !x.closed {
		if !x.populate() {
			x.more.Wait()
		}
	}
	switch {
	case x.d.ctx.Err() != nil:
		return nil
	case x.taken < len(x.units):
		i, u := x.taken, x.units[x.taken]
		x.taken++
		return func(w *streamWorker) { x.scan(w, i, u) }
	case len(x.early) > 0:
		task, x.early = x.early[0], x.early[1:]
		return task
	}
	return nil
}

// How much is populated at a time, how near to what is being inflated, and how far
// from it: a damaged section may end there.
const (
	populateStep = 256 << 10
	populateNear = 512 << 10
	populateFar  = 8 << 20
)

// populate has the system provide memory for what is inflated next, while mu is not
// held; it reports whether there was anything to do.
func (x *stream) populate() bool {
	if x.inflated == 0 {
		return false
	}
	from := max(x.populated, x.inflated+populateNear)
	to := min(from+populateStep, x.inflated+populateFar, len(x.s.Info))
	if from >= to {
		return false
	}
	x.populated = to
	x.mu.Unlock()
	defer x.mu.Lock()
	elfx.Populate(x.s.Info, from, to)
	return true
}

// scan scans unit i. What names its functions and what is inlined there is found
// out early, if nothing outside of the unit belongs to them; else when all units
// are there.
func (x *stream) scan(w *streamWorker, i int, u *unit) {
	w.scanner.unit(u)
	if len(u.Funcs) == 0 || x.d.hasAlt() || !u.SelfContained() {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.early = append(x.early, func(w *streamWorker) {
		if namer := &w.origins.namer; namer.Confine(u.Unit) == nil {
			u.readNamings(namer)
			x.d.numberOrigins(u, i, &w.origins)
		}
	})
	x.more.Signal()
}
