package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"symkit/elfx/companion"
	"symkit/elfx/debuginfod"
	"symkit/internal/command"
	"symkit/internal/quantity"
)

// search returns where companions are looked for: in dirs and the sysroots; last, on the debuginfod servers of the
// environment. An error is about the servers.
func (c *cli) search(dirs []string) (companion.Search, error) {
	search := companion.Search{DebugDirs: dirs, SplitDirs: c.DWODir, Sysroots: c.Sysroot}
	client, err := c.remote()
	if client != nil {
		search.Fetch = func(ctx context.Context, id []byte) (string, error) {
			return client.Find(ctx, id, debuginfod.DebugInfo)
		}
	}
	return search, err
}

// remoteClient returns a function that returns the client of the environment's
// debuginfod servers. The client is made by the first call and shared by all later
// ones, because its bounds hold for the whole run.
func (c *cli) remoteClient() func() (*debuginfod.Client, error) {
	return sync.OnceValues(func() (*debuginfod.Client, error) {
		client, err := debuginfod.FromEnv()
		if client != nil {
			client.Progress = c.download()
			client.Uncached = func(err error) {
				command.Line(c.stderr, "dump_syms: warning: files from servers are not kept for the next run: %v; give a directory with %s", err, command.CachePath)
			}
			client.Waiting = func(server string, waited, timeout time.Duration) {
				command.Waiting(c.stderr, "dump_syms", server, waited, timeout, command.DebuginfodTimeout)
			}
		}
		return client, err
	})
}

// download returns the function that shows the progress of a download in the
// status line. It is nil if there is no status line, or if a batch uses it.
func (c *cli) download() func(debuginfod.Progress) {
	if c.Store != "" || c.messages.Columns() == 0 {
		return nil
	}

	return func(p debuginfod.Progress) {
		c.messages.Draw(fmt.Sprintf("dump_syms: %s: %s of %s", p.URL, quantity.Bytes(p.Done), quantity.Bytes(p.Total)))
		if p.Done == p.Total {
			c.messages.Erase()
		}
	}
}
