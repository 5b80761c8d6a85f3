//go:build oracle

package demangle

import (
	"bytes"
	"debug/elf"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"symkit/internal/demangle/swift"
)

// TestOracleSwift compares with Swift's own program all names of Swift in the files below
// SYMKIT_SWIFT, the directory of an installed toolchain ("/usr/libexec/swift" in Debian), in which
// bin/swift-demangle is. Each text is the program's, but for 1 % of names that stay mangled at most.
func TestOracleSwift(t *testing.T) {
	root := os.Getenv("SYMKIT_SWIFT")
	if root == "" {
		t.Skip("SYMKIT_SWIFT does not name a toolchain of Swift: no judge")
	}
	names := swiftSymbols(t, root)
	if len(names) < 100_000 {
		t.Fatalf("only %d names in %s", len(names), root)
	}

	// The judge reads lines, and writes them with names replaced.
	cmd := exec.Command(filepath.Join(root, "bin", "swift-demangle"), "--simplified", "--compact")
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+filepath.Join(root, "lib", "swift", "linux"))
	cmd.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	texts := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(texts) != len(names) {
		t.Fatalf("%d lines for %d names", len(texts), len(names))
	}

	left, differ := 0, 0
	for i, name := range names {
		got, ok := ForLanguage(langSwift, []byte(name))
		switch {
		case got == texts[i]:
		case !ok:
			left++
		default:
			if differ++; differ <= 20 {
				t.Errorf("%s\n ours  %s\n judge %s", name, got, texts[i])
			}
		}
	}
	t.Logf("%d names, %d left mangled", len(names), left)
	if differ > 0 || left > len(names)/100 {
		t.Errorf("%d names differ, %d of %d are left", differ, left, len(names))
	}
}

// swiftSymbols returns the names of Swift in the symbol tables of files and archives.
func swiftSymbols(t *testing.T, root string) (names []string) {
	t.Helper()
	seen := map[string]bool{}
	add := func(name string) {
		name, _, _ = strings.Cut(name, "@")
		if swift.Is([]byte(name)) && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}

	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || !e.Type().IsRegular():
			return err
		case filepath.Ext(path) == ".a":
			nm, err := exec.Command("nm", "-j", path).Output()
			for line := range bytes.Lines(nm) {
				add(string(bytes.TrimSpace(line)))
			}
			return err
		}

		// Files that are no ELF files, and damaged ones, have no names.
		f, err := elf.Open(path)
		if err != nil {
			return nil
		}
		defer f.Close()
		for _, read := range []func() ([]elf.Symbol, error){f.Symbols, f.DynamicSymbols} {
			symbols, _ := read()
			for _, s := range symbols {
				add(s.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
