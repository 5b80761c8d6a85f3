package check

import (
	"sync"
	"sync/atomic"

	"symkit/check/internal/truth/dwarfinfo"
)

// crew has the units whose functions are being compared, so that workers that find no further unit
// compare functions of these. Otherwise the last units, or a large one, would keep one worker busy
// while the others have nothing to do.
type crew struct {
	mu      sync.Mutex
	changed sync.Cond
	reading int // workers that may still find units
	open    []*openUnit
}

// openUnit is a unit, whose owner and helpers take the functions of in turn.
type openUnit struct {
	scan    *dwarfinfo.Scan
	lines   *dwarfinfo.Lines
	next    atomic.Int64 // index in scan.Funcs
	helpers sync.WaitGroup
}

func newCrew() *crew {
	c := &crew{}
	c.changed.L = &c.mu
	return c
}

// join begins a worker's search for units.
func (c *crew) join() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading++
}

// leave ends a worker's search for units.
func (c *crew) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading--
	c.changed.Broadcast()
}

// compare compares the functions of a unit of w, and returns after the last one was compared.
func (c *crew) compare(w *worker, s *dwarfinfo.Scan, lines *dwarfinfo.Lines) {
	x := &openUnit{scan: s, lines: lines}
	c.mu.Lock()
	c.open = append(c.open, x)
	c.changed.Broadcast()
	c.mu.Unlock()

	defer x.helpers.Wait()
	defer c.close(x)
	w.functionsOf(x)
}

// close takes x from the units that other workers may compare functions of.
func (c *crew) close(x *openUnit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.open {
		if c.open[i] == x {
			last := len(c.open) - 1
			c.open[i], c.open[last] = c.open[last], nil
			c.open = c.open[:last]
			return
		}
	}
}

// help compares functions of other workers' units, until no worker can find another unit.
func (c *crew) help(w *worker) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		x := c.unfinished()
		switch {
		case x != nil:
			x.helpers.Add(1)
			c.mu.Unlock()
			w.helpWith(x)
			c.mu.Lock()
		case c.reading == 0:
			return
		default:
			c.changed.Wait()
		}
	}
}

// unfinished returns a unit with functions that nobody has taken, nil if there is none.
func (c *crew) unfinished() *openUnit {
	for _, x := range c.open {
		if x.next.Load() < int64(len(x.scan.Funcs)) {
			return x
		}
	}
	return nil
}

// helpWith compares functions of another worker's unit.
func (w *worker) helpWith(x *openUnit) {
	defer x.helpers.Done()
	w.namer.Unit(x.scan)
	w.functionsOf(x)
}

// functionsOf compares functions of x, until all are taken.
func (w *worker) functionsOf(x *openUnit) {
	for i := x.next.Add(1) - 1; i < int64(len(x.scan.Funcs)); i = x.next.Add(1) - 1 {
		w.function(x.scan, &x.scan.Funcs[i], x.lines)
	}
}
