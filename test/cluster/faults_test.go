package cluster

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestFaults: a disturbed network costs time, not objects, and what the server has confirmed is not sent again.
func TestFaults(t *testing.T) {
	list := packages(t, 20)[:20]
	store := filepath.Join(t.TempDir(), "store")
	if out, err := dump(t, os.Environ(), append([]string{"-s", store}, list...)...); err != nil {
		t.Fatalf("%v: %s", err, out)
	}

	for _, fault := range []struct {
		name string
		make func(g *gateway) func(http.ResponseWriter, *http.Request) bool
		from string // where the packages are: "" for paths; "store" for symbol files in their place
	}{
		{"cut", cutBodies, ""}, {"lost", loseAnswers, ""}, {"503", unavailable, ""}, {"slow", slowly, ""},
		{"cut while reading", cutAnswers, "s3://" + bucket + "/packages/"}, {"symbol files", loseAnswers, "store"},
	} {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel() // most of the time is waiting
			g := start(t)
			inputs := list
			if fault.from == "store" {
				inputs = []string{store}
			} else if fault.from != "" {
				inputs = g.upload(t, "packages", list)
			}
			g.setDisturb(fault.make(g))
			began := time.Now()
			out, err := dump(t, g.env(), append([]string{"-s", "s3://" + bucket + "/sym"}, inputs...)...)
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			t.Logf("%v, %d requests were disturbed", time.Since(began), g.disturbed.Load())
			if g.disturbed.Load() < 10 {
				t.Errorf("%d requests were disturbed, want 10 or more", g.disturbed.Load())
			}
			g.compare(t, "sym", store)
			g.once(t, "sym", store)
		})
	}
}

// upload makes an object of each file and returns their addresses.
func (g *gateway) upload(t *testing.T, prefix string, files []string) (addresses []string) {
	t.Helper()
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		key := prefix + "/" + filepath.Base(file)
		g.put(t, key, data)
		addresses = append(addresses, "s3://"+bucket+"/"+key)
	}
	return addresses
}

// TestRefusals: a fault that another request would meet too ends the run after the first request, with an error that
// says what to mend. The answers are the server's own.
func TestRefusals(t *testing.T) {
	input := packages(t, 20)[1]
	for name, test := range map[string]struct {
		bucket  string
		env     []string
		want    string
		disturb func(g *gateway) func(http.ResponseWriter, *http.Request) bool
	}{
		"no bucket":         {"none", nil, "the bucket does not exist", nil},
		"wrong secret":      {bucket, []string{"AWS_SECRET_ACCESS_KEY=wrong"}, "the credentials are wrong (SignatureDoesNotMatch)", nil},
		"unknown key":       {bucket, []string{"AWS_ACCESS_KEY_ID=nobody"}, "No user exists with the provided access key ID", nil},
		"an endpoint's URL": {bucket, []string{"AWS_ENDPOINT_URL=ftp://x"}, "want http://HOST or https://HOST", nil},
		"a slow clock":      {bucket, nil, "the clock of this machine or of the server is wrong: ", func(g *gateway) func(http.ResponseWriter, *http.Request) bool { return g.wrongClock(t, -time.Hour) }},
		"a fast clock":      {bucket, nil, "the clock of this machine or of the server is wrong: ", func(g *gateway) func(http.ResponseWriter, *http.Request) bool { return g.wrongClock(t, time.Hour) }},
	} {
		g := start(t)
		if test.disturb != nil {
			g.setDisturb(test.disturb(g))
		}
		out, err := dump(t, g.env(test.env...), "-s", "s3://"+test.bucket+"/sym", input)
		if err == nil || !strings.Contains(out, test.want) || g.requests.Load() > 1 {
			t.Errorf("%s: %d requests, %v: %s, want 1 request and %s", name, g.requests.Load(), err, out, test.want)
		}
	}
}

// TestNoSpace: a server whose disk is full ends the run, with an error that says so, and leaves no partial
// object. When there is space, the same command completes the store.
func TestNoSpace(t *testing.T) {
	list := packages(t, 20)[:20]
	store := filepath.Join(t.TempDir(), "store")
	if out, err := dump(t, os.Environ(), append([]string{"-s", store}, list...)...); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	disk := t.TempDir()
	mount := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("mount", append(args, "tmpfs", disk)...).CombinedOutput(); err != nil {
			t.Fatalf("mount, as root: %v: %s", err, out)
		}
	}
	mount("-t", "tmpfs", "-o", "size=4m")
	g := startAt(t, disk)
	t.Cleanup(func() { _ = exec.Command("umount", "-l", disk).Run() }) // the server ends later

	args := append([]string{"-s", "s3://" + bucket + "/sym"}, list...)
	out, err := dump(t, g.env(), args...)
	if err == nil || !strings.Contains(out, "no space (InsufficientStorage): No space left on device.") {
		t.Fatalf("%v: %s", err, out)
	}
	want := tree(t, store)
	got := tree(t, filepath.Join(disk, bucket, "sym"))
	for name, data := range got {
		if !bytes.Equal(data, want[name]) {
			t.Errorf("%s: %d bytes, want %d", name, len(data), len(want[name]))
		}
	}
	t.Logf("%d of %d objects fit", len(got), len(want))

	mount("-o", "remount,size=1g")
	out, err = dump(t, g.env(), args...)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	g.compare(t, "sym", store)
	g.once(t, "sym", store)
}

