package minidump

import (
	"fmt"
	"strings"

	"symkit/internal/printable"
	"symkit/walk"
	"symkit/walk/internal/mdmp"
)

// builder makes the process of a dump.
type builder struct {
	d *mdmp.Dump
	p *walk.Process
	// left bounds the bytes of the strings that are still decoded: records can
	// share one long string.
	left int
}

func (b *builder) warn(format string, args ...any) {
	b.p.Warnings = append(b.p.Warnings, fmt.Sprintf(format, args...))
}

func (b *builder) text(t mdmp.Text) string {
	if t.Len() > b.left {
		return ""
	}
	b.left -= t.Len()
	return t.String()
}

// maxFileName bounds the bytes of a file's name in a path. File systems allow 255 bytes or 255
// units of UTF-16, which are at most 765 bytes of UTF-8.
const maxFileName = 1024

// path decodes a path. A name above maxFileName is elided in the middle: reports have the name
// of a module in each frame.
func (b *builder) path(t mdmp.Text) string {
	path := b.text(t)
	name := walk.BaseName(path)
	if len(name) <= maxFileName {
		return path
	}
	return strings.TrimSuffix(path, name) + printable.Elide(name, maxFileName)
}
