package symserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"syscall"

	"symkit/internal/atomicfile"
	"symkit/internal/download"
	"symkit/walk"
	"symkit/walk/symbols/sources"
)

// fetch gets a file from the server into the cache, whole and of the right module, or not
// at all.
func (s *Server) fetch(ctx context.Context, e entry, m *walk.Module) error {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}

	target := s.target(e.place, m)
	get := func() error {
		return s.client().Get(ctx, target, func(f *download.File) error { return e.receive(ctx, f, target.String(), m) })
	}
	err := get()
	if full(err) && s.leave(err) {
		err = get() // to elsewhere
	}

	refused, ok := errors.AsType[*download.Error](err)
	switch {
	case ok && (errors.Is(refused, fs.ErrNotExist) || refused.Status == http.StatusForbidden): // the last from S3, for a file that does not exist
		e.remember()
		return ErrNotFound
	case errors.Is(err, download.ErrTotal), errors.Is(err, download.ErrSpace):
		return s.client().Refuse(err)
	}
	return err
}

// full reports whether an error is that of a disk without space.
func full(err error) bool {
	return errors.Is(err, download.ErrSpace) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// receive writes a file into the cache.
func (e entry) receive(ctx context.Context, f *download.File, source string, m *walk.Module) error {
	// A file that the disk cannot hold is refused before it is read.
	s := e.server
	err := s.disk().Announce(f.Size)
	if errors.Is(err, download.ErrSpace) && s.leave(err) {
		err = s.disk().Announce(f.Size)
	}
	if err != nil {
		return err
	}

	// The body is unpacked while it arrives.
	text, err := unpack(bufio.NewReaderSize(f, 1<<16), s.MaxSize)
	if err != nil {
		return err
	}
	defer text.Close()
	text.wrote = s.disk().Wrote
	if verified := download.Verify(text.r, f.Header); verified != text.r {
		text.r = bufio.NewReaderSize(verified, 1<<16)
	}

	// A symbol file begins with its MODULE record.
	head, err := text.r.Peek(len("MODULE "))
	if err != nil && err != io.EOF {
		return err
	}
	if string(head) != "MODULE " {
		return ErrContent
	}
	err = e.write(ctx, text, source, m)
	if err != nil {
		return err
	}
	return e.verify(m)
}

// text is an unpacked body.
type text struct {
	r     *bufio.Reader
	left  int64             // bytes that may still come
	wrote func(int64) error // called with the number of bytes that were read, to be written; may be nil
	close func()
}

func (t *text) Close() { t.close() }

func (t *text) Read(b []byte) (int, error) {
	n, err := t.r.Read(b)
	t.left -= int64(n)
	if t.left < 0 {
		return 0, ErrTooLarge
	}

	if t.wrote != nil {
		if err := t.wrote(int64(n)); err != nil {
			return 0, err
		}
	}
	return n, err
}

// unpack unpacks a body by its first bytes: servers that store packed files do
// not always say so, or pack them once more.
func unpack(body *bufio.Reader, maxSize int64) (*text, error) {
	t := &text{r: body, left: maxSize, close: func() {}}
	for range 2 {
		magic, err := t.r.Peek(4)
		if err != nil && err != io.EOF {
			t.close()
			return nil, err
		}
		how := sources.Packing(magic)
		if how == "" {
			break
		}
		r, done, err := sources.Unpacker(t.r, how)
		if err != nil {
			t.close()
			return nil, err
		}
		inner := t.close
		t.r, t.close = bufio.NewReaderSize(r, 1<<16), func() { done(); inner() }
	}
	return t, nil
}

// write puts a file into the cache, with a last line that names the URL of the file, without
// what grants access: anybody can read the cache.
// The MODULE record must be that of the module.
func (e entry) write(ctx context.Context, t *text, source string, m *walk.Module) error {
	// The MODULE record must be that of the module.
	first, err := t.r.ReadSlice('\n')
	if err != nil && err != io.EOF {
		return fmt.Errorf("%w: its first line is too long", ErrContent)
	}
	fields := strings.Fields(string(first))
	if len(fields) < 5 {
		return fmt.Errorf("%w: its MODULE record is incomplete", ErrContent)
	}
	if m.DebugID != "" && strings.Contains(e.place, "/"+m.DebugID+"/") && !strings.EqualFold(fields[3], m.DebugID) {
		return sources.ErrOtherModule
	}

	line := append([]byte(nil), first...)
	reason := e.writable()
	if reason != nil {
		return e.hold(reason, line, t, source)
	}

	// The file appears under its name when it is complete.
	return atomicfile.Write(ctx, e.path(), func(w io.Writer) error {
		last := &lastByte{w: w}
		if _, err := last.Write(line); err != nil {
			return err
		}
		if _, err := io.Copy(last, t); err != nil {
			return err
		}
		if last.b != '\n' {
			source = "\n" + sourceMark + source
		} else {
			source = sourceMark + source
		}
		_, err := io.WriteString(w, source+"\n")
		return err
	})
}

// lastByte remembers the last byte that was written.
type lastByte struct {
	w io.Writer
	b byte
}

func (l *lastByte) Write(b []byte) (int, error) {
	if len(b) > 0 {
		l.b = b[len(b)-1]
	}
	return l.w.Write(b)
}
