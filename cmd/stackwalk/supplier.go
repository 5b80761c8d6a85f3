package main

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"symkit/elfx/debuginfod"
	"symkit/internal/command"
	"symkit/walk/symbols"
)

// sources opens all sources of symbols. keep is symbols.Options.Keep.
func (c *cli) sources(ctx context.Context, bar *progress, keep int64) (*symbols.Sources, error) {
	opt := symbols.Options{
		Exe: c.Exe, Sysroot: c.Sysroot, DebugDirs: c.DebugDir, Debuginfod: c.remote(bar), PathsOnly: c.NoELF,
		Cache: c.Cache, Progress: bar.fetched,
		Uncached: func(err error) { c.uncached(err, "--cache") }, Waiting: c.waiting(""),
		Keep: keep, Jobs: c.Jobs,
	}
	if c.other != nil {
		opt.MaxTime = c.other.MaxTime
	}
	s, err := symbols.Open(ctx, c.Symbols, opt)
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = command.Unreadable("--symbols", e.Path, err, "a symbol store, a symbol file or the URL of a symbol server")
	}
	return s, err
}

// remote returns the debuginfod client that the environment configures, or nil if
// there is none.
func (c *cli) remote(bar *progress) *debuginfod.Client {
	if c.NoELF {
		return nil
	}
	client, err := debuginfod.FromEnv()
	if err != nil {
		command.Line(c.stderr, "stackwalk: warning: %v", err)
		return nil
	}
	if client != nil {
		client.Progress = bar.download
		client.Uncached = func(err error) { c.uncached(err, command.CachePath) }
		client.Waiting = c.waiting(command.DebuginfodTimeout)
	}
	return client
}

// uncached says once that files from servers are used and not kept, and what gives them a directory.
func (c *cli) uncached(reason error, with string) {
	c.uncachedOnce.Do(func() {
		command.Line(c.stderr, "stackwalk: warning: files from servers are not kept for the next run: %v; give a directory with %s", reason, with)
	})
}

// waiting returns a function that says that a server sends nothing. A variable of the environment sets the time-out,
// unless it is empty.
func (c *cli) waiting(variable string) func(server string, waited, timeout time.Duration) {
	return func(server string, waited, timeout time.Duration) {
		command.Waiting(c.stderr, "stackwalk", server, waited, timeout, variable)
	}
}
