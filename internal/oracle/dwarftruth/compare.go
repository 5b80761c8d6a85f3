//go:build oracle

package dwarftruth

import (
	"bytes"
	"debug/elf"
	"strings"
	"testing"

	"symkit/internal/oracle"
	"symkit/internal/oracle/symfile"
)

func Compare(t *testing.T, in *oracle.Input, s *symfile.File, l *oracle.Layout) string {
	tr, err := readTruth(sourceOf(t, in), l)
	if err != nil {
		t.Errorf("oracle: %v", err)
		return "debug/dwarf failed"
	}

	tr.symbols = readSymbols(t, []string{in.DWARFFile(), in.Main})
	return checkFuncs(t, s, tr, l) + " " + checkLines(t, s, tr) + " " + checkInlines(t, s, tr)
}

// sourceOf is the file whose DWARF tells the truth of in: its own, or, for
// fixtures that debug/dwarf does not read, that of the twin with the same code.
// It knows no dwz and no .dwo, and takes the string offsets of 64-bit DWARF 5
// for 4 bytes long.
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
		twin := name + c.plain
		if !bytes.Equal(textSection(t, own), textSection(t, twin)) {
			t.Fatalf("%s has other code than its twin %s", own, twin)
		}
		return twin
	}
	return own
}

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
