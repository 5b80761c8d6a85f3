package objects

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Object is what a list says about an object.
type Object struct {
	Key      string
	Size     int64 // in bytes
	ETag     string
	Modified time.Time
}

// List yields all objects whose keys begin with a text, in the order of the service. The last error is that of a request;
// it is an fs.ErrNotExist if the credentials do not permit to list the bucket.
func (b *Bucket) List(ctx context.Context, below string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		in := &s3.ListObjectsV2Input{Bucket: &b.name}
		prefix := ""
		if b.prefix != "" {
			_, full := b.names("")
			prefix = *full + "/"
		}
		if prefix+below != "" {
			in.Prefix = aws.String(prefix + below)
		}
		for {
			out, err := call(ctx, b, "", false, func(set func(*s3.Options)) (*s3.ListObjectsV2Output, error) {
				return b.client.ListObjectsV2(ctx, in, set)
			})
			if err != nil {
				yield(Object{}, err)
				return
			}
			for i := range out.Contents {
				c := &out.Contents[i]
				// What is not below the prefix was not asked for.
				key, ok := strings.CutPrefix(aws.ToString(c.Key), prefix)
				o := Object{key, aws.ToInt64(c.Size), aws.ToString(c.ETag), aws.ToTime(c.LastModified)}
				if ok && key != "" && strings.HasPrefix(key, below) && !yield(o, nil) {
					return
				}
			}
			// A service that repeats its token would be asked without end.
			if !aws.ToBool(out.IsTruncated) || out.NextContinuationToken == nil || aws.ToString(in.ContinuationToken) == *out.NextContinuationToken {
				return
			}
			in.ContinuationToken = out.NextContinuationToken
		}
	}
}
