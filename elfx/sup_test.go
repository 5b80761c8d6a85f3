package elfx

import (
	"debug/elf"
	"testing"

	"symkit/internal/wire"
	"symkit/test/elftest"
)

func TestSup(t *testing.T) {
	elftest.EveryKind(t, func(t *testing.T, class elf.Class, big bool) {
		link, err := mustFile(t, elftest.SupSpec(class, big, 0, "../x", "SUM").Build()).AltLink()
		if link.Path != "../x" || string(link.ID) != "SUM" || !link.Sup || err != nil {
			t.Errorf("%+v, %v", link, err)
		}
		// What is supplementary itself refers to nothing.
		link, err = mustFile(t, elftest.SupSpec(class, big, 1, "", "SUM").Build()).AltLink()
		if link.Path != "" || link.Sup || err != nil {
			t.Errorf("supplementary: %+v, %v", link, err)
		}
	})
	for _, test := range []struct {
		name, data string
		want       error
		offset     int
	}{
		{"no version", "\x05", wire.ErrTruncated, 0},
		{"version", "\x04\x00\x00x\x00\x00", ErrSupVersion, 0},
		{"no flag", "\x05\x00", wire.ErrTruncated, 2},
		{"path", "\x05\x00\x00abc", wire.ErrUnterminated, 3},
		{"no path", "\x05\x00\x00\x00\x00", ErrLinkName, 3},
		{"no length", "\x05\x00\x00x\x00", wire.ErrTruncated, 5},
		{"length", "\x05\x00\x00x\x00\x80", wire.ErrTruncated, 6},
		{"checksum", "\x05\x00\x00x\x00\x04abc", wire.ErrTruncated, 6},
	} {
		t.Run("DWARF 5 §7.3.6 "+test.name, func(t *testing.T) {
			s := &elftest.Spec{Sections: []elftest.Sec{{Name: ".debug_sup", Kind: elf.SHT_PROGBITS, Data: []byte(test.data)}}}
			f := mustFile(t, s.Build())
			_, err := f.AltLink()
			elftest.WantError(t, err, test.want, ".debug_sup", test.offset)
		})
	}
}
