package objects

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// lost makes the service do what a request asks for and cut the connection instead of an answer,
// for every third request that makes an object.
func (s *service) lost() {
	n := 0
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		q := r.URL.Query()
		if r.Method != http.MethodPut && r.Method != http.MethodPost || q.Has("uploads") || q.Has("partNumber") {
			return false
		}
		n++
		if n%3 != 0 {
			return false
		}
		s.serve(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
}

// TestWriters: four writers make the same objects while answers are lost and wrong ones come. Each
// object counts as written by exactly one of them.
func TestWriters(t *testing.T) {
	s, b := start(t)
	s.lost()
	const objects, writers = 60, 4
	var made [objects]atomic.Int64
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range objects {
				n := (i + w*objects/writers) % objects
				err := b.Create(t.Context(), fmt.Sprint(n), strings.NewReader(fmt.Sprint("object ", n)), Header{}, false)
				switch {
				case err == nil:
					made[n].Add(1)
				case !errors.Is(err, ErrExist):
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for n := range made {
		if count := made[n].Load(); count != 1 || s.puts[fmt.Sprint("some/prefix/", n)] != 1 {
			t.Errorf("object %d: %d writers have written it, it was made %d times", n, count, s.puts[fmt.Sprint("some/prefix/", n)])
		}
	}
}

// TestLostAnswers: an object of one's own whose answer was lost is written, one of another is
// there before; in one request and in parts.
func TestLostAnswers(t *testing.T) {
	for _, size := range []int{10, partSize + 5} {
		s, b := start(t)
		data := make([]byte, size)
		for name, other := range map[string]bool{"own": false, "other": true} {
			if other {
				s.objects["some/prefix/"+name] = []byte("other")
			}
			cut := false
			s.fault = func(w http.ResponseWriter, r *http.Request) bool {
				q := r.URL.Query()
				makes := r.Method == http.MethodPut && !q.Has("partNumber") || r.Method == http.MethodPost && q.Has("uploadId")
				if cut || !makes {
					return false
				}
				cut = true
				s.serve(httptest.NewRecorder(), r)
				panic(http.ErrAbortHandler)
			}
			err := b.Create(t.Context(), name, bytes.NewReader(data), Header{}, false)
			if other != errors.Is(err, ErrExist) || !other && err != nil || !cut {
				t.Errorf("%d bytes, %s: %v", size, name, err)
			}
		}
	}
}

// TestNoService: what answers 200 and is no S3 service has no object and takes none: a portal, or
// another server at the port.
func TestNoService(t *testing.T) {
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html><body>Sign in</body></html>")
	}))
	defer server.Close()
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	b, err := Open(t.Context(), "s3://bucket/prefix")
	if err != nil {
		t.Fatal(err)
	}
	b.pause = time.Microsecond
	is, existsErr := b.Exists(t.Context(), "a")
	for what, err := range map[string]error{
		"check": b.Check(t.Context()), "exists": existsErr,
		"one":   b.Create(t.Context(), "a", bytes.NewReader([]byte("x")), Header{}, false),
		"parts": b.Create(t.Context(), "a", bytes.NewReader(make([]byte, partSize+1)), Header{}, true),
	} {
		if err == nil || !strings.Contains(err.Error(), "no S3 service answers at this address") || is {
			t.Errorf("%s: %v", what, err)
		}
	}
	if n := requests.Load(); n > 6 {
		t.Errorf("%d requests: a wrong address is not repeated", n)
	}
}

// TestDamagedInTransit: a request whose body arrived damaged is sent again.
func TestDamagedInTransit(t *testing.T) {
	for _, code := range []string{"BadDigest", "XAmzContentSHA256Mismatch", "IncompleteBody"} {
		for _, size := range []int{4, partSize + 5} {
			s, b := start(t)
			n := 0
			s.fault = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodPut || n == 3 {
					return false
				}
				n++
				_, _ = io.Copy(io.Discard, r.Body)
				answer(w, http.StatusBadRequest, code)
				return true
			}
			err := b.Create(t.Context(), "a", bytes.NewReader(make([]byte, size)), Header{}, false)
			if err != nil || n != 3 || len(s.objects["some/prefix/a"]) != size {
				t.Errorf("%s, %d bytes: %v after %d faults", code, size, err, n)
			}
		}
	}
}

