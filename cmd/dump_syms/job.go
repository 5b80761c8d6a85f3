package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"symkit/check/report"
	"symkit/dump"
	"symkit/dump/batch"
	"symkit/dump/single"
	"symkit/dump/store"
	"symkit/elfx"
	"symkit/elfx/identity"
	"symkit/internal/command"
)

// job is one module of a batch. prepare opens the module's files to find the module's place
// in the store and the memory that the dump takes; do opens the files again to dump the
// module. Between prepare and do the files are closed, so that a waiting job holds no
// memory.
type job struct {
	cli    // a copy of the batch's, with its own standard error
	b      *batchRun
	mod    *batch.Module
	log    bytes.Buffer   // cli's standard error, passed on at once at the end
	in     *single.Module // the module's files, open within prepare and dump
	debug  string         // path of the separate debug file that prepare found
	paths  []string       // of the symbol file in the store
	elf    []elfCopy      // the ELF files to store with the symbol file
	memory int64          // estimate of the dump's memory, in bytes
	rec    batch.Record
	err    error // why the module cannot be dumped

	exists  bool  // the store has all outputs
	lookErr error // why that is not known
}

// prepare finds the module's identity, its place in the store, and how much memory its
// dump takes. Errors are left in j.err.
func (j *job) prepare(ctx context.Context, b *batchRun, mod *batch.Module) {
	j.b, j.mod, j.cli = b, mod, *b.cli
	j.cli.stderr = &j.log
	j.cli.packed = mod.Extra

	j.rec = batch.Record{Input: mod.Main.Name(), InputBytes: mod.Size}
	if mod.Debug != nil {
		j.rec.Debug = mod.Debug.Name()
	}

	j.err = j.open(ctx)
	if j.err != nil {
		return
	}
	j.err = j.identify(ctx)
	j.in.Close()

	// The rest of the input would hold memory that the tasks need.
	j.in = &single.Module{Warnings: j.in.Warnings, Probes: j.in.Probes, Incomplete: j.in.Incomplete}
}

// identify fills in the module's name, id, places in the store and size.
func (j *job) identify(ctx context.Context) error {
	b, mod := j.b, j.mod

	opt := b.opt
	opt.HeaderOnly = true
	m, err := dump.Dump(ctx, j.in.Image, opt)
	if err != nil {
		return advised(err)
	}

	j.rec.Name, j.rec.ID, j.rec.OS, j.rec.Arch, j.rec.CodeID = m.Name, m.ID, m.OS, m.Arch, m.CodeID
	names := []string{m.Name}
	if b.Alias {
		names = append(names, mod.Names...)
	}

	place := store.Module{Names: names, ID: m.ID, BuildID: m.BuildID}
	j.paths, err = b.store.Paths(place, store.Symbols)
	if err == nil && b.WithELF {
		j.elf, err = j.elfCopies(place)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", j.rec.Input, err)
	}

	// A store may hold the very files that are read.
	for _, path := range j.paths {
		if err := command.Clobbers(b.store.Path(path), nil, j.in.Paths()...); err != nil {
			return err
		}
	}

	j.cli.Output = b.store.Path(j.paths[0])
	j.rec.Outputs = slices.Clone(j.paths)
	for _, c := range j.elf {
		j.rec.Outputs = append(j.rec.Outputs, c.paths...)
	}

	j.memory = batch.Estimate(j.in.Image, j.in.Companions, batch.Work{Inlines: b.Inlines, Check: b.Check})

	// A debug file that open found by itself counts as input, too.
	if d := j.in.Image.Debug; d != nil && mod.Debug == nil {
		j.debug, j.rec.Debug = d.Path(), d.Path()
		mod.Size += int64(d.Size())
		j.rec.InputBytes = mod.Size
	}
	return nil
}

// open opens the files of the module. The first call searches for the separate
// debug file; the second one opens the file that the first one found.
func (j *job) open(ctx context.Context) error {
	main, err := j.mod.Main.Open()
	if err != nil {
		return err
	}

	files := []*elfx.File{main}
	var debug *elfx.File
	switch {
	case j.mod.Debug != nil:
		debug, err = j.mod.Debug.Open()
	case j.debug != "":
		debug, err = elfx.Open(j.debug)
	}
	if err != nil {
		main.Close()
		return err
	}

	if debug != nil {
		files = append(files, debug)
	}
	in, err := j.assemble(ctx, files, slices.Clone(j.b.dirs))
	if err != nil {
		return err
	}

	// The search took place the first time: its warnings are the module's.
	if first := j.in; first != nil {
		in.Warnings, in.Probes, in.Incomplete = first.Warnings, first.Probes, first.Incomplete
	}
	j.in = in
	return nil
}

