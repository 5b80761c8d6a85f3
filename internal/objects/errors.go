package objects

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"symkit/internal/address"
)

var (
	// ErrExist is the error of Create for an object that exists. It is an fs.ErrExist.
	ErrExist = fmt.Errorf("the object exists: %w", fs.ErrExist)
	// ErrChanged: the object is not the one that was described before.
	ErrChanged = errors.New("the object was replaced meanwhile")
	// ErrStalled: the server sent or took nothing for a minute.
	ErrStalled = errors.New("the server sends nothing")

	// errNoUpload reports an upload that was already completed or aborted.
	errNoUpload = errors.New("no such upload")
	// errNotS3 reports an answer that no S3 service gives: that of a portal or of another server.
	errNotS3 = errors.New("the answer has no ETag: no S3 service answers at this address")
)

// A request that the network or the server fails is repeated for about three minutes; to a server that has never
// answered, whose address may be wrong, for ten seconds.
const (
	attempts      = 22
	firstAttempts = 5
	firstPause    = 500 * time.Millisecond
	maxPause      = 10 * time.Second
)

// retryer decides which requests the SDK repeats, and when.
type retryer struct {
	*retry.Standard
	b *Bucket
}

func newRetryer(b *Bucket) *retryer {
	return &retryer{retry.NewStandard(func(o *retry.StandardOptions) { o.RateLimiter = unlimited{} }), b}
}

// unlimited is the budget of all requests together for repetitions.
type unlimited struct{}

func (unlimited) GetToken(context.Context, uint) (func() error, error) {
	return func() error { return nil }, nil
}
func (unlimited) AddTokens(uint) error { return nil }

// MaxAttempts implements aws.Retryer. The SDK asks before each attempt.
func (r *retryer) MaxAttempts() int {
	if r.b.answered.Load() {
		return attempts
	}
	return firstAttempts
}

// RetryDelay implements aws.Retryer.
func (r *retryer) RetryDelay(attempt int, _ error) (time.Duration, error) {
	return min(r.b.pause<<min(attempt, 16), maxPause), nil
}

// IsErrorRetryable implements aws.Retryer.
func (r *retryer) IsErrorRetryable(err error) bool {
	if answer := answerOf(err); answer != nil {
		return later(answer.StatusCode, codeOf(err))
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return false
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return false
	}
	_, sent := errors.AsType[*smithyhttp.RequestSendError](err)
	return sent && !errors.Is(err, context.Canceled)
}

// answerOf returns the answer that is an error, or nil if there was none.
func answerOf(err error) *http.Response {
	refused, ok := errors.AsType[*awshttp.ResponseError](err)
	if !ok || refused.HTTPStatusCode() == 0 {
		return nil
	}
	return refused.HTTPResponse().Response
}

// codeOf returns the code of a refusal, or "".
func codeOf(err error) string {
	if e, ok := errors.AsType[smithy.APIError](err); ok {
		return e.ErrorCode()
	}
	return ""
}

// later reports whether the same request may succeed later.
func later(status int, code string) bool {
	switch code {
	case "BadDigest", "XAmzContentSHA256Mismatch", "IncompleteBody": // damaged in transit
		return true
	case "SlowDown", "RequestTimeout", "InternalError":
		return true
	}
	return status >= 500 && status != http.StatusNotImplemented && status != http.StatusInsufficientStorage ||
		status == http.StatusRequestTimeout || status == http.StatusTooManyRequests || status == http.StatusConflict
}

// failure is a refusal in words, with what callers ask for.
type failure struct {
	text  string
	cause error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.cause }

// explain returns the error of a request in words.
func (b *Bucket) explain(ctx context.Context, err error, writes bool) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	answer := answerOf(err)
	if answer == nil {
		return address.Error(bare(err))
	}
	code, message := codeOf(err), ""
	if e, ok := errors.AsType[smithy.APIError](err); ok {
		message = e.ErrorMessage()
	}
	if code == "" { // an answer of success that has no XML
		return errNotS3
	}
	return b.refusal(answer.StatusCode, code, message, writes)
}

// bare removes what the SDK says around an error of the network, of the credentials or of this package.
func bare(err error) error {
	if e, ok := errors.AsType[*smithyhttp.RequestSendError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*smithy.OperationError](err); ok {
		return e.Err
	}
	return err
}

// refusal returns an error of the protocol in words. The answers to HEAD have the text of their status for a code.
func (b *Bucket) refusal(status int, code, message string, writes bool) error {
	switch {
	case code == "NoSuchUpload":
		return &failure{"the upload does not exist", errNoUpload}
	case code == "NoSuchBucket":
		return &failure{"the bucket does not exist", nil}
	case code == "NoSuchKey" || code == "NoSuchVersion" || code == "NotFound" || code == http.StatusText(http.StatusNotFound):
		return &failure{"not in the bucket", fs.ErrNotExist}
	case (code == "AccessDenied" || code == "Forbidden") && !writes:
		// Without the permission to list, this is the answer for a missing object.
		return &failure{"access denied, or not in the bucket", fs.ErrNotExist}
	case status == http.StatusForbidden && b.unsigned:
		return &failure{"access denied: " + noKeys(), nil}
	case code == "AccessDenied" || code == "Forbidden":
		return &failure{"access denied: the credentials do not permit to write", nil}
	case status == http.StatusPreconditionFailed && !writes:
		return &failure{"the object was replaced while it was read", nil}
	case status == http.StatusPreconditionFailed || code == "PreconditionFailed":
		return ErrExist
	case code == "RequestTimeTooSkewed" || code == "RequestExpired":
		return &failure{"the clock of this machine or of the server is wrong: " + message, nil}
	case code == "QuotaExceeded" || code == "EntityTooLarge" || code == "XMinioStorageFull" || status == http.StatusInsufficientStorage:
		return &failure{fmt.Sprintf("no space (%s): %s", code, message), nil}
	}

	switch code {
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken", "InvalidClientTokenId":
		return &failure{fmt.Sprintf("the credentials are wrong (%s): %s", code, message), nil}
	}
	text := fmt.Sprintf("the server answered %d %s", status, code)
	if message != "" {
		text += ": " + message
	}
	return &failure{text, nil}
}

// noKeys says where credentials were looked for.
func noKeys() string {
	return fmt.Sprintf("no credentials were found, looked in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_WEB_IDENTITY_TOKEN_FILE, %s, %s, "+
		"and the roles of containers and machines", cmp.Or(os.Getenv("AWS_CONFIG_FILE"), config.DefaultSharedConfigFilename()),
		cmp.Or(os.Getenv("AWS_SHARED_CREDENTIALS_FILE"), config.DefaultSharedCredentialsFilename()))
}
