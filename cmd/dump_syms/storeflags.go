package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"symkit/dump/batch"
	"symkit/dump/store"
	"symkit/internal/atomicfile"
	"symkit/internal/command"
	"symkit/internal/crash"
	"symkit/internal/objects"
	"symkit/internal/quantity"
	"symkit/internal/remote"
)

// storeFlags are the flags that only have a meaning with --store.
type storeFlags struct {
	Store     string `short:"s" placeholder:"DIR" help:"Write every module into the symbol store DIR, as NAME/ID/NAME.sym: a directory, or s3://BUCKET/PREFIX."`
	Recursive bool   `short:"R" help:"Dump all ELF files below the directories given."`
	Empty     bool   `name:"allow-empty" help:"Succeed if there is no ELF file in the packages or, with --recursive, below the directories, as for packages of documents in a distribution."`
	FilesFrom string `name:"files-from" placeholder:"FILE" help:"Read further paths from FILE, one per line; - is standard input."`
	Null      bool   `short:"0" help:"Paths in --files-from end in NUL, as find -print0 writes them, not in a line break."`
	Force     bool   `help:"Replace symbol files that are in the store already."`
	Compress  string `enum:"none,gzip,zstd" default:"none" placeholder:"HOW" help:"Compress symbol files: gzip (.sym.gz) or zstd (.sym.zst)."`
	Layout    string `enum:"breakpad,unified,gdb" default:"breakpad" placeholder:"LAYOUT" help:"Layout of the store: breakpad, unified (ID/breakpad, Sentry's) or gdb (BUILDID.sym)."`
	WithELF   bool   `name:"with-elf" help:"Store the ELF files too: as ID/executable and ID/debuginfo (unified), BUILDID and BUILDID.debug (gdb)."`
	Alias     bool   `help:"Store a module under its file names too, not only under its SONAME."`
}

// batchFlags say how the modules of a store are dumped, and what is written about them.
type batchFlags struct {
	Manifest string        `placeholder:"FILE" help:"Write a JSON line for each module to FILE; - is standard output."`
	Report   string        `placeholder:"FILE" help:"Write a page (HTML) about the batch to FILE: modules written, failures, losses, times and sizes."`
	Shard    string        `placeholder:"K/N" help:"Dump the K-th of N equal parts, as one of N processes; auto takes K and N from the scheduler (Slurm, Kubernetes, AWS Batch, …)."`
	Done     string        `placeholder:"FILE" help:"Skip the packages that FILE lists, and add those that were dumped: a later run dumps only new packages."`
	Worker   bool          `help:"Dump the paths or URLs that standard input has on each line, and write a JSON line for each, in order. A program and its debug file are on one line, with a tab between them."`
	Memory   command.Bytes `placeholder:"SIZE" help:"Use about SIZE of memory, as in 512M or 4G; large files wait until there is enough. Default: three quarters of the machine's."`

	shard batch.Shard // that Shard names
}

var errNoPaths = errors.New(`expected "<path> ..."`) // kong's own text

// validateStore checks the rules of these flags that the tags cannot express.
func (c *cli) validateStore() error {
	if err := c.validateWorker(); err != nil {
		return err
	}
	if len(c.Paths) == 0 && c.FilesFrom == "" && !c.Worker {
		return errNoPaths
	}
	if c.Null && c.FilesFrom == "" {
		return errors.New("--null needs --files-from")
	}

	if err := c.addresses(); err != nil {
		return err
	}
	if c.Store != "" {
		switch {
		case c.Output == "-" && c.Manifest == "-":
			return errors.New("--output and --manifest cannot both be standard output")
		case c.Header:
			return errors.New("--store and --header-only exclude each other")
		case c.WithELF && c.Layout == "breakpad":
			return errors.New("--with-elf needs --layout=unified or --layout=gdb")
		}
		var err error
		c.shard, err = batch.ParseShard(c.Shard, os.Getenv)
		if err != nil {
			return fmt.Errorf("--shard: %w", err)
		}
		return nil
	}

	// Without --store these flags would have no effect.
	for _, flag := range []struct {
		name string
		set  bool
	}{
		{"recursive", c.Recursive}, {"allow-empty", c.Empty}, {"files-from", c.FilesFrom != ""}, {"force", c.Force}, {"compress", c.Compress != "none"},
		{"layout", c.Layout != "breakpad"}, {"alias", c.Alias}, {"with-elf", c.WithELF},
		{"manifest", c.Manifest != ""}, {"report", c.Report != ""}, {"memory", c.Memory != 0}, {"shard", c.Shard != ""}, {"done", c.Done != ""}, {"worker", c.Worker},
	} {
		if flag.set {
			return fmt.Errorf("--%s needs --store", flag.name)
		}
	}
	return nil
}

// addresses returns an error about an address that is not known, or that cannot be written.
func (c *cli) addresses() error {
	schemes := command.Schemes
	if c.Store == "" {
		schemes = nil // of one module, files are mapped
	}
	return cmp.Or(command.Output("--store", c.Store, objects.Name), command.Output("--output", c.Output), command.Output("--manifest", c.Manifest),
		command.Output("--report", c.Report), command.Output("--done", c.Done), command.Inputs("", c.Paths, schemes...),
		command.Inputs("--files-from", []string{c.FilesFrom}, command.Schemes...))
}

