package storecheck

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"symkit/elfx"
	"symkit/elfx/identity"
	"symkit/internal/storefiles"
	"symkit/test/testfile"
)

// files are the contents of a store, by path.
type files map[string]string

// write writes the files below a directory.
func (f files) write(t *testing.T, dir string) string {
	t.Helper()
	for path, text := range f {
		path = filepath.Join(dir, filepath.FromSlash(path))
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666))
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// symOf returns a symbol file without faults.
func symOf(name, id string) string {
	return "MODULE Linux x86_64 " + id + " " + name + "\nFUNC 1000 10 0 main\n"
}

// zipped and zstded return packed text.
func zipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, text)
	if err != nil || z.Close() != nil {
		panic(err)
	}
	return b.String()
}

func zstded(text string) string {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return string(z.EncodeAll([]byte(text), nil))
}

// outcomes returns what was found, one line for each file.
func outcomes(t *testing.T, at string, opt Options) (lines []string, err error) {
	t.Helper()
	for r, err := range Check(t.Context(), at, opt) {
		if err != nil {
			return lines, err
		}
		var line strings.Builder
		line.WriteString(strings.TrimPrefix(filepath.ToSlash(r.File), filepath.ToSlash(at)+"/"))
		switch {
		case r.Err != nil:
			line.WriteString(": error: " + r.Err.Error())
		case len(r.Report.Findings) > 0:
			f := r.Report.Findings[0]
			line.WriteString(fmt.Sprintf(": %s [%s]", f.What, f.Check))
		case r.Bad():
			line.WriteString(": bad")
		}
		if r.Against != "" {
			line.WriteString(", compared with " + filepath.Base(r.Against))
		}
		for _, w := range r.Warnings {
			line.WriteString(", warning: " + strings.ReplaceAll(filepath.ToSlash(w), filepath.ToSlash(at)+"/", ""))
		}
		lines = append(lines, line.String())
	}
	return lines, nil
}

const (
	idA = "0123456789ABCDEF0123456789ABCDEF0"
	idB = "FEDCBA9876543210FEDCBA98765432100"
)

