package main

import (
	"context"
	"io"
	"os"
	"path"
	"strings"

	"symkit/internal/command"
	"symkit/internal/usage"
	"symkit/walk"
)

// stackwalk can replace other programs. Called by the name of such a program, stackwalk
// takes the program's command line, prints the program's format and returns the program's
// exit codes. `make install` makes the links with these names.

// program runs one program and returns its exit code. name is the name by which the
// program was called.
type program func(ctx context.Context, name string, args []string, stdout, stderr io.Writer) int

// personalities are the programs by name.
var personalities = map[string]program{
	"minidump_stackwalk":  minidumpStackwalk,
	"microdump_stackwalk": microdumpStackwalk,
	"minidump-stackwalk":  rustMinidump,
}

// others returns stackwalk diff and the programs that stackwalk can replace, for --help-json.
func others() ([]usage.Command, []usage.Program) {
	// Nothing is written, so there is nothing to write to.
	ctx, messages := context.Background(), command.NewMessages("stackwalk", io.Discard)
	d := diffProgram(ctx, io.Discard, messages).Model(new(diffCLI))
	d.Name = "diff"
	diff := usage.Command{Help: diffSummary, Description: diffDetail, Alone: true, Node: d.Node, Environment: d.Environment}
	rust := rustProgram(ctx, io.Discard, messages).Model(new(rustFlags))
	return []usage.Command{diff}, []usage.Program{minidumpCommand.usage, microdumpCommand.usage, rust}
}

func main() {
	name := programName(os.Args[0])
	other, ok := personalities[name]
	if !ok {
		command.Main("stackwalk", run)
	}
	command.Main(name, func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
		return other(ctx, os.Args[0], args, stdout, stderr)
	})
}

// programName returns the last part of a path, which may be one of Windows, without .exe.
func programName(arg0 string) string {
	name := path.Base(strings.ReplaceAll(arg0, `\`, "/"))
	if end := strings.ToLower(name); strings.HasSuffix(end, ".exe") {
		name = name[:len(name)-len(".exe")]
	}
	return name
}

// written is a report to write, with its destination and format.
type written struct {
	path  string // empty or -: standard output
	print func(io.Writer, *walk.Result) error
}

// reports returns the reports to write on the dump at the given path.
func (c *cli) reports(dump string) []written {
	if c.outputs != nil {
		return c.outputs
	}
	return []written{{c.Output, c.printer(dump)}}
}

// existing returns the paths that exist, and calls missing for the others. Other programs
// ignore symbol stores that do not exist.
func existing(paths []string, missing func(path string)) (out []string) {
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			missing(path)
			continue
		}
		out = append(out, path)
	}
	return out
}
