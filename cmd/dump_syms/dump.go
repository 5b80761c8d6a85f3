package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"symkit/check"
	"symkit/check/report"
	"symkit/dump"
	"symkit/elfx/identity"
	"symkit/internal/atomicfile"
	"symkit/internal/command"
	"symkit/internal/crash"
	"symkit/internal/limitof"
	"symkit/internal/quantity"
)

var (
	errNoCFI   = errors.New("no unwind rules")
	errNothing = errors.New("no symbols: it has no debug information, symbol table or unwind table")
)

// dump dumps the paths of the command line: into the store if there is one, else as one
// module. dump reports mistakes in the command line before it opens any file, and refuses
// to open one of the inputs for writing.
func (c *cli) dump(ctx context.Context) (code int, err error) {
	opt, err := c.options()
	if err != nil {
		return command.Misuse, err
	}

	err = cmp.Or(command.Directories("--debug-dir", c.DebugDir), command.Directories("--sysroot", c.Sysroot),
		command.Directories("--dwo-dir", c.DWODir))
	if err != nil {
		return command.Failed, err
	}

	if c.Worker {
		return c.serve(ctx, opt)
	}
	if c.Store != "" {
		return c.batch(ctx, opt)
	}

	// The named inputs are compared now, and companions once they are found.
	if err := command.Clobbers(c.Output, c.stdout, c.inputs()...); err != nil {
		return command.Failed, err
	}

	in, err := c.open(ctx)
	if err != nil {
		return command.Failed, err
	}
	defer in.Close()

	setHeap(dumpPercent)
	limitHeap(in)

	m, err := c.module(ctx, in, opt)
	if err != nil {
		return command.Failed, err
	}

	// Companions may lie where the output is to go.
	if err := command.Clobbers(c.Output, c.stdout, in.paths()...); err != nil {
		return command.Failed, err
	}

	findings, err := c.write(ctx, in, m, func(write func(io.Writer) error) error { return c.writeTo(ctx, write) })
	if err != nil {
		return command.Failed, err
	}

	c.report(in, m)
	if c.bad(in, m, findings) {
		return command.Bad, nil
	}
	return 0, nil
}

// smallImage is a size in bytes below which goroutines take longer to start than they
// save.
const smallImage = 64 << 10

// withFlag adds the flag that gives a module without an id one.
func withFlag(err error) error {
	if errors.Is(err, identity.ErrNone) {
		return fmt.Errorf("%w; give one with --id", err)
	}
	return err
}

// module dumps the opened files. A module without symbols is an error unless it
// is the only one of the run and has no code that could have symbols, as some
// kernel modules.
func (c *cli) module(ctx context.Context, in *input, opt dump.Options) (*dump.Module, error) {
	opt.Companions = in.others
	if opt.Jobs == 0 && in.img.Size() < smallImage {
		opt.Jobs = 1
	}
	m, err := dump.Dump(ctx, in.img, opt)
	err = withFlag(err)

	path := in.img.Main.Path()

	switch {
	case err != nil:
		return nil, err
	case c.CheckCFI && m.Stats.FDEs == 0:
		return nil, fmt.Errorf("%s: %w: %s", path, errNoCFI, cmp.Or(m.Stats.NoRules, "--no-cfi leaves them out, or the file has no code"))
	case c.Header || !m.IsEmpty():
	case c.Store != "" || len(in.img.Main.ExecRanges()) > 0:
		return nil, nothing(in, m)
	default:
		in.warnings = append(in.warnings, path+": has no code: the symbol file has MODULE and INFO only")
	}
	if !c.Header && in.stripped(m) {
		in.missing = true
		in.noInfo = fmt.Sprintf("%s: has no debug information: no functions, lines and inlined calls; %s", path, in.searched())
		in.warnings = append(in.warnings, in.noInfo)
	}
	return m, nil
}

// nothing returns the error for a module without symbols. It names the first
// damage, if there is any, since that may have cost the symbols.
func nothing(in *input, m *dump.Module) error {
	if losses := append(m.Stats.Losses, in.losses()...); len(losses) > 0 {
		return fmt.Errorf("%w; no symbols are left", losses[0])
	}
	return fmt.Errorf("%s: %w", in.img.Main.Path(), errNothing)
}

// bad reports whether a build should fail because of a module that was written:
// it has findings, or it has losses and --strict is given.
func (c *cli) bad(in *input, m *dump.Module, findings uint64) bool {
	lost := m.Stats.LossCount+m.Stats.Missing > 0 || in.missing || len(in.losses()) > 0
	return findings > 0 || c.Strict && lost
}

