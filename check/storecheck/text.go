package storecheck

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"symkit/elfx"
	"symkit/internal/download"
	"symkit/internal/mem"
	"symkit/internal/packing"
	"symkit/limits"
)

// text is a file of a store, unpacked and mapped.
type text struct {
	*mem.Mapping
	path string // of a copy, or of the file itself
	own  bool   // the file itself
}

// close unmaps the file, and removes a copy.
func (t *text) close() {
	_ = t.Release() // nothing can be done about an error
	if !t.own {
		_ = os.Remove(t.path)
	}
}

// unchanged returns an error if the file was written to since it was opened.
func (t *text) unchanged() error {
	if !t.own {
		return nil
	}
	return elfx.Unchanged(t.path, t.Info())
}

// errEmpty is the error for a file without a byte.
var errEmpty = errors.New("the file is empty")

// openText opens a file. One that is packed, or that is not on this machine, is copied to a temporary file, which has at
// most the bytes that limit allows for the packed size.
func (s *store) openText(ctx context.Context, key, limit string, l limits.Limits) (*text, error) {
	r, header, err := s.open(ctx, key)
	if err != nil {
		return nil, err
	}
	defer r.Close()

	from := &counter{r: r}
	start := bufio.NewReader(from)
	magic, _ := start.Peek(packing.MagicSize)
	how := packing.Of(magic)
	unpacked, done, err := packing.NewReader(start, how)
	if err != nil {
		return nil, err
	}
	defer done()
	if s.isDir() && how == packing.None {
		return mapped(s.path(s.find(ctx, key)), true)
	}
	most := func() int64 { return int64(min(l.Max(limit, uint64(from.n)), math.MaxInt64)) }
	return copied(download.Verify(unpacked, header), most, func() error { return l.Exceeded(limit, uint64(from.n)) })
}

// mapped maps a file that is not empty.
func mapped(path string, own bool) (*text, error) {
	m, err := mem.Open(path)
	if err != nil {
		return nil, err
	}
	if len(m.Bytes()) == 0 {
		return nil, errors.Join(errEmpty, m.Release())
	}
	return &text{m, path, own}, nil
}

// copied copies a reader to a temporary file, up to the bytes that most returns.
func copied(r io.Reader, most func() int64, exceeded func() error) (t *text, err error) {
	f, err := os.CreateTemp("", "symcheck-*")
	if err != nil {
		return nil, err
	}
	defer func() {
		f.Close()
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	done := int64(0)
	for err == nil {
		const step = 1 << 20
		var n int64
		n, err = io.CopyN(f, r, step)
		done += n
		if done > most() {
			return nil, exceeded()
		}
	}
	if err != io.EOF {
		return nil, err
	}
	return mapped(f.Name(), false)
}

// counter counts the bytes that are read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// kindError returns the error for a symbol file that is of another known kind, such as an ELF file, or nil.
func kindError(data []byte) error {
	kind := elfx.KindOf(data[:min(len(data), 64<<10)])
	switch kind.Name {
	case "empty", "a text file", "a script", elfx.SymbolFile.Name, "":
		return nil
	}
	return fmt.Errorf("not a symbol file: it is %v", kind)
}
