package upload

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"symkit/internal/crash"
	"symkit/internal/download"
)

const (
	// zipsAtATime is how many zip files are sent at a time, as Mozilla's client does.
	zipsAtATime = 3
	// maxZip is the size in bytes from which a zip file takes no further files.
	maxZip = 64 << 20
)

// zips sends files by version 1 of Tecken's protocol. The files that have come while others are sent go together.
type zips struct {
	t     *tecken
	turns chan struct{}

	mu   sync.Mutex
	next *zipFile // takes further files, or nil
}

// zipFile is the files of one request.
type zipFile struct {
	members []member
	size    int64
	done    chan struct{} // closed when the server has answered
	err     error
	skipped []string // keys that the server has
}

// member is a file in a zip file.
type member struct {
	key string
	*packed
}

// send sends a file under each of the keys. existed is about the first one.
func (z *zips) send(ctx context.Context, keys []string, p *packed) (existed bool, err error) {
	f, first := z.add(keys, p)
	if !first {
		<-f.done
	} else {
		select {
		case z.turns <- struct{}{}:
			z.close(f)
			f.err = z.post(ctx, f)
			<-z.turns
		case <-ctx.Done():
			z.close(f)
			f.err = context.Cause(ctx)
		}
		close(f.done)
	}
	if f.err != nil && len(f.members) > len(keys) && !errors.Is(f.err, ErrServer) && ctx.Err() == nil {
		// One bad file is refused with all others.
		alone := &zipFile{done: make(chan struct{})}
		alone.add(keys, p)
		err = z.post(ctx, alone)
		return alone.has(keys[0]), err
	}
	return f.has(keys[0]), f.err
}

// add adds a file to the zip file that waits for its turn, or to a new one; then first is set.
func (z *zips) add(keys []string, p *packed) (f *zipFile, first bool) {
	z.mu.Lock()
	defer z.mu.Unlock()
	first = z.next == nil || z.next.size+p.Size() > maxZip
	if first {
		z.next = &zipFile{done: make(chan struct{})}
	}
	z.next.add(keys, p)
	return z.next, first
}

// close ends the time in which a zip file takes further files.
func (z *zips) close(f *zipFile) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.next == f {
		z.next = nil
	}
}

// add adds a file under each of the keys.
func (f *zipFile) add(keys []string, p *packed) {
	for _, key := range keys {
		f.members = append(f.members, member{key, p})
		f.size += p.Size()
	}
}

// has reports whether the server had a file before. It names keys with a prefix.
func (f *zipFile) has(key string) bool {
	return slices.ContainsFunc(f.skipped, func(k string) bool { return k == key || strings.HasSuffix(k, "/"+key) })
}

// post sends the zip file.
func (z *zips) post(ctx context.Context, f *zipFile) error {
	const name = "symbols.zip"
	body := newForm()
	body.file(name, name, f.content())
	a, err := z.t.server.Send(ctx, &download.Request{
		Method: http.MethodPost, URL: z.t.join(uploadV1+"/", nil), Header: body.header(), Body: body.body(),
	})
	if err != nil {
		return explain(err)
	}
	var answer struct {
		Upload *struct {
			Skipped []string `json:"skipped_keys"`
		}
	}
	err = json.Unmarshal(a.Body, &answer)
	if err != nil || answer.Upload == nil {
		return noProtocol(z.t.server, "it has no object \"upload\"")
	}
	f.skipped = answer.Upload.Skipped
	return nil
}

// content returns the bytes of the zip file, which are made again each time that they are read.
func (f *zipFile) content() download.Content {
	c := &zipContent{f: f}
	_ = f.write(counter{&c.size}) // a counter has no errors, and the files can be read
	return c
}

type zipContent struct {
	f    *zipFile
	size int64
}

// Size implements download.Content.
func (c *zipContent) Size() int64 { return c.size }

// Open implements download.Content.
func (c *zipContent) Open() io.Reader {
	r, w := io.Pipe()
	go func() {
		defer crash.Catch()
		w.CloseWithError(c.f.write(w))
	}()
	return r
}

// write writes the zip file. The members are compressed already.
func (f *zipFile) write(w io.Writer) error {
	z := zip.NewWriter(w)
	for _, m := range f.members {
		h := &zip.FileHeader{Name: m.key, Method: zip.Deflate, CRC32: m.crc.Sum32(), UncompressedSize64: uint64(m.packed.size)}
		data := m.deflated()
		if m.whole {
			h.Method, data = zip.Store, m.Section(0, m.Size())
		}
		h.CompressedSize64 = uint64(data.Size())
		out, err := z.CreateRaw(h)
		if err == nil {
			_, err = io.Copy(out, data.Open())
		}
		if err != nil {
			return fmt.Errorf("%s: %w", m.key, err)
		}
	}
	return z.Close()
}
