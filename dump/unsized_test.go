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
		data, err := os.ReadFile(filepath.Join("..", "check", "testdata", "sound", name))
		if err != nil {
			t.Fatal(err)
		}
		f, err := elfx.NewFile(name, data)
		if err != nil {
			t.Fatal(err)
		}
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
