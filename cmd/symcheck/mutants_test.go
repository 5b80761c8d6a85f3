package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"symkit/test/mutant"
	"symkit/test/programtest"
	"symkit/test/testfile"
)

// TestMutantOutputs damages a program and its symbol file, both with control characters, and wants
// that every command is text for people in every format: no control character, and not more than
// 16 KiB on standard error. test/soak does so with 100,000 files.
func TestMutantOutputs(t *testing.T) {
	const name = "cxx-x86_64-gcc12-O2-dw5.elf"
	data := programtest.Fixture(t, name)
	own := programtest.File(t, "check/testdata/own/"+name+".sym")
	dir := t.TempDir()
	app, sym := filepath.Join(dir, "app"+testfile.Hostile), filepath.Join(dir, "app.sym"+testfile.Hostile)
	good := filepath.Join(dir, "good.sym")
	write := func(path string, data []byte) {
		programtest.Write(t, path, data)
	}
	write(good, own)

	random := rand.New(rand.NewPCG(23, 5))
	program, symbols := mutant.Of(data), mutant.Of(own)
	for i := range 20 {
		changed, kind := program.Mutate(data, random)
		if hostile, err := testfile.HostileELF(changed, i, ".strtab", ".debug_str", ".debug_line_str"); err == nil {
			changed = hostile
		}
		write(app, changed)
		text, symKind := symbols.Mutate(own, random)
		text = bytes.Clone(text)
		testfile.HostileStrings(text, i, false)
		write(sym, text)
		for _, args := range [][]string{{good, app}, {sym, app}, {"lint", sym, good}, {"diff", good, sym}} {
			for _, format := range []string{"text", "json", "junit", "sarif"} {
				tested.Bounded(t, fmt.Sprint(i, kind, symKind), append(args, "--limit=1000", "--format="+format))
			}
		}
	}
}

// TestManyFiles: thousands of files that cannot be read are a bounded number of lines.
func TestManyFiles(t *testing.T) {
	args := []string{"lint"}
	for i := range 3000 {
		args = append(args, filepath.Join(testfile.Hostile, string(bytes.Repeat([]byte{'a' + byte(i%26)}, 200))))
	}
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), args, &stdout, &stderr)
	if err := testfile.Outputs(stdout.Bytes(), stderr.Bytes()); err != nil || code != 1 || stderr.Len() < 1000 {
		t.Errorf("exit code %d, %d bytes on stderr: %v", code, stderr.Len(), err)
	}
}
