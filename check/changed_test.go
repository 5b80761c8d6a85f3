package check

import (
	"bytes"
	"os"
	"reflect"
	"testing"

	"symkit/check/internal/naming"
	"symkit/check/internal/truth"
	"symkit/check/internal/truth/dwarfinfo"
	"symkit/limits"
)

// TestOverwrittenDebugInfo checks that debug/dwarf sees the sections as they were if a file is
// overwritten after it was opened, before its DIEs are read.
func TestOverwrittenDebugInfo(t *testing.T) {
	for _, name := range []string{"cxx-x86_64-gcc12-O2-dw5.elf", "lang-x86_64-gcc12-O2-dw5.elf"} {
		scan := func(change func(path string)) (found []*dwarfinfo.Scan) {
			img, _ := own(t, name)
			d, err := dwarfinfo.Open(img.Main, limits.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			change(img.Main.Path())
			for i := range d.Units {
				s, err := d.ScanUnit(t.Context(), &d.Units[i], truth.CodeOf(img.Main))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := d.Lines(&d.Units[i], s.Root, truth.CodeOf(img.Main), naming.NewPaths()); err != nil {
					t.Fatal(err)
				}
				found = append(found, s)
			}
			return found
		}
		before := scan(func(string) {})
		after := scan(func(path string) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, bytes.Repeat([]byte{0xff}, len(data)), 0o666); err != nil {
				t.Fatal(err)
			}
		})
		if len(before) == 0 || len(before[0].Funcs) == 0 || !reflect.DeepEqual(before, after) {
			t.Errorf("%s: %d units before, %d after, or not the same", name, len(before), len(after))
		}
	}
}
