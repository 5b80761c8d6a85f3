package source

import (
	"bytes"
	"crypto/md5"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/lookup"
)

// embedded is an object of clang 22 with -gembed-source; testdata/README.md says how it was made.
const embedded = "../../testdata/sources/embedded.o"

// embeddedRust is an object of rustc with -Zembed-source, which has the empty string for the text of the library's files.
const embeddedRust = "../../testdata/sources/embedded-rust.o"

// TestEmbeddedRust: the library's files have no text.
func TestEmbeddedRust(t *testing.T) {
	f, err := lookup.Open(t.Context(), embeddedRust, lookup.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := os.ReadFile("../../testdata/sources/embedded.rs")
	if err != nil {
		t.Fatal(err)
	}
	with, without := 0, 0
	for s, err := range f.Sources(nil) {
		switch {
		case err != nil:
			t.Error(err)
		case s.Text == nil:
			without++
		case s.Path != "/symkit/embedded.rs" || !bytes.Equal(s.Text, text):
			t.Errorf("%s: %q", s.Path, s.Text)
		default:
			with++
		}
	}
	if with != 1 || without < 3 {
		t.Errorf("%d files with a text, %d without", with, without)
	}
}

// TestEmbedded: the text in a line table, and its digest.
func TestEmbedded(t *testing.T) {
	f, err := lookup.Open(t.Context(), embedded, lookup.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want, err := os.ReadFile("../../testdata/sources/embedded.c")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for s, err := range f.Sources(nil) {
		sum := md5.Sum(want)
		if err != nil || s.Path != "/symkit/embedded.c" || !bytes.Equal(s.Text, want) || !bytes.Equal(s.MD5, sum[:]) {
			t.Errorf("%v, %+v", err, s)
		}
		n++
	}
	if n != 1 {
		t.Errorf("%d files", n)
	}
	for range f.Sources(func(string) bool { return false }) {
		t.Error("a file that is not wanted")
	}
}

// TestFind: embedded text comes first, then a bundle, then directories, whose files must have the digest of the table.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666))
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("src/symkit/embedded.c", "other text\n")
	write("src/deep/app.c", "int main;\n")
	finder, err := NewFinder(ParseDirs([]string{filepath.Join(dir, "src"), "/build=" + filepath.Join(dir, "src", "deep")}), lookup.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer finder.Close()
	paths := []string{"/symkit/embedded.c", "/far/away/deep/app.c", "/build/app.c", "/build/none.c"}
	found := finder.Find(t.Context(), nil, []string{embedded}, paths)
	if len(found) != 3 || !strings.Contains(string(found[paths[0]].Text), "int embedded(") || string(found[paths[1]].Text) != "int main;\n" || string(found[paths[2]].Text) != "int main;\n" {
		t.Errorf("%+v", found)
	}
	if !IsOther([]byte("x"), [][]byte{make([]byte, 16)}) || IsOther([]byte("x"), nil) {
		t.Error("digests")
	}

	// A bundle beside a symbol file of a store.
	var b bytes.Buffer
	bundle, err := NewBundle(&b, BundleModule{DebugID: "842AEB986562D8186B63207FD954CCE41", Name: "app", Arch: "x86_64"})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"/build/app.c": "bundled\n", `C:\build\app.c`: "windows\n", "/build/binary": "\x00", "../../up.c": "up\n"} {
		err = errors.Join(err, bundle.Add(name, []byte(text)), bundle.Add(name, []byte("second")))
	}
	if err = errors.Join(err, bundle.Close()); err != nil || bundle.Len() != 3 {
		t.Fatal(err, bundle.Len())
	}
	if !bytes.HasPrefix(b.Bytes(), []byte("SYSB\x02\x00\x00\x00PK")) || !bytes.Contains(b.Bytes(), []byte("files/up.c")) || bytes.Contains(b.Bytes(), []byte("files/..")) {
		t.Error("the bundle is not as Sentry has them")
	}
	sym := write("store/app/ID/app.sym.gz", "")
	write("store/app/ID/app.src.zip", b.String())
	found = finder.Find(t.Context(), nil, []string{sym}, []string{"/build/app.c", `C:\build\app.c`, "../../up.c"})
	if string(found["/build/app.c"].Text) != "bundled\n" || string(found[`C:\build\app.c`].Text) != "windows\n" || string(found["../../up.c"].Text) != "up\n" {
		t.Errorf("%+v", found)
	}
	if id := debugID("842AEB986562D8186B63207FD954CCE41"); id != "842aeb98-6562-d818-6b63-207fd954cce4-1" {
		t.Error(id)
	}
}

// TestDirs: no path leads out of a directory.
func TestDirs(t *testing.T) {
	base := t.TempDir()
	err := errors.Join(os.Mkdir(filepath.Join(base, "src"), 0o777), os.WriteFile(filepath.Join(base, "secret"), nil, 0o666))
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := Open([]Dir{{Prefix: "/src", Dir: filepath.Join(base, "src")}})
	if err != nil {
		t.Fatal(err)
	}
	defer dirs.Close()
	for path, want := range map[string]error{"/src/../secret": fs.ErrNotExist, "/srcs/a": ErrNone, "/src": ErrNone, "/src/": nil, "/else": ErrNone} {
		text, err := dirs.Text(path)
		if err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %q, %v", path, text, err)
		}
	}
	_, err = Open([]Dir{{Dir: filepath.Join(base, "none")}})
	if err == nil {
		t.Error("a directory that does not exist was opened")
	}
}

