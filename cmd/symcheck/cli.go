package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"symkit/check/report"
	"symkit/internal/command"
)

const description = `Verify a Breakpad symbol file.

Examples:

  symcheck app.sym ./app                  compare with the ELF file, record by record

  symcheck app.sym ./app ./app.debug      the same, with a separate debug file

  symcheck --require=inlines,cfi --min-coverage=lines:95,cfi:99 app.sym ./app

  symcheck --store ./symbols /usr/lib     all symbol files of a store

  symcheck --only=sframe ./app            check .sframe of an ELF file, without a symbol file

  symcheck lint app.sym                   check the symbol file alone

  symcheck diff old.sym new.sym           list the differences of two files

  symcheck --format=sarif app.sym ./app > app.sarif

  symcheck --format=html app.sym ./app > app.html      a page to look at

Each file may be at an address: https://HOST/FILE, s3://BUCKET/KEY.

Exit codes: 0 nothing found, 1 an input cannot be read, 2 findings, 80 wrong usage.

The report begins with large parts that could not be compared or are missing. They are findings: see --allow.`

const exitCodes = "Exit codes: 0 nothing found, 1 an input cannot be read, 2 findings, 80 wrong usage."

// cli is the command line. The default command is replay.
type cli struct {
	Replay replayCmd `cmd:"" default:"withargs" help:"Compare a symbol file with the ELF file it was made from (the default)."`
	Lint   lintCmd   `cmd:"" help:"Check symbol files without their ELF files."`
	Diff   diffCmd   `cmd:"" help:"List the differences of two symbol files, per PC and by meaning."`

	Output  output              `embed:""`
	Version command.VersionFlag `help:"Print the version and exit."`

	env env
}

// Validate is called by kong. It checks what depends on the flags of all commands: a comparison takes
// an ELF file, unless the only check is one of the ELF file alone.
func (c *cli) Validate() error {
	r := &c.Replay
	if r.Sym != "" && r.Store == "" && len(r.Files) == 0 && !c.Output.tableOnly() {
		return command.MissingArgument("<elf> ...")
	}
	return nil
}

// env is the environment of a command.
type env struct {
	ctx    context.Context
	stdout io.Writer
	stderr *command.Messages
	bad    bool // there are findings
}

// output has the flags of all commands that select the checks and the report.
type output struct {
	Format   string   `enum:"text,json,junit,sarif,html" default:"text" help:"Format of the report: ${enum}. Default: text."`
	Limit    int      `default:"20" placeholder:"N" help:"Show the first N findings of each check; all are counted. Default: 20."`
	Only     []string `placeholder:"CHECK" help:"Run only these checks: ${checks}. sframe alone needs no symbol file."`
	Require  []string `placeholder:"CHECK" help:"Records that must be present, compared and verified: a check that could not be made is a finding."`
	Allow    []string `placeholder:"GAP" help:"No finding: unverified (more than 1 % of a class could not be compared, because of a limit or a form that symcheck does not read), loss (more than 10 % of a class is missing)."`
	Coverage []string `name:"min-coverage" placeholder:"CLASS:PERCENT" help:"Least share of the code that functions, lines, inlines or cfi must cover, as lines:95,cfi:99; with --only=sframe, the share of the code of .eh_frame that sframe must cover."`
	sourceFlags
	Verbose bool `short:"v" help:"Write all warnings and errors, in full length."`

	requirements report.Requirements // set by AfterApply from the flags
}

// AfterApply is called by kong. It checks what the tags cannot express.
func (o *output) AfterApply() error {
	for _, list := range [][]string{o.Only, o.Require} {
		for i, name := range list {
			// The singular is accepted: "inline".
			if slices.Contains(report.Names(), name+"s") {
				list[i] = name + "s"
				continue
			}
			if !slices.Contains(report.Names(), name) {
				return fmt.Errorf("there is no check %q: want one of %s", name, strings.Join(report.Names(), ", "))
			}
		}
	}

	for _, kind := range o.Allow {
		if !slices.Contains(report.Gaps(), kind) {
			return fmt.Errorf("--allow %q: want one of %s", kind, strings.Join(report.Gaps(), ", "))
		}
	}
	if o.Limit < 0 {
		return fmt.Errorf("--limit %d: want 0 or more", o.Limit)
	}
	o.requirements.Checks = o.Require
	return cmp.Or(o.validateSources(), o.thresholds())
}

// tableOnly reports whether the only check is that of .sframe, which needs no symbol file.
func (o *output) tableOnly() bool { return len(o.Only) == 1 && o.Only[0] == "sframe" }

