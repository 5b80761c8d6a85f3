// Command symcheck verifies Breakpad symbol files. See docs/symcheck.md, or --help.
package main

import (
	"context"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"symkit/check/report"
	"symkit/internal/command"
	"symkit/internal/crash"
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
		Options: []kong.Option{kong.Vars{"checks": strings.Join(report.Names(), ", ")}},
		Stdout:  stdout,
		Stderr:  messages,
	}

	// Exit code 2 is for findings, not for errors.
	return p.Run(&c, args, func(chosen *kong.Context) (int, error) {
		if c.Output.Verbose {
			messages.ShowAll()
		}
		err := await(ctx, func() error { return chosen.Run(&c.env, &c.Output) })
		if err == nil && c.env.bad {
			return command.Bad, nil
		}
		return 0, err
	})
}

// await calls work and returns its error or, as soon as ctx is done, the cause of ctx. work is
// then abandoned, even in the middle of a sort or while it waits for the writer of a pipe. Results
// are printed only at the end of work.
func await(ctx context.Context, work func() error) error {
	done := make(chan error, 1)
	go func() {
		defer crash.Catch()
		done <- work()
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
