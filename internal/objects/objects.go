// Package objects reads and writes objects in buckets of any service that speaks the S3 protocol. The address is
// s3://BUCKET/PREFIX. The AWS SDK sends, signs and repeats the requests, and finds endpoint, region and
// credentials in its variables and files, as other programs of AWS do.
//
// An object is created only if its name is free, and has all its bytes as soon as it has the name. Nothing but Bucket.List
// lists a bucket.
package objects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	smithy "github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"symkit/internal/address"
	"symkit/internal/download"
	"symkit/internal/filename"
)

const (
	// Name is the scheme of a bucket's address.
	Name = "s3"
	// Scheme begins the address of a bucket.
	Scheme = Name + "://"
)

// ErrURL: the address is not s3://BUCKET or s3://BUCKET/PREFIX.
var ErrURL = errors.New("want s3://BUCKET/PREFIX")

const (
	// machineTime is how long the service of the machine's role may take. Outside of AWS there is no such
	// service, and requests get no answer.
	machineTime = 5 * time.Second
	// connections is how many connections to a server are kept.
	connections = 64
	// maxRegions bounds how often an answer may name another region.
	maxRegions = 3
)

// Bucket is a bucket, or the part of one below a prefix. Its methods may be called from any number of
// goroutines.
type Bucket struct {
	name, prefix string
	client       *s3.Client
	google       bool // the endpoint is that of Google Cloud Storage
	region       atomic.Pointer[string]
	answered     atomic.Bool // the server has answered a request
	credentials  sync.Once   // looks for the machine's role
	unsigned     bool        // there are no credentials: public buckets need no signature
	pause        time.Duration
}

// IsURL reports whether s is the address of a bucket.
func IsURL(s string) bool { return strings.HasPrefix(s, Scheme) }

// Open returns the bucket of an address. It makes no request.
func Open(ctx context.Context, at string) (*Bucket, error) {
	bucket, prefix, _ := strings.Cut(strings.TrimPrefix(at, Scheme), "/")
	if !IsURL(at) || !isBucket(bucket) || strings.ContainsAny(prefix, "?#") || climbs(prefix) {
		return nil, fmt.Errorf("%q: %w", address.New(at), ErrURL)
	}

	// The bodies of answers are those of the objects, which may be compressed.
	transport := awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.ResponseHeaderTimeout, t.DisableCompression, t.MaxIdleConnsPerHost = stall, true, connections
	})
	settings, err := config.LoadDefaultConfig(ctx, config.WithHTTPClient(transport))
	if err != nil {
		return nil, address.Error(err)
	}

	// A service of one's own accepts any region, and no certificate is for a bucket with a dot in its name.
	b := &Bucket{name: bucket, prefix: strings.Trim(prefix, "/"), pause: firstPause}
	settings.HTTPClient = &client{settings.HTTPClient, b}
	region := cmp.Or(settings.Region, "us-east-1")
	b.region.Store(&region)
	endpoint := ""
	b.client = s3.NewFromConfig(settings, func(o *s3.Options) {
		endpoint = aws.ToString(o.BaseEndpoint)
		o.Region, o.UsePathStyle, o.Retryer = region, endpoint != "" || strings.Contains(bucket, "."), newRetryer(b)
		// The SHA-256 of the body is signed. Not every service knows the other checksums.
		o.RequestChecksumCalculation, o.ResponseChecksumValidation = aws.RequestChecksumCalculationWhenRequired, aws.ResponseChecksumValidationWhenRequired
		o.DisableLogOutputChecksumValidationSkipped = true
		if u, err := url.Parse(endpoint); err == nil && isGoogle(u.Hostname()) {
			b.google, o.HTTPSignerV4 = true, &google
		}
	})
	u, err := url.Parse(endpoint)
	if endpoint != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("AWS_ENDPOINT_URL %q: want http://HOST or https://HOST", address.New(endpoint))
	}
	return b, nil
}

