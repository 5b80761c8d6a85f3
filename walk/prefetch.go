package walk

import (
	"context"
	"sync"

	"symkit/internal/crash"
)

// Prefetcher is a Supplier that needs a long time to get symbols, and therefore can get
// them before a walk needs them.
type Prefetcher interface {
	// Prefetch gets the symbols of m into the Supplier's memory or cache; it reports whether
	// it has them. It is called from several goroutines.
	Prefetch(ctx context.Context, m *Module) bool
}

// Limits of the symbols that are fetched in advance.
const (
	prefetchJobs  = 8        // at one time
	prefetchStack = 64 << 10 // bytes of each stack that are searched for addresses
)

// prefetch gets the symbols of the modules that the stacks are likely to need: those that
// the registers and words of the stacks point into. It returns a function that waits until
// all symbols are there.
func (p *Process) prefetch(ctx context.Context, s Prefetcher, threads []int) (wait func()) {
	wanted, seen := make(chan *Module, len(p.Modules)), map[*Module]bool{}
	note := func(addr uint64) {
		if m := p.ModuleAt(addr); m != nil && !seen[m] && p.code(addr) {
			seen[m] = true
			wanted <- m
		}
	}

	// The queue holds every module once at most, so that sending never blocks.
	for _, i := range threads {
		t := &p.Threads[i]
		note(t.Regs.PC)
		c := p.cpu()
		if c == nil || t.Writer {
			continue
		}
		// Words of the stack are likely to be return addresses.
		word := c.arch.WordSize
		for at, n := c.sp(&t.Regs), 0; n < prefetchStack; n += word {
			v, ok := readWord(p.Memory, at+uint64(n), word, p.BigEndian)
			if !ok {
				break
			}
			note(v)
		}
	}

	close(wanted)
	var all sync.WaitGroup
	for range min(prefetchJobs, len(seen)) {
		all.Go(func() {
			defer crash.Catch()
			for m := range wanted {
				s.Prefetch(ctx, m)
			}
		})
	}
	return all.Wait
}
