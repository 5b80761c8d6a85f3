// Package buckettest is an S3 service for tests: one bucket in memory, with the conditions that AWS has. The real services
// are tested in test/cluster.
package buckettest

import (
	"bytes"
	"crypto/md5"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Name is the name of the bucket.
const Name = "bucket"

// Object is an object of the bucket.
type Object struct {
	Data     []byte
	Header   http.Header // of the request that made the object
	Modified time.Time
}

func (o *Object) tag() string { return fmt.Sprintf(`"%x"`, md5.Sum(o.Data)) }

// Bucket is a service with one bucket. The fields are read and written while Lock is held.
type Bucket struct {
	sync.Mutex
	Objects map[string]*Object
	// Before, if not nil, is called before each request, without Lock.
	Before func(r *http.Request)
}

// Start runs a service until the test ends, and sets the variables by which clients find it.
func Start(t *testing.T) *Bucket {
	t.Helper()
	b := &Bucket{Objects: map[string]*Object{}}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	return b
}

// ServeHTTP implements http.Handler.
func (b *Bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if b.Before != nil {
		b.Before(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	b.Lock()
	defer b.Unlock()
	if r.URL.Path == "/"+Name {
		b.list(w, r)
		return
	}
	key, ok := strings.CutPrefix(r.URL.Path, "/"+Name+"/")
	old := b.Objects[key]
	match, none := r.Header.Get("If-Match"), r.Header.Get("If-None-Match")
	switch {
	case !ok:
		refuse(w, http.StatusNotFound, "NoSuchBucket")
	case old == nil && (r.Method != http.MethodPut || match != ""):
		refuse(w, http.StatusNotFound, "NoSuchKey")
	case old != nil && (match != "" && match != old.tag() || none == "*" && r.Method == http.MethodPut):
		refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
	case r.Method == http.MethodDelete:
		delete(b.Objects, key)
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodPut:
		o := &Object{unchunked(r, body), r.Header.Clone(), time.Now()}
		o.Header.Set("Content-Encoding", strings.Trim(strings.ReplaceAll(r.Header.Get("Content-Encoding"), "aws-chunked", ""), ", "))
		b.Objects[key] = o
		w.Header().Set("ETag", o.tag())
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		for name, values := range old.Header {
			if strings.HasPrefix(name, "X-Amz-Meta-") || name == "Content-Type" || name == "Content-Encoding" && values[0] != "" {
				w.Header()[name] = values
			}
		}
		w.Header().Set("ETag", old.tag())
		w.Header().Set("Last-Modified", old.Modified.UTC().Format(http.TimeFormat))
		w.Header().Set("Content-Length", strconv.Itoa(len(old.Data)))
		_, _ = w.Write(old.Data) // the client may have gone
	default:
		refuse(w, http.StatusNotImplemented, "NotImplemented")
	}
}

// unchunked removes the frames of a streamed and signed body.
func unchunked(r *http.Request, body []byte) (data []byte) {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING") {
		return body
	}
	for len(body) > 0 {
		head, rest, _ := bytes.Cut(body, []byte("\r\n"))
		size, _, _ := strings.Cut(string(head), ";")
		n, err := strconv.ParseInt(size, 16, 32)
		if err != nil || n == 0 || int(n)+2 > len(rest) {
			break
		}
		data, body = append(data, rest[:n]...), rest[n+2:]
	}
	return data
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>refused</Message></Error>", code)
}

// page is the number of objects of an answer.
const page = 1000

// list answers a request for the objects with a prefix.
func (b *Bucket) list(w http.ResponseWriter, r *http.Request) {
	type contents struct {
		Key, ETag, LastModified string
		Size                    int
	}
	var out struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		IsTruncated           bool
		NextContinuationToken string `xml:",omitempty"`
		Contents              []contents
	}
	q := r.URL.Query()
	for _, key := range slices.Sorted(maps.Keys(b.Objects)) {
		if !strings.HasPrefix(key, q.Get("prefix")) || key <= q.Get("continuation-token") {
			continue
		}
		if len(out.Contents) == page {
			out.IsTruncated, out.NextContinuationToken = true, out.Contents[page-1].Key
			break
		}
		o := b.Objects[key]
		out.Contents = append(out.Contents, contents{key, o.tag(), o.Modified.UTC().Format("2006-01-02T15:04:05.000Z"), len(o.Data)})
	}
	_ = xml.NewEncoder(w).Encode(&out) // the client may have gone
}
