package storecheck

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"symkit/check"
	"symkit/check/internal/checks"
	"symkit/check/lint"
	"symkit/check/report"
	"symkit/elfx/companion"
	"symkit/internal/crash"
	"symkit/internal/filename"
	"symkit/internal/limitof"
	"symkit/internal/mem"
	"symkit/internal/storefiles"
)

// Options select the checks, and say where ELF files are.
type Options struct {
	// Options are those of each check. Jobs is the number of files that are checked at the same time, Progress is called
	// with the number of files. ID, Names, Companions and Drop are not used.
	check.Options
	// Paths are the symbol files to check, as Modules returns them. If it is nil, all of the store are.
	Paths []string
	// Files are ELF files, and directories of such, that modules are looked for in by their ids.
	Files []string
	// Search says where debug files and programs are looked for.
	Search companion.Search
	// Executable, if not nil, gets the program with a build id from a server and returns its path. The error is an
	// fs.ErrNotExist if there is none.
	Executable func(ctx context.Context, buildID []byte) (path string, err error)
	// Timeout bounds the time of each file; 0 is no bound.
	Timeout time.Duration
	// Memory bounds the memory of the checks that run at the same time, in bytes, by an estimate; a file that needs more
	// is checked alone. 0 means 2 GiB.
	Memory int64
}

// Result is what was found about one symbol file. File is its path, Against the path of the ELF file that it was compared
// with, empty if none was at hand.
type Result struct {
	report.Result
	// Err says why the file could not be checked. Report is nil then.
	Err error
	// Warnings say why an ELF file that should be at hand was not compared with.
	Warnings []string
}

// Check checks the symbol files of the store in a directory, at s3://BUCKET/PREFIX, or at the https:// address of a
// server, in the order of their paths. An error about the store itself is the last element; it wraps ErrList if the store
// does not say which files it has, and Options.Paths has to.
func Check(ctx context.Context, at string, opt Options) iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		s, err := openStore(ctx, at)
		if err != nil {
			yield(Result{}, err)
			return
		}
		defer s.close()
		c, err := newChecker(ctx, s, opt)
		if err == nil {
			err = c.run(ctx, func(r Result) bool { return yield(r, nil) })
		}
		if err != nil {
			yield(Result{}, err)
		}
	}
}

const defaultMemory = 2 << 30

// checker checks the files of a store.
type checker struct {
	s      *store
	opt    Options
	finder *finder
	files  []place
	keys   map[string]bool
	memory *semaphore.Weighted
}