// cutBodies cuts the connection in every third request that sends an object, after 64 KiB or at its end.
func cutBodies(g *gateway) func(http.ResponseWriter, *http.Request) bool {
	var n atomic.Int64
	return func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut || n.Add(1)%3 != 0 {
			return false
		}
		_, _ = io.CopyN(io.Discard, r.Body, 64<<10)
		g.disturbed.Add(1)
		panic(http.ErrAbortHandler)
	}
}

// loseAnswers cuts the connection after every third request that sends an object, instead of the answer. The
// server has made the object then.
func loseAnswers(g *gateway) func(http.ResponseWriter, *http.Request) bool {
	var n atomic.Int64
	return func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut || n.Add(1)%3 != 0 {
			return false
		}
		g.proxy.ServeHTTP(httptest.NewRecorder(), r)
		g.disturbed.Add(1)
		panic(http.ErrAbortHandler)
	}
}

// cutAnswers cuts every connection after 64 KiB of an answer.
func cutAnswers(g *gateway) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet {
			return false
		}
		g.proxy.ServeHTTP(&cutWriter{w, 64 << 10, g}, r)
		return true
	}
}

// cutWriter is an answer whose connection breaks after left more bytes.
type cutWriter struct {
	http.ResponseWriter
	left int
	g    *gateway
}

func (c *cutWriter) Write(p []byte) (int, error) {
	if c.left == 0 {
		_ = http.NewResponseController(c.ResponseWriter).Flush() // the client has what was sent
		c.g.disturbed.Add(1)
		panic(http.ErrAbortHandler)
	}
	n, err := c.ResponseWriter.Write(p[:min(len(p), c.left)])
	c.left -= n
	if err == nil && n < len(p) {
		return c.Write(p[n:])
	}
	return n, err
}

// unavailable answers 503 for a minute, after the first ten objects.
func unavailable(g *gateway) func(http.ResponseWriter, *http.Request) bool {
	var n atomic.Int64
	var from atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut || n.Add(1) <= 10 {
			return false
		}
		from.CompareAndSwap(0, time.Now().UnixNano())
		if time.Now().UnixNano()-from.Load() > int64(time.Minute) {
			return false
		}
		g.disturbed.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
}

// slowly answers after a while.
func slowly(g *gateway) func(http.ResponseWriter, *http.Request) bool {
	return func(http.ResponseWriter, *http.Request) bool {
		g.disturbed.Add(1)
		time.Sleep(50 * time.Millisecond)
		return false
	}
}

// wrongClock signs each request again, as a client does whose clock is wrong by off, and passes on the server's
// answer.
func (g *gateway) wrongClock(t *testing.T, off time.Duration) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return true // the client is gone
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.Header.Del("Authorization")
		r.URL.Host = r.Host
		g.sign(t, r, body, time.Now().Add(off))
		g.proxy.ServeHTTP(w, r)
		return true
	}
}

// TestMoto: another implementation of S3 has the same objects, with the metadata that
// symbol servers of Mozilla have.
func TestMoto(t *testing.T) {
	list := packages(t, 20)[:20]
	store := filepath.Join(t.TempDir(), "store")
	if out, err := dump(t, os.Environ(), append([]string{"-s", store, "--compress", "gzip"}, list...)...); err != nil {
		t.Fatalf("%v: %s", err, out)
	}

	g := &gateway{url: startMoto(t)}
	check := func(what string) {
		t.Helper()
		cmd := exec.Command(python(), "moto_check.py", what, g.url, bucket, store)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", what, err, out)
		}
	}
	check("make")
	for range 2 {
		out, err := dump(t, g.env(), append([]string{"-s", "s3://" + bucket + "/sym", "--compress", "gzip"}, list...)...)
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	check("compare")
}

// startMoto runs moto's server, and returns its address.
func startMoto(t *testing.T) string {
	t.Helper()
	address := free(t)
	_, port, _ := strings.Cut(address, ":")
	run(t, exec.Command(python(), "-m", "moto.server", "-H", "127.0.0.1", "-p", port))
	wait(t, address)
	return "http://" + address
}

// python returns the Python that has the modules of scripts/cluster-requirements.txt.
func python() string { return cmp.Or(os.Getenv("PYTHON"), "python3") }
