package walk

import (
	"context"
	"runtime"
	"slices"

	"symkit/internal/limitof"
	"symkit/internal/mem"
	"symkit/internal/par"
	"symkit/limits"
)

// Options are the options of Walk. The zero value walks every thread.
type Options struct {
	// Threads are the indices in Process.Threads of those to walk; nil: all.
	Threads []int
	// MaxFrames bounds the frames of one stack; 0 means 262144, as many frames of 32 bytes as
	// a stack of 8 MiB holds. All stacks together hold no more than half a million frames,
	// beside 16 of each.
	MaxFrames int
	Jobs      int // goroutines; 0 means one per processor
	// Registers keeps the registers of frames for the text: of the first 256 of a
	// stack, fewer where there are hundreds of stacks.
	Registers bool
	// Contents looks for pointers to functions in the stacks.
	Contents bool
	// Pointers looks for them in the whole memory of each stack.
	Pointers bool
	// Prefetch has the Supplier, if it is a Prefetcher, get the symbols of modules that stacks
	// are likely to meet, while the stacks are walked.
	Prefetch bool
	// Generated names code that no module has; nil: there are no names.
	Generated *Generated
	// NoScan leaves out frames that only scanning the stack finds.
	NoScan bool
	// Progress is called, from any goroutine, before the symbols of a module
	// are loaded.
	Progress func(m *Module)
	// Limits bound the frames if MaxFrames is 0: frames-per-thread and frames.
	Limits limits.Limits
}

// minFrames is the number of frames that every thread may have, however many threads there
// are.
const minFrames = 16

// Walk finds the stacks of p's threads, with symbols from s, which may be nil.
// The result does not depend on the number of goroutines. The error is that of the context,
// or elfx.ErrChanged if a mapped file was truncated during the walk.
func Walk(ctx context.Context, p *Process, s Supplier, opt Options) (*Result, error) {
	syms := newSymbolizer(p, s, opt.Limits, opt.Progress)
	defer syms.close()

	threads := opt.Threads
	if threads == nil {
		for i := range p.Threads {
			threads = append(threads, i)
		}
	}

	// The threads share the bound on the frames of all stacks.
	limit := opt.MaxFrames
	if limit <= 0 {
		limit = max(minFrames, min(opt.Limits.Int(limitof.FramesPerThread), opt.Limits.Int(limitof.Frames)/max(1, len(threads))))
	}

	res := &Result{Process: p, Stacks: make([]Stack, len(threads))}
	jobs := opt.Jobs
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}

	// Symbols are fetched while stacks are walked, so that fewer stacks wait for a server.
	if pre, ok := s.(Prefetcher); ok && opt.Prefetch {
		ctx, cancel := context.WithCancel(ctx)
		wait := func() {}
		if err := mem.Guard(func() error { wait = p.prefetch(ctx, pre, threads); return nil }); err != nil {
			cancel()
			return nil, err
		}
		defer func() { wait() }()
		defer cancel() // wait does not wait for modules that no stack needed
	}

	all := func(jobs int) error { return walkAll(ctx, p, syms, threads, limit, jobs, &opt, res) }
	err := all(jobs)
	if err == nil && syms.cost.over() != nil && jobs > 1 {
		// Where stacks end depends on what others needed before: on one goroutine that is the
		// same each time.
		syms.forget()
		err = all(1)
	}
	if err != nil {
		return nil, err
	}

	for _, m := range p.Modules {
		res.Modules = append(res.Modules, syms.found(m))
	}
	return res, nil
}

// walkAll finds the stacks of the threads, that of the thread that crashed first.
func walkAll(ctx context.Context, p *Process, syms *symbolizer, threads []int, limit, jobs int, opt *Options, res *Result) error {
	first := max(0, slices.Index(threads, p.Crashed))

	// Each worker has a walker, whose buffers serve one thread after another.
	return par.Each(ctx, jobs, len(threads), func() func(int) error {
		w := &walker{view: newView(lookup{ctx, p, syms, opt.Generated}, opt.NoScan), limit: limit, keepContents: opt.Contents}
		if opt.Registers {
			w.keepRegs = max(1, min(maxRegisterFrames, maxAllRegisters/len(threads)))
		}

		return func(i int) error {
			switch {
			case i == 0:
				i = first
			case i <= first:
				i--
			}
			return mem.Guard(func() error {
				res.Stacks[i] = w.walk(&p.Threads[threads[i]])
				if opt.Pointers {
					w.allPointers(&res.Stacks[i])
				}
				return nil
			})
		}
	})
}