var (
	layouts      = map[string]store.Layout{"breakpad": store.Breakpad, "unified": store.Unified, "gdb": store.GDB}
	compressions = map[string]store.Compression{"none": store.None, "gzip": store.Gzip, "zstd": store.Zstd}
)

// openStore opens the store that the flags describe.
func (f *storeFlags) openStore(ctx context.Context) (*store.Store, error) {
	opt := store.Options{Layout: layouts[f.Layout], Compression: compressions[f.Compress], Replace: f.Force}
	if objects.IsURL(f.Store) {
		s, err := store.OpenBucket(ctx, f.Store, opt)
		if err != nil {
			return nil, fmt.Errorf("--store %s: %w", f.Store, err)
		}
		return s, nil
	}

	s, err := store.Open(f.Store, opt)
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, fmt.Errorf("--store %s: %w; give a directory", f.Store, e.Err)
	}
	return s, err
}

// openManifest opens the file of --manifest and returns the function that closes
// it; m is nil without the flag. An existing file is replaced at once, because
// lines are added while the batch runs. The file must not be one of the inputs.
func (c *cli) openManifest(ctx context.Context, inputs []string) (m *batch.Manifest, close func() error, err error) {
	switch c.Manifest {
	case "":
		return nil, func() error { return nil }, nil
	case "-":
		return batch.NewManifest(c.stdout), func() error { return nil }, nil
	}

	if err := atomicfile.Clobbers(c.Manifest, nil, inputs...); err != nil {
		return nil, nil, err
	}

	f, err := atomicfile.Open(ctx, c.Manifest)
	if err != nil {
		return nil, nil, command.Unreadable("--manifest", c.Manifest, err, "the path of a file in a directory that exists")
	}
	return batch.NewManifest(f), f.Close, nil
}

// wantList is the input that errors about --files-from ask for.
const wantList = "a file that lists paths, one per line"

// writeReport writes the page of --report. The page appears whole or not at all.
func (b *batchRun) writeReport(ctx context.Context) error {
	if b.Report == "" {
		return nil
	}
	return atomicfile.Write(ctx, b.Report, func(w io.Writer) error {
		return b.report.WritePage(w, "dump_syms "+command.Version(), b.Store)
	})
}

// find collects the inputs that the arguments and --files-from name.
func (c *cli) find(ctx context.Context) (*batch.Finder, error) {
	f := &batch.Finder{Recurse: c.Recursive, Member: c.Member, Shard: c.shard}
	if c.Done != "" {
		var err error
		f.Done, err = batch.ReadDone(c.Done, c.shard)
		if err != nil {
			return nil, fmt.Errorf("--done %s: %w", c.Done, err)
		}
	}
	for _, path := range c.Paths {
		if err := f.Add(ctx, path); err != nil {
			return nil, err
		}
	}

	switch c.FilesFrom {
	case "":
		return f, nil
	case "-":
		return f, c.addList(ctx, f, func() (io.ReadCloser, error) { return io.NopCloser(os.Stdin), nil })
	}
	return f, c.addList(ctx, f, func() (io.ReadCloser, error) {
		if remote.IsURL(c.FilesFrom) {
			return remote.Open(ctx, c.FilesFrom)
		}
		list, err := os.Open(c.FilesFrom)
		return list, command.Unreadable("--files-from", c.FilesFrom, err, wantList)
	})
}

// addList adds the paths in a list to f. Opening a FIFO blocks until the FIFO has
// a writer, and reading from a terminal or a pipe blocks until something is
// written. Therefore a goroutine opens and reads the list; addList returns without
// it when ctx is done.
func (c *cli) addList(ctx context.Context, f *batch.Finder, open func() (io.ReadCloser, error)) error {
	paths, failed := make(chan string), make(chan error, 1)
	go func() {
		defer crash.Catch()
		defer close(paths)
		failed <- c.readList(ctx, open, paths)
	}()

	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case path, more := <-paths:
			if !more {
				return <-failed
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

// readList opens a list of paths and sends the paths to a channel.
func (c *cli) readList(ctx context.Context, open func() (io.ReadCloser, error), paths chan<- string) error {
	// The error names the file.
	list, err := open()
	if err != nil {
		return err
	}
	defer list.Close()

	lines := bufio.NewScanner(list)
	if c.Null {
		lines.Split(splitNull)
	}
	for lines.Scan() {
		// No path has a NUL; without this check a program given as the list would be thousands
		// of paths.
		if bytes.IndexByte(lines.Bytes(), 0) >= 0 {
			return fmt.Errorf("--files-from %s: not a list of paths, one per line; if its paths end in NUL, give --null", c.FilesFrom)
		}
		select {
		case paths <- lines.Text():
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("--files-from %s: not a list of paths: a line has more than %s bytes; give %s", c.FilesFrom, quantity.Number(bufio.MaxScanTokenSize), wantList)
	case err != nil:
		return command.Unreadable("--files-from", c.FilesFrom, err, wantList)
	}
	return nil
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
