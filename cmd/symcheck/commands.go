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
)

// Run is called by kong.
func (c *replayCmd) Run(e *env, out *output) error {
	ctx, stop := context.WithTimeoutCause(e.ctx, c.Timeout, fmt.Errorf("%s: not done after %v; give more time with --timeout", remote.Shown(c.Sym), c.Timeout))
	defer stop()
	if err := atomicfile.Clobbers("", e.stdout, append(c.Files, c.Sym)...); err != nil {
		return err
	}

	// Files at addresses are read from copies.
	f := &fetched{ctx: ctx}
	defer f.remove()
	return f.named(c.replay(ctx, e, out, f))
}

// replay is Run for files that may be at addresses.
func (c *replayCmd) replay(ctx context.Context, e *env, out *output, f *fetched) error {
	sym, err := f.get(c.Sym)
	if err != nil {
		return err
	}
	for i := range c.Files {
		c.Files[i], err = f.get(c.Files[i])
		if err != nil {
			return err
		}
	}

	// The symbol file, then the ELF files.
	data, err := openSym(sym)
	if errors.Is(err, errNotSym) {
		return fmt.Errorf("%w; the symbol file comes first, then the ELF file", err)
	}
	if err != nil {
		return err
	}
	defer data.close()

	mod, err := c.open(ctx, e)
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
	rep, err := check.File(ctx, mod.Image, data.bytes, opt)
	e.stderr.Erase()

	// If the file has changed meanwhile, nothing that was found counts.
	err = cmp.Or(data.unchanged(), err)
	if err != nil {
		return located(remote.Shown(c.Sym), err)
	}
	return out.write(e, report.Result{File: remote.Shown(c.Sym), Against: f.address(mod.Image.Main.Path()), Report: rep})
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
	f := &fetched{ctx: e.ctx}
	defer f.remove()
	for _, path := range c.Syms {
		local, err := f.get(path)
		var rep *report.Report
		if err == nil {
			rep, err = lintFile(local, out.options())
			err = f.named(err)
		}
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		results = append(results, report.Result{File: remote.Shown(path), Report: rep})
	}
	return errors.Join(out.write(e, results...), failed)
}

// lintFile checks one symbol file.
func lintFile(path string, opt report.Options) (*report.Report, error) {
	data, err := openSym(path)
	if err != nil {
		return nil, err
	}
	defer data.close()

	rep, err := lint.File(data.bytes, opt)
	if changed := data.unchanged(); changed != nil {
		return nil, changed
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return rep, nil
}

// Run is called by kong.
func (c *diffCmd) Run(e *env, out *output) error {
	if err := atomicfile.Clobbers("", e.stdout, c.A, c.B); err != nil {
		return err
	}
	f := &fetched{ctx: e.ctx}
	defer f.remove()
	return f.named(c.compare(e, out, f))
}

// compare is Run for files that may be at addresses.
func (c *diffCmd) compare(e *env, out *output, f *fetched) error {
	first, err := f.get(c.A)
	if err != nil {
		return err
	}
	second, err := f.get(c.B)
	if err != nil {
		return err
	}
	a, err := openSym(first)
	if err != nil {
		return err
	}
	defer a.close()
	b, err := openSym(second)
	if err != nil {
		return err
	}
	defer b.close()

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
	return out.write(e, report.Result{File: remote.Shown(c.A), Against: remote.Shown(c.B), Report: rep})
}
