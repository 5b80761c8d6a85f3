package main

import (
	"context"
	"fmt"
	"io"
	"sync"

	"symkit/elfx"
	"symkit/elfx/debuginfod"
	"symkit/internal/command"
)

// places is where the companions of in are looked for: in dirs, below the
// sysroots, else where distributions install debug files; then the debuginfod
// servers of the environment are asked.
func (c *cli) places(ctx context.Context, in *input, dirs []string) elfx.Places {
	if len(dirs)+len(c.Sysroot) == 0 {
		dirs = []string{elfx.DefaultDebugDir}
	}
	places := elfx.Places{DebugDirs: dirs, SplitDirs: c.DWODir, Sysroots: c.Sysroot}
	client, err := c.remote()
	if err != nil {
		in.warnings = append(in.warnings, err.Error())
	}
	if client != nil {
		places.Fetch = func(id []byte) (string, error) { return client.Find(ctx, id, debuginfod.DebugInfo) }
	}
	return places
}

// remoteClient returns a function that makes the client of the environment's
// debuginfod servers, or returns the one that it made: the client's bounds are
// for the whole run. Progress is shown for a module alone.
func (c *cli) remoteClient() func() (*debuginfod.Client, error) {
	return sync.OnceValues(func() (*debuginfod.Client, error) {
		client, err := debuginfod.FromEnv()
		if client != nil && c.Store == "" {
			client.Progress = download(c.stderr)
		}
		return client, err
	})
}

// download tells on w, if that is a terminal, how far a download is; nil if not.
func download(w io.Writer) func(debuginfod.Progress) {
	if _, ok := command.Terminal(w); !ok {
		return nil
	}
	return func(p debuginfod.Progress) {
		fmt.Fprintf(w, "%sdump_syms: %s: %d of %d KiB", command.ClearLine, p.URL, p.Done>>10, p.Total>>10)
		if p.Done == p.Total {
			fmt.Fprint(w, command.ClearLine)
		}
	}
}
