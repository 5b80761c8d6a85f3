package dump

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"symkit/elfx"
	"symkit/internal/dwarfx"
	"symkit/test/testfile"
)

// TestDWARF6 dumps an object of clang -gdwarf-6: the records are those of the same
// source with -gdwarf-5, and the version is reported once. A form that DWARF 5 does
// not have loses the unit.
func TestDWARF6(t *testing.T) {
	const dir = "../testdata/dwarf6/"
	data, err := testfile.Read(dir + "prog.o")
	if err != nil {
		t.Fatal(err)
	}
	want, err := testfile.Read(dir + "prog.sym")
	if err != nil {
		t.Fatal(err)
	}
	open := func(data []byte) *elfx.File {
		f, err := elfx.NewFile("prog.o", data)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}

	f := open(data)
	m, got := dumpText(t, f, Options{Inlines: true})
	if diff := cmp.Diff(withoutInfo(want), withoutInfo(got)); diff != "" {
		t.Errorf("DWARF 5 (-) and 6 (+):\n%s", diff)
	}
	if w := m.Stats.Warnings; m.Stats.LossCount > 0 || len(w) != 1 || !strings.Contains(w[0], "DWARF 6 is read as DWARF 5") {
		t.Errorf("losses %v, warnings %q", m.Stats.Losses, w)
	}

	abbrev := f.Section(".debug_abbrev")
	form := bytes.Index(data[abbrev.Offset:], []byte{0x90, 0x01, 0x05}) // DW_AT_language_name, DW_FORM_data2
	data = bytes.Clone(data)
	data[int(abbrev.Offset)+form+2] = 0x2d
	m, _ = dumpText(t, open(data), Options{Inlines: true})
	if m.Stats.LossCount != 1 || !strings.Contains(m.Stats.Losses[0].Error(), dwarfx.ErrForm.Error()+" 0x2d") {
		t.Errorf("losses %v", m.Stats.Losses)
	}
}

// withoutInfo drops INFO records.
func withoutInfo(sym []byte) (lines []string) {
	for line := range strings.Lines(string(sym)) {
		if !strings.HasPrefix(line, "INFO ") {
			lines = append(lines, line)
		}
	}
	return lines
}
