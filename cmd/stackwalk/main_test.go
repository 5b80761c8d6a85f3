package main

import (
	"encoding/hex"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"symkit/elfx"
	"symkit/test/programtest"
	"symkit/test/testfile"
)

var update = flag.Bool("update", false, "rewrite what the scripts compare with")

// tested is the program for the tests of package programtest.
var tested = programtest.Program{Name: "stackwalk", Run: run}

func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){"stackwalk": main, "minidump_stackwalk": main, "microdump_stackwalk": main, "minidump-stackwalk": main})
}

// shared is a directory of files that several tests read, "" until one of them makes it.
var shared string

type tests struct{ *testing.M }

// Run runs the tests, and removes what they shared.
func (t tests) Run() int {
	defer os.RemoveAll(shared)
	return t.M.Run()
}

// TestScripts runs the scripts of testdata/script. Their command `fixture NAME
// [AS]` puts a file of the repository's testdata/elf into the script's
// directory, unpacked; `minidump NAME AS` a minidump; `cut FROM TO` copies the first half of a file; `strip
// FROM TO` makes a program without sections; `serve KIND=FILE...` runs a
// debuginfod server.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("SYMKIT_MEM", os.Getenv("SYMKIT_MEM")) // see internal/mem
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fixture": func(ts *testscript.TestScript, _ bool, args []string) {
				data, err := fixture(args[0])
				ts.Check(err)
				ts.Check(os.WriteFile(ts.MkAbs(args[len(args)-1]), data, 0o755))
			},
			"minidump": func(ts *testscript.TestScript, _ bool, args []string) {
				data, err := os.ReadFile(filepath.Join(dumps, args[0]+".dmp"))
				ts.Check(err)
				ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o644))
			},
			"cut": func(ts *testscript.TestScript, _ bool, args []string) { // FROM TO, half of it
				data := ts.ReadFile(args[0])
				ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(data[:len(data)/2]), 0o644))
			},
			"strip": func(ts *testscript.TestScript, _ bool, args []string) {
				data := []byte(ts.ReadFile(args[0]))
				clear(data[0x28:0x30]) // e_shoff
				clear(data[0x3c:0x40]) // e_shnum, e_shstrndx
				ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o755))
			},
			"serve": serve,
		},
	})
}

// serve runs a debuginfod server for KIND=FILE pairs, and has the programs of
// the script ask it.
func serve(ts *testscript.TestScript, _ bool, args []string) {
	files := map[string][]byte{} // by the URL's path
	for _, arg := range args {
		kind, name, _ := strings.Cut(arg, "=")
		f, err := elfx.Open(ts.MkAbs(name))
		ts.Check(err)
		files["/buildid/"+hex.EncodeToString(f.BuildID())+"/"+kind] = []byte(ts.ReadFile(name))
		ts.Check(f.Close())
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if data := files[r.URL.Path]; data != nil {
			_, _ = w.Write(data)
		} else {
			http.NotFound(w, r)
		}
	}))
	ts.Defer(server.Close)
	ts.Setenv("DEBUGINFOD_URLS", server.URL)
	ts.Setenv("DEBUGINFOD_CACHE_PATH", ts.MkAbs("cache"))
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
