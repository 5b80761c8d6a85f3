package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"symkit/check"
	"symkit/elfx"
	"symkit/internal/command"
	"symkit/internal/limits"
)

// gcPercent makes the collector of memory run more often than usual: the largest
// debug files need a gigabyte for the inflated sections alone.
const gcPercent = 40

// Run is called by kong.
func (c *replayCmd) Run(e *env, out *output) error {
	debug.SetGCPercent(gcPercent)
	ctx, stop := context.WithTimeoutCause(e.ctx, c.Timeout, fmt.Errorf("not done after %v (--timeout)", c.Timeout))
	defer stop()
	if err := command.Clobbers("", e.stdout, append(c.Files, c.Sym)...); err != nil {
		return err
	}
	data, err := openSym(c.Sym)
	if errors.Is(err, errNotSym) {
		return fmt.Errorf("%w; the symbol file comes first, then the ELF file", err)
	}
	if err != nil {
		return err
	}
	defer data.close()
	mod, closeAll, err := c.open(e)
	if err != nil {
		return err
	}
	defer closeAll()
	limits.Heap(uint64(len(data.bytes)) + mod.Image.Size() + size(mod.Companions.Alt))
	opt := out.options()
	opt.Companions = mod.Companions
	opt.Names, opt.ID, opt.OS, opt.KeepAddress, opt.Jobs = c.Name, c.ID, c.OS, c.Keep, c.Jobs
	bar := newProgress(e.stderr)
	opt.Progress = bar.update
	rep, err := check.Replay(ctx, mod.Image, data.bytes, opt)
	bar.clear()
	if err = cmp.Or(data.unchanged(), err); err != nil {
		return located(c.Sym, err)
	}
	return out.write(e, []result{{file: c.Sym, against: mod.Image.Main.Path(), report: rep}})
}

// size is that of a file that may not be there, in bytes.
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
	if err := command.Clobbers("", e.stdout, c.Syms...); err != nil {
		return err
	}
	var results []result
	var failed error
	for _, path := range c.Syms {
		rep, err := lintFile(path, out.options())
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", path, err))
			continue
		}
		results = append(results, result{file: path, report: rep})
	}
	return errors.Join(out.write(e, results), failed)
}

func lintFile(path string, opt check.Options) (*check.Report, error) {
	data, err := openSym(path)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer data.close()
	rep, err := check.Lint(data.bytes, opt)
	if changed := data.unchanged(); changed != nil {
		return nil, errors.Unwrap(changed)
	}
	return rep, err
}

// Run is called by kong.
func (c *diffCmd) Run(e *env, out *output) error {
	if err := command.Clobbers("", e.stdout, c.A, c.B); err != nil {
		return err
	}
	a, err := openSym(c.A)
	if err != nil {
		return err
	}
	defer a.close()
	b, err := openSym(c.B)
	if err != nil {
		return err
	}
	defer b.close()
	rep, err := check.Diff(a.bytes, b.bytes, out.options())
	if side, ok := errors.AsType[*check.SideError](err); ok {
		path := c.A
		if side.Second {
			path = c.B
		}
		err = fmt.Errorf("%s: %w", path, side.Err)
	}
	if err = cmp.Or(a.unchanged(), b.unchanged(), err); err != nil {
		return err
	}
	return out.write(e, []result{{file: c.A, against: c.B, report: rep}})
}
