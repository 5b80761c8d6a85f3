package swift

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// texts calls f with names of Swift and the texts of Swift's own demangler.
func texts(t testing.TB, f func(name, want string)) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "internal", "demangle", "testdata", "swift.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		name, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		f(name, want)
	}
}

// TestText: each text is that of Swift's own demangler. Not read are data, which are no functions.
func TestText(t *testing.T) {
	names, left := 0, 0
	texts(t, func(name, want string) {
		names++
		got, ok := Text(name)
		if !ok {
			left++
			if !strings.Contains(want, "descriptor ") && !strings.HasSuffix(name, "D") && !strings.Contains(want, "metadata ") &&
				!strings.Contains(want, "metaclass ") {
				t.Errorf("%s is not read: %s", name, want)
			}
			return
		}
		if got != want {
			t.Errorf("%s:\n got  %s\n want %s", name, got, want)
		}
	})
	if names < 400 || left > names/10 {
		t.Errorf("%d of %d names are not read", left, names)
	}
}

// FuzzSwiftText: any name is read within bounds.
func FuzzSwiftText(f *testing.F) {
	texts(f, func(name, _ string) { f.Add(name) })
	f.Add("$s1a1byyr99999_99999_lF")
	f.Add("$s" + strings.Repeat("SDy", 20) + "SiSiGAAGABGACGADGAEGN")
	f.Fuzz(func(t *testing.T, name string) {
		text, ok := Text(name)
		if len(text) > 1<<20 || !ok && text != "" {
			t.Fatalf("%q: %d bytes, %v", name, len(text), ok)
		}
		if again, ok2 := Text(name); again != text || ok2 != ok {
			t.Fatalf("%q: once %q, once %q", name, text, again)
		}
	})
}
