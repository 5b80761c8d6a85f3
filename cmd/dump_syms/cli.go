package main

import (
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

  dump_syms -i ./app                      only what identifies the module

  dump_syms -s store -R build/            everything below build/ into a symbol store`

// cli is the command line. The short flags are Breakpad's, but for -o.
type cli struct {
	Paths []string `arg:"" optional:"" name:"path" help:"ELF file, its separate debug file, or a directory to look for that in. With --store any number of them, and archives (.a, .zip, .apk)."`

	Output  string `short:"o" placeholder:"FILE" help:"Write to FILE, which appears whole or not at all, instead of standard output."`
	Inlines bool   `short:"d" help:"Write inlined calls: INLINE and INLINE_ORIGIN records."`
	NoCFI   bool   `short:"c" name:"no-cfi" help:"Leave the unwind rules (STACK CFI) out."`
	SFrame  string `name:"sframe" enum:"auto,only,off" default:"auto" help:"Use SFrame where DWARF has no unwind rules (auto), instead of it (only), or not at all (off)."`
	Header  bool   `short:"i" name:"header-only" help:"Write MODULE and INFO CODE_ID only."`

	ID       string   `short:"b" placeholder:"ID" help:"Module id to write instead of the file's own."`
	Name     string   `short:"n" placeholder:"NAME" help:"Module name to write instead of SONAME or file name."`
	OS       string   `name:"os" placeholder:"OS" default:"Linux" help:"Operating system to write. Default: Linux."`
	Multiple bool     `short:"m" help:"Mark functions that share their address with others: FUNC m, PUBLIC m."`
	Keep     bool     `short:"a" name:"preserve-load-address" help:"Write addresses as in the file, not relative to its load address."`
	Extra    []string `name:"extra-info" sep:"none" placeholder:"KEY TEXT" help:"Write an INFO line. May be repeated."`
	NoGen    bool     `name:"no-generator" help:"Leave INFO GENERATOR out."`

	PathMap     []string `name:"path-map" sep:"none" placeholder:"FROM=TO" help:"Write TO for FROM at the start of source file names; the longest FROM counts. May be repeated."`
	MappingVar  []string `name:"mapping-var" sep:"none" placeholder:"VAR=VALUE" help:"Variable for --mapping-dest, as in Mozilla's dump_syms."`
	MappingSrc  []string `name:"mapping-src" sep:"none" placeholder:"REGEX" help:"Source file names to rewrite to the --mapping-dest of the same place."`
	MappingDest []string `name:"mapping-dest" sep:"none" placeholder:"TEMPLATE" help:"New name, with {1} for a group, {VAR}, {digest} or {DIGEST} for the file's SHA-512."`
	MappingFile string   `name:"mapping-file" placeholder:"FILE" help:"JSON file of such rules."`

	DebugDir []string `name:"debug-dir" sep:"none" placeholder:"DIR" help:"Look for separate debug files in DIR. May be repeated. Default: usr/lib/debug of the root directory or the sysroots."`
	Sysroot  []string `name:"sysroot" sep:"none" placeholder:"DIR" help:"DIR stands for the root directory: look for debug files in its usr/lib/debug and for absolute paths below it. May be repeated."`
	Member   string   `placeholder:"NAME" help:"Dump this member of an archive (.a) or zip file (.apk)."`
	DWODir   []string `name:"dwo-dir" sep:"none" placeholder:"DIR" help:"Look for split DWARF files (.dwo, .dwp) in DIR too. May be repeated."`
	Check    bool     `help:"Replay what was written against the tables it came from, as symcheck does; findings are exit code 2."`
	CheckCFI bool     `name:"check-cfi" help:"Fail, writing nothing, if there are no unwind rules."`
	Strict   bool     `help:"Exit with 2 if anything was lost to damage or a debug file is missing; the output is written all the same."`
	Jobs     int      `short:"j" placeholder:"N" help:"Work on N processors. Default: all. The output is the same for any N."`
	Verbose  bool     `short:"v" help:"Tell what was looked for, read and lost."`
	Type     string   `short:"t" placeholder:"TYPE" help:"Accepted for Mozilla's callers: the type is read from the file."`
	NoXref   bool     `short:"r" name:"no-inter-cu-refs" help:"Accepted for Breakpad's callers: references between units are always followed."`

	storeFlags `group:"Many files, into a symbol store:"`

	Version command.VersionFlag `help:"Print the version and exit."`

	stdout, stderr io.Writer                          // in a batch each job has a stderr of its own
	messages       *command.Messages                  // the standard error of the process
	untold         []string                           // warnings that the batch sums up
	remote         func() (*debuginfod.Client, error) // see remoteClient
}

var (
	infoLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z_]+ [^\n\r]*$`) })
	moduleID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9A-Fa-f]{1,64}$`) })
)

// Validate is called by kong; it checks what the tags cannot say.
func (c *cli) Validate() error {
	if err := c.storeFlags.validate(c); err != nil {
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
	renamed := len(c.PathMap)+len(c.MappingSrc) > 0 || c.MappingFile != ""
	if c.Check && (renamed || c.Header) {
		return fmt.Errorf("--check compares with the file's own names: leave --header-only and the path mapping out")
	}
	var err error
	c.Jobs, err = command.Jobs(c.Jobs)
	return err
}

// paths are the rules that rewrite the names of source files.
func (c *cli) paths() (m pathmap.Map, err error) {
	for _, rule := range c.PathMap {
		if err := m.AddPrefix(rule); err != nil {
			return m, err
		}
	}
	vars := map[string]string{}
	for _, v := range c.MappingVar {
		name, value, ok := strings.Cut(v, "=")
		if !ok {
			return m, fmt.Errorf("--mapping-var %q: want VAR=VALUE", v)
		}
		vars[name] = value
	}
	if c.MappingFile != "" {
		if err := m.AddFile(c.MappingFile, vars); err != nil {
			return m, err
		}
	}
	if len(c.MappingSrc) != len(c.MappingDest) {
		return m, fmt.Errorf("%d --mapping-src and %d --mapping-dest: want as many", len(c.MappingSrc), len(c.MappingDest))
	}
	for i := range c.MappingSrc {
		if err := m.AddPattern(c.MappingSrc[i], c.MappingDest[i], vars); err != nil {
			return m, err
		}
	}
	return m, nil
}

var sframeUses = map[string]dump.SFrameUse{
	"auto": dump.SFrameAuto, "only": dump.SFrameOnly, "off": dump.SFrameOff,
}

// options are what the flags ask of dump.
func (c *cli) options() (dump.Options, error) {
	paths, err := c.paths()
	o := dump.Options{
		Paths: paths,
		Jobs:  c.Jobs, OS: c.OS, ID: strings.ToUpper(c.ID), Name: c.Name, Extra: c.Extra,
		SFrame: sframeUses[c.SFrame], HeaderOnly: c.Header, Inlines: c.Inlines, NoCFI: c.NoCFI, Multiple: c.Multiple, KeepAddress: c.Keep,
	}
	if !c.NoGen && !c.Header {
		o.Generator = "symkit dump_syms " + command.Version()
	}
	return o, err
}