// TestCheck: each file of a store has its own outcome, whatever is beside it.
func TestCheck(t *testing.T) {
	good := symOf("a", idA)
	at := files{
		"a/" + idA + "/a.sym":                        good,
		"b/" + idA + "/b.sym":                        "MODULE Linux x86_64 " + idA + " b\nFUNC 1000 10 0 f\nFUNC 1008 10 0 g\n",
		"bomb/" + idA + "/bomb.sym.gz":               zipped(strings.Repeat("\n", 80<<20)),
		"c.so/" + idA + "/c.so.sym.gz":               zipped(symOf("c.so", idA)),
		"cut/" + idA + "/cut.sym.gz":                 zipped(strings.Repeat(good, 1000))[:60],
		"d.so/" + idA + "/d.so.sym.zst":              zstded(symOf("d.so", idA)),
		"elf/" + idA + "/elf.sym":                    "\x7fELF\x02\x01\x01",
		"empty/" + idA + "/empty.sym":                "",
		"id/" + idA + "/id.sym":                      symOf("id", idB),
		"link/" + idA + "/link.sym":                  good, // a is there under its own name
		"name/" + idA + "/name.sym":                  symOf("other", idA),
		"readme.txt":                                 "no symbol file",
		".symkit/uploads/x.sym":                      "not complete",
		"loose.sym":                                  symOf("anything", idB),
		"x.pdb/" + idA + "/x.sym":                    symOf("x.pdb", idA),
		"01/23456789abcdef0123456789abcdef/breakpad": good,
		"99/88776655443322110099887766554433.sym":    good,
		"01/23456789abcdef0123456789abcdef.sym.gz":   zipped(good),
	}.write(t, t.TempDir())
	outside := filepath.Join(t.TempDir(), "outside.sym")
	err := errors.Join(os.WriteFile(outside, []byte(good), 0o666),
		os.Symlink(outside, filepath.Join(at, "outside.sym")), os.Symlink("loose.sym", filepath.Join(at, "inside.sym")))
	if err != nil {
		t.Fatal(err)
	}

	got, err := outcomes(t, at, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"01/23456789abcdef0123456789abcdef.sym.gz",
		"01/23456789abcdef0123456789abcdef/breakpad",
		"99/88776655443322110099887766554433.sym: the store has the file under the id 9988776655443322110099887766554433 [module]",
		"a/" + idA + "/a.sym",
		"b/" + idA + "/b.sym: begins inside the FUNC of line 2, [0x1000, 0x1010) [overlaps]",
		"bomb/" + idA + "/bomb.sym.gz: error: unpacked-symbols above the limit of 69615616: bytes of an unpacked symbol file and its index, by its packed size (SYMKIT_LIMITS=unpacked-symbols=N changes it)",
		"c.so/" + idA + "/c.so.sym.gz",
		"cut/" + idA + "/cut.sym.gz: error: unexpected EOF",
		"d.so/" + idA + "/d.so.sym.zst",
		"elf/" + idA + "/elf.sym: error: not a symbol file: it is the start of an ELF file",
		"empty/" + idA + "/empty.sym: error: the file is empty",
		"id/" + idA + "/id.sym: the store has the file under the id " + strings.ToLower(idA) + " [module]",
		"inside.sym",
		"link/" + idA + "/link.sym",
		"loose.sym",
		"name/" + idA + "/name.sym: the store has the file under the name name alone [module]",
		"x.pdb/" + idA + "/x.sym",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestELF: symbol files are compared with the ELF files of the store, packed or not, and with those that are given.
func TestELF(t *testing.T) {
	const name = "cxx-x86_64-gcc12-O2-dw5.elf"
	program, err := testfile.Read("../../testdata/elf/" + name)
	sym, symErr := testfile.Read("../testdata/own/" + name + ".sym")
	if err != nil || symErr != nil {
		t.Fatal(err, symErr)
	}
	f, err := elfx.Open("../../testdata/elf/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	id := identity.ModuleID(f.BuildID(), f.BigEndian)
	build := fmt.Sprintf("%x", f.BuildID())
	wrong := bytes.Replace(sym, []byte("FUNC "), []byte("FUNC m "), 1)
	wrong = bytes.Replace(wrong, []byte("INFO GENERATOR symkit"), []byte("INFO GENERATOR none"), 1)
	place := name + "/" + id + "/" + name + ".sym"
	unified := build[:2] + "/" + build[2:] + "/"

	for what, test := range map[string]struct {
		files files
		opt   Options
		want  []string
	}{
		"beside it":    {files: files{unified + "breakpad": string(sym), unified + "executable": string(program)}, want: []string{unified + "breakpad, compared with executable"}},
		"packed":       {files: files{unified + "breakpad": zstded(string(sym)), unified + "executable": zstded(string(program))}, want: []string{unified + "breakpad, compared with executable"}},
		"gdb's":        {files: files{place: string(sym), unified[:len(unified)-1]: string(program)}, want: []string{place + ", compared with " + build[2:]}},
		"debuginfod's": {files: files{place: string(sym), "buildid/" + build + "/executable": string(program)}, want: []string{place + ", compared with executable"}},
		"given":        {files: files{place + ".gz": zipped(string(sym))}, opt: Options{Files: []string{"../../testdata/elf/" + name}}, want: []string{place + ".gz, compared with " + name}},
		"of another build": {files: files{unified + "breakpad": string(sym), unified + "executable": string(program[:64])},
			want: []string{unified + "breakpad, warning: " + unified + "breakpad: not compared with " + unified + "executable: "}},
		"none at hand": {files: files{place: string(sym)}, want: []string{place}},
		"wrong":        {files: files{place: string(wrong)}, opt: Options{Files: []string{"../../testdata/elf/" + name}}, want: []string{place + ": "}},
	} {
		at := test.files.write(t, t.TempDir())
		got, err := outcomes(t, at, test.opt)
		if err != nil || len(got) != len(test.want) {
			t.Errorf("%s: %q, %v", what, got, err)
			continue
		}
		for i := range got {
			if got[i] != test.want[i] && !(strings.HasSuffix(test.want[i], ": ") && strings.HasPrefix(got[i], test.want[i])) {
				t.Errorf("%s: %q, want %q", what, got[i], test.want[i])
			}
		}
	}
}

// TestMany: ten thousand modules, in order with any number of goroutines; a caller can stop, and so can a context.
func TestMany(t *testing.T) {
	count := 10_000
	if testing.Short() {
		count = 1000
	}
	at := t.TempDir()
	for i := range count {
		name := fmt.Sprintf("lib%05d.so", i)
		body := symOf(name, idA)
		if i%100 == 7 {
			body += "FUNC 1008 10 0 g\n"
		}
		files{name + "/" + idA + "/" + name + ".sym": body}.write(t, at)
	}
	n, bad := 0, 0
	opt := Options{Memory: 1 << 20} // less than two files need
	opt.Jobs = 7
	for r, err := range Check(t.Context(), at, opt) {
		if err != nil || !strings.HasSuffix(r.File, fmt.Sprintf("lib%05d.so.sym", n)) {
			t.Fatalf("%d: %s, %v", n, r.File, err)
		}
		n++
		if r.Bad() {
			bad++
		}
	}
	if n != count || bad != count/100 {
		t.Errorf("%d files, %d bad", n, bad)
	}

	ctx, end := context.WithCancelCause(t.Context())
	defer end(nil)
	ended := errors.New("ended")
	n = 0
	for _, err := range Check(ctx, at, Options{}) {
		n++
		if n == 50 {
			end(ended)
		}
		if err != nil && (err != ended || n < 50) {
			t.Errorf("%d: %v", n, err)
		}
	}
	if n < 50 || n > 200 {
		t.Errorf("%d files after the end", n)
	}
	for range Check(t.Context(), at, Options{}) {
		break
	}
}

// TestServer: the files of a server, which a list names; one that is missing costs itself.
func TestServer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/a b/" + idA + "/a b.sym":
			fmt.Fprint(w, symOf("a b", idA))
		case "/z/" + idA + "/z.sym":
			w.Header().Set("Content-Encoding", "gzip")
			fmt.Fprint(w, zipped(symOf("z", idA)))
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	paths, err := Modules([]byte("a b " + idA + "\nnone/" + idA + "\nMODULE Linux x86_64 " + idA + " z\n"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := outcomes(t, server.URL, Options{Paths: paths})
	want := []string{"a b/" + idA + "/a b.sym", "none/" + idA + "/none.sym: error: the server answered 404 Not Found", "z/" + idA + "/z.sym"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	_, err = outcomes(t, server.URL, Options{})
	if !errors.Is(err, ErrList) {
		t.Error(err)
	}
	_, err = outcomes(t, filepath.Join(t.TempDir(), "none"), Options{})
	if !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestModules: each form of a line, and lines that name no module.
func TestModules(t *testing.T) {
	path := "a.so/" + idA + "/a.so.sym"
	for list, want := range map[string][]string{
		"":                                    nil,
		"# modules\n\na.so " + idA + "\n":     {path},
		"a.so/" + idA + "\r\n" + path + "\n":  {path},
		path + ".gz":                          {path + ".gz"},
		"ab/cdef/breakpad\nab/cdef.sym\n":     {"ab/cdef/breakpad", "ab/cdef.sym"},
		"MODULE Linux x86_64 " + idA + " a b": {"a b/" + idA + "/a b.sym"},
		"x.pdb " + idA:                        {"x.pdb/" + idA + "/x.sym"},
		"../../etc/x " + idA:                  {"x/" + idA + "/x.sym"},
		`{"name":"a.so","id":"` + idA + `"}`:  {path},
		`{"name":"a.so","id":"` + idA + `","outputs":["` + path + `.gz","a.so/` + idA + `/a.so.gsym"]}` + "\n": {path + ".gz"},
		`{"input":"x","status":"skipped"}`: nil,
	} {
		got, err := Modules([]byte(list))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", list, got, err)
		}
	}
	for _, list := range []string{"a.so", "a.so x\n", "{}x", "a/../../b.sym", "/etc/b.sym", "MODULE Linux x86_64 " + idA, " / "} {
		got, err := Modules([]byte("# first\n" + list))
		if err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
			t.Errorf("%q: %q, %v", list, got, err)
		}
	}
}

// FuzzModules: no list names a file outside of a store, or one file twice.
func FuzzModules(f *testing.F) {
	f.Add("a.so " + idA + "\n../b/" + idA + "\n")
	f.Add(`{"name":"../a","id":"` + idA + `","outputs":["../x.sym"]}`)
	f.Add("MODULE Linux x86_64 " + idA + " a/../b\n")
	f.Fuzz(func(t *testing.T, list string) {
		paths, err := Modules([]byte(list))
		if err != nil && paths != nil {
			t.Fatalf("%q and %v", paths, err)
		}
		for i, path := range paths {
			if storefiles.Climbs(path) || storefiles.PlaceOf(path).Kind != storefiles.Symbols || slices.Contains(paths[:i], path) {
				t.Fatalf("%q", path)
			}
		}
	})
}