// largeText is the size in bytes from which a symbol file was made of so many records that
// their memory is needed for the check.
const largeText = 4 << 20

// write calls to with the function that writes m's text, which the limit output bounds. With
// --check, write returns the number of findings in the text. After a check m has no
// records.
func (c *cli) write(ctx context.Context, in *input, m *dump.Module, to func(func(io.Writer) error) error) (findings uint64, err error) {
	bounded := func(w io.Writer) error {
		return m.Write(command.Bounded(ctx, w, limitof.Output, in.img.Main.Path(), in.img.Size()))
	}
	if !c.Check {
		return 0, to(bounded)
	}

	// The text is kept in memory, so that the checked text is the written one.
	text := newTextBuffer(in.img.Size())
	defer text.release()
	if err := bounded(text); err != nil {
		return 0, err
	}

	// The check uses the memory of the records again.
	*m = dump.Module{OS: m.OS, Arch: m.Arch, ID: m.ID, Name: m.Name, BuildID: m.BuildID, CodeID: m.CodeID, Stats: m.Stats}
	if text.size > largeText {
		checkHeap()
	}

	// The text is checked while it is written. If it cannot be written, no finding matters.
	checkCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	checked := make(chan error, 1)
	var rep *report.Report
	go func() {
		defer crash.Catch()
		var err error
		rep, err = check.File(checkCtx, in.img, text.bytes(), check.Options{
			Names: []string{m.Name}, ID: c.ID, OS: c.OS, Companions: in.others, KeepAddress: c.Keep, Jobs: c.Jobs,
			Options: report.Options{Allow: []string{report.GapUnverified}}, // dump_syms has no flag that allows it
		})
		checked <- err
	}()
	err = to(func(w io.Writer) error {
		_, err := w.Write(text.bytes())
		return err
	})
	if err != nil {
		cancel()
	}
	err = cmp.Or(err, <-checked)
	if err != nil {
		return 0, err
	}

	// Without findings, only the parts that could not be verified have lines.
	findings = rep.Total() + uint64(rep.Unallowed())
	if findings > 0 || c.Verbose.all() {
		return findings, rep.WriteText(c.stderr, cmp.Or(c.Output, "-"))
	}
	for i := range rep.Gaps {
		command.Line(c.stderr, "dump_syms: warning: --check: %s", rep.Gaps[i].What)
	}
	return 0, nil
}

// writeTo calls write with standard output or with the file of --output. The
// file appears whole or not at all.
func (c *cli) writeTo(ctx context.Context, write func(io.Writer) error) error {
	if c.Output == "" || c.Output == "-" {
		return write(c.stdout)
	}
	return atomicfile.Write(ctx, c.Output, write)
}

// report writes the losses of the written module to standard error: large losses as
// errors, warnings, and the number of damaged items.
func (c *cli) report(in *input, m *dump.Module) {
	w := bufio.NewWriter(c.stderr)
	defer w.Flush()

	// Companions such as .dwo files are opened only while the module is dumped.
	if in.others != nil {
		in.reject(in.others.Probes())
	}

	for _, text := range m.Stats.LargeLosses() {
		fmt.Fprintf(w, "dump_syms: error: %s\n", text)
	}
	for _, warning := range append(in.warnings, m.Stats.Warnings...) {
		if !slices.Contains(c.summed, warning) {
			command.Line(w, "dump_syms: warning: %s", warning)
		}
	}

	if c.Verbose.all() {
		in.describe(w)
		describe(w, &m.Stats)
	}

	if n := m.Stats.LossCount; n > 0 {
		command.Line(w, "dump_syms: warning: %s left out, the first: %v", quantity.Count(n, "damaged part", "damaged parts"), m.Stats.Losses[0])
	}
}

// describe lists the parts that were read and those that were lost.
func describe(w io.Writer, s *dump.Stats) {
	n := quantity.Number[int]
	command.Line(w, "dump_syms: %s units, %s functions, %s lines, %s inlined calls, %s public symbols, %s unwind table entries",
		n(s.Units), n(s.Funcs), n(s.Lines), n(s.Inlines), n(s.Publics), n(s.FDEs))

	for _, c := range s.Counts() {
		command.Line(w, "dump_syms: %s %s", quantity.Number(c.N), c.What)
	}
	for _, err := range s.Losses {
		command.Line(w, "dump_syms: left out: %v", err)
	}
}
