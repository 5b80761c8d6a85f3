package s3

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"symkit/internal/address"
	"symkit/internal/fetch"
)

// maxAnswer bounds the bodies of responses that are not objects, in bytes.
const maxAnswer = 1 << 20

// noContent is the SHA-256 of an empty body.
const noContent = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// request is a request about one object.
type request struct {
	method string
	key    string // below the bucket's prefix
	query  url.Values
	header http.Header
	body   *io.SectionReader // or nil
	sum    string            // SHA-256 of body, in hexadecimal digits
}

// do sends a request. The error is a *failure if the server refused, and that of the
// network otherwise. The caller closes the body of the answer.
func (b *Bucket) do(ctx context.Context, r *request) (*http.Response, error) {
	for regions := 0; ; {
		region := *b.region.Load()
		resp, err := b.send(ctx, r, region)
		if err != nil {
			return nil, err
		}
		b.answered.Store(true)
		if resp.StatusCode < 300 {
			return resp, nil
		}

		failed, actual := refusal(r.method, resp)
		resp.Body.Close()
		if resp.StatusCode == http.StatusForbidden && b.unsigned.Load() && r.method != http.MethodGet && r.method != http.MethodHead {
			failed = &failure{"access denied: " + noKeys(), nil, true}
		}
		actual = cmp.Or(resp.Header.Get("X-Amz-Bucket-Region"), actual)
		if actual == "" || actual == region || regions > maxRegions {
			return nil, failed
		}
		regions++
		b.region.Store(&actual) // the bucket is in another region
	}
}

// send signs a request for a region and sends it. If the server sends nothing for a while,
// also within the response, the error is ErrStalled.
func (b *Bucket) send(ctx context.Context, r *request, region string) (*http.Response, error) {
	keys, err := b.account.Retrieve(ctx)
	if err != nil {
		return nil, &failure{text: address.Redact(err.Error()), final: true}
	}

	ctx, cancel := context.WithCancelCause(ctx)
	alive := &watch{cancel: cancel, Timer: time.AfterFunc(stall, func() { cancel(ErrStalled) })}
	req, err := http.NewRequestWithContext(ctx, r.method, b.target(r.key, region).String(), nil)
	if err != nil {
		alive.end()
		return nil, err
	}
	req.URL = b.target(r.key, region)
	req.URL.RawQuery = r.query.Encode()
	if r.header != nil {
		req.Header = r.header.Clone()
	}
	if r.body != nil {
		req.ContentLength = r.body.Size()
		req.GetBody = func() (io.ReadCloser, error) {
			return alive.reader(io.NopCloser(io.NewSectionReader(r.body, 0, r.body.Size()))), nil
		}
		req.Body, _ = req.GetBody() // never fails
	}

	err = b.sign(ctx, req, keys, cmp.Or(r.sum, noContent), region)
	if err != nil {
		alive.end()
		return nil, err
	}
	resp, err := fetch.Do(b.http, req)
	if err != nil {
		cause := context.Cause(ctx)
		alive.end()
		return nil, cmp.Or(cause, err)
	}

	alive.Stop()
	resp.Body = &answerBody{alive.reader(resp.Body), ctx, alive}
	return resp, nil
}

// sign signs a request, whose body has the digest sum, if there are keys.
func (b *Bucket) sign(ctx context.Context, req *http.Request, keys aws.Credentials, sum, region string) error {
	req.Header.Set("X-Amz-Content-Sha256", sum)
	if b.google {
		googleHeader(req.Header)
	}
	switch {
	case keys.AccessKeyID == "":
		b.unsigned.Store(true)
		return nil
	case b.google:
		google.sign(req, keys, sum, googleRegion, time.Now())
		return nil
	}
	return b.signer.SignHTTP(ctx, keys, req, sum, "s3", region, time.Now())
}

// target returns the URL of an object. Characters are escaped as S3 escapes them when it
// verifies the signature.
func (b *Bucket) target(key, region string) *url.URL {
	u, in := url.URL{Scheme: "https"}, "/"+b.name
	switch {
	case b.endpoint != nil:
		u, in = *b.endpoint, strings.TrimSuffix(b.endpoint.Path, "/")+"/"+b.name
	case strings.Contains(b.name, "."): // no certificate is for such a host
		u.Host = "s3." + region + domain(region)
	default:
		u.Host, in = b.name+".s3."+region+domain(region), ""
	}
	u.Path = in + "/" + path.Join(b.prefix, key)
	u.RawPath = escape(u.Path)
	return &u
}

// domain returns the domain of AWS's services in a region.
func domain(region string) string {
	if strings.HasPrefix(region, "cn-") {
		return ".amazonaws.com.cn"
	}
	return ".amazonaws.com"
}

// escape escapes all bytes of a path but unreserved ones (RFC 3986 §2.3) and slashes.
func escape(path string) string {
	var out strings.Builder
	for _, c := range []byte(path) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			out.WriteByte(c)
		default:
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}

// watch ends a request that makes no progress.
type watch struct {
	*time.Timer
	cancel context.CancelCauseFunc
}

func (w *watch) end() {
	w.Stop()
	w.cancel(nil)
}

