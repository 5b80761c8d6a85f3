package depot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"time"

	"symkit/internal/objects"
)

// bucket is a depot in a bucket. Objects have the names that Mozilla's servers give theirs, and the same metadata.
type bucket struct {
	b     *objects.Bucket
	spool string
}

// OpenBucket opens the depot in a bucket, s3://BUCKET/PREFIX. Temporary files are in the directory spool, or that of the
// system if spool is empty.
func OpenBucket(ctx context.Context, address, spool string) (Depot, error) {
	b, err := objects.Open(ctx, address)
	if err == nil {
		err = b.Check(ctx)
	}
	if err != nil {
		return nil, err
	}
	return &bucket{b, cmp.Or(spool, os.TempDir())}, nil
}

func (b *bucket) Close() error                               { return nil }
func (b *bucket) Spool() string                              { return b.spool }
func (b *bucket) Address() string                            { return b.b.URL("") }
func (b *bucket) Path(File) string                           { return "" }
func (b *bucket) Sweep(context.Context, time.Duration) error { return nil } // buckets have rules for that

// file returns what an answer says about an object.
func file(key string, info objects.Info) File {
	f := File{Key: key, Encoding: info.Encoding, Size: info.Size, Tag: info.ETag, version: info.Version}
	f.Modified, _ = http.ParseTime(info.Header.Get("Last-Modified"))
	for _, prefix := range []string{"X-Amz-Meta-", "X-Goog-Meta-"} {
		size, err := strconv.ParseInt(info.Header.Get(prefix+"Original_size"), 10, 64)
		if err == nil {
			f.Digest = Digest{size, info.Header.Get(prefix + "Original_md5_hash")}
		}
	}
	return f
}

func (b *bucket) Stat(ctx context.Context, key string) (File, error) {
	if !valid(key) {
		return File{}, fs.ErrNotExist
	}
	info, err := b.b.Stat(ctx, key)
	return file(key, info), err
}

func (b *bucket) Open(ctx context.Context, key string) (io.ReadSeekCloser, File, error) {
	if !valid(key) {
		return nil, File{}, fs.ErrNotExist
	}
	r, info, err := b.b.Get(ctx, key)
	if err != nil {
		return nil, File{}, err
	}
	if info.Size < 0 {
		return nil, File{}, errors.Join(fmt.Errorf("%s: the server did not say how long the object is", b.b.URL(key)), r.Close())
	}
	f := file(key, info)
	return &reader{ctx: ctx, b: b.b, file: f, r: r}, f, nil
}

func (b *bucket) Put(ctx context.Context, key string, blob *Blob, old *File) error {
	if !valid(key) {
		return fmt.Errorf("%q: %w", key, fs.ErrInvalid)
	}
	h := objects.Header{ContentType: blob.Type, ContentEncoding: blob.Encoding}
	if blob.Digest.MD5 != "" {
		h.Meta = map[string]string{"original_size": strconv.FormatInt(blob.Digest.Size, 10), "original_md5_hash": blob.Digest.MD5}
	}
	if old != nil {
		h.Replaces = old.version
	}
	err := b.b.Create(ctx, key, blob, h, old != nil)
	if errors.Is(err, fs.ErrExist) || old != nil && errors.Is(err, fs.ErrNotExist) {
		return ErrChanged
	}
	return err
}

func (b *bucket) Remove(ctx context.Context, key string, old *File) error {
	if !valid(key) {
		return nil
	}
	version := ""
	if old != nil {
		version = old.version
	}
	err := b.b.Delete(ctx, key, version)
	if errors.Is(err, fs.ErrExist) {
		return ErrChanged
	}
	return err
}

func (b *bucket) Digest(ctx context.Context, f File) (Digest, error) {
	if f.Digest.MD5 != "" {
		return f.Digest, nil
	}
	r, now, err := b.Open(ctx, f.Key)
	if err != nil {
		return Digest{}, err
	}
	defer r.Close()
	if now.Tag != f.Tag {
		return Digest{}, ErrChanged
	}
	return digestOf(r, f.Encoding)
}

// reader reads an object from any place on.
type reader struct {
	ctx  context.Context
	b    *objects.Bucket
	file File
	r    io.ReadCloser // nil: not requested
	at   int64         // of r
	next int64         // of the next Read
}

func (r *reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.next
	case io.SeekEnd:
		offset += r.file.Size
	}
	if offset < 0 {
		return 0, fs.ErrInvalid
	}
	r.next = offset
	return offset, nil
}

func (r *reader) Read(p []byte) (int, error) {
	if r.next >= r.file.Size {
		return 0, io.EOF
	}
	if r.r == nil || r.at != r.next {
		err := r.Close()
		if err != nil {
			return 0, err
		}
		r.r, err = r.b.GetFrom(r.ctx, r.file.Key, r.file.Tag, r.next, r.file.Size)
		if err != nil {
			return 0, err
		}
		r.at = r.next
	}
	n, err := r.r.Read(p)
	r.at += int64(n)
	r.next = r.at
	return n, err
}

func (r *reader) Close() error {
	if r.r == nil {
		return nil
	}
	err := r.r.Close()
	r.r = nil
	return err
}
