package main

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"

	"symkit/dump"
	"symkit/dump/pathmap"
	"symkit/elfx/debuginfod"
	"symkit/internal/command"
)

const description = `Write the Breakpad symbol file of an ELF program or library.

Examples:

  dump_syms ./app > app.sym               symbols of one program

  dump_syms -o app.sym ./app              the same; app.sym appears whole or not at all

  dump_syms --inlines ./app > app.sym     with inlined calls

  dump_syms ./app ./app.debug > app.sym   stripped program and its debug file, in any order

  dump_syms ./app /srv/debug > app.sym    look for the debug file in a directory

  dump_syms -i ./app                      only the identity of the module

  dump_syms -s store -R build/            everything below build/ into a symbol store

  dump_syms -s store *.deb                the programs and debug files in packages

  dump_syms -s tecken+https://symbols.example.com/ store
                                          the symbol files of a store to a symbol server

  dump_syms -s store --list               what a store has

  dump_syms -s s3://bucket/sym --prune --keep-days 90 --keep-newest 3
                                          what is older, and not among the last three of its name; --yes removes it

The environment variable named with a flag sets it where the command line does not: DUMP_SYMS_INLINES=1.

Exit codes: 0 done, 1 an input failed and has no output, 2 written, but something was lost (--strict) or is wrong (--check),
80 wrong usage.`

// cli holds the command line, parsed by kong. The short flags are Breakpad's,
// except -o.
type cli struct {
	Paths  []string `arg:"" optional:"" name:"path" help:"ELF file, its separate debug file, or a directory of debug files. With --store any number of files, symbol files, archives (.a, .zip, .apk) and packages (.deb, .rpm, .snap, AppImages, tar files, OCI image layouts)."`
	Output string   `short:"o" placeholder:"FILE" help:"Write to FILE, which appears whole or not at all, instead of standard output. With --store, in addition: for one module."`

	recordFlags
	pathFlags
	searchFlags
	checkFlags

	Jobs    int       `short:"j" placeholder:"N" help:"Use N processors. Default: all. The output is the same for any N."`
	Verbose verbosity `short:"v" help:"Report the files that were looked for and read, and the losses. A level may follow: off, error, warn (without the flag), info, debug, trace."`

	storeFlags `group:"Many files, into a symbol store:"`
	batchFlags `group:"Many files, into a symbol store:"`
	peerFlags  `group:"For callers of other programs:"`

	Version command.VersionFlag `short:"V" env:"-" help:"Print the version and exit."`

	stdout, stderr io.Writer
	messages       *command.Messages                  // the standard error of the process
	remote         func() (*debuginfod.Client, error) // returns the client shared by all modules
}

// recordFlags say which records a symbol file has, and their contents.
type recordFlags struct {
	Format  string `enum:"sym,gsym" default:"sym" placeholder:"FORMAT" help:"Write a symbol file (sym), or GSYM, LLVM's format (gsym): functions, lines and inlined calls under linkage names, for llvm-symbolizer and profilers."`
	Inlines bool   `short:"d" help:"Write inlined calls: INLINE and INLINE_ORIGIN records."`
	NoCFI   bool   `short:"c" name:"no-cfi" help:"Leave out the unwind rules (STACK CFI)."`
	SFrame  string `name:"sframe" enum:"auto,only,off" default:"auto" help:"Use SFrame where DWARF has no unwind rules (auto), instead of it (only), or not at all (off)."`
	Header  bool   `short:"i" name:"header-only" help:"Write only MODULE and INFO CODE_ID, which identify the module."`

	ID       string   `short:"b" placeholder:"ID" help:"Module id to write, in hexadecimal digits, instead of the one made from the file's build id."`
	Name     string   `short:"n" placeholder:"NAME" help:"Module name to write instead of the file's SONAME or name."`
	OS       string   `name:"os" placeholder:"OS" default:"Linux" help:"Operating system to write in MODULE. Default: Linux."`
	Multiple bool     `short:"m" help:"Mark functions that share their address with others: FUNC m, PUBLIC m."`
	Keep     bool     `short:"a" name:"preserve-load-address" help:"Write addresses as they are in the file, not relative to its load address."`
	Extra    []string `name:"extra-info" sep:"none" placeholder:"KEY TEXT" help:"Write this INFO line, as in 'VERSION 1.2'. May be repeated."`
	NoGen    bool     `name:"no-generator" help:"Leave out INFO GENERATOR, which names this program and its version."`
}

// pathFlags say how the names of source files are rewritten.
type pathFlags struct {
	PathMap     []string `name:"path-map" sep:"none" placeholder:"FROM=TO" help:"Write TO for FROM at the start of source file names; of several that match the longest FROM is used. May be repeated."`
	MappingVar  []string `name:"mapping-var" sep:"none" placeholder:"VAR=VALUE" help:"Define {VAR} for --mapping-dest, as in Mozilla's dump_syms. May be repeated."`
	MappingSrc  []string `name:"mapping-src" sep:"none" placeholder:"REGEX" help:"Rewrite the source file names that REGEX matches with the --mapping-dest at the same position. May be repeated."`
	MappingDest []string `name:"mapping-dest" sep:"none" empty:"" placeholder:"TEMPLATE" help:"The new name: {1} is a group of the regular expression, {VAR} a --mapping-var, {digest} or {DIGEST} the file's SHA-512 in lower or upper case."`
	MappingFile string   `name:"mapping-file" placeholder:"FILE" help:"Read such rules from a JSON file."`
}

