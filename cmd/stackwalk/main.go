// Command stackwalk shows the stack of every thread of a crashed process. See
// README.md, or --help.
package main

import (
	"context"
	"io"
	"os"

	"github.com/alecthomas/kong"

	"symkit/internal/command"
	"symkit/internal/standin"
	"symkit/internal/usage"
)

func main() {
	name := command.ProgramName(os.Args[0])
	other, ok := standin.Programs[name]
	if !ok {
		command.Main("stackwalk", run)
	}
	command.Main(name, func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
		return other(ctx, os.Args[0], args, stdout, stderr, walkFor)
	})
}

// walkFor walks as the command line of another program asks for.
func walkFor(ctx context.Context, r *standin.Request, stdout io.Writer) (code int, err error) {
	c := &cli{Dumps: []string{r.Dump}, Symbols: r.Symbols, Cache: r.Cache, NoELF: !r.ELF, Contents: r.Contents, Verbose: r.Verbose,
		stdout: stdout, stderr: r.Messages, other: r}
	err = c.Validate()
	if err != nil {
		return command.Failed, err
	}
	if r.Verbose {
		r.Messages.ShowAll()
	}
	return c.walk(ctx)
}

// others returns stackwalk diff and the programs that stackwalk can replace, for --help-json.
func others() ([]usage.Command, []usage.Program) {
	// Nothing is written, so there is nothing to write to.
	d := diffProgram(context.Background(), io.Discard, command.NewMessages("stackwalk", io.Discard)).Model(new(diffCLI))
	d.Name = "diff"
	diff := usage.Command{Help: diffSummary, Description: diffDetail, Alone: true, Node: d.Node, Environment: d.Environment}
	return []usage.Command{diff}, standin.Usages()
}

// reports returns the reports to write on the dump at the given path.
func (c *cli) reports(ctx context.Context, dump string) []standin.Output {
	if c.other != nil {
		return c.other.Outputs
	}
	return []standin.Output{{Path: c.Output, Print: c.printer(ctx, dump)}}
}

// run is the whole program. It returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	// The name of a subcommand; a dump of this name is ./diff.
	if len(args) > 0 && args[0] == "diff" {
		return runDiff(ctx, args[1:], stdout, stderr)
	}

	messages := command.NewMessages("stackwalk", stderr)
	c := cli{stdout: stdout, stderr: messages}
	p := command.Program{Name: "stackwalk", Description: description, Context: ctx, Others: others, Variables: []usage.Variable{command.Debuginfod},
		Examples: map[string]string{"": "stackwalk --symbols ./store crash.dmp"}, Stdout: stdout, Stderr: messages}
	return p.Run(&c, args, func(*kong.Context) (int, error) {
		if c.Verbose {
			messages.ShowAll()
		}
		defer command.UseProcessors(c.Jobs)()
		return c.walk(ctx)
	})
}
