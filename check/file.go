package check

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"symkit/cfi"
	"symkit/check/internal/checks"
	"symkit/check/internal/collect"
	"symkit/check/internal/compare"
	"symkit/check/internal/linter"
	"symkit/check/internal/sframes"
	"symkit/check/internal/symfile"
	"symkit/check/internal/truth"
	"symkit/check/internal/unwind"
	"symkit/check/report"
	"symkit/elfx"
	"symkit/internal/par"
	"symkit/internal/wire"
)

// errNoCode is the error for a core file.
var errNoCode = errors.New("a core file has no symbols: give one of the programs that it names")

// file runs the stages. Each stage returns what it has found.
func file(ctx context.Context, img *elfx.Image, sym []byte, opt Options) (*report.Report, error) {
	in, found, err := read(ctx, img, sym, opt)
	if err != nil {
		return nil, err
	}
	module, other := compare.Module(in, compare.Given{Names: opt.Names, ID: opt.ID, OS: opt.OS})
	units, err := compare.FromUnits(ctx, in)
	if err != nil {
		return nil, err
	}

	// The other comparisons do not depend on each other. The first begins first, because it mostly
	// needs one goroutine.
	var funcs, frames, tables, publics *collect.Outcome
	var missing []report.Function
	var table report.Coverage
	err = par.Do(ctx, in.Jobs,
		func() error { funcs, missing = compare.Funcs(in, units); return nil },
		func() (err error) {
			frames, err = unwind.Compare(ctx, &unwind.Input{
				Sym: in.Sym, Image: img, Code: in.Truth.Code, Bias: in.Bias, Jobs: in.Jobs, Progress: in.Progress, Report: in.Report})
			return err
		},
		func() (err error) {
			tables, table, err = sframes.Compare(ctx, &sframes.Input{
				Image: img, Code: in.Truth.Code, Bias: in.Bias, Findings: slices.Contains(opt.Only, checks.SFrame), Report: in.Report})
			return err
		},
		func() error { publics = compare.Publics(in); return nil },
	)
	if err != nil {
		return nil, err
	}
	found.Add(module, funcs, frames, tables, publics, unverified(in.Truth.Unrelocated(), in.Report))

	rep := found.Report(in.Sym.Text)
	rep.Coverage = in.Sym.Coverage(in.RelativeCode())
	if slices.Contains(opt.Only, checks.SFrame) {
		rep.Coverage = append(rep.Coverage, table)
	}
	if rep.Check(checks.Module) != nil {
		rep.OtherModule = other
	}
	if rep.Check(checks.Funcs) != nil {
		rep.NoDebugInfo = units.NoDebugInfo
	}
	if opt.Places {
		in.Sym.AddPlaces(rep.Findings, report.OfSymbols, func(f *report.Finding) int { return f.Line })
	}
	if opt.Map {
		rep.Map = compare.Map(in, units, missing)
		addContext(rep, in, opt.Disassembler)
	}
	return rep, nil
}

// isCore returns an error for a core file.
func isCore(f *elfx.File) error {
	if f.Type != elf.ET_CORE {
		return nil
	}
	const typeAt = 16 // of e_type (gABI, "ELF Header")
	return fmt.Errorf("%s: %w", f.Path(), &wire.Error{Section: "ELF header", Offset: typeAt, Err: errNoCode})
}

// read reads and lints the symbol file, and reads the image except for its units.
func read(ctx context.Context, img *elfx.Image, sym []byte, opt Options) (*compare.Input, *collect.Outcome, error) {
	main := img.Main
	if err := isCore(main); err != nil {
		return nil, nil, err
	}
	in := compare.Input{Jobs: opt.Jobs, Map: opt.Map, Report: opt.Options, Progress: opt.Progress}
	if in.Jobs <= 0 {
		in.Jobs = runtime.GOMAXPROCS(0)
	}
	if in.Progress == nil {
		in.Progress = func(string, int, int) {}
	}
	if !opt.KeepAddress {
		in.Bias = main.LoadAddress()
	}

	var found *collect.Outcome
	var lost []truth.Loss
	in.Progress("reading the symbol file", 0, 1)
	err := par.Do(ctx, 2,
		func() (err error) {
			arch := cfi.ArchOf(main.Machine, main.Class)
			in.Sym, found, err = linter.Run(opt.Options, symfile.Text{Bytes: sym, Drop: opt.Drop}, arch)
			return err
		},
		func() error {
			in.Truth, lost = truth.Load(ctx, img, truth.Options{Companions: opt.Companions, Limits: opt.Limits})
			return nil
		})
	if err != nil {
		return nil, nil, err
	}
	found.Add(unverified(lost, opt.Options))
	return compare.New(in), found, nil
}

// unverified returns what was lost as an outcome.
func unverified(lost []truth.Loss, opt report.Options) *collect.Outcome {
	found := collect.New(opt)
	for _, loss := range lost {
		found.Unverified(loss.Check, 1, loss.Err.Error())
	}
	return found
}
