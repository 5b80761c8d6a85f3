// Command symcheck verifies Breakpad symbol files. See docs/symcheck.md, or --help.
package main

import (
	"context"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"symkit/check/report"
	"symkit/internal/command"
	"symkit/internal/usage"
)

func main() { command.Main("symcheck", run) }

// run is the whole program. It returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	messages := command.NewMessages("symcheck", stderr)
	c := cli{env: env{ctx: ctx, stdout: stdout, stderr: messages}}
	p := command.Program{
		Name:        "symcheck",
		Description: description,
		Context:     ctx,
		Examples: map[string]string{"": "symcheck app.sym ./app", "lint": "symcheck lint app.sym",
			"diff": "symcheck diff old.sym new.sym"},
		Options:   []kong.Option{kong.Vars{"checks": strings.Join(report.Names(), ", ")}},
		Variables: []usage.Variable{command.Debuginfod},
		Stdout:    stdout,
		Stderr:    messages,
	}

	// Exit code 2 is for findings, not for errors.
	return p.Run(&c, args, func(chosen *kong.Context) (int, error) {
		if c.Output.Verbose {
			messages.ShowAll()
		}
		err := command.Await(ctx, func() error { return chosen.Run(&c.env, &c.Output) })
		if err == nil && c.env.bad {
			return command.Bad, nil
		}
		return 0, err
	})
}
