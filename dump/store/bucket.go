package store

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"symkit/internal/objects"
	"symkit/internal/spool"
)

// container keeps objects: a bucket.
type container interface {
	// Exists reports whether there is an object.
	Exists(ctx context.Context, name string) (bool, error)
	// Create makes an object, which appears whole or not at all. Unless replace is set,
	// the error for an object that exists is an fs.ErrExist.
	Create(ctx context.Context, name string, content objects.Content, h objects.Header, replace bool) error
	// Get opens an object for reading. The error is an fs.ErrNotExist if there is none.
	Get(ctx context.Context, name string) (io.ReadCloser, objects.Info, error)
	// URL returns the address of an object.
	URL(name string) string
}

// bucket is the place of a store in a bucket.
type bucket struct {
	container
	ctx context.Context // of all requests
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
	return &Store{&bucket{b, ctx}, opt}, nil
}

func (b *bucket) close() error { return nil }

func (b *bucket) url(name string) string { return b.URL(name) }

func (b *bucket) paths(m Module, kind Kind, opt Options) ([]string, error) {
	paths, err := opt.Layout.paths(m, kind)
	for i := range paths {
		paths[i] += strings.TrimSuffix(opt.suffix(kind), suffixes[Gzip])
	}
	return paths, err
}

func (b *bucket) has(names []string) (bool, error) {
	for _, name := range names {
		exists, err := b.Exists(b.ctx, name)
		if err != nil || !exists {
			return false, err
		}
	}
	return true, nil
}

func (b *bucket) put(names []string, kind Kind, opt Options, write func(io.Writer) error) (size Size, err error) {
	content := &spool.Spool{}
	defer content.Close()
	h, size, err := pack(content, kind, opt, write)
	if err != nil {
		return size, err
	}
	for i, name := range names {
		err := b.Create(b.ctx, name, content, h, opt.Replace)
		size.Existed = size.Existed || i == 0 && errors.Is(err, fs.ErrExist)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return size, fmt.Errorf("%w: %w", ErrStore, err)
		}
	}
	return size, nil
}

// pack writes the bytes of an object to content and returns its properties.
func pack(content *spool.Spool, kind Kind, opt Options, write func(io.Writer) error) (h objects.Header, size Size, err error) {
	how := opt.compression(kind)
	sum := md5.New()
	err = how.compress(content, func(w io.Writer) error {
		return write(counter{io.MultiWriter(w, sum), &size.Text})
	})
	size.Stored = content.Size()
	h.ContentType = "application/octet-stream"
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
	return h, size, err
}

// replace makes an object under the condition that there is none, or the one that was compared.
func (b *bucket) replace(name string, opt Options, write func(io.Writer) error, decide func(stored io.Reader) (bool, error)) (size Size, err error) {
	content := &spool.Spool{}
	defer content.Close()
	h, size, err := pack(content, Symbols, opt, write)
	if err != nil {
		return size, err
	}
	for range maxRaces {
		old, info, err := b.Get(b.ctx, name)
		exists := err == nil
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return size, fmt.Errorf("%w: %w", ErrStore, err)
		}
		if exists {
			better, err := decide(old)
			old.Close()
			if err != nil || !better {
				return Size{Existed: true}, err
			}
			h.Replaces = info.Version
		}
		err = b.Create(b.ctx, name, content, h, exists)
		switch {
		case err == nil:
			return size, nil
		case !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist):
			return size, fmt.Errorf("%w: %w", ErrStore, err)
		}
	}
	return size, errRaced
}
