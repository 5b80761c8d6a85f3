package bounds

import (
	"context"
	"fmt"
	"io"

	"symkit/limits"
)

// writer is a writer that NewWriter returns.
type writer struct {
	ctx     context.Context
	w       io.Writer
	limit   string
	name    string
	size    uint64
	written uint64
}

// NewWriter returns a writer to w that fails above limit, or after ctx is done. The limit
// depends on the size of an input: name and size (in bytes) are the input's.
func NewWriter(ctx context.Context, w io.Writer, limit, name string, size uint64) io.Writer {
	return &writer{ctx: ctx, w: w, limit: limit, name: name, size: size}
}

// Write implements io.Writer. Nothing above the limit is written.
func (b *writer) Write(p []byte) (int, error) {
	err := context.Cause(b.ctx)
	if err != nil {
		return 0, err
	}

	b.written += uint64(len(p))
	if b.written > (limits.Limits{}).Max(b.limit, b.size) {
		return 0, fmt.Errorf("%s: %w", b.name, (limits.Limits{}).Exceeded(b.limit, b.size))
	}
	return b.w.Write(p)
}
