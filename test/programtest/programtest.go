// Package programtest has the tests that all programs have in common. A program gives its
// name, its function run, and rows of test tables. Only tests import the package.
package programtest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"symkit/internal/command"
	"symkit/test/testfile"
)

// Program is a program under test.
type Program struct {
	Name string
	Run  func(ctx context.Context, args []string, stdout, stderr io.Writer) (code int)
}

// Output runs the program and returns its exit code and what it writes.
func (p Program) Output(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = p.Run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// Message is the exit code of a program, or 0 if it does not matter, and what the program
// writes to standard error.
type Message = struct {
	Code int
	Want string
}

// Messages compares the whole standard error of the program for each command line, whose
// arguments are separated by spaces. start is what all messages begin with.
func (p Program) Messages(t *testing.T, start string, rows map[string]Message) {
	t.Helper()
	for args, m := range rows {
		code, _, stderr := p.Output(t, strings.Fields(args)...)
		if want := start + m.Want + "\n"; m.Code != 0 && code != m.Code || stderr != want {
			t.Errorf("%s %s: exit code %d, %q, want %d, %q", p.Name, args, code, stderr, m.Code, want)
		}
	}
}

// Printable wants that the program writes no control character, and returns as Output
// does.
func (p Program) Printable(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	code, stdout, stderr = p.Output(t, args...)
	for name, text := range map[string]string{"stdout": stdout, "stderr": stderr} {
		err := testfile.Unprintable([]byte(text))
		if err != nil {
			t.Errorf("%.60q: exit code %d, %s: %v", args, code, name, err)
		}
	}
	return code, stdout, stderr
}

// Bounded is Printable for a damaged file, which what describes: standard error is short,
// too, and so are the files in dirs.
func (p Program) Bounded(t *testing.T, what string, args []string, dirs ...string) {
	t.Helper()
	_, stdout, stderr := p.Output(t, args...)
	err := testfile.Outputs([]byte(stdout), []byte(stderr), dirs...)
	if err != nil {
		t.Errorf("%s: %.80q: %v", what, args, err)
	}
}

// Failed wants exit code 1, one error with each of the words on standard error, and no
// files below dir.
func (p Program) Failed(t *testing.T, code int, stderr, dir string, words ...string) {
	t.Helper()
	if code != command.Failed || !strings.HasPrefix(stderr, p.Name+": error: ") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	for _, word := range words {
		if !strings.Contains(stderr, word) {
			t.Errorf("no %q in %s", word, stderr)
		}
	}
	NoFiles(t, dir)
}

// NoFiles wants that no file, but directories, is below dir.
func NoFiles(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			t.Errorf("left behind: %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Shell wants the exit code of each script, which has args as $0, $1 and so on.
func Shell(t *testing.T, scripts map[string]int, args ...string) {
	t.Helper()
	for script, want := range scripts {
		cmd := exec.Command("sh", append([]string{"-c", script}, args...)...)
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != want {
			t.Errorf("%s: exit code %d, want %d: %s", script, code, want, out)
		}
	}
}

// repository is the root of the checkout; tests change the directory.
var repository, _ = filepath.Abs(filepath.Join("..", ".."))

// File returns a file of the checkout, unpacked, by its path in the checkout.
func File(t testing.TB, path string) []byte {
	t.Helper()
	data, err := testfile.Read(filepath.Join(repository, path))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Fixture returns a file of testdata/elf.
func Fixture(t testing.TB, name string) []byte {
	t.Helper()
	return File(t, filepath.Join("testdata", "elf", name))
}

// Write writes a file, with the directories that it is in, and returns its path.
func Write(t testing.TB, path string, data []byte) string {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o777)
	if err == nil {
		err = os.WriteFile(path, data, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Waits wants that the program, with a debuginfod server that does not answer, says so in its first
// line, long before it gives the server up, and once.
func (p Program) Waits(t *testing.T, args ...string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer server.Close()
	t.Setenv("DEBUGINFOD_URLS", server.URL)
	t.Setenv("DEBUGINFOD_TIMEOUT", "1")
	t.Setenv("DEBUGINFOD_CACHE_PATH", t.TempDir())

	_, _, stderr := p.Output(t, args...)
	waiting := p.Name + ": waiting for " + server.URL + ", 0.25 s so far, at most 1s (DEBUGINFOD_TIMEOUT)\n"
	if !strings.HasPrefix(stderr, waiting) || strings.Count(stderr, "waiting") != 1 {
		t.Errorf("%s\nwant first: %s", stderr, waiting)
	}
}

// Build builds a program of this module as users have it, and returns its path. The test's own binary, which runs as
// the program elsewhere, takes megabytes more.
func Build(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	out, err := exec.Command("go", "build", "-pgo=off", "-o", path, "symkit/cmd/"+name).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}
