package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"symkit/internal/address"
	"symkit/internal/command"
	"symkit/internal/remote"
	"symkit/internal/standin"
	"symkit/lookup/source"
	"symkit/walk/report"
	"symkit/walk/symserver"
)

const description = `Show the stack of every thread of a crashed process.

Symbols are looked for in symbol stores, files and on symbol servers (--symbols), then in the ELF files of the modules, with their
debug files: at the paths that the crash dump has, below --sysroot, in build-id directories, on the servers of
DEBUGINFOD_URLS.

Examples:

  stackwalk core                            with the files of this machine

  stackwalk --symbols ./store --symbols https://symbols.example.org crash.dmp

  stackwalk --exe ./app core                the program is not at the path where it ran

  stackwalk --symbols ./store core          symbols from a store: NAME/ID/NAME.sym

  stackwalk --symbols ./apks tombstone_07   Android: libraries in APKs and bundles, tombstones

  stackwalk --crashing-only --brief core    the stack that matters, one line for each frame

  stackwalk --format=json core | jq .       rust-minidump's schema

  stackwalk - --minidump crash.dmp < core   a core file from a pipe, once; a minidump of it

  stackwalk diff old.json new.json          two results compared: see stackwalk diff --help

  stackwalk --format=html core > page.html  a page to look at

  stackwalk --format=html --source-dir /build=./src core > page.html
                                            with the lines around each frame

  stackwalk --symbols ./store --format=json --out results *.dmp

Exit codes: 0 done, 1 a crash dump cannot be read, 2 no stack, 80 wrong usage.`

// cli is the command line.
type cli struct {
	Dumps []string `arg:"" optional:"" name:"dump" help:"Minidump, ELF core file, or tombstone of Android, at a path or an address (https://, s3://); - for standard input. Several with --out. A directory is a symbol store."`

	Symbols  []string `short:"s" sep:"none" placeholder:"PATH" help:"Symbol store, symbol file, APK or bundle, or URL of a symbol server or bucket (s3://BUCKET/PREFIX). May be repeated: tried in this order, before ELF files."`
	Cache    string   `placeholder:"DIR" help:"Keep files from symbol servers in DIR. Default: symkit/symbols in the user's cache directory."`
	Exe      string   `short:"e" placeholder:"FILE" help:"ELF file of the program."`
	Sysroot  []string `sep:"none" placeholder:"DIR" help:"Directory that holds the modules at the paths that the dump has. May be repeated."`
	DebugDir []string `name:"debug-dir" sep:"none" placeholder:"DIR" help:"Look for binaries and debug files in DIR. May be repeated. Default: /usr/lib/debug, or usr/lib/debug of each --sysroot."`
	NoELF    bool     `name:"no-elf" help:"Do not take symbols from ELF files."`

	PerfMap []string `name:"perf-map" sep:"none" placeholder:"FILE" help:"Name generated code (of a JIT compiler) with FILE (perf-PID.map, or a jitdump file). May be repeated."`

	Format      string        `short:"f" enum:"text,json,machine,html" default:"text" placeholder:"FORMAT" help:"Output: text (default), json (rust-minidump's schema), machine (Breakpad's fields with | between them) or html (a page)."`
	Source      string        `name:"source-link" placeholder:"URL" help:"Link source lines in a page: a URL with {path} and {line} in it, as https://host/{path}#L{line}."`
	SourceDir   []string      `name:"source-dir" sep:"none" placeholder:"DIR" help:"In a page, show the lines around each frame from the source files below DIR, or with PREFIX=DIR those of paths that begin with PREFIX. May be repeated. Text that compilers embedded in ELF files (-gembed-source) needs no flag."`
	Machine     bool          `short:"m" help:"The same as --format=machine."`
	Thread      []int         `short:"t" placeholder:"ID" help:"Show only the thread with this id. May be repeated."`
	Crashing    bool          `short:"c" name:"crashing-only" help:"Show only the thread that crashed."`
	Brief       bool          `short:"b" help:"Leave out registers, modules and the techniques that found frames."`
	Contents    bool          `name:"stack-contents" help:"Show the memory of the stacks."`
	Output      string        `short:"o" placeholder:"FILE" help:"Write to FILE, which appears whole or not at all, instead of standard output."`
	Out         string        `placeholder:"DIR" help:"Write the report on each dump to a file in DIR, named like the dump with .txt, .json, .machine or .html added; with --format=html also index.html, a page about all."`
	Worker      bool          `help:"Walk the dump at each path or URL that standard input has on a line, and write a JSON line for each, in order."`
	Memory      command.Bytes `placeholder:"SIZE" help:"Of a core file from standard input, keep up to SIZE of the memory, as in 512M. Default: 128M. With --worker: keep symbols for later dumps in about SIZE. Default: 512M."`
	Minidump    string        `placeholder:"FILE" help:"Write the parts of a core file that a walk needs to FILE, as a minidump: for tools and services that take only minidumps."`
	Frames      int           `name:"max-frames" placeholder:"N" help:"Show at most N frames of a stack. Default: as many as there can be."`
	NoScan      bool          `name:"no-scan" help:"Leave out frames that only a scan of the stack finds, which can be wrong."`
	Lists       string        `name:"signature-lists" placeholder:"DIR" help:"Make the crash signature with the lists of DIR, which has the files of siggen's --signature-list-dir, instead of Mozilla's."`
	Annotations string        `placeholder:"FILE" help:"Read the crash annotations that signatures of aborts, hangs and failed allocations need from FILE: Mozilla's JSON (.extra)."`
	Jobs        int           `short:"j" placeholder:"N" help:"Work on N processors. Default: all. The output is the same for any N."`
	Verbose     bool          `short:"v" help:"Report for each module the places where symbols were looked for, and the results."`

	Version command.VersionFlag `help:"Print the version and exit."`

	stdin  io.Reader // nil: that of the process
	stdout io.Writer
	stderr *command.Messages
	signer *signer

	helped      sums     // of many dumps
	toldServers sync.Map // warnings about servers that were written

	other *standin.Request // of a program that stackwalk stands in for; nil: none
}

