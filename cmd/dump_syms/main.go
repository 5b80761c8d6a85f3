// Command dump_syms writes the Breakpad symbol file of an ELF program or
// library. The command line is described by --help and, with examples, in
// README.md.
//
// It works in one of two modes. Without --store one module is dumped (dump.go)
// to standard output or to a file. With --store any number of modules are
// dumped (batch.go) into a symbol store, several at a time within a
// memory budget.
package main

import (
	"cmp"
	"context"
	"io"
	"sync"

	"github.com/alecthomas/kong"

	"symkit/dump/batch"
	"symkit/elfx/debuginfod"
	"symkit/internal/command"
	"symkit/internal/usage"
)

func main() { command.Main("dump_syms", run) }

// shards is read by --shard auto.
var shards = usage.Variable{Name: batch.ShardsVariable, Help: "The number of shards for --shard auto, where the scheduler does not say it."}

// run runs the program with the given arguments and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	messages := command.NewMessages("dump_syms", stderr)
	c := cli{stdout: stdout, stderr: messages, messages: messages}

	// The client's bounds hold for all modules of the run. A batch has the status line for itself.
	c.remote = sync.OnceValues(func() (*debuginfod.Client, error) { return messages.Servers(c.Store != "") })
	p := command.Program{Name: "dump_syms", Description: description, Context: ctx,
		Examples: map[string]string{"": "dump_syms ./app > app.sym"}, Env: "DUMP_SYMS", Variables: []usage.Variable{command.Debuginfod, shards, tokenVariable, sentryVariable}, Stdout: stdout, Stderr: messages}

	return p.Run(&c, compatible(args), func(*kong.Context) (int, error) {
		messages.Mute(c.Verbose.least())
		if c.Verbose.all() {
			messages.ShowAll()
		}

		defer command.UseProcessors(c.Jobs)()
		return c.dump(ctx)
	})
}

// dump dumps the paths of the command line: into the store if there is one, else as one
// module. Mistakes in the command line are reported before any file is opened.
func (c *cli) dump(ctx context.Context) (code int, err error) {
	opt, err := c.options()
	if err != nil {
		return command.Misuse, err
	}

	_, err = c.Search()
	err = cmp.Or(err, command.Directories("--dwo-dir", c.DWODir))
	if err != nil {
		return command.Failed, err
	}

	if c.upkeep() != "" {
		return c.keepUp(ctx)
	}
	if c.Worker {
		return c.serve(ctx, opt)
	}
	if c.Store != "" {
		return c.batch(ctx, opt)
	}
	return c.one(ctx, opt)
}
