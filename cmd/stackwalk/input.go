package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"symkit/elfx"
	"symkit/internal/command"
	"symkit/internal/remote"
	"symkit/internal/wire"
	"symkit/walk/corefile"
	"symkit/walk/dumpfile"
)

// standardInput is the path of standard input on the command line; standardInputName is its
// name in messages.
const standardInput, standardInputName = "-", "standard input"

// wantDump is the input that errors about other files ask for.
const wantDump = "the path of a minidump, core file or tombstone"

// open opens the dump. A file of which a minidump is written is read once, as standard input.
func (j *job) open(ctx context.Context) (d *dumpfile.Dump, err error) {
	c := j.c
	opt := dumpfile.Options{Files: j.files, DumpAlone: c.other != nil, Once: c.Minidump != "", Memory: uint64(c.Memory)}
	switch {
	case j.path != standardInput:
		d, err = dumpfile.Open(ctx, j.path, opt)
	case c.stdin != nil:
		d, err = dumpfile.Read(ctx, c.stdin, standardInputName, opt)
	default:
		d, err = dumpfile.Read(ctx, os.Stdin, standardInputName, opt)
	}
	if err == nil && c.Minidump != "" && d.Core == nil {
		d.Close()
		return nil, fmt.Errorf("%s: not an ELF core file, the only input of --minidump; leave out --minidump, or give a core file", d.Name)
	}
	return d, advised(j.path, err)
}

// advised adds to the error of opening a dump what the user can do.
func advised(path string, err error) error {
	kind, other := errors.AsType[*dumpfile.KindError](err)
	switch {
	case other && kind.Kind == elfx.SymbolFile:
		return fmt.Errorf("%w; give the crash dump, and this file with --symbols", err)
	case other && kind.Kind.Reader == "":
		return fmt.Errorf("%w; give %s", err, wantDump)
	case errors.Is(err, corefile.ErrNotCore):
		return fmt.Errorf("%w: it is a program or library; give the crash dump, and this file with --exe", err)
	case errors.Is(err, dumpfile.ErrLarge):
		return fmt.Errorf("%w; if it is a minidump, allow more with --memory", err)
	case errors.Is(err, wire.ErrTruncated):
		return fmt.Errorf("%w: the dump is not complete; copy it again", err)
	case remote.IsURL(path):
		return err
	}
	return command.Unreadable("", path, err, wantDump)
}
