package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"symkit/limits"
)

// boundedWriter writes the report on a dump. It fails when the report becomes
// larger than limits.Report allows, or when the context ends.
type boundedWriter struct {
	w       io.Writer
	ctx     context.Context
	dump    string // its path
	size    uint64 // of the dump, in bytes
	written uint64
}

// bound returns a writer to w that bounds the size of the report on a dump.
// size is that of a dump that was read from a stream.
func bound(ctx context.Context, dump string, size uint64, w io.Writer) *boundedWriter {
	b := &boundedWriter{w: w, ctx: ctx, dump: dump, size: size}
	if info, err := os.Stat(dump); err == nil && size == 0 { // or it was removed since
		b.size = uint64(info.Size())
	}
	return b
}

// Write implements io.Writer.
func (b *boundedWriter) Write(p []byte) (int, error) {
	if err := context.Cause(b.ctx); err != nil {
		return 0, err
	}

	// The limit grows with the dump, and is checked before anything above it is written.
	b.written += uint64(len(p))
	if b.written > (limits.Limits{}).Max(limits.Report, b.size) {
		return 0, fmt.Errorf("%s: %w", b.dump, (limits.Limits{}).Exceeded(limits.Report, b.size))
	}
	return b.w.Write(p)
}
