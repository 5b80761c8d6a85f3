package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"symkit/elfx/companion"
	"symkit/internal/command"
	"symkit/internal/symbolizers"
	"symkit/internal/usage"
	"symkit/lookup"
)

// gnuUsage is the command line of GNU's addr2line.
var gnuUsage = usage.Program{
	Description: "Convert addresses into line number/file name pairs.\n\nThis is symkit's symaddr, with the command line of GNU's addr2line. " +
		"Without addresses, they are read from standard input.\n\nExamples:\n\n  addr2line -e ./app -f -i -C 0x1149\n\n  perf script -F ip,sym,srcline\n\n" +
		"Exit codes: 0 done, 1 the file cannot be read, or wrong usage.",
	Node: usage.Node{Name: "addr2line", Arguments: []usage.Argument{{Name: "addr", Help: "Address, hexadecimal.", Repeated: true}},
		Flags: []usage.Flag{
			{Short: "a", Name: "addresses", Help: "Show addresses"},
			{Short: "b", Name: "target", Value: "BFDNAME", Help: "Ignored: the format is that of the file"},
			{Short: "e", Name: "exe", Value: "FILE", Help: "The file (default: a.out)"},
			{Short: "i", Name: "inlines", Help: "Show the functions that inlined calls are in, too"},
			{Short: "j", Name: "section", Value: "NAME", Help: "Addresses are offsets in the section"},
			{Short: "p", Name: "pretty-print", Help: "One line for each function"},
			{Short: "s", Name: "basenames", Help: "Leave out directories"},
			{Short: "f", Name: "functions", Help: "Show names of functions"},
			{Short: "C", Name: "demangle", Value: "STYLE", Help: "Show readable names; the style is ignored, but for none"},
			{Short: "R", Name: "recurse-limit", Help: "Ignored"},
			{Name: "recursion-limit", Help: "Ignored"},
			{Short: "r", Name: "no-recurse-limit", Help: "Ignored"},
			{Name: "no-recursion-limit", Help: "Ignored"},
			{Short: "h", Name: "help", Help: "Show this help"},
			{Short: "H", Help: "Show this help"},
			{Short: "v", Name: "version", Help: "Show the version"}}},
	Environment: []usage.Variable{command.Limits},
}

// styles are the values of --demangle.
var styles = []string{"", "none", "auto", "gnu-v3", "java", "gnat", "dlang", "rust"}

// runGNU takes the place of GNU's addr2line.
func runGNU(ctx context.Context, name string, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	fail := func(err error) int {
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
		return command.Failed
	}
	v, err := syntax{GNU: true, Optional: []string{"demangle"}}.parse(&gnuUsage, args)
	switch {
	case len(args) == 1 && args[0] == "--help-json":
		return status(fail, gnuUsage.WriteJSON(stdout))
	case err != nil:
		fmt.Fprintf(stderr, "%s: %v\n%s", name, err, helpText(&gnuUsage, "[addr(s)]"))
		return command.Failed
	case v.has("help"), v.has("H"):
		_, err := io.WriteString(stdout, helpText(&gnuUsage, "[addr(s)]"))
		return status(fail, err)
	case v.has("version"):
		_, err := fmt.Fprintf(stdout, "GNU addr2line (symkit symaddr) %s\n", command.Version())
		return status(fail, err)
	}

	style := v.flags["demangle"]
	if !slices.Contains(styles, style) {
		return fail(fmt.Errorf("unknown demangling style `%s'", style))
	}

	path := "a.out"
	if v.has("exe") {
		path = v.flags["exe"]
	}
	f, err := lookup.Open(ctx, path, lookup.Options{})
	if err != nil {
		return fail(err)
	}
	defer f.Close()
	defer reportLosses(stderr, name, f)

	g := symbolizers.GNU{Addresses: v.has("addresses"), Functions: v.has("functions"), Inlines: v.has("inlines"), Pretty: v.has("pretty-print"),
		Basenames: v.has("basenames"), Demangle: v.has("demangle") && style != "none", Wide: f.AddrSize() == 8}
	if section := v.flags["section"]; section != "" {
		addr, size, ok := f.Section(section)
		if !ok {
			return fail(fmt.Errorf("%s: cannot find section %s", path, section))
		}
		g.Section = &symbolizers.Section{Addr: addr, Size: size}
	}
	in := stdin
	if len(v.args) > 0 {
		in = strings.NewReader(strings.Join(v.args, "\n") + "\n")
	}
	questions := symbolizers.Questions{Addr: g.Addr, Answerer: g.Answerer(f)}
	return status(fail, symbolizers.Serve(ctx, in, stdout, questions))
}

// status returns the exit code of an error, which fail reports.
func status(fail func(error) int, err error) int {
	if err != nil {
		return fail(err)
	}
	return 0
}

// reportLosses reports the damage of a file. As in addr2line, a file without debug information is no reason for a
// message: perf asks about all libraries.
func reportLosses(w io.Writer, name string, f *lookup.File) {
	for _, err := range f.Losses() {
		missing, ok := errors.AsType[companion.Warning](err)
		if errors.Is(err, lookup.ErrNoDebug) || ok && missing.Problem == companion.Missing {
			continue
		}
		command.Line(w, "%s: warning: %v", name, err)
	}
}
