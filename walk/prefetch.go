package walk

import (
	"context"
	"sync"

	"symkit/internal/crash"
)

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

	stack := p.stack()
	// The queue holds every module once at most, so that sending never blocks.
	for _, i := range threads {
		t := &p.Threads[i]
		note(t.Regs.PC)
		if stack.CPU == nil || t.Writer {
			continue
		}
		// Words of the stack are likely to be return addresses.
		for at, n := stack.SP(&t.Regs.others), uint64(0); n < prefetchStack; n += stack.WordSize() {
			v, ok := stack.Word(at + n)
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
