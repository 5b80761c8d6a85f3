package main

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"symkit/internal/command"
	"symkit/internal/objects"
	"symkit/walk"
	"symkit/walk/symbols"
	"symkit/walk/symserver"
)

// stores returns the suppliers that --symbols names, in the order of the option.
func (c *cli) stores(bar *progress) (all []walk.Supplier, err error) {
	// The paths up to the next URL are one store; each URL is a server of its own.
	for rest := c.Symbols; len(rest) > 0; {
		n := slices.IndexFunc(rest, symserver.IsURL)
		if n < 0 {
			n = len(rest)
		}
		if n > 0 {
			store, err := symbols.NewStore(rest[:n])
			if e, ok := errors.AsType[*fs.PathError](err); ok {
				err = command.Unreadable("--symbols", e.Path, err, "a symbol store, a symbol file or the URL of a symbol server")
			}
			if err != nil {
				return nil, err
			}
			all, rest = append(all, store), rest[n:]
			continue
		}

		// The next value is a URL.
		cache, noCache := c.cacheDir()
		server, err := symserver.New(rest[0], cache)
		if err != nil {
			return nil, err
		}

		if objects.IsURL(rest[0]) {
			server.HTTP = objects.Client()
		}
		server.Progress = bar.fetched
		server.Uncached = func(err error) { c.uncached(cmp.Or(noCache, err), "--cache") }
		server.Waiting = func(server string, waited, timeout time.Duration) {
			command.Waiting(c.stderr, "stackwalk", server, waited, timeout, "")
		}
		if c.maxTime > 0 {
			server.MaxTime = c.maxTime
		}
		c.online = true
		all, rest = append(all, server), rest[1:]
	}
	return all, nil
}

// uncached says once that files from servers are used and not kept, and what gives them a directory.
func (c *cli) uncached(reason error, with string) {
	c.uncachedOnce.Do(func() {
		command.Line(c.stderr, "stackwalk: warning: files from servers are not kept for the next run: %v; give a directory with %s", reason, with)
	})
}

// cacheDir returns the directory in which files from servers are kept.
func (c *cli) cacheDir() (string, error) {
	if c.Cache != "" {
		return c.Cache, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "symkit", "symbols"), nil
}
