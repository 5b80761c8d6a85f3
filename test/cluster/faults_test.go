package cluster

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestFaults: a disturbed network costs time, not objects; what cannot be is an error
// that says so.
func TestFaults(t *testing.T) {
	list := packages(t, 20)[:20]
	store := filepath.Join(t.TempDir(), "store")
	if out, err := dump(t, os.Environ(), append([]string{"-s", store}, list...)...); err != nil {
		t.Fatalf("%v: %s", err, out)
	}

	for name, disturb := range map[string]func() func(http.ResponseWriter, *http.Request) bool{
		"cut":  cutBodies,
		"503":  unavailable,
		"slow": slowly,
	} {
		t.Run(name, func(t *testing.T) {
			g := start(t)
			g.disturb = disturb()
			began := time.Now()
			out, err := dump(t, g.env(), append([]string{"-s", "s3://" + bucket + "/sym"}, list...)...)
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			t.Logf("%v", time.Since(began))
			g.compare(t, "sym", store)
			g.once(t, "sym", store)
		})
	}

	g := start(t)
	for name, test := range map[string]struct {
		bucket string
		env    []string
		want   string
	}{
		"no bucket":         {"none", nil, "the bucket does not exist"},
		"wrong secret":      {bucket, []string{"AWS_SECRET_ACCESS_KEY=wrong"}, "the credentials are wrong (SignatureDoesNotMatch)"},
		"unknown key":       {bucket, []string{"AWS_ACCESS_KEY_ID=nobody"}, "No user exists with the provided access key ID"},
		"an endpoint's URL": {bucket, []string{"AWS_ENDPOINT_URL=ftp://x"}, "want http://HOST or https://HOST"},
	} {
		out, err := dump(t, g.env(test.env...), "-s", "s3://"+test.bucket+"/sym", list[0])
		if err == nil || !strings.Contains(out, test.want) {
			t.Errorf("%s: %v: %s, want %s", name, err, out, test.want)
		}
	}
}

// cutBodies cuts the connection in every third request that sends an object, after
// 64 KiB or at its end.
func cutBodies() func(http.ResponseWriter, *http.Request) bool {
	var n atomic.Int64
	return func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut || n.Add(1)%3 != 0 {
			return false
		}
		buf := make([]byte, 64<<10)
		_, _ = r.Body.Read(buf)
		panic(http.ErrAbortHandler)
	}
}

// unavailable answers 503 for a minute, after the first ten objects.
func unavailable() func(http.ResponseWriter, *http.Request) bool {
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
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
}

// slowly answers after a while.
func slowly() func(http.ResponseWriter, *http.Request) bool {
	return func(http.ResponseWriter, *http.Request) bool {
		time.Sleep(50 * time.Millisecond)
		return false
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

	address := free(t)
	_, port, _ := strings.Cut(address, ":")
	python := os.Getenv("PYTHON")
	if python == "" {
		python = "python3"
	}
	run(t, exec.Command(python, "-m", "moto.server", "-H", "127.0.0.1", "-p", port))
	wait(t, address)
	g := &gateway{url: "http://" + address}
	check := func(what string) {
		t.Helper()
		cmd := exec.Command(python, "moto_check.py", what, g.url, bucket, store)
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
