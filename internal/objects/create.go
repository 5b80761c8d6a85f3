package objects

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go/middleware"
)

// partSize is the size of the parts of a large object; smaller objects are sent as one.
const partSize = 32 << 20

// Header has the properties that Create stores with an object.
type Header struct {
	ContentType     string
	ContentEncoding string
	Meta            map[string]string
	// Replaces is the version of the object that Create replaces; if there is another one, the error is ErrExist. Empty:
	// any.
	Replaces string
}

// Content is the bytes of an object, which may be read several times.
type Content interface {
	io.ReaderAt
	Size() int64
}

// mark is the name in an object's metadata of the mark of the call of Create that made the object.
const mark = "symkit-write"

// Create makes an object. The error is ErrExist if there is one, unless replace is set.
//
// A request whose answer was lost may have made the object. So before a second request the object is looked for:
// nothing that the server has is sent again, and an object of this call has the call's mark.
func (b *Bucket) Create(ctx context.Context, key string, c Content, h Header, replace bool) error {
	own := rand.Text()
	in := &s3.PutObjectInput{Body: io.NewSectionReader(c, 0, c.Size()), Metadata: map[string]string{mark: own}}
	in.Bucket, in.Key = b.names(key)
	maps.Copy(in.Metadata, h.Meta)
	if h.ContentType != "" {
		in.ContentType = &h.ContentType
	}
	if h.ContentEncoding != "" {
		in.ContentEncoding = &h.ContentEncoding
	}
	if !replace {
		in.IfNoneMatch = aws.String("*")
	} else if h.Replaces != "" {
		in.IfMatch = &h.Replaces
	}

	var err error
	if c.Size() > partSize && !b.google {
		err = b.createInParts(ctx, key, c, in)
	} else {
		_, err = call(ctx, b, key, true, func(set func(*s3.Options)) (*s3.PutObjectOutput, error) {
			out, err := b.client.PutObject(ctx, in, set, b.lookBeforeRepeat(key, replace))
			if err != nil {
				return nil, err
			}
			return out, tagged(out.ETag)
		})
	}
	if errors.Is(err, ErrExist) || errors.Is(err, errNoUpload) {
		header, headErr := b.head(ctx, key)
		if headErr == nil && (header.Get("X-Amz-Meta-"+mark) == own || header.Get("X-Goog-Meta-"+mark) == own) {
			return nil
		}
	}
	return err
}

// lookBeforeRepeat makes the SDK look for the object before it repeats a request that makes the object.
func (b *Bucket) lookBeforeRepeat(key string, replace bool) func(*s3.Options) {
	return beforeRepeat(func(ctx context.Context) error {
		if replace {
			return nil
		}
		_, err := b.head(ctx, key)
		if err == nil {
			return ErrExist
		}
		return nil
	})
}

// beforeRepeat makes the SDK call look before it repeats a request. The error of look is that of the request.
func beforeRepeat(look func(ctx context.Context) error) func(*s3.Options) {
	requests := 0
	step := func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (out middleware.FinalizeOutput, m middleware.Metadata, err error) {
		requests++
		if requests > 1 {
			err := look(ctx)
			if err != nil {
				return out, m, err
			}
		}
		return next.HandleFinalize(ctx, in)
	}
	return s3.WithAPIOptions(func(s *middleware.Stack) error {
		return s.Finalize.Insert(middleware.FinalizeMiddlewareFunc("LookBeforeRepeat", step), "Retry", middleware.After)
	})
}

// tagged returns an error unless an answer has the tag of an object.
func tagged(tag *string) error {
	if aws.ToString(tag) == "" {
		return errNotS3
	}
	return nil
}

// createInParts sends an object in parts, each of which is repeated on its own. The object exists after the last
// request, which names all parts.
func (b *Bucket) createInParts(ctx context.Context, key string, c Content, in *s3.PutObjectInput) error {
	id, err := call(ctx, b, key, true, func(set func(*s3.Options)) (*string, error) {
		out, err := b.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
			Bucket: in.Bucket, Key: in.Key, ContentType: in.ContentType, ContentEncoding: in.ContentEncoding, Metadata: in.Metadata,
		}, set)
		if err != nil {
			return nil, err
		}
		return out.UploadId, tagged(out.UploadId)
	})
	if err != nil {
		return err
	}

	parts, err := b.sendParts(ctx, key, id, c, in)
	if err == nil {
		_, err = call(ctx, b, key, true, func(set func(*s3.Options)) (any, error) {
			out, err := b.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
				Bucket: in.Bucket, Key: in.Key, UploadId: id, IfNoneMatch: in.IfNoneMatch, IfMatch: in.IfMatch, MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
			}, set)
			if err != nil {
				return nil, err
			}
			return nil, tagged(out.ETag)
		})
	}
	if err != nil {
		// Parts cost storage until they are removed, also after an interruption.
		ctx := context.WithoutCancel(ctx)
		_, _ = call(ctx, b, key, true, func(set func(*s3.Options)) (any, error) {
			return b.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: in.Bucket, Key: in.Key, UploadId: id}, set)
		})
	}
	return err
}

// sendParts sends the parts of an object.
func (b *Bucket) sendParts(ctx context.Context, key string, id *string, c Content, in *s3.PutObjectInput) (parts []types.CompletedPart, err error) {
	for at := int64(0); at < c.Size(); at += partSize {
		number := aws.Int32(int32(len(parts)) + 1)
		part, err := call(ctx, b, key, true, func(set func(*s3.Options)) (*s3.UploadPartOutput, error) {
			body := io.NewSectionReader(c, at, min(partSize, c.Size()-at))
			out, err := b.client.UploadPart(ctx, &s3.UploadPartInput{Bucket: in.Bucket, Key: in.Key, UploadId: id, PartNumber: number, Body: body}, set)
			if err != nil {
				return nil, err
			}
			return out, tagged(out.ETag)
		})
		if err != nil {
			return nil, err
		}
		parts = append(parts, types.CompletedPart{ETag: part.ETag, PartNumber: number})
	}
	return parts, nil
}
