package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"symkit/check/report"
	"symkit/dump"
	"symkit/dump/single"
	"symkit/elfx/companion"
	"symkit/internal/atomicfile"
	"symkit/internal/command"
	"symkit/internal/quantity"
)

// one dumps one module. It refuses to open one of the inputs for writing.
func (c *cli) one(ctx context.Context, opt dump.Options) (code int, err error) {
	// The named inputs are compared now, and companions once they are found.
	if err := atomicfile.Clobbers(c.Output, c.stdout, c.inputs()...); err != nil {
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
	one.AllowNoCode = !c.gsym()
	m, err := in.Dump(ctx, one)
	if err != nil {
		return command.Failed, advised(err)
	}

	// Companions may lie where the output is to go.
	if err := atomicfile.Clobbers(c.Output, c.stdout, in.Paths()...); err != nil {
		return command.Failed, err
	}

	rep, err := in.Write(ctx, m, one, func(write func(io.Writer) error) error { return c.writeTo(ctx, write) })
	if err != nil {
		return command.Failed, err
	}
	c.writeCheck(c.stderr, rep, cmp.Or(c.Output, "-"))
	in.Rejected()
	c.losses(c.stderr, in.Warnings, in.AllProbes(), &m.Stats, nil)
	if c.bad(in, m, rep) {
		return command.Bad, nil
	}
	return 0, nil
}

// single returns the options for the dump of one module.
func (c *cli) single(opt dump.Options) single.Options {
	return single.Options{Options: opt, GSYM: c.gsym(), Check: c.Check, NeedRules: c.CheckCFI}
}

// bad reports whether a build should fail because of a module that was written: it has findings, or it has losses and
// --strict is given.
func (c *cli) bad(in *single.Module, m *dump.Module, rep *report.Report) bool {
	return rep != nil && rep.Total()+uint64(rep.Unallowed()) > 0 || c.Strict && in.Lost(m)
}

// writeCheck writes the report of --check about the symbol file of a name. Without findings, only the parts that could
// not be verified have lines.
func (c *cli) writeCheck(w io.Writer, rep *report.Report, name string) {
	switch {
	case rep == nil:
	case rep.Total()+uint64(rep.Unallowed()) > 0 || c.Verbose.all():
		_ = rep.WriteText(w, name) // to standard error
	default:
		for i := range rep.Gaps {
			command.Line(w, "dump_syms: warning: --check: %s", rep.Gaps[i].What)
		}
	}
}

// writeTo calls write with standard output or with the file of --output. The
// file appears whole or not at all.
func (c *cli) writeTo(ctx context.Context, write func(io.Writer) error) error {
	return atomicfile.WriteOr(ctx, c.Output, c.stdout, write)
}

// losses writes what a written module lacks: large losses as errors, warnings but for those that a batch sums up, and
// the number of damaged items.
func (c *cli) losses(to io.Writer, warnings []error, probes []companion.Probe, s *dump.Stats, summed []string) {
	w := bufio.NewWriter(to)
	defer w.Flush()
	for _, text := range s.LargeLosses() {
		fmt.Fprintf(w, "dump_syms: error: %s\n", text)
	}
	var texts []string
	for _, warning := range warnings {
		texts = append(texts, advised(warning).Error())
	}
	for _, text := range append(texts, s.Warnings...) {
		if !slices.Contains(summed, text) {
			command.Line(w, "dump_syms: warning: %s", text)
		}
	}

	if c.Verbose.all() {
		for _, p := range probes {
			result := "found"
			if p.Err != nil {
				result = p.Err.Error()
			}
			command.Line(w, "dump_syms: %s: %s: %s", p.What, p.Path, result)
		}
		describe(w, s)
	}

	if n := s.LossCount; n > 0 {
		command.Line(w, "dump_syms: warning: %s left out, the first: %v", quantity.Count(n, "damaged part", "damaged parts"), s.Losses[0])
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
