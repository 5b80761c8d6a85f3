package objects

import (
	"context"
	"errors"
	"io/fs"

	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Remove removes an object if it is still the one that Stat described. The error is ErrChanged if it is not; an object
// that is missing is none. With a service that knows no condition of a request that removes, another object that is made
// in the moment after Stat is removed.
func (b *Bucket) Remove(ctx context.Context, key string, is Info) error {
	// A request whose answer was lost may have been the one that removed, and another object may have been made since.
	look := beforeRepeat(func(ctx context.Context) error {
		now, err := b.Stat(ctx, key)
		if err == nil && !now.Same(is) {
			err = ErrChanged
		}
		return err
	})
	_, err := call(ctx, b, key, true, func(set func(*s3.Options)) (*s3.DeleteObjectOutput, error) {
		in := &s3.DeleteObjectInput{}
		in.Bucket, in.Key = b.names(key)
		in.IfMatch = &is.Version
		out, err := b.client.DeleteObject(ctx, in, set, look)
		if codeOf(err) == "NotImplemented" {
			in.IfMatch = nil
			return b.client.DeleteObject(ctx, in, set, look)
		}
		return out, err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, ErrExist):
		return ErrChanged
	}
	return err
}

// Same reports whether two answers describe the same object, made at the same time.
func (i Info) Same(o Info) bool {
	return i.Version == o.Version && i.Size == o.Size && i.Header.Get("Last-Modified") == o.Header.Get("Last-Modified")
}
