package dump

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"symkit/cfi"
	"symkit/elfx"
	"symkit/test/testfile"
)

// TestDamagedRules: an instruction that is none costs the rest of its FDE, and is
// one loss, however often the module is written.
func TestDamagedRules(t *testing.T) {
	data, err := testfile.Read(filepath.Join(fixtures, "lang-x86_64-gcc12-O2-dw5.elf"))
	if err != nil {
		t.Fatal(err)
	}
	const fdeHead = 17 // length, CIE pointer, begin and size in 4 bytes, no augmentation data
	open := func() *elfx.File {
		f, err := elfx.NewFile("program", data)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := open()
	section := f.Section(".eh_frame")
	s := &cfi.Section{Data: data[section.Offset:][:section.Size], Addr: section.Addr, AddrSize: 8, Machine: f.Machine}
	var last cfi.FDE
	for fde := range s.FDEs() {
		last = fde
	}
	good, want := dumpText(t, f, Options{})
	s.Data[last.Offset+fdeHead] = 0x3f
	for _, jobs := range []int{1, 3} {
		m, text := dumpText(t, open(), Options{Jobs: jobs})
		again := new(bytes.Buffer)
		if err := m.Write(again); err != nil || !bytes.Equal(again.Bytes(), text) {
			t.Errorf("written again: %v, %d bytes instead of %d", err, again.Len(), len(text))
		}
		if len(text) >= len(want) || m.Stats.FDEs != good.Stats.FDEs {
			t.Errorf("%d bytes instead of %d, %d FDEs", len(text), len(want), m.Stats.FDEs)
		}
		if m.Stats.LossCount != 1 || !strings.Contains(m.Stats.Losses[0].Error(), ".eh_frame+") {
			t.Errorf("%d losses: %v", m.Stats.LossCount, m.Stats.Losses)
		}
	}
}