// thresholds reads the values of --min-coverage.
func (o *output) thresholds() error {
	for _, text := range o.Coverage {
		class, number, ok := strings.Cut(text, ":")
		percent, err := strconv.ParseFloat(number, 64)
		if !ok || err != nil || !(percent >= 0 && percent <= 100) || !slices.Contains(classes, class) {
			return fmt.Errorf("--min-coverage %q: want CLASS:PERCENT, CLASS one of %s", text, strings.Join(classes, ", "))
		}
		o.requirements.Coverage = append(o.requirements.Coverage, report.Threshold{Class: class, Percent: percent})
	}
	return nil
}

// classes are the classes of records that a report.Coverage has.
var classes = []string{"functions", "lines", "inlines", "cfi", "sframe"}

// options translates the flags into options of package check.
func (o *output) options() report.Options {
	limit := o.Limit
	if limit == 0 {
		limit = -1
	}
	return report.Options{Limit: limit, Only: o.Only, Allow: o.Allow, Map: o.Format == "html", Places: o.Format == "html"}
}

// write judges and prints the results.
func (o *output) write(e *env, results ...report.Result) error {
	for i := range results {
		r := &results[i]
		r.Unmet = o.requirements.Unmet(r.Report)
		e.bad = e.bad || r.Bad()
	}
	return report.Write(e.stdout, o.Format, command.Version(), results)
}

// replayCmd compares a symbol file with an ELF file.
type replayCmd struct {
	Sym   string   `arg:"" optional:"" name:"file.sym" help:"Symbol file."`
	Files []string `arg:"" optional:"" name:"elf" help:"ELF file it was made from, its separate debug file, or a directory to look for that in."`

	storeFlags
	command.SearchFlags
	Name    []string      `placeholder:"NAME" help:"Accept NAME as module name, besides SONAME and file name."`
	ID      string        `name:"id" placeholder:"ID" help:"Accept ID as module id, besides the file's own."`
	OS      string        `name:"os" placeholder:"OS" help:"Operating system that MODULE must have. Default: Linux."`
	Keep    bool          `name:"preserve-load-address" help:"The symbol file has addresses as in the ELF file, not relative to its load address."`
	Jobs    int           `short:"j" placeholder:"N" help:"Work on N processors. Default: all. The report is the same for any N."`
	Timeout time.Duration `default:"30m" placeholder:"TIME" help:"Give up after TIME; with --store, the file alone. Default: 30m."`
}

// Validate is called by kong. It checks what the tags cannot express.
func (c *replayCmd) Validate() (err error) {
	if c.Timeout <= 0 {
		return fmt.Errorf("--timeout %v: want a time, such as 90s or 30m", c.Timeout)
	}
	err = c.validateStore()
	if err != nil {
		return err
	}
	paths := c.Files
	if c.Store == "" {
		paths = append([]string{c.Sym}, c.Files...)
	}
	err = command.Inputs("", paths, command.Schemes...)
	if err != nil {
		return err
	}
	c.Jobs, err = command.Jobs(c.Jobs)
	return err
}

// Help is called by kong; it returns the rest of the command's --help.
func (c *replayCmd) Help() string {
	return `Examples:

  symcheck app.sym ./app                  compare with the ELF file, record by record

  symcheck app.sym ./app ./app.debug      the same, with a separate debug file

  symcheck --require=inlines,cfi --min-coverage=lines:95,cfi:99 app.sym ./app

  symcheck --store ./symbols /usr/lib     all symbol files of a store, with the ELF files that are at hand

  symcheck --only=sframe ./app *.o        the .sframe sections of ELF files, without a symbol file

` + exitCodes
}

// lintCmd checks symbol files alone.
type lintCmd struct {
	Syms []string `arg:"" name:"file.sym" help:"Symbol files."`
}

// Help is called by kong; it returns the rest of the command's --help.
func (c *lintCmd) Help() string {
	return `Addresses, numbers, names and the order of records must be as a reader of symbol files expects them. Whether they
are true takes the ELF file: symcheck app.sym ./app.

Examples:

  symcheck lint app.sym                          one symbol file

  symcheck lint --limit=0 a.sym b.sym            several, with all findings

  symcheck lint --format=junit *.sym > lint.xml  for a CI server

` + exitCodes
}

// Validate is called by kong.
func (c *lintCmd) Validate() error { return command.Inputs("", c.Syms, command.Schemes...) }

// diffCmd compares two symbol files.
type diffCmd struct {
	A string `arg:"" name:"a.sym" help:"Symbol file."`
	B string `arg:"" name:"b.sym" help:"Symbol file to compare it with."`
}

// Help is called by kong; it returns the rest of the command's --help.
func (c *diffCmd) Help() string {
	return `Each difference is a finding. Files of two versions of a module are compared function by function, by names.

Examples:

  symcheck diff old.sym new.sym                                    what differs, by record

  symcheck diff --only=functions,lines old.sym new.sym             only these records

  symcheck diff --format=html old.sym new.sym > diff.html          a page to look at

` + exitCodes
}

// Validate is called by kong.
func (c *diffCmd) Validate() error { return command.Inputs("", []string{c.A, c.B}, command.Schemes...) }
