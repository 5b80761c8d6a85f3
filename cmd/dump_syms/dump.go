package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"symkit/check/report"
	"symkit/dump"
	"symkit/dump/single"
	"symkit/internal/atomicfile"
	"symkit/internal/command"
	"symkit/internal/quantity"
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

	if !c.Check {
		setHeap(dumpPercent)
	}
	limitHeap(in)

	one := c.single(opt)
	one.AllowNoCode = true
	m, err := in.Dump(ctx, one)
	if err != nil {
		return command.Failed, c.noRules(advised(err))
	}

	// Companions may lie where the output is to go.
	if err := command.Clobbers(c.Output, c.stdout, in.Paths()...); err != nil {
		return command.Failed, err
	}

	rep, err := in.Write(ctx, m, one, func(write func(io.Writer) error) error { return c.writeTo(ctx, write) })
	if err != nil {
		return command.Failed, err
	}
	err = c.writeCheck(rep)
	if err != nil {
		return command.Failed, err
	}

	c.report(in, m)
	if c.bad(in, m, rep) {
		return command.Bad, nil
	}
	return 0, nil
}

// single returns the options for the dump of one module.
func (c *cli) single(opt dump.Options) single.Options {
	return single.Options{Options: opt, Check: c.Check, NeedRules: c.CheckCFI}
}

// noRules completes an error about a module that has no rules for no reason of its own.
func (c *cli) noRules(err error) error {
	if errors.Is(err, single.ErrNoRules) && strings.HasSuffix(err.Error(), single.ErrNoRules.Error()) {
		return fmt.Errorf("%w: --no-cfi leaves them out, or the file has no code", err)
	}
	return err
}

// countFindings returns the number of findings in a report, which may be nil.
func countFindings(rep *report.Report) uint64 {
	if rep == nil {
		return 0
	}
	return rep.Total() + uint64(rep.Unallowed())
}

// bad reports whether a build should fail because of a module that was written: it has findings, or it has losses and
// --strict is given.
func (c *cli) bad(in *single.Module, m *dump.Module, rep *report.Report) bool {
	return countFindings(rep) > 0 || c.Strict && in.Lost(m)
}

// writeCheck writes the report of --check. Without findings, only the parts that could not be verified have lines.
func (c *cli) writeCheck(rep *report.Report) error {
	switch {
	case rep == nil:
		return nil
	case countFindings(rep) > 0 || c.Verbose.all():
		return rep.WriteText(c.stderr, cmp.Or(c.Output, "-"))
	}
	for i := range rep.Gaps {
		command.Line(c.stderr, "dump_syms: warning: --check: %s", rep.Gaps[i].What)
	}
	return nil
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
func (c *cli) report(in *single.Module, m *dump.Module) {
	w := bufio.NewWriter(c.stderr)
	defer w.Flush()
	in.Rejected()
	for _, text := range m.Stats.LargeLosses() {
		fmt.Fprintf(w, "dump_syms: error: %s\n", text)
	}
	for _, warning := range warnings(in, m) {
		if !slices.Contains(c.summed, warning) {
			command.Line(w, "dump_syms: warning: %s", warning)
		}
	}

	if c.Verbose.all() {
		for _, p := range in.AllProbes() {
			result := "found"
			if p.Err != nil {
				result = p.Err.Error()
			}
			command.Line(w, "dump_syms: %s: %s: %s", p.What, p.Path, result)
		}
		describe(w, &m.Stats)
	}

	if n := m.Stats.LossCount; n > 0 {
		command.Line(w, "dump_syms: warning: %s left out, the first: %v", quantity.Count(n, "damaged part", "damaged parts"), m.Stats.Losses[0])
	}
}

// warnings returns the warnings about a module, with what the user can do.
func warnings(in *single.Module, m *dump.Module) (texts []string) {
	for _, warning := range in.Warnings {
		texts = append(texts, advised(warning).Error())
	}
	return append(texts, m.Stats.Warnings...)
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
