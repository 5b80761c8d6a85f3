package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"symkit/dump"
	"symkit/dump/batch"
	"symkit/dump/store"
	"symkit/internal/command"
)

// batchRun is one run that writes into a store.
type batchRun struct {
	*cli
	opt      dump.Options
	jobs     int
	dirs     []string // for debug files
	store    *store.Store
	manifest *batch.Manifest
	progress *progress

	mu      sync.Mutex
	tally   map[batch.Status]int
	bad     bool  // something is written that a build should fail for
	symbols int64 // bytes written
	// alone counts the debug files whose binary is not among the inputs; what
	// there is to say of the last one is in aloneWarnings.
	alone         int
	aloneWarnings []string
}

// batch dumps all inputs into the store.
func (c *cli) batch(ctx context.Context, opt dump.Options) (code int, err error) {
	if c.Jobs > 0 {
		// The tasks share Go's processors, so this is how many there are.
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(c.Jobs))
	}
	b := &batchRun{cli: c, opt: opt, jobs: runtime.GOMAXPROCS(0), progress: newProgress(c.messages), tally: map[batch.Status]int{}}
	b.opt.Jobs = b.jobs
	found, err := c.find(ctx)
	if err != nil {
		return command.Failed, b.early(ctx, 0, err)
	}
	if len(found.Inputs)+len(found.Failed) == 0 { // a build with no symbols at all must not pass
		if c.Recursive {
			return command.Failed, errors.New("no ELF file below the directories given")
		}
		return command.Failed, errors.New("no file among the arguments: directories are searched with --recursive only")
	}
	b.dirs = append(c.DebugDir, found.Dirs...)
	if b.store, err = c.openStore(); err != nil {
		return command.Failed, err
	}
	defer b.store.Close()
	inputs := append(c.inputs(), c.FilesFrom)
	for i := range found.Inputs {
		inputs = append(inputs, found.Inputs[i].Path)
	}
	manifest, closeManifest, err := c.openManifest(ctx, inputs)
	if err != nil {
		return command.Failed, err
	}
	b.manifest = manifest
	code, err = b.run(ctx, found)
	err = errors.Join(err, manifest.Err(), closeManifest())
	if err != nil {
		return command.Failed, err
	}
	return code, nil
}

// run makes modules of what was found, and dumps them.
func (b *batchRun) run(ctx context.Context, found *batch.Finder) (code int, err error) {
	groups, err := batch.Group(ctx, found.Inputs, b.jobs)
	if err != nil {
		return command.Failed, b.early(ctx, 0, err)
	}
	for _, f := range append(found.Failed, groups.Failed...) {
		b.fail(batch.Record{Input: f.Name}, f.Err)
	}
	for _, s := range groups.Skipped {
		b.record(batch.Record{Status: batch.NoModule, Input: s.Name(), Error: s.Why.Error()})
	}
	if len(groups.Modules) > 1 && (b.ID != "" || b.Name != "") {
		return command.Misuse, fmt.Errorf("--id and --name are for one module, not for %d", len(groups.Modules))
	}
	jobs := make([]job, len(groups.Modules))
	err = batch.Each(ctx, len(jobs), b.jobs, func(i int) { jobs[i].prepare(ctx, b, &groups.Modules[i]) })
	if err != nil {
		return command.Failed, b.early(ctx, len(jobs), err)
	}
	err = b.dumpAll(ctx, b.admit(jobs))
	if err != nil {
		return command.Failed, b.early(ctx, len(jobs), err)
	}
	b.warnAlone()
	b.summary(len(jobs))
	switch {
	case b.tally[batch.Failed] > 0:
		return command.Failed, nil
	case b.bad:
		return command.Bad, nil
	}
	return 0, nil
}

