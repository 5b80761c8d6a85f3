package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"symkit/elfx"
	"symkit/internal/command"
	"symkit/test/pkgtest"
	"symkit/test/programtest"
	"symkit/test/testfile"
	"symkit/test/uploadtest"
)

// pack returns a package, or the files of a layout.
func pack(format string, files []pkgtest.File) (packed []byte, layout []pkgtest.File) {
	format, how, _ := strings.Cut(format, ".")
	switch format {
	case "deb":
		return pkgtest.Deb(how, files...), nil
	case "rpm":
		return pkgtest.RPM(how, false, files...), nil
	case "apk":
		return pkgtest.Apk(files...), nil
	case "arch":
		return pkgtest.Arch(files...), nil
	case "oci":
		return nil, pkgtest.Layout(how, pkgtest.Tar(files...))
	case "file":
		return pkgtest.Compress(how, files[0].Data), nil
	case "image":
		return pkgtest.Tar(pkgtest.Layout(how, pkgtest.Tar(files...))...), nil
	}
	return pkgtest.Compress(how, pkgtest.Tar(files...)), nil
}

var update = flag.Bool("update", false, "rewrite what the scripts compare with")

// programs are the commands that tests can run as processes.
var programs = map[string]func(){"dump_syms": main}

// tested is the program for the tests of package programtest.
var tested = programtest.Program{Name: "dump_syms", Run: run}

func TestMain(m *testing.M) { testscript.Main(m, programs) }

// TestScripts runs the scripts of testdata/script. Their command `fixture NAME
// [AS]` puts a file of the repository's testdata/elf into the script's
// directory, unpacked.
func TestScripts(t *testing.T) {
	var servers sync.Map // by the working directory of the script
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
				path := ts.MkAbs(args[len(args)-1])
				ts.Check(os.MkdirAll(filepath.Dir(path), 0o777))
				ts.Check(os.WriteFile(path, data, 0o755))
			},
			// install FILE DIR PROGRAM: FILE is where the debug file of PROGRAM
			// should be in a build-id directory.
			"install": func(ts *testscript.TestScript, _ bool, args []string) {
				f, err := elfx.Open(ts.MkAbs(args[2]))
				ts.Check(err)
				id := hex.EncodeToString(f.BuildID())
				ts.Check(f.Close())
				dir := filepath.Join(ts.MkAbs(args[1]), id[:2])
				ts.Check(os.MkdirAll(dir, 0o755))
				ts.Check(os.WriteFile(filepath.Join(dir, id[2:]+".debug"), []byte(ts.ReadFile(args[0])), 0o644))
			},
			// same FILE FILE: equal but for the code id, which no flag sets.
			"same": func(ts *testscript.TestScript, _ bool, args []string) {
				a, b := ts.ReadFile(args[0]), ts.ReadFile(args[1])
				if codeID.ReplaceAllString(a, "") != codeID.ReplaceAllString(b, "") {
					ts.Fatalf("%s and %s differ:\n%s", args[0], args[1], cmp.Diff(a, b))
				}
			},
			// pack FORMAT OUT FILE AS...: makes a package, or the directory of an OCI image
			// layout.
			"pack": func(ts *testscript.TestScript, _ bool, args []string) {
				var files []pkgtest.File
				for pair := range slices.Chunk(args[2:], 2) {
					files = append(files, pkgtest.File{Name: pair[1], Data: []byte(ts.ReadFile(pair[0]))})
				}
				packed, layout := pack(args[0], files)
				for _, f := range layout {
					path := filepath.Join(ts.MkAbs(args[1]), f.Name)
					ts.Check(os.MkdirAll(filepath.Dir(path), 0o777))
					ts.Check(os.WriteFile(path, f.Data, 0o666))
				}
				if layout == nil {
					ts.Check(os.WriteFile(ts.MkAbs(args[1]), packed, 0o666))
				}
			},
			// zip ARCHIVE FILE AS...: makes a zip file.
			"zip": func(ts *testscript.TestScript, _ bool, args []string) {
				var out bytes.Buffer
				z := zip.NewWriter(&out)
				for pair := range slices.Chunk(args[1:], 2) {
					w, err := z.Create(pair[1])
					ts.Check(err)
					_, err = io.WriteString(w, ts.ReadFile(pair[0]))
					ts.Check(err)
				}
				ts.Check(z.Close())
				ts.Check(os.WriteFile(ts.MkAbs(args[0]), out.Bytes(), 0o666))
			},
			// server [old|refusing NAME]: starts a symbol server, whose address is in $SERVER.
			"server": func(ts *testscript.TestScript, _ bool, args []string) {
				opt := uploadtest.Options{Token: "sesamtoken", Old: slices.Contains(args, "old")}
				opt.Refuse = func(key string, _ []byte) string {
					if len(args) == 2 && strings.HasPrefix(key, args[1]) {
						return "it is too\x1b[31m old"
					}
					return ""
				}
				s := uploadtest.New(t, opt)
				servers.Store(ts.MkAbs("."), s)
				ts.Setenv("SERVER", s.URL)
			},
			// uploaded [DIR]: lists the files on the server, or compares them with those below DIR.
			"uploaded": func(ts *testscript.TestScript, _ bool, args []string) {
				s, _ := servers.Load(ts.MkAbs("."))
				got := map[string]string{}
				for name, data := range s.(*uploadtest.Server).Files() {
					got[name] = string(data)
				}
				if len(args) > 0 {
					diff := cmp.Diff(files(ts, args[0]), got)
					if diff != "" {
						ts.Fatalf("%s: %s", args[0], diff)
					}
					return
				}
				for _, name := range slices.Sorted(maps.Keys(got)) {
					fmt.Fprintln(ts.Stdout(), name)
				}
			},
			// pad FILE: appends a byte.
			"pad": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(ts.ReadFile(args[0])+"\x00"), 0o666))
			},
			// truncate FILE AS: copies the first half.
			"truncate": func(ts *testscript.TestScript, _ bool, args []string) {
				data := ts.ReadFile(args[0])
				ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(data[:len(data)/2]), 0o666))
			},
			// tree DIR: lists the files below it.
			"tree": func(ts *testscript.TestScript, _ bool, args []string) {
				for _, path := range slices.Sorted(maps.Keys(files(ts, args[0]))) {
					fmt.Fprintln(ts.Stdout(), path)
				}
			},
			// sametree DIR DIR: have the same files.
			"sametree": func(ts *testscript.TestScript, neg bool, args []string) {
				diff := cmp.Diff(files(ts, args[0]), files(ts, args[1]))
				if neg != (diff != "") {
					ts.Fatalf("%s and %s: %s", args[0], args[1], diff)
				}
			},
		},
	})
}

