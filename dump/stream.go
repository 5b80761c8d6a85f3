package dump

import (
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"symkit/dump/dwarfx"
	"symkit/elfx"
)

// stream reads the units of one file. .debug_info takes longest to inflate, and
// one goroutine has to do all of it; the others inflate the other sections and
// then scan units as soon as their bytes are there.
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
}

// readUnits inflates the DWARF sections and scans the units.
func (d *dumper) readUnits() error {
	f := d.img.DWARF()
	x := &stream{d: d, f: f, ready: make(chan struct{})}
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
				x.scan()
				return nil
			})
		})
	}
	group.Go(func() error {
		defer x.close() // whatever happens, nobody may wait for ever
		return elfx.Guard(func() error {
			x.info()
			x.close()
			x.scan()
			return nil
		})
	})
	err := group.Wait()
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
	for i, u := range d.units { // they moved while the list grew
		u.Unit, u.lines = &d.dw.Units[i], &d.dw.Units[i]
	}
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
	x.errs = append(x.errs, errs...)
	for _, u := range x.dw.Units[from:] {
		x.units = append(x.units, &unit{Unit: &u})
	}
	x.more.Broadcast()
}

func (x *stream) close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	x.more.Broadcast()
}

// scan scans units until there are no more.
func (x *stream) scan() {
	scanner := x.d.newScanner()
	for u := x.take(); u != nil; u = x.take() {
		scanner.unit(u)
	}
}

// take waits for the next unit to scan; nil is the end.
func (x *stream) take() *unit {
	x.mu.Lock()
	defer x.mu.Unlock()
	for x.taken >= len(x.units) && !x.closed {
		x.more.Wait()
	}
	if x.taken >= len(x.units) || x.d.ctx.Err() != nil {
		return nil
	}
	x.taken++
	return x.units[x.taken-1]
}