func newChecker(ctx context.Context, s *store, opt Options) (c *checker, err error) {
	opt.Memory = cmp.Or(opt.Memory, defaultMemory)
	if opt.Jobs <= 0 {
		opt.Jobs = runtime.GOMAXPROCS(0)
	}
	if opt.Progress == nil {
		opt.Progress = func(string, int, int) {}
	}
	c = &checker{s: s, opt: opt, keys: map[string]bool{}, memory: semaphore.NewWeighted(opt.Memory)}

	// The ELF files of a store that cannot be listed are not known.
	opt.Progress("listing the store", 0, 1)
	all, err := s.list(ctx)
	if opt.Paths != nil {
		c.files = named(opt.Paths)
		if errors.Is(err, ErrList) {
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		c.keys[p.Key] = true
		if p.Kind == storefiles.Symbols && opt.Paths == nil {
			c.files = append(c.files, p)
		}
	}
	c.finder, err = newFinder(ctx, s, all, &c.opt)
	return c, err
}

// ahead is the number of results, for each goroutine, that may wait for one before them.
const ahead = 4

// run checks the files on several goroutines, and emits the results in order. emit returns false to end the run.
func (c *checker) run(parent context.Context, emit func(Result) bool) error {
	ctx, cancel := context.WithCancel(parent)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()

	jobs := min(c.opt.Jobs, max(len(c.files), 1))
	tokens, next := make(chan struct{}, ahead*jobs), make(chan int)
	results := make([]chan Result, len(c.files))
	for i := range results {
		results[i] = make(chan Result, 1)
	}
	running.Go(func() {
		defer close(next)
		for i := range c.files {
			select {
			case tokens <- struct{}{}:
			case <-ctx.Done():
				return
			}
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	})
	for range jobs {
		running.Go(func() {
			defer crash.Catch()
			for i := range next {
				results[i] <- c.file(ctx, c.files[i], max(1, c.opt.Jobs/jobs))
			}
		})
	}

	for i := range c.files {
		c.opt.Progress("checking", i, len(c.files))
		select {
		case r := <-results[i]:
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			<-tokens
			if !emit(r) {
				return nil
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// file checks one file.
func (c *checker) file(ctx context.Context, p place, jobs int) (r Result) {
	r.File = c.s.path(p.Key)
	r.Err = p.err
	if c.opt.Timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, c.opt.Timeout, fmt.Errorf("not done after %v", c.opt.Timeout))
		defer stop()
	}
	if r.Err == nil {
		r.Err = c.check(ctx, p, jobs, &r)
	}
	if r.Err != nil {
		r.Report = nil
	}
	return r
}

// Memory of a check for each byte of the symbol file and of the ELF file, and of the smallest check.
const (
	symMemory   = 4
	elfMemory   = 2
	leastMemory = 4 << 20
)

// check compares one file with its ELF file, or checks the file alone.
func (c *checker) check(ctx context.Context, p place, jobs int, r *Result) error {
	sym, err := c.s.openText(ctx, p.Key, limitof.UnpackedSymbols, c.opt.Limits)
	if err != nil {
		return err
	}
	defer sym.close()
	var m module
	err = mem.Guard(func() error {
		m = moduleOf(sym.Bytes())
		return kindError(sym.Bytes())
	})
	if err != nil {
		return err
	}

	need := leastMemory + symMemory*int64(len(sym.Bytes()))
	program, err := c.finder.find(ctx, &m, p)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s: not compared with %s: %v", r.File, program.from, filename.Cause(err, program.from)))
		program = nil
	}
	if program != nil {
		defer program.close()
		need += elfMemory * int64(program.Image.Size())
	}
	need = min(need, c.opt.Memory)
	err = c.memory.Acquire(ctx, need)
	if err != nil {
		return context.Cause(ctx)
	}
	defer c.memory.Release(need)

	r.Report, err = c.report(ctx, sym, &m, program, jobs)
	err = cmp.Or(sym.unchanged(), err)
	if err != nil {
		return err
	}
	if program != nil {
		r.Against = program.from
	}
	what := m.misplaced(p, func(key string) bool { return c.keys[key] })
	if what != "" && (len(c.opt.Only) == 0 || slices.Contains(c.opt.Only, checks.Module)) {
		addModule(r.Report, m.line, what)
	}
	return nil
}

// report makes the report of one file.
func (c *checker) report(ctx context.Context, sym *text, m *module, program *target, jobs int) (*report.Report, error) {
	if program == nil {
		return lint.File(sym.Bytes(), c.opt.Options.Options)
	}
	opt := c.opt.Options
	opt.Companions, opt.Jobs, opt.Drop, opt.Progress, opt.ID = program.Companions, jobs, sym.Drop, nil, ""
	if program.stored {
		// The file has the name of the layout.
		opt.Names = append(slices.Clone(opt.Names), m.Name)
	}
	rep, err := check.File(ctx, program.Image, sym.Bytes(), opt)
	if err == nil && rep.NoDebugInfo != "" {
		// Stripped programs are what stores mostly have: what they cannot refute is no finding.
		for i := range rep.Gaps {
			g := &rep.Gaps[i]
			g.Allowed = g.Allowed || g.Kind == report.GapUnverified
		}
	}
	return rep, err
}
