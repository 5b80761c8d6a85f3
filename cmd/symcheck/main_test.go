package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"symkit/test/programtest"
	"symkit/test/testfile"
)

var update = flag.Bool("update", false, "rewrite what the scripts compare with")

// tested is the program for the tests of package programtest.
var tested = programtest.Program{Name: "symcheck", Run: run}

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"symcheck": main})
}

// TestScripts runs the scripts of testdata/script. Their command `fixture FILE
// [AS]` puts a test file of package check, or of the repository's testdata/elf,
// into the script's directory, unpacked.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("SYMKIT_MEM", os.Getenv("SYMKIT_MEM")) // see internal/mem
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fixture": func(ts *testscript.TestScript, _ bool, args []string) {
				data, err := fixture(root, args[0])
				ts.Check(err)
				ts.Check(os.WriteFile(ts.MkAbs(args[len(args)-1]), data, 0o644))
			},
			"archive": func(ts *testscript.TestScript, _ bool, args []string) { // FILE FIXTURE...: an ar archive
				data := []byte("!<arch>\n")
				for _, name := range args[1:] {
					member, err := fixture(root, name)
					ts.Check(err)
					data = fmt.Appendf(data, "%-16s%-12d%-6d%-6d%-8d%-10d`\n%s", name+"/", 0, 0, 0, 644, len(member), member)
					data = append(data, "\n"[:len(member)%2]...)
				}
				ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o644))
			},
			"garbage": func(ts *testscript.TestScript, _ bool, args []string) { // FILE: 8 MB on one line
				ts.Check(os.WriteFile(ts.MkAbs(args[0]), make([]byte, 8<<20), 0o644))
			},
		},
	})
}

func fixture(root, name string) ([]byte, error) {
	for _, dir := range []string{"check/testdata/defects", "check/testdata/own", "check/testdata/sframe", "dump/testdata/sframe", "sframe/testdata", "testdata/elf", "testdata/sources"} {
		if data, err := testfile.Read(filepath.Join(root, dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return data, err
		}
	}
	return nil, fs.ErrNotExist
}

// TestExitCodes checks the exit codes: 0 done, 1 an input failed, 2 findings, 80 misuse.
func TestExitCodes(t *testing.T) {
	const head = "MODULE Linux x86_64 0123456789ABCDEF0 app\n"
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		programtest.Write(t, path, []byte(text))
		return path
	}
	good, bad, empty := write("good", head), write("bad", head+"nonsense\n"), write("empty", "")
	for _, test := range []struct {
		code int
		args []string
	}{
		{0, []string{"--version"}},
		{0, []string{"lint", good}},
		{2, []string{"lint", good, bad}},
		{1, []string{"lint", bad, empty}},
		{0, []string{"lint", "--only=overlaps", bad}},
		{2, []string{"lint", "--require=rules", good}},
		{2, []string{"lint", "--min-coverage=cfi:1", write("func", head+"FUNC 10 10 0 f\n")}},
		{0, []string{"diff", good, good}},
		{2, []string{"diff", good, write("public", head+"PUBLIC 10 0 f\n")}},
		{1, []string{"diff", good, empty}},
		{1, []string{good, good}},
		{1, []string{filepath.Join(dir, "missing"), good}},
		{80, nil},
		{80, []string{"nosuch"}},
		{80, []string{"lint", "--nosuch", good}},
		{80, []string{"lint", "--require=nosuch", good}},
	} {
		if code := run(t.Context(), test.args, io.Discard, io.Discard); code != test.code {
			t.Errorf("symcheck %v: exit code %d, want %d", test.args, code, test.code)
		}
	}
}
