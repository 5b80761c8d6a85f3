package cluster

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// gateway is versitygw, an S3 server over a directory, with a proxy in front of it that
// counts requests and can disturb them.
type gateway struct {
	dir     string // with a directory for each bucket
	address string // host and port of the server
	url     string // of the proxy

	proxy     http.Handler // without disturbance
	requests  atomic.Int64
	disturbed atomic.Int64 // requests

	mu      sync.Mutex
	made    map[string]int // answers 200 to requests that make an object, by path
	again   map[string]int // requests to make an object that was made already, by path
	disturb func(w http.ResponseWriter, r *http.Request) bool
}

// setDisturb makes the proxy call disturb for each request. The proxy passes the request on if the result is false.
func (g *gateway) setDisturb(disturb func(w http.ResponseWriter, r *http.Request) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.disturb = disturb
}

const bucket = "symbols"

// start runs the server with one bucket.
func start(t *testing.T) *gateway {
	t.Helper()
	return startAt(t, t.TempDir())
}

// startAt runs the server with one bucket over a directory.
func startAt(t *testing.T, dir string) *gateway {
	t.Helper()
	g := &gateway{dir: dir, made: map[string]int{}, again: map[string]int{}}
	if err := os.Mkdir(filepath.Join(g.dir, bucket), 0o777); err != nil {
		t.Fatal(err)
	}
	address := free(t)
	g.address = address
	program := cmp.Or(os.Getenv("VERSITYGW"), filepath.Join(programs(t), "versitygw"))
	cmd := exec.Command(program, "--quiet", "--port", address, "posix", g.dir)
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY=test", "ROOT_SECRET_KEY=testsecret")
	run(t, cmd)
	wait(t, address)

	// The signature is of the Host header, which the proxy passes on.
	target := &url.URL{Scheme: "http", Host: address}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
		},
		ModifyResponse: func(r *http.Response) error {
			if makes(r.Request) && r.StatusCode == http.StatusOK {
				g.mu.Lock()
				g.made[r.Request.URL.Path]++
				g.mu.Unlock()
			}
			return nil
		},
		ErrorLog: log.New(io.Discard, "", 0), // clients end while they read
	}
	g.proxy = proxy
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.requests.Add(1)
		g.mu.Lock()
		disturb := g.disturb
		if makes(r) && g.made[r.URL.Path] > 0 {
			g.again[r.URL.Path]++
		}
		g.mu.Unlock()
		if disturb == nil || !disturb(w, r) {
			proxy.ServeHTTP(w, r)
		}
	})}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	g.url = "http://" + listener.Addr().String()
	return g
}

// makes reports whether a request makes an object, rather than a part of one.
func makes(r *http.Request) bool {
	q := r.URL.Query()
	return r.Method == http.MethodPut && !q.Has("partNumber") || r.Method == http.MethodPost && q.Has("uploadId")
}

// env is the environment of a client.
func (g *gateway) env(more ...string) []string {
	return append(os.Environ(), append([]string{"AWS_ENDPOINT_URL=" + g.url, "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=testsecret"}, more...)...)
}

// put makes an object, without the proxy.
func (g *gateway) put(t *testing.T, key string, data []byte) {
	t.Helper()
	path := "/" + bucket + "/" + key
	req, err := http.NewRequest(http.MethodPut, "http://"+g.address, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	req.URL.Path, req.URL.RawPath = path, strings.ReplaceAll((&url.URL{Path: path}).EscapedPath(), "+", "%2B") // as S3 signs it
	g.sign(t, req, data, time.Now())
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", key, resp.Status)
	}
}

// sign signs a request, by a clock that shows the time now.
func (g *gateway) sign(t *testing.T, req *http.Request, body []byte, now time.Time) {
	t.Helper()
	sum := sha256.Sum256(body)
	digest := hex.EncodeToString(sum[:])
	req.Header.Set("X-Amz-Content-Sha256", digest)
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	keys := aws.Credentials{AccessKeyID: "test", SecretAccessKey: "testsecret"}
	err := signer.SignHTTP(t.Context(), keys, req, digest, "s3", "us-east-1", now)
	if err != nil {
		t.Fatal(err)
	}
}

// free returns an address of this machine without a listener.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// run starts a program that ends with the test.
func run(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s: %s", cmd, out.Bytes()[max(out.Len()-3000, 0):])
		}
	})
}

// wait waits until something listens at an address.
func wait(t *testing.T, address string) {
	t.Helper()
	for end := time.Now().Add(15 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
			return
		}
	}
	t.Fatalf("nothing listens at %s", address)
}

// tree returns the files below a directory by path.
func tree(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path) // path is below dir
		files[name] = data
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// compare compares the objects below a prefix with the files of a store.
func (g *gateway) compare(t *testing.T, prefix, store string) {
	t.Helper()
	got, want := tree(t, filepath.Join(g.dir, bucket, prefix)), tree(t, store)
	for name, data := range want {
		if !bytes.Equal(got[name], data) {
			t.Errorf("%s: %d bytes in the bucket, %d in the directory", name, len(got[name]), len(data))
		}
	}
	for name := range got {
		if want[name] == nil {
			t.Errorf("%s: in the bucket alone", name)
		}
	}
	if len(want) == 0 {
		t.Error("the store is empty")
	}
}

// once reports objects that were not made exactly once, or were sent again after that.
func (g *gateway) once(t *testing.T, prefix, store string) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	for name := range tree(t, store) {
		if n := g.made["/"+bucket+"/"+prefix+"/"+name]; n != 1 {
			t.Errorf("%s: made %d times", name, n)
		}
		if n := g.again["/"+bucket+"/"+prefix+"/"+name]; n != 0 {
			t.Errorf("%s: sent %d times more after it was made", name, n)
		}
	}
}

// programs returns the directory of dump_syms and stackwalk.
func programs(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../bin")
	if err != nil {
		t.Fatal(err)
	}
	if set := os.Getenv("SYMKIT_BIN"); set != "" {
		dir = set
	}
	return dir
}

// packages returns the Debian packages of SYMKIT_PACKAGES, at least n.
func packages(t *testing.T, n int) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(os.Getenv("SYMKIT_PACKAGES"), "*.deb"))
	if err != nil || len(list) < n {
		t.Fatalf("SYMKIT_PACKAGES=%s: %d packages, want %d; scripts/cluster-packages.sh fetches them", os.Getenv("SYMKIT_PACKAGES"), len(list), n)
	}
	return list
}

// dump runs dump_syms and returns its messages.
func dump(t *testing.T, env []string, args ...string) (messages string, err error) {
	t.Helper()
	cmd := exec.Command(filepath.Join(programs(t), "dump_syms"), args...)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	return fmt.Sprintf("%s", out[max(len(out)-3000, 0):]), err
}
