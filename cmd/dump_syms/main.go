// Command dump_syms writes the Breakpad symbol file of an ELF program or
// library. See README.md, or --help.
package main

import (
	"context"
	"io"

	"github.com/alecthomas/kong"

	"symkit/internal/command"
)

func main() { command.Main("dump_syms", run) }

// run is the whole program; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	messages := command.NewMessages("dump_syms", stderr)
	c := cli{stdout: stdout, stderr: messages, messages: messages}
	c.remote = c.remoteClient()
	p := command.Program{Name: "dump_syms", Description: description, Context: ctx,
		Examples: map[string]string{"": "dump_syms ./app > app.sym"}, Stdout: stdout, Stderr: messages}
	return p.Run(&c, args, func(*kong.Context) (int, error) {
		if c.Verbose {
			messages.ShowAll()
		}
		defer command.UseProcessors(c.Jobs)()
		return c.dump(ctx)
	})
}
