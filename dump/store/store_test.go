package store

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	id     = "2A54ED33E19F4228D156B68A8DDEC66A0"
	codeID = "33ED542A9FE12842D156B68A8DDEC66A0504D98D"
)

// mozilla.md §5: where symbol servers look.
func TestPaths(t *testing.T) {
	lib := Module{Names: []string{"libz.so.1", "libz.so.1.2.13", "libz.so.1"}, ID: id, BuildID: codeID}
	plain := Module{Names: []string{"app.pdb"}, ID: id}
	for _, test := range []struct {
		layout Layout
		m      Module
		kind   Kind
		want   []string
		err    error
	}{
		{Breakpad, lib, Symbols, []string{"libz.so.1/" + id + "/libz.so.1.sym", "libz.so.1.2.13/" + id + "/libz.so.1.2.13.sym"}, nil},
		{Breakpad, plain, Symbols, []string{"app.pdb/" + id + "/app.sym"}, nil},
		{Breakpad, plain, GSYM, []string{"app.pdb/" + id + "/app.gsym"}, nil},
		{Unified, plain, GSYM, []string{"2a/54ed33e19f4228d156b68a8ddec66a0/gsym"}, nil},
		{GDB, lib, GSYM, []string{"33/ed542a9fe12842d156b68a8ddec66a0504d98d.gsym"}, nil},
		{Breakpad, lib, Executable, nil, errNoPlace},
		{Breakpad, lib, DebugInfo, nil, errNoPlace},
		{Unified, lib, Symbols, []string{"33/ed542a9fe12842d156b68a8ddec66a0504d98d/breakpad"}, nil},
		{Unified, lib, Executable, []string{"33/ed542a9fe12842d156b68a8ddec66a0504d98d/executable"}, nil},
		{Unified, lib, DebugInfo, []string{"33/ed542a9fe12842d156b68a8ddec66a0504d98d/debuginfo"}, nil},
		{Unified, plain, Symbols, []string{"2a/54ed33e19f4228d156b68a8ddec66a0/breakpad"}, nil},
		{GDB, lib, Symbols, []string{"33/ed542a9fe12842d156b68a8ddec66a0504d98d.sym"}, nil},
		{GDB, lib, Executable, []string{"33/ed542a9fe12842d156b68a8ddec66a0504d98d"}, nil},
		{GDB, lib, DebugInfo, []string{"33/ed542a9fe12842d156b68a8ddec66a0504d98d.debug"}, nil},
		{GDB, plain, Symbols, nil, errNoBuildID},
		{Unified, Module{ID: id, BuildID: "AB"}, Symbols, nil, errNoBuildID},
		{Breakpad, Module{Names: []string{strings.Repeat("x", 248)}, ID: id}, Symbols, nil, errNameTooLong},
	} {
		got, err := test.layout.paths(test.m, test.kind)
		if diff := cmp.Diff(test.want, got); diff != "" || !errors.Is(err, test.err) {
			t.Errorf("%v %v of %v: %v\n%s", test.layout, test.kind, test.m, err, diff)
		}
	}
}

