package objects

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// Google Cloud Storage's XML API speaks the S3 protocol, except for conditions of requests that write. It ignores
// If-None-Match and If-Match in them and has a header of its own, x-goog-if-generation-match with the number of an
// object's generation, which it refuses beside x-amz-* headers. So requests to Google have x-goog-* headers alone, and Google's form of the signature, which differs
// from AWS's in names. Uploads in parts take no condition there, so an object of any size is sent as one.
// (cloud.google.com/storage/docs: request-preconditions, authentication/signatures, authentication/canonical-requests,
// transcoding)

// isGoogle reports whether a host is that of Google Cloud Storage, or of a private endpoint of it.
func isGoogle(host string) bool {
	const name = "storage.googleapis.com"
	return host == name || strings.HasSuffix(host, "."+name) ||
		strings.HasPrefix(host, "storage-") && strings.HasSuffix(host, ".p.googleapis.com")
}

// googleGeneration is the header of answers with the number of an object's generation.
const googleGeneration = "X-Goog-Generation"

// googleHeader gives the headers of a request the names that Google has for them, and accepts objects as they are
// stored.
func googleHeader(method string, h http.Header) {
	h.Set("Accept-Encoding", "gzip")
	for name, values := range h {
		if rest, ok := strings.CutPrefix(name, "X-Amz-"); ok {
			h["X-Goog-"+rest] = values
			delete(h, name)
		}
	}
	if method != http.MethodPut && method != http.MethodDelete {
		return
	}
	generation := h.Get("If-Match")
	if h.Get("If-None-Match") == "*" {
		generation = "0" // of an object that does not exist
	}
	h.Del("If-None-Match")
	h.Del("If-Match")
	if generation != "" {
		h.Set("X-Goog-If-Generation-Match", generation)
	}
}

// scheme has the names in a signature of version 4, which AWS and Google choose differently.
type scheme struct {
	algorithm string
	key       string // prefix of the secret
	service   string
	request   string // last part of a credential's scope
	header    string // prefix of header names
}

var google = scheme{"GOOG4-HMAC-SHA256", "GOOG4", "storage", "goog4_request", "X-Goog-"}

// googleRegion is the region of all signatures for Google.
const googleRegion = "auto"

// SignHTTP implements the SDK's signer of requests. The query of a request has the name of the SDK's function, and in
// requests that list objects what is asked for.
func (s *scheme) SignHTTP(_ context.Context, keys aws.Credentials, r *http.Request, sum, _, _ string, now time.Time, _ ...func(*v4.SignerOptions)) error {
	query := r.URL.Query()
	query.Del("x-id")
	r.URL.RawQuery = canonical(query)
	googleHeader(r.Method, r.Header)
	s.sign(r, keys, sum, googleRegion, now)
	return nil
}

// canonical returns a query in the form that signatures are of: in order, with %20 for spaces.
func canonical(query url.Values) string { return strings.ReplaceAll(query.Encode(), "+", "%20") }

// sign signs a request, whose body has the digest sum. The signature covers the query, the host, the type of the content
// and all headers with the scheme's prefix.
func (s *scheme) sign(req *http.Request, keys aws.Credentials, sum, region string, now time.Time) {
	date := now.UTC().Format("20060102T150405Z")
	req.Header.Set(s.header+"Date", date)
	lines := []string{"host:" + req.URL.Host}
	for name, values := range req.Header {
		if name == "Content-Type" || strings.HasPrefix(name, s.header) {
			lines = append(lines, strings.ToLower(name)+":"+strings.TrimSpace(strings.Join(values, ",")))
		}
	}
	slices.Sort(lines)
	var names []string
	for _, line := range lines {
		name, _, _ := strings.Cut(line, ":")
		names = append(names, name)
	}

	// The request in its canonical form, then what is signed of it, then the key for this day.
	signed := strings.Join(names, ";")
	whole := strings.Join([]string{req.Method, req.URL.EscapedPath(), canonical(req.URL.Query()), strings.Join(lines, "\n") + "\n", signed, sum}, "\n")
	digest := sha256.Sum256([]byte(whole))
	scope := strings.Join([]string{date[:8], region, s.service, s.request}, "/")
	text := strings.Join([]string{s.algorithm, date, scope, hex.EncodeToString(digest[:])}, "\n")
	key := []byte(s.key + keys.SecretAccessKey)
	for part := range strings.SplitSeq(scope, "/") {
		key = mac(key, part)
	}
	req.Header.Set("Authorization", fmt.Sprintf("%s Credential=%s/%s, SignedHeaders=%s, Signature=%x",
		s.algorithm, keys.AccessKeyID, scope, signed, mac(key, text)))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text)) // cannot fail
	return h.Sum(nil)
}
