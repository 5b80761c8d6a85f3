package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"symkit/dump/batch"
	"symkit/internal/command"
	"symkit/test/pkgtest"
	"symkit/test/programtest"
)

// TestRounds: while a later package is still being read, the modules of the packages before it are
// in the store, their records are in the manifest, and the packages are in the list of --done.
func TestRounds(t *testing.T) {
	const n = 6
	program := programtest.Fixture(t, "cxx-x86_64-gcc12-O2-dw5.elf")
	id := bytes.Index(program, []byte("GNU\x00\x8c\xb6\x93"))
	random := rand.NewChaCha8([32]byte{})
	noise := make([]byte, 3<<20) // more than a round has for each processor
	if _, err := random.Read(noise); err != nil {
		t.Fatal(err)
	}
	packages := map[string][]byte{}
	for i := range n {
		copy(program[id+4:], fmt.Sprintf("%04d", i))
		name := fmt.Sprintf("/%d.deb", i)
		packages[name] = pkgtest.Deb("none", pkgtest.Source(fmt.Sprint("source", i)), pkgtest.File{Name: "app", Data: program}, pkgtest.File{Name: "noise", Data: noise})
	}

	// The last package stops in the middle until the test has seen the others' modules. The first
	// request is for the control data.
	last, goOn := fmt.Sprintf("/%d.deb", n-1), make(chan struct{})
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data := packages[r.URL.Path]
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		if r.URL.Path == last && asked.Add(1) > 1 {
			_, _ = w.Write(data[:len(data)/2])
			w.(http.Flusher).Flush()
			<-goOn
			data = data[len(data)/2:]
		}
		_, _ = w.Write(data) // the reader of the control data closes the connection
	}))
	defer server.Close()

	dir := t.TempDir()
	store, manifest, done := filepath.Join(dir, "store"), filepath.Join(dir, "manifest"), filepath.Join(dir, "done")
	args := []string{"-j", "1", "-s", store, "--manifest", manifest, "--done", done}
	for i := range n {
		args = append(args, fmt.Sprintf("%s/%d.deb", server.URL, i))
	}
	ended := make(chan string, 1)
	go func() {
		var stdout, stderr bytes.Buffer
		code := run(context.Background(), args, &stdout, &stderr)
		ended <- fmt.Sprint(code, " ", stderr.String())
	}()

	// All packages but the one that is read and the one before it are done.
	lines := func(path string) int {
		data, _ := os.ReadFile(path) // not there yet
		return bytes.Count(data, []byte("\n"))
	}
	stored := func() int {
		list, _ := filepath.Glob(filepath.Join(store, "*", "*", "*.sym"))
		return len(list)
	}
	deadline := time.Now().Add(time.Minute)
	for (stored() < n-1 || lines(manifest) < n-1 || lines(done) < n-1) && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	if a, b, c := stored(), lines(manifest), lines(done); a != n-1 || b != n-1 || c != n-1 {
		t.Errorf("while the last package is read: %d modules in the store, %d records, %d packages done; want %d of each", a, b, c, n-1)
	}
	close(goOn)
	if got := <-ended; !strings.HasPrefix(got, "0 dump_syms: 6 modules, 6 written; ") {
		t.Error(got)
	}
	if a, b, c := stored(), lines(manifest), lines(done); a != n || b != n || c != n {
		t.Errorf("at the end: %d modules in the store, %d records, %d packages done; want %d of each", a, b, c, n)
	}
}

// TestWriters: four processes that dump the same files into one store have written each module once:
// their manifests add up.
func TestWriters(t *testing.T) {
	const writers, n = 4, 60
	program := programtest.Fixture(t, "cxx-x86_64-gcc12-O2-dw5.elf")
	id := bytes.Index(program, []byte("GNU\x00\x8c\xb6\x93"))
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "in"), 0o777); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		copy(program[id+4:], fmt.Sprintf("%04d", i))
		programtest.Write(t, filepath.Join(dir, "in", fmt.Sprintf("app%d", i)), program)
	}
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			out, err := exec.Command("dump_syms", "-R", filepath.Join(dir, "in"), "-s", filepath.Join(dir, "store"), "--manifest", filepath.Join(dir, fmt.Sprint(w))).CombinedOutput()
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Wait()

	written, existing := map[string]int{}, 0
	for w := range writers {
		for _, r := range readManifest(t, filepath.Join(dir, fmt.Sprint(w))) {
			switch r.Status {
			case batch.Written:
				written[r.Input]++
			case batch.Existing:
				existing++
				if r.SymbolBytes != 0 {
					t.Errorf("%+v", r)
				}
			}
		}
	}
	for input, count := range written {
		if count != 1 {
			t.Errorf("%s was written %d times", input, count)
		}
	}
	if len(written) != n || existing != (writers-1)*n {
		t.Errorf("%d modules were written and %d were there before, want %d and %d", len(written), existing, n, (writers-1)*n)
	}
}

