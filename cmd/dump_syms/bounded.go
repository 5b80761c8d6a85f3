package main

import (
	"fmt"
	"io"

	"symkit/elfx"
	"symkit/limits"
)

// boundedWriter passes a symbol file on to w. It fails once the file is larger than
// limits.Output allows for an image of this size.
type boundedWriter struct {
	w       io.Writer
	img     *elfx.Image
	written uint64
}

func (b *boundedWriter) Write(p []byte) (int, error) {
	b.written += uint64(len(p))
	if b.written > (limits.Limits{}).Max(limits.Output, b.img.Size()) {
		return 0, fmt.Errorf("%s: %w", b.img.Main.Path(), (limits.Limits{}).Exceeded(limits.Output, b.img.Size()))
	}
	return b.w.Write(p)
}
