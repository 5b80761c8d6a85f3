package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"symkit/dump"
	"symkit/dump/batch"
	"symkit/dump/store"
	"symkit/internal/atomicfile"
	"symkit/internal/command"
	"symkit/internal/quantity"
	"symkit/lookup/source"
)

// batchRun is one run of dump_syms that writes into a store: what it reports.
type batchRun struct {
	*cli
	opt      dump.Options
	store    *store.Store
	sources  *source.Dirs // nil: source files are not stored
	manifest *batch.Manifest
	progress *progress
	quiet    bool // without a summary

	results  tally
	report   batch.Report // of all results, if --report is given
	alone    summed       // debug files whose binary is not among the inputs
	stripped summed       // modules without debug information
}

// tally is what results add up to.
type tally struct {
	status  map[batch.Status]int
	all     int
	bad     bool   // a written module is one that a build should fail for; see cli.bad
	symbols int64  // bytes of symbol files written
	empty   string // the first package without ELF files
	empties int    // number of these packages
}

func newBatchRun(c *cli, opt dump.Options) *batchRun {
	return &batchRun{cli: c, opt: opt, progress: &progress{messages: c.messages}, results: tally{status: map[batch.Status]int{}}}
}

// batch dumps all inputs into the store and returns the exit code.
func (c *cli) batch(ctx context.Context, opt dump.Options) (code int, err error) {
	b := newBatchRun(c, opt)
	found, err := c.find(ctx)
	if err != nil {
		return command.Failed, b.interrupted(ctx, err)
	}

	// A build without any symbols must not pass unnoticed.
	if found.Empty() && (!c.Empty || len(found.Dirs) > 0) {
		return command.Failed, c.noInputs()
	}

	b.store, err = c.openStore(ctx)
	if err != nil {
		return command.Failed, err
	}
	defer b.store.Close()
	b.sources, err = c.openSources()
	if err != nil {
		return command.Failed, err
	}
	if b.sources != nil {
		defer b.sources.Close()
	}

	// No output may replace an input, such as a program that is to be dumped.
	inputs := slices.Concat(c.inputs(), []string{c.FilesFrom, c.Done}, found.Paths())
	if err := atomicfile.Clobbers(c.Report, nil, inputs...); c.Report != "" && err != nil {
		return command.Failed, err
	}
	if err := atomicfile.Clobbers(c.Output, c.stdout, inputs...); err != nil {
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

// run dumps the inputs, reports the results, and returns the exit code.
func (b *batchRun) run(ctx context.Context, found *batch.Finder) (code int, err error) {
	b.progress.check = b.Check
	b.progress.run()
	defer b.progress.stop()
	for r, err := range batch.Dump(ctx, found, b.store, b.options(found)) {
		many, isMany := errors.AsType[*batch.ManyError](err)
		switch {
		case isMany && (b.ID != "" || b.Name != ""):
			return command.Misuse, fmt.Errorf("--id and --name are for one module, not for %s; leave them out, or give one file", quantity.Number(many.Modules))
		case isMany:
			return command.Misuse, fmt.Errorf("--output is for one module, not for %s; leave it out to fill the store alone", quantity.Number(many.Modules))
		case err != nil:
			return command.Failed, b.interrupted(ctx, err)
		}
		b.take(&r)
	}

	b.warnSums()
	t := &b.results
	switch {
	case t.empty != "" && t.status[batch.NoModule] == t.empties && t.all == t.empties && !found.Divided && !b.Empty: // another shard may have the modules
		return command.Failed, fmt.Errorf("%s; give packages of programs, libraries or debug files, or --allow-empty", t.empty)
	case t.status[batch.Failed] > 0:
		code = command.Failed
	case t.bad:
		code = command.Bad
	}
	b.summary()
	return code, nil
}

// options returns the options of the batch.
func (b *batchRun) options(found *batch.Finder) batch.Options {
	opt := batch.Options{
		Options: b.single(b.opt), Memory: int64(b.Memory), Alias: b.Alias, ELF: b.WithELF, GDB: b.Layout == "gdb",
		Advise: advised, Progress: b.progress,
	}
	// One module of all inputs takes the name and the file that these flags give.
	found.Whole = b.ID != "" || b.Name != "" || b.Output != ""
	if b.Output != "" {
		opt.Second = b.writeTo
	}
	opt.Sources = b.sources
	var err error
	opt.Search, err = b.search(append(b.DebugDir, found.Dirs...))
	if err != nil {
		command.Line(b.messages, "dump_syms: warning: %v", err)
	}
	return opt
}

// take reports a result.
func (b *batchRun) take(r *batch.Result) {
	t := &b.results
	rec := &r.Record
	t.status[rec.Status]++
	t.all++
	t.symbols += rec.SymbolBytes
	switch {
	case rec.Status == batch.Failed:
		command.Line(b.messages, "dump_syms: error: %v", r.Err)
	case errors.Is(r.Err, batch.ErrEmptyPackage):
		t.empty = cmp.Or(t.empty, r.Err.Error())
		t.empties++
	case r.Stats != nil:
		b.describe(r)
	}
	if rec.Why != "" && rec.Status == batch.Written {
		command.Line(b.messages, "dump_syms: %s: replaced: %s", b.store.Path(rec.Outputs[0]), rec.Why)
	}
	if b.Report != "" {
		b.report.Add(*rec)
	}
	b.manifest.Add(*rec)
}

// describe reports a module that was dumped, in one piece. A batch warns of all debug files without a binary in one
// line, and of all modules without debug information in another.
func (b *batchRun) describe(r *batch.Result) {
	var summed []string
	if !b.Verbose.all() {
		if len(r.Stats.Alone) > 0 {
			summed = r.Stats.Alone
			b.alone.add(summed...)
		}
		if r.Stripped != nil {
			text := advised(r.Stripped).Error()
			summed = append(summed, text)
			b.stripped.add(text)
		}
	}
	var log bytes.Buffer
	b.writeCheck(&log, r.Check, b.store.Path(r.Record.Outputs[0]))
	b.losses(&log, r.Warnings, r.Probes, r.Stats, summed)
	b.messages.Write(log.Bytes())
	t := &b.results
	t.bad = t.bad || r.Record.Findings > 0 || b.Strict && r.Lost
}

// interrupted returns the error of a batch that ended before its
// end: err, how much is in the store, and how to continue if that is possible.
func (b *batchRun) interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	} else if !errors.Is(err, store.ErrStore) {
		return err
	}

	again := "run the same command again to dump the rest"
	if b.Force {
		again = "run the same command without --force to dump the rest"
	}
	modules, more := b.progress.rounds()
	known := ""
	if more {
		known = " of the packages read so far"
	}
	return fmt.Errorf("%w: %s of %s modules%s are in the store, all of them whole; %s", err,
		quantity.Number(b.results.status[batch.Written]+b.results.status[batch.Existing]), quantity.Number(modules), known, again)
}