// isBucket reports whether a name has only the characters that names of buckets have.
func isBucket(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") == ""
}

// climbs reports whether a key has a part that would lead out of a directory.
func climbs(key string) bool {
	for part := range strings.SplitSeq(key, "/") {
		if part == "." || part == ".." {
			return true
		}
	}
	return false
}

// buckets are those that were opened by name. They share their connections.
var buckets sync.Map

// shared returns the bucket of a name.
func shared(ctx context.Context, name string) (*Bucket, error) {
	if b, ok := buckets.Load(name); ok {
		return b.(*Bucket), nil
	}
	b, err := Open(ctx, Scheme+name)
	if err != nil {
		return nil, err
	}
	known, _ := buckets.LoadOrStore(name, b)
	return known.(*Bucket), nil
}

// GetURL opens the object at an address.
func GetURL(ctx context.Context, at string) (io.ReadCloser, Info, error) {
	name, key, _ := strings.Cut(strings.TrimPrefix(at, Scheme), "/")
	if climbs(key) {
		return nil, Info{}, ErrURL
	}
	b, err := shared(ctx, name)
	if err != nil {
		return nil, Info{}, err
	}
	return b.Get(ctx, key)
}

// URL returns the address of an object.
func (b *Bucket) URL(key string) string { return Scheme + path.Join(b.name, b.prefix, key) }

// names returns the bucket and the key that a request names.
func (b *Bucket) names(key string) (bucket, full *string) {
	return &b.name, aws.String(path.Join(b.prefix, key))
}

// call makes a request about an object, in the region that the server names. The error names the object.
func call[T any](ctx context.Context, b *Bucket, key string, writes bool, do func(set func(*s3.Options)) (T, error)) (T, error) {
	b.credentials.Do(func() { b.lookForRole(ctx) })
	for regions := 0; ; regions++ {
		region := *b.region.Load()
		out, err := do(func(o *s3.Options) { o.Region = region })
		if err == nil {
			return out, nil
		}
		if answer := answerOf(err); answer != nil {
			actual := answer.Header.Get(regionHeader)
			if actual != "" && actual != region && regions < maxRegions {
				b.region.Store(&actual)
				continue
			}
		}
		return out, &filename.Error{Path: b.URL(key), Err: b.explain(ctx, err, writes)}
	}
}

// lookForRole makes a client without credentials if the SDK's last source, the role of the machine, is left, and
// has none.
func (b *Bucket) lookForRole(ctx context.Context) {
	keys := b.client.Options().Credentials
	if !aws.IsCredentialsProvider(keys, (*ec2rolecreds.Provider)(nil)) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, machineTime)
	defer cancel()
	_, err := keys.Retrieve(ctx)
	if err != nil {
		b.unsigned = true
		b.client = s3.New(b.client.Options(), func(o *s3.Options) { o.Credentials = aws.AnonymousCredentials{} })
	}
}

// answerTo returns the answer that a result is made of.
func answerTo(m smithy.Metadata) *http.Response {
	return middleware.GetRawResponse(m).(*smithyhttp.Response).Response
}

