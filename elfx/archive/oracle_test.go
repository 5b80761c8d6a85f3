//go:build oracle

package archive

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"symkit/test/elftest"
)

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

// TestOracleArchives lists and opens what ar, llvm-ar and zip write.
func TestOracleArchives(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	elftest.Write(t, at("a.c"), []byte("int main(int argc, char **argv) { return argc; }"))
	names := []string{"a.o", "an_object_with_a_long_name.o", "another object of the same kind.o"}
	var files []string
	for i, name := range names {
		run(t, "gcc", "-c", "-g", []string{"-O0", "-O1", "-O2"}[i], "-o", at(name), at("a.c"))
		files = append(files, at(name))
	}
	elftest.Write(t, at("notes.txt"), []byte("text"))
	files = append(files, at("notes.txt"))
	for _, c := range []struct {
		archive string
		command []string
	}{
		{"gnu.a", []string{"ar", "rcs"}}, {"plain.a", []string{"ar", "rcS"}}, {"llvm.a", []string{"llvm-ar", "rcs"}},
		{"bsd.a", []string{"llvm-ar", "--format=bsd", "rcs"}}, {"darwin.a", []string{"llvm-ar", "--format=darwin", "rcs"}},
		{"stored.apk", []string{"zip", "-q", "-j", "-0"}}, {"deflated.jar", []string{"zip", "-q", "-j", "-9"}},
	} {
		run(t, c.command[0], slices.Concat(c.command[1:], []string{at(c.archive)}, files)...)
		var got []string
		for m, err := range Members(at(c.archive)) {
			if err != nil {
				t.Fatalf("%s: %v", c.archive, err)
			}
			got = append(got, m.Name)
			want, err := os.ReadFile(at(m.Name))
			if err != nil {
				t.Fatal(err)
			}
			f, err := m.Open()
			if err != nil {
				t.Fatal(err)
			}
			// Darwin's members are padded to 8 bytes, counted in.
			data := f.FileBytes(0, uint64(f.Size()))
			if len(data) < len(want) || len(data) >= len(want)+8 || !bytes.Equal(data[:len(want)], want) {
				t.Errorf("%s: %s: %d bytes, want %d", c.archive, m.Name, len(data), len(want))
			}
			f.Close()
		}
		if !slices.Equal(got, names) {
			t.Errorf("%s: %q", c.archive, got)
		}
	}
	run(t, "ar", append([]string{"rcsT", at("thin.a")}, files...)...)
	got, errs := listing(at("thin.a"))
	if !slices.Equal(got, files[:len(names)]) || errs != nil { // named as they were given
		t.Errorf("thin: %q, %v", got, errs)
	}
	run(t, "ar", "rcsT", at("nested.a"), at("gnu.a"))
	if got, errs := listing(at("nested.a")); len(got) != 0 || len(errs) == 0 || !errors.Is(errs[0], errThin) {
		t.Errorf("nested: %q, %v", got, errs)
	}
}
