package check

import (
	"sync"
	"sync/atomic"

	"symkit/check/internal/truth/dwarfinfo"
)

// unitPool has the units whose functions are being compared. A worker that finds no further unit
// compares functions of these units. Without the pool, the last units, or a large one, would keep one
// worker busy while the others have nothing to do.
type unitPool struct {
	mu      sync.Mutex
	changed sync.Cond
	reading int // workers that may still find units
	open    []*openUnit
}

// openUnit is a unit whose functions are taken in turn by the worker that read the unit and by its helpers.
type openUnit struct {
	scan    *dwarfinfo.Scan
	lines   *dwarfinfo.Lines
	next    atomic.Int64 // index in scan.Funcs
	helpers sync.WaitGroup
}

func newUnitPool() *unitPool {
	p := &unitPool{}
	p.changed.L = &p.mu
	return p
}

// join begins a worker's search for units.
func (p *unitPool) join() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reading++
}

// leave ends a worker's search for units.
func (p *unitPool) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reading--
	p.changed.Broadcast()
}

// compare compares the functions of a unit of w, and returns after the last one was compared.
func (p *unitPool) compare(w *worker, s *dwarfinfo.Scan, lines *dwarfinfo.Lines) {
	x := &openUnit{scan: s, lines: lines}
	p.mu.Lock()
	p.open = append(p.open, x)
	p.changed.Broadcast()
	p.mu.Unlock()

	defer x.helpers.Wait()
	defer p.close(x)
	w.functionsOf(x)
}

// close takes x from the units that other workers may compare functions of.
func (p *unitPool) close(x *openUnit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.open {
		if p.open[i] == x {
			last := len(p.open) - 1
			p.open[i], p.open[last] = p.open[last], nil
			p.open = p.open[:last]
			return
		}
	}
}

// help compares functions of other workers' units, until no worker can find another unit.
func (p *unitPool) help(w *worker) {
	for x := p.next(); x != nil; x = p.next() {
		w.helpWith(x)
	}
}

// next returns a unit with functions that no worker has taken, with the caller as one of its helpers.
// It waits for such a unit, and returns nil after no worker can find another unit.
func (p *unitPool) next() *openUnit {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		x := p.unfinished()
		if x != nil {
			x.helpers.Add(1)
			return x
		}
		if p.reading == 0 {
			return nil
		}
		p.changed.Wait()
	}
}

// unfinished returns a unit with functions that no worker has taken, nil if there is none.
func (p *unitPool) unfinished() *openUnit {
	for _, x := range p.open {
		if x.next.Load() < int64(len(x.scan.Funcs)) {
			return x
		}
	}
	return nil
}

// helpWith compares functions of another worker's unit. It panics if the file was truncated
// meanwhile (see mem.Guard).
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