// Check makes one request, and returns an error if the bucket cannot be used: it is missing, or the credentials
// are wrong.
func (b *Bucket) Check(ctx context.Context) error {
	r, info, err := b.Get(ctx, ".symkit")
	if err == nil && info.ETag == "" {
		err = fmt.Errorf("%s: %w", b.URL(".symkit"), errNotS3)
	}
	if r != nil {
		r.Close()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Exists reports whether there is an object. An answer of 403 counts as no: services answer so if the credentials
// do not permit to list the bucket.
func (b *Bucket) Exists(ctx context.Context, key string) (bool, error) {
	_, err := b.head(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// head returns the header of an object.
func (b *Bucket) head(ctx context.Context, key string) (http.Header, error) {
	return call(ctx, b, key, false, func(set func(*s3.Options)) (http.Header, error) {
		bucket, full := b.names(key)
		out, err := b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: bucket, Key: full}, set)
		if err != nil {
			return nil, err
		}
		return answerTo(out.ResultMetadata).Header, tagged(out.ETag)
	})
}

// Stat describes an object. The error is an fs.ErrNotExist if there is no such object.
func (b *Bucket) Stat(ctx context.Context, key string) (Info, error) {
	h, err := b.head(ctx, key)
	if err != nil {
		return Info{}, err
	}
	size, err := strconv.ParseInt(h.Get("Content-Length"), 10, 64)
	if err != nil {
		size = -1
	}
	return newInfo(size, h), nil
}

// Delete removes an object, which need not exist. If version is that of an Info, and there is another object, the error
// is ErrExist; services that do not know this condition remove any.
func (b *Bucket) Delete(ctx context.Context, key, version string) error {
	_, err := call(ctx, b, key, true, func(set func(*s3.Options)) (*s3.DeleteObjectOutput, error) {
		in := &s3.DeleteObjectInput{}
		in.Bucket, in.Key = b.names(key)
		if version != "" {
			in.IfMatch = &version
		}
		return b.client.DeleteObject(ctx, in, set)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Info describes an object.
type Info struct {
	Size int64 // -1 if the server does not say
	ETag string
	// Version is what Header.Replaces and Delete take: Google's generation, else the ETag.
	Version string
	// Encoding is the Content-Encoding, such as gzip.
	Encoding string
	// Header is that of the answer, with the metadata.
	Header http.Header
}

// newInfo returns what an answer says about an object.
func newInfo(size int64, h http.Header) Info {
	return Info{size, h.Get("ETag"), cmp.Or(h.Get(googleGeneration), h.Get("ETag")), h.Get("Content-Encoding"), h}
}

// Get opens an object for reading. If the connection breaks, reading continues with the rest of the same object.
// The error is an fs.ErrNotExist if there is no such object.
func (b *Bucket) Get(ctx context.Context, key string) (r io.ReadCloser, info Info, err error) {
	first, info, err := b.get(ctx, key, "", 0)
	if err != nil {
		return nil, info, err
	}
	if info.ETag == "" {
		return first, info, nil // the rest could be that of another object
	}
	return b.resume(ctx, first, key, info.ETag, 0, info.Size), info, nil
}

// GetFrom opens an object of a size for reading from an offset on, as Get does. An object with
// another tag is an error.
func (b *Bucket) GetFrom(ctx context.Context, key, tag string, at, size int64) (io.ReadCloser, error) {
	first, _, err := b.get(ctx, key, tag, at)
	if err != nil {
		return nil, err
	}
	return b.resume(ctx, first, key, tag, at, size), nil
}

// get makes a request for an object from an offset on. Unless the tag is empty, the object must have it.
func (b *Bucket) get(ctx context.Context, key, tag string, at int64) (r io.ReadCloser, info Info, err error) {
	r, err = call(ctx, b, key, false, func(set func(*s3.Options)) (io.ReadCloser, error) {
		in := &s3.GetObjectInput{}
		in.Bucket, in.Key = b.names(key)
		if at > 0 {
			in.Range = aws.String(fmt.Sprintf("bytes=%d-", at))
		}
		if tag != "" {
			in.IfMatch = &tag
		}
		out, err := b.client.GetObject(ctx, in, set)
		if err != nil {
			return nil, err
		}
		answer := answerTo(out.ResultMetadata)
		info = newInfo(answer.ContentLength, answer.Header)
		return out.Body, download.CheckRange(answer, at)
	})
	return r, info, err
}

// resume returns a reader of an object, of which first has the bytes from the offset from on.
func (b *Bucket) resume(ctx context.Context, first io.ReadCloser, key, tag string, from, size int64) io.ReadCloser {
	if size >= 0 {
		size -= from
	}
	return download.Resume(ctx, first, size, func(at int64) (io.ReadCloser, error) {
		r, _, err := b.get(ctx, key, tag, from+at)
		return r, err
	})
}
