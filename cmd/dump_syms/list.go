package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"symkit/dump/batch"
	"symkit/internal/command"
	"symkit/internal/quantity"
	"symkit/internal/remote"
)

// wantList is the input that errors about --files-from ask for.
const wantList = "a file that lists paths, one per line"

// find collects the inputs that the arguments and --files-from name.
func (c *cli) find(ctx context.Context) (*batch.Finder, error) {
	f := &batch.Finder{Recurse: c.Recursive, Member: c.Member, Shard: c.shard}
	if c.Done != "" {
		var err error
		f.Done, err = batch.ReadDone(c.Done, c.shard)
		if err != nil {
			return nil, fmt.Errorf("--done %s: %w", c.Done, err)
		}
	}
	for _, path := range c.Paths {
		if err := f.Add(ctx, path); err != nil {
			return nil, err
		}
	}

	if c.FilesFrom != "" {
		// Opening a FIFO blocks until the FIFO has a writer, and reading from a terminal or a pipe until something is written.
		err := command.Await(ctx, func() error { return c.addList(ctx, f) })
		if err != nil {
			return f, err
		}
	}
	if !f.Empty() || c.Recursive {
		return f, nil
	}
	return f, f.AddStores(ctx)
}

// openList opens the list of --files-from.
func (c *cli) openList(ctx context.Context) (io.ReadCloser, error) {
	switch {
	case c.FilesFrom == "-":
		return io.NopCloser(os.Stdin), nil
	case remote.IsURL(c.FilesFrom):
		return remote.Open(ctx, c.FilesFrom)
	}
	list, err := os.Open(c.FilesFrom)
	return list, command.Unreadable("--files-from", c.FilesFrom, err, wantList)
}

// addList adds the paths in the list of --files-from to f.
func (c *cli) addList(ctx context.Context, f *batch.Finder) error {
	list, err := c.openList(ctx)
	if err != nil {
		return err
	}
	defer list.Close()

	lines := bufio.NewScanner(list)
	if c.Null {
		lines.Split(splitNull)
	}
	for lines.Scan() {
		// No path has a NUL; without this check a program given as the list would be thousands
		// of paths.
		if bytes.IndexByte(lines.Bytes(), 0) >= 0 {
			return fmt.Errorf("--files-from %s: not a list of paths, one per line; if its paths end in NUL, give --null", c.FilesFrom)
		}
		if len(lines.Bytes()) == 0 {
			continue
		}
		err := f.Add(ctx, lines.Text())
		if err != nil {
			return err
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("--files-from %s: not a list of paths: a line has more than %s bytes; give %s", c.FilesFrom, quantity.Number(bufio.MaxScanTokenSize), wantList)
	case err != nil:
		return command.Unreadable("--files-from", c.FilesFrom, err, wantList)
	}
	return nil
}

// splitNull is a bufio.SplitFunc for texts that end in NUL, as find -print0
// writes them.
func splitNull(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}
