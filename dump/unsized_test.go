package dump

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/elfx"
)

// TestUnsized: a symbol without a size that a line sequence covers is a FUNC, up to the next symbol or
// the end of its lines. Local labels (.Lloop, nasm's first.loop and ..@3.again) are no symbols; data
// in code has no FUNC where its symbol or a mapping symbol tells (yasm's table has neither).
func TestUnsized(t *testing.T) {
	for name, want := range map[string][]string{
		"unsized-nasm.o": {"FUNC 0 a 0 first", "FUNC a 16 0 second", "FUNC 20 2 0 own", "FUNC 3a 6 0 third", "FUNC 40 3 0 last"},
		"unsized-yasm.o": {"FUNC 0 a 0 first", "FUNC a 16 0 second", "FUNC 20 2 0 own", "FUNC 22 18 0 table", "FUNC 3a 6 0 third", "FUNC 40 3 0 last"},
		"unsized-gas.o":  {"FUNC 0 1c 0 first", "FUNC 1c 8 0 second", "FUNC 44 8 0 third", "PUBLIC 24 0 table", "PUBLIC 3c 0 words"},
	} {
		f := openSound(t, name)
		_, text := dumpText(t, f, Options{})
		var got []string
		lines := 0
		for line := range strings.Lines(string(text)) {
			switch line = strings.TrimSuffix(line, "\n"); {
			case strings.HasPrefix(line, "FUNC "), strings.HasPrefix(line, "PUBLIC "):
				got = append(got, line)
			case line[0] <= '9' || line[0] >= 'a':
				lines++
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if lines < len(want) {
			t.Errorf("%s: %d lines", name, lines)
		}
	}
}

// TestSiblings: GCC 4.1 writes the calls that are inlined into an inlined call as its siblings.
func TestSiblings(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "check", "testdata", "sound", "siblings-gas.o"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := elfx.NewFile("siblings-gas.o", data)
	if err != nil {
		t.Fatal(err)
	}
	m, text := dumpText(t, f, Options{Inlines: true})
	var got []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "INLINE ") {
			got = append(got, strings.TrimSuffix(line, "\n"))
		}
	}
	want := []string{"INLINE 0 10 0 0 4 1c", "INLINE 1 20 0 1 8 14", "INLINE 2 30 0 2 c 4", "INLINE 0 11 0 3 20 10", "INLINE 1 40 0 4 20 8"}
	if !slices.Equal(got, want) || m.Stats.Overlapping > 0 {
		t.Errorf("got %q, want %q; %d overlapping", got, want, m.Stats.Overlapping)
	}
}

// openSound opens an object that package check's tests have, too.
func openSound(t *testing.T, name string) *elfx.File {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "check", "testdata", "sound", name))
	if err != nil {
		t.Fatal(err)
	}
	f, err := elfx.NewFile(name, data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
