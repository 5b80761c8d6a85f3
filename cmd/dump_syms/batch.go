package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"symkit/dump"
	"symkit/dump/batch"
	"symkit/dump/store"
	"symkit/elfx"
	"symkit/internal/command"
	"symkit/internal/quantity"
)

// A batch has four steps: find the inputs, group them into modules (batch.Finder.Rounds), prepare a
// job for each module, and dump the modules that the store lacks. The last three are done for one
// part of the inputs after the other. Every input gets exactly
// one record: its module was written, the store had the module already, the input is a
// duplicate, the input has no symbols, or the input failed.

// batchRun is one run of dump_syms that writes into a store.
type batchRun struct {
	*cli
	opt      dump.Options
	jobs     int      // most modules that are dumped at the same time
	dirs     []string // where separate debug files are looked for
	store    *store.Store
	budget   int64       // of the process's memory, in bytes
	hold     *batch.Hold // the files of packages
	manifest *batch.Manifest
	progress *progress

	quiet   bool               // without a summary
	owner   map[[16]byte]place // by placeKey of each path in the store, the first module
	modules int                // in the rounds so far
	more    bool               // another round follows
	large   []*job             // modules that run last
	// incomplete has the packages of large modules.
	incomplete map[string]bool
	empty      string // the first package without ELF files
	empties    int    // number of these packages

	mu             sync.Mutex           // guards the fields below
	tally          map[batch.Status]int // how many records have each status
	recorded       int                  // all of them
	bad            bool                 // a written module is one that a build should fail for; see cli.bad
	failedPackages map[string]bool      // packages of which something failed
	report         batch.Report         // of all of them, if --report is given
	symbols        int64                // bytes of symbol files written
	alone          summed               // debug files whose binary is not among the inputs
	stripped       summed               // modules without debug information
}

// newBatchRun returns a run without inputs and without a store.
func newBatchRun(c *cli, opt dump.Options) *batchRun {
	b := &batchRun{cli: c, opt: opt, jobs: runtime.GOMAXPROCS(0), progress: newProgress(c.messages), tally: map[batch.Status]int{},
		owner: map[[16]byte]place{}, incomplete: map[string]bool{}, failedPackages: map[string]bool{}, budget: int64(c.Memory)}
	b.opt.Jobs = b.jobs
	if b.budget == 0 {
		b.budget = batch.DefaultBudget(os.DirFS("/"))
	}
	b.hold = batch.NewHold(b.budget)
	return b
}

// batch dumps all inputs into the store and returns the exit code.
func (c *cli) batch(ctx context.Context, opt dump.Options) (code int, err error) {
	if c.Jobs > 0 {
		// The tasks share Go's processors, so GOMAXPROCS bounds all of them.
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(c.Jobs))
	}

	b := newBatchRun(c, opt)
	defer b.hold.Close()

	found, err := c.find(ctx)
	if err != nil {
		return command.Failed, b.interrupted(ctx, err)
	}

	// A build without any symbols must not pass unnoticed.
	if len(found.Inputs)+found.CountFailed() == 0 && (!c.Empty || len(found.Dirs) > 0) {
		return command.Failed, c.noInputs()
	}

	b.dirs = append(c.DebugDir, found.Dirs...)
	b.store, err = c.openStore(ctx)
	if err != nil {
		return command.Failed, err
	}
	defer b.store.Close()

	// No output may replace an input, such as a program that is to be dumped.
	inputs := append(c.inputs(), c.FilesFrom, c.Done)
	for i := range found.Inputs {
		inputs = append(inputs, found.Inputs[i].Path)
	}
	if err := command.Clobbers(c.Report, nil, inputs...); c.Report != "" && err != nil {
		return command.Failed, err
	}
	if err := command.Clobbers(c.Output, c.stdout, inputs...); err != nil {
		return command.Failed, err
	}
	manifest, closeManifest, err := c.openManifest(ctx, inputs)
	if err != nil {
		return command.Failed, err
	}

	b.manifest = manifest
	code, err = b.run(ctx, found)
	err = errors.Join(err, manifest.Err(), closeManifest(), b.writeReport(ctx))
	if err != nil {
		return command.Failed, err
	}
	return code, nil
}

