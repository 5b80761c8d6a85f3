package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"symkit/dump/batch"
	"symkit/dump/store"
	"symkit/internal/address"
	"symkit/internal/atomicfile"
	"symkit/internal/command"
	"symkit/internal/objects"
	"symkit/internal/smallfile"
	"symkit/internal/upload"
	"symkit/internal/usage"
)

// storeFlags are the flags that only have a meaning with --store.
type storeFlags struct {
	Store     string   `short:"s" placeholder:"DIR" help:"Write every module into the symbol store DIR, as NAME/ID/NAME.sym: a directory, s3://BUCKET/PREFIX, or a symbol server: tecken+https://HOST/, sentry+https://HOST/ORG/PROJECT, breakpad+https://HOST/PATH. Symbol files and directories of these are inputs, too, after a check."`
	TokenFile string   `name:"token-file" placeholder:"FILE" help:"Read the token for a server from FILE. Default: the variable SYMKIT_TOKEN or, for Sentry, SENTRY_AUTH_TOKEN."`
	Recursive bool     `short:"R" help:"Dump all ELF files below the directories given."`
	Empty     bool     `name:"allow-empty" help:"Succeed if there is no ELF file in the packages or, with --recursive, below the directories, as for packages of documents in a distribution."`
	FilesFrom string   `name:"files-from" placeholder:"FILE" help:"Read further paths from FILE, one per line; - is standard input."`
	Null      bool     `short:"0" help:"Paths in --files-from end in NUL, as find -print0 writes them, not in a line break."`
	Force     bool     `help:"Replace symbol files that are in the store already."`
	IfBetter  bool     `name:"if-better" help:"Replace a symbol file that is in the store already if the new one is better, by the ranking of symserve: more code with functions, lines, inlined calls and unwind rules."`
	Compress  string   `enum:"none,gzip,zstd" default:"none" placeholder:"HOW" help:"Compress symbol files: gzip (.sym.gz) or zstd (.sym.zst)."`
	Layout    string   `enum:"breakpad,unified,gdb" default:"breakpad" placeholder:"LAYOUT" help:"Layout of the store: breakpad, unified (ID/breakpad, Sentry's) or gdb (BUILDID.sym)."`
	WithELF   bool     `name:"with-elf" help:"Store the ELF files too: as ID/executable and ID/debuginfo (unified), BUILDID and BUILDID.debug (gdb); on servers where the protocol has a place for them."`
	Sources   bool     `name:"with-sources" help:"Store source files too, as a bundle in Sentry's format: NAME.src.zip beside the symbol file (breakpad), ID/sourcebundle (unified) or BUILDID.src.zip (gdb). Text that compilers embedded (-gembed-source), and files of --source-dir."`
	SourceDir []string `name:"source-dir" sep:"none" placeholder:"DIR" help:"With --with-sources: take source files from DIR, or with PREFIX=DIR those of paths that begin with PREFIX. Files with another MD5 than in the line table are left out. May be repeated."`
	Alias     bool     `help:"Store a module under its file names too, not only under its SONAME."`

	upkeepFlags `group:"Upkeep of a store:"`
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

const errNoPaths = command.MissingArgument("<path> ...")

// validateStore checks the rules of these flags that the tags cannot express.
func (c *cli) validateStore() error {
	if err := c.validateWorker(); err != nil {
		return err
	}
	if len(c.Paths) == 0 && c.FilesFrom == "" && !c.Worker && c.upkeep() == "" {
		return errNoPaths
	}
	if c.Null && c.FilesFrom == "" {
		return errors.New("--null needs --files-from")
	}

	if err := c.addresses(); err != nil {
		return err
	}
	if len(c.SourceDir) > 0 && !c.Sources {
		return errors.New("--source-dir needs --with-sources")
	}
	if c.Store != "" {
		switch {
		case c.Output == "-" && c.Manifest == "-":
			return errors.New("--output and --manifest cannot both be standard output")
		case c.IfBetter && (c.Force || c.gsym() || upload.IsURL(c.Store)):
			return errors.New("--if-better is for symbol files in a directory or a bucket, without --force and --format=gsym; servers decide themselves")
		case c.Header:
			return errors.New("--store and --header-only exclude each other")
		case c.WithELF && c.Layout == "breakpad" && !upload.IsURL(c.Store):
			return errors.New("--with-elf needs --layout=unified or --layout=gdb")
		}
		err := c.validateServer()
		if err != nil {
			return err
		}
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
		{"recursive", c.Recursive}, {"allow-empty", c.Empty}, {"files-from", c.FilesFrom != ""}, {"force", c.Force}, {"if-better", c.IfBetter}, {"compress", c.Compress != "none"},
		{"token-file", c.TokenFile != ""}, {"layout", c.Layout != "breakpad"}, {"alias", c.Alias}, {"with-sources", c.Sources}, {"source-dir", len(c.SourceDir) > 0}, {"with-elf", c.WithELF},
		{"manifest", c.Manifest != ""}, {"report", c.Report != ""}, {"memory", c.Memory != 0}, {"shard", c.Shard != ""}, {"done", c.Done != ""}, {"worker", c.Worker},
	} {
		if flag.set {
			return fmt.Errorf("--%s needs --store", flag.name)
		}
	}
	return nil
}

// validateServer checks the flags of a store on a server.
func (c *cli) validateServer() error {
	switch {
	case !upload.IsURL(c.Store) && c.TokenFile != "":
		return errors.New("--token-file is for servers; other stores need no token")
	case !upload.IsURL(c.Store):
		return nil
	case c.Layout != "breakpad" || c.Compress != "none":
		return errors.New("--layout and --compress are not for servers, whose protocols decide; leave them out")
	case c.Sources:
		return errors.New("--with-sources: symbol servers take no source files; leave it out, or give a directory or a bucket")
	case c.gsym():
		return errors.New("--format=gsym: symbol servers take no GSYM files; leave it out, or give a directory")
	}
	err := upload.Check(c.Store)
	if err != nil {
		return fmt.Errorf("--store %w", err)
	}
	return nil
}

// validateWorker checks the flags of --worker.
func (c *cli) validateWorker() error {
	switch {
	case !c.Worker:
		return nil
	case len(c.Paths) > 0 || c.FilesFrom != "":
		return errors.New("--worker reads paths from standard input; leave out arguments and --files-from")
	case c.Manifest != "" || c.Shard != "" || c.Done != "":
		return errors.New("--worker excludes --manifest, --shard and --done")
	}
	return nil
}

// addresses returns an error about an address that is not known, or that cannot be written.
func (c *cli) addresses() error {
	schemes := command.Schemes
	if c.Store == "" {
		schemes = nil // of one module, files are mapped
	}
	if !upload.IsURL(c.Store) {
		err := command.Output("--store", c.Store, append([]string{objects.Name}, upload.Schemes...)...)
		if err != nil {
			return err
		}
	}
	return cmp.Or(command.Output("--output", c.Output), command.Output("--manifest", c.Manifest),
		command.Output("--report", c.Report), command.Output("--done", c.Done), command.Inputs("", c.Paths, schemes...),
		command.Inputs("--files-from", []string{c.FilesFrom}, command.Schemes...))
}

var (
	layouts      = map[string]store.Layout{"breakpad": store.Breakpad, "unified": store.Unified, "gdb": store.GDB}
	compressions = map[string]store.Compression{"none": store.None, "gzip": store.Gzip, "zstd": store.Zstd}
)

// openStore opens the store that the flags describe.
func (f *storeFlags) openStore(ctx context.Context) (*store.Store, error) {
	opt := store.Options{Layout: layouts[f.Layout], Compression: compressions[f.Compress], Replace: f.Force, Better: f.IfBetter}
	switch {
	case objects.IsURL(f.Store):
		s, err := store.OpenBucket(ctx, f.Store, opt)
		if err != nil {
			return nil, fmt.Errorf("--store %s: %w", f.Store, err)
		}
		return s, nil
	case upload.IsURL(f.Store):
		return f.openServer(ctx, opt)
	}

	s, err := store.Open(f.Store, opt)
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, fmt.Errorf("--store %s: %w; give a directory", f.Store, e.Err)
	}
	return s, err
}