// admit records what needs no work and returns the jobs that are left. Of those
// with the same place in the store the first stays.
func (b *batchRun) admit(jobs []job) (left []*job) {
	owner := map[string]*job{} // by path in the store
	for i := range jobs {
		j := &jobs[i]
		first := j
		for _, path := range j.paths {
			first = cmp.Or(owner[path], first)
		}
		switch {
		case j.err != nil:
			b.failOrSkip(j, j.err)
			continue
		case first != j && j.sameFile(first):
			b.record(batch.Record{Status: batch.Duplicate, Input: j.rec.Input, Of: first.rec.Input})
			continue
		case first != j:
			b.fail(j.rec, fmt.Errorf("%s: has the name and id of %s, but is another file; dump it into another store",
				j.rec.Input, first.rec.Input))
			continue
		case b.store.Has(j.rec.Outputs):
			j.rec.Status = batch.Existing
			b.record(j.rec)
		default:
			left = append(left, j)
		}
		for _, path := range j.paths {
			owner[path] = j
		}
		for _, c := range j.mod.Copies {
			b.record(batch.Record{Status: batch.Duplicate, Input: c.Name(), Of: j.rec.Input})
		}
	}
	return left
}

// dumpAll dumps the jobs.
func (b *batchRun) dumpAll(ctx context.Context, jobs []*job) error {
	tasks := make([]batch.Task, len(jobs))
	var bytes int64
	for i, j := range jobs {
		bytes += j.mod.Size
		tasks[i] = batch.Task{Memory: j.memory, Do: func(ctx context.Context) error {
			b.progress.begin(filepath.Base(j.rec.Input))
			defer b.progress.end(filepath.Base(j.rec.Input), j.mod.Size)
			return j.do(ctx)
		}}
	}
	budget := int64(b.Memory)
	if budget == 0 {
		budget = batch.DefaultBudget(os.DirFS("/"))
	}
	prepareHeap(min(together(tasks, b.jobs), budget), largePercent)
	b.progress.run(int64(len(jobs)), bytes)
	defer b.progress.stop()
	return batch.Run(ctx, tasks, b.jobs, batch.TaskBudget(budget))
}

// record counts an outcome and writes it to the manifest.
func (b *batchRun) record(r batch.Record) {
	b.mu.Lock()
	b.tally[r.Status]++
	b.symbols += r.SymbolBytes
	b.mu.Unlock()
	b.manifest.Add(r)
}

// fail records a failure and tells it.
func (b *batchRun) fail(r batch.Record, err error) {
	r.Status, r.Error, r.Outputs = batch.Failed, err.Error(), nil
	command.Line(b.messages, "dump_syms: error: %v", err)
	b.record(r)
}

// early explains why a batch of n modules ended early, and how to go on.
func (b *batchRun) early(ctx context.Context, n int, err error) error {
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	} else if !errors.Is(err, store.ErrStore) {
		return err
	}
	again := "the same command goes on from there"
	if b.Force {
		again = "the same command without --force goes on from there"
	}
	return fmt.Errorf("%w: %d of %d modules are in the store, all of them whole; %s",
		err, b.tally[batch.Written]+b.tally[batch.Existing], n, again)
}

// tellAlone notes the warnings about a debug file whose binary is missing.
func (b *batchRun) tellAlone(warnings []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.alone++
	b.aloneWarnings = warnings
}

// warnAlone warns of the debug files whose binary is missing: one by its warnings,
// several in one line.
func (b *batchRun) warnAlone() {
	if b.alone == 1 {
		for _, warning := range b.aloneWarnings {
			command.Line(b.messages, "dump_syms: warning: %s", warning)
		}
		return
	}
	if b.alone > 1 {
		command.Line(b.messages, "dump_syms: warning: %d debug files have no binary beside them: these modules have the names of "+
			"the debug files and no unwind rules; give the binaries, too; -v names the files", b.alone)
	}
}

// summary tells what was done, unless it was one module.
func (b *batchRun) summary(n int) {
	if n == 1 && !b.Verbose {
		return
	}
	var line bytes.Buffer
	fmt.Fprintf(&line, "dump_syms: %d modules", n)
	for _, t := range []struct {
		status batch.Status
		words  string
	}{
		{batch.Written, "written"}, {batch.Existing, "there before"}, {batch.NoModule, "without symbols"},
		{batch.Duplicate, "duplicates"}, {batch.Failed, "failed"},
	} {
		if k := b.tally[t.status]; k > 0 || t.status == batch.Written {
			fmt.Fprintf(&line, ", %d %s", k, t.words)
		}
	}
	fmt.Fprintf(&line, "; %s of symbols", shown(b.symbols))
	b.messages.Last("%s", &line)
}
