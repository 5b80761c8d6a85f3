package objects

import (
	"context"
	"iter"
	"path"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// List yields the keys of all objects, in the order of the service. The last error is that of a request; it is an
// fs.ErrNotExist if the credentials do not permit to list the bucket.
func (b *Bucket) List(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		in := &s3.ListObjectsV2Input{Bucket: &b.name}
		below := ""
		if b.prefix != "" {
			below = path.Clean(b.prefix) + "/"
			in.Prefix = &below
		}
		for {
			out, err := call(ctx, b, "", false, func(set func(*s3.Options)) (*s3.ListObjectsV2Output, error) {
				return b.client.ListObjectsV2(ctx, in, set)
			})
			if err != nil {
				yield("", err)
				return
			}
			for i := range out.Contents {
				key := strings.TrimPrefix(aws.ToString(out.Contents[i].Key), below)
				if key != "" && !yield(key, nil) {
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