// openServer opens the store on a server.
func (f *storeFlags) openServer(ctx context.Context, opt store.Options) (*store.Store, error) {
	token, err := f.token()
	if err != nil {
		return nil, err
	}
	s, err := store.OpenServer(ctx, f.Store, token, opt)
	if errors.Is(err, store.ErrToken) {
		err = fmt.Errorf("%w; give a token with --token-file or %s", err, tokenVariable.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("--store %v: %w", address.New(f.Store), err)
	}
	return s, nil
}

// tokenVariable has the token for any server, sentryVariable that of Sentry's own program.
var (
	tokenVariable  = usage.Variable{Name: "SYMKIT_TOKEN", Help: "The token for the server that --store names."}
	sentryVariable = usage.Variable{Name: "SENTRY_AUTH_TOKEN", Help: "The token for a Sentry server, without SYMKIT_TOKEN."}
)

// maxToken bounds the file of a token, in bytes.
const maxToken = 64 << 10

// token returns the token for the server.
func (f *storeFlags) token() (string, error) {
	if f.TokenFile == "" {
		token := os.Getenv(tokenVariable.Name)
		if token == "" && strings.HasPrefix(f.Store, "sentry+") {
			token = os.Getenv(sentryVariable.Name)
		}
		return token, nil
	}
	data, err := smallfile.Read(f.TokenFile, maxToken)
	if err != nil {
		return "", command.Unreadable("--token-file", f.TokenFile, err, "a file with the token alone")
	}
	token := strings.TrimSpace(string(data))
	if token == "" {
		return "", fmt.Errorf("--token-file %s: the file is empty; give a file with the token alone", f.TokenFile)
	}
	return token, nil
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