func TestFileName(t *testing.T) {
	for name, want := range map[string]string{
		"libz.so.1": "libz.so.1", "/usr/lib/libz.so": "libz.so", `C:\bin\app`: "app", "../../etc/passwd": "passwd",
		"": "_", ".": "_", "..": "_", "a/..": "_", "a/": "_", ".hidden": ".hidden", "...": "___", "CON": "CON_", "a:b": "a_b", "lib.so.": "lib.so_",
		"two words": "two words", "tab\there": "tab_here", "nl\n": "nl_", "nul\x00x": "nul_x", "bad\xffutf": "bad_utf",
		"straße": "straße", "c1\u0085x": "c1_x", "\ufffd": "\ufffd",
	} {
		if got := fileName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// No name may lead out of a store, or break a line of its manifest.
func FuzzFileName(f *testing.F) {
	for _, name := range []string{"libz.so", "..", "/", "a/../b", "x\x00", "\xff", "é/\u2028"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got := fileName(name)
		if !filepath.IsLocal(got) || got == "." || strings.ContainsAny(got, "/\\\x00\n\r") || fileName(got) != got {
			t.Errorf("%q: %q", name, got)
		}
	})
}

func open(t *testing.T, dir string, opt Options) *Store {
	t.Helper()
	s, err := Open(dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// put puts text into s as the symbols of a module of this name.
func put(t *testing.T, s *Store, name, text string) (Size, error) {
	t.Helper()
	paths, err := s.Paths(Module{Names: []string{name}, ID: id, BuildID: codeID}, Symbols)
	if err != nil {
		t.Fatal(err)
	}
	return s.Put(paths, Symbols, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// TestExisted: the second writer of a file has not written it, unless it replaces the file.
func TestExisted(t *testing.T) {
	dir := t.TempDir()
	for i, test := range []struct {
		replace, existed bool
	}{{false, false}, {false, true}, {true, false}} {
		size, err := put(t, open(t, dir, Options{Replace: test.replace}), "a", "text")
		if size.Existed != test.existed || err != nil {
			t.Errorf("%d: %v, %v", i, size, err)
		}
	}
}

func TestCompression(t *testing.T) {
	text := strings.Repeat("FUNC 1000 10 0 main\n", 1000)
	for c, name := range map[Compression]string{None: "a.sym", Gzip: "a.sym.gz", Zstd: "a.sym.zst"} {
		var packed [2][]byte
		for i := range packed {
			s := open(t, t.TempDir(), Options{Compression: c})
			size, err := put(t, s, "a", text)
			if err != nil {
				t.Fatal(err)
			}
			path := s.Path("a/" + id + "/" + name)
			if packed[i], err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
			if want := (Size{Text: int64(len(text)), Stored: int64(len(packed[i]))}); size != want {
				t.Errorf("%s: size %v, want %v", name, size, want)
			}
		}
		if got := unpack(t, c, packed[0]); got != text || !bytes.Equal(packed[0], packed[1]) {
			t.Errorf("%s: %d bytes unpacked, want %d; equal %v", name, len(got), len(text), bytes.Equal(packed[0], packed[1]))
		}
	}
}

func unpack(t *testing.T, c Compression, data []byte) string {
	t.Helper()
	var r io.Reader = bytes.NewReader(data)
	var err error
	switch c {
	case Gzip:
		r, err = gzip.NewReader(r)
	case Zstd:
		r, err = zstd.NewReader(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestHas(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	if _, err := put(t, s, "a", "first"); err != nil {
		t.Fatal(err)
	}
	a := "a/" + id + "/a.sym"
	has := func(s *Store, paths ...string) bool {
		t.Helper()
		is, err := s.Has(paths)
		if err != nil {
			t.Error(err)
		}
		return is
	}
	if !has(s, a) || has(s, a, "b/"+id+"/b.sym") || has(s, "a/"+id) {
		t.Error("a file that is there was not found, or one that is not there was")
	}
	if has(open(t, dir, Options{Replace: true}), a) {
		t.Error("a file that is to be replaced counts as there")
	}
}

// Names of libraries are input.
func TestEscape(t *testing.T) {
	base := t.TempDir()
	s := open(t, filepath.Join(base, "store"), Options{})
	for _, name := range []string{"../evil", "/evil", "..", "a/../../evil", `..\evil`, "\x00"} {
		if _, err := put(t, s, name, "x"); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	outside := t.TempDir()
	if err := os.Symlink(outside, s.Path("linked")); err != nil {
		t.Fatal(err)
	}
	if _, err := put(t, s, "linked", "x"); err == nil || !strings.Contains(err.Error(), "escapes") {
		t.Errorf("a directory that is a link to elsewhere: %v", err)
	}
	for dir, want := range map[string][]string{base: {"store"}, outside: nil} {
		entries, err := os.ReadDir(dir)
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if err != nil || !slices.Equal(names, want) {
			t.Errorf("%s holds %v, %v", dir, names, err)
		}
	}
}

func TestErrors(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	paths := []string{"a/b.sym"}
	fail := func(err error) error {
		_, err = s.Put(paths, Symbols, func(io.Writer) error { return err })
		return err
	}
	broken := errors.New("broken")
	if err := fail(broken); !errors.Is(err, broken) || errors.Is(err, ErrStore) {
		t.Errorf("a failing writer: %v", err)
	}
	if err := fail(&os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}); !errors.Is(err, ErrStore) {
		t.Errorf("a full disk: %v", err)
	}
	if entries, err := os.ReadDir(s.Path("")); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if _, err := Open(filepath.Join(os.DevNull, "x"), Options{}); err == nil {
		t.Error("a store below a device")
	}
}