// noInputs returns the error for a batch without any file to read.
func (c *cli) noInputs() error {
	switch {
	case c.Recursive:
		return errors.New("no ELF file below the directories given; give directories of programs, libraries or packages, or --allow-empty")
	case len(c.Paths) == 0:
		return fmt.Errorf("--files-from %s: the list is empty; give %s", c.FilesFrom, wantList)
	}
	return errors.New("no file among the arguments; give --recursive to search the directories")
}

// run groups the inputs into modules, dumps them in rounds, and returns the exit code.
func (b *batchRun) run(ctx context.Context, found *batch.Finder) (code int, err error) {
	b.progress.run()
	defer b.progress.stop()

	// One module of all inputs takes the name and the file that these flags give.
	found.Whole = b.ID != "" || b.Name != "" || b.Output != ""
	for f, err := range found.Failures() {
		if err != nil {
			return command.Failed, err
		}
		b.fail(batch.Record{Input: f.Name}, f.Err)
	}

	for r, err := range found.Rounds(ctx, b.hold, b.jobs) {
		if err != nil {
			return command.Failed, b.interrupted(ctx, err)
		}
		r.Take(found)
		b.more = !r.Last
		b.modules += len(r.Modules)
		switch {
		case len(r.Modules) > 1 && (b.ID != "" || b.Name != ""):
			return command.Misuse, fmt.Errorf("--id and --name are for one module, not for %s; leave them out, or give one file", quantity.Number(len(r.Modules)))
		case len(r.Modules) > 1 && b.Output != "":
			return command.Misuse, fmt.Errorf("--output is for one module, not for %s; leave it out to fill the store alone", quantity.Number(len(r.Modules)))
		}

		err = b.round(ctx, r)
		if err != nil {
			return command.Failed, b.interrupted(ctx, err)
		}
		err = found.Finish(r, b.failedPackages, b.incomplete)
		if err != nil {
			return command.Failed, err
		}
	}

	b.warnSums()
	switch {
	case b.nothing(found):
		return command.Failed, fmt.Errorf("%s: no ELF file in the package; give packages of programs, libraries or debug files, or --allow-empty", b.empty)
	case b.tally[batch.Failed] > 0:
		code = command.Failed
	case b.bad:
		code = command.Bad
	}
	b.summary()
	return code, nil
}

// nothing reports whether the inputs are packages without ELF files alone, which need --allow-empty.
// Another shard may have the modules.
func (b *batchRun) nothing(found *batch.Finder) bool {
	return b.empty != "" && b.tally[batch.NoModule] == b.empties && b.recorded == b.empties && !found.Divided && !b.Empty
}

