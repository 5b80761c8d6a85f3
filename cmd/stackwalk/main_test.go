package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"symkit/internal/testfile"
)

var update = flag.Bool("update", false, "rewrite what the scripts compare with")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"stackwalk": main})
}

// TestScripts runs the scripts of testdata/script. Their command `fixture NAME
// [AS]` puts a file of the repository's testdata/elf into the script's
// directory, unpacked; `cut FROM TO COUNT` copies the first bytes of a file.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fixture": func(ts *testscript.TestScript, _ bool, args []string) {
				data, err := fixture(args[0])
				ts.Check(err)
				ts.Check(os.WriteFile(ts.MkAbs(args[len(args)-1]), data, 0o755))
			},
			"cut": func(ts *testscript.TestScript, _ bool, args []string) { // FROM TO, half of it
				data := ts.ReadFile(args[0])
				ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(data[:len(data)/2]), 0o644))
			},
		},
	})
}

// fixture returns a file of testdata/elf.
func fixture(name string) ([]byte, error) {
	return testfile.Read(filepath.Join(repository, "testdata", "elf", name))
}

// repository is the root of the checkout; scripts change the directory.
var repository = func() string {
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		panic(err)
	}
	return dir
}()