// summed counts modules with warnings of one kind, which a batch sums up in one line.
type summed struct {
	n        int
	warnings []string // of the last module
}

// add notes the warnings of a module.
func (s *summed) add(warnings ...string) { s.n, s.warnings = s.n+1, warnings }

// warnSums writes the warnings that were summed up. A single module has its own warnings.
func (b *batchRun) warnSums() {
	for _, s := range []struct {
		*summed
		text string
	}{
		{&b.alone, "debug files have no binary beside them: these modules have the names of the debug files and no unwind rules; give the binaries, too"},
		{&b.stripped, "modules have no debug information: no functions, lines and inlined calls; dump the files as they were before strip, or give their debug files, --debug-dir or --sysroot"},
	} {
		if s.n > 1 {
			s.warnings = []string{quantity.Number(s.n) + " " + s.text + "; -v names the files"}
		}
		for _, warning := range s.warnings {
			command.Line(b.messages, "dump_syms: warning: %s", warning)
		}
	}
}

// summary writes how many modules were written, found or refused. A batch of one
// module has no summary, except with --verbose.
func (b *batchRun) summary() {
	n, _ := b.progress.rounds()
	if b.quiet || n == 1 && !b.Verbose.all() && b.shard.Count == 0 {
		return
	}

	var line bytes.Buffer
	fmt.Fprintf(&line, "dump_syms: ")
	if b.shard.Count > 0 {
		fmt.Fprintf(&line, "shard %s: ", b.shard)
	}
	line.WriteString(quantity.Number(n) + " modules")
	for _, t := range []struct {
		status batch.Status
		words  string
	}{
		{batch.Written, "written"}, {batch.Existing, "there before"}, {batch.NoModule, "without symbols"}, {batch.Before, "packages dumped before"},
		{batch.Duplicate, "duplicates"}, {batch.Failed, "failed"},
	} {
		if k := b.results.status[t.status]; k > 0 || t.status == batch.Written {
			fmt.Fprintf(&line, ", %s %s", quantity.Number(k), t.words)
		}
	}

	fmt.Fprintf(&line, "; %s of symbols", quantity.Bytes(b.results.symbols))
	b.messages.Last("%s", &line)
}

// writeReport writes the page of --report. The page appears whole or not at all.
func (b *batchRun) writeReport(ctx context.Context) error {
	if b.Report == "" {
		return nil
	}
	return atomicfile.Write(ctx, b.Report, func(w io.Writer) error {
		return b.report.WritePage(w, "dump_syms "+command.Version(), b.Store)
	})
}