// round records and dumps a round of the batch.
func (b *batchRun) round(ctx context.Context, r *batch.Round) error {
	// Files that could not be opened or are no modules have their records right away.
	for _, f := range r.Failed {
		b.fail(batch.Record{Input: f.Name}, f.Err)
	}
	for _, path := range r.Before {
		b.record(batch.Record{Status: batch.Before, Input: path})
	}
	for _, path := range r.Empty {
		b.empty = cmp.Or(b.empty, path)
		b.empties++
		b.record(batch.Record{Status: batch.NoModule, Input: path, Error: path + ": no ELF file in the package"})
	}
	for _, s := range r.Skipped {
		b.record(batch.Record{Status: batch.NoModule, Input: s.Name(), Error: s.Why.Error()})
	}
	for _, d := range r.Duplicates {
		b.record(batch.Record{Status: batch.Duplicate, Input: d.Name(), Of: d.Of})
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
func (b *batchRun) dumpWaves(ctx context.Context, modules []batch.Module) error {
	var bytes int64
	for i := range modules {
		bytes += modules[i].Size
	}
	b.progress.adjust(int64(len(modules)), bytes)

	for _, wave := range b.hold.Waves(modules) {
		err := b.hold.Extract(ctx, wave, b.jobs)
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
func (b *batchRun) dumpWave(ctx context.Context, wave []*batch.Module) error {
	var files, bytes int64 // corrections of the totals that the progress shows
	for _, m := range wave {
		files, bytes = files-1, bytes-m.Size
	}

	jobs := make([]job, len(wave))
	err := batch.Each(ctx, len(jobs), b.jobs, func(i int) { jobs[i].prepare(ctx, b, wave[i]) })
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
	b.progress.adjust(files, bytes)
	err = b.dumpAll(ctx, b.putOff(left))

	// The large modules are needed once more.
	for _, m := range wave {
		if !slices.ContainsFunc(b.large, func(j *job) bool { return j.mod == m }) {
			*m = batch.Module{}
		}
	}
	return err
}

// leastLarge is the least memory, in bytes, of a module that is put off.
const leastLarge = 64 << 20

// putOff removes from jobs those that exceed the memory budget: they run alone and last. If the
// system kills the process then, everything else is in the store.
func (b *batchRun) putOff(jobs []*job) (left []*job) {
	most := max(batch.TaskBudget(b.budget), leastLarge)
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
func (b *batchRun) dumpLarge(ctx context.Context) error {
	slices.SortStableFunc(b.large, func(x, y *job) int { return cmp.Compare(x.memory, y.memory) })
	for _, j := range b.large {
		err := b.hold.Extract(ctx, []*batch.Module{j.mod}, b.jobs)
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
func (b *batchRun) lookInStore(ctx context.Context, jobs []job) error {
	err := batch.Each(ctx, len(jobs), storeRequests, func(i int) {
		if j := &jobs[i]; j.err == nil {
			j.exists, j.lookErr = b.store.Has(j.rec.Outputs)
		}
	})
	for i := range jobs {
		err = cmp.Or(err, jobs[i].lookErr)
	}
	return err
}

// place is the first module of a path in the store. It is small: a batch keeps one for each path.
type place struct {
	main batch.Input
	size int64
}

// placeKey returns the key of a path in the store: a digest, which is shorter than the path.
func placeKey(path string) (key [16]byte) {
	sum := sha256.Sum256([]byte(path))
	return [16]byte(sum[:16])
}

// admit records the jobs that need no work and returns the others. Of jobs with
// the same place in the store only the first is dumped: the others are duplicates
// if their files are the same, and failures if not.
func (b *batchRun) admit(jobs []job) (left []*job) {
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
			b.failOrSkip(j, j.err)
			continue
		case taken && j.sameFile(&first):
			b.record(batch.Record{Status: batch.Duplicate, Input: j.rec.Input, Of: first.main.Name()})
			continue
		case taken:
			b.fail(j.rec, fmt.Errorf("%s: has the name and id of %s, but is another file; dump it into another store",
				j.rec.Input, first.main.Name()))
			continue
		case j.exists && b.Output == "": // for --output the module is dumped again
			j.rec.Status = batch.Existing
			b.record(j.rec)
		default:
			left = append(left, j)
		}

		// The job is the first of its places: later ones are compared with it.
		for _, path := range j.paths {
			b.owner[placeKey(path)] = place{j.mod.Main, j.mod.Size}
		}
		for _, c := range j.mod.Copies {
			b.record(batch.Record{Status: batch.Duplicate, Input: c.Name(), Of: j.rec.Input})
		}
	}
	return left
}

// dumpAll dumps the jobs, as many at a time as processors and memory allow.
func (b *batchRun) dumpAll(ctx context.Context, jobs []*job) error {
	tasks := make([]batch.Task, len(jobs))
	for i, j := range jobs {
		tasks[i] = batch.Task{Memory: j.memory, Do: func(ctx context.Context) error {
			b.progress.begin(filepath.Base(j.rec.Input))
			defer b.progress.end(filepath.Base(j.rec.Input), j.mod.Size)
			return j.do(ctx)
		}}
	}

	if !b.Check {
		batchHeap()
	}
	held := b.hold.Used()
	if b.more {
		held = b.hold.Limit() // files of the next round are read meanwhile
	}
	return batch.Run(ctx, tasks, b.jobs, max(batch.TaskBudget(b.budget)-held, 1))
}
