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
	"symkit/internal/crash"
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

	switch c.FilesFrom {
	case "":
		return f, nil
	case "-":
		return f, c.addList(ctx, f, func() (io.ReadCloser, error) { return io.NopCloser(os.Stdin), nil })
	}
	return f, c.addList(ctx, f, func() (io.ReadCloser, error) {
		if remote.IsURL(c.FilesFrom) {
			return remote.Open(ctx, c.FilesFrom)
		}
		list, err := os.Open(c.FilesFrom)
		return list, command.Unreadable("--files-from", c.FilesFrom, err, wantList)
	})
}

// addList adds the paths in a list to f. Opening a FIFO blocks until the FIFO has
// a writer, and reading from a terminal or a pipe blocks until something is
// written. Therefore a goroutine opens and reads the list; addList returns without
// it when ctx is done.
func (c *cli) addList(ctx context.Context, f *batch.Finder, open func() (io.ReadCloser, error)) error {
	paths, failed := make(chan string), make(chan error, 1)
	go func() {
		defer crash.Catch()
		defer close(paths)
		failed <- c.readList(ctx, open, paths)
	}()

	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case path, more := <-paths:
			if !more {
				return <-failed
			}
			if path == "" {
				continue
			}
			if err := f.Add(ctx, path); err != nil {
				return err
			}
		}
	}
}

// readList opens a list of paths and sends the paths to a channel.
func (c *cli) readList(ctx context.Context, open func() (io.ReadCloser, error), paths chan<- string) error {
	// The error names the file.
	list, err := open()
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
		select {
		case paths <- lines.Text():
		case <-ctx.Done():
			return context.Cause(ctx)
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
