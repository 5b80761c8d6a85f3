package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"symkit/test/programtest"
)

// asProgram has the test's executable be symserve.
const asProgram = "SYMSERVE_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Unsetenv(asProgram)
		main()
	}
	os.Exit(m.Run())
}

const token = "6f0c1b2e9d8a47c5b3a1f0e2d4c6b8a9"

var program = programtest.Program{Name: "symserve", Run: run}

// TestMessages: mistakes on the command line, and what to do.
func TestMessages(t *testing.T) {
	file := programtest.Write(t, filepath.Join(t.TempDir(), "file"), []byte("ci upload short\n"))
	program.Messages(t, "symserve: error: ", map[string]programtest.Message{
		"":                                     {Code: 80, Want: `expected "<store>"; for example: symserve /srv/symbols; see symserve --help`},
		"--tls-cert=a store":                   {Code: 80, Want: "--tls-cert and --tls-key belong together; see symserve --help"},
		"--debuginfod store":                   {Code: 80, Want: "--debuginfod needs --accept=check; see symserve --help"},
		"--stall=0s store":                     {Code: 80, Want: "--stall and --timeout: want a time above 0; see symserve --help"},
		"gs://bucket/x":                        {Code: 80, Want: "STORE gs://bucket/x: not an address that is known; give a path, or an address that begins with s3://; see symserve --help"},
		file:                                   {Code: 1, Want: "mkdir " + file + ": not a directory"},
		"--tokens=" + file + " " + t.TempDir(): {Code: 1, Want: file + ": line 1: the token has less than 16 characters"},
		"--listen=nowhere " + t.TempDir():      {Code: 1, Want: "--listen nowhere: listen tcp: address nowhere: missing port in address"},
	})
}

// server is a symserve in a process of its own.
type server struct {
	cmd   *exec.Cmd
	first string // line of the standard error
	url   string // in that line
}

// start runs symserve and waits until it listens.
func start(t *testing.T, args ...string) *server {
	t.Helper()
	return startIn(t, nil, append([]string{"--listen=127.0.0.1:0"}, args...)...)
}

// startIn runs symserve with more variables.
func startIn(t *testing.T, env []string, args ...string) *server {
	t.Helper()
	s := &server{}
	s.cmd = exec.Command(os.Args[0], args...)
	s.cmd.Env = append(append(os.Environ(), asProgram+"=1"), env...)
	stderr, err := s.cmd.StderrPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill() // it may have ended
		_ = s.cmd.Wait()
	})
	var first []byte
	for !bytes.Contains(first, []byte("\n")) {
		b := make([]byte, 1000)
		n, err := stderr.Read(b)
		first = append(first, b[:n]...)
		if err != nil {
			t.Fatalf("%v: %s", err, first)
		}
	}
	go func() { _, _ = io.Copy(io.Discard, stderr) }()
	s.first, _, _ = strings.Cut(string(first), "\n")
	s.url = s.first[strings.LastIndexByte(s.first, ' ')+1:]
	return s
}

// module returns the symbols of one of many modules.
func module(i int) (key string, sym []byte) {
	id := fmt.Sprintf("%032X0", i+1)
	var b bytes.Buffer
	fmt.Fprintf(&b, "MODULE Linux x86_64 %s app%d\nFILE 0 a.c\n", id, i)
	for f := range 200 {
		fmt.Fprintf(&b, "FUNC %x 10 0 function_%d_%d\n%x 10 %d 0\n", 0x1000+f*16, i, f, 0x1000+f*16, f+1)
	}
	return fmt.Sprintf("app%d/%s/app%d.sym", i, id, i), b.Bytes()
}