// TestLargeLast: a module that exceeds the memory budget is dumped after all others, in files and in
// packages; its package is in the list of --done then.
func TestLargeLast(t *testing.T) {
	small := programtest.Fixture(t, "cxx-x86_64-gcc12-O2-dw5.elf")
	large := append([]byte(nil), programtest.Fixture(t, "cxx-x86_64-gcc12-O2-dw5.so")...)

	large = withNames(t, large, 80<<20) // more than --memory, by the estimate
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		programtest.Write(t, path, data)
		return path
	}
	files := []string{write("large", large), write("small", small)}
	packages := []string{
		write("large.deb", pkgtest.Deb("gzip", pkgtest.Source("large"), pkgtest.File{Name: "large", Data: large})),
		write("small.deb", pkgtest.Deb("gzip", pkgtest.Source("small"), pkgtest.File{Name: "small", Data: small})),
	}
	for _, inputs := range [][]string{files, packages} {
		manifest, done := filepath.Join(dir, "manifest"), filepath.Join(dir, "done")
		code, stderr := stderrOf(t, append([]string{"-s", t.TempDir(), "--memory", "64M", "--manifest", manifest, "--done", done}, inputs...)...)
		text, err := os.ReadFile(manifest)
		if err != nil {
			t.Fatal(err)
		}
		first, second := bytes.Index(text, []byte(`/small"`)), bytes.Index(text, []byte(`/large"`))
		if code != 0 || first < 0 || second < first {
			t.Errorf("%d, %s: %s", code, stderr, text)
		}
	}
	if list, err := os.ReadFile(filepath.Join(dir, "done")); bytes.Count(list, []byte("\n")) != 2 {
		t.Errorf("%s, %v", list, err)
	}
}

// TestPackagesWithoutFiles: packages without ELF files have a record. They are an error only if
// nothing else was given, unless --allow-empty is.
func TestPackagesWithoutFiles(t *testing.T) {
	dir := t.TempDir()
	doc, app := filepath.Join(dir, "doc.deb"), filepath.Join(dir, "app.deb")
	programtest.Write(t, doc, pkgtest.Deb("xz", pkgtest.File{Name: "README", Data: []byte("text")}))
	programtest.Write(t, app, pkgtest.Deb("xz", pkgtest.File{Name: "app", Data: programtest.Fixture(t, "cxx-x86_64-gcc12-O2-dw5.elf")}))
	const record = `"status":"no-module","input":"%s","error":"%[1]s: no ELF file in the package"`
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{doc}, command.Failed, "dump_syms: error: " + doc + ": no ELF file in the package; give packages of programs, libraries or debug files, or --allow-empty\n"},
		{[]string{"--allow-empty", doc}, 0, "dump_syms: 0 modules, 0 written, 1 without symbols; "},
		{[]string{"--allow-empty", "-R", dir}, 0, ""},
		{[]string{doc, app}, 0, ""},
	} {
		manifest := filepath.Join(t.TempDir(), "manifest")
		code, stderr := stderrOf(t, append([]string{"-s", t.TempDir(), "--manifest", manifest}, test.args...)...)
		text, err := os.ReadFile(manifest)
		if err != nil {
			t.Fatal(err)
		}
		if code != test.code || !strings.HasPrefix(stderr, test.want) || !strings.Contains(string(text), fmt.Sprintf(record, doc)) {
			t.Errorf("%q: %d, %s, %s", test.args, code, stderr, text)
		}
	}
}

// TestImageErrors: an image that lacks a layer is an error, and its other layers are dumped; an ISO image is
// named as what it is.
func TestImageErrors(t *testing.T) {
	dir := t.TempDir()
	program := pkgtest.File{Name: "app", Data: programtest.Fixture(t, "cxx-x86_64-gcc12-O2-dw5.elf")}
	image := pkgtest.Layout("gzip", pkgtest.Tar(program), pkgtest.Tar(pkgtest.File{Name: "x", Data: []byte("text")}))
	for i, f := range image {
		path := filepath.Join(dir, "image", filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if i != 1 {
			programtest.Write(t, path, f.Data)
		}
	}
	iso := filepath.Join(dir, "x.iso")
	programtest.Write(t, iso, append(make([]byte, 0x8001), "CD001"...))
	code, stderr := stderrOf(t, "-v", "-s", filepath.Join(dir, "store"), filepath.Join(dir, "image"), iso)
	for _, want := range []string{": damaged package: the layer sha256:", " is missing\n", "x.iso: format is not read: an ISO image", "1 modules, 1 written, 2 failed"} {
		if code != command.Failed || !strings.Contains(stderr, want) {
			t.Errorf("%d, %s, want %q", code, stderr, want)
		}
	}
}
