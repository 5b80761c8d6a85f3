package store

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"symkit/internal/objects"
)

// container keeps the files of a store that is not a directory: a bucket.
type container interface {
	// Exists reports whether there is an object.
	Exists(ctx context.Context, name string) (bool, error)
	// Create makes an object, which appears whole or not at all. Unless replace is set,
	// the error for an object that exists is an fs.ErrExist.
	Create(ctx context.Context, name string, content objects.Content, h objects.Header, replace bool) error
	// URL returns the address of an object.
	URL(name string) string
}

// OpenBucket opens the store in a bucket, whose address is s3://BUCKET or s3://BUCKET/PREFIX, and sends a request to see
// whether the bucket can be read. Endpoint, region and credentials are those that other programs of AWS use. Files with
// gzip have no suffix there: servers send them with a Content-Encoding. ctx is that of all requests of the store.
func OpenBucket(ctx context.Context, address string, opt Options) (*Store, error) {
	b, err := objects.Open(ctx, address)
	if err == nil {
		err = b.Check(ctx)
	}
	if err != nil {
		return nil, err
	}
	return &Store{ctx: ctx, objects: b, opt: opt}, nil
}

// has is Has for a store of objects.
func (s *Store) has(names []string) (bool, error) {
	for _, name := range names {
		exists, err := s.objects.Exists(s.ctx, name)
		if err != nil || !exists {
			return false, err
		}
	}
	return true, nil
}

// create is Put for a store of objects.
func (s *Store) create(paths []string, kind Kind, how Compression, write func(io.Writer) error) (size Size, err error) {
	b := &spool{}
	defer b.Close()
	sum := md5.New()
	err = how.compress(counter{b, &size.Stored}, func(w io.Writer) error {
		return write(counter{io.MultiWriter(w, sum), &size.Text})
	})
	if err != nil {
		return size, err
	}

	content := spooled{b, size.Stored}
	h := objects.Header{ContentType: "application/octet-stream"}
	if kind == Symbols {
		// Mozilla's servers have these names.
		h.ContentType = "text/plain; charset=utf-8"
		h.Meta = map[string]string{
			"original_size": strconv.FormatInt(size.Text, 10), "original_md5_hash": hex.EncodeToString(sum.Sum(nil)),
		}
	}
	switch how {
	case Gzip:
		h.ContentEncoding = "gzip"
	case Zstd:
		h.ContentType = "application/zstd"
	}

	for i, path := range paths {
		err := s.objects.Create(s.ctx, path, content, h, s.opt.Replace)
		size.Existed = size.Existed || i == 0 && errors.Is(err, fs.ErrExist)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return size, fmt.Errorf("%w: %w", ErrStore, err)
		}
	}
	return size, nil
}

// objectPath returns the path of a file among objects.
func objectPath(path string) string { return strings.TrimSuffix(path, suffixes[Gzip]) }

// memorySpool is how many bytes of a file are kept in memory until they are sent.
const memorySpool = 16 << 20

// spool keeps the bytes written to it: in memory or, above memorySpool bytes, in a temporary file.
type spool struct {
	memory bytes.Buffer
	file   *os.File
}

func (s *spool) Write(p []byte) (int, error) {
	if s.file != nil {
		return s.file.Write(p)
	}
	s.memory.Write(p)
	if s.memory.Len() <= memorySpool {
		return len(p), nil
	}

	// The file has no name, so that it vanishes with the process.
	f, err := os.CreateTemp("", "dump_syms-*.sym")
	if err != nil {
		return 0, err
	}
	_ = os.Remove(f.Name()) // or, where that is not possible, at the end
	s.file = f
	_, err = f.Write(s.memory.Bytes())
	s.memory = bytes.Buffer{}
	return len(p), err
}

// ReadAt implements io.ReaderAt.
func (s *spool) ReadAt(p []byte, at int64) (int, error) {
	if s.file != nil {
		return s.file.ReadAt(p, at)
	}
	return bytes.NewReader(s.memory.Bytes()).ReadAt(p, at)
}

// spooled is the content of a spool, with its length in bytes.
type spooled struct {
	*spool
	length int64
}

// Size returns the length in bytes.
func (s spooled) Size() int64 { return s.length }

// Close removes the file.
func (s *spool) Close() error {
	if s.file == nil {
		return nil
	}
	return errors.Join(s.file.Close(), ignoreMissing(os.Remove(s.file.Name())))
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
