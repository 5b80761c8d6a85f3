package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"symkit/check"
	"symkit/check/diff"
	"symkit/check/lint"
	"symkit/check/report"
	"symkit/elfx"
	"symkit/internal/atomicfile"
	"symkit/internal/bounds"
	"symkit/internal/remote"
	"symkit/lookup"
)

// Run is called by kong.
func (c *replayCmd) Run(e *env, out *output) error {
	if c.Store != "" {
		return c.checkStore(e, out)
	}
	ctx, stop := context.WithTimeoutCause(e.ctx, c.Timeout, fmt.Errorf("%s: not done after %v; give more time with --timeout", remote.Shown(c.Sym), c.Timeout))
	defer stop()
	if err := atomicfile.Clobbers("", e.stdout, append(c.Files, c.Sym)...); err != nil {
		return err
	}

	in := newInputs(ctx)
	defer in.close()
	return in.named(c.replay(e, out, in))
}

// replay is Run for files that may be at addresses.
func (c *replayCmd) replay(e *env, out *output, in *inputs) error {
	if c.withoutSym(out, in) {
		return c.tables(e, out, in)
	}
	data, err := in.sym(c.Sym)
	if errors.Is(err, errNotSym) {
		return fmt.Errorf("%w; the symbol file comes first, then the ELF file", err)
	}
	if err != nil {
		return err
	}
	mod, err := c.open(e, in)
	if err != nil {
		return err
	}
	defer mod.Close()

	// The limit on memory depends on the size of all inputs.
	bounds.Heap(uint64(len(data.bytes)) + mod.Image.Size() + size(mod.Companions.Alt))
	opt := check.Options{Options: out.options()}
	opt.Companions = mod.Companions
	opt.Names, opt.ID, opt.OS, opt.KeepAddress, opt.Jobs = c.Name, c.ID, c.OS, c.Keep, c.Jobs
	opt.Disassembler, opt.Drop = disassembler, data.mapping.Drop

	// The status line disappears before anything else is written.
	opt.Progress = e.stderr.Stage
	rep, err := check.File(in.ctx, mod.Image, data.bytes, opt)
	e.stderr.Erase()

	// If the file has changed meanwhile, nothing that was found counts.
	err = cmp.Or(data.unchanged(), err)
	if err != nil {
		return located(remote.Shown(c.Sym), err)
	}
	r := report.Result{File: remote.Shown(c.Sym), Against: cmp.Or(in.copies[mod.Image.Main.Path()], mod.Image.Main.Path()), Report: rep}
	kind := lookup.Relative
	if c.Keep {
		kind = lookup.Virtual
	}
	err = out.addSources(in.ctx, &r, mod, kind, side{[]string{report.OfSymbols, report.OfELF}, []string{data.path}})
	if err != nil {
		return err
	}
	return out.write(e, r)
}

// size returns the size in bytes of a file that may be nil.
func size(f *elfx.File) uint64 {
	if f == nil {
		return 0
	}
	return uint64(f.Size())
}

// located puts the file in front of an error that does not name it.
func located(sym string, err error) error {
	if errors.Is(err, check.ErrEmpty) || errors.Is(err, check.ErrTooMany) || err == elfx.ErrChanged {
		return fmt.Errorf("%s: %w", sym, err)
	}
	return err
}

// Run is called by kong.
func (c *lintCmd) Run(e *env, out *output) error {
	if err := atomicfile.Clobbers("", e.stdout, c.Syms...); err != nil {
		return err
	}

	// A file that cannot be read does not keep the others from being checked.
	var results []report.Result
	var failed error
	for _, path := range c.Syms {
		r, err := lintFile(e.ctx, path, out)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		results = append(results, r)
	}
	return errors.Join(out.write(e, results...), failed)
}

// lintFile checks one symbol file.
func lintFile(ctx context.Context, path string, out *output) (r report.Result, err error) {
	in := newInputs(ctx)
	defer in.close()
	data, err := in.sym(path)
	if err != nil {
		return r, in.named(err)
	}
	r.File = remote.Shown(path)
	r.Report, err = lint.File(data.bytes, out.options())
	if err != nil {
		err = fmt.Errorf("%s: %w", data.path, err)
	}
	err = in.named(cmp.Or(data.unchanged(), err))
	if err != nil {
		return r, err
	}
	return r, out.addSources(ctx, &r, nil, lookup.Virtual, side{[]string{report.OfSymbols}, []string{data.path}})
}

// Run is called by kong.
func (c *diffCmd) Run(e *env, out *output) error {
	if err := atomicfile.Clobbers("", e.stdout, c.A, c.B); err != nil {
		return err
	}
	in := newInputs(e.ctx)
	defer in.close()
	return in.named(c.compare(e, out, in))
}

// compare is Run for files that may be at addresses.
func (c *diffCmd) compare(e *env, out *output, in *inputs) error {
	a, err := in.sym(c.A)
	if err != nil {
		return err
	}
	b, err := in.sym(c.B)
	if err != nil {
		return err
	}

	// An error of one side gets the path of its file.
	rep, err := diff.Files(a.bytes, b.bytes, out.options())
	if side, ok := errors.AsType[*diff.SideError](err); ok {
		path := c.A
		if side.Second {
			path = c.B
		}
		err = fmt.Errorf("%s: %w", remote.Shown(path), side.Err)
	}
	err = cmp.Or(a.unchanged(), b.unchanged(), err)
	if err != nil {
		return err
	}
	r := report.Result{File: remote.Shown(c.A), Against: remote.Shown(c.B), Report: rep}
	err = out.addSources(in.ctx, &r, nil, lookup.Virtual, side{[]string{report.OfFirst}, []string{a.path}}, side{[]string{report.OfSecond}, []string{b.path}})
	if err != nil {
		return err
	}
	return out.write(e, r)
}
