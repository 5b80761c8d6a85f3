package depot

import (
	"bytes"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// TestDigestOf: the digest in a header that PackDigest made, and that of the content without one.
func TestDigestOf(t *testing.T) {
	const text = "MODULE Linux x86_64 AB app\n"
	want, err := digestOf(strings.NewReader(text), "")
	if err != nil || want.Size != int64(len(text)) {
		t.Fatalf("%+v, %v", want, err)
	}
	other := Digest{7, strings.Repeat("ab", 16)}
	for _, extra := range [][]byte{nil, PackDigest(want), PackDigest(other), []byte("xx\x00\x00")} {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Extra = extra
		_, _ = z.Write([]byte(text)) // into memory
		z.Close()
		got, err := digestOf(bytes.NewReader(b.Bytes()), "gzip")
		expected := want
		if bytes.Equal(extra, PackDigest(other)) {
			expected = other
		}
		if err != nil || got != expected {
			t.Errorf("%q: %+v, %v", extra, got, err)
		}
	}
}

// TestRemove: a file is removed if it is still the one that was seen.
func TestRemove(t *testing.T) {
	d, err := OpenDirectory(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	put := func(text string, old *File) File {
		t.Helper()
		err := d.Put(t.Context(), "a/AB/a.sym", &Blob{ReaderAt: strings.NewReader(text), Length: int64(len(text))}, old)
		if err != nil {
			t.Fatal(err)
		}
		f, err := d.Stat(t.Context(), "a/AB/a.sym")
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	first := put("first", nil)
	second := put("the second", &first)
	for i, step := range []struct {
		old *File
		err error
	}{{&first, ErrChanged}, {&second, nil}, {&second, nil}, {nil, nil}} {
		err := d.Remove(t.Context(), "a/AB/a.sym", step.old)
		if err != step.err {
			t.Errorf("step %d: %v", i, err)
		}
		_, err = d.Stat(t.Context(), "a/AB/a.sym")
		if Missing(err) != (i > 0) {
			t.Errorf("step %d: %v", i, err)
		}
	}
}

// FuzzKeys: a key has the parts of an address, and leads nowhere else.
func FuzzKeys(f *testing.F) {
	f.Add("app", "AB0", "app.sym")
	f.Add("..", "AB", "x")
	f.Add("a\\b", "ab", "c")
	f.Fuzz(func(t *testing.T, name, id, file string) {
		key, ok := SymbolKey(name, id, file)
		if ok && valid(key) && (strings.Count(key, "/") != 2 || strings.Contains("/"+key+"/", "/../") || !strings.Contains(key, "/"+strings.ToUpper(id)+"/")) {
			t.Fatalf("%q", key)
		}
	})
}

// FuzzHeader: any start of a gzip file has a digest or none.
func FuzzHeader(f *testing.F) {
	f.Add([]byte("\x1f\x8b\x08\x04"))
	f.Fuzz(func(t *testing.T, header []byte) {
		d, ok := headerDigest(header)
		if ok && (len(d.MD5) != 32 || len(header) < maxHeader) {
			t.Fatalf("%+v", d)
		}
	})
}
