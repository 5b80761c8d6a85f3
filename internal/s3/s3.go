// Package s3 reads and writes objects in buckets of any service that speaks the S3
// protocol. The address is s3://BUCKET/PREFIX. Endpoint, region and credentials come
// from the variables and files of the AWS SDKs:
//
//   - AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL; AWS's own service without them
//   - AWS_REGION, AWS_DEFAULT_REGION
//   - AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN; the file of
//     AWS_SHARED_CREDENTIALS_FILE, ~/.aws/credentials, with AWS_PROFILE; web identities,
//     and the roles of containers and machines
//
// Objects are created only if they do not exist, and have all their bytes as soon as they
// have a name. No bucket is listed.
package s3

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Scheme begins the address of a bucket.
const Scheme = "s3://"

var (
	// ErrURL: the address is not s3://BUCKET or s3://BUCKET/PREFIX.
	ErrURL = errors.New("want s3://BUCKET/PREFIX")
	// ErrExist is the error of Create for an object that exists. It is an fs.ErrExist.
	ErrExist = fmt.Errorf("the object exists: %w", fs.ErrExist)
)

// How long a request is repeated that the network or the server fails.
const (
	patience   = 3 * time.Minute
	firstPause = 500 * time.Millisecond
	maxPause   = 10 * time.Second
	// attempts are those of the library, which has pauses of a second at most.
	attempts = 3
	// partSize is the size of the parts of a large object; smaller ones are sent as one.
	partSize = 32 << 20
	// stall is how long a server may take for the head of an answer.
	stall = time.Minute
)

// Bucket is a bucket, or the part of one below a prefix. Its methods may be called from
// any number of goroutines.
type Bucket struct {
	name, prefix string
	client       *minio.Client
	patience     time.Duration // as the constant, but for tests
	pause        time.Duration
}

// IsURL reports whether s is the address of a bucket.
func IsURL(s string) bool { return strings.HasPrefix(s, Scheme) }