// searchFlags say where files are looked for.
type searchFlags struct {
	command.SearchFlags
	Member string   `placeholder:"NAME" help:"Dump this member of an archive (.a), zip file (.apk) or package."`
	DWODir []string `name:"dwo-dir" sep:"none" placeholder:"DIR" help:"Look for split DWARF files (.dwo, .dwp) in DIR, too. May be repeated."`
}

// checkFlags say which modules fail.
type checkFlags struct {
	Check    bool `help:"Verify the output against the file's own tables, as symcheck does; exit with 2 if anything in it is wrong."`
	CheckCFI bool `name:"check-cfi" help:"Fail and write nothing if the file has no unwind rules."`
	Strict   bool `help:"Exit with 2 if damage cost any records or a debug file is missing; the output is written all the same."`
}

var (
	infoLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z_]+ [^\n\r]*$`) })
	moduleID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9A-Fa-f]{1,64}$`) })
)

// Validate checks the rules that the tags of cli cannot express. It is called by kong.
func (c *cli) Validate() error {
	if err := cmp.Or(c.peerFlags.validate(), c.validateUpkeep(), c.validateStore()); err != nil {
		return err
	}

	for _, line := range c.Extra {
		if !infoLine().MatchString(line) {
			return fmt.Errorf("--extra-info %q: want a key of capital letters, a space, and text on one line", line)
		}
	}

	if c.ID != "" && !moduleID().MatchString(c.ID) {
		return fmt.Errorf("--id %q: want hexadecimal digits", c.ID)
	}

	// symcheck compares names with those of the file, so that renamed ones would all
	// be findings.
	renamed := len(c.PathMap)+len(c.MappingSrc) > 0 || c.MappingFile != ""
	if c.Check && (renamed || c.Header) {
		return fmt.Errorf("--check compares with the file's own names and records; leave out --header-only and the flags that rewrite names")
	}

	err := c.validateFormat()
	if err != nil {
		return err
	}

	c.Jobs, err = command.Jobs(c.Jobs)
	return err
}

// validateFormat rejects flags about what GSYM does not have.
func (c *cli) validateFormat() error {
	for _, flag := range []struct {
		name string
		set  bool
	}{
		{"check", c.Check}, {"check-cfi", c.CheckCFI}, {"header-only", c.Header}, {"extra-info", len(c.Extra) > 0},
		{"multiple", c.Multiple}, {"preserve-load-address", c.Keep},
	} {
		if flag.set && c.gsym() {
			return fmt.Errorf("--%s is about symbol files; leave it out, or --format=gsym", flag.name)
		}
	}
	return nil
}

// gsym reports whether GSYM is written.
func (c *cli) gsym() bool { return c.Format == "gsym" }

// rules returns the rules that rewrite the names of source files, in the order
// --path-map, --mapping-file, --mapping-src.
func (f *pathFlags) rules() (m pathmap.Map, err error) {
	for _, rule := range f.PathMap {
		if err := m.AddPrefix(rule); err != nil {
			return m, fmt.Errorf("--path-map: %w", err)
		}
	}

	vars := map[string]string{}
	for _, v := range f.MappingVar {
		name, value, ok := strings.Cut(v, "=")
		if !ok {
			return m, fmt.Errorf("--mapping-var %q: want VAR=VALUE", v)
		}
		vars[name] = value
	}

	// Variables are known before the first rule that can name them.
	if f.MappingFile != "" {
		err := m.AddFile(f.MappingFile, vars)
		if err != nil {
			return m, command.Unreadable("--mapping-file", f.MappingFile, err, "a JSON file of rules")
		}
	}

	if len(f.MappingSrc) != len(f.MappingDest) {
		return m, fmt.Errorf("%d --mapping-src and %d --mapping-dest: give as many of each; the first of one belongs to the first of the other", len(f.MappingSrc), len(f.MappingDest))
	}
	for i := range f.MappingSrc {
		if err := m.AddPattern(f.MappingSrc[i], f.MappingDest[i], vars); err != nil {
			return m, err
		}
	}
	return m, nil
}

var sframeUses = map[string]dump.SFrameUse{
	"auto": dump.SFrameAuto, "only": dump.SFrameOnly, "off": dump.SFrameOff,
}

// options translates the flags into options of package dump.
func (c *cli) options() (dump.Options, error) {
	paths, err := c.rules()
	o := dump.Options{
		Paths: paths,
		Jobs:  c.Jobs, OS: c.OS, ID: strings.ToUpper(c.ID), Name: c.Name, Extra: c.Extra,
		SFrame: sframeUses[c.SFrame], HeaderOnly: c.Header, Inlines: c.Inlines, NoCFI: c.NoCFI, Multiple: c.Multiple, KeepAddress: c.Keep,
	}

	if c.gsym() {
		o.Linkage, o.Inlines, o.NoCFI = true, true, true
	}
	if !c.NoGen && !c.Header {
		o.Generator = "symkit dump_syms " + command.Version()
	}
	return o, err
}
