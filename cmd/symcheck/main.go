// Command symcheck tells whether a Breakpad symbol file is right. See
// docs/symcheck.md, or --help.
package main

import (
	"context"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"symkit/check"
	"symkit/internal/command"
)

func main() { command.Main(run) }

// run is the whole program; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	c := cli{env: env{ctx: ctx, stdout: stdout, stderr: stderr}}
	p := command.Program{
		Name:        "symcheck",
		Description: description,
		Options:     []kong.Option{kong.Vars{"checks": strings.Join(check.Names(), ", ")}},
		Stdout:      stdout,
		Stderr:      stderr,
	}
	return p.Run(&c, args, func(chosen *kong.Context) (int, error) {
		err := chosen.Run(&c.env, &c.Output)
		if err == nil && c.env.bad {
			return command.Bad, nil
		}
		return 0, err
	})
}