// Open returns the bucket of an address. It makes no request.
func Open(address string) (*Bucket, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return nil, fmt.Errorf("%q: %w", address, ErrURL)
	}

	endpoint := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"))
	host, secure, lookup := "s3.amazonaws.com", true, minio.BucketLookupAuto
	if endpoint != "" {
		e, err := url.Parse(endpoint)
		if err != nil || e.Host == "" || e.Scheme != "http" && e.Scheme != "https" {
			return nil, fmt.Errorf("AWS_ENDPOINT_URL %q: want http://HOST or https://HOST", endpoint)
		}
		host, secure, lookup = e.Host, e.Scheme == "https", minio.BucketLookupPath
	}

	// With an endpoint of one's own the region matters to nobody but has to be signed.
	region := cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))
	if region == "" && endpoint != "" {
		region = "us-east-1"
	}
	transport, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, err
	}
	transport.ResponseHeaderTimeout = stall
	client, err := minio.New(host, &minio.Options{
		Creds: account(), Secure: secure, Region: region, BucketLookup: lookup, MaxRetries: attempts, Transport: transport,
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return &Bucket{name: u.Host, prefix: strings.Trim(u.Path, "/"), client: client, patience: patience, pause: firstPause}, nil
}

// buckets are those that were opened by name. They share their connections.
var buckets sync.Map

// shared returns the bucket of a name.
func shared(name string) (*Bucket, error) {
	if b, ok := buckets.Load(name); ok {
		return b.(*Bucket), nil
	}
	b, err := Open(Scheme + name)
	if err != nil {
		return nil, err
	}
	known, _ := buckets.LoadOrStore(name, b)
	return known.(*Bucket), nil
}

// GetURL opens the object at an address.
func GetURL(ctx context.Context, address string) (io.ReadCloser, Info, error) {
	name, key, _ := strings.Cut(strings.TrimPrefix(address, Scheme), "/")
	b, err := shared(name)
	if err != nil {
		return nil, Info{}, err
	}
	return b.Get(ctx, key)
}

// account returns the first credentials that there are, as the SDKs look for them.
func account() *credentials.Credentials {
	chain := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	if os.Getenv("AWS_EC2_METADATA_DISABLED") != "true" {
		chain = append(chain, &credentials.IAM{Client: &http.Client{Timeout: 2 * time.Second}})
	}
	return credentials.NewChainCredentials(chain)
}

// URL returns the address of an object.
func (b *Bucket) URL(key string) string { return Scheme + path.Join(b.name, b.prefix, key) }

func (b *Bucket) key(key string) string { return path.Join(b.prefix, key) }

// Check makes one request, and returns an error if the bucket cannot be used: it is
// missing, or the credentials are wrong.
func (b *Bucket) Check(ctx context.Context) error {
	r, _, err := b.Get(ctx, ".symkit")
	if err == nil {
		return r.Close()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Exists reports whether there is an object. An answer of 403 counts as no: services
// answer so if the credentials do not permit to list the bucket.
func (b *Bucket) Exists(ctx context.Context, key string) (bool, error) {
	err := b.repeat(ctx, key, func() error {
		_, err := b.client.StatObject(ctx, b.name, b.key(key), minio.StatObjectOptions{})
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Info describes an object.
type Info struct {
	Size int64
	ETag string
}

// Get opens an object for reading. The error is an fs.ErrNotExist if there is none.
func (b *Bucket) Get(ctx context.Context, key string) (r io.ReadCloser, info Info, err error) {
	err = b.repeat(ctx, key, func() error {
		core := minio.Core{Client: b.client}
		body, stat, _, err := core.GetObject(ctx, b.name, b.key(key), minio.GetObjectOptions{})
		r, info = body, Info{stat.Size, stat.ETag}
		return err
	})
	return r, info, err
}

// Header is what Create records with an object.
type Header struct {
	ContentType     string
	ContentEncoding string
	Meta            map[string]string
}

// Content is the bytes of an object, which may be read several times.
type Content interface {
	io.ReaderAt
	Size() int64
}

// Create makes an object. The error is ErrExist if there is one, unless replace is set.
func (b *Bucket) Create(ctx context.Context, key string, c Content, h Header, replace bool) error {
	opt := minio.PutObjectOptions{
		ContentType: h.ContentType, ContentEncoding: h.ContentEncoding, UserMetadata: h.Meta, DisableMultipart: true,
	}
	if !replace {
		opt.SetMatchETagExcept("*")
	}

	// A request whose answer was lost may have made the object: then it exists.
	return b.repeat(ctx, key, func() error {
		if c.Size() > partSize {
			return b.multipart(ctx, b.key(key), c, opt)
		}
		_, err := b.client.PutObject(ctx, b.name, b.key(key), io.NewSectionReader(c, 0, c.Size()), c.Size(), opt)
		return err
	})
}

// multipart sends an object in parts, each of which is repeated on its own. Nobody sees
// the object before all parts are there.
func (b *Bucket) multipart(ctx context.Context, key string, c Content, opt minio.PutObjectOptions) error {
	core := minio.Core{Client: b.client}
	id, err := core.NewMultipartUpload(ctx, b.name, key, opt)
	if err != nil {
		return err
	}

	var parts []minio.CompletePart
	for at := int64(0); at < c.Size() && err == nil; at += partSize {
		size := min(partSize, c.Size()-at)
		err = b.repeat(ctx, key, func() error {
			p, err := core.PutObjectPart(ctx, b.name, key, id, len(parts)+1, io.NewSectionReader(c, at, size), size, minio.PutObjectPartOptions{})
			if err == nil {
				parts = append(parts, minio.CompletePart{PartNumber: p.PartNumber, ETag: p.ETag})
			}
			return err
		})
	}
	if err == nil {
		_, err = core.CompleteMultipartUpload(ctx, b.name, key, id, parts, opt)
	}
	if err != nil {
		// Parts cost storage until they are removed, also after an interruption.
		_ = core.AbortMultipartUpload(context.WithoutCancel(ctx), b.name, key, id)
	}
	return err
}

// repeat calls do until it succeeds, fails for a reason that a later call would meet
// too, or has failed for b.patience. The error names the object.
func (b *Bucket) repeat(ctx context.Context, key string, do func() error) error {
	pause := b.pause
	for end := time.Now().Add(b.patience); ; {
		err := do()
		if err == nil {
			return nil
		}
		final, known := explain(err)
		if known || ctx.Err() != nil || time.Now().Add(pause).After(end) {
			return fmt.Errorf("%s: %w", b.URL(strings.TrimPrefix(key, b.prefix)), cmp.Or(context.Cause(ctx), final))
		}

		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, maxPause)
	}
}

// explain returns err in words, and reports whether the same request would meet it
// again.
func explain(err error) (error, bool) {
	r := minio.ToErrorResponse(err)
	switch r.Code {
	case "NoSuchKey", "NotFound", "NoSuchVersion":
		return fmt.Errorf("not in the bucket: %w", fs.ErrNotExist), true
	case "AccessDenied", "Forbidden":
		// Without the permission to list, this is the answer for a missing object.
		return fmt.Errorf("access denied, or not in the bucket: %w", fs.ErrNotExist), true
	case "PreconditionFailed", "ConditionalRequestConflict":
		return ErrExist, true
	case "NoSuchBucket":
		return errors.New("the bucket does not exist"), true
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken":
		return fmt.Errorf("the credentials are wrong (%s): %s", r.Code, r.Message), true
	case "RequestTimeTooSkewed":
		return fmt.Errorf("the clock of this machine or of the server is wrong: %s", r.Message), true
	case "QuotaExceeded", "EntityTooLarge", "InsufficientStorage", "XMinioStorageFull":
		return fmt.Errorf("no space (%s): %s", r.Code, r.Message), true
	}

	// What the library or the network says; answers below 500 are final.
	if r.StatusCode >= 400 && r.StatusCode < 500 && r.StatusCode != http.StatusRequestTimeout && r.StatusCode != http.StatusTooManyRequests && r.StatusCode != http.StatusConflict {
		return fmt.Errorf("%s: %s", cmp.Or(r.Code, http.StatusText(r.StatusCode)), r.Message), true
	}
	if r.StatusCode == http.StatusInsufficientStorage {
		return errors.New("no space"), true
	}
	return err, false
}
