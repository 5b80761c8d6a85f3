package atomicfile

import (
	"context"
	"os"
)

// Open opens the file at path for writing without replacing it: a regular file is
// emptied, a device or a FIFO is written to. Opening a FIFO blocks in open(2) until
// the FIFO has a reader. If ctx is done first, Open returns the cause of ctx, and the
// goroutine that opens the file stays blocked.
func Open(ctx context.Context, path string) (*os.File, error) {
	return open(ctx, path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
}

func open(ctx context.Context, path string, flags int) (*os.File, error) {
	type result struct {
		f   *os.File
		err error
	}
	opened := make(chan result, 1)
	go func() {
		f, err := os.OpenFile(path, flags, 0o666)
		opened <- result{f, err}
	}()

	select {
	case r := <-opened:
		return r.f, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
