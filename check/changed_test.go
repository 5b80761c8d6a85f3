package check

import (
	"bytes"
	"os"
	"reflect"
	"testing"
)

// A file that is overwritten after it was opened, before its DIEs are read:
// debug/dwarf sees the sections as they were.
func TestOverwrittenDebugInfo(t *testing.T) {
	for _, name := range []string{"cxx-x86_64-gcc12-O2-dw5.elf", "lang-x86_64-gcc12-O2-dw5.elf"} {
		scan := func(change func(path string)) (found []*unitScan) {
			img, _ := own(t, name)
			d, err := openDWARF(img.Main)
			if err != nil {
				t.Fatal(err)
			}
			change(img.Main.Path())
			for i := range d.units {
				s, err := d.scanUnit(t.Context(), &d.units[i], codeOf(img.Main))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := d.lines(&d.units[i], s.root, codeOf(img.Main), newPathTable()); err != nil {
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
		if len(before) == 0 || len(before[0].funcs) == 0 || !reflect.DeepEqual(before, after) {
			t.Errorf("%s: %d units before, %d after, or not the same", name, len(before), len(after))
		}
	}
}