// files is what is in the files below dir, by path.
func files(ts *testscript.TestScript, dir string) map[string]string {
	contents, err := readTree(ts.MkAbs(dir))
	ts.Check(err)
	return contents
}

func readTree(dir string) (map[string]string, error) {
	contents := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		contents[filepath.ToSlash(strings.TrimPrefix(path, dir+string(filepath.Separator)))] = string(data)
		return err
	})
	return contents, err
}

var codeID = regexp.MustCompile(`(?m)^INFO CODE_ID .*\n`)

// fixture returns a file of testdata/elf.
func fixture(name string) ([]byte, error) {
	dir := filepath.Join("..", "..", "testdata", "elf")
	if wd := os.Getenv("FIXTURES"); wd != "" {
		dir = wd
	}
	return testfile.Read(filepath.Join(dir, name))
}

// TestTruncatedHeaders cuts a program at every byte of its ELF, program and
// section headers.
func TestTruncatedHeaders(t *testing.T) {
	if testing.Short() {
		t.Skip("a minute of one goroutine under the race detector")
	}
	whole := programtest.Fixture(t, "cxx-x86_64-gcc12-O2-dw5.so")
	const programHeaders, sectionHeaders = 64 + 20*56, 64 * 64
	located := regexp.MustCompile(`^dump_syms: error: [^\n]*cut\.elf: [a-zA-Z .]+\+0x[0-9a-f]+: [^\n]+\n$`)
	path := filepath.Join(t.TempDir(), "cut.elf")
	programtest.Write(t, path, whole)
	for n := len(whole) - 1; n >= 0; n-- {
		if n > programHeaders && n < len(whole)-sectionHeaders {
			continue
		}
		err := os.Truncate(path, int64(n))
		if err != nil {
			t.Fatal(err)
		}

		var stdout, stderr bytes.Buffer
		code := run(context.Background(), []string{path}, &stdout, &stderr)
		if code != command.Failed || stdout.Len() > 0 || !located.Match(stderr.Bytes()) {
			t.Fatalf("cut at %d of %d: exit code %d, %d bytes on stdout, stderr %q",
				n, len(whole), code, stdout.Len(), stderr.String())
		}
	}
}

// TestNoCode: a module of data alone, as some of the kernel's are, is dumped. One
// with code and without symbols is not.
func TestNoCode(t *testing.T) {
	object := make([]byte, 64)
	copy(object, "\x7fELF\x02\x01\x01")
	object[16], object[18], object[20], object[52] = 1, 62, 1, 64 // ET_REL, EM_X86_64, EV_CURRENT, e_ehsize
	path := filepath.Join(t.TempDir(), "data.ko")
	programtest.Write(t, path, object)
	var stdout, stderr bytes.Buffer
	code := run(context.Background(), []string{"--id", "0", "--name", "data.ko", "--no-generator", path}, &stdout, &stderr)
	if want := "MODULE Linux x86_64 0 data.ko\n"; code != 0 || stdout.String() != want {
		t.Errorf("exit code %d, %q, want %q", code, stdout.String(), want)
	}
	if want := "dump_syms: warning: " + path + ": has no code: the symbol file has MODULE and INFO only\n"; stderr.String() != want {
		t.Errorf("%q, want %q", stderr.String(), want)
	}
}