// upload sends symbols by Tecken's first protocol. ok is false if there was no answer, or one of 5xx.
func upload(url, key string, sym []byte) (ok bool, err error) {
	var archive, form bytes.Buffer
	z := zip.NewWriter(&archive)
	w, _ := z.Create(key)
	_, _ = w.Write(sym)
	z.Close()
	m := multipart.NewWriter(&form)
	part, _ := m.CreateFormFile("symbols.zip", "symbols.zip")
	_, _ = part.Write(archive.Bytes())
	m.Close()
	req, err := http.NewRequest("POST", url+"/upload/", &form)
	if err != nil {
		return false, err
	}
	req.Header.Set("Auth-Token", token)
	req.Header.Set("Content-Type", m.FormDataContentType())
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false, nil // it was killed
	}
	defer resp.Body.Close()
	text, readErr := io.ReadAll(resp.Body)
	if resp.StatusCode == 201 || resp.StatusCode >= 500 || readErr != nil {
		return resp.StatusCode == 201, nil
	}
	return false, fmt.Errorf("%s: %s", resp.Status, text)
}

// TestKilled: servers over one directory are killed while clients send and read. Whatever was answered 201 is there
// afterwards, every file that is served is whole, and what was not answered can be sent again.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	tokens := programtest.Write(t, filepath.Join(t.TempDir(), "tokens"), []byte("ci upload "+token+"\n"))
	const modules, kills = 120, 6
	var mu sync.Mutex
	current := start(t, "--tokens", tokens, dir)
	acknowledged := map[int]bool{}
	url := func() string {
		mu.Lock()
		defer mu.Unlock()
		return current.url
	}

	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := worker; i < modules; i += 4 {
				key, sym := module(i)
				for range 200 {
					ok, err := upload(url(), key, sym)
					if err != nil {
						t.Error(err)
						return
					}
					if ok {
						mu.Lock()
						acknowledged[i] = true
						mu.Unlock()
						break
					}
					time.Sleep(20 * time.Millisecond)
				}
				whole(t, url(), rand.IntN(i+1), false)
			}
		})
	}
	for range kills {
		time.Sleep(time.Duration(50+rand.IntN(150)) * time.Millisecond)
		_ = current.cmd.Process.Kill()
		_ = current.cmd.Wait()
		next := start(t, "--tokens", tokens, dir)
		mu.Lock()
		current = next
		mu.Unlock()
	}
	group.Wait()
	for i := range modules {
		if !acknowledged[i] {
			t.Errorf("module %d was never taken", i)
		}
		whole(t, url(), i, acknowledged[i])
	}

	// Nothing else is in the store: what killed servers had begun had no name.
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.HasSuffix(path, ".sym.gz") && filepath.Base(filepath.Dir(path)) != "locks" {
			t.Errorf("left: %s", path)
		}
		return nil
	})
}

// whole wants the symbols of a module, or none unless they must be there.
func whole(t *testing.T, url string, i int, must bool) {
	t.Helper()
	key, sym := module(i)
	resp, err := http.Get(url + "/" + key)
	if err != nil {
		if must {
			t.Error(err)
		}
		return
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if resp.StatusCode == 200 && err == nil && !bytes.Equal(text, sym) || must && resp.StatusCode != 200 {
		t.Errorf("%s: %s, %d bytes, want %d", key, resp.Status, len(text), len(sym))
	}
}

// TestStop: SIGTERM ends the program with code 0 after the requests in progress. A store that does not exist is made.
func TestStop(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	s := start(t, store)
	if want := "symserve: serving the new store " + store + " at " + s.url; s.first != want {
		t.Errorf("%q, want %q", s.first, want)
	}
	if s := start(t, store); s.first != "symserve: serving "+store+" at "+s.url {
		t.Errorf("%q", s.first)
	}
	resp, err := http.Get(s.url + "/__version__")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Source string }
	err = json.NewDecoder(resp.Body).Decode(&doc)
	resp.Body.Close()
	if err != nil || doc.Source != "symkit" {
		t.Errorf("%v, %+v", err, doc)
	}
	err = s.cmd.Process.Signal(os.Interrupt)
	if err == nil {
		err = s.cmd.Wait()
	}
	if err != nil {
		t.Error(err)
	}
}
