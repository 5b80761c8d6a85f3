package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"symkit/dump/batch"
	"symkit/dump/store"
)

// storeFlags are the flags of what --store does.
type storeFlags struct {
	Store     string      `short:"s" placeholder:"DIR" help:"Write every module into the symbol store DIR, as NAME/ID/NAME.sym."`
	Recursive bool        `short:"R" help:"Dump all ELF files below the directories given."`
	FilesFrom string      `name:"files-from" placeholder:"FILE" help:"Take further paths from FILE, or from standard input if it is -; one a line."`
	Null      bool        `short:"0" help:"Paths in --files-from end in NUL, not in a line break."`
	Force     bool        `help:"Replace symbol files that are there already."`
	Compress  string      `enum:"none,gzip,zstd" default:"none" placeholder:"HOW" help:"Compress symbol files: gzip (.sym.gz) or zstd (.sym.zst)."`
	Layout    string      `enum:"breakpad,unified,gdb" default:"breakpad" placeholder:"LAYOUT" help:"Layout of the store: breakpad, unified (ID/breakpad, Sentry's) or gdb (BUILDID.sym)."`
	WithELF   bool        `name:"with-elf" help:"Store the ELF files too: as ID/executable and ID/debuginfo (unified), BUILDID and BUILDID.debug (gdb)."`
	Alias     bool        `help:"Store a module under its file names too, not only under its SONAME."`
	Manifest  string      `placeholder:"FILE" help:"Write a JSON line for each module to FILE, or to standard output if it is -."`
	Memory    batch.Bytes `placeholder:"SIZE" help:"Use about SIZE of memory (512M, 4G); large files wait for their turn. Default: three quarters of what there is."`
}

var errNoPaths = errors.New(`expected "<path> ..."`)

// validate checks what the tags cannot say.
func (f *storeFlags) validate(c *cli) error {
	if len(c.Paths) == 0 && f.FilesFrom == "" {
		return errNoPaths
	}
	if f.Null && f.FilesFrom == "" {
		return errors.New("--null is about --files-from")
	}
	if f.Store != "" {
		switch {
		case c.Output != "":
			return errors.New("--store and --output exclude each other")
		case c.Header:
			return errors.New("--store and --header-only exclude each other")
		case f.WithELF && f.Layout == "breakpad":
			return errors.New("--with-elf needs --layout=unified or --layout=gdb")
		}
		return nil
	}
	for _, flag := range []struct {
		name string
		set  bool
	}{
		{"recursive", f.Recursive}, {"files-from", f.FilesFrom != ""}, {"force", f.Force}, {"compress", f.Compress != "none"},
		{"layout", f.Layout != "breakpad"}, {"alias", f.Alias}, {"with-elf", f.WithELF},
		{"manifest", f.Manifest != ""}, {"memory", f.Memory != 0},
	} {
		if flag.set {
			return fmt.Errorf("--%s needs --store", flag.name)
		}
	}
	return nil
}

var (
	layouts      = map[string]store.Layout{"breakpad": store.Breakpad, "unified": store.Unified, "gdb": store.GDB}
	compressions = map[string]store.Compression{"none": store.None, "gzip": store.Gzip, "zstd": store.Zstd}
)

// openStore opens the store that the flags describe.
func (f *storeFlags) openStore() (*store.Store, error) {
	return store.Open(f.Store, store.Options{
		Layout: layouts[f.Layout], Compression: compressions[f.Compress], Replace: f.Force,
	})
}

// openManifest opens what --manifest names; nil without the flag. An earlier
// manifest is replaced: lines are added while the batch runs.
func (c *cli) openManifest() (m *batch.Manifest, close func() error, err error) {
	switch c.Manifest {
	case "":
		return nil, func() error { return nil }, nil
	case "-":
		return batch.NewManifest(c.stdout), func() error { return nil }, nil
	}
	f, err := os.Create(c.Manifest)
	if err != nil {
		return nil, nil, err
	}
	return batch.NewManifest(f), f.Close, nil
}

// find collects the inputs: what the arguments and --files-from name.
func (c *cli) find(ctx context.Context) (*batch.Finder, error) {
	f := &batch.Finder{Recurse: c.Recursive, Member: c.Member}
	for _, path := range c.Paths {
		if err := f.Add(ctx, path); err != nil {
			return nil, err
		}
	}
	switch c.FilesFrom {
	case "":
		return f, nil
	case "-":
		return f, c.addList(ctx, f, os.Stdin)
	}
	file, err := os.Open(c.FilesFrom)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return f, c.addList(ctx, f, file)
}

// addList adds the paths in a list.
func (c *cli) addList(ctx context.Context, f *batch.Finder, list io.Reader) error {
	paths, failed := make(chan string), make(chan error, 1)
	// A read from a terminal or a pipe may take for ever and cannot be ended; a
	// signal ends the process without it.
	go func() {
		defer close(paths)
		lines := bufio.NewScanner(list)
		if c.Null {
			lines.Split(splitNull)
		}
		for lines.Scan() {
			select {
			case paths <- lines.Text():
			case <-ctx.Done():
				failed <- context.Cause(ctx)
				return
			}
		}
		failed <- lines.Err()
	}()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case path, more := <-paths:
			if !more {
				if err := <-failed; err != nil {
					return fmt.Errorf("--files-from %s: %w", c.FilesFrom, err)
				}
				return nil
			}
			if path == "" {
				continue
			}
			if err := f.Add(ctx, path); err != nil {
				return err
			}
		}
	}
}

// splitNull is a bufio.SplitFunc for texts that end in NUL, as find -print0
// writes them.
func splitNull(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}
