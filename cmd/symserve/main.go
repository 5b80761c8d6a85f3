// Command symserve is a symbol server over a directory or a bucket. See docs/serving.md, or --help.
package main

import (
	"context"
	"io"

	"github.com/alecthomas/kong"

	"symkit/internal/command"
	"symkit/internal/usage"
)

func main() { command.MainUntil("symserve", mostGrace, run) }

// run is the program symserve. It returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	messages := command.NewMessages("symserve", stderr)
	c := cli{stdout: stdout, stderr: messages}
	p := command.Program{Name: "symserve", Description: description, Context: ctx, Env: "SYMSERVE",
		Variables: []usage.Variable{command.Debuginfod},
		Examples:  map[string]string{"": "symserve /srv/symbols"}, Stdout: stdout, Stderr: messages}
	return p.Run(&c, args, func(*kong.Context) (int, error) {
		messages.ShowAll() // a server runs for months: each line counts
		return 0, c.serve(ctx)
	})
}