// do dumps the module and records the outcome. It returns an error only if the
// batch must end: the store cannot be written, or ctx is done.
func (j *job) do(ctx context.Context) error {
	err := j.dump(ctx)
	j.b.messages.Write(j.log.Bytes())
	j.log = bytes.Buffer{}

	switch {
	case err == nil:
		j.rec.Status = batch.Written
		if j.exists { // another process was faster
			j.rec.Status, j.rec.SymbolBytes, j.rec.StoredBytes = batch.Existing, 0, 0
		}
		j.b.record(j.rec)
	case ctx.Err() != nil:
		return err
	case errors.Is(err, store.ErrStore):
		j.b.fail(j.rec, err)
		return store.ErrStore
	default:
		j.b.failOrSkip(j, err)
	}
	return nil
}

// smallModule is the size of a module, in bytes, below which its dump is not divided among
// goroutines: other modules of the batch use the other processors.
const smallModule = 256 << 10

// dump dumps the module into the store.
func (j *job) dump(ctx context.Context) error {
	if err := j.open(ctx); err != nil {
		return err
	}
	defer j.in.Close()

	start := time.Now()
	opt := j.single(j.b.opt)
	if j.mod.Size < smallModule {
		opt.Jobs = 1
	}
	m, err := j.in.Dump(ctx, opt)
	if err != nil {
		return j.noRules(advised(err))
	}
	j.rec.Seconds = &batch.Seconds{Dump: time.Since(start).Seconds()}

	start = time.Now()
	rep, err := j.in.Write(ctx, m, opt, func(write func(io.Writer) error) error {
		size, err := j.b.store.Put(j.paths, store.Symbols, write)
		j.rec.SymbolBytes, j.rec.StoredBytes, j.exists = size.Text, size.Stored, size.Existed
		j.rec.Seconds.Write = time.Since(start).Seconds()

		// As Mozilla's program, --output writes the module a second time.
		if err == nil && j.b.Output != "" {
			err = j.b.writeTo(ctx, write)
		}
		return err
	})
	if err != nil {
		return err
	}
	if j.Check {
		j.rec.Seconds.Check = time.Since(start).Seconds() - j.rec.Seconds.Write
	}
	err = j.writeCheck(rep)
	if err != nil {
		return err
	}

	// The batch warns of all debug files without a binary in one line, and of all modules
	// without debug information in another.
	if alone := m.Stats.Alone; len(alone) > 0 && !j.Verbose.all() {
		j.summed = alone
		j.b.sum(&j.b.alone, alone...)
	}
	if j.in.Stripped != nil && !j.Verbose.all() {
		text := advised(j.in.Stripped).Error()
		j.summed = append(j.summed, text)
		j.b.sum(&j.b.stripped, text)
	}

	j.report(j.in, m)
	j.describe(m, rep)
	return j.copyELF()
}

// describe fills in the record of a written module.
func (j *job) describe(m *dump.Module, rep *report.Report) {
	r, s := &j.rec, &m.Stats
	r.Counts = &batch.Counts{
		Units: s.Units, Funcs: s.Funcs, Lines: s.Lines, Inlines: s.Inlines, Publics: s.Publics, FDEs: s.FDEs,
	}

	r.Losses, r.Missing, r.Findings = s.LossCount, s.Missing, countFindings(rep)
	if j.in.Incomplete {
		r.Missing++
	}
	for _, err := range s.Losses[:min(len(s.Losses), 10)] {
		r.First = append(r.First, err.Error())
	}

	r.Warnings = warnings(j.in, m)
	if j.bad(j.in, m, rep) {
		j.b.mu.Lock()
		j.b.bad = true
		j.b.mu.Unlock()
	}
}

// failOrSkip records why the module is not dumped. Having nothing to dump is a
// failure only for a file that the user named, not for one that was found in a
// directory.
func (b *batchRun) failOrSkip(j *job, err error) {
	for _, nothing := range []error{dump.ErrNoCode, identity.ErrNone, identity.ErrMachine, single.ErrNothing} {
		if j.mod.Main.Found && errors.Is(err, nothing) {
			j.rec.Status, j.rec.Error, j.rec.Outputs = batch.NoModule, err.Error(), nil
			b.record(j.rec)
			return
		}
	}
	b.fail(j.rec, err)
}

// sameFile reports whether two modules without build ids are copies of each
// other: files with the same bytes.
func (j *job) sameFile(other *place) bool {
	a, b := &j.mod.Main, &other.main
	if a.Packed != nil && b.Packed != nil {
		return a.Packed.SameContent(b.Packed)
	}
	if a.Member != nil || b.Member != nil || a.Packed != nil || b.Packed != nil || j.mod.Size != other.size {
		return false
	}

	x, err := os.ReadFile(a.Path)
	if err != nil {
		return false
	}
	y, err := os.ReadFile(b.Path)
	return err == nil && bytes.Equal(x, y)
}