// Validate is called by kong; it checks the rules that the tags cannot express.
func (c *cli) Validate() error {
	var err error
	c.Jobs, err = command.Jobs(c.Jobs)
	if err != nil {
		return err
	}
	if c.Frames < 0 {
		return fmt.Errorf("--max-frames %d: want a number of frames", c.Frames)
	}
	if c.Machine {
		c.Format = "machine"
	}

	// A misspelled URL would be taken for a path.
	paths := slices.DeleteFunc(slices.Clone(c.Symbols), symserver.IsURL)
	err = cmp.Or(command.Inputs("", c.Dumps, command.Schemes...), command.Output("--output", c.Output), command.Output("--out", c.Out),
		command.Output("--minidump", c.Minidump), c.arguments(), c.validateMany(), command.Inputs("--symbols", paths, command.Schemes...))
	if err != nil {
		return err
	}
	for _, s := range c.Symbols {
		if _, err := symserver.New(s, ""); symserver.IsURL(s) && err != nil {
			return err
		}
	}

	if c.Source != "" {
		if err := report.CheckSourceLink(c.Source); err != nil {
			return fmt.Errorf("--source-link: %w", err)
		}
	}
	for _, dir := range source.ParseDirs(c.SourceDir) {
		err := command.Directories("--source-dir", []string{dir.Dir})
		if err != nil {
			return err
		}
	}
	if c.Crashing && len(c.Thread) > 0 {
		return fmt.Errorf("--crashing-only and --thread exclude each other")
	}
	return nil
}

// validateMany checks the flags of --out and --worker.
func (c *cli) validateMany() error {
	many := "--worker"
	switch {
	case !c.many():
		return nil
	case !c.Worker:
		many = "--out"
	case len(c.Dumps) > 0:
		return errors.New("--worker reads the paths of dumps from standard input; leave out the arguments")
	case c.Output != "" || c.Out != "" || c.Format != "text" && c.Format != "json":
		return errors.New("--worker writes JSON to standard output; leave out --output, --out and --format")
	default:
		c.Format = "json"
	}
	for _, flag := range []struct {
		name string
		set  bool
	}{{"--perf-map", len(c.PerfMap) > 0}, {"--annotations", c.Annotations != ""}, {"--minidump", c.Minidump != ""}} {
		if flag.set {
			return fmt.Errorf("%s is about one process: leave out %s", flag.name, many)
		}
	}
	return nil
}

// many reports whether the command line is about more than one dump.
func (c *cli) many() bool { return c.Out != "" || c.Worker }

const errNoDump = command.MissingArgument("<dump> ...")

// arguments sorts the positional arguments: directories are symbol stores, as
// in Breakpad's command line.
func (c *cli) arguments() error {
	var dumps, dirs []string
	for _, path := range c.Dumps {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			dirs = append(dirs, path)
		} else {
			dumps = append(dumps, path)
		}
	}

	c.Dumps, c.Symbols = dumps, append(c.Symbols, dirs...)
	switch {
	case c.Worker:
		return nil
	case len(dumps) == 0 && len(c.Symbols) == 0:
		return errNoDump
	case len(dumps) == 0 && len(c.Symbols) > 0:
		if dirs == nil {
			return errors.New("no crash dump, only symbols; give a crash dump, too")
		}
		return fmt.Errorf("%s: is a directory, which stands for a symbol store; give a crash dump, too", dirs[0])
	case len(dumps) > 1 && c.Out == "":
		return errors.New("several dumps: say where results go with --out")
	case c.Out != "" && slices.Contains(dumps, standardInput):
		return errors.New("standard input has no name for a result: say where the result goes with --output")
	case c.Minidump == "-":
		return errors.New("--minidump -: want the name of a file")
	case c.Minidump != "" && c.Minidump == c.Output:
		return fmt.Errorf("--minidump and --output have the same file: %s", c.Output)
	case c.Out != "" && c.Output != "":
		return errors.New("--out and --output exclude each other")
	}

	// The page of all dumps has a name of its own.
	if c.Out != "" && c.Format == "html" && slices.ContainsFunc(dumps, func(path string) bool { return remote.Name(path) == "index" }) {
		return errors.New("the page of a dump named index would have the name of the page about all; rename the dump")
	}

	// A result is named after its dump, so two dumps may not have the same name.
	names := map[string]string{}
	for _, path := range dumps {
		name := remote.Name(path)
		if other, twice := names[name]; twice && c.Out != "" {
			return fmt.Errorf("%v and %v would have one result: %s", address.New(other), address.New(path), name)
		}
		names[name] = path
	}
	return nil
}