// TestPrefix: a prefix with spaces and letters beyond ASCII is that of the objects.
func TestPrefix(t *testing.T) {
	s, _ := start(t)
	b, err := Open(t.Context(), "s3://bucket/my symbols/größe 100%+/")
	if err != nil {
		t.Fatal(err)
	}
	err = b.Create(t.Context(), "a b.sym", strings.NewReader("text"), Header{}, false)
	if got := s.objects["my symbols/größe 100%+/a b.sym"]; err != nil || string(got) != "text" {
		t.Errorf("%v, %q", err, s.objects)
	}
	r, _, err := GetURL(t.Context(), "s3://bucket/my symbols/größe 100%+/a b.sym")
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	if _, _, err := GetURL(t.Context(), "s3://bucket/a/../b"); !errors.Is(err, ErrURL) {
		t.Error(err)
	}
}

// TestRegion: a request is signed again for the region that the answer names, in its header or its
// body; an endless change of regions ends.
func TestRegion(t *testing.T) {
	for _, where := range []string{"header", "body", "endless"} {
		s, b := start(t)
		n := 0
		s.fault = func(w http.ResponseWriter, r *http.Request) bool {
			n++
			if where != "endless" && strings.Contains(r.Header.Get("Authorization"), "/eu-south-9/") {
				return false
			}
			switch where {
			case "header":
				w.Header().Set("X-Amz-Bucket-Region", "eu-south-9")
			case "endless":
				w.Header().Set("X-Amz-Bucket-Region", fmt.Sprint("region-", n))
			}
			w.WriteHeader(http.StatusMovedPermanently)
			fmt.Fprint(w, "<Error><Code>PermanentRedirect</Code><Message>m</Message>")
			if where == "body" {
				fmt.Fprint(w, "<Region>eu-south-9</Region>")
			}
			fmt.Fprint(w, "</Error>")
			return true
		}
		err := b.Create(t.Context(), "a", strings.NewReader("text"), Header{}, false)
		if (err == nil) != (where != "endless") || n > maxRegions+3 {
			t.Errorf("%s: %v after %d requests", where, err, n)
		}
	}
}

// TestNoCredentials: the error says where credentials were looked for.
func TestNoCredentials(t *testing.T) {
	s, _ := start(t)
	settings := t.TempDir() + "/config"
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": settings,
		"AWS_SHARED_CREDENTIALS_FILE": settings + "-none"} {
		t.Setenv(name, value)
	}
	s.fault = func(w http.ResponseWriter, r *http.Request) bool {
		answer(w, http.StatusForbidden, "AccessDenied")
		return true
	}
	b, err := Open(t.Context(), "s3://bucket")
	if err != nil {
		t.Fatal(err)
	}
	err = b.Create(t.Context(), "a", strings.NewReader("text"), Header{}, false)
	if err == nil || !strings.Contains(err.Error(), "access denied: no credentials were found, looked in AWS_ACCESS_KEY_ID and ") || !strings.Contains(err.Error(), settings) {
		t.Error(err)
	}
}

// TestServices: the endpoint of S3 of the profile's services comes before that of the profile.
func TestServices(t *testing.T) {
	settings := t.TempDir() + "/config"
	text := "[default]\nendpoint_url = http://all\nservices = own\n[services other]\ns3 =\n  endpoint_url = http://other\n" +
		"[services own]\ndynamodb =\n  endpoint_url = http://db\ns3 =\n  max_concurrency = 2\n  endpoint_url = http://s3\nsts =\n  endpoint_url = http://sts\n"
	if err := os.WriteFile(settings, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_CONFIG_FILE", settings)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", settings+"-none")
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_PROFILE"} {
		t.Setenv(name, "")
	}
	b, err := Open(t.Context(), "s3://bucket")
	if err != nil || *b.client.Options().BaseEndpoint != "http://s3" {
		t.Errorf("%v, %v", b, err)
	}
}
