package batch

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"symkit/dump/store"
	"symkit/elfx"
	"symkit/internal/crash"
)

// run is one run of Dump.
//
// A batch has four steps: find the inputs, group them into modules (rounds.all), prepare a job for each module,
// and dump the modules that the store lacks. The last three are done for one part of the inputs after the other.
// Every input gets exactly one Result.
type run struct {
	sink
	found *Finder
	hold  *hold // the files of packages

	owner map[[16]byte]place // by placeKey of each path in the store, the first module
	more  bool               // another round follows
	large []*job             // modules that run last
	// incomplete has the packages of large modules.
	incomplete map[string]bool
}

// Dump dumps the modules of the inputs that were found into a store. It yields a Result for each input or module, in
// the order in which they end. An error ends the batch: the store cannot be written (store.ErrStore), the context is
// done, or the inputs are not one module (ManyError).
func Dump(ctx context.Context, found *Finder, s *store.Store, opt Options) iter.Seq2[Result, error] {
	if opt.Jobs == 0 {
		opt.Jobs = runtime.GOMAXPROCS(0)
	}
	if opt.Memory == 0 {
		opt.Memory = defaultBudget(os.DirFS("/"))
	}
	if opt.Advise == nil {
		opt.Advise = func(err error) error { return err }
	}
	if opt.Progress == nil {
		opt.Progress = noProgress{}
	}
	return func(yield func(Result, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		b := &run{sink: sink{opt: opt, store: s, results: make(chan Result)},
			found: found, hold: newHold(opt.Memory), owner: map[[16]byte]place{}, incomplete: map[string]bool{}}
		defer b.hold.close()
		if found.Done != nil {
			b.failedPackages = map[string]bool{}
		}

		var err error
		go func() {
			defer close(b.results)
			defer crash.Catch()
			err = b.run(ctx)
		}()
		stopped := false
		for r := range b.results {
			if !stopped && !yield(r, nil) {
				stopped = true
				cancel()
			}
		}
		if err != nil && !stopped {
			yield(Result{}, err)
		}
	}
}

// run groups the inputs into modules and dumps them in rounds.
func (b *run) run(ctx context.Context) error {
	for f, err := range b.found.failures.take() {
		if err != nil {
			return err
		}
		b.fail(Record{Input: f.name}, f.err)
	}

	rounds := &rounds{Finder: b.found, hold: b.hold, jobs: b.opt.Jobs}
	for r, err := range rounds.all(ctx) {
		if err != nil {
			return err
		}
		r.take(b.found)
		b.more = !r.Last
		b.opt.Progress.Round(len(r.Modules), r.Last)
		if b.found.Whole && len(r.Modules) > 1 {
			return &ManyError{len(r.Modules)}
		}
		err = b.round(ctx, r)
		if err == nil {
			err = rounds.finish(r, b.failedPackages, b.incomplete)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// round records and dumps a round of the
func (b *run) round(ctx context.Context, r *round) error {
	// Files that could not be opened or are no modules have their records right away.
	for _, f := range r.Failed {
		b.fail(Record{Input: f.name}, f.err)
	}
	for _, path := range r.Before {
		b.record(Record{Status: Before, Input: path})
	}
	for _, path := range r.Empty {
		b.without(Record{Status: NoModule, Input: path}, fmt.Errorf("%s: %w", path, ErrEmptyPackage))
	}
	for _, s := range r.Skipped {
		b.without(Record{Status: NoModule, Input: s.Name()}, s.Why)
	}
	for _, d := range r.Duplicates {
		b.record(Record{Status: Duplicate, Input: d.Name(), Of: d.Of})
	}
	r.Failed, r.Skipped, r.Duplicates = nil, nil, nil

	err := b.dumpWaves(ctx, r.Modules)
	if err == nil && r.Last {
		err = b.dumpLarge(ctx)
	}
	return err
}

// dumpWaves dumps the modules. Those in packages are extracted and dumped in waves. The modules of a
// wave have their records after it, and take no more memory.
func (b *run) dumpWaves(ctx context.Context, modules []module) error {
	var bytes int64
	for i := range modules {
		bytes += modules[i].Size
	}
	b.opt.Progress.Adjust(int64(len(modules)), bytes)

	for _, wave := range b.hold.waves(modules) {
		err := b.hold.extract(ctx, wave, b.opt.Jobs)
		if err != nil {
			return err
		}
		err = b.dumpWave(ctx, wave)
		if err != nil {
			return err
		}
	}
	return nil
}

// dumpWave dumps modules. Every job is prepared before the first one runs, so that the
// largest can start first.
func (b *run) dumpWave(ctx context.Context, wave []*module) error {
	var files, bytes int64 // corrections of the totals that the progress shows
	for _, m := range wave {
		files, bytes = files-1, bytes-m.Size
	}

	jobs := make([]job, len(wave))
	err := each(ctx, len(jobs), b.opt.Jobs, func(i int) { jobs[i].prepare(ctx, &b.sink, wave[i]) })
	if err != nil {
		return err
	}

	err = b.lookInStore(ctx, jobs)
	if err != nil {
		return err
	}
	left := b.admit(jobs)
	for _, j := range left {
		files, bytes = files+1, bytes+j.mod.Size
	}
	b.opt.Progress.Adjust(files, bytes)
	err = b.dumpAll(ctx, b.putOff(left))

	// The large modules are needed once more.
	for _, m := range wave {
		if !slices.ContainsFunc(b.large, func(j *job) bool { return j.mod == m }) {
			*m = module{}
		}
	}
	return err
}

// leastLarge is the least memory, in bytes, of a module that is put off.
const leastLarge = 64 << 20

// putOff removes from jobs those that exceed the memory budget: they run alone and last. If the
// system kills the process then, everything else is in the store.
func (b *run) putOff(jobs []*job) (left []*job) {
	most := max(taskBudget(b.opt.Memory), leastLarge)
	for _, j := range jobs {
		if j.memory <= most {
			left = append(left, j)
			continue
		}
		b.large = append(b.large, j)
		for _, name := range []string{j.rec.Input, j.rec.Debug} {
			path, _, _ := strings.Cut(name, elfx.Separator)
			b.incomplete[path] = true
		}
	}
	return left
}

// dumpLarge dumps the modules that were put off, the smallest first.
func (b *run) dumpLarge(ctx context.Context) error {
	slices.SortStableFunc(b.large, func(x, y *job) int { return cmp.Compare(x.memory, y.memory) })
	for _, j := range b.large {
		err := b.hold.extract(ctx, []*module{j.mod}, b.opt.Jobs)
		if err == nil {
			err = b.dumpAll(ctx, []*job{j})
		}
		if err != nil {
			return err
		}
	}
	clear(b.incomplete)
	return nil
}

// storeRequests is the number of outputs that are looked up in a store in parallel: an object
// store answers slowly, but a request takes no processor time.
const storeRequests = 32

// lookInStore finds out which outputs the store has already.
func (b *run) lookInStore(ctx context.Context, jobs []job) error {
	err := each(ctx, len(jobs), storeRequests, func(i int) {
		if j := &jobs[i]; j.err == nil {
			j.exists, j.lookErr = b.store.Has(j.rec.Outputs)
		}
	})
	for i := range jobs {
		err = cmp.Or(err, jobs[i].lookErr)
	}
	return err
}

// admit records the jobs that need no work and returns the others. Of jobs with
// the same place in the store only the first is dumped: the others are duplicates
// if their files are the same, and failures if not.
func (b *run) admit(jobs []job) (left []*job) {
	for i := range jobs {
		j := &jobs[i]
		first, taken := place{}, false
		for _, path := range j.paths {
			if !taken {
				first, taken = b.owner[placeKey(path)]
			}
		}

		switch {
		case j.err != nil:
			b.failOrSkip(j.rec, j.mod.Main.Found, j.err)
			continue
		case taken && j.sameFile(&first):
			b.record(Record{Status: Duplicate, Input: j.rec.Input, Of: first.main.Name()})
			continue
		case taken:
			b.fail(j.rec, fmt.Errorf("%s: has the name and id of %s, but is another file; dump it into another store",
				j.rec.Input, first.main.Name()))
			continue
		case j.exists && b.opt.Second == nil:
			j.rec.Status = Existing
			b.record(j.rec)
		default:
			left = append(left, j)
		}

		// The job is the first of its places: later ones are compared with it.
		for _, path := range j.paths {
			b.owner[placeKey(path)] = place{j.mod.Main, j.mod.Size}
		}
		for _, c := range j.mod.Copies {
			b.record(Record{Status: Duplicate, Input: c.Name(), Of: j.rec.Input})
		}
	}
	return left
}

// dumpAll dumps the jobs, as many at a time as processors and memory allow.
func (b *run) dumpAll(ctx context.Context, jobs []*job) error {
	tasks := make([]task, len(jobs))
	for i, j := range jobs {
		tasks[i] = task{Memory: j.memory, Do: func(ctx context.Context) error {
			b.opt.Progress.Begin(filepath.Base(j.rec.Input))
			defer b.opt.Progress.End(filepath.Base(j.rec.Input), j.mod.Size)
			return j.do(ctx)
		}}
	}

	held := b.hold.usedNow()
	if b.more {
		held = b.hold.most() // files of the next round are read meanwhile
	}
	return runTasks(ctx, tasks, b.opt.Jobs, max(taskBudget(b.opt.Memory)-held, 1))
}
