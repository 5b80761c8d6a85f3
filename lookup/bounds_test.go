package lookup_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"symkit/lookup"
	"symkit/lookup/gsym"
	"symkit/test/programtest"
)

// TestLongAnswers: calls in each other that have one long name do not all fit into an answer, whose last frame is the
// function.
func TestLongAnswers(t *testing.T) {
	const calls = 500
	name := strings.Repeat("n", 60_000)
	var text strings.Builder
	fmt.Fprintf(&text, "MODULE Linux x86_64 0 app\nINLINE_ORIGIN 0 %s\nFUNC 1000 10 0 f\n", name)
	w := gsym.NewWriter(nil, false)
	fn := &gsym.Func{Addr: 0x1000, Size: 0x10, Name: w.String("f")}
	for depth := range uint32(calls) {
		fmt.Fprintf(&text, "INLINE %d 1 0 0 1000 10\n", depth)
		fn.Calls = append(fn.Calls, gsym.Call{Depth: depth, Name: w.String(name), Ranges: []gsym.Range{{Lo: 0x1000, Hi: 0x1010}}})
	}
	w.Func(fn)
	for kind, f := range map[string]*lookup.File{"sym": openBytes(t, []byte(text.String())), "gsym": openGSYM(t, w)} {
		frames, err := f.Frames(nil, 0x1008)
		n := len(frames)
		if err != nil || n < 10 || n >= calls || frames[n-1].Name != "f" || frames[n-1].Inlined || frames[n-2].Name != name {
			t.Errorf("%s: %d frames, %v", kind, n, err)
		}
	}
}

// openGSYM opens a file of functions.
func openGSYM(t *testing.T, w *gsym.Writer) *lookup.File {
	t.Helper()
	var file bytes.Buffer
	_, err := w.WriteTo(&file)
	if err != nil {
		t.Fatal(err)
	}
	return openBytes(t, file.Bytes())
}

// openBytes opens a file with these bytes until t ends.
func openBytes(t *testing.T, data []byte) *lookup.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "app")
	programtest.Write(t, path, data)
	return openPath(t, path)
}

// openPath opens a file until t ends.
func openPath(t *testing.T, path string) *lookup.File {
	t.Helper()
	f, err := lookup.Open(t.Context(), path, lookup.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

// TestNamesOfGSYM: functions of GSYM by their names, of which many begin alike.
func TestNamesOfGSYM(t *testing.T) {
	w := gsym.NewWriter(nil, false)
	alike := strings.Repeat("n", 200)
	for i := range uint64(100) {
		w.Func(&gsym.Func{Addr: 0x1000 + 16*i, Size: 16, Name: w.String(fmt.Sprint(alike, i/2))})
	}
	f := openGSYM(t, w)
	for n, want := range map[int]string{-1: "[1060 1070]", 1: "[1060]", 2: "[1060 1070]"} {
		var got []string
		for _, s := range f.Symbols(nil, alike+"3", n) {
			got = append(got, fmt.Sprintf("%x", s.Addr))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%d: %v, want %s", n, got, want)
		}
	}
	syms := f.Symbols(nil, alike, -1)
	if len(syms) > 0 {
		t.Errorf("%+v", syms)
	}
}
