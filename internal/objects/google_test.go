package objects

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// TestScheme: with AWS's names, the signature is that of AWS's SDK. Only the names differ in Google's.
func TestScheme(t *testing.T) {
	const noContent = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" // the SHA-256 of no bytes
	now := time.Date(2026, 11, 23, 23, 20, 1, 0, time.UTC)
	keys := aws.Credentials{AccessKeyID: "key", SecretAccessKey: "secret"}
	var got [2]string
	for i := range got {
		req, err := http.NewRequest(http.MethodGet, "https://host.example/bucket/a%2Bb/c.sym?list-type=2&prefix=a%20b%2F", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "text/plain")
		req.Header.Set("X-Amz-Content-Sha256", noContent)
		req.Header.Set("X-Amz-Meta-original_size", "4")
		if i == 0 {
			s := scheme{"AWS4-HMAC-SHA256", "AWS4", "s3", "aws4_request", "X-Amz-"}
			s.sign(req, keys, noContent, "us-east-1", now)
		} else {
			signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
			if err := signer.SignHTTP(t.Context(), keys, req, noContent, "s3", "us-east-1", now); err != nil {
				t.Fatal(err)
			}
		}
		got[i] = req.Header.Get("Authorization")
	}
	if got[0] != got[1] {
		t.Errorf("%s, want %s", got[0], got[1])
	}
}

func TestIsGoogle(t *testing.T) {
	for host, want := range map[string]bool{
		"storage.googleapis.com": true, "bucket.storage.googleapis.com": true, "storage-psc.p.googleapis.com": true,
		"s3.amazonaws.com": false, "storage.googleapis.com.example.org": false, "xstorage.googleapis.com": false,
	} {
		t.Setenv("AWS_ENDPOINT_URL", "https://"+host)
		b, err := Open(t.Context(), "s3://bucket")
		if err != nil || b.google != want {
			t.Errorf("%s: %v, %v", host, b.google, err)
		}
	}
}

// TestGoogle: requests have Google's headers and signature alone, an object is created under Google's condition,
// and a large one in one request. The service is as Google documents it: a condition that is not its own has no
// effect, and x-amz-* headers beside its own, and parts with a condition, are refused.
func TestGoogle(t *testing.T) {
	s, b := start(t)
	b.google, b.client = true, s3.New(b.client.Options(), func(o *s3.Options) { o.HTTPSignerV4, o.AuthSchemes = &google, nil })
	large := bytes.Repeat([]byte("large"), partSize/4)
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		for name := range r.Header {
			if strings.HasPrefix(name, "X-Amz-") {
				answer(w, http.StatusBadRequest, "ExcessHeaderValues")
				return true
			}
		}
		const credential = "/auto/storage/goog4_request, SignedHeaders=content-type;host;x-goog-"
		signature := r.Header.Get("Authorization")
		switch {
		case !strings.HasPrefix(signature, "GOOG4-HMAC-SHA256 Credential=key/") || r.Method == http.MethodPut && !strings.Contains(signature, credential):
			t.Errorf("%s: %s", r.Method, signature)
		case r.Header.Get("Accept-Encoding") != "gzip":
			t.Errorf("%s: Accept-Encoding %q", r.Method, r.Header.Get("Accept-Encoding"))
		case r.URL.RawQuery != "":
			answer(w, http.StatusBadRequest, "NotImplemented")
			return true
		}

		// The service below evaluates AWS's condition.
		r.Header.Del("If-None-Match")
		if r.Header.Get("X-Goog-If-Generation-Match") == "0" {
			r.Header.Set("If-None-Match", "*")
		}
		return false
	}

	h := Header{ContentType: "text/plain", Meta: map[string]string{"original_size": "4"}}
	for key, data := range map[string][]byte{"a": []byte("text"), "b": large} {
		for _, want := range []error{nil, fs.ErrExist} {
			err := b.Create(t.Context(), key, bytes.NewReader(data), h, false)
			if !errors.Is(err, want) {
				t.Fatalf("%s: %v", key, err)
			}
		}
		full := "some/prefix/" + key
		if got := s.headers[full]; !bytes.Equal(s.objects[full], data) || s.puts[full] != 1 || got.Get("X-Goog-Meta-Original_size") != "4" ||
			got.Get("X-Goog-If-Generation-Match") != "0" {
			t.Errorf("%s: %d bytes, made %d times, %v", key, len(s.objects[full]), s.puts[full], got)
		}
	}
	if err := b.Create(t.Context(), "a", strings.NewReader("other"), h, true); err != nil || string(s.objects["some/prefix/a"]) != "other" {
		t.Errorf("%v, %q", err, s.objects["some/prefix/a"])
	}

	r, _, err := b.Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if data, err := io.ReadAll(r); string(data) != "other" || err != nil || r.Close() != nil {
		t.Errorf("%q, %v", data, err)
	}
}
