package architecture

import (
	"bytes"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"symkit/test/testfile"
)

var update = flag.Bool("update", false, "write the output of testdata/importer again")

// TestImporter: a program of another module, which sees the public packages alone, builds
// without the network and writes what testdata/importer/output.txt has.
func TestImporter(t *testing.T) {
	t.Chdir(top)
	data, err := testfile.Read("testdata/elf/crash-x86_64-gcc12-O2-dw5.core.xz")
	if err != nil {
		t.Fatal(err)
	}
	core := filepath.Join(t.TempDir(), "core")
	err = os.WriteFile(core, data, 0o600)
	if err != nil {
		t.Fatal(err)
	}

	// go.mod and go.sum have to be complete: nothing is downloaded, nothing is added.
	cmd := exec.Command("go", "run", ".", core)
	cmd.Dir = filepath.Join("testdata", "importer")
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly", "GOWORK=off")
	var messages bytes.Buffer
	cmd.Stderr = &messages
	got, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s\nAfter a change of go.mod, run go mod tidy in testdata/importer.", err, &messages)
	}

	golden := filepath.Join(cmd.Dir, "output.txt")
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s, want\n%s", got, want)
	}
}

// TestCrashService: another program of that module dumps a directory into a bucket, and walks a crash with it.
// test/cluster runs the program with a real server.
func TestCrashService(t *testing.T) {
	t.Chdir(top)
	dir := t.TempDir()
	for name, path := range map[string]string{"programs/crash": "testdata/elf/crash-x86_64-gcc12-O2-dw5.elf", "core": "testdata/elf/crash-x86_64-gcc12-O2-dw5.core"} {
		data, err := testfile.Read(path)
		if err == nil {
			err = os.MkdirAll(filepath.Join(dir, "programs"), 0o777)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(new(bucket))
	defer server.Close()

	program := filepath.Join(dir, "crashservice")
	build := exec.Command("go", "build", "-pgo=off", "-o", program, "./crashservice")
	build.Dir = filepath.Join("testdata", "importer")
	build.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly", "GOWORK=off")
	out, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(program, filepath.Join(dir, "programs"), "s3://crashes/symbols", filepath.Join(dir, "core"))
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+dir, "AWS_ENDPOINT_URL="+server.URL, "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret")
	out, err = cmd.CombinedOutput()
	for _, want := range []string{"SIGSEGV", "crash!crash + 0x6 [/symkit/src/crash.c:64]"} {
		if err != nil || !bytes.Contains(out, []byte(want)) {
			t.Fatalf("no %s: %v, %s", want, err, out)
		}
	}
}

// bucket is a server of one bucket, in memory.
type bucket struct{ objects sync.Map }

// object is an object with the header of its packing.
type object struct {
	data    []byte
	packing string
}

func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("ETag", `"1"`)
	if r.Method == http.MethodPut {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		b.objects.Store(r.URL.Path, object{data, r.Header.Get("Content-Encoding")})
		return
	}
	o, ok := b.objects.Load(r.URL.Path)
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Encoding", o.(object).packing)
	w.Write(o.(object).data)
}
