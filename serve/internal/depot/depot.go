// Package depot keeps the files of a symbol server by keys, which are slash-separated paths: in a directory, or as
// objects of a bucket. Files appear whole or not at all, and any number of processes may share a depot.
package depot

import (
	"context"
	"errors"
	"io"
	"path"
	"strings"
	"time"
)

// ErrChanged is the error of Put for a file that is not the one to replace any more. It is the error for a file that
// exists, too, if none was to be replaced.
var ErrChanged = errors.New("another process stored the file meanwhile")

// Private is the directory of files that are no symbols: uploads that are not complete, indices, locks. A module of
// this name would have an id in the place of the next part of the path.
const Private = ".symkit"

// Digest identifies the content of a file before compression.
type Digest struct {
	Size int64
	MD5  string // lower-case hexadecimal digits; empty if it is not known
}

// File describes a stored file.
type File struct {
	Key      string
	Encoding string // of the stored bytes: "", "gzip" or "zstd", as in Content-Encoding
	Size     int64  // of the stored bytes
	Tag      string // changes with the stored bytes
	Modified time.Time
	Digest   Digest

	version string // of an object, in the condition that it is still there
}

// Blob is the bytes to store, which may be read several times, and what is known about them.
type Blob struct {
	io.ReaderAt
	Length   int64
	Encoding string
	Digest   Digest
	Type     string // Content-Type
}

// Size returns the number of bytes.
func (b *Blob) Size() int64 { return b.Length }

// Depot is an opened depot. Its methods may be called from any number of goroutines. Errors about files that do not
// exist are fs.ErrNotExist.
type Depot interface {
	// Stat describes a file, without its Digest if that takes reading the file.
	Stat(ctx context.Context, key string) (File, error)
	// Open opens a file for reading its stored bytes.
	Open(ctx context.Context, key string) (io.ReadSeekCloser, File, error)
	// Put makes a file, or replaces the file old. If there is another file than old, the error is ErrChanged.
	Put(ctx context.Context, key string, blob *Blob, old *File) error
	// Remove removes a file, which need not exist: the file old, or any if old is nil. If there is another file than
	// old, the error is ErrChanged.
	Remove(ctx context.Context, key string, old *File) error
	// Digest returns the Digest of a file that Stat returned, and may read all of the file.
	Digest(ctx context.Context, file File) (Digest, error)
	// Sweep removes private files that were left for longer than a time, as far as the depot can list files.
	Sweep(ctx context.Context, age time.Duration) error
	// Spool returns the directory for temporary files.
	Spool() string
	// Address returns the directory or the address of the bucket, for messages.
	Address() string
	// Path returns the path of a file that other code can open, or "" if there is none.
	Path(file File) string
	Close() error
}

// valid reports whether a key leads to a file of the depot: no part of it is empty, "." or "..", and no part is long.
func valid(key string) bool {
	for part := range strings.SplitSeq(key, "/") {
		if part == "" || part == "." || part == ".." || len(part) > maxName || strings.ContainsAny(part, "\\\x00") {
			return false
		}
	}
	return len(key) <= maxKey && path.Clean(key) == key
}

const (
	maxName = 250  // bytes of a part of a key, to which the ending of a compressed file is added
	maxKey  = 1000 // bytes of a key; buckets have 1,024
)
