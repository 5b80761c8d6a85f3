//go:build oracle

// Package dwarftruth compares functions, lines and inlined calls of a symbol file with the
// records that debug/dwarf reads of the module.
package dwarftruth

import (
	"bytes"
	"debug/elf"
	"fmt"
	"strings"
	"testing"

	"symkit/test/oracle"
	"symkit/test/oracle/symfile"
)

// Columns is the heading of the rows that Compare returns.
var Columns = fmt.Sprintf("%11s %10s %10s %10s %10s %9s %8s %10s", "subprograms", "bytes", "covered",
	"line rows", "bytes", "ambiguous", "inlines", "bytes")

// Compare compares FUNC, line and INLINE records with DWARF, and returns a row of
// figures.
func Compare(t *testing.T, in *oracle.Input, s *symfile.File, l *oracle.Layout) string {
	tr, err := readTruth(sourceOf(t, in), l)
	if err != nil {
		t.Errorf("oracle: %v", err)
		return "debug/dwarf failed"
	}

	// Some functions are only in the symbol table.
	tr.symbols = readSymbols(t, []string{in.DWARFFile(), in.Main})
	return checkFuncs(t, s, tr, l) + " " + checkLines(t, s, tr) + " " + checkInlines(t, s, tr)
}

// sourceOf returns the file whose DWARF is compared. It is the module's own, or, for
// fixtures that debug/dwarf cannot read, that of a fixture with the same code. debug/dwarf
// reads no dwz and no .dwo files, and takes string offsets of 64-bit DWARF 5 to be 4 bytes
// long.
func sourceOf(t *testing.T, in *oracle.Input) string {
	t.Helper()
	own := in.DWARFFile()
	for _, c := range []struct{ variant, plain string }{
		{"-dw5-dwz.elf", "-dw5.elf"},
		{"-dw5-sup.elf", "-dw5.elf"},
		{"-dw4-split.elf", "-dw4.elf"},
		{"-dw5-split.elf", "-dw5.elf"},
		{"-dw5-64.elf", "-dw5.elf"},
	} {
		name, ok := strings.CutSuffix(own, c.variant)
		if !ok {
			continue
		}
		// The comparison is about the same code only if both files have the same .text.
		twin := name + c.plain
		if !bytes.Equal(textSection(t, own), textSection(t, twin)) {
			t.Fatalf("%s has other code than its twin %s", own, twin)
		}
		return twin
	}
	return own
}

// textSection returns the .text of a file.
func textSection(t *testing.T, path string) []byte {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := f.Section(".text").Data()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return text
}
