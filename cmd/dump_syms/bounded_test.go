package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"symkit/elfx"
	"symkit/internal/command"
	"symkit/internal/quantity"
	"symkit/test/programtest"
)

// maxStderr is what a program writes at most to standard error without -v.
const maxStderr = 16 << 10

// stderrOf runs the program and returns its exit code and standard error.
func stderrOf(t *testing.T, args ...string) (code int, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, &out, &errs)
	return code, errs.String()
}

// TestManyErrors: a zip file of 20,000 damaged members, which had a line each, 1.6 MB
// in all, has a bounded number of lines.
func TestManyErrors(t *testing.T) {
	const n = 20_000
	dir := t.TempDir()
	path := filepath.Join(dir, "damaged.zip")
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for i := range n {
		w, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("%s/%05d.so", strings.Repeat("long/", 10), i), Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("\x7fELF\x02\x01\x01 damaged")); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	programtest.Write(t, path, archive.Bytes())

	code, stderr := stderrOf(t, "--store", filepath.Join(dir, "store"), path)
	shown := strings.Count(stderr, "dump_syms: error: "+path+"!/long/")
	want := fmt.Sprintf("\ndump_syms: and %s more errors; -v shows all\ndump_syms: 0 modules, 0 written, %s failed; 0 bytes of symbols\n", quantity.Number(n-shown), quantity.Number(n))
	if code != command.Failed || len(stderr) > maxStderr || shown == 0 || !strings.HasSuffix(stderr, want) {
		t.Errorf("exit code %d, %d bytes, %d errors shown, %q, want %q", code, len(stderr), shown, stderr[max(0, len(stderr)-200):], want)
	}
	_, stderr = stderrOf(t, "-v", "--store", filepath.Join(dir, "store"), path)
	if shown := strings.Count(stderr, "dump_syms: error: "+path+"!/long/"); shown != n {
		t.Errorf("with -v %d errors", shown)
	}
}

// TestDebugFilesAlone: many debug files without their binaries have one line of
// warnings in all, a single one has its two.
func TestDebugFilesAlone(t *testing.T) {
	data := programtest.Fixture(t, "cxx-x86_64-gcc12-O2-dw5-stripped.debug")
	dir := t.TempDir()
	original := filepath.Join(dir, "0.debug")
	programtest.Write(t, original, data)
	f, err := elfx.Open(original)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(data, f.BuildID())
	f.Close()
	const n = 31
	for i := 1; i < n; i++ {
		copy(data[at:], fmt.Sprintf("%04d", i))
		programtest.Write(t, filepath.Join(dir, fmt.Sprint(i, ".debug")), data)
	}

	for _, test := range []struct {
		name string
		args []string
		want string // regular expression
	}{
		{"many", []string{"-R", dir}, `^dump_syms: warning: 31 debug files have no binary beside them: these modules have the names of the debug files and no unwind rules; ` +
			`give the binaries, too; -v names the files\ndump_syms: 31 modules, 31 written; .* kB of symbols\n$`},
		{"one", []string{original}, `^dump_syms: warning: .*0\.debug: a debug file alone: the module is named "0"; give the binary too, or --name\n` +
			`dump_syms: warning: .*0\.debug: no unwind rules: .*\n$`},
		{"all with -v", []string{"-v", "-R", dir}, `^(.*\n)*dump_syms: warning: .*/30\.debug: a debug file alone: (.*\n)*dump_syms: warning: .*30\.debug: no unwind rules: `},
	} {
		code, stderr := stderrOf(t, append(test.args, "--store", filepath.Join(t.TempDir(), "store"))...)
		if code != 0 || !regexp.MustCompile(test.want).MatchString(stderr) {
			t.Errorf("%s: exit code %d, %s, want %s", test.name, code, stderr, test.want)
		}
	}
}
