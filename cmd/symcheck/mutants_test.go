package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"symkit/internal/mutant"
	"symkit/internal/testfile"
)

// TestMutantOutputs damages a program and its symbol file, both with control characters, and wants
// that every command is text for people in every format: no control character, and not more than
// 16 KiB on standard error. internal/soak does so with 100,000 files.
func TestMutantOutputs(t *testing.T) {
	const name = "cxx-x86_64-gcc12-O2-dw5.elf"
	data, err := fixture(filepath.Join("..", ".."), name)
	if err != nil {
		t.Fatal(err)
	}
	own, err := fixture(filepath.Join("..", ".."), name+".sym")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	app, sym := filepath.Join(dir, "app"+testfile.Hostile), filepath.Join(dir, "app.sym"+testfile.Hostile)
	good := filepath.Join(dir, "good.sym")
	write := func(path string, data []byte) {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
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
				var stdout, stderr bytes.Buffer
				run(t.Context(), append(args, "--limit=1000", "--format="+format), &stdout, &stderr)
				if err := testfile.Outputs(stdout.Bytes(), stderr.Bytes()); err != nil {
					t.Errorf("%d, %s, %s: %.40q %s: %v", i, kind, symKind, args, format, err)
				}
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
