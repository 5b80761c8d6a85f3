package naming

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// swiftTexts calls f with names of Swift and the texts of Swift's own demangler.
func swiftTexts(t testing.TB, f func(name, want string)) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "internal", "demangle", "testdata", "swift.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		name, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		f(name, want)
	}
}

// TestSwiftText: each text is that of Swift's own demangler. Not read are data, which are no functions.
func TestSwiftText(t *testing.T) {
	names, left := 0, 0
	swiftTexts(t, func(name, want string) {
		names++
		got, ok := swiftText(name)
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

// TestSwiftAccept: a name of Swift is accepted in Swift's spelling, as it stands, or as the plain name; nothing is
// accepted because the dumper wrote it.
func TestSwiftAccept(t *testing.T) {
	table := NewTable()
	id := table.ID(Key{Linkage: "$sSi3swoE5cubedSiyF", Name: "cubed"})
	for text, want := range map[string]bool{
		"Int.cubed()": true, "$sSi3swoE5cubedSiyF": true, "cubed": true,
		"Swift.Int.swo": false, "swo": false, "cubed(_:)": false, "Int.squared()": false, "UInt.cubed()": false,
	} {
		if got := table.Accept(id, Normalise(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if table.IsUnsure(id) || table.Judge(id, "Int.squared()") != Wrong {
		t.Error("a name that is read is undecided")
	}

	// A name that is not read verifies nothing, and refutes nothing.
	unread := table.ID(Key{Linkage: "$s4main3fooyyFWJrSpSr"})
	if table.Judge(unread, "foo()") != Unverified || table.Accept(unread, "foo()") || table.IsUnsure(table.ID(Key{Linkage: "main"})) {
		t.Error("a name that is not read is not undecided")
	}
}

// FuzzSwiftText: any name is read within bounds.
func FuzzSwiftText(f *testing.F) {
	swiftTexts(f, func(name, _ string) { f.Add(name) })
	f.Add("$s1a1byyr99999_99999_lF")
	f.Add("$s" + strings.Repeat("SDy", 20) + "SiSiGAAGABGACGADGAEGN")
	f.Fuzz(func(t *testing.T, name string) {
		text, ok := swiftText(name)
		if len(text) > 1<<20 || !ok && text != "" {
			t.Fatalf("%q: %d bytes, %v", name, len(text), ok)
		}
		if again, ok2 := swiftText(name); again != text || ok2 != ok {
			t.Fatalf("%q: once %q, once %q", name, text, again)
		}
	})
}
