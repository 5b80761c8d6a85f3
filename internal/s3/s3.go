// Package s3 reads and writes objects in buckets of any service that speaks the S3
// protocol. The address is s3://BUCKET/PREFIX. Endpoint, region and credentials come
// from the variables and files of the AWS SDKs:
//
//   - AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, endpoint_url of the profile; AWS's own
//     service without them; AWS_CA_BUNDLE
//   - AWS_REGION, AWS_DEFAULT_REGION, region of the profile
//   - AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN; web identities; the
//     profile AWS_PROFILE of ~/.aws/config and ~/.aws/credentials, with keys, a process or
//     a role; the roles of containers and machines
//
// An object is created only if its name is free, and has all its bytes as soon as it has
// the name. Buckets are never listed.
//
// Packages of the AWS SDK sign requests and read the roles of containers and machines. The
// SDK's package for S3 is not used: it adds 6 MB to each program, and a millisecond to the
// start even of programs that use no bucket.
package s3

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
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
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	addresses "symkit/internal/address"
	"symkit/internal/fetch"
	"symkit/internal/smallfile"
)

const (
	// Name is the scheme of a bucket's address.
	Name = "s3"
	// Scheme begins the address of a bucket.
	Scheme = Name + "://"
)

var (
	// ErrURL: the address is not s3://BUCKET or s3://BUCKET/PREFIX.
	ErrURL = errors.New("want s3://BUCKET/PREFIX")
	// ErrExist is the error of Create for an object that exists. It is an fs.ErrExist.
	ErrExist = fmt.Errorf("the object exists: %w", fs.ErrExist)
	// ErrStalled: the server sent or took nothing for a minute.
	ErrStalled = errors.New("the server sends nothing")
)

// How long a request is repeated that the network or the server fails.
const (
	patience   = 3 * time.Minute
	firstPause = 500 * time.Millisecond
	maxPause   = 10 * time.Second
	// firstPatience is the patience with a server that has never answered: its address may be
	// wrong.
	firstPatience = 10 * time.Second
	// stall is how long a server may send and take nothing.
	stall = time.Minute
	// connections is how many connections to a server are kept.
	connections = 64
)

// Bucket is a bucket, or the part of one below a prefix. Its methods may be called from
// any number of goroutines.
type Bucket struct {
	name, prefix string
	endpoint     *url.URL // nil: that of AWS in the region
	google       bool     // the endpoint is that of Google Cloud Storage
	region       atomic.Pointer[string]
	http         *http.Client
	signer       *v4.Signer
	account      aws.CredentialsProvider
	answered     atomic.Bool // the server has answered a request
	unsigned     atomic.Bool // there are no credentials

	patience, firstPatience, pause time.Duration
}

// IsURL reports whether s is the address of a bucket.
func IsURL(s string) bool { return strings.HasPrefix(s, Scheme) }

// Open returns the bucket of an address. It makes no request.
func Open(address string) (*Bucket, error) {
	bucket, prefix, _ := strings.Cut(strings.TrimPrefix(address, Scheme), "/")
	if !IsURL(address) || !isBucket(bucket) || strings.ContainsAny(prefix, "?#") || climbs(prefix) {
		return nil, fmt.Errorf("%q: %w", addresses.New(address), ErrURL)
	}
	settings, err := readProfile()
	if err != nil {
		return nil, err
	}

	b := &Bucket{
		name: bucket, prefix: strings.Trim(prefix, "/"), patience: patience, firstPatience: firstPatience, pause: firstPause,
		// S3's signatures are of the path as it is sent.
		signer: v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }),
	}
	endpoint := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), settings["s3 endpoint_url"], settings["endpoint_url"])
	if endpoint != "" {
		b.endpoint, err = url.Parse(endpoint)
		if err != nil || b.endpoint.Host == "" || b.endpoint.Scheme != "http" && b.endpoint.Scheme != "https" {
			return nil, fmt.Errorf("AWS_ENDPOINT_URL %q: want http://HOST or https://HOST", addresses.New(endpoint))
		}
		b.google = isGoogle(b.endpoint.Hostname())
	}
	b.region.Store(aws.String(region(settings)))

	b.http, err = client()
	if err != nil {
		return nil, err
	}
	b.account, err = newAccount(settings, b.http)
	return b, err
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

// region returns the region that requests are signed for. A self-hosted server accepts any
// region. AWS's answer names the region of a bucket that is in another one.
func region(settings profile) string {
	return cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), settings["region"], "us-east-1")
}

// client returns an HTTP client. The bodies of answers are those of the objects, which
// may be compressed, and redirects are left to the caller, because they need another
// signature.
func client() (*http.Client, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout, t.DisableCompression, t.MaxIdleConnsPerHost = stall, true, connections
	if file := os.Getenv("AWS_CA_BUNDLE"); file != "" {
		pem, err := smallfile.Read(file, smallfile.Most)
		if err != nil {
			return nil, fmt.Errorf("AWS_CA_BUNDLE: %w", err)
		}
		t.TLSClientConfig = &tls.Config{RootCAs: x509.NewCertPool()}
		if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("AWS_CA_BUNDLE %s: no certificates in PEM", file)
		}
	}
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, nil
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
	if climbs(key) {
		return nil, Info{}, ErrURL
	}
	b, err := shared(name)
	if err != nil {
		return nil, Info{}, err
	}
	return b.Get(ctx, key)
}

// URL returns the address of an object.
func (b *Bucket) URL(key string) string { return Scheme + path.Join(b.name, b.prefix, key) }

// Check makes one request, and returns an error if the bucket cannot be used: it is
// missing, or the credentials are wrong.
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

// Exists reports whether there is an object. An answer of 403 counts as no: services
// answer so if the credentials do not permit to list the bucket.
func (b *Bucket) Exists(ctx context.Context, key string) (bool, error) {
	err := b.repeat(ctx, key, func() error { return b.head(ctx, key) })
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (b *Bucket) head(ctx context.Context, key string) error {
	resp, err := b.do(ctx, &request{method: http.MethodHead, key: key})
	if err != nil {
		return err
	}
	resp.Body.Close()
	return tagged(resp.Header)
}

// Info describes an object.
type Info struct {
	Size int64 // -1 if the server does not say
	ETag string
	// Encoding is the Content-Encoding, such as gzip.
	Encoding string
	// Header is that of the answer, with the metadata.
	Header http.Header
}

// Get opens an object for reading. If the connection breaks, reading continues with the
// rest of the same object. The error is an fs.ErrNotExist if there is no such object.
func (b *Bucket) Get(ctx context.Context, key string) (r io.ReadCloser, info Info, err error) {
	open := func(at int64) (body io.ReadCloser, err error) {
		err = b.repeat(ctx, key, func() error {
			req := &request{method: http.MethodGet, key: key, header: http.Header{}}
			if at > 0 {
				req.header.Set("Range", fmt.Sprintf("bytes=%d-", at))
				req.header.Set("If-Match", info.ETag)
			}
			resp, err := b.do(ctx, req)
			if err != nil {
				return err
			}
			body = resp.Body
			if at == 0 {
				info = Info{resp.ContentLength, resp.Header.Get("ETag"), resp.Header.Get("Content-Encoding"), resp.Header}
			}
			return fetch.CheckRange(resp, at)
		})
		return body, err
	}

	first, err := open(0)
	if err != nil {
		return nil, info, err
	}
	if info.ETag == "" {
		return first, info, nil // the rest could be that of another object
	}
	return fetch.Resume(ctx, first, info.Size, open), info, nil
}
