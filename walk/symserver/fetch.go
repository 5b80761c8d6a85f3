package symserver

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"

	"symkit/internal/address"
	"symkit/internal/download"
	"symkit/internal/filecache"
	"symkit/internal/packing"
	"symkit/limits"
	"symkit/walk"
	"symkit/walk/symbols/sources"
)

// absence returns the name of the file in the cache that tells when the server answered that it lacks a file.
func (s *Server) absence(place string) string {
	sum := sha256.Sum256([]byte(s.base.String() + "\x00" + place))
	return ".missing/" + hex.EncodeToString(sum[:16])
}

// load opens a file in the cache into out.
func (s *Server) load(place string, m *walk.Module, out *walk.Symbols) error {
	path := s.files().Path(place)
	err := sources.Load(out, path, m, limits.Limits{})
	if err == nil {
		out.From, out.URL = s.files().Source(path), sourceOf(path)
	}
	return err
}

// fetch gets a file from the server into the cache, whole and of the right module, or not
// at all.
func (s *Server) fetch(ctx context.Context, place string, m *walk.Module) error {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}

	source := s.target(place, m)
	err := s.client().Get(ctx, source, func(f *download.File) error {
		r, done, err := unpack(bufio.NewReaderSize(f, 1<<16)) // while it arrives
		defer done()
		if err != nil {
			return err
		}
		r = bufio.NewReaderSize(download.Verify(r, f.Header), 1<<16)
		first, err := record(r, place, m)
		if err != nil {
			return err
		}
		return s.files().Put(ctx, place, filecache.Content{
			Source: source.String(), Size: f.Size,
			Write: func(w io.Writer) error {
				return write(w, io.MultiReader(bytes.NewReader(first), r), source.String(), s.MaxSize)
			},
			Check: func(path string) error {
				var loaded walk.Symbols
				err := sources.Load(&loaded, path, m, limits.Limits{})
				if err != nil {
					return err
				}
				return loaded.Close()
			},
		})
	})

	refused, ok := errors.AsType[*download.Error](err)
	switch {
	case ok && (errors.Is(refused, fs.ErrNotExist) || refused.Status == http.StatusForbidden): // the last from S3, for a file that does not exist
		s.files().SetAbsent(s.absence(place))
		return ErrNotFound
	case errors.Is(err, filecache.ErrTotal), errors.Is(err, filecache.ErrSpace):
		return s.client().Refuse(err)
	}
	return err
}

// unpack unpacks a body by its first bytes: servers that store packed files do
// not always say so, or pack them once more. The caller calls done, also after an error.
func unpack(r *bufio.Reader) (_ *bufio.Reader, done func(), err error) {
	done = func() {}
	for range 2 {
		magic, err := r.Peek(4)
		if err != nil && err != io.EOF {
			return nil, done, err
		}
		out, finish, err := packing.NewReader(r, packing.Of(magic))
		if err != nil {
			return nil, done, err
		}
		inner := done
		r, done = bufio.NewReaderSize(out, 1<<16), func() { finish(); inner() }
	}
	return r, done, nil
}

// record reads the first line of a file, which must be the MODULE record of the module.
func record(r *bufio.Reader, place string, m *walk.Module) ([]byte, error) {
	head, err := r.Peek(len("MODULE "))
	if err != nil && err != io.EOF {
		return nil, err
	}
	if string(head) != "MODULE " {
		return nil, ErrContent
	}
	line, err := r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		return nil, fmt.Errorf("%w: its first line is too long", ErrContent)
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	fields := strings.Fields(string(line))
	if len(fields) < 5 {
		return nil, fmt.Errorf("%w: its MODULE record is incomplete", ErrContent)
	}
	if m.DebugID != "" && strings.Contains(place, "/"+m.DebugID+"/") && !strings.EqualFold(fields[3], m.DebugID) {
		return nil, sources.ErrOtherModule
	}
	return bytes.Clone(line), nil
}

// sourceMark begins the line at the end of a file in the cache that names the source of
// the file. rust-minidump writes the same; parsers ignore it.
const sourceMark = "INFO URL "

// write writes a file of at most maxSize bytes, with a last line that names its source, without what grants access:
// anybody can read the cache.
func write(w io.Writer, r io.Reader, source string, maxSize int64) error {
	t := &text{w: w, left: maxSize}
	_, err := io.Copy(t, r)
	if err != nil {
		return err
	}
	if t.last != '\n' {
		source = "\n" + sourceMark + source
	} else {
		source = sourceMark + source
	}
	_, err = io.WriteString(w, source+"\n")
	return err
}

// text is a writer that remembers the last byte.
type text struct {
	w    io.Writer
	left int64 // bytes that may still come
	last byte
}

func (t *text) Write(b []byte) (int, error) {
	t.left -= int64(len(b))
	if t.left < 0 {
		return 0, ErrTooLarge
	}
	if len(b) > 0 {
		t.last = b[len(b)-1]
	}
	return t.w.Write(b)
}

// sourceOf returns the URL that the file at path was fetched from; empty if the file
// does not name the URL.
func sourceOf(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}

	// The last line of the file names the source.
	tail := make([]byte, min(info.Size(), 4096))
	_, err = f.ReadAt(tail, info.Size()-int64(len(tail)))
	if err != nil {
		return ""
	}
	tail = bytes.TrimSuffix(tail, []byte{'\n'})
	line := tail[bytes.LastIndexByte(tail, '\n')+1:]
	url, ok := bytes.CutPrefix(line, []byte(sourceMark))
	if ok {
		return address.New(string(url)).String() // earlier versions wrote the whole URL
	}
	return ""
}
