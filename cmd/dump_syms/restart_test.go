package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"symkit/dump/batch"
	"symkit/test/pkgtest"
	"symkit/test/programtest"
)

// TestRestartPackages: four processes dump the same packages into one store and are killed again and again, each
// time while they read a package. Every time the store has more modules: all of the packages before. In the end the
// manifests of all processes have each module as written once.
func TestRestartPackages(t *testing.T) {
	const n, writers, step = 8, 4, 2
	server := newGate(t, n)
	dir := t.TempDir()
	store := filepath.Join(dir, "store")
	var manifests []string
	for allowed := step; allowed <= n; allowed += step {
		server.allowed.Store(int64(allowed))
		processes := make([]*exec.Cmd, writers)
		var running []string
		for i := range processes {
			manifest := filepath.Join(dir, fmt.Sprintf("manifest-%d-%d", allowed, i))
			args := []string{"-j", "1", "-s", store, "--manifest", manifest, "--done", filepath.Join(dir, fmt.Sprint("done", i))}
			processes[i] = exec.Command("dump_syms", append(args, server.packages...)...)
			if err := processes[i].Start(); err != nil {
				t.Fatal(err)
			}
			running = append(running, manifest)
		}
		manifests = append(manifests, running...)

		// A record of each package that the server sends, in each manifest.
		deadline := time.Now().Add(time.Minute)
		for recordsIn(t, running...) < writers*allowed && time.Now().Before(deadline) {
			time.Sleep(10 * time.Millisecond)
		}
		for _, p := range processes {
			if allowed < n {
				_ = p.Process.Kill() // its end is an error below
			}
			err := p.Wait()
			if (err == nil) != (allowed == n) {
				t.Errorf("with %d packages: %v", allowed, err)
			}
		}
		stored, err := filepath.Glob(filepath.Join(store, "*", "*", "*"))
		if err != nil || len(stored) != allowed || strings.Contains(strings.Join(stored, " "), ".tmp") {
			t.Fatalf("%q after %d packages, %v", stored, allowed, err)
		}
	}

	written := map[string]int{}
	for _, manifest := range manifests {
		for _, r := range readManifest(t, manifest) {
			if r.Status == batch.Written {
				written[r.ID]++
			}
		}
	}
	for id, count := range written {
		if count != 1 {
			t.Errorf("%s was written %d times", id, count)
		}
	}
	if len(written) != n {
		t.Errorf("%d modules were written, want %d", len(written), n)
	}
}

// gate is a server of packages of one module each, which stops in the middle of those that are not allowed yet.
type gate struct {
	packages []string // addresses
	allowed  atomic.Int64
}

// newGate returns a server of n packages, each of a source of its own and large enough for a round.
func newGate(t *testing.T, n int) *gate {
	t.Helper()
	program := programtest.Fixture(t, "cxx-x86_64-gcc12-O2-dw5.elf")
	id := bytes.Index(program, []byte("GNU\x00\x8c\xb6\x93"))
	noise := make([]byte, 3<<20)
	if _, err := rand.NewChaCha8([32]byte{}).Read(noise); err != nil {
		t.Fatal(err)
	}
	data := map[string][]byte{}
	number := map[string]int64{}
	for i := range n {
		copy(program[id+4:], fmt.Sprintf("%04d", i))
		path := fmt.Sprintf("/%d.deb", i)
		number[path] = int64(i)
		data[path] = pkgtest.Deb("none", pkgtest.Source(fmt.Sprint("source", i)), pkgtest.File{Name: "app", Data: program}, pkgtest.File{Name: "noise", Data: noise})
	}

	g := &gate{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const start = 64 << 10 // has the control data
		data := data[r.URL.Path]
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		_, _ = w.Write(data[:start]) // the process may be killed
		_ = http.NewResponseController(w).Flush()
		if number[r.URL.Path] >= g.allowed.Load() {
			<-r.Context().Done()
			return
		}
		_, _ = w.Write(data[start:])
	}))
	t.Cleanup(server.Close)
	for path := range data {
		g.packages = append(g.packages, server.URL+path)
	}
	slices.Sort(g.packages)
	return g
}

// recordsIn returns the number of lines in manifests, which may not be there yet.
func recordsIn(t *testing.T, paths ...string) (n int) {
	t.Helper()
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		n += bytes.Count(text, []byte("\n"))
	}
	return n
}

// readManifest returns the records of a manifest.
func readManifest(t *testing.T, path string) (list []batch.Record) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var r batch.Record
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}
