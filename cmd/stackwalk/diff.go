package main

import (
	"bufio"
	"cmp"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"symkit/internal/command"
	"symkit/internal/mem"
	"symkit/walk/compare"
)

const diffSummary = "Compare two results of walks."

const diffDetail = `A result is what stackwalk --format=json writes, or rust-minidump's minidump-stackwalk --json. Of the same dump, the
differences are the frames that were lost, gained or renamed, and those that were found by another technique.

Examples:

  stackwalk diff old.json new.json                the differences of two results

  stackwalk diff results.old results.new          the same for all *.json of two directories

  stackwalk diff --fail-on=lost,renamed A B       exit code 2 only for these kinds

  stackwalk diff --format=json --examples=0 A B   everything, for programs

Exit codes: 0 no differences (of the kinds of --fail-on), 1 a file cannot be read, 2 differences, 80 wrong usage.

A file named diff is walked with stackwalk ./diff.`

// diffCLI is the command line of stackwalk diff.
type diffCLI struct {
	A string `arg:"" name:"a" help:"Result, or directory of results."`
	B string `arg:"" name:"b" help:"Result to compare with it, or directory of results."`

	Format   string   `short:"f" enum:"text,json" default:"text" placeholder:"FORMAT" help:"Output: text (default) or json."`
	Examples int      `default:"10" placeholder:"N" help:"Show at most N different examples of each kind, 0 for all; all are counted. Default: 10."`
	FailOn   []string `name:"fail-on" placeholder:"KIND" help:"Exit with 2 only for these kinds of differences: ${kinds}. Default: for any."`

	Version command.VersionFlag `help:"Print the version and exit."`
}

// Validate is called by kong; it checks the rules that the tags cannot express.
func (c *diffCLI) Validate() error {
	if c.Examples < 0 {
		return fmt.Errorf("--examples %d: want a number, or 0 for all", c.Examples)
	}
	for _, kind := range c.FailOn {
		if !slices.Contains(compare.Kinds(), compare.Kind(kind)) {
			return fmt.Errorf("--fail-on %q: want one of %s", kind, kindNames())
		}
	}
	return nil
}

// kindNames lists the kinds of differences.
func kindNames() string {
	var names []string
	for _, k := range compare.Kinds() {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

// runDiff is the whole subcommand. It returns the exit code.
func runDiff(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var c diffCLI
	p := diffProgram(ctx, stdout, command.NewMessages("stackwalk", stderr))
	return p.Run(&c, args, func(*kong.Context) (int, error) { return c.diff(stdout) })
}

// diffProgram returns the subcommand as a program.
func diffProgram(ctx context.Context, stdout io.Writer, stderr *command.Messages) *command.Program {
	return &command.Program{Name: "stackwalk diff", Description: diffSummary + "\n\n" + diffDetail, Context: ctx,
		Options:  []kong.Option{kong.Vars{"kinds": kindNames()}},
		Examples: map[string]string{"": "stackwalk diff old.json new.json"}, Stdout: stdout, Stderr: stderr}
}

// noDump returns an error that says what to do with a crash dump.
func noDump(path string) error {
	file, err := mem.Open(path)
	if err != nil {
		return nil // a directory, or the error of reading the result
	}
	defer file.Release()
	var head string
	_ = mem.Guard(func() error { head = string(file.Bytes()[:min(4, len(file.Bytes()))]); return nil }) // reading the result finds changes
	if head == elf.ELFMAG || head == "MDMP" || head == "PMDM" {
		return fmt.Errorf("%s: a crash dump, and no result; walk it first, and compare what was written: stackwalk --format=json -o %s.json %s", path, path, path)
	}
	return nil
}

// diff writes the differences to out and returns the exit code.
func (c *diffCLI) diff(out io.Writer) (int, error) {
	var d *compare.Differences
	err := cmp.Or(noDump(c.A), noDump(c.B))
	if err == nil {
		d, err = compare.Paths(c.A, c.B)
	}
	if err != nil {
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			err = command.Unreadable("", e.Path, err, "what stackwalk --format=json wrote, or a directory of such results")
		}
		return command.Failed, err
	}

	w := bufio.NewWriter(out)
	write := d.Text
	if c.Format == "json" {
		write = d.JSON
	}
	err = write(w, c.Examples)
	err = cmp.Or(err, w.Flush())
	if err != nil {
		return command.Failed, err
	}

	// Any kind counts unless --fail-on lists some.
	for _, k := range compare.Kinds() {
		if d.Count(k) > 0 && (len(c.FailOn) == 0 || slices.Contains(c.FailOn, string(k))) {
			return command.Bad, nil
		}
	}
	return 0, nil
}
