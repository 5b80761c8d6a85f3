package main

import (
	"fmt"
	"io"

	"symkit/elfx"
	"symkit/internal/limits"
)

// boundedWriter fails when a symbol file becomes larger than limits.Output lets
// one of the image be.
type boundedWriter struct {
	w       io.Writer
	img     *elfx.Image
	written uint64
}

func (b *boundedWriter) Write(p []byte) (int, error) {
	if b.written += uint64(len(p)); b.written > limits.Output.Max(b.img.Size()) {
		return 0, fmt.Errorf("%s: %w", b.img.Main.Path(), limits.Output.Exceeded(b.img.Size()))
	}
	return b.w.Write(p)
}
