package sources

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"symkit/dump/store"
	"symkit/walk"
)

// TestStoreLayouts: every layout that dump_syms writes, packed or not.
func TestStoreLayouts(t *testing.T) {
	const text = "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 app\nINFO CODE_ID 67452301AB89EFCD\nFUNC 10 20 0 f\n"
	m := &walk.Module{Name: "app", Path: "/bin/app", DebugID: "0123456789ABCDEF0123456789ABCDEF0", BuildID: []byte("\x67\x45\x23\x01\xab\x89\xef\xcd")}
	plain := func(w io.Writer) io.WriteCloser { return nopCloser{w} }
	zipped := func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }
	zstded := func(w io.Writer) io.WriteCloser {
		z, err := zstd.NewWriter(w)
		if err != nil {
			t.Fatal(err)
		}
		return z
	}
	for _, test := range []struct {
		path string
		pack func(io.Writer) io.WriteCloser
	}{
		{"app/0123456789ABCDEF0123456789ABCDEF0/app.sym", plain},
		{"app/0123456789ABCDEF0123456789ABCDEF0/app.sym.gz", zipped},
		{"app/0123456789ABCDEF0123456789ABCDEF0/app.sym.zst", zstded},
		{"app/67452301AB89EFCD/app.sym", plain},
		{"67/452301ab89efcd/breakpad", plain},
		{"67/452301ab89efcd/breakpad", zipped},
		{"67/452301ab89efcd/breakpad", zstded},
		{"01/23456789abcdef0123456789abcdef0/breakpad", plain},
		{"67/452301ab89efcd.sym", plain},
		{"67/452301ab89efcd.sym.zst", zstded},
	} {
		var file bytes.Buffer
		w := test.pack(&file)
		if _, err := io.WriteString(w, text); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		path := filepath.Join(dir, test.path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, file.Bytes(), 0o644)); err != nil {
			t.Fatal(err)
		}
		for _, where := range []string{dir, path} {
			s, err := NewStore([]string{where})
			if err != nil {
				t.Fatal(err)
			}
			got := s.Symbols(t.Context(), m)
			if got.Index == nil || got.From != path {
				t.Errorf("%s: found %q; tried %v", where, got.From, got.Tried)
				continue
			}
			if err := got.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// TestEscapedNames: what dump_syms puts into a store under an escaped name is
// found, by the id of the module and by that of its file.
func TestEscapedNames(t *testing.T) {
	const debugID, codeID = "0123456789ABCDEF0123456789ABCDEF0", "67452301AB89EFCD"
	for _, name := range []string{"app", "CON", "nul.so.1", "a:b", "lib.so.", "x ", "tab\there", "bad\xffutf", "nul\x00x", "...", "aux.pdb"} {
		for _, m := range []*walk.Module{
			{Name: name, Path: "/bin/other", DebugID: debugID},
			{Name: "other", Path: "/bin/" + name, DebugID: debugID},
		} {
			dir := t.TempDir()
			s, err := store.Open(dir, store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			paths, err := s.Paths(store.Module{Names: []string{name}, ID: debugID, BuildID: codeID}, store.Symbols)
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Put(paths, store.Symbols, func(w io.Writer) error {
				_, err := io.WriteString(w, "MODULE Linux x86_64 "+debugID+" app\nFUNC 10 20 0 f\n")
				return err
			})
			if err := errors.Join(err, s.Close()); err != nil {
				t.Fatal(err)
			}
			got := (&Store{Dirs: []string{dir}}).Symbols(t.Context(), m)
			if got.Index == nil {
				t.Errorf("%q: not found at %s; tried %v", name, paths[0], got.Tried)
				continue
			}
			got.Close()
		}
	}
	// An ordinary name is looked for at one place.
	m := &walk.Module{Name: "app", Path: "/bin/app", DebugID: debugID}
	if got := Paths(m); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// TestHeads: the first line of a symbol file is read once, not for each of the modules of a dump. 200
// files and 32,768 modules took 61 s of CPU time.
func TestHeads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sym")
	err := os.WriteFile(path, []byte("MODULE Linux x86_64 A1 a\nPUBLIC 0 0 f\n"), 0o644)
	if err != nil {
		t.Fatal(err)
	}
	s := &Store{Files: []string{path}}
	other, same := &walk.Module{Path: "/b", DebugID: "B1"}, &walk.Module{Path: "/a", DebugID: "a1"}
	if s.Prefetch(t.Context(), other) {
		t.Error("a file is of another module")
	}
	if FileIsOfOthers(path, []*walk.Module{other, same}) || !FileIsOfOthers(path, []*walk.Module{other}) {
		t.Error("FileIsOfOthers is wrong")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if !s.Prefetch(t.Context(), same) {
		t.Error("the file was read again")
	}
}