// reader returns a reader of r that restarts the time of the server at each Read.
func (w *watch) reader(r io.ReadCloser) io.ReadCloser { return &watched{r, w} }

type watched struct {
	io.ReadCloser
	w *watch
}

func (r *watched) Read(p []byte) (int, error) {
	r.w.Reset(stall)
	return r.ReadCloser.Read(p)
}

// answerBody is the body of an answer. Its reader may take any time between two calls of
// Read.
type answerBody struct {
	io.ReadCloser
	ctx   context.Context
	alive *watch
}

func (b *answerBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.alive.Stop()
	if cause := context.Cause(b.ctx); err != nil && err != io.EOF && cause != nil {
		err = cause
	}
	return n, err
}

func (b *answerBody) Close() error {
	b.alive.end()
	return b.ReadCloser.Close()
}

// failure is the error of a request that cannot be sent or that the server refused.
type failure struct {
	text  string
	cause error
	final bool // the same request would meet it again
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.cause }

// maxRegions bounds how often an answer may name another region.
const maxRegions = 3

// noKeys says where credentials were looked for.
func noKeys() string {
	return fmt.Sprintf("no credentials were found, looked in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_WEB_IDENTITY_TOKEN_FILE, %s, %s, "+
		"and the roles of containers and machines", settingsFile(), credentialsFile())
}

// refusal returns the failure of an answer, and the region that the answer names.
func refusal(method string, resp *http.Response) (failed *failure, region string) {
	var body struct{ Code, Message, Region string }
	data, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer)) // an answer without words has its status
	_ = xml.Unmarshal(data, &body)
	return explain(method, resp.StatusCode, body.Code, body.Message), body.Region
}

// explain returns an error of the protocol in words. The answers to HEAD have no code.
func explain(method string, status int, code, message string) *failure {
	reads := method == http.MethodGet || method == http.MethodHead
	missing := code == "" && status == http.StatusNotFound
	denied := code == "" && status == http.StatusForbidden
	switch {
	case code == "NoSuchKey" || code == "NoSuchVersion" || code == "NotFound" || missing:
		return &failure{"not in the bucket", fs.ErrNotExist, true}
	case (code == "AccessDenied" || code == "Forbidden" || denied) && reads:
		// Without the permission to list, this is the answer for a missing object.
		return &failure{"access denied, or not in the bucket", fs.ErrNotExist, true}
	case code == "AccessDenied" || code == "Forbidden" || denied:
		return &failure{"access denied: the credentials do not permit to write", nil, true}
	case status == http.StatusPreconditionFailed && reads:
		return &failure{"the object was replaced while it was read", nil, true}
	case code == "PreconditionFailed" || status == http.StatusPreconditionFailed:
		return &failure{ErrExist.Error(), ErrExist, true}
	case code == "NoSuchBucket":
		return &failure{"the bucket does not exist", nil, true}
	case code == "NoSuchUpload":
		return &failure{"the upload does not exist", errNoUpload, true}
	case code == "RequestTimeTooSkewed" || code == "RequestExpired":
		return &failure{"the clock of this machine or of the server is wrong: " + message, nil, true}
	case code == "QuotaExceeded" || code == "EntityTooLarge" || code == "XMinioStorageFull" || status == http.StatusInsufficientStorage:
		return &failure{fmt.Sprintf("no space (%s): %s", cmp.Or(code, http.StatusText(status)), message), nil, true}
	}

	switch code {
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken", "InvalidClientTokenId":
		return &failure{fmt.Sprintf("the credentials are wrong (%s): %s", code, message), nil, true}
	}
	text := fmt.Sprintf("the server answered %d %s", status, cmp.Or(code, http.StatusText(status)))
	if message != "" {
		text += ": " + message
	}
	damaged := code == "BadDigest" || code == "XAmzContentSHA256Mismatch" || code == "IncompleteBody" // in transit
	later := damaged || status >= 500 && status != http.StatusNotImplemented || status == http.StatusRequestTimeout ||
		status == http.StatusTooManyRequests || status == http.StatusConflict || code == "SlowDown" || code == "RequestTimeout"
	return &failure{text, nil, !later}
}

// repeat calls do until it succeeds, fails for a reason that a later call would meet
// too, or has failed for b.patience. The error names the object.
func (b *Bucket) repeat(ctx context.Context, key string, do func() error) error {
	pause, began := b.pause, time.Now()
	for {
		err := do()
		if err == nil {
			return nil
		}
		longest := b.patience
		if !b.answered.Load() {
			longest = min(longest, b.firstPatience)
		}
		if final(err) || ctx.Err() != nil || time.Since(began)+pause > longest {
			err = cmp.Or(context.Cause(ctx), err)
			if strings.HasPrefix(err.Error(), Scheme) {
				return err // named by an inner call
			}
			return fmt.Errorf("%s: %w", b.URL(key), err)
		}

		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, maxPause)
	}
}

// final reports whether a later request would meet the error too.
func final(err error) bool {
	if f, ok := errors.AsType[*failure](err); ok {
		return f.final
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	return unknown || errors.Is(err, fetch.ErrRange)
}
