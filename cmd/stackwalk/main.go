// Command stackwalk shows the stack of every thread of a crashed process. See
// README.md, or --help.
package main

import (
	"context"
	"io"

	"github.com/alecthomas/kong"

	"symkit/internal/command"
	"symkit/internal/usage"
)

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