func TestExcerpt(t *testing.T) {
	text := []byte("1\n2\r\n3\n\u202e4\n" + strings.Repeat("x", 500))
	for _, test := range []struct {
		line uint32
		want string
	}{{1, "1:1 2:2"}, {2, "1:1 2:2 3:3"}, {4, `3:3 4:\u{202e}4 5:` + strings.Repeat("x", 400) + "…"}, {6, ""}, {math.MaxUint32, ""}} {
		var got []string
		for _, l := range around(text, test.line, 1, 1) {
			got = append(got, string(rune('0'+l.Number))+":"+l.Text)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%d: %q", test.line, got)
		}
	}
	none := Found{Text: text}.Excerpt(0)
	if none != nil {
		t.Errorf("line 0: %v", none)
	}
	for want, f := range map[string]Found{"does not have this line": {Text: text[:2]}, "another MD5": {Text: text, Other: true}, "cannot be read: no": {Err: errors.New("no")}, "": {Text: text}} {
		x := f.Excerpt(4)
		if !strings.Contains(x.Note, want) || (x.Note == "") != (want == "") {
			t.Errorf("%q, want %q", x.Note, want)
		}
	}
}

// FuzzBundle: a damaged bundle gives no text that is too large, and none that was not asked for.
func FuzzBundle(f *testing.F) {
	var b bytes.Buffer
	bundle, err := NewBundle(&b, BundleModule{DebugID: "1", Name: "app"})
	if err = errors.Join(err, bundle.Add("/a.c", []byte("text\n")), bundle.Close()); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		texts, _ := readBundle(bytes.NewReader(data), int64(len(data)), func(path string) bool { return path == "/a.c" })
		for path, text := range texts {
			if path != "/a.c" || len(text) > MaxText {
				t.Errorf("%q: %d bytes", path, len(text))
			}
		}
	})
}

// FuzzExcerpt: lines are those of the text.
func FuzzExcerpt(f *testing.F) {
	f.Add([]byte("a\nb\r\nc"), uint32(2))
	f.Fuzz(func(t *testing.T, text []byte, line uint32) {
		lines := around(text, line, before, after)
		if len(lines) > 10 || len(lines) > bytes.Count(text, []byte("\n"))+1 {
			t.Errorf("%d lines", len(lines))
		}
		for _, l := range lines {
			if strings.ContainsAny(l.Text, "\n\x00\u202e") {
				t.Errorf("%q", l.Text)
			}
		}
	})
}
