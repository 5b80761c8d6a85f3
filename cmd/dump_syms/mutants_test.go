package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"symkit/test/mutant"
	"symkit/test/programtest"
	"symkit/test/testfile"
)

// TestMutantOutputs damages programs that have control characters in their names, and
// wants that every output with every set of flags is text for people: no control character, and
// not more than 16 KiB on standard error. test/soak does so with 100,000 files.
func TestMutantOutputs(t *testing.T) {
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(23, 3))
	for _, name := range []string{"cxx-x86_64-gcc12-O2-dw5.so", "cxx-x86_64-gcc12-O2-dw5-stripped.debug", "lang-x86_64-gcc12-O2-dw5.elf"} {
		data := programtest.Fixture(t, name)
		layout := mutant.Of(data)
		for i := range 12 {
			changed, kind := layout.Mutate(data, random)
			if hostile, err := testfile.HostileELF(changed, i, ".strtab", ".dynstr", ".debug_str", ".debug_line_str", ".shstrtab"); err == nil {
				changed = hostile
			}
			path := filepath.Join(dir, fmt.Sprint(testfile.Hostile, name, i))
			programtest.Write(t, path, changed)

			out := filepath.Join(dir, fmt.Sprint("out", name, i))
			if err := os.Mkdir(out, 0o777); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{
				{"--check", "--strict", path},
				{"-d", "-m", "-o", filepath.Join(out, "app.sym"), path},
				{"-i", path},
				{"--store", filepath.Join(out, "store"), "--alias", "--manifest", filepath.Join(out, "manifest"), "--check", path, path},
				{"--store", filepath.Join(out, "unified"), "--layout=unified", "--manifest=-", "-R", dir},
			} {
				tested.Bounded(t, fmt.Sprint(name, i, kind), args, out)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
}
