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

	"symkit/dump"
	"symkit/dump/batch"
	"symkit/dump/store"
	"symkit/elfx"
	"symkit/internal/command"
)

// job is one module of a batch.
type job struct {
	cli    // with a standard error of its own
	b      *batchRun
	mod    *batch.Module
	log    bytes.Buffer // what cli writes to standard error
	in     *input       // how it was put together; its files are open while it is worked on
	debug  string       // path of the debug file that was found
	paths  []string     // in the store
	elf    []elfCopy    // what else is stored
	memory int64
	rec    batch.Record
	err    error // why it cannot be dumped
}

// prepare finds out what the module is, where it belongs, and what it will take.
func (j *job) prepare(ctx context.Context, b *batchRun, mod *batch.Module) {
	j.b, j.mod, j.cli = b, mod, *b.cli
	j.cli.stderr = &j.log
	j.rec = batch.Record{Input: mod.Main.Name(), InputBytes: mod.Size}
	if mod.Debug != nil {
		j.rec.Debug = mod.Debug.Name()
	}
	if j.err = j.open(ctx); j.err != nil {
		return
	}
	j.err = j.identify(ctx)
	j.in.Close()
	// The rest would be memory that the tasks need.
	j.in = &input{warnings: j.in.warnings, probes: j.in.probes, missing: j.in.missing}
}

// identify reads what the module is called, and how large it is.
func (j *job) identify(ctx context.Context) error {
	b, mod := j.b, j.mod
	opt := b.opt
	opt.HeaderOnly = true
	m, err := dump.Dump(ctx, j.in.img, opt)
	if err != nil {
		return err
	}
	j.rec.Name, j.rec.ID, j.rec.OS, j.rec.Arch, j.rec.CodeID = m.Name, m.ID, m.OS, m.Arch, m.CodeID
	names := []string{m.Name}
	if b.Alias {
		names = append(names, mod.Names...)
	}
	place := store.Module{Names: names, ID: m.ID, CodeID: m.CodeID}
	if j.paths, err = b.store.Paths(place, store.Symbols); err == nil && b.WithELF {
		j.elf, err = j.elfCopies(place)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", j.rec.Input, err)
	}
	for _, path := range j.paths {
		if err := command.Clobbers(b.store.Path(path), nil, j.in.paths()...); err != nil {
			return err
		}
	}
	j.cli.Output = b.store.Path(j.paths[0])
	j.rec.Outputs = slices.Clone(j.paths)
	for _, c := range j.elf {
		j.rec.Outputs = append(j.rec.Outputs, c.paths...)
	}
	j.memory = batch.Estimate(j.in.img, j.in.others, batch.Work{Inlines: b.Inlines, Check: b.Check})
	if d := j.in.img.Debug; d != nil && mod.Debug == nil {
		j.debug, j.rec.Debug = d.Path(), d.Path()
		mod.Size += int64(d.Size())
		j.rec.InputBytes = mod.Size
	}
	return nil
}

// open opens the files of the module. The first time it looks for what belongs
// to it; the second time it opens what was found.
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
	if first := j.in; first != nil {
		in.warnings, in.probes, in.missing = first.warnings, first.probes, first.missing
	}
	j.in = in
	return nil
}

// do dumps the module and records the outcome. An error ends the batch.
func (j *job) do(ctx context.Context) error {
	err := j.dump(ctx)
	j.b.messages.Write(j.log.Bytes())
	j.log = bytes.Buffer{}
	switch {
	case err == nil:
		j.rec.Status = batch.Written
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

// dump dumps the module into the store.
func (j *job) dump(ctx context.Context) error {
	if err := j.open(ctx); err != nil {
		return err
	}
	defer j.in.Close()
	start := time.Now()
	m, err := j.module(ctx, j.in, j.b.opt)
	if err != nil {
		return err
	}
	j.rec.Seconds = &batch.Seconds{Dump: time.Since(start).Seconds()}
	start = time.Now()
	findings, err := j.write(ctx, j.in, m, func(write func(io.Writer) error) error {
		size, err := j.b.store.Put(j.paths, store.Symbols, write)
		j.rec.SymbolBytes, j.rec.StoredBytes = size.Text, size.Stored
		j.rec.Seconds.Write = time.Since(start).Seconds()
		return err
	})
	if err != nil {
		return err
	}
	if j.Check {
		j.rec.Seconds.Check = time.Since(start).Seconds() - j.rec.Seconds.Write
	}
	if alone := m.Stats.Alone; len(alone) > 0 && !j.Verbose {
		j.untold = alone
		j.b.tellAlone(alone)
	}
	j.report(j.in, m)
	j.describe(m, findings)
	return j.copyELF()
}

// describe fills in the record of a written module.
func (j *job) describe(m *dump.Module, findings uint64) {
	r, s := &j.rec, &m.Stats
	r.Counts = &batch.Counts{
		Units: s.Units, Funcs: s.Funcs, Lines: s.Lines, Inlines: s.Inlines, Publics: s.Publics, FDEs: s.FDEs,
	}
	r.Losses, r.Missing, r.Findings = s.LossCount, s.Missing, findings
	if j.in.missing {
		r.Missing++
	}
	for _, err := range s.Losses[:min(len(s.Losses), 10)] {
		r.First = append(r.First, err.Error())
	}
	r.Warnings = append(slices.Clone(j.in.warnings), s.Warnings...)
	if j.bad(j.in, m, findings) {
		j.b.mu.Lock()
		j.b.bad = true
		j.b.mu.Unlock()
	}
}

// failOrSkip records why the module is not dumped: for one that was found, not
// named, having nothing to dump is no failure.
func (b *batchRun) failOrSkip(j *job, err error) {
	for _, nothing := range []error{dump.ErrNoCode, elfx.ErrNoIdentity, elfx.ErrMachine, errNothing} {
		if j.mod.Main.Found && errors.Is(err, nothing) {
			j.rec.Status, j.rec.Error, j.rec.Outputs = batch.NoModule, err.Error(), nil
			b.record(j.rec)
			return
		}
	}
	b.fail(j.rec, err)
}

// sameFile tells whether two modules without build ids are copies: files with
// the same bytes.
func (j *job) sameFile(other *job) bool {
	a, b := &j.mod.Main, &other.mod.Main
	if a.Member != nil || b.Member != nil || j.mod.Size != other.mod.Size {
		return false
	}
	x, err := os.ReadFile(a.Path)
	if err != nil {
		return false
	}
	y, err := os.ReadFile(b.Path)
	return err == nil && bytes.Equal(x, y)
}
